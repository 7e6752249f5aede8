"""Helpers of the grading tests: notebooks to hand in, and classes to grade them in."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

from nbformat import NotebookNode

from autograde.chapter import ROOT
from autograde.submission import release_of
from autograde.tools.samples import filled, solutions_of

CHAPTER = "02_rejection_sampling"


def right(**changes: str) -> NotebookNode:
    """The notebook with every answer right, except for `changes` by name."""
    return filled(release_of(CHAPTER), solutions_of(CHAPTER) | changes)


def with_cell_source(notebook: NotebookNode, name: str, source: str) -> NotebookNode:
    """A copy with another text in the cell of that id."""
    changed = copy.deepcopy(notebook)
    next(cell for cell in changed.cells if cell.id == name).source = source
    return changed


def text(notebook: NotebookNode) -> str:
    """The notebook as a file's text, also where nbformat would refuse to write it."""
    return json.dumps(notebook)


def hand_in(submitted: Path, student: str, content: str | bytes, chapter: str = CHAPTER) -> Path:
    """Write a submission in nbgrader's layout; returns its path."""
    path = submitted / student / chapter / f"{chapter}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def run_nbgrader(course: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run nbgrader from the repository's root on the class in `course`."""
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=ROOT,
        env=os.environ | {"SPECDEC_COURSE": str(course)},
        capture_output=True,
        text=True,
        timeout=300,
    )
