"""Our decoders beside llama.cpp's, by stand-ins for its packages; one test is of the real ones."""

import importlib.util
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from decoders.random_models import llama

from specdec_lib.assets import ASSETS
from specdec_lib.measure.bench import command, rivals
from specdec_lib.measure.bench.figures import FIGURES, PEER_FIGURES
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core import runs
from specdec_lib.measure.core.choice import Choice
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.models import target
from specdec_lib.measure.peers import greedy, llama_cpp
from specdec_lib.measure.peers.gguf_file import neighbours, write_gguf
from specdec_lib.models.checkpoint import Weights, named_tensors, read_weights
from specdec_lib.models.llama import Llama, rotary_tables, rotate
from specdec_lib.models.scale import COSTS, Growth

KEYS = list(PEER_FIGURES)
VOCAB, COUNT, PROMPT = 5, 20, [1, 2, 3]


# The file.


class Recorder:
    """A writer that keeps what it is given, and in which order."""

    def __init__(self, path: str, architecture: str) -> None:
        self.fields = {"path": path, "architecture": architecture}
        self.tensors: dict[str, np.ndarray] = {}
        self.steps: list[str] = []

    def add_tensor(self, name: str, numbers: np.ndarray) -> None:
        self.tensors[name] = numbers.copy()

    def __getattr__(self, name: str):
        if name.startswith("add_"):
            return lambda value: self.fields.update({name.removeprefix("add_"): value})
        return lambda: self.steps.append(name)


@pytest.fixture
def weights(tmp_path: Path) -> Weights:
    """Random ones, with fewer heads of keys than of queries."""
    llama(kv_heads=2, tied=False).save_pretrained(tmp_path)
    read = read_weights(tmp_path, "cpu", torch.float32)
    return replace(read, layers=list(read.layers))  # to be walked more than once


def recorded(weights: Weights, form: str) -> Recorder:
    made: list[Recorder] = []

    def writer(*how: str) -> Recorder:
        made.append(Recorder(*how))
        return made[0]

    write_gguf(weights, Path("a.gguf"), form, writer)
    return made[0]


def test_the_file_says_all_sizes(weights: Weights):
    file, shape = recorded(weights, "F16"), weights.shape
    assert file.fields == {
        "path": "a.gguf",
        "architecture": "llama",
        "vocab_size": shape.vocab_size,
        "tokenizer_model": "none",
        "context_length": shape.max_length,
        "embedding_length": shape.width,
        "block_count": 2,
        "feed_forward_length": shape.mlp,
        "head_count": 4,
        "head_count_kv": 2,
        "key_length": shape.head_width,
        "value_length": shape.head_width,
        "rope_dimension_count": shape.head_width,
        "rope_freq_base": shape.theta,
        "layer_norm_rms_eps": shape.epsilon,
        "file_type": 1,
    }
    assert recorded(weights, "F32").fields["file_type"] == 0
    written = ["write_header_to_file", "write_kv_data_to_file", "write_tensors_to_file", "close"]
    assert file.steps == written


LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def test_the_file_holds_every_tensor_under_its_name(weights: Weights):
    names = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
    for layer in range(2):
        names |= {f"blk.{layer}.{a}": f"model.layers.{layer}.{b}" for a, b in LAYER.items()}
    ours, theirs = named_tensors(weights), recorded(weights, "F32").tensors
    assert set(theirs) == {f"{name}.weight" for name in names}
    for name, our_name in names.items():
        found, own = theirs[f"{name}.weight"], ours[f"{our_name}.weight"].numpy()
        if name.endswith(("attn_q", "attn_k")):
            assert not (found == own).all()
            found = halves(found, weights.shape.head_width)
        np.testing.assert_array_equal(found, own)


def halves(matrix: np.ndarray, width: int) -> np.ndarray:
    """The rows of each head: those of even number first, then those of odd number."""
    heads = matrix.reshape(-1, width, matrix.shape[1])
    return np.concatenate((heads[:, ::2], heads[:, 1::2]), 1).reshape(matrix.shape)


def test_matrices_are_halved_and_norms_are_not(weights: Weights):
    for name, numbers in recorded(weights, "F16").tensors.items():
        assert numbers.dtype == (np.float32 if "norm" in name else np.float16)
    assert {each.dtype.name for each in recorded(weights, "F32").tensors.values()} == {"float32"}


