"""Any file is refused with a reason, or rebuilt within bounds into a notebook that has a page."""

import json
import re

import nbformat
from classes.submitting import CHAPTER, right
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode

from autograde.intake import bounds
from autograde.intake.submission import (
    InvalidSubmission,
    is_answer,
    is_from_release,
    parse,
    rebuild,
    release_of,
)
from autograde.report.offline import markdown2html

RELEASE = release_of(CHAPTER)
RIGHT = json.loads(json.dumps(right()))
NAMES = [cell.id for cell in RELEASE.cells]
PIECES = (
    *("![a](attachment:a.png)", "![](attachment:b%20c)", "[x](javascript:x)", "[x]: y", "<b>"),
    *("$x$", "$$", "\\(", "\\begin{a}", "```html\n", "|a|b|\n|-|-|\n", "- ", "> ", "\n\n", "    "),
    *("`", "&#1;", "\x00", "\x1b[31m", "\ud800", "\u2028", "[[", "](", "\\", "<!--", "%%time\n"),
)

TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=30).map("".join)
LONG = st.tuples(TEXT, st.integers(0, 30_000)).map(lambda pair: (pair[0] * 3_000)[: pair[1]])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXT, below, max_size=4),
    max_leaves=12,
)
IDS = st.sampled_from(NAMES) | JSON
CELL = st.fixed_dictionaries(
    {
        "cell_type": st.sampled_from(["code", "markdown", "raw"]) | JSON,
        "source": LONG | st.lists(TEXT, max_size=5) | JSON,
    },
    optional={
        "id": IDS,
        "metadata": st.fixed_dictionaries({"nbgrader": st.fixed_dictionaries({"grade_id": IDS})}),
        "attachments": JSON,
        "outputs": JSON,
    },
)
CELLS = st.lists(CELL | st.sampled_from(RIGHT["cells"]) | JSON, max_size=12) | JSON
NOTEBOOK = st.fixed_dictionaries({"nbformat": st.just(4) | JSON, "cells": CELLS, "metadata": JSON})


def in_bounds(notebook: NotebookNode) -> None:
    """What every later step counts on."""
    nbformat.validate(notebook, relax_add_props=True)
    json.dumps(notebook, ensure_ascii=False).encode()
    locked = {
        c.id: c.source for c in RELEASE.cells if c.metadata.get("nbgrader") and is_from_release(c)
    }
    assert locked and locked.items() <= {c.id: c.source for c in notebook.cells}.items()
    assert sorted(cell.id for cell in notebook.cells if cell.id in NAMES) == sorted(NAMES)
    written = [
        len(c.source) for c in notebook.cells if c.cell_type == "code" or not is_from_release(c)
    ]
    assert sum(written) < 2 * bounds.MAX_NOTEBOOK + 300 * len(written)


def has_a_page(notebook: NotebookNode) -> None:
    """The converter takes every text of the student's, and nothing acts in what it makes of it."""
    for cell in notebook.cells:
        if not is_from_release(cell) and cell.cell_type == "markdown":
            page = markdown2html({"cell": cell}, cell.source)
            assert not re.search(r"<(script|b>|!--)|href=\"javascript", page)


def with_answer(plain: dict) -> bytes:
    """The file, with a right answer behind its cells, so that it is not another chapter's."""
    answer = next(c for c in RIGHT["cells"] if is_answer(nbformat.from_dict(c)))
    cells = plain["cells"]
    more = [*cells, answer] if isinstance(cells, list) else cells
    return json.dumps({**plain, "cells": more}).encode()


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
ANY = st.one_of(NOTEBOOK.map(with_answer), JSON.map(lambda value: json.dumps(value).encode()))


@settings(max_examples=75, deadline=None, derandomize=True, suppress_health_check=QUIET)
@given(ANY | st.binary(max_size=200))
def test_any_file_is_refused_or_rebuilt_within_bounds(data: bytes):
    try:
        notebook = rebuild(parse(data), RELEASE)
    except InvalidSubmission as reason:
        assert 10 < len(str(reason)) < 1_000
    else:
        in_bounds(notebook)
        has_a_page(notebook)
