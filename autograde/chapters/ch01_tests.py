"""Hidden tests of chapter 01. Points attach to behaviours; see autograde/check.py.

Models are lent to the student's function. They look at all tokens before a position, and refuse
more calls than a case allows. Numbers stand in numbers/ch01_numbers.py, but for the bounds of what
is lent, and MANY, which no right answer comes near.
"""

import functools
from collections.abc import Callable

import numpy as np
import pytest

from autograde.chapters.ch01_wrong import WRONG  # noqa: F401  known to the grader by this name
from autograde.chapters.common import Asked, expect, expect_form, prediction, quiz
from autograde.chapters.expected import ch01_expected as expected
from autograde.chapters.numbers import ch01_numbers as numbers
from autograde.chapters.parametrized import Exercise
from autograde.check import RemoteObject, untouched
from specdec_lib.lessons.ch01 import quizzes
from specdec_lib.lessons.ch01.models import Calls, DraftModel, TargetModel
from specdec_lib.lessons.common.comparing import difference, differing_place
from specdec_lib.lessons.common.describing import describe, format_call, told_apart, type_name
from specdec_lib.lessons.common.examples import Different, pass_through

MANY = 200  # calls, where a case does not count them


class RemoteModel(RemoteObject):
    """A model as an argument: lent to the student, and callable here, for wrong answers."""

    def __init__(self, model: Callable) -> None:
        super().__init__(Asked(model), call=True)

    def __call__(self, tokens: list[int]) -> np.ndarray:
        return self.thing(tokens)

    def __repr__(self) -> str:
        return repr(self.thing)


def hashed(seed: int) -> Callable[[list[int]], np.ndarray]:
    """A distribution (V,) for every list of tokens."""
    return expected.hashed(seed, numbers.V)


def target(row: Callable, calls: Calls | None = None) -> RemoteModel:
    """A target model to lend."""
    return RemoteModel(TargetModel(row, calls or Calls(targets=MANY)))


def draft(row: Callable, calls: Calls | None = None) -> RemoteModel:
    """A draft model to lend."""
    return RemoteModel(DraftModel(row, calls or Calls(drafts=MANY)))


test_prediction = prediction("prediction_01", 0, 9)
test_prediction_b = prediction("prediction_01_b", 5, 25)
test_prediction_c = prediction("prediction_01_c", 1, 20)
test_quiz = quiz(quizzes.quiz_01)
test_quiz_b = quiz(quizzes.quiz_01_b)


draft_block = Exercise("draft_block")


def drafted_by(student, prefix: list[int], uniforms: list[float], calls=None):
    """The call as text and what came back: tokens and distributions, their kinds checked."""
    k = len(uniforms)
    args = draft(hashed(numbers.DRAFT_SEED), calls), prefix, k, np.array(uniforms)
    call = format_call(student.draft_block, args)
    try:
        out = student.draft_block(*args)
    except Exception as error:
        pass_through(error)
        happened = getattr(error, "what_happened", f"raised {error}")
        raise Different(
            f"{call} {happened}; expected {k} tokens and their distributions."
        ) from None
    if not isinstance(out, tuple | list) or len(out) != 2:
        what = f"{describe(out)}, {type_name(out)}"
        raise Different(f"{call} returned {what}, not a tuple of a list and an array.")
    return call, out


def reference_draft(prefix: list[int], uniforms: list[float]):
    """Tokens and distributions (k, V) as they should be."""
    return expected.drafted(hashed(numbers.DRAFT_SEED), prefix, uniforms)


def require(call: str, got: object, gives: object, what: str, hint: str) -> None:
    """Raise Different unless `got` has the values of `gives`."""
    why = difference(got, gives, form=False)
    if why is not None:
        came, wanted = told_apart(got, gives)
        row = differing_place(got, gives, form=False)
        returned = row or f"{what} {came}, expected {wanted}{why}"
        raise Different(f"{call} returned {returned}. {'' if why else hint}".strip())


@draft_block.behaviour("each token drawn behind the tokens before it")
@pytest.mark.parametrize("prefix, uniforms", numbers.BLOCKS)
def test_draft_tokens(student, prefix, uniforms):
    call, (tokens, _) = drafted_by(student, prefix, uniforms)
    hint = "Token i is sample_from(q_i, uniforms[i]), and q_i follows prefix and drafted[:i]."
    require(call, tokens, reference_draft(prefix, uniforms)[0], "the tokens", hint)


@draft_block.behaviour("the distributions it drew from")
@pytest.mark.parametrize("prefix, uniforms", numbers.BLOCKS)
def test_draft_distributions(student, prefix, uniforms):
    call, (_, q) = drafted_by(student, prefix, uniforms)
    hint = "Row i is what token i was drawn from, whole and unchanged."
    require(call, q, reference_draft(prefix, uniforms)[1], "the distributions", hint)


