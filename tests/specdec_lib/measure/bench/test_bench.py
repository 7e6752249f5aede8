"""The figures of the bench; those of a GPU by the very functions that measure them, on the CPU."""

import gc
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from decoders.live_memory import Live
from decoders.random_models import llama
from decoders.stand_in_clock import Clock

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.state import Generation
from specdec_lib.measure import hugging
from specdec_lib.measure.bench import (
    bandwidth,
    bound,
    comparisons,
    memory,
    record,
    sizes,
    tables,
    workbench,
)
from specdec_lib.measure.bench import command as bench
from specdec_lib.measure.bench.figures import FIGURES, GPU_FIGURES, Figure, number_of
from specdec_lib.measure.bench.record import Record
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core import costs, models, runs
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.pages import table_in
from specdec_lib.measure.core.timing import Picked, Spread
from specdec_lib.measure.drafters import bound as drafters
from specdec_lib.models import linear
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS, Growth, grown, grown_shape, parameters
from specdec_lib.theory import Costs

CPU = torch.device("cpu")
DOCS = Path(__file__).parents[4] / "docs"
V = {width: 1.0 + 0.1 * width for width in range(1, 10)}
RATES = SimpleNamespace(alpha=0.6, greedy=0.5)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little to do: known costs and acceptance, two K, all sizes the built-in one."""
    monkeypatch.setattr(bound, "K_MAX", 2)
    monkeypatch.setattr(bound, "FEW", 1)

    def known(drafts):
        return dict.fromkeys(drafts, Costs(0.2, V)), 0.01

    monkeypatch.setattr(
        workbench,
        "costs_by_dtype",
        lambda models, drafts, *how: {dtype: known(drafts[dtype]) for dtype in models},
    )
    monkeypatch.setattr(workbench, "accepted", lambda name: RATES)
    monkeypatch.setattr(comparisons, "BATCH", 2)
    monkeypatch.setattr(comparisons, "TRIED_K", (1,))
    monkeypatch.setattr(bandwidth, "copy_bandwidth", lambda device: 1e10)
    monkeypatch.setattr(costs, "REPLAYS", 1)
    monkeypatch.setattr(workbench, "ROUNDS", 1)
    monkeypatch.setattr(bound, "ROUNDS", 1)
    monkeypatch.setattr(drafters, "ROUNDS", 1)
    monkeypatch.setattr(drafters, "CHAINS", ((1,),))
    monkeypatch.setattr(drafters, "TREES", ((2,),))
    for size in ("built-in", "40m", "234m"):
        monkeypatch.setitem(COSTS, size, Growth(width=1, layers=4))
    models.target.cache_clear()
    yield
    models.target.cache_clear()


def keep_weights_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU."""
    monkeypatch.setattr(linear, "half_scale", lambda weight: None)
    monkeypatch.setattr(linear, "can_pack", lambda weight: False)


def bench_of(captured: bool, **more) -> Workbench:
    """A bench of few and short texts; if it is captured, its GPU is the CPU."""
    return Workbench(prompts(4, length=16), 1, 8, captured=captured, **more)


@pytest.mark.parametrize("key", GPU_FIGURES)
def test_every_figure_of_a_gpu_is_measured(quick, key: str):
    small = bench_of(True, smaller=dict.fromkeys(("7b", "1b"), "built-in"))
    value = GPU_FIGURES[key].measure(small)
    values = [value.low, value.median, value.high] if isinstance(value, Spread) else []
    assert all(0 < each < 1000 for each in (*values, number_of(value)))
    assert values == sorted(values)
    assert any("cpu at built-in" in note for note in small.notes)


@pytest.mark.parametrize(
    "key", [key for key in FIGURES if ("234m" in key or "share" in key) and "family" not in key]
)
def test_the_same_functions_measure_the_figures_of_a_cpu(quick, key: str):
    small = bench_of(False)
    value = FIGURES[key].measure(small)
    assert 0 < number_of(value) < 1000
    assert any(note.startswith("234m over ") or "bound at 234m" in note for note in small.notes)


