"""Hidden tests of chapter 01: test groups and known bugs; see autograde/hidden/exercise.py.

Models are lent to the student's function. They look at all tokens before a position, note what
they were asked, and refuse more calls than a case allows.
"""

from collections.abc import Callable, Container
from typing import Any

import numpy as np

from autograde.hidden_tests import texts
from autograde.hidden_tests.common import Exercise, Lent, prediction, quiz
from autograde.hidden_tests.distributions import hashed
from specdec_lib.lessons.ch01.models import Calls, DraftModel, TargetModel

V = 6
MANY = 100  # calls, where a case does not count them: no right answer comes near
NEVER, ALWAYS = (), range(100)
Row = Callable[[list[int]], np.ndarray]

test_prediction_01 = prediction("prediction_01", 0, 9)
test_prediction_01_b = prediction("prediction_01_b", 5, 25)
test_quiz_01 = quiz("quiz_01")
test_quiz_01_b = quiz("quiz_01_b")


def favouring(token: int, probs: np.ndarray) -> np.ndarray:
    """A distribution (V,) whose largest probability has moved to `token`."""
    top, probs = int(np.argmax(probs)), probs.copy()
    probs[[top, token]] = probs[[token, top]]
    return probs


score_block = Exercise("score_block")


def scoring(rng: np.random.Generator, *sizes: tuple[int, int], targets: int = MANY) -> Any:
    """Arguments for prefixes and blocks of these sizes."""
    for before, k in sizes:
        target = texts.Asked(TargetModel(hashed(V, rng), Calls(targets=targets)))
        yield Lent(target), *(rng.integers(V, size=size).tolist() for size in (before, k))


def scored_rows(rng):
    yield from scoring(rng, (2, 4), (6, 2), (3, 6), (1, 3))


@score_block.group("the K + 1 rows from the end of the prefix", cases=scored_rows)
def test_score_block_scored_rows(student, solution, args):
    hint = "Row len(prefix) - 1 judges the first draft token, and the last row follows the block."
    score_block.assert_same(student, solution, args, hint)


def one_pass(rng):
    yield from scoring(rng, (2, 4), (6, 2), (3, 6), targets=1)


@score_block.group("one pass of the target", cases=one_pass)
def test_score_block_one_pass(student, solution, args):
    score_block.assert_same(student, solution, args)


def score_edges(rng):
    yield from scoring(rng, (1, 1), (1, 2), (2, 1), (3, 0), (1, 0))


@score_block.group("short prefixes, short blocks; an array; nothing modified", cases=score_edges)
def test_score_block_score_edges(student, solution, args):
    hint = "A prefix may be one token long, and a block may be empty: then one row comes back."
    score_block.assert_same(student, solution, args, hint, form=True)


greedy_prefix = Exercise("greedy_prefix")


def judged(k: int, off: Container[int], rows: int, rng: np.random.Generator) -> tuple:
    """k draft tokens and (rows, 4); those at the places `off` are not the target's choice."""
    wanted = rng.integers(4, size=rows).tolist()
    shift = [int(rng.integers(1, 4)) * (i in off) for i in range(k)]
    drafted = [(token + by) % 4 for token, by in zip(wanted, shift, strict=False)]
    rows = (favouring(token, rng.permutation([0.1, 0.2, 0.3, 0.4])) for token in wanted)
    return drafted, np.array(list(rows))


def agreeing(rng):
    for k, accepted in ((4, 3), (4, 4), (1, 1), (2, 1), (6, 6), (5, 2)):
        yield judged(k, range(accepted, k), k + 1, rng)


@greedy_prefix.group("counts the draft tokens that are the target's choice", cases=agreeing)
def test_greedy_prefix_agreeing(student, solution, args):
    hint = "The target's choice has the largest probability of its row, however small that is."
    greedy_prefix.assert_same(student, solution, args, hint)


def stopping(rng):
    for k, off in ((4, [1]), (4, [0]), (4, [2]), (5, [1, 3]), (3, [0])):
        yield judged(k, off, k + 1, rng)


@greedy_prefix.group("stops at the first that is not", cases=stopping)
def test_greedy_prefix_stopping(student, solution, args):
    greedy_prefix.assert_same(student, solution, args)


def prefix_edges(rng):
    tie = np.array([[0.1, 0.4, 0.4, 0.1], [0.25, 0.25, 0.25, 0.25], [0.0, 0.5, 0.0, 0.5]])
    for drafted in ([1, 0], [2, 0], [1, 3], [1, 0, 1], [1, 0, 3]):
        yield drafted, tie
    for k, rows in ((2, 2), (2, 6), (0, 1)):
        yield judged(k, [], rows, rng)


