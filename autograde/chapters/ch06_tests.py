"""Hidden tests of chapter 06. Points attach to behaviours; see autograde/check.py."""

import functools
from typing import Any

import numpy as np
import pytest

from autograde.chapters.common import expect, expect_form, no_warning, prediction, quiz
from autograde.chapters.laws import LARGEST
from autograde.check import Exercise, RemoteObject, untouched
from specdec_lib.lessons.ch06 import checks as lesson
from specdec_lib.lessons.ch06 import quizzes, service
from specdec_lib.lessons.ch06.checks import Coins, run_of
from specdec_lib.lessons.common.comparing import difference, in_form_of
from specdec_lib.lessons.common.describing import describe, format_call
from specdec_lib.lessons.common.examples import Different
from specdec_lib.lessons.common.lending import fixed


class RemoteCoins(Coins, RemoteObject):
    """Written-down numbers, lent to a student's function as a generator, which are counted.

    A copy begins again: known wrong answers are called with a copy of what the student was given.
    """

    def __init__(self, numbers: list[float]) -> None:
        Coins.__init__(self, numbers)
        RemoteObject.__init__(self, self, "random()")

    @property
    def trace(self) -> int:
        """How many numbers were taken, for telling wrong answers apart."""
        return self.used

    def __deepcopy__(self, memo: dict) -> "RemoteCoins":
        return RemoteCoins(self.numbers)


class Seeded(np.random.Generator):
    """A real generator; a copy begins again."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.seed = seed

    def __deepcopy__(self, memo: dict) -> "Seeded":
        return Seeded(self.seed)

    def __repr__(self) -> str:
        return f"np.random.default_rng({self.seed})"


test_prediction = prediction("prediction_06", 0.1, 6)
test_prediction_b = prediction("prediction_06_b", 20, 200)
test_prediction_c = prediction("prediction_06_c", 0, 6)
test_prediction_d = prediction("prediction_06_d", 0.1, 20)
test_quiz = quiz(quizzes.quiz_06)
test_quiz_b = quiz(quizzes.quiz_06_b)


simulate_block = Exercise("simulate_block")


def check_block(student, alpha, r, gives, hint, compare=expect):
    coins = np.array(r, dtype=float)
    compare(student.simulate_block, alpha, len(r), coins, gives=gives, hint=hint)


@simulate_block.behaviour("stops at the first coin that fails")
@pytest.mark.parametrize(
    "r, gives",
    [
        ([0.2, 0.6, 0.9, 0.1, 0.3], 2),
        ([0.9, 0.1, 0.1, 0.1], 0),
        ([0.1, 0.9, 0.1, 0.1], 1),
        ([0.1, 0.2, 0.3, 0.9], 3),
        ([0.9, 0.9, 0.9], 0),
        ([0.1, 0.8, 0.1, 0.8, 0.1, 0.1, 0.1], 1),
    ],
)
def test_block_stops(student, r, gives):
    hint = (
        "Count the coins before the first that fails: not that one, none behind it, and no "
        "correction token."
    )
    check_block(student, 0.7, r, gives, hint)


@simulate_block.behaviour("accepts below alpha, for any alpha")
@pytest.mark.parametrize(
    "alpha, gives", [(0.05, 0), (0.15, 1), (0.25, 2), (0.35, 3), (0.45, 4), (0.95, 5)]
)
def test_block_by_alpha(student, alpha, gives):
    hint = "A coin passes where it is below alpha."
    check_block(student, alpha, [0.1, 0.2, 0.3, 0.4, 0.9], gives, hint)


@simulate_block.behaviour("a block accepted whole gives k, without the bonus")
@pytest.mark.parametrize("k, alpha", [(1, 0.5), (2, 0.5), (5, 0.5), (9, 0.5), (9, 0.41)])
def test_block_whole(student, k, alpha):
    hint = "Counted are accepted draft tokens: all of them here, and no bonus token."
    check_block(student, alpha, [0.4] * k, k, hint)
    check_block(student, alpha, [0.4] * (k - 1) + [0.99], k - 1, hint)


@simulate_block.behaviour("the edges: alpha 0 and 1, a coin on alpha, an empty block")
@pytest.mark.parametrize(
    "alpha, r, gives",
    [
        (0.5, [0.25, 0.5, 0.25], 1),
        (0.0, [0.0, 0.0], 0),
        (1.0, [LARGEST, LARGEST, 0.0], 3),
        (0.5, [0.0, 0.0, LARGEST], 2),
        (0.7, [], 0),
        (np.float64(0.5), [0.25, 0.75], 1),
    ],
    ids=["on alpha", "alpha=0", "alpha=1", "r=0", "k=0", "NumPy scalar"],
)
def test_block_edges(student, alpha, r, gives):
    hint = "Accepted is r < alpha, so that a coin of 0 is rejected at alpha = 0."
    check_block(student, alpha, r, gives, hint, expect_form)
    no_warning(student)
    untouched(student)


simulate_decode = Exercise("simulate_decode")
every_token = simulate_decode.behaviour("counts every token, the last one of each block too")
fresh_numbers = simulate_decode.behaviour("k new numbers of the given generator for each block")

# Three blocks of four: 2 + 1, 0 + 1 and 4 + 1 tokens at alpha = 0.75; then 1 + 1 and 3 + 1.
STREAM = [
    *(0.25, 0.5, 0.875, 0.125),
    *(0.8, 0.1, 0.2, 0.3),
    *(0.5, 0.1, 0.6, 0.4),
    *(0.7, 0.9, 0.0, 0.0),
    *(0.1, 0.2, 0.3, 0.9),
]


def check_decode(student, alpha, c, k, n_tokens, numbers, gives, hint, compare=expect):
    """One run on written-down numbers; `gives` is (tokens, target_passes, time)."""
    args = (alpha, c, k, n_tokens, RemoteCoins(numbers))
    compare(student.simulate_decode, *args, gives=run_of(*gives), hint=hint)


def check_counts(student, alpha, c, k, n_tokens, rng, gives, hint):
    """Tokens and target passes alone: the time has a behaviour of its own."""

    @functools.wraps(student.simulate_decode)
    def counts(*args):
        run = student.simulate_decode(*args)
        return {n: run.get(n) for n in ("tokens", "target_passes")} if type(run) is dict else run

    gives = {"tokens": gives[0], "target_passes": gives[1]}
    expect(counts, alpha, c, k, n_tokens, rng, gives=gives, hint=hint)


def passes_of(student, *args):
    """A run of the student's, and its own number of target passes. Different if there is none."""
    run = student.simulate_decode(*args)
    passes = in_form_of(1, run.get("target_passes")) if type(run) is dict else None
    if type(passes) is not int or passes < 1:
        call = format_call(student.simulate_decode, args)
        raise Different(f"{call} returned {describe(run)}, which has no number of target passes.")
    return run, passes


