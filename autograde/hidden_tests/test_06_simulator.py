"""Hidden tests of chapter 06: test groups and known bugs; see autograde/hidden/exercise.py.

The traffic and the costs of choose_k are fixed, since the card promises what a good policy reaches
in them. Costs are recorded passes, or follow from the data sheet of a GPU.
"""

import functools

import numpy as np

from autograde.hidden_tests.common import Exercise, prediction, quiz
from specdec_lib.lessons.ch06 import lesson, service
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.lending import read_only

test_prediction_06 = prediction("prediction_06", 20, 200)
test_prediction_06_b = prediction("prediction_06_b", 0.1, 6)
test_quiz_06 = quiz("quiz_06")
test_quiz_06_b = quiz("quiz_06_b")


mixture_quantile = Exercise("mixture_quantile")


def law(least: int, rng: np.random.Generator) -> np.ndarray:
    """The distribution of the blocks of a request (9,): from `least` on, in sixteenths."""
    return np.pad((1 + rng.multinomial(13, [0.5, 0.25, 0.25])) / 16, (least, 6 - least))


def together(rng):
    for share in (0.3, 0.6, 0.7, 0.9, 0.99):
        laws = [law(1, rng), law(int(rng.integers(3, 6)), rng)]
        yield laws if share < 0.8 else laws[::-1], [0.5, 0.5], share


@mixture_quantile.group("of all requests together, not of each kind", cases=together)
def test_mixture_quantile_together(student, solution, args):
    hint = "Add the kinds first, each by its weight. Then look for the number of blocks."
    mixture_quantile.assert_same(student, solution, args, hint)


def weighed(rng):
    for share in (0.3, 0.7, 0.8, 0.9, 0.95):
        few = int(rng.integers(1, 5)) / 16
        yield [law(1, rng), law(4, rng)], [few, 1 - few] if share < 0.8 else [1 - few, few], share
    yield [law(1, rng), law(4, rng), law(6, rng)], [0.96875, 0.0, 0.03125], 0.95


@mixture_quantile.group("weighs every kind", cases=weighed)
def test_mixture_quantile_weighed(student, solution, args):
    hint = "A kind with a small weight makes few of all requests, also of the slow ones."
    mixture_quantile.assert_same(student, solution, args, hint)


def mixture_edges(rng):
    easy, hard = np.array([0, 0.5, 0.25, 0.25]), np.array([0, 0, 0, 0.5, 0.25, 0.25])
    for share in (0.5, 0.75, 0.9):
        yield [easy, hard], [0.5, 0.5], share
    for share in (0.75, 0.76):
        yield [hard], [1.0], share
    yield [np.array([0, 1.0]), hard], [0.25, 0.75], 0.25
    yield [np.array([0.5, 0.5]), np.array([0, 1.0])], [0.5, 0.5], 0.25  # no block at all
    for share in (0.8, 0.9):
        yield [np.full(10, 0.1)], [1.0], share


@mixture_quantile.group(
    "the edges: exactly the share, one kind, distributions of unequal lengths", cases=mixture_edges
)
def test_mixture_quantile_mixture_edges(student, solution, args):
    hint = "The smallest n that at least `share` of all requests do not exceed."
    mixture_quantile.assert_same(student, solution, args, hint, form=True)


choose_k = Exercise("choose_k")

COSTS = {
    "short": service.cpu(service.SHORT_TEXT),
    "long": service.cpu(service.LONG_TEXT),
    "no text": service.gpu(0),
    "much text": service.gpu(service.MUCH_TEXT),
}
# Of each load the seed, its phases (requests, their mean gap in ms, tokens of each) and alpha.
LOADS = {
    "heavy traffic": service.traffic(21, [(120, 261, 32)], 0.7),
    "heavy traffic with poor drafts": service.traffic(22, [(120, 261, 32)], 0.3),
    "light traffic": service.traffic(23, [(60, 4000, 32)], 0.7),
    "a rush": service.traffic(24, [(200, 6.3, 16)], 0.7),
    "waves": service.traffic(25, [(30, 1000, 64), (120, 5.7, 16)] * 2, 0.7),
    "other waves": service.traffic(26, [(40, 1000, 80), (200, 5.9, 16)], 0.7),
}


@functools.cache
def plain_p99(load: str, costs: str) -> float:
    """p99 in ms of K = 0."""
    return service.p99(service.constant(0), LOADS[load], COSTS[costs])


@functools.cache
def best_constant(load: str) -> service.BestK:
    """The best constant K without text, and its p99."""
    return service.best_fixed_k(LOADS[load], COSTS["no text"])


@choose_k.group("never worse than K = 0 under load, faster without")
def test_choose_k_under_load(student):
    for load, costs, most in (
        ("heavy traffic", "short", 1.05),
        ("heavy traffic with poor drafts", "short", 1.05),
        ("a rush", "no text", 1.05),
        ("light traffic", "short", 0.9),
    ):
        yours = lesson.p99_of(student.choose_k, LOADS[load], COSTS[costs])
        plain = plain_p99(load, costs)
        if yours > most * plain:
            outcome = f"a p99 of {yours:.0f} ms, and K = 0 has {plain:.0f} ms"
            raise Different(f"In {load} your choose_k gives {outcome}.", lesson.ASK)


def choice(student, args: tuple, allowed: list[int], hint: str) -> int:
    """What choose_k gives. Raises Different unless it is one of those `allowed`, in order."""
    k = lesson.checked_k(student.choose_k, *args)
    if k not in allowed:
        wanted = f"{allowed[0]} to {allowed[-1]}" if allowed[1:] else allowed[0]
        raise Different(f"{lesson.call_of(args)} returned {k}, expected {wanted}.", hint)
    return k


