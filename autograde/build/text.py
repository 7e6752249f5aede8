"""Parse a chapter's text, a notebook in percent format, into cells with line numbers.

Every mistake is an AuthorError that names the file, the line, the problem and the remedy.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograde.course import AuthorError

MARKER = re.compile(r"# %%(?: \[(?P<type>\w+)\])?(?P<options>.*)")
# A value is a text, a list or a number.
OPTION = re.compile(r' (\w+)=("[^"]*"|\[[^]]*\]|[^\s"[]+)')

# The options of every kind of cell, besides `tags`.
CELL_OPTIONS = {
    "solution": {"solution"},
    "test": {"test", "points"},
    "written": {"written", "points"},
    "plain": {"hints"},
}


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
        return next((kind for kind in CELL_OPTIONS if kind in self.options), "plain")

    @property
    def name(self) -> str:
        """The exercise's name; empty for a plain cell."""
        return self.options.get(self.kind, "")

    @property
    def grade_id(self) -> str:
        """nbgrader's id: the name, with `test_` before it for a test cell."""
        return f"test_{self.name}" if self.kind == "test" else self.name

    def error(self, problem: str, remedy: str, line: int | None = None) -> AuthorError:
        """The error to raise, at `line` or else at the cell's marker."""
        return _error(self.path, line or self.line, problem, remedy)


def text_cells(path: Path) -> list[TextCell]:
    """The cells of a text. A line that begins with a marker begins a cell, even in a string."""
    lines = path.read_text(encoding="utf-8").split("\n")
    starts = [number for number, line in enumerate(lines) if MARKER.fullmatch(line)]
    preamble = "\n".join(lines[: starts[0]] if starts else lines)
    if preamble.strip():
        remedy = "Put a marker above it: `# %%` for code, `# %% [markdown]` for text"
        raise _error(path, 1, "there is text above the first `# %%` marker", remedy)
    ends = [*starts[1:], len(lines)]
    return [_cell(path, lines, start, end) for start, end in zip(starts, ends, strict=True)]


def _cell(path: Path, lines: list[str], start: int, end: int) -> TextCell:
    """The cell whose marker is the line `start`."""
    marker = MARKER.fullmatch(lines[start])
    cell_type = marker["type"] or "code"
    source = "\n".join(lines[start + 1 : end]).strip("\n")
    if cell_type == "markdown":
        source = re.sub("^# ?", "", source, flags=re.MULTILINE)
    return TextCell(path, start + 1, cell_type, dict(_options(path, start + 1, marker)), source)


def _options(path: Path, line: int, marker: re.Match) -> Iterator[tuple[str, Any]]:
    """The `key=value` pairs of a marker."""
    text = marker["options"].rstrip()
    try:
        if OPTION.sub("", text):
            raise ValueError
        for key, value in OPTION.findall(text):
            yield key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        remedy = 'Write them as key=value, text in double quotes, as in test="name" points=3'
        raise _error(path, line, "the cell's options cannot be read", remedy) from None


def _error(path: Path, line: int, problem: str, remedy: str) -> AuthorError:
    return AuthorError(f"{path}:{line}: {problem}. {remedy}.")
