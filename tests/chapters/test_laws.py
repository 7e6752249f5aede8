"""The exact laws of the hidden tests tell right rules from ten wrong ones, without sampling."""

from collections.abc import Callable
from itertools import starmap

import numpy as np
import pytest

from autograde.chapters import ch02_wrong as wrong
from autograde.chapters.distributions import (
    Answers,
    autoregressive_law,
    pairs,
    pieces,
    step_law,
    token_law,
)
from autograde.chapters.numbers.ch02_numbers import DRAFT, TARGET, P, Q
from specdec_lib.lessons.ch02.computed import exact_law
from specdec_lib.sampling import sample_from


def right_token(p, q, token, r, u):
    kept = p[token] > 0 and r <= wrong._ratio(p, q, token)
    return (token, True) if kept else (sample_from(wrong._residual(p, q), u), False)


def right_step(draft_tokens, p, q, r, u):
    k = len(draft_tokens)
    kept = wrong._kept(draft_tokens, p, q, r)
    n = len(kept)
    return [*kept, sample_from(wrong._residual(p[n], q[n]) if n < k else p[k], u)]


def each(rule: Callable) -> Answers:
    """What a rule gives for each of many lists of arguments."""
    return lambda many: starmap(rule, many)


def off(law: np.ndarray, target: np.ndarray) -> float:
    return float(np.abs(law - target).max())


@pytest.mark.parametrize("seed", range(20))
def test_one_token_law_is_the_target(seed: int):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
    law = token_law(each(right_token), p, q)
    assert off(law.sum(axis=0), p) < 1e-12 and off(law[0], np.minimum(p, q)) < 1e-12


@pytest.mark.parametrize("k", [1, 2])
def test_joint_law_of_three_tokens_is_the_target(k: int):
    target = autoregressive_law(TARGET)
    assert target.sum() == pytest.approx(1, abs=1e-12)
    assert off(step_law(each(right_step), TARGET, DRAFT, k), target) < 1e-12


WRONG_RULES = (
    *("replaced_from_target", "replaced_from_draft", "replaced_by_argmax", "residual_sign_flipped"),
    *("replaced_by_residual_argmax", "replaced_without_coin"),
)
WRONG_STEPS = (
    *("stale_bonus_row", "bonus_from_draft", "step_replaced_from_target", "residual_of_first_row"),
    *("correction_from_last_row", "rest_of_the_draft_kept", "rejected_token_written"),
)


@pytest.mark.parametrize("name", WRONG_RULES)
def test_wrong_rules_have_another_law(name: str):
    assert off(token_law(each(getattr(wrong, name)), P, Q).sum(axis=0), P) > 1e-3


@pytest.mark.parametrize("name", WRONG_STEPS)
def test_wrong_steps_have_another_law(name: str):
    law = step_law(each(getattr(wrong, name)), TARGET, DRAFT, 2)
    assert off(law, autoregressive_law(TARGET)) > 1e-3


def test_figures_of_the_errata():
    """The numbers that the chapter prints for two of its errata."""
    law = token_law(each(wrong.replaced_from_target), P, Q).sum(axis=0)
    assert exact_law(wrong.replaced_from_target, P, Q).sum(axis=0) == pytest.approx(law, abs=1e-12)
    assert law == pytest.approx([0.39, 0.36, 0.18, 0.07], abs=1e-12)
    anew = np.minimum(P, Q) / np.minimum(P, Q).sum()
    assert anew == pytest.approx([0.375, 0.375, 0.1875, 0.0625], abs=1e-12)
    no_coin = token_law(each(wrong.replaced_without_coin), P, Q).sum(axis=0)
    assert no_coin == pytest.approx([0.7875, 0, 0, 0.2125], abs=1e-12)


def test_grid_of_the_lesson_is_exact_for_its_pair():
    law = exact_law(right_token, P, Q)
    assert off(law.sum(axis=0), P) < 1e-12
    assert law[0] == pytest.approx(np.minimum(P, Q), abs=1e-12)
    assert off(exact_law(wrong.replaced_from_target, P, Q).sum(axis=0), P) > 1e-3


def test_pieces_cover_the_unit_interval():
    assert list(pieces(np.array([0.25, 0.25, 1.0]))) == [(0.125, 0.25), (0.625, 0.75)]


def test_random_pairs_can_be_read_in_a_message():
    for size, pair in zip((2, 40, 900), pairs(2, 40, 900, seed=1), strict=True):
        for probs in pair:
            assert probs.shape == (size,) and probs.min() > 0 and probs.sum() == pytest.approx(1)
            assert all(len(repr(float(x))) <= 5 for x in probs)
