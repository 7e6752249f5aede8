"""Hidden tests of chapter 06. Points attach to behaviours; see autograde/check.py.

Their numbers stand in numbers/ch06_numbers.py. What cannot be changed stands here: the shares in
UNDER_LOAD of the p99 of K = 0, which the card promises, and the costs, which are recorded passes or
follow from the data sheet of a GPU, as the chapter says. ROWS_ALONE are the rows that wait for
nobody, and in ONE_ROW nobody waits and one row runs. At an alpha of NEVER nothing is drafted: K is
PLAIN. NO_TEXT is the length of the chapter's short texts.
"""

import functools

import numpy as np
import pytest

from autograde.chapters.ch06_wrong import WRONG  # noqa: F401  known to the grader by this name
from autograde.chapters.common import expect, expect_form, no_warning, prediction, quiz
from autograde.chapters.expected import ch06_expected as expected
from autograde.chapters.numbers import ch06_numbers as numbers
from autograde.chapters.parametrized import Exercise
from autograde.check import RemoteObject, untouched
from specdec_lib.lessons.ch06 import checks as lesson
from specdec_lib.lessons.ch06 import quizzes, service
from specdec_lib.lessons.ch06.checks import Coins, run_of
from specdec_lib.lessons.common.comparing import difference, in_form_of
from specdec_lib.lessons.common.describing import describe, format_call
from specdec_lib.lessons.common.examples import Different
from specdec_lib.lessons.common.lending import fixed

ROWS_ALONE, ONE_ROW = 1, (0, 1)
NEVER, PLAIN, NO_TEXT = 0.0, 0, 0


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


def check_block(student, alpha, r, hint, compare=expect):
    gives = expected.accepted(alpha, r)
    compare(student.simulate_block, alpha, len(r), np.array(r, dtype=float), gives=gives, hint=hint)


@simulate_block.behaviour("stops at the first coin that fails")
@pytest.mark.parametrize("r", numbers.STOPS)
def test_block_stops(student, r):
    hint = (
        "Count the coins before the first that fails: not that one, none behind it, and no "
        "correction token."
    )
    check_block(student, numbers.STOPS_ALPHA, r, hint)


@simulate_block.behaviour("accepts below alpha, for any alpha")
@pytest.mark.parametrize("alpha", numbers.ALPHAS)
def test_block_by_alpha(student, alpha):
    hint = "Count the coins before the first that is not below alpha, and nothing else."
    check_block(student, alpha, numbers.RISING, hint)


@simulate_block.behaviour("a block accepted whole gives k, without the bonus")
@pytest.mark.parametrize("k, alpha", numbers.WHOLE)
def test_block_whole(student, k, alpha):
    hint = "Counted are accepted draft tokens: all of them here, and no bonus token."
    check_block(student, alpha, [numbers.PASSING] * k, hint)
    hint = "Counted are accepted draft tokens: here the last one fails."
    check_block(student, alpha, [numbers.PASSING] * (k - 1) + [numbers.FAILING], hint)


@simulate_block.behaviour("the edges: alpha 0 and 1, a coin on alpha, an empty block")
@pytest.mark.parametrize("alpha, r", numbers.BLOCK_EDGES)
def test_block_edges(student, alpha, r):
    hint = "Accepted is r < alpha, so that a coin of 0 is rejected at alpha = 0."
    check_block(student, alpha, r, hint, expect_form)
    no_warning(student)
    untouched(student)


simulate_decode = Exercise("simulate_decode")
every_token = simulate_decode.behaviour("counts every token, the last one of each block too")
fresh_numbers = simulate_decode.behaviour("k new numbers of the given generator for each block")


def check_counts(student, alpha, c, k, n_tokens, rng, coins, hint):
    """Tokens and target passes alone: the time has a behaviour of its own."""

    @functools.wraps(student.simulate_decode)
    def counts(*args):
        run = student.simulate_decode(*args)
        return {n: run.get(n) for n in ("tokens", "target_passes")} if type(run) is dict else run

    tokens, passes, _ = expected.decoded(alpha, c, k, n_tokens, coins)
    gives = {"tokens": tokens, "target_passes": passes}
    expect(counts, alpha, c, k, n_tokens, rng, gives=gives, hint=hint)


def check_stream(student, n_tokens, hint):
    """The counts of a run on the written-down numbers."""
    how = numbers.DECODE_ALPHA, numbers.DECODE_C, numbers.DECODE_K
    check_counts(student, *how, n_tokens, RemoteCoins(numbers.STREAM), numbers.STREAM, hint)


def passes_of(student, *args):
    """A run of the student's, and its own number of target passes. Different if there is none."""
    run = student.simulate_decode(*args)
    passes = in_form_of(1, run.get("target_passes")) if type(run) is dict else None
    if type(passes) is not int or passes < 1:
        call = format_call(student.simulate_decode, args)
        raise Different(f"{call} returned {describe(run)}, which has no number of target passes.")
    return run, passes


