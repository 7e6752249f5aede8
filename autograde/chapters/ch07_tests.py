"""Hidden tests of chapter 07. Points attach to behaviours; see autograde/check.py."""

import functools
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from autograde.chapters.common import (
    Asked,
    expect,
    expect_form,
    no_warning,
    own_array,
    prediction,
    quiz,
)
from autograde.chapters.laws import LARGEST, answered, pieces, reference_residual
from autograde.check import Exercise, RemoteObject, untouched
from specdec_lib.lessons.ch07 import quizzes
from specdec_lib.lessons.ch07.checks import expect_mask
from specdec_lib.lessons.ch07.computed import candidate_ways
from specdec_lib.lessons.ch07.models import TargetGreedy, plus_one, settling
from specdec_lib.lessons.common.comparing import in_form_of
from specdec_lib.lessons.common.describing import describe, type_name
from specdec_lib.lessons.common.examples import Different, expect_value_error

P = np.array([0.45, 0.30, 0.15, 0.10])
Q = np.array([0.30, 0.45, 0.20, 0.05])
HALF = np.array([0.5, 0.25, 0.25])


def random_distributions(sizes: tuple[int, ...], seed: int) -> list[np.ndarray]:
    """Random distributions, one of each size, from a fixed seed."""
    rng = np.random.default_rng(seed)
    return [rng.dirichlet(np.ones(v)) for v in sizes]


test_prediction = prediction("prediction_07", 0, 1)
test_prediction_b = prediction("prediction_07_b", 0, 8)
test_quiz = quiz(quizzes.quiz_07)
test_quiz_b = quiz(quizzes.quiz_07_b)


one_hot_accept = Exercise("one_hot_accept")
target_probability = one_hot_accept.behaviour("accepts with the target's own probability")


@target_probability
@pytest.mark.parametrize(
    "token, r, accepted",
    [
        (0, 0.0, True),
        (0, 0.44, True),
        (0, 0.46, False),
        (1, 0.29, True),
        (1, 0.31, False),
        (2, 0.14, True),
        (2, 0.16, False),
        (3, 0.09, True),
        (3, 0.11, False),
        (3, 0.99, False),
    ],
)
def test_one_hot_coin(student, token, r, accepted):
    out, said = token_and_verdict(student.one_hot_accept(token, P, r, 0.5), len(P))
    if said is not accepted or (accepted and out != token):
        raise Different(
            f"one_hot_accept(draft_token={token}, p=np.array({P.tolist()}), r={r}, u=0.5) returned "
            f"{(out, said)}; here p of the token is {P[token]:g}, so it is "
            f"{'accepted' if accepted else 'replaced'}."
        )


def token_and_verdict(out: object, vocab_size: int) -> tuple[int, bool]:
    """What one_hot_accept returned, in whatever container. Raises Different for anything else."""
    pair = in_form_of((0, True), out)
    kinds = [type(each) for each in pair] if isinstance(pair, tuple) else []
    if kinds != [int, bool] or not 0 <= pair[0] < vocab_size:
        what = f"{describe(out)}, {type_name(out)}"
        why = f"not a tuple of a token below {vocab_size} and True or False"
        raise Different(f"one_hot_accept returned {what}, {why}.")
    return pair


@one_hot_accept.behaviour("replaces from the target without that token", after=[target_probability])
@pytest.mark.parametrize(
    "token, u, gives",
    [(0, 0.5, 1), (0, 0.6, 2), (0, 0.9, 3), (1, 0.6, 0), (1, 0.7, 2), (1, 0.9, 3), (1, 0.0, 0)]
    + [(2, 0.5, 0), (2, 0.6, 1), (2, 0.95, 3), (3, 0.49, 0), (3, 0.51, 1), (3, 0.99, 2)],
)
def test_one_hot_replaces(student, token, u, gives):
    rest = P.copy()
    rest[token] = 0
    hint = f"Without token {token} the target is {describe(rest / rest.sum())}."
    expect(student.one_hot_accept, token, P, 0.95, u, gives=(gives, False), hint=hint)


