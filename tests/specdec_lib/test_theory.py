"""The formulas against every pattern of accepted and rejected tokens, written out."""

import math
from itertools import product

import pytest

from specdec_lib.theory import Costs, expected_tokens, walltime_speedup

ALPHAS = [0.0, 0.1, 0.5, 0.62, 0.8, 0.99, 1.0]


def expected_by_enumeration(alpha: float, k: int) -> float:
    """The mean of accepted tokens and one more, over all 2^k patterns of a block."""
    total = 0.0
    for pattern in product((True, False), repeat=k):
        chance = math.prod(alpha if accepted else 1 - alpha for accepted in pattern)
        total += chance * ([*pattern, False].index(False) + 1)
    return total


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("k", range(7))
def test_expected_tokens_is_the_mean_over_all_patterns(k: int, alpha: float):
    assert expected_tokens(alpha, k) == pytest.approx(expected_by_enumeration(alpha, k), abs=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("c", [0.0, 0.05, 0.5])
def test_the_speedup_is_theorem_3_8_if_a_verification_costs_one_pass(c: float, alpha: float):
    for k in range(6):
        expected = expected_by_enumeration(alpha, k) / (c * k + 1)
        assert walltime_speedup(alpha, c, k) == pytest.approx(expected, abs=1e-12)


COSTS = [
    Costs(0.05, {1: 1.0, 2: 1.02, 3: 1.05, 4: 1.05, 5: 1.1, 6: 1.4, 7: 1.5, 8: 1.6, 9: 1.6}),
    Costs(0.3, {1: 1.0, 2: 1.9, 3: 2.8, 4: 3.7}),
    Costs(0.0, {1: 1.0, 3: 1.0, 5: 1.0, 9: 1.3}),  # some were not measured
    Costs(0.1, {9: 1.3, 5: 1.1, 2: 1.0, 1: 1.0}),  # in another order
]


@pytest.mark.parametrize("costs", COSTS)
def test_the_best_k_is_the_one_that_trying_all_finds(costs: Costs):
    chosen = set()
    for step in range(1, 100):
        alpha = step / 100
        tried = {
            m - 1: expected_by_enumeration(alpha, m - 1) / (costs.c * (m - 1) + v)
            for m, v in costs.v.items()
        }
        best = costs.best_k(alpha)
        assert tried[best] == pytest.approx(max(tried.values()), abs=1e-12)
        chosen.add(best)
    assert len(chosen) > 1 or costs.c == 0.0 or costs.v[2] > 1.5


def test_of_equal_speeds_the_smallest_k_is_best():
    assert Costs(c=0.0, v={3: 1.75, 2: 1.5, 1: 1.0}).best_k(0.5) == 0
