"""Cells run in the notebook's order, as in Jupyter, whatever was split, copied, moved or typed."""

import copy
import json
from contextlib import suppress

import nbformat
import numpy as np
import pytest
from classes.submitting import CHAPTER, WRITTEN, cell_of, right, text
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
ANSWER, STUB = cell_of(right(), NAME).source, cell_of(RELEASE, NAME).source
WRONG = f"def {NAME}(p, q):\n    return p"
HELPER = "def clipped(p, q):\n    return np.maximum(p - q, 0)"
WITH_HELPER = f"def {NAME}(p, q):\n    m = clipped(p, q)\n    return m / m.sum()"
BROKEN = f"def {NAME}(p, q)\n    return p"
DECORATOR = "def kept(function):\n    return function"
LAMBDA = f"{NAME} = lambda p, q: np.maximum(p - q, 0) / np.maximum(p - q, 0).sum()"
IN_A_CLASS = (
    f"class Laws:\n    def rest(self, p, q):\n        m = np.maximum(p - q, 0)\n"
    f"        return m / m.sum()\n\n{NAME} = Laws().rest"
)
GLOBAL = f"def define():\n    global {NAME}\n    {LAMBDA}\n\ndefine()"
IN_A_TRY = f"try:\n    {LAMBDA}\nexcept NameError:\n    raise"
OTHERS = "\n\n".join([HELPER, cell_of(right(), "acceptance_probability").source, WITH_HELPER])
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


ALONE = own(ANSWER, id=NAME)  # its metadata is lost
ABOVE, BELOW = "the cells above the answer", "those below it"
RIGHT = {  # what stands around the other cells of a right notebook, and is right
    "as it was": [ABOVE, answer(ANSWER), BELOW],
    "helper split off": [ABOVE, answer(HELPER), answer(WITH_HELPER, id=NAME), BELOW],
    "helper split off below": [ABOVE, answer(WITH_HELPER), answer(HELPER), BELOW],
    "comment split off": [ABOVE, answer("# second attempt"), answer(ANSWER), BELOW],
    "import split off": [ABOVE, answer("import numpy as np"), answer(ANSWER), BELOW],
    "decorator split off": [ABOVE, answer(DECORATOR), answer(f"@kept\n{ANSWER}"), BELOW],
    "call split off below": [ABOVE, answer(ANSWER), answer(f"{NAME}([1.0], [1.0])"), BELOW],
    "split twice": [ABOVE, *map(answer, ["a = 1", HELPER, WITH_HELPER]), BELOW],
    "nothing split off": [ABOVE, answer(""), answer(ANSWER), BELOW],
    "copy improved": [ABOVE, answer(WRONG), answer(ANSWER), BELOW],
    "copy improved twice": [ABOVE, *map(answer, [WRONG, BROKEN, WRONG, ANSWER]), BELOW],
    "copy of one id": [ABOVE, answer(WRONG, id=NAME), answer(ANSWER, id=NAME), BELOW],
    "copy without metadata": [ABOVE, answer(WRONG), ALONE, BELOW],
    "copy at the end": [ABOVE, answer(WRONG), BELOW, answer(ANSWER)],
    "copy that does not parse": [ABOVE, answer(ANSWER), answer(BROKEN), BELOW],
    "copy as text": [ABOVE, answer(ANSWER), answer(WRONG, "markdown"), BELOW],
    "copy as raw text above": [ABOVE, answer(WRONG, "raw"), answer(ANSWER), BELOW],
    "stub pasted below": [ABOVE, answer(ANSWER), answer(STUB), BELOW],
    "stub pasted above": [ABOVE, answer(STUB), answer(ANSWER), BELOW],
    "own cell below the stub": [ABOVE, answer(STUB), own(ANSWER), BELOW],
    "own cell above the stub": [own("import numpy as np"), own(ANSWER), ABOVE, answer(STUB), BELOW],
    "moved to the end": [ABOVE, BELOW, answer(ANSWER)],
    "moved to the top": [own("import numpy as np"), answer(ANSWER), ABOVE, BELOW],
    "typed anew in place": [ABOVE, own(ANSWER), BELOW],
    "typed anew above": [own(f"import numpy as np\n{ANSWER}"), ABOVE, BELOW],
    "typed anew below": [ABOVE, BELOW, own(ANSWER)],
    "typed anew with others": [own(f"import numpy as np\n{OTHERS}"), ABOVE, BELOW],
    "a lambda": [own(LAMBDA), ABOVE, BELOW],
    "in a class": [own(IN_A_CLASS), ABOVE, BELOW],
    "in a try": [own(IN_A_TRY), ABOVE, BELOW],
    "a global": [own(GLOBAL), ABOVE, BELOW],
    "imported under the name": [
        own(f"{LAMBDA}\nrest = {NAME}"),
        own(f"{NAME} = rest"),
        ABOVE,
        BELOW,
    ],
    "with a magic": [own(f"%%time\n{LAMBDA}"), ABOVE, BELOW],
    "in a cell of the chapter's": [ABOVE, copied_test(ANSWER), BELOW],
    "became text": [ABOVE, answer(ANSWER, "markdown"), BELOW],
    "became raw text": [ABOVE, answer(ANSWER, "raw", id=NAME), BELOW],
    "became text, and typed anew above": [own(LAMBDA), ABOVE, answer(WRONG, "markdown"), BELOW],
    "became text, beside the stub": [ABOVE, answer(STUB), answer(ANSWER, "raw"), BELOW],
    "a helper in a copied test cell": [ABOVE, copied_test(HELPER), answer(WITH_HELPER), BELOW],
}
NOT_RIGHT = {  # and what is not: Jupyter's order decides
    "copy worse": [ABOVE, answer(ANSWER), answer(WRONG), BELOW],
    "copy worse at the end": [ABOVE, answer(ANSWER), BELOW, own(WRONG)],
    "changed stub below": [ABOVE, answer(ANSWER), answer(f"# again\n{STUB}"), BELOW],
    "nothing but the stub": [ABOVE, answer(STUB), BELOW],
    "nothing": [ABOVE, BELOW],
}


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


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_loses_nothing(name: str):
    notebook = rebuilt(RIGHT[name])
    assert is_right(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids)) and {cell.id for cell in RELEASE.cells} <= set(ids)
    shown = cell_of(notebook, NAME).source  # as the answer, in formgrader and on the page
    assert NAME in bound_names(shown) or shown == DEFINED_ELSEWHERE.format(name=NAME)


@pytest.mark.parametrize("name", NOT_RIGHT)
def test_what_is_wrong_in_jupyter_is_wrong(name: str):
    assert not is_right(rebuilt(NOT_RIGHT[name]))


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
    cells = code_cells(rebuilt([ABOVE, answer(HELPER), answer(WITH_HELPER), BELOW]), Limits())
    seconds = {cell.source: cell.seconds for cell in cells}
    assert (seconds[HELPER], seconds[WITH_HELPER]) == (
        Limits.extra_cell_seconds,
        Limits.cell_seconds,
    )


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


HOSTILE = [
    "(" * 19_999,
    "-" * 19_999,
    "1+" * 9_999 + "1",
    "x=!a\n" * 4_000,
    " " * 19_999 + "?x" * 9,
]


@pytest.mark.parametrize(
    "source", [*HOSTILE, "lambda:" * 2_800 + "1", "a\0b", "x" * 19_000 + "(\n?"]
)
def test_a_text_that_is_no_cell_binds_nothing_of_the_chapter(source: str):
    assert bound_names(source) <= {"x"}
