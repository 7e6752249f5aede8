"""Pages of notebooks that ask the network for nothing: formulas are MathML, not MathJax."""

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

# Templates that stand before nbconvert's: `base` has no MathJax in it.
TEMPLATES = Path(__file__).with_name("templates")
MAX_FORMULA = 1000  # characters: MathML is up to 100 times as long
# pygments needs time that grows with the square of such a run.
MANY_BLANKS = re.compile(r"\s{500}")


class Renderer(IPythonRenderer):
    """nbconvert's Markdown, with every formula as MathML, which browsers draw themselves.

    Only Python is coloured: pygments has hundreds of languages, and some of them take it minutes.
    """

    def block_code(self, code: str, info: str | None = None) -> str:
        if (info or "").split()[:1] in (["python"], ["py"], ["python3"]):
            return python_html(code)
        return super().block_code(code)

    def block_math(self, body: str) -> str:
        # A wide formula scrolls by itself: by keyboard too, once it has the focus.
        return f'<div class="math" tabindex="0">{mathml(body, as_block=True)}</div>'

    def inline_math(self, body: str) -> str:
        return f'<span class="formula">{mathml(body)}</span>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")


def mathml(tex: str, as_block: bool = False) -> str:
    """A formula as MathML; TeX that is too long or that docutils does not know stays as written."""
    as_written = f"<code>{escape(tex)}</code>"
    try:
        return formulas.mathml(tex, as_block) if len(tex) <= MAX_FORMULA else as_written
    except Exception:  # a student's formula may be anything
        return as_written


@pass_context
def markdown2html(context: Mapping[str, Any], source: str) -> str:
    """nbconvert's filter of that name, for pages that hold students' text: no anchors in it."""
    attachments = context.get("cell", {}).get("attachments", {})
    looks = {"escape": False, "exclude_anchor_links": True}
    return MarkdownWithMath(Renderer(attachments=attachments, **looks)).render(source)


def python_html(source: str, **_: Any) -> str:
    """nbconvert's filter highlight_code: coloured as Python, whatever a magic says that it is."""
    if MANY_BLANKS.search(source):
        return f'<div class="highlight"><pre>{escape(source)}</pre></div>'
    return highlight(source or " ", PythonLexer(), HtmlFormatter(cssclass="highlight hl-python"))


# Names, not functions: formgrader shows the configuration on its page.
FILTERS = {
    "markdown2html": f"{__name__}.{markdown2html.__name__}",
    "highlight_code": f"{__name__}.{python_html.__name__}",
}


def set_formgrader(config: Config) -> None:
    """Have formgrader make its pages of submissions in this way."""
    # To import nbgrader takes a second, and needs a server that other pages do not.
    nbgraders = Path(find_spec("nbgrader").origin).parent / "server_extensions/formgrader/templates"
    config.HTMLExporter.filters = FILTERS
    config.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), str(nbgraders)]


def is_folded(cell: NotebookNode) -> bool:
    """Whether JupyterLab shows the cell's outputs only."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))
