"""The page that a student gets back: nbgrader's feedback as one file, without any script.

nbgrader's own template fetches MathJax and bootstrap's scripts, and has no width for telephones.
Here formulas are MathML, as on the site, and a policy in the page forbids every script and every
request, whatever stands in a submission.
"""

from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils.utils.math.latex2mathml import tex2mathml
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

TEMPLATES = Path(__file__).parent / "templates"
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
        """nbconvert's filters, one that writes points, one that picks the cells marked by hand."""
        yield from super().default_filters()
        yield "points", lambda points: f"{round(float(points), 2):g}"
        yield "by_hand", lambda cells: [cell for cell in cells if _is_by_hand(cell)]

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """Markdown with MathML for formulas, and the cell's attachments as pictures."""
        attachments = context.get("cell", {}).get("attachments", {})
        renderer = Formulas(escape=False, attachments=attachments, exclude_anchor_links=True)
        return MarkdownWithMath(renderer=renderer).render(source)


class Formulas(IPythonRenderer):
    """nbconvert's renderer, but a formula becomes MathML; one that cannot be read stays text."""

    def block_math(self, body: str) -> str:
        return f'<div class="math">{_mathml(body, as_block=True)}</div>'

    def inline_math(self, body: str) -> str:
        return f'<span class="formula">{_mathml(body, as_block=False)}</span>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def _mathml(tex: str, as_block: bool) -> str:
    try:
        return tex2mathml(tex, as_block=as_block)
    except Exception:  # a student's formula may be anything
        return f"<code>{escape(tex)}</code>"


def _is_by_hand(cell: NotebookNode) -> bool:
    """Whether the gradebook's score of this cell is not the one that the tests gave."""
    nbgrader = cell.metadata.get("nbgrader", {})
    if not nbgrader.get("grade"):
        return False
    marks = [o.data["text/plain"] for o in cell.get("outputs", ()) if o.output_type == MARK]
    return marks != [repr(float(nbgrader.score))]
