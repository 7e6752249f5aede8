"""The feedback page of a student: nbgrader's feedback as one file, without any script.

nbgrader's own template fetches MathJax and bootstrap's scripts, and does not fit a phone's width.
Here formulas are MathML, as on the site, and the page's content security policy forbids every
script and every request, whatever a submission holds.
"""

from collections.abc import Callable, Iterator
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from autograde.intake.bounds import limit_resources
from autograde.intake.submission import is_from_release
from autograde.report.feedback import points
from autograde.report.folding import fold
from autograde.report.offline import FILTERS, is_folded
from autograde.report.templating import TEMPLATES

OMITTED_NOTE = "What you wrote is left out here: a page could not be made of it."


class FeedbackPage(HTMLExporter):
    """nbconvert's exporter for these pages; `nbgrader_config.py` names it."""

    def __init__(self, config: Config | None = None, **settings: Any) -> None:
        config = Config(config or {})
        config.FeedbackPage.sanitize_html = True
        config.FeedbackPage.filters = FILTERS
        config.FeedbackPage.template_name = "feedback_page"
        config.FeedbackPage.extra_template_basedirs = [str(TEMPLATES)]
        super().__init__(config=config, **settings)

    def from_notebook_node(
        self, nb: NotebookNode, resources: dict | None = None, **kw: Any
    ) -> tuple[str, dict]:
        """The page; if it exceeds the limits, a page without the student's cells."""
        code_style = HtmlFormatter(style="default").get_style_defs(".highlight")
        resources = {**(resources or {}), "code_style": code_style}
        try:
            with limit_resources():
                return super().from_notebook_node(nb, resources, **kw)
        except Exception as error:  # a student's text may break the converter in any way
            self.log.error("A page shows nothing that the student wrote: %r", error)
            return super().from_notebook_node(_without_student_cells(nb), resources, **kw)

    def _preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Run nbconvert's preprocessors, and then, with every mark known, fold cells."""
        nb, resources = super()._preprocess(nb, resources)
        fold(nb)
        return nb, resources

    def default_filters(self) -> Iterator[tuple[str, Callable]]:
        """nbconvert's filters, and those for points and folded cells."""
        yield from super().default_filters()
        yield "points", points
        yield "folded", is_folded


def _without_student_cells(nb: NotebookNode) -> NotebookNode:
    """The notebook without the student's cells, and with a line that says so."""
    line = nbformat.v4.new_markdown_cell(OMITTED_NOTE, id="intake-left-out")
    return nbformat.from_dict({**nb, "cells": [line, *filter(is_from_release, nb.cells)]})
