"""The figures of a GPU, by the very functions that measure them there, on the CPU."""

import gc
import json
import weakref
from types import SimpleNamespace

import pytest
import torch
from decoders.random_models import llama
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from specdec_lib.assets import ASSETS
from specdec_lib.measure.bench import command as bench
from specdec_lib.measure.bench import gpu, gpu_figures, memory
from specdec_lib.measure.bench.figures import FIGURES, GPU_FIGURES
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core import costs
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.timing import Spread
from specdec_lib.models import linear
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS, Growth, grown, grown_shape, parameters
from specdec_lib.theory import Costs

CPU = torch.device("cpu")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """A bench whose card is the CPU and whose sizes are the built-in one, with little to do."""
    monkeypatch.setattr(gpu_figures, "K_MAX", 2)
    monkeypatch.setattr(gpu_figures, "SHARE_PROMPTS", 1)
    monkeypatch.setattr(gpu, "costs_of", lambda *models, **options: (Costs(0.2, V), 0.01))
    monkeypatch.setattr(gpu, "BATCH", 2)
    monkeypatch.setattr(gpu_figures, "BATCH", 2)
    monkeypatch.setattr(gpu_figures, "copy_bandwidth", lambda device: 1e10)
    monkeypatch.setattr("specdec_lib.measure.bench.comparisons.TRIED_K", (1,))
    monkeypatch.setattr("specdec_lib.measure.bench.workbench.accepted", lambda name: RATES)
    monkeypatch.setattr("specdec_lib.measure.core.runs.ROUNDS", 1)
    gpu.graph_costs.cache_clear()
    monkeypatch.setitem(COSTS, "built-in", Growth(width=1, layers=4))
    sizes = dict.fromkeys(("7b", "1b"), "built-in")
    return Workbench(prompts(4, length=16), 1, 8, card=CPU, smaller=sizes)


V = {width: 1.0 + 0.1 * width for width in range(1, 10)}
RATES = SimpleNamespace(alpha=0.6, greedy=0.5)


@pytest.mark.parametrize("key", GPU_FIGURES)
def test_every_row_is_measured(small: Workbench, key: str):
    found = GPU_FIGURES[key].measure(small)
    values = [found.low, found.median, found.high] if isinstance(found, Spread) else [found]
    assert all(0 < value < 1000 for value in values) and values == sorted(values)
    assert any("cpu at built-in" in note for note in small.notes)


def test_the_costs_are_those_of_captured_passes():
    models = [Llama.from_folder(ASSETS / name) for name in ("base", "small")]
    found, seconds = costs.costs_of(*models, k_max=1, rounds=2, batch=2, task=costs.graph_task)
    assert found.v[1] == 1 and set(found.v) == {1, 2} and found.c > 0 and seconds > 0


def test_a_task_of_captured_passes_leaves_the_cache_as_it_was(monkeypatch):
    model = Llama.from_folder(ASSETS / "small")
    passes, forward = [], model.forward

    def counted(tokens, cache, run=None):
        before = cache.length.tolist()
        passes.append((tokens.shape[1], before, cache.readable))
        return forward(tokens, cache, run=run)

    monkeypatch.setattr(model, "forward", counted)
    costs.graph_task(model, 3)()
    assert passes == [(128, [0], 256)] + [(3, [128], 256)] * costs.REPLAYS


def test_transformers_stands_on_our_tensors(monkeypatch):
    monkeypatch.setattr(linear, "can_pack", lambda weight: False)  # as on a GPU
    gpu.weights_on.cache_clear(), gpu.target_on.cache_clear()
    monkeypatch.setitem(COSTS, "tiny", Growth(width=2, layers=5))
    ours, theirs = (
        gpu.target_on("tiny", torch.float32, CPU),
        gpu.hugging_on("tiny", torch.float32, CPU),
    )
    own = {
        part.data_ptr() for layer in ours.layers for part in (layer.qkv.weight, layer.down.weight)
    }
    layers = theirs.model.model.layers
    found = {
        part.data_ptr()
        for layer in layers
        for part in (layer.self_attn.q_proj.weight, layer.mlp.down_proj.weight)
    }
    assert own == found and len(own) == 10
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    with torch.no_grad():
        expected = ours.forward(tokens, ours.new_cache())
        torch.testing.assert_close(theirs.model(tokens).logits, expected, rtol=1e-3, atol=1e-3)


