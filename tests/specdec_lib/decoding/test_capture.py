"""The step of fixed shape can be captured in a CUDA graph, as far as that shows without a GPU."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from decoders.capture import Capturable, CaptureError
from decoders.families import FAMILIES, make
from torch._subclasses import FakeTensorMode
from torch.utils._pytree import tree_map_only

from specdec_lib.decoding.fixed_shape.graph import GraphDecoder, graph_generate, spare
from specdec_lib.decoding.fixed_shape.step import BUCKET, Numbers, Step, bucket
from specdec_lib.decoding.state import Settings
from specdec_lib.models.checkpoint import LayerWeights, read_weights
from specdec_lib.models.llama import Llama, RMSNorm
from specdec_lib.sampling import Warp

PROMPTS = [[5, 9], [7, 1, 2, 3, 4, 5, 6, 8], [1, 2, 3]]
WARPS = (Warp(0), Warp(1), Warp(0.8, top_k=7, top_p=0.9))
CASES = [(k, rows, warp) for k in (0, 1, 4) for rows in (1, 3) for warp in WARPS]


def on_meta(folder: Path) -> Llama:
    """The model without its numbers, on a device that is not the host."""
    weights = read_weights(folder, "cpu", torch.bfloat16)
    layers = [
        LayerWeights(**tree_map_only(torch.Tensor, lambda part: part.to("meta"), vars(each)))
        for each in weights.layers
    ]
    parts = {name: getattr(weights, name).to("meta") for name in ("embedding", "norm", "head")}
    return Llama(replace(weights, layers=layers, **parts))


def step_of(models: list[Llama], rows: int, k: int, warp: Warp) -> Step:
    return Step(*models, rows=rows, capacity=8 + 30 + spare(k), k=k, warp=warp)


@pytest.mark.parametrize(("k", "rows", "warp"), CASES)
def test_no_step_waits_and_all_are_alike(models, k: int, rows: int, warp: Warp):
    step = step_of(models, rows, k, warp)
    step.begin(PROMPTS[-rows:], max_new_tokens=30)
    generator, seen = np.random.default_rng(0), []
    for _ in range(4):
        if isinstance(step.choices, Numbers):
            step.choices.send(generator.random((rows, 2 * k + 1)))
        with Capturable("cpu") as look:
            step()
        seen.append(look.operators)
    assert len(seen[0]) > 100 and all(each == seen[0] for each in seen)


@pytest.mark.parametrize(("k", "rows", "warp"), [case for case in CASES if case[1] == 3])
def test_everything_is_on_the_device(folders, k: int, rows: int, warp: Warp):
    models = [on_meta(folder) for folder in folders]
    with FakeTensorMode(allow_non_fake_inputs=True):
        step = step_of(models, rows, k, warp)
        with Capturable("meta") as look:
            step()
    assert len(look.operators) > 100


def test_biases_and_norms_of_heads_are_on_the_device_too(tmp_path: Path):
    make(FAMILIES["Qwen3 with biases"]).save_pretrained(tmp_path)
    model = on_meta(tmp_path)
    with FakeTensorMode(allow_non_fake_inputs=True):
        step = step_of([model, model], 3, 2, Warp(1))
        with Capturable("meta"):
            step()


def places(step: Step) -> dict[str, int]:
    """Where the step's tensors and those of its caches and choices are."""
    owners = [step, *step.caches, *([step.choices] if isinstance(step.choices, Numbers) else [])]
    return {
        f"{number}.{name}": part.data_ptr()
        for number, owner in enumerate(owners)
        for name, part in vars(owner).items()
        if isinstance(part, torch.Tensor)
    }


@pytest.mark.parametrize("k", [0, 3])
def test_what_a_step_reads_and_leaves_stays_if_it_is(models, k: int):
    step = step_of(models, 3, k, Warp(1))
    before = places(step)
    for prompts in (PROMPTS, PROMPTS[::-1]):  # a second generation too
        step.begin(prompts, max_new_tokens=30)
        for _ in range(3):
            step.choices.send(np.full((3, 2 * k + 1), 0.5))
            step()
    assert places(step) == before
    expected = {"0.tokens", "0.length", "0.goal", "0.outcome", "1.keys", "1.values", "1.length"}
    assert expected <= set(before)


