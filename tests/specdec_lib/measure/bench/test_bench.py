"""The figures of the bench."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from decoders.stand_in_clock import Clock

from specdec_lib.decoding.state import Generation
from specdec_lib.measure.bench import (
    bound,
    comparisons,
    memory,
    record,
    tables,
    workbench,
)
from specdec_lib.measure.bench import command as bench
from specdec_lib.measure.bench.figures import FIGURES, Figure, number_of
from specdec_lib.measure.bench.record import Record
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core import models, runs
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.pages import table_in
from specdec_lib.measure.core.timing import Picked, Spread
from specdec_lib.models.scale import COSTS, Growth
from specdec_lib.theory import Costs

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
    monkeypatch.setattr(comparisons, "TRIED_K", (1,))
    monkeypatch.setattr(workbench, "ROUNDS", 1)
    for size in ("built-in", "40m", "234m"):
        monkeypatch.setitem(COSTS, size, Growth(width=1, layers=4))
    models.target.cache_clear()
    yield
    models.target.cache_clear()


def small_bench() -> Workbench:
    """A bench of few and short texts."""
    return Workbench(prompts(4, length=16), 1, 8)


@pytest.mark.parametrize("key", [key for key in FIGURES if "234m" in key or "share" in key])
def test_the_same_functions_measure_the_figures_of_a_cpu(quick, key: str):
    small = small_bench()
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
    small = small_bench()
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
    small, made = small_bench(), []
    real = small.decoder
    small.decoder = lambda size, dtype, *more: (
        made.append((dtype, *more)) or real(size, dtype, *more)
    )
    key = "cost234m_vs_best_plain_greedy"
    assert FIGURES[key].measure(small) == FIGURES[key].measure(small)
    assert made == [(torch.float32, runs.GREEDY), (torch.bfloat16, runs.GREEDY, "large", 2)]
    assert "234m, a plain pass: torch.float32 10.0 ms, torch.bfloat16 12.0 ms" in small.notes


def test_a_comparison_that_would_take_long_goes_through_its_prompts_once(monkeypatch):
    for seconds, rounds in ((0.5, 2), (10.0, 1)):
        clock, calls = Clock(monkeypatch), []
        small = small_bench()

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
    small = small_bench()
    old, new = "cost234m_vs_own_ar_sampled", "cost234m_vs_best_plain_sampled"
    assert FIGURES[old].measure(small) is FIGURES[new].measure(small)


def record_of(values, processor="AVX2") -> Record:
    return Record(values, processor, "a machine")


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
    file, page = tmp_path / "a.json", tmp_path / "page.md"
    record.write(file, record_of(values, "AMX"), [], {})
    assert bench.main(["--recorded", str(file), "--markdown", str(page)]) == 0
    machine, _, head, _, *rows = table_in(page, tables.TABLE).splitlines()
    assert machine == "On a machine (class: AMX)." and head == "| figure | goal | measured |"
    assert len(rows) == len(FIGURES)
    assert "| built-in pair, over our plain decoding, T = 1 | | 1.05 (1.00 to 1.14) |" in rows
    error = "median error of the cost model, batch 1 to 32, K = 1 to 8"
    assert f"| {error} | at most 12.0% | 14.6%, missed |" in rows
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