class Live(TorchDispatchMode):
    """Counts the bytes of the tensors that live, and the most at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[int] = set()
        self.now = self.most = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        result = function(*arguments, **(keywords or {}))
        for each in tree_iter(result):
            if isinstance(each, torch.Tensor):
                self._count(each.untyped_storage())
        return result

    def _count(self, storage: torch.UntypedStorage) -> None:
        place, size = storage.data_ptr(), storage.nbytes()
        if size and place not in self.known:
            self.known.add(place)
            self.now += size
            self.most = max(self.most, self.now)
            weakref.finalize(storage, self._gone, place, size)

    def _gone(self, place: int, size: int) -> None:
        self.known.discard(place)
        self.now -= size


def test_a_scaled_target_is_made_without_a_second_copy(monkeypatch, tmp_path):
    monkeypatch.setattr(linear, "can_pack", lambda weight: False)  # as on a GPU
    llama().save_pretrained(tmp_path)
    growth = Growth(width=12, layers=16)
    shape = grown_shape(read_weights(tmp_path, "cpu", torch.float32).shape, growth)
    gc.collect()
    with Live() as live:
        model = Llama(grown(read_weights(tmp_path, "cpu", torch.float32), growth))
    whole, extra = 4 * parameters(shape), 4 * gpu.largest_matrix(shape)
    assert len(model.layers) == 16
    assert whole < live.most < whole + 2 * extra


def test_the_largest_size_with_room_is_taken(small: Workbench, monkeypatch):
    for free, expected in ((80e9, "7b"), (12e9, "1b"), (4.5e9, "234m")):
        small.smaller.clear()
        monkeypatch.setattr(gpu, "free_memory", lambda device, free=free: int(free))
        assert gpu.size_for(small, "7b") == expected == small.smaller["7b"]
    monkeypatch.setattr(gpu, "free_memory", lambda device: 10)
    assert gpu.size_for(small, "7b") == "234m"  # what was chosen stays
    small.smaller.clear()
    with pytest.raises(ValueError, match="cpu has no room for the 40m size"):
        gpu.size_for(small, "1b")


def test_the_memory_of_the_sizes_is_known():
    assert 13.7e9 < gpu.memory_needed("7b", torch.bfloat16) - gpu.RESERVE < 17e9
    assert 2.0e9 < gpu.memory_needed("1b", torch.bfloat16) - gpu.RESERVE < 3e9


def test_the_bytes_of_a_plain_step():
    model = Llama.from_folder(ASSETS / "small")
    shape = model.shape
    weights = parameters(shape) - shape.vocab_size * shape.width
    held = 2 * shape.layers * shape.kv_heads * shape.head_width
    # Steps at 126 and 127 tokens: the first reads one bucket of 128 positions, the second two.
    assert gpu.bytes_a_step(model, [1] * 126, 2) == 4 * (weights + held * (128 + 256) / 2)


def test_without_a_gpu_its_rows_are_absent_and_told_of(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setitem(
        bench.ALL,
        "builtin_vs_own_ar",
        FIGURES["builtin_vs_own_ar"]._replace(measure=lambda bench: 1.0),
    )
    assert bench.main(["--only", "builtin_vs_own_ar"]) == 0
    text = capsys.readouterr().out
    assert "no CUDA device: GPU rows not measured" in text and "gpu_" not in text
    assert bench.here(Workbench([], 1, 1)) == list(FIGURES)
    assert bench.here(Workbench([], 1, 1, card=CPU)) == [*FIGURES, *GPU_FIGURES]
    with pytest.raises(SystemExit):
        bench.main(["--only", "gpu_batch8_vs_own_ar"])
    assert "gpu_batch8_vs_own_ar: needs a CUDA device" in capsys.readouterr().err


def test_what_fails_on_a_gpu_leaves_the_other_figures(tmp_path, monkeypatch):
    def fail(bench):
        raise torch.OutOfMemoryError("CUDA out of memory\nand more")

    def one(bench):
        return 1.0

    keys = list(GPU_FIGURES)[:2]
    for key, measure in zip(keys, (fail, one), strict=True):
        monkeypatch.setitem(bench.ALL, key, GPU_FIGURES[key]._replace(measure=measure))
    where = Workbench([], 1, 1, card=CPU)
    assert bench.measured(keys, where, tmp_path / "bench.json") == {keys[1]: 1.0}
    reason = "not measured: OutOfMemoryError: CUDA out of memory"
    assert where.notes == [f"{keys[0]}: {reason}"]
    assert reason in (tmp_path / "bench.notes.txt").read_text()
    monkeypatch.setitem(bench.ALL, "model_error", FIGURES["model_error"]._replace(measure=fail))
    with pytest.raises(RuntimeError):
        bench.measured(["model_error"], where, None)


def test_layers_are_compiled_where_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(gpu, "compiled", lambda model, mode: (model.device, mode))
    gpu.layers_on.cache_clear()
    assert gpu.layers_on(CPU, "default") == (CPU, "default")
    assert gpu.layers_on(CPU, None) == (None, "layers not compiled")
    gpu.layers_on.cache_clear()


def test_a_smaller_size_is_named_in_its_row_and_meets_no_goal(tmp_path):
    found = dict.fromkeys(GPU_FIGURES, 9.0) | {"gpu_7b_vs_hf_assisted": Spread(3.5, 3.0, 4.0)}
    lines = bench.table(found, {"7b": "1b", "1b": "1b"}).splitlines()[1:]
    for line in lines:
        assert (
            ("(at the 1b cost: no room for 7b)" in line)
            == ("7b cost" in line)
            == (" met " not in line)
        )
    bench.write(tmp_path / "bench.json", found, [], {"7b": "1b", "1b": "1b"})
    written = json.loads((tmp_path / "bench.json").read_text())
    assert written["gpu_vs_hf_assisted"] == {
        "1b": 9.0,
        "7b": {"median": 3.5, "low": 3.0, "high": 4.0},
    }
    assert written["gpu_sizes"] == {"7b": "1b", "1b": "1b"}


def test_memory_is_that_of_the_cpu_where_there_is_a_gpu_too(monkeypatch):
    def load(device=None, **options):
        raise ValueError(device)

    monkeypatch.setattr(memory, "load_pair", load)
    with pytest.raises(ValueError, match="^cpu$"):
        memory.main("234m", "float32")
