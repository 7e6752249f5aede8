"""A chapter's text (jupytext percent format) as cells that know their lines.

Every mistake is an AuthorError that names the file, the line, what is wrong and the remedy.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
from nbformat.notebooknode import NotebookNode
from nbformat.validator import NotebookValidationError

from autograde.chapter import ROOT, AuthorError

# Comments that look like magics stay comments.
FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
MARKER = re.compile(r"\s*#\s*(%%%*\s|(%%|<codecell>|In\[[0-9 ]*\]:?)\s*$)")
# The same in a markdown cell that swallowed a marker: jupytext has taken the comment sign off.
SWALLOWED = re.compile(r"\s*(#\s*)?%%(%*\s|\s*$)")

# The options of each kind of cell, besides `tags`.
OPTIONS = {
    "solution": {"solution"},
    "test": {"test", "points"},
    "written": {"written", "points"},
    "plain": set(),
}
# jupytext's own notes on the text, which are no options of ours.
JUPYTEXT_NOTES = {"lines_to_next_cell", "lines_to_end_of_cell_marker", "cell_marker"}


@dataclass(frozen=True)
class TextCell:
    """One cell of the text: the line of its `# %%` marker, its options and its source."""

    path: Path
    line: int
    cell_type: str
    options: dict[str, Any]
    source: str

    @property
    def kind(self) -> str:
        """solution, test, written, or plain."""
        return next((kind for kind in OPTIONS if kind in self.options), "plain")

    @property
    def name(self) -> str:
        """The exercise's name; empty for a plain cell."""
        return self.options.get(self.kind, "")

    @property
    def grade_id(self) -> str:
        """nbgrader's id: the name, with `test_` before it for a test cell."""
        return f"test_{self.name}" if self.kind == "test" else self.name

    def error(self, problem: str, remedy: str, line: int | None = None) -> AuthorError:
        """The error to raise; `line` is at fault, or else the cell's marker."""
        return AuthorError(f"{_shown(self.path)}:{line or self.line}: {problem}. {remedy}.")


def text_cells(path: Path) -> list[TextCell]:
    """jupytext's cells, each with the line of its marker."""
    text = path.read_text(encoding="utf-8")
    lines = [n for n, line in enumerate(text.split("\n"), 1) if MARKER.match(line)]
    try:
        parsed = jupytext.reads(text, fmt=FORMAT).cells
    except NotebookValidationError as error:
        raise _option_error(path, lines) from error
    if len(lines) != len(parsed):
        raise _marker_error(path, lines, parsed)
    return [
        TextCell(path, line, cell.cell_type, _options(cell), cell.source)
        for line, cell in zip(lines, parsed, strict=True)
    ]


def _options(cell: NotebookNode) -> dict[str, Any]:
    return {key: value for key, value in cell.metadata.items() if key not in JUPYTEXT_NOTES}


def _option_error(path: Path, lines: list[int]) -> AuthorError:
    """jupytext refused a notebook for an option of the wrong type: find the marker with it."""
    text = path.read_text(encoding="utf-8").split("\n")
    for line in lines:
        try:
            jupytext.reads(text[line - 1] + "\n", fmt=FORMAT)
        except NotebookValidationError as error:
            problem = f"an option that a notebook cannot hold: {error.message}"
            return TextCell(path, line, "", {}, "").error(problem, 'Tags are a list: tags=["demo"]')
    return AuthorError(f"{_shown(path)}: jupytext cannot read it as a notebook.")


def _marker_error(path: Path, lines: list[int], parsed: list[NotebookNode]) -> AuthorError:
    """There are more or fewer cells than markers: find the first one that has no counterpart."""
    if len(lines) < len(parsed):
        return AuthorError(
            f"{_shown(path)}:1: there is text above the first `# %%` marker. "
            "Put a marker above it: `# %%` for code, `# %% [markdown]` for text."
        )
    for index, cell in enumerate(parsed):
        if any(SWALLOWED.match(line) for line in cell.source.split("\n")):
            return AuthorError(
                f"{_shown(path)}:{lines[index]}: the cell that begins here runs over the next "
                f"`# %%` marker, on line {lines[index + 1]}. "
                "Close its triple-quoted string, or its ``` block, before that line."
            )
    return AuthorError(
        f"{_shown(path)}: {len(lines)} `# %%` markers, but jupytext reads {len(parsed)} cells. "
        "Look for a marker inside a string or a ``` block and take it out."
    )


def _shown(path: Path) -> str:
    """The path as a person at the repository's root would type it."""
    return os.path.relpath(path, ROOT) if path.is_relative_to(ROOT) else str(path)