@one_hot_accept.behaviour("the law is the target's", after=[target_probability])
@pytest.mark.parametrize("p", [P, Q, HALF, *random_distributions((2, 3, 5, 9), seed=31)])
def test_one_hot_law(student, p):
    for token in range(len(p)):
        rest = p.copy()
        rest[token] = 0
        cuts = np.concatenate([np.cumsum(rest / rest.sum()), np.cumsum(p)])
        ways = [
            ((token, p, r, u), r_length * u_length)
            for r, r_length in pieces(p[token : token + 1])
            for u, u_length in pieces(cuts)
        ]
        law = np.zeros(len(p))
        for out, weight in answered(student.one_hot_accept.each, ways):
            law[token_and_verdict(out, len(p))[0]] += weight
        if not np.abs(law - p).max() <= 1e-12:
            raise Different(
                f"with draft token {token} always, the law of one_hot_accept is {describe(law)}; "
                f"the target is {describe(p)}."
            )


@one_hot_accept.behaviour(
    "the edges: no other mass, no mass, the boundary", after=[target_probability]
)
@pytest.mark.parametrize(
    "token, p, r, u, gives",
    [
        (1, [0.0, 1.0, 0.0], 0.9, 0.5, (1, True)),
        (1, [0.0, 1.0, 0.0], LARGEST, 0.5, (1, True)),
        (1, [0.0, LARGEST, 0.0], LARGEST, 0.5, (1, True)),
        (0, [0.0, 1.0, 0.0], 0.0, 0.5, (1, False)),
        (2, [0.5, 0.5, 0.0], 0.0, 0.75, (1, False)),
        (0, [0.5, 0.25, 0.25], 0.5, 0.25, (1, False)),
        (0, [0.5, 0.25, 0.25], 0.5, 0.75, (2, False)),
        (1, [0.5, 0.25, 0.25], 0.25, 0.0, (0, False)),
        (0, [0.5, 0.0, 0.5], 0.75, 0.0, (2, False)),
    ],
    ids=[
        *("certain", "certain, largest coin", "nearly 1 and alone", "p=0, r=0", "p=0 at the end"),
        *("r equals p", "r equals p, other u", "r equals p, u=0", "u=0 before a zero"),
    ],
)
def test_one_hot_edges(student, token, p, r, u, gives):
    hint = "Accepted is r < p(token), strictly, and whatever has no other mass beside it."
    expect_form(student.one_hot_accept, token, np.array(p), r, u, gives=gives, hint=hint)
    no_warning(student)
    untouched(student)


jacobi_decode = Exercise("jacobi_decode")
greedy_tokens = jacobi_decode.behaviour("the target's greedy tokens")


def two_back(seed: int, vocab_size: int = 5) -> Callable[[list[int]], list[int]]:
    """A target that looks at the last two tokens, from a random table."""
    after = np.random.default_rng(seed).integers(0, vocab_size, (vocab_size, vocab_size)).tolist()

    def target_greedy(tokens: list[int]) -> list[int]:
        return [after[b][t] for b, t in zip([0, *tokens], tokens, strict=False)]

    return target_greedy


def summed(tokens: list[int]) -> list[int]:
    """A target that looks at the whole text: the sum of it, plus one, modulo 7."""
    return [int(s + 1) % 7 for s in np.cumsum(tokens)]


class Lent(RemoteObject):
    """A target as an argument, for a guess of `places` tokens; it ends a loop that cannot end.

    A copy begins again: known wrong answers are called with a copy of what the student was given.
    """

    def __init__(self, target: TargetGreedy, places: int) -> None:
        # So much room that a second call in a pass is wrong in what it costs and in nothing else.
        super().__init__(Asked(settling(target, places, extra=places + 5)), call=True)
        self.target, self.places = target, places

    def __deepcopy__(self, memo: dict) -> "Lent":
        return Lent(self.target, self.places)

    def __repr__(self) -> str:
        return self.target.__name__


def trajectory(target: Callable, prompt: list[int], guess: list[int]) -> list[list[int]]:
    """The guess and what every pass makes of it, until nothing changes."""
    steps = [list(guess)]
    while len(steps) < 2 or steps[-1] != steps[-2]:
        after = target([*prompt, *steps[-1]])
        steps.append(after[len(prompt) - 1 : len(prompt) - 1 + len(guess)])
    return steps


JACOBI = [
    (two_back(8), [1], [0, 0, 0, 0, 0, 0, 0]),
    (two_back(19), [1], [2, 4, 1, 3, 0, 2, 4]),
    (two_back(10), [3, 2], [1, 1, 1, 1]),
    (two_back(49), [2, 0, 4, 1], [1, 2, 3, 4, 0, 1, 2, 3]),
    (two_back(12), [4, 4, 4], [3, 0]),
    (summed, [3], [0, 0, 0, 0, 0]),
    (summed, [1, 5], [6, 5, 4, 3, 2, 1]),
    (plus_one, [0], [5, 5, 3]),
]