def turned_neighbours(x: torch.Tensor, position: int, theta: float) -> torch.Tensor:
    """llama.cpp's rotary embedding of x (heads, D): the pairs (2i, 2i + 1) turn by an angle."""
    width = x.shape[-1]
    angles = position * theta ** (-torch.arange(0, width, 2, dtype=x.dtype) / width)
    even, odd = x[:, ::2], x[:, 1::2]
    turned = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(turned, -1).flatten(1)


def test_both_rotations_give_the_same_scores(weights: Weights):
    shape = weights.shape
    tables = rotary_tables(shape, torch.device("cpu"), torch.float64)
    random = torch.Generator().manual_seed(0)
    size = (2, shape.heads * shape.head_width, shape.width)
    matrices = torch.randn(size, generator=random, dtype=torch.float64)
    x = torch.randn(2, shape.width, generator=random, dtype=torch.float64)
    ours, theirs = [], []
    for matrix, row, position in zip(matrices, x, (3, 17), strict=True):
        cos, sin = (table[position] for table in tables)
        ours.append(rotate((matrix @ row).view(shape.heads, -1), cos, sin))
        moved = (neighbours(matrix, shape.heads) @ row).view(shape.heads, -1)
        theirs.append(turned_neighbours(moved, position, shape.theta))
    for pair in zip(ours, theirs, strict=True):
        own, other = (each.numpy() for each in pair)
        np.testing.assert_allclose(np.concatenate((other[:, ::2], other[:, 1::2]), 1), own, 1e-12)
    scores = [(query * key).sum(-1) for query, key in (ours, theirs)]
    torch.testing.assert_close(*scores, rtol=0, atol=1e-12)


# The decoders.


class Table:
    """Reads tokens; its logits depend on the whole text that it holds, and on `seed`."""

    def __init__(self, seed: int) -> None:
        self.seed, self.held, self.counts = seed, list[int](), list[int]()

    @property
    def length(self) -> int:
        return len(self.held)

    def read(self, tokens: list[int], last_only: bool = False) -> np.ndarray:
        self.counts.append(len(tokens))
        rows = []
        for token in tokens:
            self.held.append(token)
            rows.append(np.random.default_rng([self.seed, *self.held]).random(VOCAB))
        return np.stack(rows[-1:] if last_only else rows)

    def cut(self, length: int) -> None:
        assert length <= self.length
        del self.held[length:]


class Sometimes(Table):
    """As the table of `seed`, but for every third token another."""

    def read(self, tokens: list[int], last_only: bool = False) -> np.ndarray:
        rows = super().read(tokens, last_only)
        return rows[:, ::-1] if self.length % 3 == 0 else rows


def expected_text(seed: int) -> list[int]:
    """The most probable token again and again, read anew every time."""
    text = list(PROMPT)
    for _ in range(COUNT):
        text.append(int(Table(seed).read(text)[-1].argmax()))
    return text[len(PROMPT) :]


def test_plain_decoding_takes_a_pass_for_every_token():
    model = Table(0)
    decode = greedy.plain(model, COUNT)
    for _ in range(2):  # what the first text left behind is forgotten
        made = decode(PROMPT)
        assert made.tokens == [expected_text(0)] and made.target_passes == COUNT
    assert model.counts == 2 * [3, *[1] * (COUNT - 1)]


@pytest.mark.parametrize("k", [1, 2, 4, 7])
@pytest.mark.parametrize("kind, seed", [(Table, 0), (Table, 9), (Sometimes, 0)])
def test_speculative_decoding_writes_the_same_text(k: int, kind: type[Table], seed: int):
    model = Table(0)
    decode = greedy.speculative(model, kind(seed), k, COUNT)
    for _ in range(2):  # what the first text left behind is forgotten
        model.counts.clear()
        made = decode(PROMPT)
        assert made.tokens == [expected_text(0)] and made.target_passes == len(model.counts)
        assert model.counts[0] == len(PROMPT) and max(model.counts[1:]) <= k + 1


