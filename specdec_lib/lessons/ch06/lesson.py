"""Chapter 06, the simulator: its examples and the visible checks on them."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from specdec_lib.lessons.ch06 import service
from specdec_lib.lessons.ch06.computed import quantile, request_law
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.comparing import coerce_like
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, expect, record_agreement, visible_check
from specdec_lib.lessons.checking.lending import ScriptedRandom, read_only
from specdec_lib.theory import expected_tokens

__all__ = ["committed"]

# The setting that most of the chapter works in.
ALPHA, C, K = 0.7, 0.1, 5
# Easy and hard text, half of each: the mean is ALPHA.
EASY, HARD = 0.95, 0.45

# The coins of the three blocks of the first card.
COINS = "a block takes its k with one rng.random(k), and writes a token at least"
THREE_BLOCKS = [0.2, 0.6, 0.9, 0.1, 0.8, 0.1, 0.2, 0.3, 0.5, 0.1, 0.6, 0.4]


def _mixed_p99() -> int:
    """Blocks at p99 of requests of 128 tokens, half of them EASY and half HARD."""
    laws = [request_law(rate, K, 128) for rate in (EASY, HARD)]
    longest = max(map(len, laws))
    return quantile(sum(np.pad(law, (0, longest - len(law))) for law in laws) / 2, 0.99)


# The true values that predictions.toml does not hold.
TRUTHS = truths_of(
    __package__,
    prediction_06=_mixed_p99(),
    prediction_06_b=expected_tokens(0.8**8, 5),
)

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


@visible_check
def check_simulate_decode(function: Callable) -> None:
    """The run of the card, one that ends just on its number, and one that has nothing to do."""
    hint = "Blocks of 2 + 1, 0 + 1 and 4 + 1 tokens, of four new coins each, at 4 x 0.1 + 1 each."
    gives = {"tokens": 9, "target_passes": 3, "time": 4.2}
    asks = [
        (gives | {"tokens": 8}, "A block that is accepted whole writes a bonus token, too."),
        (gives | {"tokens": 7}, "All tokens of the last block count."),
    ]
    for most in (7, 8):
        rng = ScriptedRandom(*THREE_BLOCKS, why=COINS)
        expect(function, ALPHA, C, 4, most, rng, gives=gives, hint=hint, asks=asks)
        asks = []  # for 8 tokens both give 8
    hint = "The first two blocks write 3 + 1 tokens, which is enough."
    gives = {"tokens": 4, "target_passes": 2, "time": 2.8}
    expect(
        function, ALPHA, C, 4, 4, ScriptedRandom(*THREE_BLOCKS, why=COINS), gives=gives, hint=hint
    )
    hint = "No token is wanted, so no block is needed."
    gives = {"tokens": 0, "target_passes": 0, "time": 0.0}
    expect(function, ALPHA, C, 4, 0, ScriptedRandom(why=COINS), gives=gives, hint=hint)


@visible_check
def check_lockstep_tokens(function: Callable) -> None:
    """The number of the card, one row alone, four rows, and four that accept everything."""
    hint = "Both rows pass with 0.5 x 0.5, and one token is written in any case."
    expect(function, 0.5, 1, 2, gives=1.25, hint=hint)
    hint = "One row waits for nobody: 1 + 0.8 + 0.64."
    expect(function, 0.8, 2, 1, gives=2.44, hint=hint)
    hint = "The batch gets past position i only if all four rows do."
    expect(function, 0.8, 2, 4, gives=1 + 0.8**4 + 0.8**8, hint=hint)
    expect(function, 1.0, 3, 4, gives=4.0, hint="At alpha = 1 every row writes k + 1 tokens.")


@visible_check
def check_mixture_quantile(function: Callable) -> None:
    """The requests of the card, two shares of unequal kinds, a tie, and a single kind."""
    laws = [np.array([0, 1.0]), np.array([0, 0, 0.5, 0, 0.5])]
    hint = "1 block for half of all requests, 2 for a quarter, 4 for a quarter."
    asks = [(4, "Does the slowest kind decide alone? It makes only half of the requests.")]
    expect(function, laws, [0.5, 0.5], 0.7, gives=2, hint=hint, asks=asks)
    asks = [(4, "0.75 of all take 2 blocks or fewer, and a share of exactly 0.75 is enough.")]
    expect(function, laws, [0.5, 0.5], 0.75, gives=2, hint=hint, asks=asks)
    hint = "1 block for 0.25 of all requests, 2 for 0.375, 4 for 0.375."
    asks = [
        (wrong, "Did you average the kinds' own quantiles? Mix them first.") for wrong in (3, 3.25)
    ]
    expect(function, laws, [0.25, 0.75], 0.8, gives=4, hint=hint, asks=asks)
    hint = "Of all requests, 0.1 x 0.5 = 0.05 take 4 blocks. So 0.95 take 2 or fewer."
    expect(function, laws, [0.9, 0.1], 0.94, gives=2, hint=hint)
    hint = "Half of all requests take 1 block, which is exactly the share."
    expect(function, laws, [0.5, 0.5], 0.5, gives=1, hint=hint)
    hint = "Eight of ten equal parts, n = 0 to 7: eight floats of 0.1 add up to a little under 0.8."
    expect(function, [np.full(10, 0.1)], [1.0], 0.8, gives=7, hint=hint)


# Two rows at most: drafting pays for one row and not for two.
TWO_ROWS = read_only([[0.0, 0.0, 0.0], [10.0, 12.0, 15.0], [12.0, 22.0, 32.0]])
# Drafting pays for two rows, and for one it does not.
TURNED = read_only([[0.0, 0.0, 0.0], [10.0, 20.0, 30.0], [30.0, 32.0, 34.0]])


@visible_check
def check_choose_k(function: Callable) -> None:
    """The steps of the card, a server with the opposite costs, and a day of traffic."""
    hint = "One row: 10 ms, 8 ms and 8.6 ms for each of its tokens."
    expect(function, 0, 1, 0.5, TWO_ROWS, gives=1, hint=hint)
    hint = "Two rows, the waiting one too: 12, 14.7 and 18.3 ms for each token of a row."
    expect(function, 1, 1, 0.5, TWO_ROWS, gives=0, hint=hint)
    hint = "There is room for two rows, and six requests go on waiting. K is 0 or 1 here."
    expect(function, 7, 1, 0.5, TWO_ROWS[:, :2], gives=0, hint=hint)
    hint = (
        "Two rows: 30, 21.3 and 19.4 ms for each token of a row. With these costs a full server "
        "drafts, also while a request waits."
    )
    expect(function, 2, 1, 0.5, TURNED, gives=2, hint=hint)
    hint = "No draft token is ever accepted."
    expect(function, 0, 1, 0.0, TWO_ROWS, gives=0, hint=hint)
    beat_the_best_constant(function, service.DAY, service.gpu(0), best_of_the_day())


@cache
def best_of_the_day() -> service.Best:
    """The best constant K in the card's day of traffic."""
    return service.best_constant(service.DAY, service.gpu(0))