@greedy_tokens
@pytest.mark.parametrize("target, prompt, guess", JACOBI)
def test_jacobi_tokens(student, target, prompt, guess):
    gives = trajectory(target, prompt, guess)[-1]
    hint = "The token of place i is the argmax behind the place before it."
    lent, tokens = Lent(target, len(guess)), first_part(student.jacobi_decode)
    expect(tokens, lent, prompt, guess, gives=gives, hint=hint)


def first_part(function: Callable) -> Callable:
    """`function` with nothing but the first of the two values that it returns."""

    @functools.wraps(function)
    def part(*args: object) -> object:
        out = function(*args)
        return out[0] if isinstance(out, list | tuple) and len(out) == 2 else out

    return part


def check_jacobi(student, target, prompt, guess, compare=expect):
    """Raise Different unless tokens and passes are right, by `expect` or `expect_form`."""
    steps = trajectory(target, prompt, guess)
    shown = steps[1:] if len(steps) < 7 else [*steps[1:4], "...", *steps[-2:]]
    hint = f"The passes give {', '.join(map(str, shown))}; the one that changes nothing counts."
    gives, lent = (steps[-1], len(steps) - 1), Lent(target, len(guess))
    compare(student.jacobi_decode, lent, prompt, guess, gives=gives, hint=hint)


@jacobi_decode.behaviour("all places at once, and the last pass counts", after=[greedy_tokens])
@pytest.mark.parametrize("target, prompt, guess", JACOBI)
def test_jacobi_passes(student, target, prompt, guess):
    check_jacobi(student, target, prompt, guess)


@jacobi_decode.behaviour("as many passes as it takes", after=[greedy_tokens])
@pytest.mark.parametrize(
    "prompt, guess", [([0], [50] * 20), ([7, 2], [0] * 33), ([3], list(range(40, 0, -1)))]
)
def test_jacobi_of_long_guesses(student, prompt, guess):
    check_jacobi(student, plus_one, prompt, guess)


@jacobi_decode.behaviour("one call a pass, over prompt and guess", after=[greedy_tokens])
@pytest.mark.parametrize("target, prompt, guess", JACOBI)
def test_jacobi_calls(student, target, prompt, guess):
    lent = Lent(target, len(guess))
    student.jacobi_decode(lent, prompt, guess)
    asked = lent.thing.trace
    wanted = [[*prompt, *step] for step in trajectory(target, prompt, guess)[:-1]]
    if asked != wanted:
        raise Different(
            f"jacobi_decode behind prompt={prompt} from guess={guess} called target_greedy with "
            f"{describe(asked)}; expected one call a pass: {describe(wanted)}."
        )


@jacobi_decode.behaviour("the edges: an empty guess, a right one", after=[greedy_tokens])
@pytest.mark.parametrize(
    "prompt, guess",
    [
        *(([4], []), ([4, 9], []), ([4, 9], [10, 11, 12]), ([4, 9], [10]), ([4, 9], [0])),
        *(([0], [1, 2, 9]), ([0], [9, 2, 3])),
    ],
    ids=[
        *("empty", "empty, longer prompt", "right", "one right", "one wrong", "last wrong"),
        "first wrong",
    ],
)
def test_jacobi_edges(student, prompt, guess):
    check_jacobi(student, plus_one, prompt, guess, expect_form)
    untouched(student)


multi_candidate_accept = Exercise("multi_candidate_accept")
in_turn = multi_candidate_accept.behaviour("each candidate against what is still wanted")


def check_candidates(student, candidates, p, q, r, u, gives, hint="", compare=expect):
    residuals = [np.asarray(p, dtype=float)]
    for _ in candidates:
        residuals.append(reference_residual(residuals[-1], np.asarray(q, dtype=float)))
    shown = [residual.tolist() for residual in residuals]
    hint = f"The residuals in turn are {describe(shown)}. {hint}"
    arguments = (candidates, np.array(p), np.array(q), np.array(r, dtype=float), u)
    compare(student.multi_candidate_accept, *arguments, gives=gives, hint=hint)


