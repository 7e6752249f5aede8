"""Hidden tests of chapter 01. Points attach to behaviours; see autograde/check.py.

Models are lent to the student's function. They look at all tokens before a position, and refuse
more calls than a case allows.
"""

import functools
from collections.abc import Callable

import numpy as np
import pytest

from autograde.chapters.common import Asked, expect, expect_form, prediction, quiz
from autograde.check import Exercise, RemoteObject, untouched
from specdec_lib.lessons.ch01 import quizzes
from specdec_lib.lessons.ch01.models import Calls, DraftModel, TargetModel
from specdec_lib.lessons.common.comparing import difference, differing_place
from specdec_lib.lessons.common.describing import describe, format_call, told_apart, type_name
from specdec_lib.lessons.common.examples import Different, pass_through
from specdec_lib.sampling import sample_from

V = 6
MANY = 200  # calls, where a case does not count them
LONGEST = 1000  # tokens in a call: a target's time grows with their square


class RemoteModel(RemoteObject):
    """A model as an argument: lent to the student, and callable here, for wrong answers."""

    def __init__(self, model: Callable) -> None:
        super().__init__(Asked(model), call=True, max_given=LONGEST)

    def __call__(self, tokens: list[int]) -> np.ndarray:
        return self.thing(tokens)

    def __repr__(self) -> str:
        return repr(self.thing)


def hashed(seed: int, vocab_size: int = V) -> Callable[[list[int]], np.ndarray]:
    """A distribution for every list of tokens, by a generator seeded with all of them."""

    def row(tokens: list[int]) -> np.ndarray:
        return np.random.default_rng([seed, *tokens]).dirichlet(np.ones(vocab_size))

    return row


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

BLOCKS = [
    ([3], 1, [0.4]),
    ([0, 5], 3, [0.2, 0.95, 0.5]),
    ([1, 1, 4], 4, [0.9, 0.1, 0.6, 0.3]),
    ([2, 0, 3, 1], 6, [0.75, 0.5, 0.99, 0.01, 0.35, 0.8]),
]


def drafted_by(student, prefix: list[int], uniforms: list[float], seed: int = 3, calls=None):
    """The call as text and what came back: tokens and distributions, their kinds checked."""
    k = len(uniforms)
    args = draft(hashed(seed), calls), prefix, k, np.array(uniforms)
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


def reference_draft(prefix: list[int], uniforms: list[float], seed: int = 3):
    """Tokens and distributions (k, V) as they should be."""
    drafted, q = [], []
    for u in uniforms:
        q.append(hashed(seed)([*prefix, *drafted]))
        drafted.append(sample_from(q[-1], u))
    return drafted, np.array(q)


def require(call: str, got: object, gives: object, what: str, hint: str) -> None:
    """Raise Different unless `got` has the values of `gives`."""
    why = difference(got, gives, form=False)
    if why is not None:
        came, wanted = told_apart(got, gives)
        row = differing_place(got, gives, form=False)
        returned = row or f"{what} {came}, expected {wanted}{why}"
        raise Different(f"{call} returned {returned}. {'' if why else hint}".strip())


@draft_block.behaviour("each token drawn behind the tokens before it")
@pytest.mark.parametrize("prefix, k, uniforms", BLOCKS)
def test_draft_tokens(student, prefix, k, uniforms):
    call, (tokens, _) = drafted_by(student, prefix, uniforms)
    hint = "Token i is sample_from(q_i, uniforms[i]), and q_i follows prefix and drafted[:i]."
    require(call, tokens, reference_draft(prefix, uniforms)[0], "the tokens", hint)


@draft_block.behaviour("the distributions it drew from")
@pytest.mark.parametrize("prefix, k, uniforms", BLOCKS)
def test_draft_distributions(student, prefix, k, uniforms):
    call, (_, q) = drafted_by(student, prefix, uniforms)
    hint = "Row i is what token i was drawn from, whole and unchanged."
    require(call, q, reference_draft(prefix, uniforms)[1], "the distributions", hint)


@draft_block.behaviour("exactly k calls of the draft")
@pytest.mark.parametrize("prefix, k, uniforms", BLOCKS)
def test_draft_calls(student, prefix, k, uniforms):
    call, (tokens, q) = drafted_by(student, prefix, uniforms, calls=Calls(drafts=k))
    drafted, rows = reference_draft(prefix, uniforms)
    require(call, tokens, drafted, "the tokens", "")
    require(call, q, rows, "the distributions", "")