def test_a_draft_that_is_the_target_has_every_token_accepted():
    target_model, draft = Table(0), Table(0)
    made = greedy.speculative(target_model, draft, 4, COUNT)(PROMPT)
    # The prompt gives one token, three whole blocks 15, and the last 4 tokens take a block of 3.
    assert made.target_passes == 5 and target_model.counts == [3, 5, 5, 5, 4]
    # Each block begins with what the draft lacks: its last token and the target's own.
    assert draft.counts == [4, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2, 1, 1]


def test_a_draft_that_is_never_right_costs_a_pass_for_every_token():
    class Wrong(Table):
        def read(self, tokens: list[int], last_only: bool = False) -> np.ndarray:
            return -super().read(tokens, last_only)  # its best token is the worst

    made = greedy.speculative(Table(0), Wrong(0), 3, COUNT)(PROMPT)
    assert made.tokens == [expected_text(0)] and made.target_passes == COUNT


# The figures.


class Ours:
    """Our own model as a stand-in for llama.cpp's, its logits off by `off`, its tokens wrong."""

    def __init__(self, model: Llama, off: float = 0.0, wrong: bool = False) -> None:
        self.model, self.off, self.wrong = model, off, wrong
        self.cache, self.length = model.new_cache(), 0

    def read(self, tokens: list[int], last_only: bool = False) -> np.ndarray:
        logits = self.model.forward(torch.tensor([tokens]), self.cache)[0].numpy()
        self.length += len(tokens)
        if len(tokens) == 1 and self.wrong:
            logits = -logits
        return (logits[-1:] if last_only else logits) + self.off

    def cut(self, length: int) -> None:
        self.cache.truncate([length])
        self.length = length


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """A bench with little to do, and a stand-in for llama.cpp."""
    stand_in(monkeypatch)
    monkeypatch.setattr(rivals, "build", lambda: "1.0, CPU : AVX2 = 1")
    monkeypatch.setattr(rivals, "FEW", 1)
    monkeypatch.setattr(runs, "ROUNDS", 1)
    monkeypatch.setitem(COSTS, "234m", Growth(width=1, layers=4))
    choice = Choice(torch.float32, "base", 3, 1.0, 1.0)
    monkeypatch.setattr(Workbench, "best", lambda self, size, warp: choice)
    monkeypatch.setattr(Workbench, "best_plain", lambda self, size: torch.float32)
    target.cache_clear()
    yield Workbench(prompts(6, length=16), 2, 8)
    target.cache_clear()


def stand_in(monkeypatch: pytest.MonkeyPatch, **wrong) -> None:
    """Our own decoder in the place of llama.cpp."""

    @contextmanager
    def loaded(weights: Weights, form: str, threads: int):
        assert form in ("F16", "F32") and threads == torch.get_num_threads()
        yield Ours(Llama(weights), **wrong)

    monkeypatch.setattr(rivals, "loaded", loaded)


@pytest.mark.parametrize("key", KEYS)
def test_each_figure_is_measured_with_what_stands_behind_it(small: Workbench, key: str):
    value = PEER_FIGURES[key].measure(small)
    assert 0 < value.low <= value.median <= value.high
    text = "\n".join(small.notes)
    kind = "speculative" if "speculative" in key else "plain"
    for form, count in (("F16", 2), ("F32", 1)) if "234m" in key else (("F32", 2), ("F16", 1)):
        assert f"{kind} over llama.cpp's {form}: " in text
        assert f"tokens a second; {count} of {count} texts equal" in text
    assert "logits differ by at most 0.0000" in text and "AVX2 = 1" in text


def test_another_model_is_not_measured(small: Workbench, monkeypatch: pytest.MonkeyPatch):
    for wrong, reason in (
        ({"off": 0.5}, "llama.cpp's logits differ from ours by 0.5, more than 0.05"),
        ({"wrong": True}, "llama.cpp wrote a token whose logit is"),
    ):
        small.notes.clear()
        stand_in(monkeypatch, **wrong)
        assert command.measured(["builtin_vs_llama_cpp_plain"], [small], None) == {}
        note = small.notes[-1]
        assert "builtin_vs_llama_cpp_plain: not measured: AnotherModel: " + reason in note