@in_turn
@pytest.mark.parametrize(
    "candidates, r, gives",
    [
        ([0], [0.99], 0),
        ([1], [0.6], 1),
        ([2], [0.7], 2),
        ([1, 2], [0.6, 0.1], 1),
        ([1, 0], [0.9, 0.99], 0),
        ([1, 3], [0.7, 0.9], 3),
        ([1, 1, 0], [0.7, 0.1, 0.9], 0),
        ([2, 1, 3], [0.9, 0.2, 0.5], 3),
        ([1, 2, 2, 3], [0.7, 0.1, 0.1, 0.99], 3),
    ],
)
def test_candidates_in_turn(student, candidates, r, gives):
    # u is the end that no accepted token stands at, so that a draw in its place is seen.
    u = 0.99 if gives == 0 else 0.0
    check_candidates(student, candidates, P, Q, r, u, gives)


POOR = np.array([0.05, 0.15, 0.20, 0.60])


@in_turn
@pytest.mark.parametrize(
    "candidates, r, gives",
    [
        ([3, 3, 1], [0.5, 0.5, 0.9], 1),
        ([3, 2, 1], [0.5, 0.5, 0.9], 1),
        ([3, 2], [0.1, 0.9], 3),
        ([2, 0], [0.8, 0.9], 0),
        ([2, 2, 3], [0.7, 0.1, 0.1], 2),
    ],
)
def test_candidates_of_a_poor_draft(student, candidates, r, gives):
    check_candidates(student, candidates, P, POOR, r, 0.0 if gives else 0.99, gives)


# A pair whose second candidate may pass or not: after a rejection token 0 has a ratio of 0.77.
WIDE, FAR = np.array([0.30, 0.60, 0.10]), np.array([0.20, 0.05, 0.75])


@in_turn
@pytest.mark.parametrize(
    "candidates, r, u, gives",
    [
        ([2, 0], [0.9, 0.5], 0.5, 0),
        ([2, 0], [0.5, 0.9], 0.5, 1),
        ([2, 2, 0], [0.9, 0.1, 0.5], 0.5, 1),
        ([2, 0, 0], [0.9, 0.8, 0.1], 0.5, 1),
        ([0, 2], [0.99, 0.99], 0.5, 0),
    ],
)
def test_candidates_have_coins_of_their_own(student, candidates, r, u, gives):
    check_candidates(student, candidates, WIDE, FAR, r, u, gives, "Candidate i has coin r[i].")


@multi_candidate_accept.behaviour("the draw where all are rejected", after=[in_turn])
@pytest.mark.parametrize(
    "candidates, r, u, gives",
    [
        ([1], [0.7], 0.74, 0),
        ([1], [0.7], 0.76, 3),
        ([1, 2], [0.7, 0.5], 0.68, 0),
        ([1, 2], [0.7, 0.5], 0.70, 3),
        ([1, 1], [0.9, 0.1], 0.72, 3),
        ([2, 1, 1], [0.9, 0.5, 0.5], 0.60, 0),
        ([2, 1, 1], [0.9, 0.5, 0.5], 0.65, 3),
        ([2, 1, 1, 2], [0.9, 0.5, 0.5, 0.5], 0.53, 3),
    ],
)
def test_candidates_all_refused(student, candidates, r, u, gives):
    hint = "Every rejection takes q off once more, and the draw is from the last residual."
    check_candidates(student, candidates, P, Q, r, u, gives, hint)


@multi_candidate_accept.behaviour("the law is the target's", after=[in_turn])
@pytest.mark.parametrize(
    "p, q, n",
    [
        (P, Q, 1),
        (P, Q, 2),
        (P, POOR, 2),
        (Q, P, 2),
        (P, P, 2),
        (P, Q, 3),
        (HALF, np.array([0.25, 0.75, 0.0]), 3),
        (WIDE, FAR, 2),
        (WIDE, FAR, 3),
        (*random_distributions((3, 3), seed=41), 2),
        (*random_distributions((3, 3), seed=43), 3),
    ],
)
def test_candidates_law(student, p, q, n):
    ways = [
        ((list(drawn), p, q, coins, u), weight)
        for (drawn, coins, u), weight in candidate_ways(p, q, n)
    ]
    law = np.zeros(len(p))
    for out, weight in answered(student.multi_candidate_accept.each, ways):
        out = in_form_of(0, out)
        if type(out) is not int or not 0 <= out < len(p):
            what = f"{describe(out)}, {type_name(out)}"
            raise Different(f"multi_candidate_accept returned {what}, not a token below {len(p)}.")
        law[out] += weight
    if not np.abs(law - p).max() <= 1e-12:
        raise Different(
            f"over all lists of {n} candidates, coins and draws the law that comes out is "
            f"{describe(law)}; the target is {describe(p)} and the draft {describe(q)}."
        )


