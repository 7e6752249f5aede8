"""A page that cannot be made says so in its place, and the next one is made."""

import pytest
from classes.submitting import CHAPTER, right
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograde.report import offline
from autograde.report.feedback_page import FeedbackPage
from autograde.sandbox import bounded


def page_of(*own: NotebookNode) -> str:
    """The feedback page of a right notebook and these cells of the student's own."""
    notebook = right()
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(score=1.0)
    notebook.cells += own
    told = {"notebook": CHAPTER, "score": 9.5, "max_score": 24, "late_penalty": 0}
    return FeedbackPage().from_notebook_node(notebook, {"nbgrader": told})[0]


def test_a_page_that_takes_too_long_has_all_but_what_the_student_wrote(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(bounded, "SECONDS", 3)
    slow = new_markdown_cell(f"mine a{' ' * 100_000}b", id="extra-0")
    page = page_of(slow)
    assert "mine" not in page and "What you wrote is left out here" in page
    assert "9.5 of 24 points" in page and "def test_" not in page
    assert "mine" in page_of(new_markdown_cell("mine", id="extra-0"))


def test_only_python_is_coloured_and_no_long_run_of_blanks():
    """pygments has hundreds of languages, and a student's text chooses among them."""
    python = offline.markdown2html({}, "```python\nif x:\n```")
    assert '<span class="k">if</span>' in python
    for name in ("html", "perl", "mermaid"):
        assert "<span" not in offline.markdown2html({}, f"```{name}\nif x: # <a>\n```")
    assert '<span class="nt">' not in offline.python_html("%%html\n<a>")  # the name of a tag
    assert '<span class="k"' not in offline.python_html("def f():" + "\n" * 600 + "    pass")


def test_a_formula_that_is_too_long_stays_as_it_was_written():
    """MathML is up to a hundred times as long."""
    assert "<math" in offline.mathml("x" * 999)
    assert offline.mathml("x" * 1001) == f"<code>{'x' * 1001}</code>"
