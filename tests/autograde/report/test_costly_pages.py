"""A page that cannot be made says so in its place, and the next one is made."""

import pytest
from classes.submitting import CHAPTER, right
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from autograde.report import offline
from autograde.report.feedback_page import FeedbackPage
from autograde.sandbox import bounded


def page_of(*own: NotebookNode) -> str:
    """The feedback page of a right notebook and these cells of the student's own."""
    notebook = right()
    for number, cell in enumerate(own):
        cell.id = f"extra-{number}"
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(score=1.0)
    notebook.cells += own
    told = {"notebook": CHAPTER, "score": 9.5, "max_score": 24, "late_penalty": 0}
    return FeedbackPage().from_notebook_node(notebook, {"nbgrader": told})[0]


def test_a_page_that_takes_too_long_has_all_but_what_the_student_wrote(
    monkeypatch: pytest.MonkeyPatch,
):
    """It took the converter 6 minutes, in which nobody got a page, nor afterwards."""
    monkeypatch.setattr(bounded, "SECONDS", 3)
    slow = new_markdown_cell(f"mine a{' ' * 100_000}b")
    printed = new_code_cell("mine()", outputs=[new_output("stream", text="mine")])
    page = page_of(slow, printed)
    assert "mine" not in page and page.count("What you wrote is left out here") > 2
    assert "9.5 of 24 points" in page and "def test_" not in page
    assert "mine" in page_of(new_markdown_cell("mine"))


def test_only_python_is_coloured():
    """pygments has hundreds of languages, and a student's text chooses among them."""
    python = offline.markdown2html({}, "```python\nif x:\n```")
    assert '<span class="k">if</span>' in python
    for name in ("html", "perl", "mermaid", "tex", "python3x"):
        assert "<span" not in offline.markdown2html({}, f"```{name}\nif x: # <a>\n```")
    assert '<span class="nt">' not in offline.python_html("%%html\n<a>")  # the name of a tag


def test_code_with_a_long_run_of_blanks_is_not_coloured():
    assert "<span class" in offline.python_html("def f(): pass")
    assert '<span class="k"' not in offline.python_html("def f():" + "\n" * 600 + "    pass")


def test_a_formula_that_is_too_long_stays_as_it_was_written():
    """MathML is up to a hundred times as long."""
    assert "<math" in offline.mathml("x" * 999)
    assert offline.mathml("x" * 1001) == f"<code>{'x' * 1001}</code>"