def test_the_best_of_all_dtypes_and_drafts_is_chosen_and_noted(quick, monkeypatch):
    names = {"large": Costs(0.5, V), "small": Costs(0.1, V)}
    both = {torch.float32: (names, 0.02), torch.bfloat16: (names, 0.01)}
    monkeypatch.setattr(
        workbench, "costs_by_dtype", lambda models, *how: {each: both[each] for each in models}
    )
    monkeypatch.setattr(workbench, "dtypes", lambda: tuple(both))
    small = bench_of(False)
    best = small.best("234m", runs.SAMPLED)
    assert (best.dtype, best.draft) == (torch.bfloat16, "small")
    assert best.k == Costs(0.1, V).best_k(RATES.alpha)
    assert best.tokens_per_second == pytest.approx(best.speedup / 0.01)
    assert f"the small draft and K = {best.k}" in small.notes[0] and "pair" in small.notes[1]
    assert small.best("234m", runs.SAMPLED, [torch.float32]).dtype == torch.float32


def test_plain_decoding_has_a_best_dtype_of_its_own(quick, monkeypatch):
    flat = dict.fromkeys(V, 1.0)
    both = {
        torch.float32: ({"large": Costs(0.1, {**V, 5: 4.0})}, 0.010),
        torch.bfloat16: ({"large": Costs(0.1, flat)}, 0.012),
    }
    monkeypatch.setattr(workbench, "costs_by_dtype", lambda *how: both)
    monkeypatch.setattr(workbench, "dtypes", lambda: tuple(both))
    small, made = bench_of(False), []
    real = small.decoder
    small.decoder = lambda size, dtype, *more: (
        made.append((dtype, *more)) or real(size, dtype, *more)
    )
    key = "cost234m_vs_best_plain_greedy"
    assert FIGURES[key].measure(small) == FIGURES[key].measure(small)
    assert made == [(torch.float32, runs.GREEDY), (torch.bfloat16, runs.GREEDY, "large", 2)]
    assert "234m, a plain pass: torch.float32 10.0 ms, torch.bfloat16 12.0 ms" in small.notes


def test_both_figures_of_the_family_rest_on_the_same_measured_passes(quick, monkeypatch):
    real, measured = comparisons.pass_costs, []
    monkeypatch.setattr(
        comparisons, "pass_costs", lambda *what: measured.append(what) or real(*what)
    )
    small = bench_of(False)
    for kind in ("sampled", "greedy"):
        value = FIGURES[f"cost234m_family_vs_best_plain_{kind}"].measure(small)
        assert 0 < value.low <= value.high < 1000
    assert len(measured) == 1
    assert any(note.startswith("234m over plain, the best of the family") for note in small.notes)


def test_a_comparison_that_would_take_long_goes_through_its_prompts_once(monkeypatch):
    for seconds, rounds in ((0.5, 2), (10.0, 1)):
        clock, calls = Clock(monkeypatch), []
        small = bench_of(False)

        def side(prompt, clock=clock, seconds=seconds, calls=calls):
            calls.append(prompt)
            clock.task(seconds)()
            return Generation([[1, 2]], target_passes=1)

        assert small.compare("a pair", side, side, [[1], [2], [3]]).median == 1
        assert len(calls) == 2 + 3 * 2 * rounds
        assert f"3 prompts, rounds: {rounds}," in small.notes[0]


def test_one_candidate_is_no_choice(quick, monkeypatch):
    """Both figures over plain decoding are one measurement then."""
    monkeypatch.setattr(workbench, "dtypes", lambda: (torch.float32,))
    small = bench_of(False)
    old, new = "cost234m_vs_own_ar_sampled", "cost234m_vs_best_plain_sampled"
    assert FIGURES[old].measure(small) is FIGURES[new].measure(small)


def test_transformers_stands_on_our_tensors(monkeypatch):
    keep_weights_as_they_are(monkeypatch)
    monkeypatch.setattr(models, "target_weights", models.kept_weights)
    monkeypatch.setattr(hugging, "target_weights", models.kept_weights)
    models.target.cache_clear()
    monkeypatch.setitem(COSTS, "tiny", Growth(width=2, layers=5))
    ours = models.target("tiny", torch.float32)
    theirs = hugging.Counted.of_target("tiny", torch.float32, CPU).model
    own = {
        part.product.keywords["weight"].data_ptr()
        for layer in ours.layers
        for part in (layer.qkv, layer.down)
    }
    held = {
        part.data_ptr()
        for layer in theirs.model.layers
        for part in (layer.self_attn.q_proj.weight, layer.mlp.down_proj.weight)
    }
    assert own == held and len(own) == 10
    models.target.cache_clear()