@greedy_prefix.group(
    "ties, spare rows, an empty block; a whole number; nothing modified", cases=prefix_edges
)
def test_greedy_prefix_prefix_edges(student, solution, args):
    hint = "Of equal probabilities the lowest index counts; p may have rows to spare."
    greedy_prefix.assert_same(student, solution, args, hint, form=True)


greedy_speculative_decode = texts.TextExercise("greedy_speculative_decode")
# Lengths of a text after which the draft is off; tokens of the prompt, k, new tokens; the passes.
DECODES = (
    ((ALWAYS, 2, 3, 7), 7),
    ((NEVER, 1, 4, 9), 2),
    (((4, 7, 8, 13), 2, 4, 12), 4),
    (((3, 6), 3, 1, 8), 5),
    (((9,), 3, 7, 15), 2),
)


def decoding(
    rng, off: Container[int], before: int, k: int, count: int, eos=None, at=(), calls=None
) -> tuple:
    """The arguments for a text that is drawn at random, its prompt of `before` tokens included.

    `eos` stands at the places `at` of the new tokens, -1 being the prompt's last, and nowhere else.
    """
    others = [token for token in range(V) if token != eos]
    text = rng.choice(others, size=before + count + k).tolist()
    for place in at:
        text[before + place] = eos
    row, calls = writing(text, rng), calls or Calls(targets=MANY, in_a_block=MANY)
    models = TargetModel(row, calls), DraftModel(off_at(row, off), calls)
    return *(Lent(texts.Asked(model)) for model in models), text[:before], k, count, eos


def writing(text: list[int], rng: np.random.Generator) -> Row:
    """A target that writes `text`, and something else after anything else."""
    other = hashed(V, rng)

    def row(tokens: list[int]) -> np.ndarray:
        there = tokens == text[: len(tokens)] and len(tokens) < len(text)
        return favouring(text[len(tokens)], other(tokens)) if there else other(tokens)

    return row


def off_at(row: Row, lengths: Container[int]) -> Row:
    """A draft that is `row`, but another token's favourite after texts of these lengths."""
    return lambda tokens: np.roll(row(tokens), 1) if len(tokens) in lengths else row(tokens)


def greedy_text(rng):
    for case, _ in DECODES:
        yield decoding(rng, *case)


@greedy_speculative_decode.group("the target's own greedy text", cases=greedy_text)
def test_greedy_speculative_decode_greedy_text(student, solution, args):
    hint = (
        "A block adds its m accepted tokens, no rejected ones, and then the argmax of row m of p."
    )
    greedy_speculative_decode.assert_same(student, solution, args, hint)


def counted(rng):
    for case, needed in (*DECODES, ((NEVER, 2, 3, 0), 0)):
        calls = Calls(targets=needed, in_a_block=case[2] if needed else 0)
        yield decoding(rng, *case, calls=calls)


@greedy_speculative_decode.group(
    "one pass of the target a block, at most k draft calls", cases=counted
)
def test_greedy_speculative_decode_counted(student, solution, args):
    hint = "Every block takes one pass and writes all that it can; for 0 tokens there is none."
    greedy_speculative_decode.assert_same(student, solution, args, hint)


def end_of_text(rng):
    for eos, *at in ((3, 1), (5, 0), (2, 4), (4, 7), (2, 3), (0, 1), (0, 4), (0, 5, -1), (3, -2)):
        yield decoding(rng, NEVER, 2, 4, 12, eos, at)
    yield decoding(rng, (4,), 2, 4, 12, 1, [2])  # as the correction
    yield decoding(rng, ALWAYS, 2, 4, 12, 1, [3])
    yield decoding(rng, ALWAYS, 2, 4, 12, 1)  # rejected at most


@greedy_speculative_decode.group("stops after eos", cases=end_of_text)
def test_greedy_speculative_decode_end_of_text(student, solution, args):
    hint = (
        "A text keeps its first new eos and ends there; a rejected eos isn't in it. 0 is a token."
    )
    greedy_speculative_decode.assert_same(student, solution, args, hint)


def length_of_text(rng):
    for count in (1, 2, 3, 4, 5, 6, 9):
        for off in (NEVER, (5,)):
            yield decoding(rng, off, 2, 4, count)
    yield decoding(rng, NEVER, 2, 3, 0)
    yield decoding(rng, NEVER, 2, 3, 0, 1)
    yield decoding(rng, NEVER, 2, 4, 3, 1, [3])  # eos comes too late


@greedy_speculative_decode.group("as many tokens as asked for, in a list", cases=length_of_text)
def test_greedy_speculative_decode_length_of_text(student, solution, args):
    greedy_speculative_decode.assert_same(student, solution, args, form=True)
