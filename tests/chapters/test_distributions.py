"""Exact distributions of the hidden tests tell right rules from wrong ones without sampling."""

from itertools import starmap

import numpy as np
import pytest

from autograde.chapters.distributions import (
    autoregressive_law,
    pair,
    pieces,
    step_law,
    thousandths,
    token_law,
)
from autograde.grade import known_of, solved
from specdec_lib.lessons.ch02.checks import P, Q
from specdec_lib.lessons.ch02.computed import exact_paths, one_position

CHAPTER = "02_rejection_sampling"
RNG = np.random.default_rng(3)
TARGET, DRAFT = (np.array([thousandths(3, RNG) for _ in range(4)]) for _ in range(2))
# Bugs that change no distribution: a step that ends early.
SAME_LAW = ("a block that is accepted whole", "a rejected token just")


def each(rule):
    """What a rule gives for each of many lists of arguments."""
    return lambda many: starmap(rule, many)


def off(law: np.ndarray, target: np.ndarray) -> float:
    return float(np.abs(law - target).max())


def wrong_ones(exercise: str) -> list:
    """The known bugs of an exercise, as functions that change its distribution."""
    known = known_of(CHAPTER, exercise)
    pairs = zip(known.bugs, known.functions, strict=True)
    return [function for wrong, function in pairs if not wrong.think.startswith(SAME_LAW)]


@pytest.mark.parametrize("seed", range(10))
def test_the_law_of_one_token_is_the_target(seed: int):
    p, q = pair(4, np.random.default_rng(seed))
    law = token_law(each(one_position(solved(CHAPTER).value("speculative_step"))), p, q)
    assert off(law.sum(axis=0), p) < 1e-12 and off(law[0], np.minimum(p, q)) < 1e-12


@pytest.mark.parametrize("k", [1, 2])
def test_the_joint_law_of_three_tokens_is_the_target(k: int):
    target, step = autoregressive_law(TARGET), solved(CHAPTER).value("speculative_step")
    assert target.sum() == pytest.approx(1, abs=1e-12)
    assert off(step_law(each(step), TARGET, DRAFT, k), target) < 1e-12


@pytest.mark.parametrize("wrong", wrong_ones("speculative_step"))
def test_wrong_steps_have_another_law(wrong):
    assert off(step_law(each(wrong), TARGET, DRAFT, 2), autoregressive_law(TARGET)) > 1e-3


def test_the_grid_of_the_lesson_is_exact_for_its_pair():
    law = exact_paths(one_position(solved(CHAPTER).value("speculative_step")), P, Q)
    assert off(law.sum(axis=0), P) < 1e-12
    assert law[0] == pytest.approx(np.minimum(P, Q), abs=1e-12)


def test_pieces_cover_the_unit_interval():
    assert list(pieces(np.array([0.25, 0.25, 1.0]))) == [(0.125, 0.25), (0.625, 0.75)]
