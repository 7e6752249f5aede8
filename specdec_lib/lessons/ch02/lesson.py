"""Chapter 02, rejection sampling: its examples and the visible checks on them."""

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from numpy import array, ndarray

from specdec_lib.lessons.ch02 import models
from specdec_lib.lessons.ch02.models import Q_AFTER, draft_logits, draft_model, target_logits
from specdec_lib.lessons.checking import check_of, lending
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.examples import Different, expect
from specdec_lib.lessons.checking.lending import ScriptedRandom, limit_calls, read_only

__all__ = ["committed", "draft_model"]  # the latter in checks.toml

# The pair that the whole chapter works on.
P = read_only([0.45, 0.30, 0.15, 0.10])
Q = read_only([0.30, 0.45, 0.20, 0.05])

TRUTHS = truths_of(__package__, prediction_02_c=None)

# Three drafted tokens of a vocabulary of four. The first has a ratio of 0.5/0.4, the second of
# 0.1/0.5, the third of 0.6/0.3.
BLOCK = [3, 1, 2]
BLOCK_P = read_only([[0.2, 0.2, 0.1, 0.5], [0.3, 0.1, 0.3, 0.3], [0.1, 0.1, 0.6, 0.2]])
BLOCK_Q = read_only([[0.2, 0.2, 0.2, 0.4], [0.2, 0.5, 0.2, 0.1], [0.3, 0.2, 0.3, 0.2]])
BLOCK_R = read_only([0.7, 0.6, 0.1])
UNIFORMS = read_only([0.6, 0.8, 0.3])

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)

check_acceptance_probability = check_of(globals(), "acceptance_probability")
check_draft_block = check_of(globals(), "draft_block")
check_speculative_accept = check_of(globals(), "speculative_accept")
check_residual_distribution = check_of(globals(), "residual_distribution")


def looks_back(tokens: list[int]) -> ndarray:
    """A draft by the last token but one. CallLimitExceeded for one token."""
    if len(tokens) < 2:
        raise lending.CallLimitExceeded(
            "called the draft with the last token alone: every call reads the whole text"
        )
    return Q_AFTER[tokens[-2]].copy()


looks_back.code = "lesson.looks_back"


def expect_draws(
    function: Callable, draft: Callable, prefix: list[int], u: ndarray, **options: Any
) -> None:
    """`expect` of a block, with as many calls of the draft as there are numbers `u`."""
    counted = limit_calls(len(u), draft, "the draft", "a block of k tokens takes k calls")
    expect(function, counted, prefix, len(u), u, **options)


def expect_tokens(function: Callable, *args: Any, **options: Any) -> None:
    """`expect_draws` of the first result alone."""
    expect_draws(functools.wraps(function)(lambda *a: function(*a)[0]), *args, **options)


def _drafted(tokens: list[int], after: int = 0) -> tuple:
    """Tokens that the small draft may draw, and its rows."""
    return tokens, Q_AFTER[[after, *tokens[:-1]]]


def _alone(i: int, coin: float) -> tuple:
    """The arguments for position i of the block by itself."""
    return BLOCK[i : i + 1], BLOCK_P[i : i + 1], BLOCK_Q[i : i + 1], array([coin])


# A block whose second token is rejected, and one whose first is.
_STEP_P, _STEP_Q = array([P, Q, [0.1, 0.2, 0.3, 0.4]]), array([Q, P])
LATE = [0, 0], _STEP_P, _STEP_Q, array([0.5, 0.9])
SOON = [1, 0], _STEP_P, _STEP_Q, array([0.9, 0.1])

check_speculative_step = check_of(
    globals(), "speculative_step", check_speculative_accept, check_residual_distribution
)


# What rng gives for the card's text; for one that shows the temperature, with numbers to spare; and
# for a block that is accepted whole.
CARD = (0.1, 0.6, 0.4, 0.4, 0.7, 0.3, 0.7, 0.6, 0.2)
_WARM = (0.45, 0.9, 0.85, 0.55, 0.25, 0.45, 0.05, 0.2, 0.75, 0.85, 0.4, 0.6, 0.2, 0.7, 0.35, 0.95)
WARM_CALL = [2, 1], _WARM, 2, 5
WHOLE = (0.6, 0.2, 0.3, 0.9, 0.6, 0.3)
CARD_TEXT, WARM_TEXT = [2, 0, 1], [0, 2, 0, 1, 2]


_PARTS = check_draft_block, check_speculative_accept, check_speculative_step
check_speculative_sample = check_of(globals(), "speculative_sample", *_PARTS)


def expect_sampled(
    function: Callable, *text: Any, calls: int, blocks: Sequence = (), hint: str, **options: Any
) -> None:
    """`expect` of a text, by `_asking`, with so many calls of the target at most.

    `blocks` are what each drafts, writes, and why: where no cause is known, the message names the
    first block that differs. `rows` is the hint if the draft's last row alone makes the text right.
    """
    rows, (target, draft, prompt, k, *others) = options.pop("rows", ""), _asking(*text)
    reads: list[list[int]] = []

    @functools.wraps(target)
    def noted(tokens: list[int]) -> ndarray:
        reads.append(lending.token_list(tokens))
        return target(tokens)

    counted = limit_calls(calls, noted, "the target", "one call gives all rows of a block")
    draft = limit_calls(k * calls, draft, "the draft", "a block of n tokens takes n calls")
    try:
        expect(function, counted, draft, prompt, k, *others, hint=hint, **options)
    except Different as wrong:
        advice = _parting(prompt, blocks, reads) if wrong.hint == hint else ""
        target, _, *others = _asking(*text)
        if rows and "sample_from: probs has shape" in wrong.seen:
            with suppress(Exception):
                one_row = function(target, lambda tokens: draft_logits(tokens)[-1], *others)
                advice = rows if one_row == options["gives"] else advice
        raise Different(wrong.seen, advice or wrong.hint) from None


def _parting(text: list[int], blocks: Sequence, reads: Sequence[list[int]]) -> str:
    """The first block in which the target reads or writes another text; "" without one."""
    advice = ""
    for i, ((drafted, written, why), read) in enumerate(zip(blocks, reads, strict=False), 1):
        if read != text + drafted:
            return f"Block {i} drafts {drafted} after {text}, and your target read {read}."
        text = text + written
        advice = f"The target read what it should. Block {i} should write {written}: {why}."
    return advice


def _asking(
    prompt: list[int], numbers: Sequence[float], k: int, count: int, eos: int | None = None
) -> tuple:
    """The arguments that ask for a text of the small models."""
    rng = ScriptedRandom(
        *numbers,
        why="a block of n draft tokens draws 2n + 1 numbers; n is at most the tokens left minus 1",
    )
    return target_logits, draft_logits, prompt, k, count, models.TEMPERATURE, rng, eos
