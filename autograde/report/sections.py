"""Which section of its chapter an exercise stands in, and the places that links lead to."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from nbformat import NotebookNode

from autograde.submission import is_answer, release_of

HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
FUNCTION = re.compile(r"^def ", re.MULTILINE)
MARKS = re.compile(r"[`*$]")


@dataclass(frozen=True)
class Section:
    """A section by its title, without marks, and the name of its place in the page."""

    title: str
    place: str


@cache
def sections_of(chapter: str) -> dict[str, Section]:
    """The section that explains each graded function: the last heading of two # above its stub."""
    sections: dict[str, Section] = {}
    section = None
    for cell in release_of(chapter).cells:
        if cell.cell_type == "markdown" and (titles := HEADING.findall(cell.source)):
            section = Section(MARKS.sub("", titles[-1]), f"text-{cell.id}")
        elif section and is_answer(cell) and FUNCTION.search(cell.source):
            sections[cell.metadata.nbgrader.grade_id] = section
    return sections


def add_places(cells: Iterable[NotebookNode]) -> None:
    """Give every text among these cells, which are ours, a place that links can name."""
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = f'<a id="text-{cell.id}"></a>\n\n{cell.source}'
