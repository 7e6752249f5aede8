"""How much of what a student wrote is kept, so that no later step takes long or grows large.

Converters of Markdown and code take time that grows with the square of a text, and every step
holds the notebook several times. So a text is cut before anything else sees it, and what is left
out is named in its place.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing it takes most of a second, and a session needs nothing of it
    from nbformat import NotebookNode

# Characters. All answers of a chapter together have 4,000, the whole chapter 25,000.
MAX_CODE = 20_000  # of a cell
MAX_MARKDOWN = 10_000  # of a cell
MAX_TEXT = 100_000  # of all cells of a notebook
MAX_OUTPUT = 100_000  # that the cells of a notebook print, and of their errors
MIN_ERROR = 300  # that are kept of every error, since messages refer to it

_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def share_out(cells: Iterable["NotebookNode"]) -> None:
    """Cut the text of a cell, in place, if it or that of all cells is too long: the first stay."""
    left = MAX_TEXT
    for cell in cells:
        before = len(cell.source)
        cell.source = cut(cell.kind, cell.source, left)
        left -= min(left, before)


def cut(kind: str, source: str, left: int = MAX_TEXT) -> str:
    """`source`, or the beginning of Markdown with a line above it, or code that raises.

    `kind` is as in the notebook's format, `left` what the cells before leave of a notebook's
    characters. The beginning of code would be another answer.
    """
    most = min(left, MAX_CODE if kind == "code" else MAX_MARKDOWN)
    if len(source) <= most:
        return source
    allowed = f"a notebook may have {MAX_TEXT:,}" if most == left else f"a cell may have {most:,}"
    why = f"it has {len(source):,} characters, {allowed}"
    if kind == "code":
        return f"raise RuntimeError('This cell was left out: {why}.')"
    return f"**Only the beginning of this text is kept: {why}.**\n\n{source[:most]}"


def without_colours(text: str) -> str:
    """What a cell printed, without codes for colours: each of them is an element of a page."""
    return _COLOUR.sub("", text).replace("\x1b", "")


def beginning(printed: str, most: int) -> str:
    """The first `most` characters of what a cell printed, and a line if that is not all."""
    if len(printed) <= most:
        return printed
    return f"{printed[:most]}\n[dropped: a notebook may print {MAX_OUTPUT:,} characters]"