@every_token
@pytest.mark.parametrize(
    "n_tokens, gives",
    [
        (1, (3, 1, 1.5)),
        (3, (3, 1, 1.5)),
        (4, (4, 2, 3.0)),
        (9, (9, 3, 4.5)),
        (11, (11, 4, 6.0)),
        (15, (15, 5, 7.5)),
    ],
)
def test_decode_counts(student, n_tokens, gives):
    hint = (
        "A block writes its accepted tokens and one more: the correction after a rejection, the "
        "bonus after none."
    )
    check_counts(student, 0.75, 0.125, 4, n_tokens, RemoteCoins(STREAM), gives, hint)


@every_token
@pytest.mark.parametrize("seed, alpha, k", [(1, 0.6, 3), (2, 0.9, 8), (3, 0.3, 5)])
def test_decode_with_a_real_generator(student, seed, alpha, k):
    gives = reference(alpha, 0.25, k, 50, np.random.default_rng(seed))
    hint = "Did you draw from the generator that was given, and only rng.random(k) a block?"
    check_counts(student, alpha, 0.25, k, 50, Seeded(seed), gives, hint)


@simulate_decode.behaviour("whole blocks until there are enough")
@pytest.mark.parametrize(
    "n_tokens, gives",
    [(2, (3, 1, 1.5)), (5, (9, 3, 4.5)), (8, (9, 3, 4.5)), (10, (11, 4, 6.0)), (12, (15, 5, 7.5))],
)
def test_decode_is_uncut(student, n_tokens, gives):
    hint = "The last block counts with all of its tokens, and there is none after it."
    check_counts(student, 0.75, 0.125, 4, n_tokens, RemoteCoins(STREAM), gives, hint)


@simulate_decode.behaviour("the time of every block is c k + 1")
@pytest.mark.parametrize("c, k", [(0.0, 4), (0.125, 4), (0.5, 4), (0.25, 2), (1.0, 1)])
def test_decode_time(student, c, k):
    args = (0.75, c, k, 9, RemoteCoins(STREAM))
    run, passes = passes_of(student, *args)
    if difference(run.get("time"), passes * (c * k + 1), form=False) is not None:
        call = format_call(student.simulate_decode, args)
        raise Different(
            f"{call} returned {describe(run)}; {passes} blocks take {passes * (c * k + 1):g}. "
            "Drafting costs c a draft token, drafted and not accepted, and the target 1 a block."
        )


