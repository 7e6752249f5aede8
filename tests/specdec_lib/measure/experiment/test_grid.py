"""The experiment of chapter 08: what each row promises, which are run, what the file holds."""

from dataclasses import asdict
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from decoders.built_in_machine import CPU, FOUND, SMALL

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.measure.core.acceptance import Acceptance
from specdec_lib.measure.core.costs import costs_by_draft
from specdec_lib.measure.core.interval import Rate
from specdec_lib.measure.core.pages import table_in
from specdec_lib.measure.core.timing import Spread
from specdec_lib.measure.experiment import contest, grid
from specdec_lib.measure.experiment.budget import ACCEPTANCE, LOOK, Budget
from specdec_lib.measure.experiment.contest import Outcome
from specdec_lib.measure.experiment.costs import costs_on
from specdec_lib.measure.experiment.loops import LIBRARY
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.measure.experiment.results_file import read
from specdec_lib.theory import Costs, walltime_speedup

DOCS = Path(__file__).parents[4] / "docs"
DRAFTS = {*BUILT_IN_DRAFTS, "bigram", "unigram", "prompt lookup", "early exit"}
SPREAD = Spread(1.5, 1.0, 2.0)


def test_a_row_promises_with_v_and_without():
    costs = Costs(0.05, {m: 1.0 + 0.2 * (m - 1) for m in range(1, 10)})
    row = grid.row_of("234m", "base", "code", 1, Rate(0.7, 60), costs)
    assert row.k == costs.best_k(0.7) and row.expected == costs.speedup(0.7, row.k)
    flat = [walltime_speedup(0.7, 0.05, k) for k in range(9)]
    assert (row.formula_k, row.formula) == (flat.index(max(flat)), max(flat))
    assert row.expected_at_4 == walltime_speedup(0.7, 0.05, 4, costs.v[5])
    hopeless = grid.row_of("234m", "base", "code", 1, Rate(0.05, 60), Costs(0.9, costs.v))
    assert hopeless.k == 1 and hopeless.expected < 1


def test_drafts_of_every_kind_have_an_acceptance_and_a_cost(machine, monkeypatch):
    monkeypatch.setattr("specdec_lib.measure.core.acceptance.WINDOW", 64)
    with machine.budget.part(ACCEPTANCE) as part:
        rates = grid.acceptance_rates(machine.effort.positions, part)
    assert set(rates) == set(product(("code", "prose"), DRAFTS))
    assert all(each.positions == 60 for each in rates.values())
    target = machine.targets["built-in"]
    with machine.budget.part(LOOK) as part:
        found = costs_on(target, target, machine.drafts, machine.effort.passes, part)
    assert set(found.drafts) == DRAFTS and found.seconds > 0 and found.prompt > 0
    assert all(each.c > 0 for each in found.drafts.values()) and set(found.v) == set(range(1, 10))
    rows = grid.promised("built-in", rates, found, tokens=24)
    assert len(rows) == 28
    chosen = grid.to_run(rows, everything=False)
    assert [row.temperature for row in chosen] == [1, 0]
    assert len(grid.to_run(rows, everything=True)) == 12


def test_a_draft_step_stands_after_a_target_pass(machine, monkeypatch):
    order = []

    def tasks(model, widths):
        return {width: lambda width=width: order.append(width) for width in widths}

    drafts = {name: lambda name=name: order.append(name) for name in "abc"}
    monkeypatch.setattr("specdec_lib.measure.core.costs.pass_tasks", tasks)
    costs_by_draft(machine.targets["built-in"], drafts, k_max=1, rounds=1)
    assert order[:5] == [1, "a", 2, "b", "c"]


@pytest.fixture
def quick(monkeypatch, machine):
    """An experiment whose measurements are given; yields the machine, with a costlier target."""
    monkeypatch.setattr(grid.Contest, "outcome", lambda *args: Outcome(*[SPREAD] * 4))
    monkeypatch.setattr(grid.Contest, "sides", lambda *args: {})
    rates = dict.fromkeys(product(grid.TASKS, DRAFTS), Acceptance(0.7, 0.6, 60))
    monkeypatch.setattr(grid, "acceptance_rates", lambda *args: rates)
    targets = {"built-in": machine.targets["built-in"], "40m": machine.targets["built-in"]}
    costs = dict.fromkeys(targets, FOUND)
    budget = Budget(longer=1000)
    return Machine(
        CPU, torch.float32, targets, machine.drafts, (), SMALL, 1e9, costs, budget=budget
    )


def test_every_row_is_in_the_file_as_soon_as_it_is_known(quick, tmp_path):
    results = grid.begin(quick, LIBRARY, tmp_path / "out.json")
    for number, row in enumerate(grid.run(quick, LIBRARY, results), 1):
        held = read(tmp_path / "out.json")["rows"]
        assert len(held) == number and held[-1] == asdict(row)
    assert number == 56 and sum(bool(row["empirical"]) for row in held) == 2
    measured = [row for row in held if row["empirical"]]
    assert {row["target"] for row in measured} == {"40m"}
    assert measured[0]["at_4"] == {"median": 1.5, "low": 1.0, "high": 2.0}


def test_the_built_in_target_is_run_where_no_costlier_one_fits(quick, tmp_path):
    alone = grid.replace(quick, targets={"built-in": quick.targets["built-in"]})
    rows = list(grid.run(alone, LIBRARY, grid.begin(alone, LIBRARY, tmp_path / "out.json")))
    assert [row.temperature for row in rows if row.empirical] == [1, 0]
    assert grid.best(rows).target == "built-in"


