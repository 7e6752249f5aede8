"""Hidden tests of chapter 06: test groups and known bugs; see autograde/hidden/exercise.py.

The traffic and the costs of choose_k are fixed, since the card promises what a good policy reaches
in them. Costs are recorded passes, or follow from the data sheet of a GPU.
"""

import functools

import numpy as np

from autograde.hidden.exercise import with_cause
from autograde.hidden_tests.common import Exercise, prediction, quiz
from autograde.hidden_tests.distributions import hundredths
from specdec_lib.lessons.ch06 import lesson, service
from specdec_lib.lessons.checking.comparing import coerce_like, difference
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.pasting import format_call

test_prediction_06 = prediction("prediction_06", 20, 200)
test_prediction_06_b = prediction("prediction_06_b", 0.1, 6)
test_quiz_06 = quiz("quiz_06")
test_quiz_06_b = quiz("quiz_06_b")


simulate_decode = Exercise("simulate_decode")


class Generator(np.random.Generator):
    """A generator that counts its numbers, and ends a run in which no block writes a token.

    A copy begins again: known bugs get a copy of what the student was given.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.seed, self.calls, self.used = seed, 0, 0
        self.code = f"np.random.default_rng({seed})"

    def random(self, size: int | None = None) -> float | np.ndarray:
        """The next number, or an array. Raises ValueError for many more than a right run takes."""
        self.calls += 1
        self.used += 1 if size is None else int(np.prod(size))
        if max(self.calls, self.used) > 1000:
            asked = f"called {self.calls} times for {self.used} numbers"
            raise ValueError(f"rng.random was {asked}: does every block write a token?")
        return super().random(size)

    def __deepcopy__(self, memo: dict) -> "Generator":
        return Generator(self.seed)


def request(k: int, rng: np.random.Generator, c: float = 0.25) -> tuple:
    """The arguments of a run of 12 tokens or more."""
    alpha, n_tokens = hundredths(40, 80, rng), int(rng.integers(12, 20))
    return alpha, c, k, n_tokens, Generator(int(rng.integers(1000)))


def run_of(student, args: tuple) -> tuple[str, dict]:
    """A student's run and what it gave, in words. Raises Different if nothing was counted."""
    got = student.simulate_decode(*args)
    said = f"{format_call(student.simulate_decode, args)} returned {describe(got)}"
    run = coerce_like({"tokens": 1, "target_passes": 1, "time": 1.0}, got)
    counts = [run.get(name) for name in ("tokens", "target_passes")] if type(run) is dict else []
    if list(map(type, counts)) != [int, int] or counts[1] < 1:
        raise Different(f'{said}; "tokens" and "target_passes" should be ints in a dict.')
    return said, run


@simulate_decode.group("every token of whole blocks, until there are enough")
def test_simulate_decode_whole_blocks(student, solution, rng):
    for k in (1, 2, 3, 4, 8):
        *how, n_tokens, coins = request(k, rng)
        exact = solution.simulate_decode(*how, n_tokens, Generator(coins.seed))["tokens"]
        for wanted in (exact, exact + 1, exact + 2):
            right = solution.simulate_decode(*how, wanted, Generator(coins.seed))
            said, run = run_of(student, (*how, wanted, Generator(coins.seed)))
            if any(run[name] != right[name] for name in ("tokens", "target_passes")):
                raise Different(
                    f"{said}, expected {right['tokens']} tokens and {right['target_passes']} "
                    "passes. A block writes its accepted tokens and one more; none is cut."
                )


@simulate_decode.group("the time of every block is c k + 1")
def test_simulate_decode_time_of_blocks(student, rng):
    for c, k in ((0.0, 4), (0.125, 4), (0.5, 4), (0.25, 2), (1.0, 1)):
        said, run = run_of(student, request(k, rng, c))
        passes = run["target_passes"]
        if difference(run.get("time"), passes * (c * k + 1), form=False) is not None:
            raise Different(
                f"{said}; {passes} blocks take {passes * (c * k + 1):g}. Each of the k draft "
                "tokens costs c, accepted or not, and the target's pass 1."
            )


@simulate_decode.group("k new numbers of the given generator for each block")
def test_simulate_decode_new_numbers(student, solution, rng):
    for k in (2, 4, 5):
        *how, coins = request(k, rng)
        right = solution.simulate_decode(*how, Generator(coins.seed))
        said, run = run_of(student, (*how, coins))
        if coins.used not in [k * each["target_passes"] for each in (run, right)]:
            error = Different(
                f"{said} and took {coins.used} numbers from rng. Each block takes "
                "rng.random(k), all k numbers, even if it stops early."
            )
            raise error if coins.used else with_cause(error, UNUSED)


