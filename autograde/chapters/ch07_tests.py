"""Hidden tests of chapter 07. Points attach to behaviours; see autograde/check.py.

What stays here and not among the numbers: how many calls a lent target answers, and the three
tokens of the law of a walk, for which its sums are written.
"""

import functools
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from autograde.chapters.ch07_wrong import WRONG  # noqa: F401  known to the grader by this name
from autograde.chapters.common import (
    Asked,
    expect,
    expect_form,
    no_warning,
    own_array,
    prediction,
    quiz,
)
from autograde.chapters.distributions import answered, pieces
from autograde.chapters.expected import ch07_expected as expected
from autograde.chapters.expected import rejection
from autograde.chapters.numbers import ch07_numbers as numbers
from autograde.chapters.parametrized import Exercise
from autograde.check import RemoteObject, by_cause, untouched
from specdec_lib.lessons.ch07 import quizzes
from specdec_lib.lessons.ch07.checks import expect_mask
from specdec_lib.lessons.ch07.computed import candidate_ways
from specdec_lib.lessons.ch07.models import TargetGreedy, plus_one, settling
from specdec_lib.lessons.common.comparing import in_form_of
from specdec_lib.lessons.common.describing import describe, type_name
from specdec_lib.lessons.common.examples import Different, expect_value_error

test_prediction = prediction("prediction_07", 0, 1)
test_prediction_b = prediction("prediction_07_b", 0, 8)
test_quiz = quiz(quizzes.quiz_07)
test_quiz_b = quiz(quizzes.quiz_07_b)


one_hot_accept = Exercise("one_hot_accept")
target_probability = one_hot_accept.behaviour("accepts with the target's own probability")