@fresh_numbers
@pytest.mark.parametrize("k, n_tokens", [(4, 9), (2, 9), (4, 3), (5, 12)])
def test_decode_draws(student, k, n_tokens):
    coins = RemoteCoins(STREAM)
    args = (0.75, 0.25, k, n_tokens, coins)
    _, blocks = passes_of(student, *args)
    if coins.used != k * blocks:
        raise Different(
            f"{format_call(student.simulate_decode, args)} took {coins.used} numbers from the "
            f"generator for {blocks} blocks of {k} draft tokens, expected {k * blocks}. Each block "
            "takes rng.random(k) of the generator that was given, all k, also if it stops early."
        )


@simulate_decode.behaviour("the edges: nothing wanted, alpha 0 and 1")
@pytest.mark.parametrize(
    "alpha, k, n_tokens, numbers, gives",
    [
        (0.75, 4, 0, [], (0, 0, 0.0)),
        (0.0, 4, 3, [0.1] * 12, (3, 3, 6.0)),
        (1.0, 4, 10, [LARGEST] * 8, (10, 2, 4.0)),
        (1.0, 4, 11, [LARGEST] * 12, (15, 3, 6.0)),
        (0.75, 0, 9, [], (9, 9, 9.0)),
        (np.float64(0.5), np.int64(2), np.int64(3), [0.1, 0.2], (3, 1, 1.5)),
    ],
    ids=["n=0", "alpha=0", "alpha=1, full", "alpha=1, one more", "k=0", "NumPy scalars"],
)
def test_decode_edges(student, alpha, k, n_tokens, numbers, gives):
    hint = "At alpha = 0 a block writes its correction, at alpha = 1 k tokens and the bonus."
    check_decode(student, alpha, 0.25, k, n_tokens, numbers, gives, hint, expect_form)
    no_warning(student)


def reference(alpha: float, c: float, k: int, n_tokens: int, rng: Any) -> tuple:
    """(tokens, target_passes, time) by another route: the coins of each block as a run length."""
    tokens = passes = 0
    while tokens < n_tokens:
        passed = np.append(rng.random(k) < alpha, False)
        tokens += int(np.argmin(passed)) + 1
        passes += 1
    return tokens, passes, passes * (c * k + 1)


mixture_quantile = Exercise("mixture_quantile")
EASY, HARD, SLOW = [0, 0.5, 0.25, 0.25], [0, 0, 0, 0.5, 0.25, 0.25], [0, 0, 0, 0, 0, 0, 0.5, 0.5]
NEVER = [0, 1.0]


def quantile_by_hand(laws, weights, share):
    """By another route: from the largest number down, while enough requests are left below it."""
    n = max(map(len, laws)) - 1
    while sum(w * sum(law[:n]) for w, law in zip(weights, laws, strict=True)) >= share:
        n -= 1
    return n


def check_mixture(student, laws, weights, share, hint, compare=expect):
    gives = quantile_by_hand(laws, weights, share)
    laws = [np.array(law, dtype=float) for law in laws]
    compare(student.mixture_quantile, laws, weights, share, gives=gives, hint=hint)


@mixture_quantile.behaviour("of all requests together, not of each kind")
@pytest.mark.parametrize(
    "laws, share",
    [
        ([EASY, HARD], 0.99),
        ([EASY, HARD], 0.7),
        ([EASY, HARD], 0.3),
        ([EASY, SLOW], 0.8),
        ([HARD, EASY], 0.9),
        ([HARD, SLOW], 0.6),
    ],
)
def test_mixture_together(student, laws, share):
    hint = "Add the kinds first, each by its weight. Then look for the number of blocks."
    check_mixture(student, laws, [0.5, 0.5], share, hint)


@mixture_quantile.behaviour("weighs every kind")
@pytest.mark.parametrize(
    "laws, weights, share",
    [
        ([EASY, HARD], [0.75, 0.25], 0.7),
        ([EASY, HARD], [0.25, 0.75], 0.7),
        ([EASY, HARD, SLOW], [0.5, 0.375, 0.125], 0.9),
        ([EASY, HARD, SLOW], [0.96875, 0.0, 0.03125], 0.95),
        ([SLOW, EASY], [0.0078125, 0.9921875], 0.99),
        ([EASY, SLOW], [0.9375, 0.0625], 0.99),
    ],
)
def test_mixture_weighs(student, laws, weights, share):
    hint = "A kind with a small weight makes few of all requests, also of the slow ones."
    check_mixture(student, laws, weights, share, hint)