@multi_candidate_accept.behaviour("the edges: no candidate, zeros, the boundary", after=[in_turn])
@pytest.mark.parametrize(
    "candidates, p, q, r, u, gives",
    [
        ([], P, Q, [], 0.5, 1),
        ([], P, Q, [], 0.95, 3),
        ([0], [0.0, 0.5, 0.5], HALF, [0.0], 0.9, 2),
        ([0, 0], [0.0, 0.5, 0.5], HALF, [0.0, 0.0], 0.0, 1),
        ([2], HALF, HALF, [LARGEST], 0.0, 2),
        ([2, 0], HALF, HALF, [LARGEST, 0.0], 0.0, 2),
        ([1], HALF, [0.25, 0.5, 0.25], [0.5], 0.5, 0),
        ([1], HALF, [0.25, 0.5, 0.25], [0.4999999], 0.99, 1),
        ([1, 0], [0.25, 0.75], [0.75, 0.25], [0.99, 0.99], 0.0, 1),
        ([0, 0], [0.25, 0.75], [0.75, 0.25], [0.9, 0.0], 0.0, 1),
        ([0], [1.0, 0.0], [0.0, 1.0], [0.99], 0.5, 0),
    ],
    ids=[
        *("n=0", "n=0, other u", "p=0, r=0", "p=0 twice", "equal models", "equal, second unused"),
        *("r q equals the residual", "just below", "first accepted", "residual 0, r=0", "q=0"),
    ],
)
def test_candidates_edges(student, candidates, p, q, r, u, gives):
    hint = "Accepted is r q < residual, strictly."
    check_candidates(student, candidates, p, q, r, u, gives, hint, expect_form)
    no_warning(student)
    untouched(student)


tree_attention_mask = Exercise("tree_attention_mask")
upwards = tree_attention_mask.behaviour("itself and every ancestor")


def ancestors(parents: list[int]) -> list[list[int]]:
    """What each node sees: itself and whom one meets from it towards the prefix, in order."""
    sees = []
    for node in range(len(parents)):
        sees.append([])
        while node >= 0:
            sees[-1].insert(0, node)
            node = parents[node]
    return sees


@upwards
@pytest.mark.parametrize(
    "parents",
    [[-1, 0, 1], [-1, 0, 1, 2, 3, 4], [-1, -1, 0, 0, 1, 2], [-1, 0, 0, 2, 3], [-1, -1, 1, 2, 3]],
)
def test_mask_sees_upwards(student, parents):
    expect_mask(
        student.tree_attention_mask,
        parents,
        ancestors(parents),
        "A node sees itself, its parent, that one's parent, and so on.",
        form=False,
    )


@tree_attention_mask.behaviour("no other branch, whatever the order", after=[upwards])
@pytest.mark.parametrize(
    "parents",
    [
        [-1, -1, -1, -1],
        [-1, -1, 0, 1, 0, 1],
        [-1, 0, 0, 0],
        [-1, -1, 1, 0, 2, 3, 2],
        [-1, 0, -1, 2, 1, 3, 5, 4],
        *([int(np.random.default_rng(seed).integers(-1, i)) for i in range(12)] for seed in (3, 4)),
    ],
)
def test_mask_hides_other_branches(student, parents):
    expect_mask(
        student.tree_attention_mask,
        parents,
        ancestors(parents),
        "Siblings and cousins are hidden, also those listed before.",
        form=False,
    )


@tree_attention_mask.behaviour(
    "the edges: one node, none, many; the argument as it was", after=[upwards]
)
@pytest.mark.parametrize("parents", [[], [-1], [-1, -1], [-1, *range(63)]])
def test_mask_edges(student, parents):
    hint = "N nodes make an N by N mask of True and False, also for N = 0."
    expect_mask(student.tree_attention_mask, parents, ancestors(parents), hint)
    untouched(student)


walk_tree = Exercise("walk_tree")
one_level = walk_tree.behaviour("children of the text, in turn")
downwards = walk_tree.behaviour("on to the children of the accepted node", after=[one_level])

# Three rows for three tokens, all different, so that a row too far is seen.
ROWS_P = np.array([[0.3, 0.6, 0.1], [0.5, 0.2, 0.3], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])
ROWS_Q = np.array([[0.2, 0.05, 0.75], [0.3, 0.6, 0.1], [0.6, 0.3, 0.1], [0.3, 0.2, 0.5]])


def rows_of(rows: np.ndarray, nodes: int) -> np.ndarray:
    """One row after the text and one after every node, taken from `rows` in turn."""
    return rows[np.arange(nodes + 1) % len(rows)]


