"""How Sphinx makes the site; `make site` calls it on a copy of this folder with the chapters."""

from docutils.nodes import SkipNode, math, math_block, raw
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

from autograde.report.formulas import tex_to_mathml
from specdec_lib.lessons.widgets.simulators import linked_simulator

project = "Speculative decoding"
author = "the specdec-course authors"
project_copyright = "the specdec-course authors; text CC BY 4.0, code BSD 3-Clause"
language = "en"

extensions = ["myst_nb"]
exclude_patterns = ["_static"]  # its notebooks are to download, not to read here
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the chapters come executed
nb_merge_streams = True
# What stands in simulators' frames and tables; a page has no kernel that could show more.
nb_mime_priority_overrides = [("html", "text/html", 0), ("html", "image/png", 10)]

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static"]
html_extra_path = ["_extra"]  # the slides, a page of their own
html_favicon = "_static/icon.svg"
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system says
html_theme_options = {
    "navbar_persistent": [],  # the search stands in the side bar
    "show_navbar_depth": 1,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    "article_header_start": ["toggle-primary-sidebar.html"],
}


def visit_math(translator: HTML5Translator, node: math) -> None:
    """A formula in the line, as MathML: browsers draw it and screen readers read it."""
    translator.body.append(tex_to_mathml(node.astext()))
    raise SkipNode  # the TeX itself, which is the node's text


def visit_math_block(translator: HTML5Translator, node: math_block) -> None:
    """A formula on lines of its own; one that is wide is scrolled by keyboard too."""
    formula = tex_to_mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="math" tabindex="0">{formula}</div>')
    raise SkipNode


class Simulator(SphinxDirective):
    """The simulator of the first page, which needs no kernel."""

    def run(self) -> list[raw]:
        self.env.note_reread()  # the simulator may have changed, which Sphinx cannot see
        return [raw("", linked_simulator().frame(), format="html")]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Formulas without scripts, so that a page fetches nothing and works offline."""
    app.add_directive("simulator", Simulator)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