EDGES = {
    "u = 0, first token impossible": ([0.0, 0.5, 0.5], 0.0, 1),
    "u just below 1": ([0.5, 0.5, 0.0], float(np.nextafter(1, 0)), 1),
    "on the boundary": ([0.25, 0.25, 0.5], 0.5, 2),
    "a certain token": ([0.0, 0.0, 1.0], 0.3, 2),
}


edges = draft_block.behaviour("the edges; a list and an array; nothing modified")


@edges
@pytest.mark.parametrize("row, u, token", EDGES.values(), ids=EDGES)
def test_draft_edges(student, row, u, token):
    row = np.array(row)
    gives = ([token] * 2, np.array([row, row]))
    hint = "sample_from(q_i, u) settles every boundary."
    model = draft(lambda tokens: row)
    expect_form(student.draft_block, model, [2, 1], 2, np.array([u, u]), gives=gives, hint=hint)
    untouched(student)


@edges
@pytest.mark.parametrize("prefix, k, uniforms", BLOCKS[1:3])
def test_draft_leaves_the_prefix(student, prefix, k, uniforms):
    """With a model that looks at the whole text, so that a longer prefix gives something else."""
    call, (tokens, _) = drafted_by(student, prefix, uniforms)
    require(call, tokens, reference_draft(prefix, uniforms)[0], "the tokens", "")
    untouched(student)


score_block = Exercise("score_block")

SCORED = [
    ([4, 1], [2, 3, 0, 1]),
    ([0, 3, 3, 5, 2, 1], [4, 4]),
    ([2, 2, 2], [1, 0, 5, 5, 3, 2]),
    ([5], [0, 1, 2]),
]


def scored(prefix: list[int], drafted: list[int], seed: int = 7) -> np.ndarray:
    """The rows (k + 1, V) as they should be."""
    return np.array([hashed(seed)([*prefix, *drafted[:i]]) for i in range(len(drafted) + 1)])


def check_score(student, prefix, drafted, hint, calls=None, expect=expect):
    model = target(hashed(7), calls)
    gives = scored(prefix, drafted)
    expect(student.score_block, model, prefix, drafted, gives=gives, hint=hint)


@score_block.behaviour("the K + 1 rows from the end of the prefix")
@pytest.mark.parametrize("prefix, drafted", SCORED)
def test_score_rows(student, prefix, drafted):
    hint = (
        f"With {len(prefix)} tokens in the prefix, row {len(prefix) - 1} judges the first draft "
        "token, and the last row stands behind the whole block."
    )
    check_score(student, prefix, drafted, hint)


@score_block.behaviour("one pass of the target")
@pytest.mark.parametrize("prefix, drafted", SCORED[:3])
def test_score_calls(student, prefix, drafted):
    check_score(student, prefix, drafted, "", Calls(targets=1))


@score_block.behaviour("short prefixes, short blocks; an array; nothing modified")
@pytest.mark.parametrize(
    "prefix, drafted", [([3], [1]), ([3], [5, 0]), ([0, 0], [0]), ([1, 4, 2], []), ([2], [])]
)
def test_score_edges(student, prefix, drafted):
    hint = "A prefix may be one token long, and a block may be empty: then one row comes back."
    check_score(student, prefix, drafted, hint, expect=expect_form)
    untouched(student)


greedy_prefix = Exercise("greedy_prefix")


def favouring(tokens: list[int], height: float = 0.5) -> np.ndarray:
    """Rows (len(tokens), V) whose argmax are `tokens`; the rest of the mass is spread unevenly."""
    rows = np.zeros((len(tokens), V))
    for i, token in enumerate(tokens):
        others = np.arange(V) != token
        rows[i, others] = (1 - height) * np.arange(1, V) / np.arange(1, V).sum()
        rows[i, token] = height
    return rows


def check_prefix(student, drafted, p, gives, hint, expect=expect):
    wanted = [int(token) for token in np.argmax(p, axis=1)]
    hint = f"The target's choices are {wanted}. {hint}"
    expect(student.greedy_prefix, drafted, p, gives=gives, hint=hint)


@greedy_prefix.behaviour("counts the draft tokens that are the target's choice")
@pytest.mark.parametrize(
    "drafted, wanted, gives",
    [
        ([2, 3, 0, 1], [2, 3, 0, 4, 1], 3),
        ([2, 3, 0, 1], [2, 3, 0, 1, 5], 4),
        ([1], [1, 1], 1),
        ([5, 0], [5, 1, 0], 1),
        ([5, 5, 5, 5, 5, 5], [5, 5, 5, 5, 5, 5, 0], 6),
    ],
)
@pytest.mark.parametrize("height", [0.9, 0.34])
def test_prefix_counts(student, drafted, wanted, gives, height):
    check_prefix(student, drafted, favouring(wanted, height), gives, "Count how many agree.")


