"""The page that a student gets back: nbgrader's feedback as one file, without any script.

nbgrader's own template fetches MathJax and bootstrap's scripts, and has no width for telephones.
Here formulas are MathML, as on the site, and a policy in the page forbids every script and every
request, whatever stands in a submission.
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
from autograde.report.offline import FILTERS, TEMPLATES, is_folded

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
            with limit_resources():
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
        """nbconvert's filters, and those for points and folded cells."""
        yield from super().default_filters()
        yield "points", points
        yield "folded", is_folded


def _without_own(nb: NotebookNode) -> NotebookNode:
    """The notebook without the cells of the student, and with a line that says so."""
    line = nbformat.v4.new_markdown_cell(LEFT_OUT, id="intake-left-out")
    return nbformat.from_dict({**nb, "cells": [line, *filter(is_from_release, nb.cells)]})
