"""No word before its introduction: `terms.json` lists the terms and what introduces each of them.

Chapters are read in order, 00 to 08, and of each the Markdown that a reader meets: code blocks,
folded text, the folded sources and what a student writes are left out. A term is a word of the
prose; a letter (`"letter": true`) is one of the formulas and of the code between backticks. Two
things announce a term and do not use it: the head of the chapter that introduces it, and a sentence
or a row of a table that names this chapter, or a later one, by its number.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograde.build.looks import NEXT, SOURCES
from autograde.build.text import TextCell, text_cells
from autograde.chapter import Chapter, chapter_names

LISTED = json.loads(Path(__file__).with_name("terms.json").read_text(encoding="utf-8"))
FOLDS = re.compile(
    rf"^```.*?^```|<details>.*?</details>|{SOURCES.pattern}.*?(?=^{re.escape(NEXT)}|\Z)",
    re.DOTALL | re.MULTILINE,
)
# Formulas and code between backticks; a dollar sign of a price is not a formula's.
MARKED = re.compile(
    r"\$\$.*?\$\$|\$(?=\S)[^$\n]*(?<=\S)\$(?!\d)|(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL
)
ADDRESS = re.compile(r"\]\([^)]*\)|<[^>]*>")
SENTENCE_END = re.compile(r"[.?!]\**[”\"]?(?=\s)|\n\s*\n|\n(?=\s*[|#>-])")
NAMES_CHAPTER = re.compile(r"(?i)\bchapters?\s+(\d\d)(?:(?:\s+(?:and|to)|,)\s+(\d\d))?|^\W*(\d\d) ")

# What stays of the words around a letter: the ends of sentences, rows and the names of chapters.
KEPT = re.compile(r"(?i)chapters?\s+\d\d|[.?!](?=\s)|^\|(?:\W*\d\d )?", re.MULTILINE)


@dataclass(frozen=True)
class Term:
    """A term, the pattern of its uses, and a phrase of the sentence that introduces it."""

    term: str
    pattern: str
    chapter: str
    phrase: str
    letter: bool = False

    @property
    def spaced(self) -> str:
        """The pattern, which may run over the end of a line."""
        return self.pattern.replace(" ", r"\s+")

    def uses_in(self, cell: TextCell) -> Iterator[int]:
        """The lines of the chapter's file in which the cell uses the term."""
        text = letters_of(cell) if self.letter else prose_of(cell)
        for use in re.finditer(self.spaced, text):
            if not self._announced(text, use.start()):
                yield cell.line + 1 + text[: use.start()].count("\n")

    def _announced(self, text: str, at: int) -> bool:
        """Whether the sentence or the row around `at` names the chapter of the term, or later."""
        named = [n for found in NAMES_CHAPTER.findall(around(text, at)) for n in found if n]
        return any(number >= self.chapter for number in named)


TERMS = [Term(**entry) for entry in LISTED]
Course = dict[str, list[TextCell]]


def test_no_chapter_uses_a_term_before_its_introduction():
    course = {chapter[:2]: markdown_of(Chapter(chapter).source) for chapter in chapter_names()}
    assert len({term.term for term in TERMS}) == len(TERMS) > 50
    assert not [fault for term in TERMS for fault in faults(course, term)]


def faults(course: Course, term: Term) -> Iterator[str]:
    """What is wrong, a line each: an introduction that is not there, a use before it."""
    before = cells_before(course, term)
    if before is None:
        yield f"“{term.phrase}” is not in chapter {term.chapter}"
    for cell in before or []:
        for line in term.uses_in(cell):
            yield f"{cell.path.name}:{line}: `{term.term}` is introduced later: “{term.phrase}”"


def cells_before(course: Course, term: Term) -> list[TextCell] | None:
    """The cells above the one with the term's phrase, or None if no cell of its chapter has it."""
    above = [
        cell for chapter in sorted(course) if chapter < term.chapter for cell in course[chapter]
    ]
    cells = course[term.chapter]
    for index, cell in enumerate(cells):
        if plain(term.phrase) in plain(cell.source):
            return above + cells[1:index]  # the head only announces
    return None


def markdown_of(path: Path) -> list[TextCell]:
    """The chapter's texts for the reader, in order; what a student writes is none."""
    return [
        cell for cell in text_cells(path) if cell.cell_type == "markdown" and cell.kind != "written"
    ]


def plain(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def prose_of(cell: TextCell) -> str:
    """The cell's words, line for line: code, formulas, folded text and addresses are blank."""
    return blank(ADDRESS, blank(MARKED, blank(FOLDS, cell.source)))


def letters_of(cell: TextCell) -> str:
    """The cell's formulas and code between backticks, line for line, and chapter numbers."""
    text = blank(FOLDS, cell.source)
    kept = {at for found in MARKED.finditer(text) for at in range(*found.span())}
    kept |= {at for found in KEPT.finditer(text) for at in range(*found.span())}
    return "".join(sign if at in kept or sign == "\n" else " " for at, sign in enumerate(text))


def around(text: str, at: int) -> str:
    """The row of a table, or else the sentence, in which the position `at` stands."""
    row = text[text.rfind("\n", 0, at) + 1 :].split("\n", 1)[0]
    if row.startswith("|"):
        return row
    ends = [end.end() for end in SENTENCE_END.finditer(text)]
    start = max([end for end in ends if end <= at], default=0)
    return text[start : min([end for end in ends if end > at], default=len(text))].strip()


def blank(pattern: re.Pattern[str], text: str) -> str:
    """The text with blanks for what the pattern matches; every line stays where it is."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