def reference_walk(parents, tokens, p, q, r, u) -> list[int]:
    """What the walk writes, by the rule of the card."""
    written, node, rest = [], -1, p[0]
    while True:
        for child in [i for i, parent in enumerate(parents) if parent == node]:
            token = tokens[child]
            if r[child] * q[node + 1][token] < rest[token]:
                written, node, rest = [*written, token], child, p[child + 1]
                break
            rest = reference_residual(rest, q[node + 1])
        else:
            low = np.searchsorted(np.cumsum(rest), u, side="right")
            return [*written, int(min(low, np.flatnonzero(rest)[-1]))]


def check_walk(student, parents, tokens, r, u, hint="", compare=expect, p=ROWS_P, q=ROWS_Q):
    arguments = (parents, tokens, rows_of(p, len(parents)), rows_of(q, len(parents)))
    arguments = (*arguments, np.array(r, dtype=float), u)
    gives = reference_walk(*arguments)
    compare(student.walk_tree, *arguments, gives=gives, hint=hint)


@one_level
@pytest.mark.parametrize(
    "tokens, r, u",
    [
        ([0], [0.5], 0.1),
        ([2], [0.1], 0.5),
        ([2], [0.9], 0.5),
        ([2, 0], [0.9, 0.5], 0.5),
        ([2, 0], [0.5, 0.9], 0.5),
        ([2, 2, 0], [0.9, 0.1, 0.5], 0.3),
        ([2, 0, 1], [0.9, 0.99, 0.9], 0.3),
        ([2, 2], [0.9, 0.2], 0.1),
        ([0, 2], [0.99, 0.1], 0.95),
    ],
)
def test_walk_of_one_level(student, tokens, r, u):
    hint = "Each child is judged against what the ones before it have left, with its own coin."
    check_walk(student, [-1] * len(tokens), tokens, r, u, hint)


@downwards
@pytest.mark.parametrize(
    "parents, tokens, r, u",
    [
        ([-1, 0, 1], [0, 0, 2], [0.5, 0.5, 0.5], 0.4),
        ([-1, 0, 1], [0, 1, 2], [0.5, 0.9, 0.1], 0.4),
        ([-1, 0, 1], [2, 0, 2], [0.9, 0.1, 0.1], 0.4),
        ([-1, -1, 0, 1], [2, 1, 0, 2], [0.9, 0.5, 0.1, 0.2], 0.6),
        ([-1, -1, 0, 0, 1, 1], [0, 1, 1, 0, 2, 2], [0.9, 0.9, 0.9, 0.9, 0.1, 0.1], 0.2),
        ([-1, -1, 0, 0, 1, 1], [2, 0, 1, 0, 1, 0], [0.9, 0.6, 0.1, 0.1, 0.9, 0.2], 0.7),
        ([-1, 0, 0, 2, 1], [1, 1, 0, 2, 0], [0.9, 0.9, 0.2, 0.4, 0.1], 0.9),
        ([-1, -1, 1, 0, 2, 3], [2, 0, 0, 1, 2, 1], [0.9, 0.2, 0.5, 0.1, 0.3, 0.1], 0.5),
    ],
)
def test_walk_goes_down(student, parents, tokens, r, u):
    hint = "The children of node i are judged by row i + 1 of p and q, from p anew."
    check_walk(student, parents, tokens, r, u, hint)


@walk_tree.behaviour("the law is the target's", after=[one_level])
@pytest.mark.parametrize("parents", [[-1, -1], [-1, 0], [-1, -1, 0], [-1, 0, 0]])
def test_walk_law(student, parents):
    law = np.zeros((3, 3))
    for out, weight in answered(student.walk_tree.each, list(walk_ways(parents))):
        law += weight * first_two(out)
    wanted = ROWS_P[0][:, None] * ROWS_P[1:4]
    if not np.abs(law - wanted).max() <= 1e-12:
        raise Different(
            f"over all drafts, coins and draws on the tree {parents} the law of the first two "
            f"tokens is {describe(law)}; the target's is {describe(wanted)}."
        )


def first_two(out: object) -> np.ndarray:
    """Where the text that begins with `out` has its mass, over the first two tokens (3, 3)."""
    listed = out if isinstance(out, list | tuple | np.ndarray) else []
    tokens = [in_form_of(0, token) for token in listed]
    if not tokens or not all(type(token) is int and 0 <= token < 3 for token in tokens):
        raise Different(f"walk_tree returned {describe(out)}, not a list of tokens below 3.")
    law = np.zeros((3, 3))
    law[tokens[0]] = ROWS_P[1 + tokens[0]] if len(tokens) == 1 else np.eye(3)[tokens[1]]
    return law