@draft_block.behaviour("exactly k calls of the draft")
@pytest.mark.parametrize("prefix, uniforms", numbers.BLOCKS)
def test_draft_calls(student, prefix, uniforms):
    call, (tokens, q) = drafted_by(student, prefix, uniforms, Calls(drafts=len(uniforms)))
    drafted, rows = reference_draft(prefix, uniforms)
    require(call, tokens, drafted, "the tokens", "")
    require(call, q, rows, "the distributions", "")


edges = draft_block.behaviour("the edges; a list and an array; nothing modified")


@edges
@pytest.mark.parametrize("row, u", numbers.DRAFT_EDGES)
def test_draft_edges(student, row, u):
    row, prefix, k = np.array(row), numbers.EDGE_PREFIX, numbers.EDGE_K
    gives = expected.drafted(lambda tokens: row, prefix, [u] * k)
    hint = "sample_from(q_i, u) settles every boundary."
    args = draft(lambda tokens: row), prefix, k, np.array([u] * k)
    expect_form(student.draft_block, *args, gives=gives, hint=hint)
    untouched(student)


@edges
@pytest.mark.parametrize("prefix, uniforms", numbers.NOT_MODIFIED)
def test_draft_leaves_the_prefix(student, prefix, uniforms):
    """With a model that looks at the whole text, so that a longer prefix gives something else."""
    call, (tokens, _) = drafted_by(student, prefix, uniforms)
    require(call, tokens, reference_draft(prefix, uniforms)[0], "the tokens", "")
    untouched(student)


score_block = Exercise("score_block")


def check_score(student, prefix, drafted, hint, calls=None, expect=expect):
    row = hashed(numbers.SCORE_SEED)
    gives = expected.scored(row, prefix, drafted)
    expect(student.score_block, target(row, calls), prefix, drafted, gives=gives, hint=hint)


@score_block.behaviour("the K + 1 rows from the end of the prefix")
@pytest.mark.parametrize("prefix, drafted", numbers.SCORED)
def test_score_rows(student, prefix, drafted):
    hint = (
        f"With {len(prefix)} tokens in the prefix, row {len(prefix) - 1} judges the first draft "
        "token, and the last row stands behind the whole block."
    )
    check_score(student, prefix, drafted, hint)


@score_block.behaviour("one pass of the target")
@pytest.mark.parametrize("prefix, drafted", numbers.ONE_PASS)
def test_score_calls(student, prefix, drafted):
    check_score(student, prefix, drafted, "", Calls(targets=1))


@score_block.behaviour("short prefixes, short blocks; an array; nothing modified")
@pytest.mark.parametrize("prefix, drafted", numbers.SCORE_EDGES)
def test_score_edges(student, prefix, drafted):
    hint = "A prefix may be one token long, and a block may be empty: then one row comes back."
    check_score(student, prefix, drafted, hint, expect=expect_form)
    untouched(student)


greedy_prefix = Exercise("greedy_prefix")


def favouring(wanted: list[int], height: float = numbers.HEIGHT) -> np.ndarray:
    """Rows (len(wanted), V) whose most probable tokens are `wanted`."""
    return expected.favouring(wanted, numbers.V, height)


def check_prefix(student, drafted, p, hint, expect=expect):
    hint = f"The target's choices are {expected.choices(p)}. {hint}"
    expect(student.greedy_prefix, drafted, p, gives=expected.agreeing(drafted, p), hint=hint)


@greedy_prefix.behaviour("counts the draft tokens that are the target's choice")
@pytest.mark.parametrize("drafted, wanted", numbers.PREFIX_COUNTS)
@pytest.mark.parametrize("height", numbers.HEIGHTS)
def test_prefix_counts(student, drafted, wanted, height):
    check_prefix(student, drafted, favouring(wanted, height), "Count how many agree.")


@greedy_prefix.behaviour("stops at the first that is not")
@pytest.mark.parametrize("drafted, wanted", numbers.PREFIX_STOPS)
def test_prefix_stops(student, drafted, wanted):
    hint = "Tokens behind the first difference do not count."
    check_prefix(student, drafted, favouring(wanted), hint)


prefix_edges = greedy_prefix.behaviour(
    "ties, spare rows, an empty block; a whole number; nothing modified"
)


def check_prefix_edge(student, drafted, p):
    hint = "Of equal probabilities the lowest index counts; p may have rows to spare."
    check_prefix(student, drafted, p, hint, expect_form)
    untouched(student)