@visible_check
def check_expected_experts(function: Callable) -> None:
    """Two tokens, five, none, a model that uses all its experts, and a large one."""
    hint = "The second token also chooses 2 of 8; on average 0.5 of them were chosen already."
    asks = [(8 * (1 - 0.875**4), "The two experts of one token are different ones.")]
    expect(function, 2, 8, 2, gives=3.5, hint=hint, asks=asks)
    hint = "An expert is left out by one token with 0.75, and by all five with 0.75^5 = 0.237."
    expect(function, 5, 8, 2, gives=8 * (1 - 0.75**5), hint=hint)
    expect(function, 0, 8, 2, gives=0.0, hint="No token chooses no expert.")
    expect(function, 3, 4, 4, gives=4.0, hint="Every token chooses all four.")
    hint = "Two tokens of 8 among 128: on average they share half an expert."
    expect(function, 2, 128, 8, gives=15.5, hint=hint)


# The step of the card.
CARD = [[0.5, 0.9], [0.9, 0.8]]
CARD_MS = [10.0, 10.0, 10.0, 10.0, 11.0, 14.0, 17.0]


@visible_check
def check_spend(function: Callable) -> None:
    """The step of the card, passes that cost nothing or much, an empty row."""
    hint = "Three draft tokens are free: those accepted with 0.9, 0.72 and 0.5."
    asks = [([1, 1], "Is it one number for all rows? Each row has its own.")]
    expect(function, CARD, [*[10.0] * 6, 17.0], gives=[1, 2], hint=hint, asks=asks)
    hint = "With two tokens of row 1 the pass writes 3.62 tokens in 11 ms, the best of all."
    asks = [([1, 1], "A token counts only if those before it in its row are accepted, too.")]
    expect(function, CARD, CARD_MS, gives=[0, 2], hint=hint, asks=asks)
    hint = "All passes take the same time, so every token is worth its place."
    expect(function, CARD, [10.0] * 7, gives=[2, 2], hint=hint)
    hint = "Each token of the pass takes 10 ms, and a draft token writes less than one token."
    expect(function, CARD, [10.0 * n for n in range(7)], gives=[0, 0], hint=hint)
    hint = "Row 0 has drafted nothing. One draft token is free: the first of row 2, with 0.35."
    rows, free = [[], [0.3, 0.9], [0.35]], [*[10.0] * 5, 14.0, 18.0]
    expect(function, rows, free, gives=[0, 0, 1], hint=hint)


def choice(function: Callable, *args: Any) -> int:
    """What choose_k returns. Raises Different unless it is an int from 0 to K_max."""
    got, most = function(*args), args[-1].shape[1] - 1
    k = coerce_like(1, got)
    if type(k) is not int or not 0 <= k <= most:
        wanted = f"an int from 0 to {most}"
        raise Different(f"{asked_of(args)} returned {describe(got)}, expected {wanted}.")
    return k


def asked_of(args: Sequence) -> str:
    """The call of choose_k as it can be pasted: a table of the service stands there by its name."""
    *numbers, costs = args
    return f"choose_k({', '.join(map(str, numbers))}, {service.name_of(costs)})"


def p99_of(function: Callable, load: service.Traffic, costs: np.ndarray) -> float:
    """p99 in ms with a student's policy."""
    asked = partial(choice, function)
    return service.p99(service.policy(asked, load.alpha, costs), load, costs)


def beat_the_best_constant(
    function: Callable, load: service.Traffic, costs: np.ndarray, best: service.Best
) -> None:
    """Raise Different unless p99 with the student's policy is below that of the best constant."""
    yours = p99_of(function, load, costs)
    outcome = f"a p99 of {yours:.0f} ms; the best constant, K = {best.k}, has {best.p99:.0f} ms"
    if yours >= best.p99:
        raise Different(f"In traffic with calm and rush your choose_k gives {outcome}.", ASK)
    record_agreement("choose_k in traffic with calm and rush", outcome)


ASK = "Which K gives the most tokens per millisecond for the rows of this step?"
