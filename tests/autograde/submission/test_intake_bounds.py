"""What is too long is cut where a submission comes in, says so, and costs no answer a point."""

import copy
import json

import nbformat
import pytest
from classes.sessions import session
from classes.submitting import CHAPTER, cell_of, right, text, with_cell_source
from nbformat import NotebookNode

from autograde import bounds
from autograde.grade import grade_now
from autograde.submission import MAX_LISTS, Refused, is_answer, parse, rebuild, release_of

ANSWERS = [cell.id for cell in release_of(CHAPTER).cells if is_answer(cell)]


def rebuilt(notebook: NotebookNode) -> NotebookNode:
    return rebuild(parse(text(notebook).encode()), release_of(CHAPTER))


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


def test_what_is_as_long_as_allowed_stays():
    exact = ["a" * bounds.MAX_MARKDOWN, "b"]
    assert [cell.source for cell in with_own("markdown", *exact)] == exact


def test_copies_of_an_answer_grow_no_longer_than_other_text():
    notebook = copy.deepcopy(right())
    another = nbformat.from_dict({**cell_of(notebook, "correct_token"), "source": "\n" * 19_000})
    notebook.cells += [another]
    (cell,) = [cell for cell in rebuilt(notebook).cells if cell.id.startswith("extra-")]
    assert "was not graded" in cell.source and length([cell]) < bounds.MAX_MARKDOWN + 200


@pytest.mark.parametrize("kind", ["raw", "markdown"])
def test_an_answer_cell_of_another_kind_stops_nobody(kind: str):
    notebook = with_cell_source(right(), "correct_token", "my text")
    cell_of(notebook, "correct_token").cell_type = kind
    (cell,) = [cell for cell in rebuilt(notebook).cells if cell.id.startswith("extra-")]
    assert "my text" in cell.source


def test_a_picture_stands_once_in_a_page():
    """400 mentions of one picture of 4 MiB made a page of 1.6 GB."""
    data = {"a.png": {"image/png": "aGk="}}
    (cell,) = with_own("markdown", "![a](attachment:a.png)\n" * 400, attachments=data)
    assert cell.source.count("](attachment:") == 1 and list(cell.attachments) == ["picture-1"]


def test_pictures_have_one_budget_and_the_cell_says_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(bounds, "MAX_PICTURES", 2**20)
    picture = {"a.png": {"image/png": "aGlp" * (2**20 // 12)}}
    cells = with_own("markdown", *["![a](attachment:a.png)"] * 5, attachments=picture)
    assert [len(cell.get("attachments", ())) for cell in cells] == [1, 1, 1, 0, 0]
    assert "those of a notebook may have 1 MiB" in cells[-1].source


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