@choose_k.group("reacts to the load, and counts who waits")
def test_choose_k_full_server(student, rng):
    for costs in (COSTS["short"], COSTS["no text"]):
        drafts = [*range(1, costs.shape[1])]
        alone = choice(student, (0, 1, 0.7, costs), drafts, "Drafts make one row alone faster.")
        fewer = f"One row alone drafts {alone}, and a full server less than that."
        for free in (0, 1, 4):
            args = int(rng.integers(free, 40)), len(costs) - 1 - free, 0.7, costs
            choice(student, args, [*range(alone)], fewer)


@choose_k.group("reacts to the load, and counts who waits")
def test_choose_k_taken_in(student, rng):
    for rows in (8, 12, 16):
        running = int(rng.integers(1, 5))
        same = lesson.checked_k(student.choose_k, 0, rows, 0.7, COSTS["no text"])
        hint = f"{rows - running} waiting requests are taken in, so the step has {rows} rows."
        choice(student, (rows - running, running, 0.7, COSTS["no text"]), [same], hint)


@choose_k.group("reads the costs and alpha")
def test_choose_k_long_texts(student, rng):
    costs = COSTS["much text"]
    plain, one = costs[-1, :2]
    hint = f"A step of 16 rows takes {one:.1f} ms with a draft token each, {plain:.1f} ms without."
    for waits, running in ((0, 16), (12, 4), (int(rng.integers(20, 40)), 16)):
        choice(student, (waits, running, 0.8, costs), [*range(1, costs.shape[1])], hint)


@choose_k.group("reads the costs and alpha")
def test_choose_k_even_costs(student):
    for each, alpha, best in ((2.0, 0.8, [3, 4, 5]), (0.1, 0.99, [8])):
        costs = read_only([[0.0] * 9, [10 + each * k for k in range(9)]])
        hint = f"At alpha = {alpha} K = {best[len(best) // 2]} writes the most tokens per ms here."
        choice(student, (0, 1, alpha, costs), best, hint)


def never_right(rng):
    yield 0, 1, 0.0, COSTS["long"]
    yield 4, 4, 0.0, COSTS["much text"]


@choose_k.group("reads the costs and alpha", cases=never_right)
def test_choose_k_never_right(student, solution, args):
    hint = "At alpha = 0 every draft step is wasted."
    choose_k.assert_same(student, solution, args, hint, form=True)


@choose_k.group("beats the best constant K", weight=2)
def test_choose_k_waves(student):
    for load in ("waves", "other waves"):
        costs, best = COSTS["no text"], best_constant(load)
        lesson.beat_the_best_constant(student.choose_k, LOADS[load], costs, best)


spend = Exercise("spend")


def drafted(rng: np.random.Generator, rows: int, most: int = 5) -> list[list[float]]:
    """Confidences of easy and hard rows, none like another."""
    rates = rng.choice([0.85, 0.5], (rows, 1)) + rng.uniform(-0.14, 0.14, (rows, most))
    return [row[: rng.integers(2, most + 1)] for row in rates.round(4).tolist()]


def ranked(rng):
    for rows, free, slope in ((2, 4, 3.0), (4, 8, 3.0), (8, 14, 3.0), (4, 6, 0.5), (6, 9, 8.0)):
        step = drafted(rng, rows)
        count = sum(map(len, step)) + rows + 1
        yield step, [10 + slope * max(0, n - free) for n in range(count)]


@spend.group(
    "the best tokens of all rows, weighed against the time of the pass", weight=2, cases=ranked
)
def test_spend_ranked(student, solution, args):
    hint = "Token j of a row is accepted with the product of its confidences up to j."
    spend.assert_same(student, solution, args, hint)


def spend_edges(rng):
    yield [[], []], [10.0, 10.0, 11.0]
    yield [[], [0.9, 0.8]], [10.0] * 5
    yield [[0.9, 0.8, 0.7]], [10.0, 10.0, 12.0, 19.0, 40.0]
    yield [[0.5, 0.5], [0.25, 0.9]], [10.0 * n for n in range(7)]
    yield [[0.0, 0.9], [0.75]], [10.0, 10.0, 10.0, 10.0, 30.0, 50.0]


@spend.group("the edges: nothing drafted, one row, all or none worth their time", cases=spend_edges)
def test_spend_spend_edges(student, solution, args):
    hint = "Compare the tokens per ms of 0, 1, 2, ... checked tokens, whatever they belong to."
    spend.assert_same(student, solution, args, hint, form=True)


expected_experts = Exercise("expected_experts")


def several_tokens(rng):
    yield 2, 8, 2
    yield 2, 4, 3
    for n_experts in (8, 16, 64, 128, 256):
        yield int(rng.integers(3, 10)), n_experts, int(rng.integers(2, n_experts // 2))


@expected_experts.group(
    "an expert that several tokens choose is read once", weight=2, cases=several_tokens
)
def test_expected_experts_several_tokens(student, solution, args):
    hint = "One token leaves an expert out with probability 1 - active/n_experts."
    expected_experts.assert_same(student, solution, args, hint)


def expert_edges(rng):
    yield from ((0, 8, 2), (0, 4, 4), (6, 5, 5), (3, 1, 1), (400, 8, 2))
    yield 1, 64, int(rng.integers(2, 32))


@expected_experts.group(
    "the edges: no token, one, all experts active; a number", cases=expert_edges
)
def test_expected_experts_expert_edges(student, solution, args):
    hint = "No token reads nothing, one token reads `active` experts, and many read all of them."
    expected_experts.assert_same(student, solution, args, hint, form=True)
