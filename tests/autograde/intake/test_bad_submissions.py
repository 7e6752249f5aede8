"""Whatever is handed in gets a clear result, and nobody else's result changes by it.

Each row of the table is graded twice: by our engine, and by nbgrader's own command.
"""

import copy
import re
from pathlib import Path

import nbformat
import pytest
from classes.gradebook import read_scores, require_same_marks
from classes.submitting import CHAPTER, FULL, POINTS, cell_of, hand_in, right, run_nbgrader, text

from autograde.build.release import release_into
from autograde.grading.classroom import grade_class
from autograde.nbgrader.exchange import SECRET, TIME
from autograde.nbgrader.stamps import STAMP

EXERCISE = "speculative_step"
WITHOUT = FULL - POINTS[EXERCISE]

REMOVED, TYPED, SPLIT = (copy.deepcopy(right()) for _ in range(3))
ANSWER = cell_of(REMOVED, EXERCISE)
REMOVED.cells.remove(ANSWER)
TYPED.cells.remove(ANSWER)
TYPED.cells.insert(0, nbformat.v4.new_code_cell(f"import numpy as np\n{ANSWER.source}"))
UPPER = nbformat.v4.new_code_cell("# a second try", metadata=ANSWER.metadata)
SPLIT.cells.insert(SPLIT.cells.index(ANSWER), UPPER)
SYNTAX = "def speculative_step(draft_tokens, p, q, r, u)\n    return draft_tokens"

NOTHING = "^$"  # is said
# By student: what is handed in, its points, and words of its reason or of a message.
TABLE = {
    "invalid-json": ('{"cells": [', 0, "not valid JSON"),
    "deep-json": ("[" * 100_000, 0, "not a notebook|not valid JSON"),
    "another-chapter": (text(nbformat.v4.new_notebook()), 0, "another chapter"),
    "old-format": ('{"nbformat": 3, "worksheets": []}', 0, "not in notebook format 4"),
    "link": ("", 0, "is a link"),  # put there below
    "removed-cell": (text(REMOVED), WITHOUT, "not written"),
    "split-cell": (text(SPLIT), FULL, NOTHING),
    "typed-anew": (text(TYPED), FULL, NOTHING),
    "syntax-error": (text(right(**{EXERCISE: SYNTAX})), WITHOUT, "SyntaxError in line 1"),
    "zz-right": (text(right()), FULL, NOTHING),  # but links lie beside it
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with one student for each row of the table."""
    course = tmp_path_factory.mktemp("course")
    for name, (content, *_) in TABLE.items():
        path = hand_in(course / "submitted", name, content)
        if name == "link":
            path.unlink()
            path.symlink_to("/etc/passwd")
    beside = path.parent  # the right notebook's
    (beside / "12_secret").symlink_to("/etc/passwd")
    (beside / CHAPTER).symlink_to("/etc/passwd")
    (beside / "notes.txt").write_text("mine")
    (beside / TIME).write_text("2026-01-31 12:00:00 UTC")
    return course


@pytest.fixture(scope="module")
def grades(course: Path) -> dict:
    return grade_class(course / "submitted")


@pytest.fixture(scope="module")
def scores(course: Path, grades: dict) -> dict:
    """The gradebook after nbgrader's own run over the same class."""
    release_into(course, [CHAPTER])
    run_nbgrader(course, "autograde", CHAPTER)
    return read_scores(course)


@pytest.mark.parametrize("name", TABLE)
def test_engine(grades: dict, name: str):
    result, (_, score, words) = grades[name][CHAPTER], TABLE[name]
    assert (result["score"], result["max_score"]) == (score, FULL)
    assert result["status"] == ("graded" if score else "failed")
    messages = [text for e in result["exercises"].values() for text in e["messages"]]
    assert re.search(words, "".join([result["reason"] or "", *messages]))


@pytest.mark.slow
def test_nbgrader_agrees_to_the_last_digit(grades: dict, scores: dict):
    assert set(scores) == set(grades)
    require_same_marks(grades, scores)


@pytest.mark.slow
def test_links_bring_nothing_home(course: Path, scores: dict):
    """nbgrader copies the target of a link beside the graded notebook, and from there on."""
    graded = course / "autograded" / "zz-right" / CHAPTER
    names = sorted(path.name for path in graded.iterdir())
    assert names == [STAMP, f"{CHAPTER}.ipynb", SECRET, TIME]
    linked = (course / "autograded" / "link" / CHAPTER / f"{CHAPTER}.ipynb").read_text()
    assert "could not be read" in linked and "is a link" in linked and "root:" not in linked
