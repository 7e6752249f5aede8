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

import pytest

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
    assert not list(faults(course, TERMS))


def test_a_term_is_in_bold_once_in_a_chapter():
    """Bold says: here the term is introduced."""
    for name in chapter_names():
        words = [word for cell in markdown_of(Chapter(name).source) for word in bold(cell)]
        for term in TERMS:
            found = [word for word in words if re.fullmatch(term.spaced, word)]
            assert len(found) == len(set(found)), f"{name}: {found}"


def test_the_list_names_each_term_once_and_its_phrase_has_the_term():
    assert len({term.term for term in TERMS}) == len(TERMS) > 50
    assert not [term for term in TERMS if not re.search(term.spaced, term.phrase)]


SMALL = """# %% [markdown]
# # 00 Small
#
# You find out what a block is.

# %% [markdown]
# {early}
#
# `blocks`, $block$, [here](block.md); chapter 00 writes blocks.
#
# <details><summary>More</summary>
#
# Blocks.
#
# </details>

# %% [markdown]
# Four tokens are a **block**.
#
# ## Sources
#
# - A paper on trees.
#
# **Next.** {last}

# %%
block = "# a block"
"""
BLOCK = Term("block", r"\b[Bb]locks?\b", "00", "are a **block**")
TREE = Term("tree", r"\b[Tt]rees?\b", "01", "A **tree** has branches")
K = Term("K", r"\bK\b", "01", "so we write `K`", letter=True)


def small_course(folder: Path, early: str = "Read on.", last: str = "Chapter 01.") -> Course:
    """Two made-up chapters; `early` stands above the introduction of a block."""
    first, second = folder / "00_small.py", folder / "01_small.py"
    first.write_text(SMALL.format(early=early, last=last))
    second.write_text("# %% [markdown]\n# A **tree** has branches,\n# so we write\n# `K`.\n")
    return {"00": markdown_of(first), "01": markdown_of(second)}


def test_code_folds_announcements_and_the_head_are_no_uses(tmp_path: Path):
    course = small_course(tmp_path, early="Chapter 01 draws trees of `K + 1`.")
    assert not list(faults(course, [BLOCK, TREE, K]))


@pytest.mark.parametrize(
    "term, written, said",
    [
        (BLOCK, {"early": "It accepts the\n# block."}, "00_small.py:8: `block`"),
        (TREE, {"early": "A tree. Chapter 01 is next."}, "00_small.py:7: `tree`"),
        (TREE, {"last": "Then come trees."}, "`tree`"),
        (K, {"early": "There are $K^2$ of them."}, "00_small.py:7: `K`"),
    ],
)
def test_a_term_that_comes_too_early_is_named_with_its_line(tmp_path, term, written, said):
    (fault,) = faults(small_course(tmp_path, **written), [term])
    assert said in fault
    assert f"introduced by “{term.phrase}”" in fault


def test_an_introduction_that_has_gone_is_a_fault(tmp_path: Path):
    gone = Term("leaf", r"\bleaf\b", "01", "A **leaf** has none")
    (fault,) = faults(small_course(tmp_path), [gone])
    assert "“A **leaf** has none”, which introduces `leaf`, is not in chapter 01" in fault


def faults(course: Course, terms: list[Term]) -> Iterator[str]:
    """What is wrong, a line each: an introduction that is not there, a use before it."""
    for term in terms:
        before = cells_before(course, term)
        if before is None:
            yield (
                f"“{term.phrase}”, which introduces `{term.term}`, is not in chapter "
                f"{term.chapter}. Name in terms.json the sentence that introduces the term now."
            )
        for cell in before or []:
            for line in term.uses_in(cell):
                yield (
                    f"{cell.path.name}:{line}: `{term.term}` is used in “{title(cell)}”. It "
                    f"is introduced by “{term.phrase}”, in chapter {term.chapter}, later on. "
                    "Introduce it earlier, or write the sentence without it."
                )


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


def title(cell: TextCell) -> str:
    """The first line of a cell, which a person finds it by."""
    return cell.source.split("\n", 1)[0].lstrip("# ")[:60]


def plain(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def prose_of(cell: TextCell) -> str:
    """The cell's words, line for line: code, formulas, folded text and addresses are blank."""
    return blank(ADDRESS, blank(MARKED, blank(FOLDS, cell.source)))


def bold(cell: TextCell) -> list[str]:
    """What the cell's words have in bold."""
    return re.findall(r"\*\*([^*\n]+)\*\*", prose_of(cell))


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
