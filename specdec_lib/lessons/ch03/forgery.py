"""What an impostor has to do: hide from 200,000 samples, and be seen by counting."""

import math
from typing import NamedTuple

import numpy as np

from specdec_lib.lessons.ch03.computed import counted, noise, sample
from specdec_lib.lessons.ch03.rules import Rule
from specdec_lib.lessons.common.describing import describe, type_name
from specdec_lib.lessons.common.distributions import distance_of, total_variation
from specdec_lib.lessons.common.examples import Different
from specdec_lib.lessons.common.lending import fixed

# On this pair every ratio p/q, q/p and residual is a multiple of 1/64.
GRID_P = fixed([0.375, 0.25, 0.125, 0.25])
GRID_Q = fixed([0.1875, 0.5, 0.0625, 0.25])

DRAWS = 200_000
FLOOR = noise(GRID_P, DRAWS)  # the mean distance of 200,000 perfect draws to GRID_P
FLOOR_SAID = f"{math.floor(1e5 * FLOOR) / 1e5:.5f}"  # never more than FLOOR, as the card says it
ALARM = 2 * FLOOR  # from here on the sampling check calls a rule an impostor
LEAST, LARGE = 0.0003, 0.0012  # biases that earn more


class Forgery(NamedTuple):
    """What is known of a rule on GRID_P and GRID_Q: total variations to the target."""

    counted: float  # in the middles of 64 by 64 squares
    apart: float  # between that count and those near the squares' corners, in another order
    seen: float  # of 200,000 samples


def examined(rule: Rule, seed: int = 0) -> Forgery:
    """Count and sample `rule`. Raises Different if it returns anything but N tokens."""
    rule = _tokens_only(rule)
    middles = counted(rule, GRID_P, GRID_Q)
    off = [counted(_reordered(rule), GRID_P, GRID_Q, place=place) for place in (0.05, 0.95)]
    tokens = sample(rule, GRID_P, GRID_Q, DRAWS, np.random.default_rng(seed))
    return Forgery(
        total_variation(middles, GRID_P),
        max(total_variation(middles, each) for each in off),
        distance_of(tokens, GRID_P),
    )


def fault_of(forgery: Forgery) -> str | None:
    """Why a rule is no hidden impostor; None if it is one."""
    if forgery.apart > 1e-12:
        return (
            "Asked off the middle of each square, and in another order, it has another law, "
            f"{forgery.apart:.2g} away. Let each token depend on its own draft token, r and u "
            "alone, and compare r and u with multiples of 1/64 only."
        )
    if forgery.counted < 1e-12:
        return (
            "Counting finds the law p, so nothing is forged. Write another token in a few squares."
        )
    if forgery.counted > FLOOR:
        return (
            f"Counted, it is {forgery.counted:.5f} from p. That is more than {FLOOR_SAID}, the "
            f"noise of {DRAWS:,} samples, so sampling can see it."
        )
    if forgery.seen > ALARM:
        return (
            f"{DRAWS:,} samples are {forgery.seen:.4f} from p. The check raises its alarm at "
            f"{ALARM:.4f}."
        )
    return None


def short_of(forgery: Forgery, bias: float) -> str | None:
    """What to say of a hidden bias below `bias`; None if it is as large."""
    if forgery.counted >= bias:
        return None
    return (
        f"It hides, with a bias of {forgery.counted:.5f}. Expected at least {bias}, and at most "
        f"{FLOOR_SAID}. How many more squares may it take?"
    )


def _reordered(rule: Rule) -> Rule:
    """`rule`, asked with each array a third further on: a token's place must not matter."""

    def called(p, q, *given):
        third = len(given[0]) // 3
        return np.roll(rule(p, q, *(np.roll(each, third) for each in given)), -third)

    return called


def _tokens_only(rule: Rule) -> Rule:
    """`rule`, with Different if it returns anything but one token for each draft token.

    A list or whole numbers as floats will do: they are tokens, whatever holds them.
    """

    def checked(p, q, tokens, r, u):
        out = rule(p, q, tokens, r, u)
        got = np.asarray(out) if isinstance(out, np.ndarray | list | tuple) else np.array(None)
        numbers = got.shape == tokens.shape and got.dtype.kind in "iuf"
        if not numbers or (got != np.trunc(got)).any() or got.min() < 0 or got.max() >= len(p):
            between = f" from {got.min():g} to {got.max():g}" if numbers else ""
            raise Different(
                f"impostor(p, q, tokens, r, u) returned {describe(out)}, {type_name(out)}{between}"
                f", expected an array of {len(tokens):,} whole numbers from 0 to {len(p) - 1}."
            )
        return got.astype(np.int64)

    return checked
