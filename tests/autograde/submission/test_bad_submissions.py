"""Whatever is handed in gets a clear result, and nobody else's result changes by it.

Each row of the table is graded twice: by our engine, and by nbgrader's own command.
"""

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat
import pytest
from classes.submitting import CHAPTER, cell_of, hand_in, right, run_nbgrader, text
from nbformat import NotebookNode

from autograde.bugs import answers_of
from autograde.build.release import release_into
from autograde.nbgrader.gradebook import compare, read_scores
from autograde.nbgrader.stamps import STAMP
from autograde.pool import grade_class
from autograde.submission import release_of

FULL = 22.0
WITHOUT = FULL - 4  # one exercise of four points, correct_token or speculative_step


@dataclass(frozen=True)
class Bad:
    """A submission, the score it gets, and what is said about it.

    `reason` is None where it is graded; `messages` gives words that an exercise's message has.
    """

    content: Callable[[], str | bytes] | None
    score: float = FULL
    reason: str | None = None
    messages: dict[str, str] = field(default_factory=dict)
    place: Callable[[Path], None] | None = None  # instead of `content`: makes the file itself


def edited(change: Callable[[NotebookNode], None]) -> Callable[[], str]:
    """The right notebook after `change`."""

    def make() -> str:
        notebook = copy.deepcopy(right())
        change(notebook)
        return text(notebook)

    return make


def wrong(source: str, words: str) -> Bad:
    """The right notebook with another answer to correct_token, and what is said about it."""
    return Bad(lambda: text(right(correct_token=source)), WITHOUT, None, {"correct_token": words})


def remove(notebook: NotebookNode) -> None:
    notebook.cells.remove(cell_of(notebook, "speculative_step"))


def remove_grade_cell(notebook: NotebookNode) -> None:
    notebook.cells.remove(cell_of(notebook, "test_speculative_step"))


def copy_stub_below(notebook: NotebookNode) -> None:
    """The student copied the cell before writing, and the copy is still the stub."""
    stub = copy.deepcopy(cell_of(release_of(CHAPTER), "speculative_step"))
    notebook.cells.insert(notebook.cells.index(cell_of(notebook, "speculative_step")), stub)


def rename(notebook: NotebookNode) -> None:
    cell_of(notebook, "speculative_step").metadata.nbgrader.grade_id = "my_step"


def edit_grade_cell(notebook: NotebookNode) -> None:
    cell = cell_of(notebook, "test_acceptance_probability")
    cell.source = "3.0"
    cell.metadata.nbgrader.points = 300
    cell_of(notebook, "acceptance_probability").source = "acceptance_probability = None"


def add_grade_cell(notebook: NotebookNode) -> None:
    extra = copy.deepcopy(cell_of(notebook, "test_acceptance_probability"))
    extra.id = extra.metadata.nbgrader.grade_id = "test_of_my_own"
    notebook.cells.append(extra)


def magics(notebook: NotebookNode) -> None:
    step = cell_of(notebook, "speculative_step")
    step.source = "%%time\n" + step.source
    accept = cell_of(notebook, "speculative_accept")
    accept.source = "%matplotlib inline\n!ls /\n" + accept.source + "\nget_ipython()"


def old_format() -> str:
    """The right notebook as nbformat 3 stored it."""
    notebook = copy.deepcopy(right())
    return nbformat.v3.nbjson.writes(nbformat.convert(notebook, 3))


