"""What one student hands in costs nobody else anything, whatever it makes of the grader."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attacks.filling import FILLING
from classes.gradebook import read_scores
from classes.submitting import hand_in, text

from autograde.build.release import release_into
from autograde.course import ROOT
from autograde.grading import grade
from autograde.hidden.material import Reference, material_of
from autograde.intake import bounds
from autograde.intake.submission import release_of
from autograde.sandbox.session import Cell
from autograde.tools.samples import fill_answers

QUICK = ("numbers in frames", "empty arrays", "many numbers drawn")
MEGABYTES, SECONDS = 160, 4  # that a submission may take here, to be quick


def attacked(name: str) -> tuple[str, object, list[str]]:
    """The chapter of an attack, the notebook with it, and the exercises that it answers."""
    chapter, one, code = FILLING[name]
    names = [one] if one else list(material_of(chapter).parameters)
    answers = {each: code.replace("NAME", each) for each in names}
    return chapter, fill_answers(release_of(chapter), material_of(chapter).answers | answers), names


def most_megabytes(status: str = "") -> float:
    """The most memory that a process has had since that was last reset; ours, or by its status."""
    status = status or Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1000


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in FILLING],
)
def test_a_submission_costs_the_grader_little_memory_and_time(name: str, monkeypatch):
    chapter, notebook, names = attacked(name)
    grade.grade_now(fill_answers(release_of(chapter), material_of(chapter).answers), chapter)
    monkeypatch.setattr(bounds, "EXTRA_MEMORY_BYTES", MEGABYTES * 2**20)
    monkeypatch.setattr(bounds, "CPU_SECONDS", SECONDS)
    Path("/proc/self/clear_refs").write_text("5")
    before, start = most_megabytes(), time.process_time()
    try:
        result = grade.grade_now(notebook, chapter)
        assert not any(result.exercises[each].score for each in names)
    except bounds.TooCostly:
        pass
    assert most_megabytes() - before < MEGABYTES + 90
    assert time.process_time() - start < 3 * SECONDS


def test_what_a_full_grader_could_not_compute_is_no_right_answer():
    """It would be remembered, and held against all later submissions."""
    full = Reference([Cell("f", "def f(): raise MemoryError", 1.0)])
    with pytest.raises(MemoryError):
        full.call("f", ())


NBGRADER = """
import atexit, runpy, sys
from autograde.intake import bounds
bounds.CPU_SECONDS = 2
sys.argv = ["nbgrader", "autograde", sys.argv[1]]
atexit.register(lambda: print(open("/proc/self/status").read()))
runpy.run_module("nbgrader", run_name="__main__")
"""


@pytest.mark.slow
def test_what_keeps_the_grader_busy_costs_nbgraders_run_little(tmp_path: Path):
    """Its author has no mark and everybody else has; the limit is shorter here, to be quick."""
    chapter, busy, _ = attacked("empty arrays")
    honest = fill_answers(release_of(chapter), material_of(chapter).answers)
    release_into(tmp_path, [chapter])
    for student, notebook in {"ada": honest, "ben": busy, "cleo": honest}.items():
        hand_in(tmp_path / "submitted", student, text(notebook), chapter)
    environment = os.environ | {"SPECDEC_COURSE": str(tmp_path)}
    command = [sys.executable, "-c", NBGRADER, chapter]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert "kept the grader busy for more than 2 s" in done.stderr
    assert set(read_scores(tmp_path)) >= {"ada", "cleo"}
    assert most_megabytes(done.stdout) < 1000  # of which nbgrader and torch take 400
