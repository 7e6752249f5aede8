"""Intake: the release with the student's answers in it, whatever else was handed in."""

import copy
import json
import re

import nbformat
import pytest
from classes.sessions import session
from classes.submitting import CHAPTER, cell_of, right, text, with_cell_source
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

from autograde import bounds
from autograde.grade import grade_now
from autograde.submission import (
    JOINER,
    MAX_CELLS,
    MAX_LISTS,
    Refused,
    is_answer,
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


def written(source: str) -> NotebookNode:
    """What intake makes of a written answer."""
    notebook = with_cell_source(right(), "why_residual", source)
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
        "![x](attachment:x.png)",
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


# --- what is too long is cut, says so, and costs no answer a point ---------------------------

ANSWERS = [cell.id for cell in release_of(CHAPTER).cells if is_answer(cell)]


def with_own(kind: str, *sources: str, **fields: object) -> list[NotebookNode]:
    """What intake keeps of cells of the student's own before all others of a right notebook.

    The answers after them must be as they were handed in.
    """
    notebook = copy.deepcopy(right())
    new = getattr(nbformat.v4, f"new_{kind}_cell")
    notebook.cells[:0] = [new(source, **fields) for source in sources]
    back = rebuilt(notebook)
    for name in ANSWERS:
        assert cell_of(back, name).source == cell_of(right(), name).source
    return [cell for cell in back.cells if cell.id.startswith("extra-")]


def length(cells: list[NotebookNode]) -> int:
    return sum(len(cell.source) for cell in cells)


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_of_a_long_text_the_beginning_stays_and_the_cell_says_so(kind: str):
    (cell,) = with_own(kind, "start " + "a" * 400_000)
    assert "it has 400,006 characters, a cell may have 10,000" in cell.source.splitlines()[0]
    assert "\n\nstart aaa" in cell.source and length([cell]) < bounds.MAX_MARKDOWN + 200


def test_long_code_is_left_out_whole_and_the_cell_says_so():
    """Its beginning would be other code."""
    (cell,) = with_own("code", "x = 1\n" * 70_000)
    with pytest.raises(RuntimeError, match="left out: it has 420,000 characters, a cell may have"):
        exec(cell.source)


def test_an_answer_that_is_too_long_is_told_so_and_the_others_count():
    answer = cell_of(right(), "correct_token").source + "\n#" + "x" * bounds.MAX_CODE
    result = grade_now(rebuilt(with_cell_source(right(), "correct_token", answer)), CHAPTER)
    assert "a cell may have 20,000" in " ".join(result.exercises["correct_token"].messages)
    assert result.score == 22 - 4


@pytest.mark.parametrize("kind", ["markdown", "code", "raw"])
def test_all_cells_together_are_bounded_and_the_answers_come_first(kind: str):
    cells = with_own(kind, *["#" * 9_000] * 300)
    assert length(cells) < bounds.MAX_TEXT + 300 * 200
    assert cells[0].source == "#" * 9_000 and "a notebook may have 100,000" in cells[-1].source


def test_a_file_of_many_lists_is_refused_before_anything_is_made_of_it(
    monkeypatch: pytest.MonkeyPatch,
):
    """20 MiB of [[1]] become 800 MB."""
    monkeypatch.setattr(json, "loads", None)
    with pytest.raises(Refused, match="more than 500,000 lists and objects; clear the outputs"):
        parse(b'{"nbformat": 4, "x": [' + b"[]," * MAX_LISTS + b"0]}")


def test_the_output_of_a_notebook_has_one_budget():
    with session(*["print('x' * 19_000)"] * 12, "raise ValueError('why')") as s:
        reports = list(s.reports.values())
    printed = [report["printed"] for report in reports]
    assert sum(map(len, printed)) < bounds.MAX_OUTPUT + 12 * 100
    assert printed[0] == "x" * 19_000 + "\n" and "may print 100,000 characters" in printed[-2]
    assert reports[-1]["error"]["text"] == "why"


def test_colour_codes_are_no_output():
    """Each is an element of a page: 1,900 cells of them made one of 151 MB."""
    codes = "print('\\x1b[31mred\\x1b[0m \\x1b\\x1b[1m[1m')"
    with session(codes, "raise ValueError('\\x1b[31mred')") as s:
        assert s.reports["cell-0"]["printed"] == "red [1m\n"
        assert s.reports["cell-1"]["error"]["text"] == "red"
