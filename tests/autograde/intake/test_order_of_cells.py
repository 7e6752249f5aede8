"""Cells run in the notebook's order, as in Jupyter, whatever was split, copied, moved or typed."""

import copy
import json
from contextlib import suppress

import nbformat
import numpy as np
import pytest
from classes.submitting import CHAPTER, WRITTEN, cell_of, right, text
from data_files import table
from nbformat import NotebookNode

from autograde.hidden.material import code_cells
from autograde.intake.submission import (
    DEFINED_ELSEWHERE,
    Unreadable,
    bound_names,
    parse,
    rebuild,
    release_of,
)
from autograde.sandbox.inside import magics
from autograde.sandbox.inside.cells import Cells
from autograde.sandbox.workers import Limits

RELEASE = release_of(CHAPTER)
NAME = "residual_distribution"
TABLE = table("order_of_cells.toml")
STUB, ANSWER = (cell_of(notebook, NAME).source for notebook in (RELEASE, right()))
OTHERS = [TABLE["texts"]["helper"], cell_of(right(), "acceptance_probability").source]
OTHERS = "\n\n".join(["import numpy as np", *OTHERS, TABLE["texts"]["with helper"]])
TEXTS = TABLE["texts"] | {"stub": STUB, "right": ANSWER, "others": OTHERS}
TEXTS["right with import"] = f"import numpy as np\n{ANSWER}"
TEXTS |= {"decorated": f"@kept\n{ANSWER}", "changed stub": f"# again\n{STUB}"}
P, Q = np.array([0.5, 0.5]), np.array([0.2, 0.8])


def answer(source: str, kind: str = "code", **names: str) -> NotebookNode:
    """A copy of the answer cell, which has its metadata and, as JupyterLab makes it, another id."""
    cell = own(source, kind, **names)
    cell.metadata = copy.deepcopy(cell_of(RELEASE, NAME).metadata)
    return cell


def own(source: str, kind: str = "code", **names: str) -> NotebookNode:
    """A cell of the student's own."""
    return nbformat.from_dict({**getattr(nbformat.v4, f"new_{kind}_cell")(source), **names})


def copied_test(source: str) -> NotebookNode:
    """A copy of the exercise's locked test cell with another text."""
    return nbformat.from_dict(
        {**cell_of(RELEASE, f"test_{NAME}"), "source": source, "id": "copied"}
    )


MAKERS = {"answer": answer, "own": own, "test": copied_test}
ABOVE, BELOW = "above", "below"  # the cells above the answer, and those below it


def cells_of(row: list) -> list:
    """The cells of a row of the table, between ABOVE and BELOW."""
    return [each if isinstance(each, str) else made(**each) for each in row]


def made(what: str, text: str, **more: str) -> NotebookNode:
    """A cell of the table, with one of its texts."""
    return MAKERS[what](TEXTS[text], **more)


def rebuilt(cells: list) -> NotebookNode:
    """What intake makes of a right notebook in which `cells` stand around ABOVE and BELOW."""
    others = copy.deepcopy(right()).cells
    at = [cell.id for cell in others].index(NAME)
    parts = {ABOVE: others[:at], BELOW: others[at + 1 :]}
    laid = [c for each in cells for c in (parts[each] if isinstance(each, str) else [each])]
    return rebuild(parse(json.dumps({"nbformat": 4, "cells": laid}).encode()), RELEASE)


def run(notebook: NotebookNode) -> dict:
    """The names after all cells that grading runs, in this process; a failed cell ends alone."""
    cells = Cells({})
    magics.install(cells, for_imports=False)
    for cell in code_cells(notebook, Limits()):
        cells.run(cell.source, cell.key)
    return cells.namespace


def is_right(notebook: NotebookNode) -> bool:
    with suppress(Exception):
        return np.allclose(run(notebook)[NAME](P, Q), [1.0, 0.0])
    return False


@pytest.mark.parametrize("name", TABLE["right"])
def test_what_is_right_loses_nothing(name: str):
    notebook = rebuilt(cells_of(TABLE["right"][name]))
    assert is_right(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids)) and {cell.id for cell in RELEASE.cells} <= set(ids)
    shown = cell_of(notebook, NAME).source  # as the answer, in formgrader and on the page
    assert NAME in bound_names(shown) or shown == DEFINED_ELSEWHERE.format(name=NAME)


@pytest.mark.parametrize("name", TABLE["not right"])
def test_what_is_wrong_in_jupyter_is_wrong(name: str):
    """Jupyter's order decides."""
    assert not is_right(rebuilt(cells_of(TABLE["not right"][name])))


def test_all_answers_may_stand_in_a_notebook_without_any_id():
    code = [cell.source for cell in right().cells if cell.cell_type == "code"]
    notebook = nbformat.v4.new_notebook(cells=[own(source) for source in code])
    assert is_right(rebuild(parse(text(notebook).encode()), RELEASE))


def test_another_chapter_that_defines_a_name_of_this_one_is_refused():
    other = release_of("07_connections")
    assert any(NAME in bound_names(cell.source) for cell in other.cells)
    with pytest.raises(Unreadable, match="another chapter"):
        rebuild(parse(text(other).encode()), RELEASE)


def test_what_is_missing_comes_back_below_the_cell_above_it():
    order = [cell.id for cell in rebuilt([own("x = 1", id="mine"), ABOVE, BELOW]).cells]
    assert order == ["extra-0", *(cell.id for cell in RELEASE.cells)]


def test_a_copy_has_the_time_of_an_own_cell():
    notebook = rebuilt(cells_of(TABLE["right"]["helper split off above"]))
    seconds = {cell.source: cell.seconds for cell in code_cells(notebook, Limits())}
    assert seconds[TEXTS["helper"]] == Limits.extra_cell_seconds
    assert seconds[TEXTS["with helper"]] == Limits.cell_seconds


@pytest.mark.parametrize("kinds", [("markdown", "markdown"), ("code", "markdown"), ("raw", "raw")])
def test_of_written_answers_the_last_that_was_written_stands(kinds: tuple[str, str]):
    blank = cell_of(RELEASE, WRITTEN)
    first, last = (own(text, kind) for text, kind in zip(("first", "last"), kinds, strict=True))
    cells = [nbformat.from_dict({**each, "metadata": blank.metadata}) for each in (first, last)]
    submitted = nbformat.v4.new_notebook(cells=[answer(ANSWER), *cells, blank])
    notebook = rebuild(parse(text(submitted).encode()), RELEASE)
    assert cell_of(notebook, WRITTEN).source == "last"
    assert [c.cell_type for c in notebook.cells if c.source == "first"] == [
        "code" if kinds[0] == "code" else "markdown"
    ]


HOSTILE = ["(" * 19_999, "-" * 19_999, "1+" * 9_999 + "1", "x=!a\n" * 4_000, "a\0b"]
HOSTILE += [" " * 19_999 + "?x" * 9, "lambda:" * 2_800 + "1", "x" * 19_000 + "(\n?"]


@pytest.mark.parametrize("source", HOSTILE)
def test_a_text_that_is_no_cell_binds_nothing_of_the_chapter(source: str):
    assert bound_names(source) <= {"x"}