def test_a_build_for_more_than_the_class_is_not_measured(small: Workbench, monkeypatch):
    monkeypatch.setattr(rivals, "build", lambda: "CPU : AVX2 = 1 | AVX512 = 1 | AVX512_VNNI = 1")
    for name, measured in (("AVX2", False), ("AVX512", True), ("AVX512 with bfloat16", True)):
        monkeypatch.setattr(rivals, "processor_class", lambda name=name: name)
        found = command.measured(["builtin_vs_llama_cpp_plain"], [small], None)
        assert bool(found) == measured
    reasons = [note for note in small.notes if "not measured" in note]
    assert len(reasons) == 1 and "class AVX2, and llama.cpp's build uses AVX512;" in reasons[0]
    with pytest.raises(rivals.AnotherClass):
        rivals.require_class("AVX512", "AVX512 = 1 | AVX512_BF16 = 1")


def test_without_its_packages_the_figures_are_absent_and_told_of(capsys, monkeypatch):
    def missing(name: str) -> object:
        return None if name == "gguf" else object()

    monkeypatch.setattr(importlib.util, "find_spec", missing)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    quickly = FIGURES["builtin_vs_own_ar"]._replace(measure=lambda bench: 1.0)
    monkeypatch.setitem(command.ALL, "builtin_vs_own_ar", quickly)
    assert command.chosen(None) == list(FIGURES)
    assert command.main(["--only", "builtin_vs_own_ar"]) == 0
    (line,) = [each for each in capsys.readouterr().out.splitlines() if "llama.cpp" in each]
    assert "is not installed" in line and "-e '.[peers]'" in line and "C++ compiler" in line
    with pytest.raises(SystemExit):
        command.main(["--only", KEYS[0]])
    assert f"{KEYS[0]}: needs llama.cpp: pip install" in capsys.readouterr().err


def test_with_its_packages_its_figures_are_measured(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert command.chosen(None) == [*FIGURES, *PEER_FIGURES]


def test_the_file_is_gone_when_the_model_is_loaded(weights: Weights, monkeypatch):
    class Loaded:
        def __init__(self, path: Path, *sizes: int) -> None:
            assert path.read_text() == "F16"
            self.path, self.sizes, self.closed = path, sizes, False

        def close(self) -> None:
            self.closed = True

    monkeypatch.setattr(llama_cpp, "LlamaCpp", Loaded)
    monkeypatch.setattr(llama_cpp, "write_gguf", lambda weights, path, form: path.write_text(form))
    with llama_cpp.loaded(weights, "F16", 2) as model:
        assert not model.path.parent.exists() and not model.closed
        assert model.sizes == (weights.shape.vocab_size, weights.shape.max_length, 2)
    assert model.closed


@pytest.mark.peers
@pytest.mark.parametrize("form", ["F16", "F32"])
def test_llama_cpp_reads_our_models_and_writes_our_text(form: str):
    """With the real packages; they are optional, and without them this test is left out."""
    ours, text = target(None, torch.float32), prompts(1)[0]
    base = read_weights(ASSETS / "base", "cpu", torch.float32)
    big = read_weights(ASSETS / "target", "cpu", torch.float32)
    with llama_cpp.loaded(big, form, 1) as model, llama_cpp.loaded(base, form, 1) as draft:
        assert rivals.logits_apart(ours, model, text) < rivals.CLOSE
        plain = rivals.Kept(greedy.plain(model, 24))
        expected = plain(text)
        assert rivals.largest_gap(ours, plain) < rivals.CLOSE
        made = greedy.speculative(model, draft, 4, 24)(text)
        assert made.tokens == expected.tokens and made.target_passes < 24
        with pytest.raises(RuntimeError, match="llama_decode answers"):
            model.read([0] * (ours.max_length - model.length + 1))
    assert "CPU" in llama_cpp.build()


@pytest.mark.peers
def test_what_llama_cpp_cannot_read_is_named(tmp_path: Path):
    """With the real packages; they are optional, and without them this test is left out."""
    (tmp_path / "model.gguf").write_bytes(b"nothing")
    with pytest.raises(RuntimeError, match="llama.cpp does not read model.gguf"):
        llama_cpp.LlamaCpp(tmp_path / "model.gguf", 4, 8, 1)