def test_a_scaled_target_is_made_without_a_second_copy(monkeypatch, tmp_path):
    keep_weights_as_they_are(monkeypatch)
    llama().save_pretrained(tmp_path)
    growth = Growth(width=12, layers=16)
    shape = grown_shape(read_weights(tmp_path, "cpu", torch.float32).shape, growth)
    gc.collect()
    with Live() as live:
        model = Llama(grown(read_weights(tmp_path, "cpu", torch.float32), growth))
    whole, extra = 4 * parameters(shape), 4 * sizes.largest_matrix(shape)
    assert len(model.layers) == 16
    assert whole < live.most < whole + 2 * extra


def test_the_largest_size_with_room_is_taken(monkeypatch):
    small = bench_of(True)
    for free, expected in ((80e9, "7b"), (12e9, "1b"), (4.5e9, "234m")):
        small.smaller.clear()
        monkeypatch.setattr(sizes, "free_memory", lambda device, free=free: int(free))
        assert sizes.size_for(small, "7b") == expected == small.smaller["7b"]
    monkeypatch.setattr(sizes, "free_memory", lambda device: 10)
    assert sizes.size_for(small, "7b") == "234m"  # what was chosen stays
    small.smaller.clear()
    with pytest.raises(ValueError, match="cpu has no room for the 40m size"):
        sizes.size_for(small, "1b")


def test_the_memory_of_the_sizes_is_known():
    assert 13.7e9 < sizes.memory_needed("7b", torch.bfloat16) - sizes.RESERVE < 17e9
    assert 2.0e9 < sizes.memory_needed("1b", torch.bfloat16) - sizes.RESERVE < 3e9


def test_the_bytes_of_a_plain_step():
    model = Llama.from_folder(ASSETS / "small")
    shape = model.shape
    weights = parameters(shape) - shape.vocab_size * shape.width
    held = 2 * shape.layers * shape.kv_heads * shape.head_width
    # Steps at 126 and 127 tokens: the first reads one bucket of 128 positions, the second two.
    assert sizes.bytes_a_step(model, [1] * 126, 2) == 4 * (weights + held * (128 + 256) / 2)


