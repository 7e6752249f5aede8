"""Exact distributions of the hidden tests tell right rules from wrong ones without sampling."""

from itertools import starmap

import numpy as np
import pytest

from autograde.chapters.distributions import pair, pieces, token_law
from autograde.grade import known_of, solved
from specdec_lib.lessons.ch02.checks import P, Q
from specdec_lib.lessons.ch02.computed import exact_paths, one_position

CHAPTER = "02_rejection_sampling"


def each(step):
    """What a step of one draft token gives for each of many lists of arguments."""
    return lambda many: starmap(one_position(step), many)


def off(law: np.ndarray, target: np.ndarray) -> float:
    return float(np.abs(law - target).max())


def from_target():
    """The known bug that draws the correction from the target."""
    known = known_of(CHAPTER, "speculative_step")
    pairs = zip(known.bugs, known.functions, strict=True)
    return next(function for bug, function in pairs if "drawn from the target" in bug.think)


@pytest.mark.parametrize("seed", range(10))
def test_the_law_of_one_token_is_the_target(seed: int):
    p, q = pair(4, np.random.default_rng(seed))
    law = token_law(each(solved(CHAPTER).value("speculative_step")), p, q)
    assert off(law.sum(axis=0), p) < 1e-12 and off(law[0], np.minimum(p, q)) < 1e-12


def test_a_wrong_rule_has_another_law():
    law = token_law(each(from_target()), P, Q).sum(axis=0)
    np.testing.assert_allclose(law, [0.39, 0.36, 0.18, 0.07], atol=1e-12)


def test_the_grid_of_the_lesson_is_exact_for_its_pair():
    law = exact_paths(one_position(solved(CHAPTER).value("speculative_step")), P, Q)
    assert off(law.sum(axis=0), P) < 1e-12
    assert law[0] == pytest.approx(np.minimum(P, Q), abs=1e-12)


def test_pieces_cover_the_unit_interval():
    assert list(pieces(np.array([0.25, 0.25, 1.0]))) == [(0.125, 0.25), (0.625, 0.75)]