def decode_edges(rng):
    for alpha, k, n_tokens in (
        *((0.75, 4, 0), (0.0, 4, 3), (1.0, 4, 10), (1.0, 4, 11), (0.75, 0, 9)),
        (np.float64(0.5), np.int64(2), np.int64(3)),
    ):
        yield alpha, 0.25, k, n_tokens, Generator(int(rng.integers(1000)))


@simulate_decode.group("the edges: nothing wanted, alpha 0 and 1", cases=decode_edges)
def test_simulate_decode_decode_edges(student, solution, args):
    hint = "At alpha = 0 a block writes its correction, at alpha = 1 k tokens and the bonus."
    simulate_decode.assert_same(student, solution, args, hint, form=True)


UNUSED = "the given generator need not be used."
WALK = "while accepted < k and coins[accepted] < alpha:\n            accepted += 1\n"
simulate_decode.bug(
    (f"accepted = 0\n        {WALK}", "accepted = int(np.sum(coins < alpha))\n"),
    think="every coin that passes is an accepted token.",
    because="a draft token after the first rejection is dropped, whatever its own coin says.",
)
simulate_decode.bug(
    (f"accepted = 0\n        {WALK}", "accepted = int(np.argmin(coins < alpha)) if k else 0\n"),
    think="in every block there is a coin that fails.",
    because="if all coins pass, np.argmin gives 0, but k draft tokens are accepted.",
)
simulate_decode.bug(
    ("accepted + 1\n", "accepted\n"),
    think="a block writes what it has accepted.",
    because="every block writes one token more, the correction or the bonus.",
)
simulate_decode.bug(
    ('"tokens": tokens', '"tokens": min(tokens, n_tokens)'),
    think="a request of n tokens reports n tokens.",
    because="the last block counts whole here; if it is cut, short requests look too slow.",
)
simulate_decode.bug(
    ("passes * (c * k + 1)", "float(passes)"),
    think="the time is the number of target passes.",
    because="the draft takes c for each of its k tokens, and that is what makes a large K slow.",
)
simulate_decode.bug(
    (
        f"coins = rng.random(k)\n        accepted = 0\n        {WALK}",
        "accepted = 0\n        while accepted < k and rng.random() < alpha:\n"
        "            accepted += 1\n",
    ),
    think="the coins after a rejection need not be drawn.",
    because="each block takes k numbers, so that the next one begins at a fixed place.",
)
simulate_decode.bug(
    ("rng.random(k)", "np.random.default_rng(0).random(k)"),
    think=UNUSED,
    because="the seed of the given generator could then not repeat the run.",
)


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
    "the edges: exactly the share, one kind, laws of unequal lengths", cases=mixture_edges
)
def test_mixture_quantile_mixture_edges(student, solution, args):
    hint = "The smallest n that at least `share` of all requests do not exceed."
    mixture_quantile.assert_same(student, solution, args, hint, form=True)


for _whole in ("round", "int", "float"):
    mixture_quantile.bug(
        (
            "mixed = np.zeros",
            "each = [np.argmax(np.cumsum(law) >= share - 1e-12) for law in laws]\n"
            f"    return {_whole}(float(np.dot(weights, each)))\n    mixed = np.zeros",
        ),
        think="the quantile of the mixture is the mean of the kinds' quantiles.",
        because="each request is of one kind. Add the laws by their weights first, then look.",
    )
mixture_quantile.bug(
    (
        "np.argmax(np.cumsum(mixed) >= share - 1e-12)",
        "max(np.argmax(np.cumsum(law) >= share - 1e-12) for law in laws)",
    ),
    think="the slowest kind decides alone.",
    because="a kind makes only its weight of all requests, so its tail counts in part.",
)
mixture_quantile.bug(
    ("weight * law", "law / len(laws)"),
    think="all kinds are equally frequent.",
    because="the weights say how many of all requests are of each kind.",
)
mixture_quantile.bug(
    (">= share - 1e-12", "> share + 1e-12"),
    think="more than the share must be finished.",
    because="exactly the share is enough: the quantile is the smallest n that it does not exceed.",
)
mixture_quantile.bug(
    (" - 1e-12", ""),
    think="eight tenths add up to 0.8.",
    because="a sum of floats can be a little too small, so compare with share - 1e-12.",
)


lockstep_tokens = Exercise("lockstep_tokens")