@every_token
@pytest.mark.parametrize("n_tokens", numbers.COUNTS)
def test_decode_counts(student, n_tokens):
    hint = (
        "A block writes its accepted tokens and one more: the correction after a rejection, the "
        "bonus after none."
    )
    check_stream(student, n_tokens, hint)


@every_token
@pytest.mark.parametrize("seed, alpha, k", numbers.SEEDED)
def test_decode_with_a_real_generator(student, seed, alpha, k):
    c, n_tokens = numbers.SEEDED_C, numbers.SEEDED_TOKENS
    coins = np.random.default_rng(seed).random(k * n_tokens).tolist()
    hint = "Did you draw from the generator that was given, and only rng.random(k) a block?"
    check_counts(student, alpha, c, k, n_tokens, Seeded(seed), coins, hint)


@simulate_decode.behaviour("whole blocks until there are enough")
@pytest.mark.parametrize("n_tokens", numbers.UNCUT)
def test_decode_is_uncut(student, n_tokens):
    hint = "The last block counts with all of its tokens, and there is none after it."
    check_stream(student, n_tokens, hint)


@simulate_decode.behaviour("the time of every block is c k + 1")
@pytest.mark.parametrize("c, k", numbers.TIMES)
def test_decode_time(student, c, k):
    args = (numbers.DECODE_ALPHA, c, k, numbers.TIME_TOKENS, RemoteCoins(numbers.STREAM))
    run, passes = passes_of(student, *args)
    if difference(run.get("time"), passes * (c * k + 1), form=False) is not None:
        call = format_call(student.simulate_decode, args)
        raise Different(
            f"{call} returned {describe(run)}; {passes} blocks take {passes * (c * k + 1):g}. "
            "Drafting costs c a draft token, drafted and not accepted, and the target 1 a block."
        )


@fresh_numbers
@pytest.mark.parametrize("k, n_tokens", numbers.DRAWS)
def test_decode_draws(student, k, n_tokens):
    coins = RemoteCoins(numbers.STREAM)
    args = (numbers.DECODE_ALPHA, numbers.DRAWS_C, k, n_tokens, coins)
    _, blocks = passes_of(student, *args)
    if coins.used != k * blocks:
        raise Different(
            f"{format_call(student.simulate_decode, args)} took {coins.used} numbers from the "
            f"generator for {blocks} blocks of {k} draft tokens, expected {k * blocks}. Each block "
            "takes rng.random(k) of the generator that was given, all k, also if it stops early."
        )


@simulate_decode.behaviour("the edges: nothing wanted, alpha 0 and 1")
@pytest.mark.parametrize("alpha, k, n_tokens, coins", numbers.DECODE_EDGES)
def test_decode_edges(student, alpha, k, n_tokens, coins):
    hint = "At alpha = 0 a block writes its correction, at alpha = 1 k tokens and the bonus."
    args = (alpha, numbers.EDGES_C, k, n_tokens)
    gives = run_of(*expected.decoded(*args, coins))
    expect_form(student.simulate_decode, *args, RemoteCoins(coins), gives=gives, hint=hint)
    no_warning(student)


mixture_quantile = Exercise("mixture_quantile")


def check_mixture(student, laws, weights, share, hint, compare=expect):
    gives = expected.quantile(laws, weights, share)
    laws = [np.array(law, dtype=float) for law in laws]
    compare(student.mixture_quantile, laws, weights, share, gives=gives, hint=hint)


@mixture_quantile.behaviour("of all requests together, not of each kind")
@pytest.mark.parametrize("laws, share", numbers.TOGETHER)
def test_mixture_together(student, laws, share):
    hint = "Add the kinds first, each by its weight. Then look for the number of blocks."
    check_mixture(student, laws, numbers.EVEN, share, hint)


@mixture_quantile.behaviour("weighs every kind")
@pytest.mark.parametrize("laws, weights, share", numbers.WEIGHED)
def test_mixture_weighs(student, laws, weights, share):
    hint = "A kind with a small weight makes few of all requests, also of the slow ones."
    check_mixture(student, laws, weights, share, hint)


@mixture_quantile.behaviour("the edges: exactly the share, one kind, laws of other lengths")
@pytest.mark.parametrize("laws, weights, share", numbers.MIXTURE_EDGES)
def test_mixture_edges(student, laws, weights, share):
    hint = "The smallest n that at least `share` of all requests do not exceed."
    check_mixture(student, laws, weights, share, hint, expect_form)
    untouched(student)
    no_warning(student)


lockstep_tokens = Exercise("lockstep_tokens")


def check_lockstep(student, alpha, k, batch_size, hint, compare=expect):
    gives = expected.slowest(alpha, k, batch_size)
    compare(student.lockstep_tokens, alpha, k, batch_size, gives=gives, hint=hint)


@lockstep_tokens.behaviour("waits for the slowest row")
@pytest.mark.parametrize("alpha, k, batch_size", numbers.WAITS)
def test_lockstep_waits(student, alpha, k, batch_size):
    hint = "The batch gets past position i where every one of its rows does: alpha^(i batch_size)."
    check_lockstep(student, alpha, k, batch_size, hint)