@greedy_prefix.behaviour("stops at the first that is not")
@pytest.mark.parametrize(
    "drafted, wanted, gives",
    [
        ([2, 3, 0, 1], [2, 4, 0, 1, 5], 1),
        ([2, 3, 0, 1], [5, 3, 0, 1, 5], 0),
        ([2, 3, 0, 1], [2, 3, 5, 1, 5], 2),
        ([4, 0, 4, 0], [4, 1, 4, 1, 4], 1),
        ([1, 2, 3], [0, 1, 2, 3], 0),
    ],
)
def test_prefix_stops(student, drafted, wanted, gives):
    hint = "Tokens behind the first difference do not count."
    check_prefix(student, drafted, favouring(wanted), gives, hint)


TIE = np.array([[0.1, 0.4, 0.4, 0.1], [0.25, 0.25, 0.25, 0.25], [0.0, 0.5, 0.0, 0.5]])


@greedy_prefix.behaviour("ties, spare rows, an empty block; a whole number; nothing modified")
@pytest.mark.parametrize(
    "drafted, p, gives",
    [
        ([1, 0], TIE, 2),
        ([2, 0], TIE, 0),
        ([1, 3], TIE, 1),
        ([1, 0, 1], TIE, 3),
        ([1, 0, 3], TIE, 2),
        ([0, 1], favouring([0, 1]), 2),
        ([0, 1], favouring([0, 1, 2, 3, 4, 5]), 2),
        ([], favouring([3]), 0),
    ],
    ids=[
        *("lowest of two", "not the second", "lowest of four", "all lowest", "not the last"),
        *("k rows", "many rows", "empty"),
    ],
)
def test_prefix_edges(student, drafted, p, gives):
    hint = "Of equal probabilities the lowest index counts; p may have rows to spare."
    check_prefix(student, drafted, p, gives, hint, expect_form)
    untouched(student)


# --- greedy_speculative_decode --------------------------------------------------------------

greedy_speculative_decode = Exercise("greedy_speculative_decode")
greedy_text = greedy_speculative_decode.behaviour("the target's own greedy text")
one_pass_a_block = greedy_speculative_decode.behaviour(
    "one pass of the target a block, at most k draft calls", after=[greedy_text]
)
end_of_text = greedy_speculative_decode.behaviour("stops after eos")
length_of_text = greedy_speculative_decode.behaviour("as many tokens as asked for, in a list")


def off_at(row: Callable, lengths: set[int]) -> Callable:
    """A draft that is `row`, but another token's favourite after texts of these lengths."""
    return lambda tokens: np.roll(row(tokens), 1) if len(tokens) in lengths else row(tokens)


def alone(row: Callable, prompt: list[int], count: int, eos: int | None = None) -> list[int]:
    """Greedy decoding by the target: the new tokens, `eos` kept."""
    written: list[int] = []
    while len(written) < count and (not written or written[-1] != eos):
        written.append(int(np.argmax(row([*prompt, *written]))))
    return written


def blocks_needed(row, draft_row, prompt: list[int], k: int, gives: list[int]) -> int:
    """The passes of the target that `gives` takes."""
    passes = at = 0
    while at < len(gives):
        text = [*prompt, *gives[:at]]
        n, left = 0, gives[at : at + k]
        while n < len(left) and np.argmax(draft_row([*text, *left[:n]])) == left[n]:
            n += 1
        passes, at = passes + 1, at + n + 1
    return passes


# name: (seed of the target, lengths at which the draft is off, prompt, k, new tokens)
DECODES = {
    "never right": (21, set(range(100)), [1, 2], 3, 7),
    "always right": (22, set(), [0], 4, 10),
    "off now and then": (23, {4, 7, 8, 13}, [5, 3], 4, 12),
    "K = 1": (24, {3, 6}, [2, 2, 4], 1, 8),
    "every second": (25, set(range(0, 100, 2)), [3], 5, 11),
    "long block": (26, {9}, [4, 0, 1], 7, 15),
    "off at the last draft": (27, {5, 9, 13}, [1], 5, 14),
}


def up_to_the_limit(function: Callable) -> Callable:
    """`function`, whose text is cut after max_new_tokens: another behaviour asks for that."""

    @functools.wraps(function)
    def cut(*args):
        text = function(*args)
        return text[: args[4]] if isinstance(text, list | tuple | np.ndarray) else text

    return cut