@prefix_edges
@pytest.mark.parametrize("drafted", numbers.TIED)
def test_prefix_ties(student, drafted):
    check_prefix_edge(student, drafted, numbers.TIE)


@prefix_edges
@pytest.mark.parametrize("drafted, wanted", numbers.PREFIX_EDGES)
def test_prefix_edges(student, drafted, wanted):
    check_prefix_edge(student, drafted, favouring(wanted))


# --- greedy_speculative_decode --------------------------------------------------------------

greedy_speculative_decode = Exercise("greedy_speculative_decode")
greedy_text = greedy_speculative_decode.behaviour("the target's own greedy text")
one_pass_a_block = greedy_speculative_decode.behaviour(
    "one pass of the target a block, at most k draft calls"
)
end_of_text = greedy_speculative_decode.behaviour("stops after eos")
length_of_text = greedy_speculative_decode.behaviour("as many tokens as asked for, in a list")


def up_to_the_limit(function: Callable) -> Callable:
    """`function`, whose text is cut after max_new_tokens: another behaviour asks for that."""

    @functools.wraps(function)
    def cut(*args):
        text = function(*args)
        return text[: args[4]] if isinstance(text, list | tuple | np.ndarray) else text

    return cut


def check_decode(student, seed, off, prompt, k, count, eos, hint, counted=False):
    row = hashed(seed)
    draft_row, gives = expected.off_at(row, off), expected.alone(row, prompt, count, eos)
    calls = Calls(targets=MANY)
    if counted:
        needed = expected.blocks_needed(row, draft_row, prompt, k, count)
        calls = Calls(targets=needed, drafts=k * needed, in_a_block=k)
    models = target(row, calls), draft(draft_row, calls)
    function = up_to_the_limit(student.greedy_speculative_decode)
    expect(function, *models, prompt, k, count, eos, gives=gives, hint=hint)
    untouched(student)


@greedy_text
@pytest.mark.parametrize("case", numbers.DECODES)
def test_decode_text(student, case):
    hint = "The target alone writes these tokens, whatever the draft proposes."
    check_decode(student, *case, None, hint)


@one_pass_a_block
@pytest.mark.parametrize("case", numbers.DECODES)
def test_decode_calls(student, case):
    hint = "Its passes are counted: every block takes one, and brings all that it can."
    check_decode(student, *case, None, hint, counted=True)


def check_nothing(student, eos, hint, calls=None, expect=expect):
    seed, prompt, k = numbers.NOTHING
    row, no_tokens = hashed(seed), []
    args = target(row, calls), draft(row, calls), prompt, k, len(no_tokens), eos
    expect(student.greedy_speculative_decode, *args, gives=no_tokens, hint=hint)


@one_pass_a_block
def test_decode_calls_for_nothing(student):
    hint = "For 0 tokens there is no block, so nothing is called."
    check_nothing(student, None, hint, Calls(targets=0, drafts=0))


@end_of_text
@pytest.mark.parametrize("seed, off, place", numbers.EOS_PLACES)
def test_decode_eos(student, seed, off, place):
    prompt, k, count = numbers.EOS_PROMPT, numbers.EOS_K, numbers.EOS_COUNT
    seed, eos = expected.with_eos_at(seed, numbers.V, prompt, place)
    hint = "The text ends with its first eos, wherever in the block that stands."
    check_decode(student, seed, off, prompt, k, count, eos, hint)


@end_of_text
@pytest.mark.parametrize("prompt, ends, eos", numbers.PLAIN_EOS)
def test_decode_plain_eos(student, prompt, ends, eos):
    row, count = expected.zero_after(ends), numbers.PLAIN_COUNT
    hint = "Compare new tokens with eos, and tell 0 from None."
    args = target(row), draft(row), prompt, numbers.PLAIN_K, count, eos
    gives = expected.alone(row, prompt, count, eos)
    expect(up_to_the_limit(student.greedy_speculative_decode), *args, gives=gives, hint=hint)
    untouched(student)


@length_of_text
@pytest.mark.parametrize("count", numbers.LIMITS)
@pytest.mark.parametrize("off", numbers.LIMITS_OFF)
def test_decode_limit(student, count, off):
    seed, prompt, k = numbers.LIMITED
    hint = f"{count} new tokens are asked for, and no block may pass that."
    row = hashed(seed)
    args = target(row), draft(expected.off_at(row, off)), prompt, k, count, None
    gives = expected.alone(row, prompt, count)
    expect_form(student.greedy_speculative_decode, *args, gives=gives, hint=hint)


@length_of_text
@pytest.mark.parametrize("eos", numbers.NOTHING_EOS)
def test_decode_nothing(student, eos):
    check_nothing(student, eos, "None are asked for.", expect=expect_form)