def test_without_a_gpu_its_rows_are_absent_and_told_of(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    quickly = FIGURES["builtin_vs_own_ar"]._replace(measure=lambda bench: 1.0)
    monkeypatch.setitem(bench.ALL, "builtin_vs_own_ar", quickly)
    assert bench.main(["--only", "builtin_vs_own_ar"]) == 0
    text = capsys.readouterr().out
    assert "no CUDA device: GPU rows not measured" in text and "gpu_" not in text
    assert bench.chosen(None) == list(FIGURES) and len(bench.workbenches(None)) == 1
    for key, message in {
        "gpu_batch8_vs_own_ar": "gpu_batch8_vs_own_ar: needs a CUDA device",
        "nonsense": "no figure is called nonsense",
    }.items():
        with pytest.raises(SystemExit):
            bench.main(["--only", key])
        assert message in capsys.readouterr().err


def test_with_a_gpu_its_figures_have_a_bench_of_their_own(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert bench.chosen(None) == [*FIGURES, *GPU_FIGURES]
    cpu, card = bench.workbenches("default")
    assert not cpu.captured and card.captured and card.device.type == "cuda"
    assert card.notes is cpu.notes and card.smaller is not cpu.smaller and card.mode == "default"


def test_what_fails_on_a_gpu_leaves_the_other_figures(tmp_path, monkeypatch):
    def fail(bench):
        raise torch.OutOfMemoryError("CUDA out of memory\nand more")

    keys = list(GPU_FIGURES)[:2]
    for key, measure in zip(keys, (fail, lambda bench: 1.0), strict=True):
        monkeypatch.setitem(bench.ALL, key, GPU_FIGURES[key]._replace(measure=measure))
    where = bench_of(True)
    assert bench.measured(keys, [where], tmp_path / "bench.json") == {keys[1]: 1.0}
    reason = "not measured: OutOfMemoryError: CUDA out of memory"
    assert where.notes == [f"{keys[0]}: {reason}"]
    assert reason in (tmp_path / "bench.notes.txt").read_text()
    monkeypatch.setitem(bench.ALL, "model_error", FIGURES["model_error"]._replace(measure=fail))
    with pytest.raises(RuntimeError):
        bench.measured(["model_error"], [where], None)


def test_layers_are_compiled_if_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(workbench, "compiled", lambda model, mode: (model.device, mode))
    assert bench_of(True, mode="default").layers == (CPU, "default")
    assert bench_of(True).layers == (None, "layers not compiled")


def record_of(values, smaller=None, processor="AVX2") -> Record:
    return Record(values, processor, "a machine", smaller or {})


def test_a_smaller_size_is_named_in_its_row_and_meets_no_goal(tmp_path):
    values = dict.fromkeys(GPU_FIGURES, 9.0) | {"gpu_7b_vs_hf_assisted": Spread(3.5, 3.0, 4.0)}
    of_less = record_of(values, {"7b": "1b", "1b": "1b"})
    for line in tables.table(of_less).splitlines()[1:]:
        assert (
            ("(at the 1b cost: no room for 7b)" in line)
            == ("7b cost" in line)
            == (" met " not in line)
        )
    record.write(tmp_path / "bench.json", of_less, [], {})
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
        memory.main()


def test_a_goal_is_met_by_the_median_on_its_side():
    def figure(goal: float | None, most: bool = False) -> Figure:
        return Figure("", goal, lambda bench: 0.0, most)

    assert figure(2.0).met(Spread(2.1, 1.0, 3.0)) and not figure(2.0).met(1.9)
    assert figure(0.1, most=True).met(0.05) and not figure(0.1, most=True).met(0.2)
    assert figure(None).met(1.0) is None


def test_the_table_and_the_file_hold_every_figure(tmp_path: Path):
    values = dict.fromkeys(FIGURES, 1.0) | {"builtin_vs_hf_generate": Spread(2.5, 2.0, 3.0)}
    values |= {"share_of_bound_greedy": 0.95}
    values |= {"share_of_bound_sampled": Picked(0.9, {"K = 1": 0.9, "K = 2": 0.92})}
    whole = record_of(values)
    lines = tables.table(whole).splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(FIGURES)
    assert "2.50 (2.00 to 3.00)" in tables.table(whole) and "missed" in lines[0]
    path = tmp_path / "new" / "bench.json"
    record.write(path, whole, ["a note"], {"share_of_bound_sampled": 3.21})
    written = json.loads(path.read_text())
    assert written["builtin_vs_hf_generate"] == {"median": 2.5, "low": 2.0, "high": 3.0}
    assert written["share_of_bound"] == written["share_of_bound_sampled"] == 0.9
    assert written["spreads"] == {"share_of_bound_sampled": {"K = 1": 0.9, "K = 2": 0.92}}
    assert written["class"] == "AVX2"
    assert written["seconds"] == {"share_of_bound_sampled": 3.2}
    notes = path.with_suffix(".notes.txt").read_text().splitlines()
    assert notes == ["a machine", "class: AVX2", "a note"]
    assert record.read(path) == whole


def test_the_command_writes_the_table_of_a_recorded_file_into_a_page(tmp_path: Path, capsys):
    values = {"builtin_vs_own_ar": Spread(1.05, 1.0, 1.14), "model_error": 0.146}
    values |= {"gpu_7b_bandwidth_share": 0.8}
    file, page = tmp_path / "a.json", tmp_path / "page.md"
    record.write(file, record_of(values, {"7b": "1b"}, "AMX"), [], {})
    assert bench.main(["--recorded", str(file), "--markdown", str(page)]) == 0
    machine, _, head, _, *rows = table_in(page, tables.TABLE).splitlines()
    assert machine == "On a machine (class: AMX)." and head == "| figure | goal | measured |"
    assert len(rows) == len(FIGURES) + 1
    assert "| built-in pair, over our plain decoding, T = 1 | | 1.05 (1.00 to 1.14) |" in rows
    error = "median error of the cost model, batch 1 to 32, K = 1 to 8"
    assert f"| {error} | at most 12.0% | 14.6%, missed |" in rows
    at_less = "0.80 (at the 1b cost: no room for 7b)"
    bandwidth_row = "GPU, 7b cost, plain decoding, share of copy bandwidth"
    assert rows[-1] == f"| {bandwidth_row} | 0.75 | {at_less} |"
    assert "builtin_vs_own_ar" in capsys.readouterr().out


def test_the_page_shows_what_was_recorded():
    recorded = record.read(DOCS / "results" / "bench.json")
    assert table_in(DOCS / "results.md", tables.TABLE) == tables.in_page(recorded)


def test_a_large_parent_does_not_hide_what_a_process_takes():
    code = (
        "import sys; from specdec_lib.measure.bench.memory import peak; before = peak();"
        "held = bytearray(64 * 2**20); held[::4096] = b'x' * len(held[::4096]);"
        "print(peak() - before)"
    )
    parent = bytearray(700 * 2**20)  # more than torch and those of the child
    parent[::4096] = b"x" * len(parent[::4096])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) > 50 * 2**20
