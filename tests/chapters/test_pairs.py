"""Right answers of one chapter work together: each of these has full points, and so have any two.

A variant is the solution with one text in place of another, as students write it.
"""

from collections.abc import Callable
from itertools import combinations

import pytest
from attempts import with_slips
from classes.chapter_cases import judge_each
from data_files import table

VARIANTS = table("variants.toml")


def alone(chapter: str) -> list[dict[str, str]]:
    """Each variant of the chapter, as the only answer that is not the solution's."""
    rows = [(name, slip) for name, slips in VARIANTS[chapter].items() for slip in slips]
    return [{name: with_slips(name, slip)} for name, slip in rows]


def pairs(chapter: str) -> list[dict[str, str]]:
    """Any two variants of different exercises."""
    every = combinations(alone(chapter), 2)
    return [one | other for one, other in every if one.keys() != other.keys()]


@pytest.mark.parametrize("answers_of", [alone, pytest.param(pairs, marks=pytest.mark.slow)])
@pytest.mark.parametrize("chapter", VARIANTS)
def test_right_answers_of_a_chapter_have_full_points_together(chapter: str, answers_of: Callable):
    variants = answers_of(chapter)
    for answers, got in zip(variants, judge_each(chapter, *variants), strict=True):
        for name, exercise in got.items():
            assert exercise.messages == [], (name, answers)
