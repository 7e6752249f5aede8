"""Captured steps: on a card where there is one, and everywhere on a stand-in that replays them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from decoders.capture import CaptureError
from decoders.card import CUDA, Card, UseAfterFree, card_for

from specdec_lib.decoding.fixed_shape import graph as graphs
from specdec_lib.decoding.fixed_shape.compiled import compiled
from specdec_lib.decoding.fixed_shape.graph import GraphDecoder
from specdec_lib.decoding.fixed_shape.step import BUCKET
from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.measure.core.costs import graph_task
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Greedy, Warp

PROMPTS = [[5, 9], [7, 1, 2, 3, 4, 5, 6, 8], [1, 2, 3]]
GREEDY, SAMPLED, CUT = Warp(0), Warp(1), Warp(0.8, top_k=7, top_p=0.9)
CARDS = ("stand-in", pytest.param("cuda", marks=pytest.mark.cuda))


@pytest.fixture(params=CARDS)
def card(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Card:
    return card_for(request.param, monkeypatch)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Card:
    return card_for("stand-in", monkeypatch)


def on(
    device: torch.device, folders: list[Path], dtype: torch.dtype = torch.float64, room: int = 128
) -> list[Llama]:
    """Target and draft with room for so many positions; float64, in which no tie can part texts."""
    weights = [read_weights(folder, device, dtype) for folder in folders]
    return [Llama(replace(each, shape=replace(each.shape, max_length=room))) for each in weights]


def generators(rows: int) -> list[np.random.Generator]:
    return [np.random.default_rng(row) for row in range(rows)]


def texts(models: list[Llama], rows: int, k: int, warp: Warp, prompts=PROMPTS, tokens=10, **how):
    """What a new decoder writes, and the decoder."""
    decoder = GraphDecoder(*models, rows, models[0].max_length, k, warp, **how)
    settings = Settings(tokens, warp)
    return decoder.generate(prompts[-rows:], settings, generators(rows)).tokens, decoder


@pytest.mark.parametrize(
    ("k", "rows", "warp"), [(0, 3, SAMPLED), (4, 1, GREEDY), (1, 3, CUT), (4, 3, SAMPLED)]
)
def test_replays_write_what_the_host_writes(folders, card: Card, k: int, rows: int, warp: Warp):
    captured, decoder = texts(on(card.device, folders), rows, k, warp)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphs, "captured", lambda work, state, device: work)
        expected, _ = texts(on(torch.device("cpu"), folders), rows, k, warp)
    assert captured == expected
    again = decoder.generate(PROMPTS[-rows:], Settings(10, warp), generators(rows))
    assert again.tokens == expected  # without a trace of the text before


def test_a_text_grows_into_a_second_graph(folders, card: Card):
    models = on(card.device, folders, room=3 * BUCKET)
    prompt = [[1 + i % 40 for i in range(110)]]
    made, decoder = texts(models, 1, 3, GREEDY, prompt, tokens=20)
    assert set(decoder.graphs) == {BUCKET, 2 * BUCKET}
    assert made == plain_generate(models[0], prompt, Settings(20, GREEDY), Greedy()).tokens


@pytest.mark.cuda
def test_compiled_layers_are_captured(folders):
    """Without the look at what is alive: torch compiles nothing while every operator is watched."""
    models = on(CUDA, folders)
    torch._dynamo.reset()
    made = compiled(models[0])
    assert made.run is not None, made.reason
    expected, _ = texts(models, 1, 2, GREEDY)
    assert texts(models, 1, 2, GREEDY, run=made.run)[0] == expected


def test_the_masked_kernel_of_bfloat16_is_captured(folders, card: Card):
    """Over a cache of fixed shape, most of it masked, against one pass over the text alone."""
    model = on(card.device, folders, torch.bfloat16)[0]
    tokens = torch.arange(80, device=card.device).view(2, 40) % 48
    cache, found = model.new_fixed_cache(2, BUCKET), torch.zeros(2, 3, 48, device=card.device)
    model.forward(tokens[:, :-3], cache)
    start, last = cache.length.clone(), tokens[:, -3:].contiguous()

    @torch.inference_mode()
    def work() -> None:
        cache.truncate(start)
        found.copy_(model.forward(last, cache))

    graphs.captured(work, (), card.device)()
    expected = model.forward(tokens, model.new_cache(2, 40))[:, -3:].float()
    torch.testing.assert_close(found, expected, atol=0.1, rtol=0.1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_captured_cost_keeps_what_it_reads(folders, card: Card, dtype: torch.dtype):
    graph_task(on(card.device, folders, dtype, 256)[0], 3, 2)()  # nobody else holds the model


def test_a_decoder_keeps_what_its_graphs_read(folders, card: Card):
    graph = texts(on(card.device, folders), 1, 1, SAMPLED)[1].graphs[BUCKET]
    graph()  # the decoder, its caches and the models have no other owner


def test_other_threads_may_use_the_card_during_a_capture(stand_in: Card):
    graphs.captured(lambda: None, (), stand_in.device)
    assert stand_in.modes == ["thread_local"]


def test_a_graph_that_outlives_what_it_reads_is_found(stand_in: Card):
    def task_of(numbers: torch.Tensor) -> Callable[[], None]:
        sums = torch.zeros(3)
        made = graphs.captured(lambda: sums.add_(numbers), (sums,), stand_in.device)
        return made.graph.replay  # and not what owns the work

    replay = task_of(torch.ones(3))
    with pytest.raises(UseAfterFree, match="freed after the capture"):
        replay()


def test_a_replay_knows_memory_and_not_what_the_host_has_counted(stand_in: Card):
    numbers, sums, calls = torch.ones(3), torch.zeros(3), []

    def work() -> None:
        calls.append(1)
        sums.add_(numbers * len(calls))

    replay = graphs.captured(work, (sums,), stand_in.device)
    assert sums.tolist() == [0, 0, 0] and len(calls) == graphs.WARM_UP + 1
    numbers.fill_(2)
    replay(), replay()
    assert sums.tolist() == [2 * 2 * len(calls)] * 3  # the count of the capture, both times


FAULTS = {
    "a value read": lambda x: x.sum().item(),
    "a condition": lambda x: bool((x > 0).any()),
    "a mask as an index": lambda x: x[x > 0],
    "random numbers": lambda x: torch.rand(2),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_what_a_layer_may_not_do_fails_its_capture(folders, stand_in: Card, fault: Callable):
    def run(layer, x, here, held):
        fault(x)
        return layer(x, here, held)

    with pytest.raises(CaptureError):
        texts(on(stand_in.device, folders), 1, 1, GREEDY, run=run)