def other_chapter() -> str:
    notebook = nbformat.v4.new_notebook()
    cell = nbformat.v4.new_code_cell("expected_tokens = 1", id="expected_tokens")
    cell.metadata["nbgrader"] = {"grade_id": "expected_tokens", "solution": True}
    notebook.cells = [cell]
    return text(notebook)


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def big(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(21 * 2**20)


FIRST = "    if p[token] > 0"  # of the solution; the loop before it never ends in one test group
ENDLESS = answers_of(CHAPTER)["correct_token"].replace(
    FIRST, f"    while p[token] == 0:\n        pass\n{FIRST}"
)
EXIT = "import os\nos._exit(0)"
MEMORY = "def correct_token(p, q, token, r, u):\n    return bytearray(3 * 2**30)"
SYNTAX = "def correct_token(p, q, token, r, u)\n    return token, True"
WRONG_TYPE = "def correct_token(p, q, token, r, u):\n    return {'token': token}"

TABLE = {
    "invalid-json": Bad(lambda: '{"cells": [', 0, "not valid JSON"),
    "not-a-notebook": Bad(lambda: "[1, 2, 3]", 0, "not in notebook format 4"),
    "empty": Bad(lambda: b"", 0, "empty"),
    "deep-json": Bad(lambda: "[" * 100_000, 0, "not a notebook|not valid JSON"),
    "another-chapter": Bad(other_chapter, 0, "another chapter"),
    "link": Bad(None, 0, "is a link", place=link),
    "directory": Bad(None, 0, "regular file", place=Path.mkdir),
    "named-pipe": Bad(None, 0, "regular file", place=os.mkfifo),
    "too-large": Bad(None, 0, "20 are allowed", place=big),
    "removed-cell": Bad(edited(remove), WITHOUT, None, {"speculative_step": "not written"}),
    "removed-grade-cell": Bad(edited(remove_grade_cell)),
    "copied-stub": Bad(edited(copy_stub_below)),
    "renamed-cell": Bad(edited(rename)),
    "edited-grade-cell": Bad(
        edited(edit_grade_cell), 19.0, None, {"acceptance_probability": "not defined"}
    ),
    "added-grade-cell": Bad(edited(add_grade_cell)),
    "old-format": Bad(old_format, 0, "not in notebook format 4"),
    "syntax-error": wrong(SYNTAX, "SyntaxError in line 1"),
    "magics": Bad(edited(magics)),
    "endless-loop": replace(wrong(ENDLESS, "longer than"), score=FULL - 1),
    "exit": wrong(EXIT, "ended the Python"),
    "memory": wrong(MEMORY, "MemoryError"),
    "wrong-type": wrong(WRONG_TYPE, "not a dict"),
    "zz-right": Bad(lambda: text(right())),  # nothing is wrong with it but what lies beside it
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class with one student for each row of the table."""
    course = tmp_path_factory.mktemp("course")
    for name, bad in TABLE.items():
        path = hand_in(course / "submitted", name, bad.content() if bad.content else "")
        if bad.place:
            path.unlink()
            bad.place(path)
    beside = path.parent  # the right notebook's
    (beside / "12_secret").symlink_to("/etc/passwd")
    (beside / CHAPTER).symlink_to("/etc/passwd")
    (beside / "notes.txt").write_text("mine")
    (beside / "timestamp.txt").write_text("2026-01-31 12:00:00 UTC")
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
    result, bad = grades[name][CHAPTER], TABLE[name]
    assert result["score"] == bad.score
    assert result["max_score"] == FULL
    assert result["status"] == ("graded" if bad.reason is None else "failed")
    if bad.reason:
        assert any(word in result["reason"] for word in bad.reason.split("|"))
    for exercise, words in bad.messages.items():
        assert words in " ".join(result["exercises"][exercise]["messages"])


def test_nbgrader_agrees_to_the_last_digit(grades: dict, scores: dict):
    assert set(scores) == set(grades)
    compare(grades, scores)


def test_refused_submission_says_so_in_the_notebook(course: Path, scores: dict):
    path = course / "autograded" / "link" / CHAPTER / f"{CHAPTER}.ipynb"
    note = nbformat.read(path, as_version=4).cells[1].source
    assert "could not be read" in note and "is a link" in note
    assert "root:" not in path.read_text()


def test_links_beside_the_notebook_bring_nothing_home(course: Path, scores: dict):
    """nbgrader copies such a link's target beside the graded notebook, and from there on."""
    graded = course / "autograded" / "zz-right" / CHAPTER
    names = sorted(path.name for path in graded.iterdir())
    assert names == [STAMP, f"{CHAPTER}.ipynb", "timestamp.txt"]
