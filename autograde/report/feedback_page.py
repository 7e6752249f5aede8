"""The page that a student gets back: nbgrader's feedback as one file, without any script.

nbgrader's own template fetches MathJax and bootstrap's scripts, and has no width for telephones.
Here formulas are MathML, as on the site, and a policy in the page forbids every script and every
request, whatever stands in a submission.
"""

from collections.abc import Callable, Iterator
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from autograde.report.feedback import points
from autograde.report.offline import TEMPLATES, markdown2html

MARK = "execute_result"  # the one output that nbgrader reads a mark from


class FeedbackPage(HTMLExporter):
    """nbconvert's exporter for these pages; `nbgrader_config.py` names it."""

    def __init__(self, config: Config | None = None, **settings: Any) -> None:
        own = Config(config or {})
        own.FeedbackPage.sanitize_html = True
        own.FeedbackPage.template_name = "feedback_page"
        own.FeedbackPage.extra_template_basedirs = [str(TEMPLATES)]
        super().__init__(config=own, **settings)

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict | None = None, **kw: Any
    ) -> tuple[str, dict]:
        """The page."""
        code_style = HtmlFormatter(style="default").get_style_defs(".highlight")
        resources = {**(resources or {}), "code_style": code_style}
        return super().from_notebook_node(nb, resources, **kw)

    def default_filters(self) -> Iterator[tuple[str, Callable]]:
        """nbconvert's filters with MathML, one that writes points, one for cells marked by hand."""
        yield from super().default_filters()
        yield "markdown2html", markdown2html
        yield "points", points
        yield "by_hand", lambda cells: [cell for cell in cells if _is_by_hand(cell)]


def _is_by_hand(cell: NotebookNode) -> bool:
    """Whether the gradebook's score of this cell is not the one that the tests gave."""
    nbgrader = cell.metadata.get("nbgrader", {})
    if not nbgrader.get("grade"):
        return False
    marks = [o.data["text/plain"] for o in cell.get("outputs", ()) if o.output_type == MARK]
    return marks != [repr(float(nbgrader.score))]
