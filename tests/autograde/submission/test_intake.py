"""Intake: the release with the student's answers in it, whatever else was handed in."""

import copy
import json
import re

import nbformat
import pytest
from classes.submitting import CHAPTER, cell_of, right, text, with_cell_source
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

from autograde.submission import (
    JOINER,
    MAX_CELLS,
    MAX_PICTURES,
    Refused,
    parse,
    rebuild,
    release_of,
)


def rebuilt(notebook: NotebookNode) -> NotebookNode:
    return rebuild(parse(text(notebook).encode()), release_of(CHAPTER))


def ids(notebook: NotebookNode) -> list[str]:
    return [cell.id for cell in notebook.cells]


def source_of(notebook: NotebookNode, name: str) -> str:
    return cell_of(notebook, name).source


def test_answers_are_moved_and_nothing_else_changes():
    notebook = rebuilt(right())
    assert ids(notebook) == ids(release_of(CHAPTER))
    assert source_of(notebook, "correct_token") == source_of(right(), "correct_token")
    nbformat.validate(notebook)


def test_blank_release_comes_back_as_it_is():
    assert rebuilt(release_of(CHAPTER)) == release_of(CHAPTER)


def test_metadata_and_outputs_of_the_submission_are_dropped():
    notebook = copy.deepcopy(right())
    notebook.metadata["kernelspec"] = {"name": "evil", "display_name": "x", "language": "x"}
    for cell in notebook.cells:
        cell.metadata["student"] = True
        if cell.cell_type == "code":
            html = {"text/html": "<script>alert(1)</script>"}
            cell.outputs = [nbformat.v4.new_output("display_data", data=html)]
    back = rebuilt(notebook)
    assert back.metadata == release_of(CHAPTER).metadata
    assert "student" not in json.dumps(back) and "alert(1)" not in json.dumps(back)


def test_an_edited_import_cell_is_the_students():
    name = next(c.id for c in right().cells if c.source.startswith("import numpy"))
    changed = with_cell_source(right(), name, "import numpy as np\nimport math")
    assert source_of(rebuilt(changed), name).endswith("import math")


def test_own_cells_keep_their_place_and_get_new_names():
    notebook = copy.deepcopy(right())
    own = nbformat.v4.new_code_cell("helper = 1", id="mine")
    at = ids(notebook).index("correct_token")
    notebook.cells.insert(at, own)
    back = rebuilt(notebook)
    place = ids(back).index("correct_token")
    assert back.cells[place - 1].source == "helper = 1"
    assert back.cells[place - 1].id.startswith("extra-")


def test_first_copy_that_is_no_stub_is_the_answer_and_the_other_does_not_run():
    notebook = copy.deepcopy(right())
    at = ids(notebook).index("correct_token")
    second = copy.deepcopy(notebook.cells[at])
    second.source = "def correct_token(*args):\n    return None"
    notebook.cells.insert(at + 1, second)
    stub = copy.deepcopy(release_of(CHAPTER).cells[at])
    notebook.cells.insert(at, stub)
    back = rebuilt(notebook)
    code = [c for c in back.cells if c.cell_type == "code" and "def correct_token" in c.source]
    assert [c.source for c in code] == [source_of(right(), "correct_token")]
    assert any("was not graded" in c.source and "return None" in c.source for c in back.cells)


def written(source: str, **attachments: object) -> NotebookNode:
    """What intake makes of a written answer."""
    notebook = with_cell_source(right(), "why_residual", source)
    cell_of(notebook, "why_residual").attachments = attachments
    return cell_of(rebuilt(notebook), "why_residual")


@pytest.mark.parametrize(
    "live",
    [
        "<img src=x onerror=alert(1)>",
        "</div>",
        "<!-- x -->",
        "<javascript:alert(1)>",
        "[x](javascript:alert(1))",
        "[x]\n\n[x]: javascript:alert(1)",
        "![x](http://127.0.0.1/x.png)",
        "[![x](attachment:none)](javascript:alert(1))",
        "![<b>](attachment:<b>)",
        r"$\href{javascript:alert(1)}{x}$",
        r"$\cssId{test_correct_token}{x}$",
        r"$\mmlToken{mtext}[href='x']{y}$",
        "&#36;&bsol;href{x}{y}&#36;",
    ],
)
def test_what_is_live_in_a_written_answer_is_broken_and_looks_the_same(live: str):
    source = written(live).source
    assert source != live and source.replace(JOINER, "") == live
    page = HTMLExporter().markdown2html({}, source)
    harmless = r'</?p>|<a href="http://[^"]*">|</a>'  # an address that somebody has to follow
    assert "<" not in re.sub(harmless, "", page) and "\\href" not in page