def check_decode(student, seed, off, prompt, k, count, eos, hint, counted=False):
    row = hashed(seed)
    draft_row, gives = off_at(row, off), alone(row, prompt, count, eos)
    calls = Calls(targets=MANY)
    if counted:
        needed = blocks_needed(row, draft_row, prompt, k, gives)
        calls = Calls(targets=needed, drafts=k * needed, in_a_block=k)
    models = target(row, calls), draft(draft_row, calls)
    function = up_to_the_limit(student.greedy_speculative_decode)
    expect(function, *models, prompt, k, count, eos, gives=gives, hint=hint)
    untouched(student)


@greedy_text
@pytest.mark.parametrize("case", DECODES.values(), ids=DECODES)
def test_decode_text(student, case):
    hint = "The target alone writes these tokens, whatever the draft proposes."
    check_decode(student, *case, None, hint)


@one_pass_a_block
@pytest.mark.parametrize("case", DECODES.values(), ids=DECODES)
def test_decode_calls(student, case):
    hint = "Its passes are counted: every block takes one, and brings all that it can."
    check_decode(student, *case, None, hint, counted=True)


@one_pass_a_block
def test_decode_calls_for_nothing(student):
    calls = Calls(targets=0, drafts=0)
    args = target(hashed(42), calls), draft(hashed(42), calls), [1, 2], 3, 0, None
    hint = "For 0 tokens there is no block, so nothing is called."
    expect(student.greedy_speculative_decode, *args, gives=[], hint=hint)


# The texts that the hashed targets of these seeds write, so that eos can be put where it tests.
def eos_cases() -> dict[str, tuple]:
    """Cases in which eos stands at a known place of the first or second block."""
    cases = {}
    for name, seed, off, place in (
        ("inside a block", 31, set(), 1),
        ("the first token", 32, set(), 0),
        ("the bonus", 33, set(), 4),
        ("the correction", 34, {2 + 2}, 2),
        ("inside the second block", 35, set(), 7),
        ("the last draft token", 36, set(), 3),
        ("with a poor draft", 37, set(range(100)), 3),
    ):
        for step in range(200):  # the first seed whose text has its eos there for the first time
            written = alone(hashed(seed + 100 * step), [1, 3], 12)
            if written.index(written[place]) == place:
                cases[name] = (seed + 100 * step, off, [1, 3], 4, 12, written[place])
                break
    return cases


EOS = eos_cases()


@end_of_text
@pytest.mark.parametrize("case", EOS.values(), ids=EOS)
def test_decode_eos(student, case):
    hint = "The text ends with its first eos, wherever in the block that stands."
    check_decode(student, *case, hint)


def zero_after(count: int) -> Callable:
    """A target that writes token 1, and token 0 after `count` tokens."""
    return lambda tokens: np.eye(3)[0 if len(tokens) == count else 1]


@end_of_text
@pytest.mark.parametrize(
    "prompt, ends, eos, gives",
    [
        ([1, 2], 4, 0, [1, 1, 0]),
        ([0, 1], 5, 0, [1, 1, 1, 0]),
        ([0], 50, 0, [1] * 8),
        ([2, 0], 4, 2, [1, 1, 0, 1, 1, 1, 1, 1]),
        ([1], 3, 1, [1]),
    ],
    ids=["eos is token 0", "eos in the prompt", "only in the prompt", "another eos", "at once"],
)
def test_decode_eos_by_hand(student, prompt, ends, eos, gives):
    row = zero_after(ends)
    hint = "Compare new tokens with eos, and tell 0 from None."
    args = target(row), draft(row), prompt, 4, 8, eos
    expect(up_to_the_limit(student.greedy_speculative_decode), *args, gives=gives, hint=hint)
    untouched(student)


@length_of_text
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 9])
@pytest.mark.parametrize("off", [set(), {5}])
def test_decode_limit(student, count, off):
    hint = f"{count} new tokens are asked for, and no block may pass that."
    row, prompt = hashed(41), [2, 5]
    args = target(row), draft(off_at(row, off)), prompt, 4, count, None
    gives = alone(row, prompt, count)
    expect_form(student.greedy_speculative_decode, *args, gives=gives, hint=hint)


@length_of_text
@pytest.mark.parametrize("eos", [None, 1])
def test_decode_nothing(student, eos):
    args = target(hashed(42)), draft(hashed(42)), [1, 2], 3, 0, eos
    expect_form(student.greedy_speculative_decode, *args, gives=[], hint="None are asked for.")