@target_probability
@pytest.mark.parametrize("token, r", numbers.ONE_HOT_COINS)
def test_one_hot_coin(student, token, r):
    p, u = numbers.P, numbers.ONE_HOT_COINS_U
    out, said = token_and_verdict(student.one_hot_accept(token, p, r, u), len(p))
    accepted = expected.one_hot(token, p, r, u)[1]
    if said is not accepted or (accepted and out != token):
        raise Different(
            f"one_hot_accept(draft_token={token}, p=np.array({p.tolist()}), r={r}, u={u}) returned "
            f"{(out, said)}; here p of the token is {p[token]:g}, so it is "
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


@one_hot_accept.behaviour("replaces from the target without that token")
@pytest.mark.parametrize("token, u", numbers.ONE_HOT_REPLACES)
def test_one_hot_replaces(student, token, u):
    p, r = numbers.P, numbers.ONE_HOT_REJECTS
    hint = f"Without token {token} the target is {describe(expected.others(p, token))}."
    gives = expected.one_hot(token, p, r, u)
    expect(student.one_hot_accept, token, p, r, u, gives=gives, hint=hint)


@one_hot_accept.behaviour("the law is the target's")
@pytest.mark.parametrize("p", numbers.ONE_HOT_LAWS)
def test_one_hot_law(student, p):
    for token in range(len(p)):
        cuts = np.concatenate([np.cumsum(expected.others(p, token)), np.cumsum(p)])
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


@one_hot_accept.behaviour("the edges: no other mass, no mass, the boundary")
@pytest.mark.parametrize("token, p, r, u", numbers.ONE_HOT_EDGES)
def test_one_hot_edges(student, token, p, r, u):
    hint = (
        "Accepted is r < p(token), strictly, and a token beside which no other has any "
        "probability: exactly 0, and not nearly."
    )
    gives = expected.one_hot(token, p, r, u)
    expect_form(student.one_hot_accept, token, np.array(p), r, u, gives=gives, hint=hint)
    no_warning(student)
    untouched(student)


jacobi_decode = Exercise("jacobi_decode")
greedy_tokens = jacobi_decode.behaviour("the target's greedy tokens")


class Lent(RemoteObject):
    """A target as an argument, for a prompt and a guess; it ends a loop that cannot end.

    A copy begins again: known wrong answers are called with a copy of what the student was given.
    """

    def __init__(self, target: TargetGreedy, *text: list[int]) -> None:
        # So much room that a second call in a pass is wrong in what it costs and in nothing else.
        prompt, guess = text
        lent = settling(target, prompt, guess, extra=len(guess) + 5)
        super().__init__(Asked(lent), call=True)
        self.target, self.text = target, text

    def __deepcopy__(self, memo: dict) -> "Lent":
        return Lent(self.target, *self.text)

    def __repr__(self) -> str:
        return self.target.__name__


@greedy_tokens
@pytest.mark.parametrize("target, prompt, guess", numbers.JACOBI)
def test_jacobi_tokens(student, target, prompt, guess):
    gives = expected.trajectory(target, prompt, guess)[-1]
    hint = "The token of place i is the argmax after the prompt and the places before it."
    lent, tokens = Lent(target, prompt, guess), first_part(student.jacobi_decode)
    try:
        expect(tokens, lent, prompt, guess, gives=gives, hint=hint)
    except Different as wrong:
        raise by_reading(wrong, prompt, guess, lent.thing.trace) from None


def by_reading(wrong: Different, prompt: list, guess: list, asked: list[list]) -> Different:
    """`wrong` with its cause, if the first pass read the guess without the prompt."""
    if not asked or asked[0] == [*prompt, *guess]:
        return wrong
    told = {
        tuple(guess): "the target reads the guess alone.",
        (prompt[-1], *guess): "the last token of the prompt is enough to go on from.",
    }
    cause = told.get(tuple(asked[0]))
    return by_cause(wrong, cause) if cause else wrong


def first_part(function: Callable) -> Callable:
    """`function` with nothing but the first of the two values that it returns."""

    @functools.wraps(function)
    def part(*args: object) -> object:
        out = function(*args)
        return out[0] if isinstance(out, list | tuple) and len(out) == 2 else out

    return part


def check_jacobi(student, target, prompt, guess, compare=expect):
    """Raise Different unless tokens and passes are right, by `expect` or `expect_form`."""
    steps = expected.trajectory(target, prompt, guess)
    shown = steps[1:] if len(steps) < 7 else [*steps[1:4], "...", *steps[-2:]]
    hint = f"The passes give {', '.join(map(str, shown))}; the one that changes nothing counts."
    gives, lent = (steps[-1], len(steps) - 1), Lent(target, prompt, guess)
    compare(student.jacobi_decode, lent, prompt, guess, gives=gives, hint=hint)


@jacobi_decode.behaviour("all places at once, and the last pass counts")
@pytest.mark.parametrize("target, prompt, guess", numbers.JACOBI)
def test_jacobi_passes(student, target, prompt, guess):
    check_jacobi(student, target, prompt, guess)


@jacobi_decode.behaviour("as many passes as it takes")
@pytest.mark.parametrize("prompt, guess", numbers.JACOBI_LONG)
def test_jacobi_of_long_guesses(student, prompt, guess):
    check_jacobi(student, plus_one, prompt, guess)


@jacobi_decode.behaviour("one call a pass, over prompt and guess")
@pytest.mark.parametrize("target, prompt, guess", numbers.JACOBI)
def test_jacobi_calls(student, target, prompt, guess):
    lent = Lent(target, prompt, guess)
    student.jacobi_decode(lent, prompt, guess)
    asked = lent.thing.trace
    steps = expected.trajectory(target, prompt, guess)[:-1]
    wanted = [[*prompt, *step] for step in steps]
    if asked != wanted:
        raise Different(
            f"jacobi_decode behind prompt={prompt} from guess={guess} called target_greedy with "
            f"{describe(asked)}; expected one call a pass: {describe(wanted)}."
        )


@jacobi_decode.behaviour("the edges: an empty guess, a right one")
@pytest.mark.parametrize("prompt, guess", numbers.JACOBI_EDGES)
def test_jacobi_edges(student, prompt, guess):
    check_jacobi(student, plus_one, prompt, guess, expect_form)
    untouched(student)


multi_candidate_accept = Exercise("multi_candidate_accept")
in_turn = multi_candidate_accept.behaviour("each candidate against what is still wanted")


def check_candidates(student, candidates, p, q, r, u, hint="", compare=expect):
    residuals = expected.residuals(p, q, len(candidates))
    shown = [list(map(float, residual)) for residual in residuals]
    hint = f"The residuals in turn are {describe(shown)}. {hint}"
    arguments = (candidates, np.array(p), np.array(q), np.array(r, dtype=float), u)
    gives = expected.candidate(*arguments)
    compare(student.multi_candidate_accept, *arguments, gives=gives, hint=hint)


@in_turn
@pytest.mark.parametrize("candidates, r, u", numbers.IN_TURN)
def test_candidates_in_turn(student, candidates, r, u):
    check_candidates(student, candidates, numbers.P, numbers.Q, r, u)


@in_turn
@pytest.mark.parametrize("candidates, r, u", numbers.IN_TURN_POOR)
def test_candidates_of_a_poor_draft(student, candidates, r, u):
    check_candidates(student, candidates, numbers.P, numbers.POOR, r, u)


@in_turn
@pytest.mark.parametrize("candidates, r, u", numbers.OWN_COINS)
def test_candidates_have_coins_of_their_own(student, candidates, r, u):
    hint = "Candidate i has coin r[i]."
    check_candidates(student, candidates, numbers.WIDE, numbers.FAR, r, u, hint)


@multi_candidate_accept.behaviour("the draw where all are rejected")
@pytest.mark.parametrize("candidates, r, u", numbers.ALL_REJECTED)
def test_candidates_all_refused(student, candidates, r, u):
    hint = "Every rejection takes q off once more, and the draw is from the last residual."
    check_candidates(student, candidates, numbers.P, numbers.Q, r, u, hint)


@multi_candidate_accept.behaviour("the law is the target's")
@pytest.mark.parametrize("p, q, n", numbers.CANDIDATE_LAWS)
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


@multi_candidate_accept.behaviour("the edges: no candidate, zeros, the boundary")
@pytest.mark.parametrize("candidates, p, q, r, u", numbers.CANDIDATE_EDGES)
def test_candidates_edges(student, candidates, p, q, r, u):
    hint = "Accepted is r q < residual, strictly."
    check_candidates(student, candidates, p, q, r, u, hint, expect_form)
    no_warning(student)
    untouched(student)


tree_attention_mask = Exercise("tree_attention_mask")
upwards = tree_attention_mask.behaviour("itself and every ancestor")


@upwards
@pytest.mark.parametrize("parents", numbers.UPWARDS)
def test_mask_sees_upwards(student, parents):
    hint = "A node sees itself, its parent, that one's parent, and so on."
    sees = expected.ancestors(parents)
    expect_mask(student.tree_attention_mask, parents, sees, hint, form=False)


@tree_attention_mask.behaviour("no other branch, whatever the order")
@pytest.mark.parametrize("parents", numbers.OTHER_BRANCHES)
def test_mask_hides_other_branches(student, parents):
    hint = "Siblings and cousins are hidden, also those listed before."
    sees = expected.ancestors(parents)
    expect_mask(student.tree_attention_mask, parents, sees, hint, form=False)


@tree_attention_mask.behaviour("the edges: one node, none, many; the argument as it was")
@pytest.mark.parametrize("parents", numbers.MASK_EDGES)
def test_mask_edges(student, parents):
    hint = "N nodes make an N by N mask of True and False, also for N = 0."
    expect_mask(student.tree_attention_mask, parents, expected.ancestors(parents), hint)
    untouched(student)


walk_tree = Exercise("walk_tree")
one_level = walk_tree.behaviour("children of the text, in turn")
downwards = walk_tree.behaviour("on to the children of the accepted node")


def rows_of(rows: np.ndarray, nodes: int) -> np.ndarray:
    """One row after the text and one after every node, taken from `rows` in turn."""
    return rows[np.arange(nodes + 1) % len(rows)]


def check_walk(student, parents, tokens, r, u, hint="", compare=expect):
    rows = (rows_of(each, len(parents)) for each in (numbers.ROWS_P, numbers.ROWS_Q))
    arguments = (parents, tokens, *rows, np.array(r, dtype=float), u)
    compare(student.walk_tree, *arguments, gives=expected.walk(*arguments), hint=hint)


@one_level
@pytest.mark.parametrize("tokens, r, u", numbers.ONE_LEVEL)
def test_walk_of_one_level(student, tokens, r, u):
    hint = (
        "Row 0 of p and q judges the children of the text: each with its own coin, against what "
        "those before it have left."
    )
    check_walk(student, expected.one_level(len(tokens)), tokens, r, u, hint)


@downwards
@pytest.mark.parametrize("parents, tokens, r, u", numbers.DOWNWARDS)
def test_walk_goes_down(student, parents, tokens, r, u):
    hint = "The children of node i are judged by row i + 1 of p and q, from p anew, with own coins."
    check_walk(student, parents, tokens, r, u, hint)


@walk_tree.behaviour("the law is the target's")
@pytest.mark.parametrize("parents", numbers.WALK_LAWS)
def test_walk_law(student, parents):
    wanted = numbers.ROWS_P[0][:, None] * numbers.ROWS_P[1:4]
    law = np.zeros_like(wanted)
    for out, weight in answered(student.walk_tree.each, list(walk_ways(parents))):
        law += weight * first_two(out)
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
    law[tokens[0]] = numbers.ROWS_P[1 + tokens[0]] if len(tokens) == 1 else np.eye(3)[tokens[1]]
    return law


def walk_ways(parents: list[int]):
    """Every way a walk can go if the models look at the last token only: arguments, weight."""
    nodes = len(parents)
    for drawn in np.ndindex(*(3,) * nodes):
        tokens = [int(token) for token in drawn]
        after = np.array([0, *(1 + token for token in tokens)])
        p, q = numbers.ROWS_P[after], numbers.ROWS_Q[after]
        weight = float(
            np.prod([q[parent + 1][t] for parent, t in zip(parents, tokens, strict=True)])
        )
        cuts, lasts = [], [p[0]]
        for node, parent in enumerate(parents):
            rest = p[parent + 1]
            for child in range(node):
                if parents[child] == parent:
                    rest = rejection.residual(rest, q[parent + 1])
            cuts.append(min(1.0, rest[tokens[node]] / q[parent + 1][tokens[node]]))
            lasts += [rejection.residual(rest, q[parent + 1]), p[node + 1]]
        u_pieces = list(pieces(np.concatenate([np.cumsum(last) for last in lasts])))
        sides = [list(pieces(np.array([cut]))) for cut in cuts]
        for choice in product(*sides, u_pieces):
            *coins, u = [middle for middle, _ in choice]
            lengths = float(np.prod([length for _, length in choice]))
            yield (parents, tokens, p, q, np.array(coins), u), weight * lengths


@walk_tree.behaviour("the edges: no node, a leaf, twins, the boundary")
@pytest.mark.parametrize("parents, tokens, r, u", numbers.WALK_EDGES)
def test_walk_edges(student, parents, tokens, r, u):
    hint = "A node without children ends the walk with a draw from its own row of p."
    check_walk(student, parents, tokens, r, u, hint, expect_form)
    no_warning(student)
    untouched(student)


map_draft = Exercise("map_draft")
target_ids = map_draft.behaviour("mass goes to the target's ids")
nothing_shared = map_draft.behaviour("an error where nothing is shared")


def check_map(student, q, ids, size, hint="", compare=expect):
    gives = expected.mapped(q, ids, size)
    arguments = (np.array(q, dtype=float), np.array(ids), size)
    compare(student.map_draft, *arguments, gives=gives, hint=hint)


@target_ids
@pytest.mark.parametrize("q, ids, size", numbers.MOVED)
def test_map_moves_mass(student, q, ids, size):
    hint = "Entry i of draft_to_target is the target id of draft token i."
    check_map(student, q, ids, size, hint)


@map_draft.behaviour("only what is shared, renormalised")
@pytest.mark.parametrize("q, ids, size", numbers.SHARED)
def test_map_renormalises(student, q, ids, size):
    hint = "A token with -1 has no place in the target; what is left is divided by its sum."
    check_map(student, q, ids, size, hint)


@map_draft.behaviour("masses on one id add")
@pytest.mark.parametrize("q, ids, size", numbers.ADDED)
def test_map_adds(student, q, ids, size):
    hint = (
        "Two draft tokens may stand for one target token; NumPy's += with ids counts one of them."
    )
    check_map(student, q, ids, size, hint)


@nothing_shared
@pytest.mark.parametrize("q, ids, size", numbers.NOTHING_SHARED)
def test_map_error(student, q, ids, size):
    why = "no mass is shared, so nothing can be drafted"
    expect_value_error(student.map_draft, np.array(q), np.array(ids), size, why=why)
    no_warning(student)


@nothing_shared
@pytest.mark.parametrize("q, ids, size", numbers.ONE_SHARED)
def test_map_of_one_shared_id(student, q, ids, size):
    check_map(student, q, ids, size, "One id with mass is enough: that is no error.")


@map_draft.behaviour("a new array, the arguments as they were")
@pytest.mark.parametrize("q, ids, size", numbers.MAP_FORMS)
def test_map_is_new(student, q, ids, size):
    check_map(student, q, ids, size, compare=expect_form)
    own_array(student)
    untouched(student)
    no_warning(student)


expected_experts = Exercise("expected_experts")
read_once = expected_experts.behaviour(
    "an expert that several tokens choose is read once", weight=2
)


@read_once
@pytest.mark.parametrize("n_tokens, n_experts, active", numbers.EXPERTS)
def test_experts_of_several_tokens(student, n_tokens, n_experts, active):
    gives = expected.mean_experts(n_tokens, n_experts, active)
    hint = f"One token leaves an expert out with probability {1 - active / n_experts:.3g}."
    expect(student.expected_experts, n_tokens, n_experts, active, gives=gives, hint=hint)


@expected_experts.behaviour("the edges: no token, one, all experts active; a number")
@pytest.mark.parametrize("n_tokens, n_experts, active", numbers.EXPERTS_EDGES)
def test_experts_at_the_edges(student, n_tokens, n_experts, active):
    gives = expected.mean_experts(n_tokens, n_experts, active)
    hint = "No token reads nothing, one token reads `active` experts, and many read all of them."
    expect_form(student.expected_experts, n_tokens, n_experts, active, gives=gives, hint=hint)
    no_warning(student)
