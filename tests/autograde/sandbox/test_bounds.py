"""What one student hands in costs nobody else anything, whatever it makes of the grader."""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from attacks.costs import FILLING, MEGABYTES, SECONDS, attacked, cost_of, most_megabytes
from classes.gradebook import read_scores
from classes.submitting import hand_in, text

from autograde.build.release import release_into
from autograde.course import ROOT
from autograde.hidden.material import Reference, material_of
from autograde.intake.submission import release_of
from autograde.sandbox.session import Cell
from autograde.tools.samples import fill_answers

QUICK = "many numbers drawn"


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")
@pytest.mark.parametrize(
    "name",
    [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in FILLING],
)
def test_a_submission_costs_the_grader_little_memory_and_time(name: str):
    """In a process of its own, as the grader has one: it works near its limit of memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        megabytes, seconds, no_points = pool.submit(cost_of, name).result()
    assert no_points and megabytes < MEGABYTES + 90 and seconds < 3 * SECONDS


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