FAULTS = {
    "item": lambda step: step.length[0].item(),
    "boolean index": lambda step: step.tokens[step.tokens > 0],
    "numbers of the host": lambda step: step.tokens.double() + torch.zeros(step.tokens.shape),
    "index of the host": lambda step: step.tokens[torch.tensor([0])],
    "to the host": lambda step: step.outcome.cpu(),
    "random numbers": lambda step: torch.rand(3, device=step.tokens.device),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_what_a_graph_cannot_hold_is_found(folders, fault: Callable[[Step], None]):
    model = on_meta(folders[0])
    with FakeTensorMode(allow_non_fake_inputs=True):
        step = step_of([model, None], 1, 0, Warp(0))
        with Capturable("meta"), pytest.raises(CaptureError):
            fault(step)


@pytest.mark.parametrize("warp", [Warp(0), Warp(1)])
def test_the_host_reads_once_and_writes_once_a_step(models, warp: Warp, monkeypatch):
    calls: list[str] = []
    for owner, name in ((Step, "result"), (Step, "__call__"), (Numbers, "send")):
        whole = getattr(owner, name)

        def counted(self, *arguments, name=name, whole=whole):
            calls.append(name)
            return whole(self, *arguments)

        monkeypatch.setattr(owner, name, counted)
    generators = [np.random.default_rng(row) for row in range(3)]
    made = graph_generate(*models, PROMPTS, 2, Settings(20, warp), generators)
    once = ["send", "__call__", "result"] if warp.temperature else ["__call__", "result"]
    assert calls == once * made.target_passes


def test_the_numbers_cross_without_waiting(monkeypatch):
    copies = []
    copy = torch.Tensor.copy_

    def remember(self, source, non_blocking=False):
        copies.append(non_blocking)
        return copy(self, source, non_blocking)

    numbers = Numbers(2, 1, torch.device("cpu"))
    monkeypatch.setattr(torch.Tensor, "copy_", remember)
    numbers.send(np.arange(6.0).reshape(2, 3))
    assert copies == [False, True]  # on the host, and from there to the device
    assert numbers.uniform.tolist() == [[0, 1, 2], [3, 4, 5]]


def with_room(folder: Path, positions: int) -> Llama:
    weights = read_weights(folder, "cpu", torch.float64)
    return Llama(replace(weights, shape=replace(weights.shape, max_length=positions)))


def test_a_pass_reads_the_shortest_bucket_that_holds_the_rows():
    assert [bucket(count) for count in (1, 128, 129, 257)] == [128, 128, 256, 384]


def test_texts_that_outgrow_a_bucket_are_those_of_the_whole_capacity(folders, monkeypatch):
    long_models = [with_room(folder, 3 * BUCKET) for folder in folders]
    prompt = [[1 + i % 40 for i in range(110)]]
    settings = Settings(60, Warp(0))
    decoder = GraphDecoder(*long_models, 1, 200, 3, Warp(0))
    made = decoder.generate(prompt, settings, [])
    assert set(decoder.graphs) == {128, 256}
    assert {cache.seen for cache in decoder.step.caches} == {256}
    monkeypatch.setattr("specdec_lib.decoding.fixed_shape.step.BUCKET", 200)
    monkeypatch.setattr("specdec_lib.decoding.fixed_shape.graph.BUCKET", 200)
    assert graph_generate(*long_models, prompt, 3, settings, []).tokens == made.tokens


def test_a_decoder_is_used_again_without_a_trace_of_the_text_before(models):
    decoder = GraphDecoder(*models, 2, 60, 3, Warp(1))
    settings = Settings(20, Warp(1))
    graphs = []
    for prompts in (PROMPTS[:2], PROMPTS[1:], PROMPTS[:2]):
        generators = [np.random.default_rng(row) for row in range(2)]
        made = decoder.generate(prompts, settings, generators).tokens
        fresh = [np.random.default_rng(row) for row in range(2)]
        assert made == graph_generate(*models, prompts, 3, settings, fresh).tokens
        graphs.append(list(decoder.graphs.values()))
    assert graphs[0] == graphs[1] == graphs[2]  # captured once


def test_a_decoder_says_what_it_was_made_for(models):
    decoder = GraphDecoder(*models, 1, 40, 3, Warp(0))
    with pytest.raises(ValueError, match="made for 1 rows and .*asked for 2"):
        decoder.generate(PROMPTS[:2], Settings(4, Warp(0)), [])
    with pytest.raises(ValueError, match="made for 1 rows and Warp.temperature=0.*temperature=1"):
        decoder.generate(PROMPTS[:1], Settings(4, Warp(1)), [np.random.default_rng(0)])
    with pytest.raises(ValueError, match="need 70 positions, and the decoder has 40"):
        decoder.generate(PROMPTS[:1], Settings(60, Warp(0)), [])
    sampling = GraphDecoder(*models, 1, 40, 3, Warp(1))
    with pytest.raises(ValueError, match="1 rows need as many generators, not 0"):
        sampling.generate(PROMPTS[:1], Settings(4, Warp(1)), [])


@pytest.mark.parametrize("k", [0, 2])
def test_logits_that_are_no_numbers_are_told_of(folders, k: int):
    weights = read_weights(folders[0], "cpu", torch.float64)
    broken = Llama(replace(weights, head=weights.head * float("inf")))
    with pytest.raises(ValueError, match="target gave logits that are not finite"):
        graph_generate(broken, broken, [[1, 2, 3]], k, Settings(5, Warp(0)), [])


def test_the_norm_of_one_kernel_is_the_norm(folders):
    torch.manual_seed(0)
    norm = RMSNorm(torch.rand(32, dtype=torch.float64), 1e-5)
    x = torch.randn(2, 3, 32, dtype=torch.float64)
    expected = norm(x)
    norm.one_kernel = True
    torch.testing.assert_close(norm(x), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.cuda
@pytest.mark.parametrize(("k", "rows", "warp"), CASES)
def test_a_captured_step_gives_the_eager_tokens_on_cuda(folders, k: int, rows: int, warp: Warp):
    on_card = [Llama.from_folder(folder, "cuda", torch.float64) for folder in folders]
    on_host = [Llama.from_folder(folder, "cpu", torch.float64) for folder in folders]
    settings, texts = Settings(25, warp), []
    for models in (on_card, on_host):
        generators = [np.random.default_rng(row) for row in range(rows)]
        texts.append(graph_generate(*models, PROMPTS[-rows:], k, settings, generators).tokens)
    assert texts[0] == texts[1]
