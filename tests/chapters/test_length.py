"""The chapters that are short enough for one evening: their prose has its bound."""

import re

import nbformat
import pytest
from classes.chapter_cases import CHAPTERS

from autograde.chapter import Chapter

MOST = 2200  # words
# What is not read from top to bottom: folds, code, formulas and tables.
ELSEWHERE = re.compile(
    r"<details>.*?</details>|```.*?```|\$\$.*?\$\$|^\|.*?$", re.DOTALL | re.MULTILINE
)
TAG = re.compile(r"</?[A-Za-z][^>]*>")  # and no "<" of a comparison, which hides what follows
WORD = re.compile(r"[A-Za-z][\w’'-]*")


def count_words(text: str) -> int:
    """The words that are read from top to bottom."""
    return len(WORD.findall(TAG.sub("", ELSEWHERE.sub("", text))))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_can_be_read_in_one_evening(chapter: str):
    cells = nbformat.read(Chapter(chapter).release, as_version=4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert count_words("\n\n".join(texts)) <= MOST
