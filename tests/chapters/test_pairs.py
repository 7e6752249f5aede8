"""Right answers of one chapter work together: each of these has full points, and so have any two.

A variant is the solution with one text in place of another, as students write it.
"""

from itertools import combinations

import pytest
from attempts import with_slips
from classes.chapter_cases import judge_each
from data_files import table

VARIANTS = table("variants.toml")


@pytest.mark.parametrize("chapter", VARIANTS)
def test_two_right_answers_of_a_chapter_have_full_points_together(chapter: str):
    rows = [(name, slip) for name, slips in VARIANTS[chapter].items() for slip in slips]
    alone = [{name: with_slips(name, slip)} for name, slip in rows]
    pairs = [one | other for one, other in combinations(alone, 2) if one.keys() != other.keys()]
    for answers, got in zip(alone + pairs, judge_each(chapter, *alone, *pairs), strict=True):
        for name, exercise in got.items():
            assert exercise.messages == [], (name, answers)
