"""The page that a student gets back: nbgrader's feedback as one file, without any script.

nbgrader's own template fetches MathJax and bootstrap's scripts, and has no width for telephones.
Here formulas are MathML, as on the site, and a policy in the page forbids every script and every
request, whatever stands in a submission.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from autograde.report.feedback import points
from autograde.report.folding import fold
from autograde.report.offline import FILTERS, TEMPLATES, comment_html, is_folded
from autograde.sandbox.bounded import bounded
from autograde.submission import is_ours

MARK = "execute_result"  # the one output that nbgrader reads a mark from
LEFT_OUT = "What you wrote is left out here: a page could not be made of it."


class FeedbackPage(HTMLExporter):
    """nbconvert's exporter for these pages; `nbgrader_config.py` names it."""

    def __init__(self, config: Config | None = None, **settings: Any) -> None:
        own = Config(config or {})
        own.FeedbackPage.sanitize_html = True
        own.FeedbackPage.filters = FILTERS
        own.FeedbackPage.template_name = "feedback_page"
        own.FeedbackPage.extra_template_basedirs = [str(TEMPLATES)]
        super().__init__(config=own, **settings)

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict | None = None, **kw: Any
    ) -> tuple[str, dict]:
        """The page; if it cannot be made within limits, one without what a student wrote."""
        code_style = HtmlFormatter(style="default").get_style_defs(".highlight")
        resources = {**(resources or {}), "code_style": code_style}
        try:
            with bounded():
                return super().from_notebook_node(nb, resources, **kw)
        except Exception as error:  # what a student wrote may do anything to the converter
            self.log.error("A page shows nothing that the student wrote: %r", error)
            return super().from_notebook_node(_without_own(nb), resources, **kw)

    def _preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """nbconvert's preprocessors, and then, with every mark known, what the page folds away."""
        nb, resources = super()._preprocess(nb, resources)
        fold(nb)
        return nb, resources

    def default_filters(self) -> Iterator[tuple[str, Callable]]:
        """nbconvert's filters, and those for points, comments, folded and hand-marked cells."""
        yield from super().default_filters()
        yield "points", points
        yield "comment", comment_html
        yield "folded", is_folded
        yield "by_hand", lambda cells: [cell for cell in cells if _is_by_hand(cell)]


def _is_by_hand(cell: NotebookNode) -> bool:
    """Whether the gradebook's score of this cell is not the one that the tests gave."""
    nbgrader = cell.metadata.get("nbgrader", {})
    if not nbgrader.get("grade"):
        return False
    marks = [o.data["text/plain"] for o in cell.get("outputs", ()) if o.output_type == MARK]
    return marks != [repr(float(nbgrader.score))]


def _without_own(nb: NotebookNode) -> NotebookNode:
    """The notebook with a line in place of everything that a student wrote or printed."""
    nb = copy.deepcopy(nb)
    for cell in nb.cells:
        if not is_ours(cell):
            cell.source = f"# {LEFT_OUT}" if cell.cell_type == "code" else LEFT_OUT
            cell.pop("attachments", None)
        if not is_ours(cell) and "outputs" in cell:
            cell.outputs = []
    return nb