@mixture_quantile.behaviour("the edges: exactly the share, one kind, laws of other lengths")
@pytest.mark.parametrize(
    "laws, weights, share",
    [
        ([EASY, HARD], [0.5, 0.5], 0.5),
        ([EASY, HARD], [0.5, 0.5], 0.75),
        ([EASY, SLOW], [0.5, 0.5], 0.75),
        ([HARD], [1.0], 0.75),
        ([HARD], [1.0], 0.76),
        ([NEVER, HARD], [0.25, 0.75], 0.25),
        ([HARD, NEVER], [0.25, 0.75], 0.99),
        ([[0.5, 0.5], NEVER], [0.5, 0.5], 0.25),
    ],
)
def test_mixture_edges(student, laws, weights, share):
    hint = "The smallest n that at least `share` of all requests do not exceed."
    check_mixture(student, laws, weights, share, hint, expect_form)
    untouched(student)
    no_warning(student)


lockstep_tokens = Exercise("lockstep_tokens")


def law_of_slowest(alpha: float, k: int, batch_size: int) -> float:
    """By another route: the distribution of the smallest of batch_size counts, from that of one."""
    reached = [alpha**n for n in range(k + 1)] + [0.0]
    at_least = [share**batch_size for share in reached]
    return sum((n + 1) * (at_least[n] - at_least[n + 1]) for n in range(k + 1))


def check_lockstep(student, alpha, k, batch_size, hint, compare=expect):
    gives = float(law_of_slowest(alpha, k, batch_size))
    compare(student.lockstep_tokens, alpha, k, batch_size, gives=gives, hint=hint)


@lockstep_tokens.behaviour("waits for the slowest row")
@pytest.mark.parametrize(
    "alpha, k, batch_size",
    [
        (0.5, 1, 2),
        (0.8, 5, 2),
        (0.8, 5, 8),
        (0.8, 2, 4),
        (0.95, 10, 16),
        (0.3, 3, 3),
        (0.99, 4, 64),
    ],
)
def test_lockstep_waits(student, alpha, k, batch_size):
    hint = "The batch gets past position i where every one of its rows does: alpha^(i batch_size)."
    check_lockstep(student, alpha, k, batch_size, hint)


@lockstep_tokens.behaviour("one row waits for nobody")
@pytest.mark.parametrize("alpha, k", [(0.8, 5), (0.6, 2), (0.3, 8), (0.95, 20), (0.5, 1)])
def test_lockstep_of_one(student, alpha, k):
    hint = "With one row it is the mean block: 1 + alpha + ... + alpha^k."
    check_lockstep(student, alpha, k, 1, hint)


@lockstep_tokens.behaviour("the edges: alpha 0 and 1, an empty block, one coin")
@pytest.mark.parametrize(
    "alpha, k, batch_size",
    [
        *((0.0, 5, 4), (1.0, 5, 4), (1.0, 3, 1), (0.7, 0, 4), (0.0, 0, 1), (0.7, 1, 3)),
        (np.float64(0.5), np.int64(2), np.int64(2)),
    ],
)
def test_lockstep_edges(student, alpha, k, batch_size):
    hint = "At alpha = 1 everything passes, k + 1 tokens; at alpha = 0 or k = 0 it is 1."
    check_lockstep(student, alpha, k, batch_size, hint, expect_form)
    no_warning(student)


choose_k = Exercise("choose_k")
under_load = choose_k.behaviour("never worse than K = 0 under load, faster without")
reacts = choose_k.behaviour("reacts to the load, and counts who waits")
reads_costs = choose_k.behaviour("reads the costs and alpha")

COSTS = {
    "short": service.measured(service.SHORT),
    "long": service.measured(service.LONG),
    "no text": service.gpu(0),
    "much text": service.gpu(4000),
}
# One row: the step with one draft token is the shortest, and with many it takes little longer.
UNEVEN = fixed([[0.0] * 7, [10.0, 9.8, 10.2, 10.4, 10.6, 10.8, 11.0]])
# Other requests than the notebook's.
LOADS = {
    "heavy": service.traffic(21, [(120, 261, 32)]),
    "poor": service.traffic(22, [(120, 261, 32)], alpha=0.3),
    "light": service.traffic(23, [(60, 4000, 32)]),
    "rush": service.traffic(24, [(200, 5.5, 16)]),
    "waves": service.traffic(25, [(30, 900, 64), (120, 5, 16)] * 2),
    "other waves": service.traffic(26, [(40, 900, 80), (200, 5.2, 16)]),
}