def waiting_rows(rng):
    for k, rows in ((1, 2), (2, 4), (5, 2), (5, 8), (3, 3), (8, 1)):
        yield hundredths(50, 95, rng), k, rows


@lockstep_tokens.group("waits for the slowest row", cases=waiting_rows)
def test_lockstep_tokens_waiting_rows(student, solution, args):
    hint = "The batch gets past a position where every one of its rows does."
    lockstep_tokens.assert_same(student, solution, args, hint)


def lockstep_edges(rng):
    yield from ((0.0, 5, 4), (1.0, 5, 4), (1.0, 3, 1), (0.7, 0, 4), (0.7, 1, 3))
    yield np.float64(0.5), np.int64(2), np.int64(2)


@lockstep_tokens.group("the edges: alpha 0 and 1, an empty block, one coin", cases=lockstep_edges)
def test_lockstep_tokens_lockstep_edges(student, solution, args):
    hint = "At alpha = 1 everything passes, k + 1 tokens; at alpha = 0 or k = 0 it is 1."
    lockstep_tokens.assert_same(student, solution, args, hint, form=True)


lockstep_tokens.bug(
    ("alpha**batch_size", "alpha"),
    think="the mean of the slowest row is the mean of a row.",
    because="the slowest of several rows is slower than a row by itself, on average.",
)
lockstep_tokens.bug(
    ("range(k + 1)", "range(1, k + 1)"),
    think="a block writes what it has accepted.",
    because="every row writes one token per step in any case, the correction or the bonus.",
)
lockstep_tokens.bug(
    ("float(sum", "float(batch_size * sum"),
    think="a batch of eight rows counts eight times.",
    because="the function gives the number of one row, and the batch has batch_size of them.",
)
lockstep_tokens.bug(
    ("sum(pass_all**i for i in range(k + 1))", "(1 - pass_all ** (k + 1)) / (1 - pass_all)"),
    think="the closed form holds for every alpha.",
    because="at alpha = 1 it divides zero by zero; there every row writes k + 1.",
)


choose_k = Exercise("choose_k")