@pytest.mark.parametrize("text", ["a < b", "$p<0$ and x[1] = 2", r"$\frac{p}{q}$", "# A title"])
def test_text_that_does_nothing_stays_as_it_is(text: str):
    assert written(text).source == text


def test_pictures_of_written_answers_stay_and_other_attachments_go():
    cell = written(
        "![mine](attachment:my%20plot.png) ![gone](attachment:b.png) ![no](attachment:c.png)",
        **{
            "my plot.png": {"image/png": "aGk=", "image/svg+xml": "<svg onload=alert(1)>"},
            "b.png": {"image/png": 'x" onerror="alert(1)'},
            "c.png": {"text/html": "<script>alert(1)</script>"},
            "d.png": "not a dict",
        },
    )
    assert cell.attachments == {"picture-1": {"image/png": "aGk="}}
    page = HTMLExporter().markdown2html({"cell": cell}, cell.source)
    assert page.count("<img") == 1 and 'src="data:image/png;base64,aGk="' in page


def test_pictures_in_cells_of_ones_own_are_shown_too():
    notebook = copy.deepcopy(right())
    own = nbformat.v4.new_markdown_cell("![mine](attachment:a.png)", id="mine")
    own.attachments = {"a.png": {"image/png": "aGk="}}
    notebook.cells.insert(1, own)
    (back,) = [cell for cell in rebuilt(notebook).cells if "attachments" in cell]
    assert back.source == "![mine](attachment:picture-1)"


def file_with(**parts: object) -> bytes:
    """A notebook file with these parts."""
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}} | parts).encode()


def test_more_cells_than_a_notebook_has_are_refused_before_anything_is_made_of_them(
    monkeypatch: pytest.MonkeyPatch,
):
    """20 MiB of `{},` took gigabytes and minutes in the process that grades everybody."""
    monkeypatch.setattr(nbformat, "from_dict", None)  # a call would be refused with other words
    with pytest.raises(Refused, match="2,001 cells, 2,000 are allowed; remove the cells"):
        parse(file_with(cells=[{}] * (MAX_CELLS + 1)))


def test_what_is_not_a_cell_is_not_even_copied(monkeypatch: pytest.MonkeyPatch):
    """nbformat took half a minute and 3.5 GB to copy 20 MiB of metadata."""
    seen: list = []
    monkeypatch.setattr(nbformat, "from_dict", seen.append)
    parse(file_with(cells=[{"outputs": [{}] * 9}], metadata={"mine": [{}] * 9}))
    (kept,) = seen
    assert json.dumps(kept).count("{") == 3


@pytest.mark.parametrize("number", [1, 2, 3, 5, "4", None, [4]])
def test_another_format_is_named(number: object):
    with pytest.raises(Refused, match="not in notebook format 4; open it in JupyterLab, save it"):
        parse(file_with(nbformat=number, worksheets=[{"cells": []}]))


def test_the_first_pictures_of_a_cell_are_kept():
    pictures = {f"{i}.png": {"image/png": "aGk="} for i in range(MAX_PICTURES + 5)}
    cell = written(" ".join(f"![a](attachment:{name})" for name in pictures), **pictures)
    assert len(cell.attachments) == MAX_PICTURES
    assert cell.source.startswith("![a](attachment:picture-1) ") and cell.source.count(JOINER) == 5


@pytest.mark.parametrize("metadata", [None, [], {"nbgrader": 3}, {"nbgrader": {"grade_id": [1]}}])
def test_odd_metadata_does_no_harm(metadata: object):
    plain = json.loads(text(right()))
    for cell in plain["cells"]:
        cell["metadata"] = metadata
    back = rebuild(parse(json.dumps(plain).encode()), release_of(CHAPTER))
    assert source_of(back, "correct_token") == source_of(right(), "correct_token")


def test_text_that_cannot_be_written_again_is_repaired():
    changed = with_cell_source(right(), "correct_token", "x = '\ud800'")
    json.dumps(rebuilt(changed), ensure_ascii=False).encode("utf-8")