TOLD = {
    "heavy": "heavy traffic",
    "poor": "heavy traffic with poor drafts",
    "light": "light traffic",
    "rush": "a rush",
}


@functools.cache
def plain_of(load, costs):
    """p99 in ms of K = 0."""
    return service.p99(service.constant(0), LOADS[load], COSTS[costs])


@functools.cache
def best_of(load, costs):
    """The best constant K and its p99."""
    return service.best_constant(LOADS[load], COSTS[costs])


@under_load
@pytest.mark.parametrize(
    "load, costs, most",
    [
        ("heavy", "short", 1.05),
        ("poor", "short", 1.05),
        ("rush", "no text", 1.05),
        ("light", "short", 0.9),
    ],
)
def test_policy_under_load(student, load, costs, most):
    yours, plain = lesson.p99_of(student.choose_k, LOADS[load], COSTS[costs]), plain_of(load, costs)
    if yours > most * plain:
        told = f"a p99 of {yours:.0f} ms, and K = 0 has {plain:.0f} ms"
        raise Different(f"In {TOLD[load]} your choose_k gives {told}.", lesson.ASK)


def check_choice(student, queue_length, running, alpha, costs, allowed, hint):
    """One answer, which must be among those `allowed`."""
    args = (queue_length, running, alpha, costs)
    k = lesson.choice(student.choose_k, *args)
    if k not in allowed:
        call = format_call(student.choose_k, args)
        raise Different(f"{call} returned {k}, expected one of {list(allowed)}.", hint)
    return k


@reacts
@pytest.mark.parametrize("costs", ["short", "no text"])
@pytest.mark.parametrize("waiting, free", [(0, 0), (1, 1), (9, 0), (4, 2), (40, 7)])
def test_policy_at_full_load(student, costs, waiting, free):
    table = COSTS[costs]
    running = len(table) - 1 - free
    alone = lesson.choice(student.choose_k, 0, 1, 0.7, table)
    if alone == 0:
        call = format_call(student.choose_k, (0, 1, 0.7, table))
        raise Different(f"{call} returned 0, though drafts make one row alone faster.", lesson.ASK)
    hint = f"One row alone drafts {alone}. After the waiting requests are taken in, all rows run."
    check_choice(student, waiting, running, 0.7, table, range(alone), hint)


@reacts
@pytest.mark.parametrize("waiting, running", [(12, 4), (1, 1), (7, 2), (15, 1)])
def test_policy_counts_who_is_taken_in(student, waiting, running):
    rows = waiting + running
    same = lesson.choice(student.choose_k, 0, rows, 0.7, COSTS["no text"])
    hint = (
        f"{waiting} waiting requests are taken in, so {rows} rows run, as if {rows} had run before."
    )
    check_choice(student, waiting, running, 0.7, COSTS["no text"], [same], hint)


@reads_costs
@pytest.mark.parametrize("queue_length, running", [(0, 16), (12, 4), (30, 16)])
def test_policy_with_long_texts(student, queue_length, running):
    table = COSTS["much text"]
    plain, drafted = table[-1, :2]
    hint = (
        f"A step of 16 rows takes {drafted:.1f} ms with one draft token for each row, and "
        f"{plain:.1f} ms without."
    )
    check_choice(student, queue_length, running, 0.8, table, range(1, table.shape[1]), hint)


@reads_costs
def test_policy_where_the_shortest_step_is_not_the_best(student):
    hint = f"Three draft tokens take {UNEVEN[1, 3]:g} ms, and none {UNEVEN[1, 0]:g} ms."
    check_choice(student, 0, 1, 0.9, UNEVEN, range(3, 7), hint)


@reads_costs
@pytest.mark.parametrize("costs, queue_length, running", [("long", 0, 1), ("much text", 4, 4)])
def test_policy_of_a_draft_that_is_never_right(student, costs, queue_length, running):
    hint = "At alpha = 0 every draft step is wasted."
    expect_form(student.choose_k, queue_length, running, 0.0, COSTS[costs], gives=0, hint=hint)
    untouched(student)
    no_warning(student)


@choose_k.behaviour("beats the best constant K", weight=2)
@pytest.mark.parametrize("load", ["waves", "other waves"])
def test_policy_beats_the_best_constant(student, load):
    costs = COSTS["no text"]
    lesson.beat_the_best_constant(student.choose_k, LOADS[load], costs, best_of(load, "no text"))
