"""Helpers of the grading tests: notebooks to hand in, and classes to grade them in."""

import copy
import json
import multiprocessing
import os
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from nbformat import NotebookNode

from autograde.course import ROOT
from autograde.hidden.material import material_of
from autograde.intake.submission import release_of
from autograde.tools.samples import filled
from specdec_lib.lessons.checking.answers import QUIZ_OPTIONS, quizzes_of

CHAPTER = "02_rejection_sampling"
POINTS = material_of(CHAPTER).points
FULL = sum(POINTS.values())  # of the tests
QUIZ = quizzes_of("specdec_lib.lessons.ch02")["quiz_02"]
WRONG_LETTER = next(letter for letter in QUIZ_OPTIONS if letter != QUIZ.right)
_TEXTS = [cell for cell in release_of(CHAPTER).cells if cell.cell_type == "markdown"]
(_BY_HAND,) = [cell for cell in _TEXTS if cell.metadata.get("nbgrader")]
WRITTEN = _BY_HAND.id  # the answer that a person marks
TOTAL = FULL + _BY_HAND.metadata.nbgrader.points


def right(**changes: str) -> NotebookNode:
    """The notebook with every answer right, except for `changes` by name."""
    return filled(release_of(CHAPTER), material_of(CHAPTER).answers | changes)


def with_cell_source(notebook: NotebookNode, name: str, source: str) -> NotebookNode:
    """A copy with another text in the cell of that id."""
    changed = copy.deepcopy(notebook)
    cell_of(changed, name).source = source
    return changed


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    """The cell of that id."""
    return next(cell for cell in notebook.cells if cell.id == name)


def text(notebook: NotebookNode) -> str:
    """The notebook as a file's text, also where nbformat would refuse to write it."""
    return json.dumps(notebook)


def hand_in(submitted: Path, student: str, content: str | bytes, chapter: str = CHAPTER) -> Path:
    """Write a submission in nbgrader's layout; returns its path."""
    path = submitted / student / chapter / f"{chapter}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# nbgrader takes seconds to import: its commands are forked from a process that has imported it.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["autograde", "nbgrader.apps", "autograde.nbgrader.plugin"])


def run_nbgrader(course: Path, *arguments: str) -> str:
    """What nbgrader writes to stderr, run from the repository's root on the class in `course`.

    Another exit code than 0 is an error.
    """
    environment = os.environ | {"SPECDEC_COURSE": str(course)}
    with TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("out", "err")]
        command = (arguments, environment, streams)
        process = _FORKS.Process(target=_become_nbgrader, args=command)
        process.start()
        process.join(300)
        process.kill()
        said = streams[1].read_text()
    assert process.exitcode == 0, said[-3000:]
    return said


def _become_nbgrader(arguments: list[str], environment: dict, streams: list[Path]) -> None:
    """What a shell does before nbgrader, and nbgrader; all in a process of its own."""
    for number, stream in enumerate(streams, 1):
        os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    sys.argv = ["nbgrader", *arguments]
    runpy.run_module("nbgrader", run_name="__main__")