@lockstep_tokens.behaviour("one row waits for nobody")
@pytest.mark.parametrize("alpha, k", numbers.ALONE)
def test_lockstep_of_one(student, alpha, k):
    hint = "With one row it is the mean block: 1 + alpha + ... + alpha^k."
    check_lockstep(student, alpha, k, ROWS_ALONE, hint)


@lockstep_tokens.behaviour("the edges: alpha 0 and 1, an empty block, one coin")
@pytest.mark.parametrize("alpha, k, batch_size", numbers.LOCKSTEP_EDGES)
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
    "no text": service.gpu(NO_TEXT),
    "much text": service.gpu(numbers.MUCH_TEXT),
}
# Other requests than the notebook's.
LOADS = {name: service.traffic(*how) for name, how in numbers.LOADS.items()}
# The load, the costs, p99 at most over that of K = 0, and what a student reads.
UNDER_LOAD = [
    ("heavy", "short", 1.05, "heavy traffic"),
    ("poor", "short", 1.05, "heavy traffic with poor drafts"),
    ("rush", "no text", 1.05, "a rush"),
    ("light", "short", 0.9, "light traffic"),
]


@functools.cache
def plain_of(load, costs):
    """p99 in ms of K = 0."""
    return service.p99(service.constant(0), LOADS[load], COSTS[costs])


@functools.cache
def best_of(load, costs):
    """The best constant K and its p99."""
    return service.best_constant(LOADS[load], COSTS[costs])


@under_load
@pytest.mark.parametrize("load, costs, most, told", UNDER_LOAD)
def test_policy_under_load(student, load, costs, most, told):
    yours, plain = lesson.p99_of(student.choose_k, LOADS[load], COSTS[costs]), plain_of(load, costs)
    if yours > most * plain:
        found = f"a p99 of {yours:.0f} ms, and K = 0 has {plain:.0f} ms"
        raise Different(f"In {told} your choose_k gives {found}.", lesson.ASK)


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
@pytest.mark.parametrize("waiting, free", numbers.FULL)
def test_policy_at_full_load(student, costs, waiting, free):
    table, alpha = COSTS[costs], numbers.FULL_ALPHA
    running, one_row = len(table) - 1 - free, (*ONE_ROW, alpha, table)
    alone = lesson.choice(student.choose_k, *one_row)
    if alone == 0:
        call = format_call(student.choose_k, one_row)
        raise Different(f"{call} returned 0, though drafts make one row alone faster.", lesson.ASK)
    hint = f"One row alone drafts {alone}. After the waiting requests are taken in, all rows run."
    check_choice(student, waiting, running, alpha, table, range(alone), hint)


@reacts
@pytest.mark.parametrize("waiting, running", numbers.TAKEN_IN)
def test_policy_counts_who_is_taken_in(student, waiting, running):
    rows, alpha, table = waiting + running, numbers.FULL_ALPHA, COSTS["no text"]
    same = lesson.choice(student.choose_k, 0, rows, alpha, table)
    hint = (
        f"{waiting} waiting requests are taken in, so {rows} rows run, as if {rows} had run before."
    )
    check_choice(student, waiting, running, alpha, table, [same], hint)


@reads_costs
@pytest.mark.parametrize("queue_length, running", numbers.LONG_FULL)
def test_policy_with_long_texts(student, queue_length, running):
    table = COSTS["much text"]
    full = table[-1]
    hint = (
        f"A step of {len(table) - 1} rows takes {full[1]:.1f} ms with one draft token for each "
        f"row, and {full[0]:.1f} ms without."
    )
    drafts = range(1, table.shape[1])
    check_choice(student, queue_length, running, numbers.LONG_ALPHA, table, drafts, hint)


@reads_costs
@pytest.mark.parametrize("times, alpha", numbers.ONE_ROW_COSTS)
def test_policy_of_one_row(student, times, alpha):
    good = expected.worth_drafting(alpha, times)
    table = fixed(np.array([np.zeros_like(times), times]).tolist())
    hint = (
        f"K = {good[-1]} takes {times[good[-1]]:g} ms, and K = 0 takes {times[0]:g} ms. Which step "
        "writes the most tokens in a millisecond?"
    )
    check_choice(student, *ONE_ROW, alpha, table, good, hint)


@reads_costs
@pytest.mark.parametrize("costs, queue_length, running", numbers.NEVER_RIGHT)
def test_policy_of_a_draft_that_is_never_right(student, costs, queue_length, running):
    hint = "At alpha = 0 every draft step is wasted."
    args = (queue_length, running, NEVER, COSTS[costs])
    expect_form(student.choose_k, *args, gives=PLAIN, hint=hint)
    untouched(student)
    no_warning(student)


@choose_k.behaviour("beats the best constant K", weight=2)
@pytest.mark.parametrize("load", ["waves", "other waves"])
def test_policy_beats_the_best_constant(student, load):
    costs = COSTS["no text"]
    lesson.beat_the_best_constant(student.choose_k, LOADS[load], costs, best_of(load, "no text"))
