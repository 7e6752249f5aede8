"""Which section of its chapter an exercise stands in, and the places that links lead to."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from nbformat import NotebookNode

from autograde.submission import is_answer, release_of

HEADING = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
FUNCTION = re.compile(r"^def ", re.MULTILINE)
CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
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
        if cell.cell_type == "markdown":
            section = [section, *map(_section, titles(cell.source))][-1]
        elif section and is_answer(cell) and FUNCTION.search(cell.source):
            sections[cell.metadata.nbgrader.grade_id] = section
    return sections


def add_places(cells: Iterable[NotebookNode]) -> None:
    """Give every heading of two # in these cells, which are ours, a place that links can name."""
    for cell in cells:
        for title in titles(cell.source) if cell.cell_type == "markdown" else ():
            anchor = f'## <a id="{_section(title).place}"></a>{title}'
            cell.source = cell.source.replace(f"## {title}", anchor, 1)


def titles(markdown: str) -> list[str]:
    """The headings of two # in a text, those in blocks of code left out."""
    return HEADING.findall(CODE_BLOCK.sub("", markdown))


def _section(title: str) -> Section:
    plain = MARKS.sub("", title)
    return Section(plain, "section-" + re.sub(r"\W+", "-", plain.lower()).strip("-"))
