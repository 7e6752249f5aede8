"""What the course offers a learner: each promise stands under a heading of its chapter.

`coverage.json` lists the promises by chapter and heading, a sentence each. A heading that is
renamed or removed is thereby asked what became of its promises.
"""

import json
import re
from pathlib import Path

import pytest
from classes.chapter_cases import CHAPTERS, text_of

COVERAGE = json.loads(Path(__file__).with_name("coverage.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_a_chapter_offers_stands_under_a_heading_of_it(chapter: str):
    headings = set(re.findall(r"^# #+ (.+)$", text_of(chapter), re.MULTILINE))
    assert COVERAGE[chapter].keys() <= headings


def test_nothing_is_promised_twice():
    promises = [line for part in COVERAGE.values() for lines in part.values() for line in lines]
    assert len(set(promises)) == len(promises) > 100