def walk_ways(parents: list[int]):
    """Every way a walk can go if the models look at the last token only: arguments, weight."""
    nodes = len(parents)
    for drawn in np.ndindex(*(3,) * nodes):
        tokens = [int(token) for token in drawn]
        after = np.array([0, *(1 + token for token in tokens)])
        p, q = ROWS_P[after], ROWS_Q[after]
        weight = float(
            np.prod([q[parent + 1][t] for parent, t in zip(parents, tokens, strict=True)])
        )
        cuts, lasts = [], [p[0]]
        for node, parent in enumerate(parents):
            rest = p[parent + 1]
            for child in range(node):
                if parents[child] == parent:
                    rest = reference_residual(rest, q[parent + 1])
            cuts.append(min(1.0, rest[tokens[node]] / q[parent + 1][tokens[node]]))
            lasts += [reference_residual(rest, q[parent + 1]), p[node + 1]]
        u_pieces = list(pieces(np.concatenate([np.cumsum(last) for last in lasts])))
        sides = [list(pieces(np.array([cut]))) for cut in cuts]
        for choice in product(*sides, u_pieces):
            *coins, u = [middle for middle, _ in choice]
            lengths = float(np.prod([length for _, length in choice]))
            yield (parents, tokens, p, q, np.array(coins), u), weight * lengths


@walk_tree.behaviour("the edges: no node, a leaf, twins, the boundary", after=[one_level])
@pytest.mark.parametrize(
    "parents, tokens, r, u",
    [
        ([], [], [], 0.1),
        ([], [], [], 0.5),
        ([-1], [0], [0.1], 0.6),
        ([-1, 0, 1, 2], [1, 0, 2, 1], [0.5, 0.1, 0.1, 0.1], 0.9),
        ([-1, -1, 0, 1], [1, 1, 0, 2], [0.5, 0.5, 0.1, 0.1], 0.1),
        ([-1, -1, 0, 1], [2, 2, 0, 2], [0.9, 0.0, 0.1, 0.1], 0.2),
    ],
    ids=["none", "none, other u", "a leaf", "a long chain", "twins accepted", "twins rejected"],
)
def test_walk_edges(student, parents, tokens, r, u):
    hint = "A node without children ends the walk with a draw from its own row of p."
    check_walk(student, parents, tokens, r, u, hint, expect_form)
    no_warning(student)
    untouched(student)


map_draft = Exercise("map_draft")
target_ids = map_draft.behaviour("mass goes to the target's ids")
nothing_shared = map_draft.behaviour("an error where nothing is shared", after=[target_ids])


def check_map(student, q, ids, size, gives, hint="", compare=expect):
    arguments = (np.array(q, dtype=float), np.array(ids), size)
    compare(student.map_draft, *arguments, gives=np.array(gives, dtype=float), hint=hint)


@target_ids
@pytest.mark.parametrize(
    "q, ids, size, gives",
    [
        ([0.5, 0.3, 0.2], [2, 0, 1], 3, [0.3, 0.2, 0.5]),
        ([0.5, 0.3, 0.2], [1, 2, 0], 3, [0.2, 0.5, 0.3]),
        ([0.1, 0.9], [3, 1], 5, [0, 0.9, 0, 0.1, 0]),
        ([0.25, 0.75], [5, 0], 6, [0.75, 0, 0, 0, 0, 0.25]),
        ([0.1, 0.2, 0.3, 0.4], [0, 1, 2, 3], 4, [0.1, 0.2, 0.3, 0.4]),
    ],
)
def test_map_moves_mass(student, q, ids, size, gives):
    hint = "Entry i of draft_to_target is the target id of draft token i."
    check_map(student, q, ids, size, gives, hint)


@map_draft.behaviour("only what is shared, renormalised", after=[target_ids])
@pytest.mark.parametrize(
    "q, ids, size, gives",
    [
        ([0.5, 0.3, 0.2], [2, -1, 0], 4, [2 / 7, 0, 5 / 7, 0]),
        ([0.5, 0.25, 0.25], [-1, 1, 2], 3, [0, 0.5, 0.5]),
        ([0.9, 0.1], [-1, 0], 3, [1, 0, 0]),
        ([0.2, 0.2, 0.2, 0.4], [3, -1, -1, 1], 4, [0, 2 / 3, 0, 1 / 3]),
        ([0.5, 0.125, 0.375], [-1, 4, 0], 5, [0.75, 0, 0, 0, 0.25]),
        ([0.999, 0.001], [-1, 1], 2, [0, 1]),
    ],
)
def test_map_renormalises(student, q, ids, size, gives):
    hint = "A token with -1 has no place in the target; what is left is divided by its sum."
    check_map(student, q, ids, size, gives, hint)


