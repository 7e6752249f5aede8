"""The grading bench: plain nbgrader marks as the engine does there, and the arithmetic."""

import subprocess
import sys
import types
from pathlib import Path

import nbformat
import numpy as np
import pytest
from classes.submitting import CHAPTER, hand_in

from autograde.grade import exercises_of, grade_now
from autograde.submission import is_demo
from autograde.tools import bench
from autograde.tools.bench import run
from autograde.tools.plain_nbgrader import write_course
from autograde.tools.samples import sample
from specdec_lib.measure.core.pages import table_in

COSTS = {
    "engine": np.array([0.1, 0.2]),
    "nbgrader_pass": np.array([0.1, 0.1]),
    "baseline": np.array([2.0, 3.0]),
    "isolation": np.array([0.01, 0.02]),
}


def marks_in(notebook: nbformat.NotebookNode, tests: nbformat.NotebookNode) -> dict[str, float]:
    """The points of each exercise, as the test cells find them in one namespace."""
    names = types.ModuleType("__main__").__dict__
    sources = {cell.id: cell.source for cell in tests.cells}
    marks = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
            exec(cell.source, names)
        elif cell.cell_type == "code":
            *_, call, _ = sources[cell.id].splitlines()
            exec(f"from autograde.tools.plain_nbgrader import points\nmark = {call}", names)
            marks[cell.id.removeprefix("test_")] = names["mark"]
    return marks


@pytest.mark.parametrize("name", ["ada-right", "ben-half", "cleo-misconceived", "dan-blank"])
def test_plain_nbgrader_gives_the_engines_marks_without_demonstrations(name: str, tmp_path: Path):
    notebook = sample(name, CHAPTER)
    hand_in(tmp_path / "submitted", name, nbformat.writes(notebook))
    write_course(tmp_path / "plain", CHAPTER, tmp_path / "submitted")
    handed, tests = (
        nbformat.read(tmp_path / "plain" / folder / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
        for folder in (f"submitted/{name}", "source")
    )
    assert not any(is_demo(cell) for cell in (*handed.cells, *tests.cells))
    ours = {n: e.score for n, e in grade_now(notebook, CHAPTER).exercises.items()}
    assert marks_in(handed, tests) == ours and set(ours) == set(exercises_of(notebook))


def test_a_kernel_of_plain_nbgrader_imports_little():
    # Every submission pays for it there, so it would flatter the engine.
    code = f"import sys, autograde.tools.plain_nbgrader, autograde.chapters.ch{CHAPTER[:2]}_tests"
    heavy = "print(*{'nbformat', 'torch', 'IPython', 'nbgrader'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{heavy}"], capture_output=True)
    assert (done.stdout, done.returncode) == (b"\n", 0), done.stderr


def test_the_headline_is_the_smaller_ratio():
    figures = bench.figures_of(COSTS)
    assert figures["engine_vs_nbgrader"] == pytest.approx(15)  # 20 by CPU, 15 by wall
    assert figures["with_nbgrader_pass"] == pytest.approx(10)  # 10 by both
    assert figures["submissions_per_core_minute"] == pytest.approx(600)
    assert figures["isolation_ms"] == pytest.approx(10)
    assert figures["ms_a_submission"]["baseline"] == {"cpu": 2000.0, "wall": 3000.0}
    assert all(any(name in line for line in bench.lines(figures)) for name in bench.GOALS)


BURN = "import time\nwhile time.process_time() < 1: pass"
CHILD = f"import subprocess, sys\nsubprocess.{{how}}([sys.executable, '-c', {BURN!r}])"


@pytest.mark.parametrize("how", ["run", "Popen"], ids=["waited for", "left alone"])
def test_the_cpu_of_children_counts(how: str):
    cpu, _ = run(("-c", CHILD.format(how=how)))
    assert cpu > 1


def test_the_cpu_of_a_students_process_counts():
    code = f"""
from autograde.grade import limits_of
from autograde.sandbox.session import Cell, Session
with Session([Cell("a", {BURN!r}, 10.0)], limits_of({CHAPTER!r})):
    pass
"""
    cpu, _ = run(("-c", code)) - run(("-c", code.replace("< 1:", "< 0:")))
    assert cpu > 0.5  # two starts differ by less


def test_a_failing_command_shows_its_end():
    with pytest.raises(RuntimeError, match="no such thing"):
        run(("-c", "raise SystemExit('no such thing')"))


def test_a_page_gets_the_table_that_the_command_makes(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(bench, "marginal_costs", lambda folder, chapter: COSTS)
    page = tmp_path / "page.md"
    page.write_text(f"before\n<!-- {bench.TABLE} -->\nold\n<!-- end of {bench.TABLE} -->\nafter\n")
    assert bench.main(["--markdown", str(page)]) == 0
    table = table_in(page, bench.TABLE)
    assert "| engine over plain nbgrader | 15.0 | 10 | met |" in table
    assert "| plain nbgrader | 2000 | 3000 |" in table and "old" not in page.read_text()
    assert page.read_text().startswith("before") and page.read_text().endswith("after\n")
