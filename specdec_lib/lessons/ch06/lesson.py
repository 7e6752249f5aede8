"""Chapter 06, the simulator: its examples and the visible checks on them."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from specdec_lib.lessons.ch06 import service
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.comparing import coerce_like
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, record_agreement, visible_check
from specdec_lib.lessons.checking.lending import limit_lines, read_only
from specdec_lib.lessons.checking.tables import check_of, expect_tables
from specdec_lib.theory import expected_tokens

__all__ = ["committed"]

ALPHA = 0.7  # in most of the chapter

TRUTHS = truths_of(__package__, prediction_06_b=expected_tokens(0.8**8, 5))

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


# Two rows at most: drafting pays for one row and not for two.
TWO_ROWS = read_only([[0.0, 0.0, 0.0], [10.0, 12.0, 15.0], [12.0, 22.0, 32.0]])


@visible_check
def check_choose_k(function: Callable) -> None:
    """The calls in checks.toml, and a day of traffic."""
    expect_tables(function, globals(), "choose_k")
    beat_the_best_constant(function, service.DAY, service.gpu(0), best_of_the_day())


@cache
def best_of_the_day() -> service.BestK:
    """The best constant K in the card's day of traffic."""
    return service.best_fixed_k(service.DAY, service.gpu(0))


def checked_k(function: Callable, *args: Any) -> int:
    """What choose_k returns. Raises Different unless it is an int from 0 to K_max."""
    most = args[-1].shape[1] - 1
    try:
        got = function(*args)
    except Exception as error:  # a student's process says what happened, and not in which call
        if happened := getattr(error, "what_happened", ""):
            raise Different(f"{call_of(args)} {happened}.") from None
        raise
    k = coerce_like(1, got)
    if type(k) is not int or not 0 <= k <= most:
        wanted = f"an int from 0 to {most}"
        raise Different(f"{call_of(args)} returned {describe(got)}, expected {wanted}.")
    return k


def call_of(args: Sequence) -> str:
    """The call of choose_k as it can be pasted: a table of the service stands there by its name."""
    *numbers, costs = args
    return f"choose_k({', '.join(map(str, numbers))}, {service.costs_as_code(costs)})"


def p99_of(function: Callable, load: service.Traffic, costs: np.ndarray) -> float:
    """p99 in ms with a student's policy."""
    return service.p99(service.policy(partial(checked_k, function), load.alpha, costs), load, costs)


def beat_the_best_constant(
    function: Callable, load: service.Traffic, costs: np.ndarray, best: service.BestK
) -> None:
    """Raise Different unless p99 with the student's policy is below that of the best constant."""
    yours = p99_of(function, load, costs)
    outcome = f"a p99 of {yours:.0f} ms; the best constant, K = {best.k}, has {best.p99:.0f} ms"
    if yours >= best.p99:
        raise Different(f"In traffic with calm and rush your choose_k gives {outcome}.", ASK)
    record_agreement("choose_k in traffic with calm and rush", outcome)


_TOO_MANY = "ran a million lines of Python: one list of all tokens, best first, needs a few hundred"
limited_spend = partial(limit_lines, 1_000_000, why=_TOO_MANY)
ASK = "Which K gives the most tokens per millisecond for the rows of this step?"

check_mixture_quantile = check_of(globals(), "mixture_quantile")
check_expected_experts = check_of(globals(), "expected_experts")


@visible_check
def check_spend(function: Callable) -> None:
    """The calls in checks.toml, of a function that may try all answers."""
    expect_tables(limited_spend(function), globals(), "spend")