@map_draft.behaviour("masses on one id add", after=[target_ids])
@pytest.mark.parametrize(
    "q, ids, size, gives",
    [
        ([0.25, 0.25, 0.5], [1, 1, 0], 2, [0.5, 0.5]),
        ([0.1, 0.2, 0.3, 0.4], [2, 2, 2, 0], 3, [0.4, 0, 0.6]),
        ([0.25, 0.2, 0.25, 0.3], [1, -1, 1, 2], 3, [0, 0.625, 0.375]),
        ([0.2, 0.3, 0.1, 0.4], [0, -1, 0, -1], 2, [1, 0]),
    ],
)
def test_map_adds(student, q, ids, size, gives):
    hint = (
        "Two draft tokens may stand for one target token; NumPy's += with ids counts one of them."
    )
    check_map(student, q, ids, size, gives, hint)


@nothing_shared
@pytest.mark.parametrize(
    "q, ids, size",
    [([0.5, 0.5], [-1, -1], 3), ([1.0, 0.0], [-1, 2], 4), ([0.0, 0.6, 0.4], [1, -1, -1], 2)],
    ids=["no id", "an id without mass", "an id without mass, first"],
)
def test_map_error(student, q, ids, size):
    why = "no mass is shared, so nothing can be drafted"
    expect_value_error(student.map_draft, np.array(q), np.array(ids), size, why=why)
    no_warning(student)


@nothing_shared
@pytest.mark.parametrize(
    "q, ids, size, gives",
    [([1.0, 0.0], [2, -1], 4, [0, 0, 1, 0]), ([0.0, 0.6, 0.4], [-1, 1, -1], 2, [0, 1])],
)
def test_map_of_one_shared_id(student, q, ids, size, gives):
    check_map(student, q, ids, size, gives, "One id with mass is enough: that is no error.")


@map_draft.behaviour("a new array, the arguments as they were", after=[target_ids])
@pytest.mark.parametrize(
    "q, ids, gives",
    [([0.25, 0.75], [0, 1], [0.25, 0.75]), ([0.5, 0.25, 0.25], [0, -1, 2], [2 / 3, 0, 1 / 3])],
)
def test_map_is_new(student, q, ids, gives):
    check_map(student, q, ids, len(gives), gives, compare=expect_form)
    own_array(student)
    untouched(student)
    no_warning(student)


expected_experts = Exercise("expected_experts")
read_once = expected_experts.behaviour(
    "an expert that several tokens choose is read once", weight=2
)


def mean_experts(n_tokens: int, n_experts: int, active: int) -> float:
    """Experts read on average: one more token finds the share that is left over new."""
    read = 0.0
    for _ in range(n_tokens):
        read += active * (1 - read / n_experts)
    return read


@read_once
@pytest.mark.parametrize(
    "n_tokens, n_experts, active",
    [(2, 8, 2), (3, 8, 2), (5, 8, 2), (4, 128, 8), (5, 256, 8), (64, 64, 6), (9, 4, 1), (2, 4, 3)],
)
def test_experts_of_several_tokens(student, n_tokens, n_experts, active):
    gives = mean_experts(n_tokens, n_experts, active)
    hint = f"One token leaves an expert out with probability {1 - active / n_experts:.3g}."
    expect(student.expected_experts, n_tokens, n_experts, active, gives=gives, hint=hint)


@expected_experts.behaviour("the edges: no token, one, all experts active; a number")
@pytest.mark.parametrize(
    "n_tokens, n_experts, active",
    [(0, 8, 2), (0, 4, 4), (1, 8, 2), (1, 256, 8), (6, 5, 5), (3, 1, 1), (400, 8, 2)],
    ids=["none", "none, all active", "one", "one of many", "all active", "one expert", "many"],
)
def test_experts_at_the_edges(student, n_tokens, n_experts, active):
    gives = mean_experts(n_tokens, n_experts, active)
    hint = "No token reads nothing, one token reads `active` experts, and many read all of them."
    expect_form(student.expected_experts, n_tokens, n_experts, active, gives=gives, hint=hint)
    no_warning(student)
