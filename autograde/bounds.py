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
MAX_PICTURES = 10 * 2**20  # of the pictures of a notebook, in base64

_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def cell_text(kind: str, source: str) -> str:
    """The text of one cell, `kind` as in the notebook's format, cut if it is too long."""
    most = MAX_CODE if kind == "code" else MAX_MARKDOWN
    return _cut(kind, source, most, f"a cell may have {most:,}")


def share_out(cells: Iterable["NotebookNode"]) -> None:
    """Cut what all cells together have too much of: text, and then pictures. The first come first.

    A cell has `kind`, `source` and `attachments`, which are changed in place.
    """
    text, pictures = MAX_TEXT, MAX_PICTURES
    for cell in cells:
        before = len(cell.source)
        cell.source = _cut(cell.kind, cell.source, text, f"a notebook may have {MAX_TEXT:,}")
        text -= min(text, before)
        pictures -= _keep_pictures(cell, pictures)


def _cut(kind: str, source: str, most: int, allowed: str) -> str:
    """`source`, or the beginning of Markdown with a line above it, or code that raises.

    The beginning of code would be another answer.
    """
    if len(source) <= most:
        return source
    why = f"it has {len(source):,} characters, {allowed}"
    if kind == "code":
        return f"raise RuntimeError('This cell was left out: {why}.')"
    return f"**Only the beginning of this text is kept: {why}.**\n\n{source[:most]}"


def _keep_pictures(cell: "NotebookNode", most: int) -> int:
    """Keep the first pictures of a cell that have `most` characters or less; returns how many."""
    kept, used = {}, 0
    for name, data in cell.attachments.items():
        size = sum(map(len, data.values()))
        if used + size <= most:
            kept[name], used = data, used + size
    if len(kept) < len(cell.attachments):
        cell.source = (
            f"**Pictures were left out: those of a notebook may have {MAX_PICTURES // 2**20} MiB "
            f"together.**\n\n{cell.source}"
        )
    cell.attachments = kept
    return used


def without_colours(text: str) -> str:
    """What a cell printed, without codes for colours: each of them is an element of a page."""
    return _COLOUR.sub("", text).replace("\x1b", "")


def beginning(printed: str, most: int) -> str:
    """The first `most` characters of what a cell printed, and a line if that is not all."""
    if len(printed) <= most:
        return printed
    return f"{printed[:most]}\n[dropped: a notebook may print {MAX_OUTPUT:,} characters]"
