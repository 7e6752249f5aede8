"""Intake: the release with the student's answers in it, whatever else was handed in."""

import copy
import json
import re

import nbformat
import pytest
from classes.sessions import session
from classes.submitting import CHAPTER, WRITTEN, cell_of, right, text, with_cell_source
from data_files import table
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

from autograde.intake import bounds
from autograde.intake.submission import (
    JOINER,
    MAX_CELLS,
    MAX_LISTS,
    Unreadable,
    is_answer,
    parse,
    rebuild,
    release_of,
)

EXERCISE = "residual_distribution"
ANSWERS = [cell.id for cell in release_of(CHAPTER).cells if is_answer(cell)]


def rebuilt(notebook: NotebookNode) -> NotebookNode:
    return rebuild(parse(text(notebook).encode()), release_of(CHAPTER))


def source_of(notebook: NotebookNode, name: str) -> str:
    return cell_of(notebook, name).source


def test_answers_are_moved_and_nothing_else_is():
    notebook = copy.deepcopy(right())
    notebook.metadata["kernelspec"] = {"name": "evil", "display_name": "x", "language": "x"}
    for cell in notebook.cells:
        cell.metadata["student"] = True
        if cell.cell_type == "code":
            html = {"text/html": "<script>alert(1)</script>"}
            cell.outputs = [nbformat.v4.new_output("display_data", data=html)]
    back = rebuilt(notebook)
    assert [cell.id for cell in back.cells] == [cell.id for cell in release_of(CHAPTER).cells]
    assert all(source_of(back, name) == source_of(notebook, name) for name in ANSWERS)
    assert back.metadata == release_of(CHAPTER).metadata
    assert "student" not in json.dumps(back) and "alert(1)" not in json.dumps(back)


@pytest.mark.parametrize("cells", [{}, {"cells": 3}, {"cells": None}, {"cells": {"0": {}}}])
def test_a_file_without_a_list_of_cells_is_refused(cells: dict):
    with pytest.raises(Unreadable, match="no list of cells; save it in JupyterLab"):
        parse(json.dumps({"nbformat": 4} | cells).encode())


def written(source: str) -> str:
    """What intake makes of a written answer."""
    return source_of(rebuilt(with_cell_source(right(), WRITTEN, source)), WRITTEN)


@pytest.mark.parametrize("live", table("sessions.toml")["written"]["live"])
def test_what_is_live_in_a_written_answer_is_broken_and_looks_the_same(live: str):
    source = written(live)
    assert source != live and source.replace(JOINER, "") == live
    assert not re.search(r"<(?!/?p>)|\\href", HTMLExporter().markdown2html({}, source))


def test_text_that_does_nothing_stays_as_it_is():
    text = "# A title\n\na < b, $p<0$, x[1] = 2 and $\\frac{p}{q}$"
    assert written(text) == text


@pytest.mark.parametrize(
    ("parts", "step", "words"),
    [
        # 20 MiB of `{},` took gigabytes and minutes in the process that grades everybody.
        ({"cells": [{}] * (MAX_CELLS + 1)}, (nbformat, "from_dict"), "2,000 are allowed; remove"),
        # 20 MiB of [[1]] become 800 MB.
        ({"x": [[]] * MAX_LISTS}, (json, "loads"), "500,000 lists and objects; clear the outputs"),
    ],
)
def test_a_file_of_too_many_parts_is_refused_before_anything_is_made_of_it(
    parts: dict, step: tuple, words: str, monkeypatch: pytest.MonkeyPatch
):
    data = json.dumps({"nbformat": 4} | parts).encode()
    monkeypatch.setattr(*step, None)  # a call would be refused with other words
    with pytest.raises(Unreadable, match=words):
        parse(data)


# --- what is too long is cut, says so, and costs no answer a point ---------------------------


def with_own(kind: str, *sources: str) -> list[NotebookNode]:
    """What intake keeps of cells of the student's own before all others of a right notebook.

    The answers after them must be as they were handed in.
    """
    notebook = copy.deepcopy(right())
    new = getattr(nbformat.v4, f"new_{kind}_cell")
    notebook.cells[:0] = [new(source) for source in sources]
    back = rebuilt(notebook)
    assert all(source_of(back, name) == source_of(right(), name) for name in ANSWERS)
    return [cell for cell in back.cells if cell.id.startswith("extra-")]


@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
def test_of_a_long_text_the_beginning_stays_and_long_code_is_left_out(kind: str):
    """The beginning of code would be other code."""
    (cell,) = with_own(kind, "start = 1\n" * 40_000)
    assert "it has 400,000 characters, a cell may have" in cell.source.splitlines()[0]
    assert len(cell.source) < bounds.MAX_MARKDOWN + 200
    assert ("start = 1" in cell.source) == (kind != "code")


@pytest.mark.parametrize("kind", ["markdown", "code", "raw"])
def test_all_cells_together_are_bounded_and_the_answers_come_first(kind: str):
    cells = with_own(kind, *["#" * 9_000] * 300)
    assert sum(len(cell.source) for cell in cells) < bounds.MAX_NOTEBOOK + 300 * 200
    assert cells[0].source == "#" * 9_000 and "a notebook may have 100,000" in cells[-1].source


def test_the_output_of_a_notebook_has_one_budget_and_no_colours():
    """Each colour is an element of a page: 1,900 cells of them made one of 151 MB."""
    red = "print('\\x1b[31mred\\x1b[0m \\x1b\\x1b[1m[1m')"
    with session(red, *["print('x' * 19_000)"] * 12, "raise ValueError('\\x1b[31mwhy')") as s:
        reports = list(s.reports.values())
    printed = [report["printed"] for report in reports]
    assert sum(map(len, printed)) < bounds.MAX_OUTPUT + 12 * 100
    assert printed[0] == "red [1m\n" and "may print 100,000 characters" in printed[-2]
    assert reports[-1]["error"]["text"] == "why"