@pytest.mark.parametrize("fails", [False, True])
def test_measured_rows_stand_where_hugging_face_fails(
    machine, fails, tmp_path, monkeypatch, capsys
):
    """On a machine for which every costlier target was left out."""
    rates = dict.fromkeys(product(grid.TASKS, DRAFTS), Acceptance(0.7, 0.6, 60))
    monkeypatch.setattr(grid, "acceptance_rates", lambda *args: rates)
    monkeypatch.setattr(contest, "POOL", 6)
    if fails:
        monkeypatch.setattr(contest.hugging, "generate", lambda *given, **how: {}["no such key"])
    results = grid.begin(machine, LIBRARY, tmp_path / "out.json")
    measured = [row for row in grid.run(machine, LIBRARY, results) if row.empirical]
    assert [row.temperature for row in measured] == [1, 0]
    assert all((row.over_hugging is None) == fails for row in measured)
    assert ("KeyError: 'no such key'" in capsys.readouterr().out) == fails


def test_an_interrupted_kernel_keeps_the_rows_so_far(quick, tmp_path, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(grid.Contest, "outcome", interrupted)
    results = grid.begin(quick, LIBRARY, tmp_path / "out.json")
    with pytest.raises(KeyboardInterrupt):
        list(grid.run(quick, LIBRARY, results))
    assert len(read(tmp_path / "out.json")["rows"]) == 54


def test_the_best_row_is_a_measured_one_and_its_lack_is_said():
    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    rows = [grid.row_of("40m", "base", "code", t, Rate(0.7, 60), costs) for t in (0, 1, 1)]
    with pytest.raises(ValueError, match="of 3 rows none was measured end to end: let the"):
        grid.best(rows)
    for i, median in ((0, 1.9), (1, 1.4), (2, 1.6)):
        rows[i] = grid.replace(rows[i], empirical={"median": median})
    assert grid.best(rows) is rows[0] and grid.best(rows, 1) is rows[2]


def test_the_best_row_is_one_whose_models_the_later_figures_have():
    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    rows = [grid.row_of(name, "base", "code", 1, Rate(0.7, 60), costs) for name in ("7b", "vicuna")]
    rows = [grid.replace(row, empirical={"median": 2.0 + i}) for i, row in enumerate(rows)]
    rows[1] = grid.replace(rows[1], published=True)
    assert grid.best(rows) is rows[0]
    with pytest.raises(ValueError, match="none was measured"):
        grid.best(rows[1:])


def test_the_table_says_of_which_target_and_how_sure_alpha_is():
    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    sure = grid.row_of("vicuna", "68m", "translation", 1, Rate(0.6213, 4600, 0.61, 0.63), costs)
    unsure = grid.row_of("vicuna", "68m", "summarisation", 0, Rate(0.6213, 72, 0.5, 0.73), costs)
    run = grid.replace(sure, tokens_a_pass=2.281)
    head, first, second = grid.table([run, unsure]).splitlines()
    assert head.split()[:3] == ["target", "draft", "task"] and head.endswith("tokens a pass")
    assert first.split()[:3] == ["vicuna", "68m", "translation"] and "0.62 ± 0.01" in first
    assert first.endswith("2.28") and "0.6 ± 0.1" in second
    assert "at K = 4" not in head  # columns that nothing fills


def test_the_table_shows_quartiles_where_a_row_was_run():
    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    row = grid.row_of("40m", "base", "code", 1, Rate(0.7, 60), costs)
    assert "(" not in grid.table([row]).splitlines()[1]
    row = grid.replace(row, **Outcome(*[SPREAD] * 4).to_json())
    assert grid.table([row]).count("1.50 (1.00 to 2.00)") == 2


def test_a_disturbed_row_says_so_below_itself():
    costs = Costs(0.1, dict.fromkeys(range(1, 10), 1.0))
    row = grid.row_of("40m", "base", "code", 1, Rate(0.7, 60), costs)
    told = grid.replace(row, disturbed="the halves differ by 40%")
    assert grid.table([told]).startswith(grid.table([row]))
    assert "This run was disturbed (the halves differ by 40%)" in grid.table([told])


def test_the_command_measures_prints_and_leaves_a_file(quick, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(grid.survey, "look", lambda pairs, yes: quick)
    path = tmp_path / "table.json"
    assert grid.main(["--json", str(path)]) == 0
    assert "Target 40m" in capsys.readouterr().out and len(read(path)["rows"]) == 56
    page = tmp_path / "page.md"
    assert grid.main(["--json", str(tmp_path / "b.json"), "--markdown", str(page)]) == 0
    written = table_in(page, grid.TABLE)
    assert written == grid.page_table(read(path)) and written.count("| 40m |") == 12
    head, _, *rows = table_in(DOCS / "results.md", grid.TABLE).splitlines()
    assert written.startswith(f"{head}\n") and len(rows) == 12
    assert grid.main(["--json", str(path)]) == 2
    assert grid.main(["--json", str(path / "b.json")]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert "is there already" in errors[0] and "cannot be written" in errors[1]


def test_settings_that_lose_are_told_from_the_lowest_on():
    promises = {"lookup": 0.996, "small": 0.994, "pairs": 0.7, "base": 1.5}
    rows = [
        SimpleNamespace(draft=draft, target="40m", task="code", temperature=1, expected=promise)
        for draft, promise in promises.items()
    ]
    said = grid.losing(rows).splitlines()
    assert said[0].startswith("2 of 4 settings promise less than plain decoding (1.00)")
    assert said[2:] == ["  0.70  pairs on 40m, code, T = 1", "  0.99  small on 40m, code, T = 1"]
    assert grid.losing(rows[:1]).endswith("with the best K above 0.")
