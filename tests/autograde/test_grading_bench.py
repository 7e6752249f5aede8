"""The grading bench: its baseline marks as the engine does, and its arithmetic."""

import json
import subprocess
import sys
import types
from pathlib import Path

import nbformat
import pytest
from classes.submitting import CHAPTER, right

from autograde.grade import exercises_of, grade_now
from autograde.sandbox.session import StudentError
from autograde.submission import is_answer, is_demo
from autograde.tools import bench, costs
from autograde.tools.baseline import write_course
from autograde.tools.costs import Cost, run
from autograde.tools.in_kernel import InKernel, points
from autograde.tools.samples import sample

COSTS = {
    "engine": Cost(0.1, 0.2),
    "nbgrader_pass": Cost(0.1, 0.1),
    "baseline": Cost(2.0, 3.0),
    "isolation": Cost(0.01, 0.02),
}


def namespace_of(notebook: nbformat.NotebookNode) -> dict:
    """What a kernel holds after the notebook's cells, demonstrations left out."""
    module = types.ModuleType("__main__")
    for cell in notebook.cells:
        test = cell.metadata.get("nbgrader", {}).get("grade")
        if cell.cell_type == "code" and not is_demo(cell) and not test:
            exec(cell.source, module.__dict__)
    return module.__dict__


@pytest.mark.parametrize("name", ["ada-right", "ben-half", "cleo-misconceived", "dan-blank"])
def test_the_baseline_gives_the_engines_marks(name: str):
    notebook = sample(name, CHAPTER)
    ours = {n: e.score for n, e in grade_now(notebook, CHAPTER).exercises.items()}
    namespace = namespace_of(notebook)
    theirs = {
        n: points(CHAPTER, n, e.max_score, namespace) for n, e in exercises_of(notebook).items()
    }
    assert theirs == ours


def test_the_baselines_course_has_its_tests_and_no_demonstrations(tmp_path: Path):
    write_course(tmp_path, CHAPTER)
    path = tmp_path / "source" / CHAPTER / f"{CHAPTER}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    assert not any(is_demo(cell) for cell in notebook.cells)
    assert {c.id for c in notebook.cells if is_answer(c)} == {
        c.id for c in right().cells if is_answer(c)
    }
    graded = [c.source for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    assert sum("in_kernel import points" in source for source in graded) == len(
        exercises_of(right())
    )


def test_the_headline_is_the_smaller_ratio():
    found = bench.ratios(COSTS)
    assert found["engine_vs_nbgrader"] == pytest.approx(15)  # 20 by CPU, 15 by wall
    assert found["with_nbgrader_pass"] == pytest.approx(10)  # 10 by both
    assert found["submissions_per_core_minute"] == pytest.approx(600)
    assert found["isolation_ms"] == pytest.approx(10)
    assert set(bench.GOALS) <= set(found)
    assert all(any(name in line for line in bench.lines(found)) for name in bench.GOALS)


def test_costs_are_marginal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def of_size(folder: Path, chapter: str, size: int) -> list:
        return [("engine", lambda: Cost(5 + 0.1 * size, 7 + 0.2 * size))]

    monkeypatch.setattr(bench, "_measurements", of_size)
    cost = bench.marginal_costs(tmp_path, CHAPTER)["engine"]
    assert (cost.cpu, cost.wall) == pytest.approx((0.1, 0.2))


BURN = "import time\nwhile time.process_time() < 2.5: pass"
CHILD = f"import subprocess, sys\nsubprocess.{{how}}([sys.executable, '-c', {BURN!r}])"


@pytest.mark.parametrize("how", ["run", "Popen"], ids=["waited for", "left alone"])
def test_the_cpu_of_children_counts(how: str):
    assert run(("-c", CHILD.format(how=how))).cpu > 2.5


def test_the_cpu_of_a_students_process_counts():
    code = f"""
from autograde.grade import limits_of
from autograde.sandbox.session import Cell, Session
with Session([Cell("a", {BURN!r}, 10.0)], limits_of({CHAPTER!r})):
    pass
"""
    idle = code.replace("2.5", "0")
    assert run(("-c", code)).cpu - run(("-c", idle)).cpu > 1  # two starts differ by less


def test_a_failing_command_shows_its_end():
    with pytest.raises(RuntimeError, match="no such thing"):
        run(("-c", "raise SystemExit('no such thing')"))


def test_a_class_is_measured_by_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys):
    sizes = []

    def pretend(arguments: tuple[str, ...]) -> Cost:
        sizes.append(len(list(Path(arguments[-1]).iterdir())))
        return Cost(1.0, 2.0, 300.0)

    monkeypatch.setattr(bench, "run", pretend)
    out = tmp_path / "bench.json"
    assert bench.main(["--class", "8", "--json", str(out)]) == 0
    assert sizes == [2, 4, 8]
    rows = json.loads(out.read_text())["by_size"]
    assert rows[-1] == {"students": 8, "memory_mib": 300.0, "cpu": 1.0, "wall": 2.0}


def test_the_baseline_tells_an_exception_by_its_name():
    """Hidden tests that wait for a ValueError would fail right answers there."""

    def refuses(x: int) -> None:
        raise ValueError(f"{x} is too small")

    (error,) = InKernel({"refuses": refuses}).calls("refuses", [(1,)])
    assert isinstance(error, StudentError)
    assert (error.name, error.what_happened) == ("ValueError", "raised ValueError: 1 is too small")


def test_the_baseline_imports_little():
    """Every kernel of the baseline imports it: what it does not need would flatter the engine."""
    code = "import sys, autograde.tools.in_kernel; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"nbformat", "torch", "matplotlib", "nbgrader", "autograde.grade"}
    assert costs.machine()
