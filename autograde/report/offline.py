"""Notebook pages that make no request to the network: formulas are MathML, not MathJax."""

import re
from collections.abc import Mapping
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.notebooknode import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers.python import PythonLexer
from traitlets.config import Config

from autograde.report import formulas
from autograde.report.templating import TEMPLATES

MAX_FORMULA = 1000  # characters: MathML is up to 100 times as long
# pygments' time grows with the square of the length of such a run.
_MANY_BLANKS = re.compile(r"\s{500}")


class Renderer(IPythonRenderer):
    """nbconvert's Markdown, with every formula as MathML.

    Only Python is highlighted: pygments has hundreds of lexers, and some of them take minutes.
    """

    def block_code(self, code: str, info: str | None = None) -> str:
        if (info or "").split()[:1] in (["python"], ["py"], ["python3"]):
            return python_html(code)
        return super().block_code(code)

    def block_math(self, body: str) -> str:
        # With tabindex a wide formula can be scrolled by keyboard too.
        return f'<div class="math" tabindex="0">{formula_html(body, as_block=True)}</div>'

    def inline_math(self, body: str) -> str:
        return f'<span class="formula">{formula_html(body)}</span>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")


def formula_html(tex: str, as_block: bool = False) -> str:
    """A formula as MathML, or as code if it is too long or docutils does not support it."""
    code = f"<code>{escape(tex)}</code>"
    try:
        return formulas.tex_to_mathml(tex, as_block) if len(tex) <= MAX_FORMULA else code
    except Exception:  # a student's formula may be anything
        return code


@pass_context
def markdown2html(context: Mapping[str, Any], source: str) -> str:
    """nbconvert's filter of that name, for pages with students' text: without anchors."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = Renderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    return MarkdownWithMath(renderer).render(source)


def python_html(source: str, **_: Any) -> str:
    """nbconvert's filter highlight_code: always as Python, whatever a cell magic says."""
    if _MANY_BLANKS.search(source):
        return f'<div class="highlight"><pre>{escape(source)}</pre></div>'
    return highlight(source or " ", PythonLexer(), HtmlFormatter(cssclass="highlight hl-python"))


# Names, not functions: formgrader shows the configuration on its page.
FILTERS = {
    "markdown2html": f"{__name__}.{markdown2html.__name__}",
    "highlight_code": f"{__name__}.{python_html.__name__}",
}


def set_formgrader(config: Config) -> None:
    """Configure formgrader to render submissions with these filters and templates."""
    # Importing nbgrader takes a second, and needs a server that other pages do not.
    package = Path(find_spec("nbgrader").origin).parent
    formgrader_templates = package / "server_extensions/formgrader/templates"
    config.HTMLExporter.filters = FILTERS
    config.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), str(formgrader_templates)]


def is_folded(cell: NotebookNode) -> bool:
    """Whether JupyterLab shows the cell's outputs only."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))