COSTS = {
    "short": service.measured(service.SHORT),
    "long": service.measured(service.LONG),
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
def best_constant(load: str) -> service.Best:
    """The best constant K without text, and its p99."""
    return service.best_constant(LOADS[load], COSTS["no text"])


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
            found = f"a p99 of {yours:.0f} ms, and K = 0 has {plain:.0f} ms"
            raise Different(f"In {load} your choose_k gives {found}.", lesson.ASK)


def choice(student, args: tuple, allowed: list[int], hint: str) -> int:
    """What choose_k gives. Raises Different unless it is one of those `allowed`, in order."""
    k = lesson.choice(student.choose_k, *args)
    if k not in allowed:
        wanted = f"{allowed[0]} to {allowed[-1]}" if allowed[1:] else allowed[0]
        raise Different(f"{lesson.asked_of(args)} returned {k}, expected {wanted}.", hint)
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
        same = lesson.choice(student.choose_k, 0, rows, 0.7, COSTS["no text"])
        hint = f"{rows - running} waiting requests are taken in, as if {rows} rows had run before."
        choice(student, (rows - running, running, 0.7, COSTS["no text"]), [same], hint)


@choose_k.group("reads the costs and alpha")
def test_choose_k_long_texts(student, rng):
    costs = COSTS["much text"]
    plain, one = costs[-1, :2]
    hint = f"A step of 16 rows takes {one:.1f} ms with a draft token each, {plain:.1f} ms without."
    for waits, running in ((0, 16), (12, 4), (int(rng.integers(20, 40)), 16)):
        choice(student, (waits, running, 0.8, costs), [*range(1, costs.shape[1])], hint)


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


ROWS = "rows = min(queue_length + running, len(costs) - 1)"
choose_k.bug(
    (ROWS, "rows = 1"),
    think="what is best for one row is best for every load.",
    because="more rows share the free tokens, so a step with drafts takes longer on a full server.",
)
choose_k.bug(
    (ROWS, "rows = max(running, 1)"),
    think="only running requests count.",
    because="waiting requests are taken in before the step, so they are rows of it too.",
)
choose_k.bug(
    (ROWS, "rows = max(running, 1)\n    if queue_length:\n        return 0"),
    think="drafting must stop as soon as anybody waits.",
    because="a waiting request that finds room is one row more: a few rows still gain from drafts.",
)
choose_k.bug(
    (ROWS, "rows = queue_length + running"),
    think="a step can have more rows than the server has room for.",
    because="the server has room for len(costs) - 1 rows; the others go on waiting.",
)
choose_k.bug(
    (" / costs[rows, k]", ""),
    think="the more tokens a step writes, the better.",
    because="the time of a step grows too; what counts is tokens per millisecond.",
)
choose_k.bug(
    ("sum(alpha**i for i in range(k + 1))", "(1 + k * alpha)"),
    think="every draft token passes with alpha.",
    because="a draft token counts only if all tokens before it passed too: 1 + alpha + alpha^2 ...",
)
choose_k.bug(
    ("range(k + 1)", "range(1, k + 1)"),
    ("range(k + 1)", "range(k)"),
    think="a block of K draft tokens writes K at most.",
    because="the target writes one token more, also at K = 0, where this count would be 0.",
)
choose_k.bug(
    ("max(range(costs.shape[1]), key=tokens_a_ms)", "0"),
    ("sum(alpha**i for i in range(k + 1)) / costs[rows, k]", "-costs[rows, k]"),
    think="a step without drafts is always the best.",
    because="where tokens are free, a longer step writes more tokens per millisecond.",
)
for _k in range(1, 7):
    for _new in (f"{_k}", f"{_k} if alpha > 0 else 0"):
        choose_k.bug(
            ("max(range(costs.shape[1]), key=tokens_a_ms)", _new),
            think="one K is right for every load.",
            because="what a draft token costs depends on the rows of the step, and costs says how.",
        )


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


spend.bug(
    ("np.cumprod(row)", "row"),
    think="a confidence is the probability that its token is accepted.",
    because="a token counts only if all tokens of its row before it pass too: multiply them.",
)
spend.bug(
    ("int(np.argmax(tokens / pass_ms[rows:]))", "len(ranked)"),
    ("int(np.argmax(tokens / pass_ms[rows:]))", "int(np.argmax(tokens))"),
    think="what is drafted should be checked.",
    because="a token that hardly ever survives makes the pass longer for all rows.",
)
spend.bug(
    ("int(np.argmax(tokens / pass_ms[rows:]))", "sum(p > 0.5 for p, _ in ranked)"),
    think="a token is worth its time if it is accepted more often than not.",
    because="it depends on pass_ms: a free token is worth checking, a slow one may not be.",
)
spend.bug(
    ("tokens = rows + ", "tokens = "),
    think="only accepted draft tokens count.",
    because="the pass also writes one token of the target's own in every row.",
)
spend.bug(
    (
        "rows = len(confidences)\n",
        "rows = len(confidences)\n\n"
        "    def rate(k):\n"
        "        wrote = sum(np.cumprod(row)[:k].sum() for row in confidences)\n"
        "        count = sum(min(k, len(row)) for row in confidences)\n"
        "        return (rows + wrote) / pass_ms[rows + count]\n\n"
        "    k = max(range(max(map(len, confidences)) + 1), key=rate)\n"
        "    return [min(k, len(row)) for row in confidences]\n",
    ),
    think="all rows should have the same number of tokens checked.",
    because="a late token of a confident row can be worth more than the first of a doubtful one.",
)
spend.bug(
    ("pass_ms[rows:]", "pass_ms[: len(tokens)]"),
    think="pass_ms counts draft tokens.",
    because="it counts all tokens of the pass, and one of each row is there without a draft.",
)


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


expected_experts.bug(
    ("n_experts * (1 - left_out)", "min(n_tokens * active, n_experts)"),
    ("n_experts * (1 - left_out)", "float(min(n_tokens * active, n_experts))"),
    think="no two tokens choose the same expert while others are free.",
    because="the router looks at each token by itself, so two tokens can meet in one expert.",
)
expected_experts.bug(
    ("(1 - active / n_experts) ** n_tokens", "(1 - 1 / n_experts) ** (n_tokens * active)"),
    think="the choices of one token are independent of each other.",
    because="one token never chooses an expert twice: one token reads exactly `active` of them.",
)
expected_experts.bug(
    (
        "n_experts * (1 - left_out)",
        "(active + (n_tokens - 1) * active * (1 - active / n_experts) if n_tokens else 0.0)",
    ),
    think="each further token finds as many new experts as the second one.",
    because="every token leaves fewer experts that are still new for the next one.",
)
expected_experts.bug(
    ("n_experts * (1 - left_out)", "n_experts * left_out"),
    think="n_experts (1 - active/n_experts)^n_tokens experts are read.",
    because="this is the number that no token chooses; the others are read.",
)
