"""Chapters 00 to 06 are short enough for one evening each: their prose has its bound."""

import re

import nbformat
import pytest
from classes.chapter_cases import CHAPTERS

from autograde.chapter import Chapter

MOST = 3000  # words
# What is not read from top to bottom: folds, code, formulas and tables.
ELSEWHERE = re.compile(
    r"<details>.*?</details>|```.*?```|\$\$.*?\$\$|^\|.*?$", re.DOTALL | re.MULTILINE
)
WORD = re.compile(r"[A-Za-z][\w’'-]*")


@pytest.mark.parametrize("chapter", CHAPTERS[:7])
def test_a_chapter_has_at_most_3000_words(chapter: str):
    cells = nbformat.read(Chapter(chapter).release, as_version=4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    words = WORD.findall(re.sub(r"<[^>]+>", "", ELSEWHERE.sub("", "\n\n".join(texts))))
    assert 2000 < len(words) <= MOST
