"""Chapter 08, full generation: its examples, the visible checks on them, and the hints."""

from collections.abc import Callable

import numpy as np
import torch

from specdec_lib.lessons.ch08.models import WatchedCache, WatchedModel, closer, dyadic_table
from specdec_lib.lessons.ch08.puzzle import check_puzzle
from specdec_lib.lessons.common import answers
from specdec_lib.lessons.common.answers import answered, committed
from specdec_lib.lessons.common.describing import describe, format_call
from specdec_lib.lessons.common.examples import Different, expect, expect_value_error, visible_check
from specdec_lib.lessons.common.hints import hints_from

__all__ = ["answered", "check_puzzle", "committed"]

# What the first prediction is held against: 10 tokens of text, a block of four, one accepted.
READ, K, ACCEPTED = 9, 4, 1
TRUTHS = {
    "prediction_08": (
        READ + 1 + K - (READ + 1 + ACCEPTED),
        "The pass took the cache from 9 to 14 positions. The text now has 12 tokens, the last of "
        "them unread, so 11 stay.",
    ),
}
WHY_MEASURED = "That is the middle of the timed pairs, on this machine and these prompts."

# One block of two in three rows, with the same p and q in each: rejected at once, after one
# accepted token, and not at all.
P = torch.tensor([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25], [0.125, 0.25, 0.625]]).double()
Q = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]).double()
DRAFTED = torch.tensor([[0, 1], [1, 2], [1, 0]])
R = torch.tensor([[0.75, 0.1], [0.9, 0.5], [0.9, 0.6]]).double()
U = torch.tensor([0.5, 0.5, 0.5]).double()
BLOCK = (P.expand(3, 3, 3), Q.expand(3, 2, 3), DRAFTED, R, U)

# The text of the example models, for K, temperature, end and seed; a test holds these against
# specdec_lib.decoding.
PROMPT = [1, 2, 3]
TEXTS = {
    (3, 0.0, None, 0): [3, 2, 1, 3, 0, 1, 1, 2, 0],
    (3, 1.0, None, 3): [3, 2, 1, 3, 0, 3, 0, 0, 2],
    (3, 1.0, None, 1): [1, 3, 0, 1, 1, 2, 0, 3, 0],
    (3, 1.0, 1, 0): [2, 1],
}
TOKENS = 9


def models() -> tuple[WatchedModel, WatchedModel]:
    """The target and the draft of the examples, which note their passes in one list."""
    target, passes = dyadic_table(1), []
    draft = closer(target, dyadic_table(1001))
    return (
        WatchedModel(target, "target", len(PROMPT), most=TOKENS, passes=passes),
        WatchedModel(draft, "draft", len(PROMPT), passes=passes),
    )


#: The functions that have passed their check, by name.
_passed: dict[str, Callable] = {}


def _remember(function: Callable) -> None:
    """Note that a function has passed; a check gets it wrapped (`watched`)."""
    _passed[function.__name__] = function.__wrapped__


def checked(*functions: Callable) -> None:
    """Raise Different unless each of `functions`, as it is now, has passed its check.

    What is measured with a wrong function would be no measurement.
    """
    for function in functions:
        name = function.__name__
        if _passed.get(name) is not function:
            raise Different(
                f"This cell runs your {name}, and its check has not passed since you last changed "
                f"it. Run the check below {name}, then this cell."
            )


def reveal(name: str, guess: object, measured: float | None = None) -> None:
    """Set a committed prediction of this chapter beside the truth, which may be `measured`."""
    truth, why = TRUTHS.get(name, (measured, WHY_MEASURED))
    answers.reveal(name, guess, truth, why)


@visible_check
def check_rollback(function: Callable) -> None:
    """A cut, a cut to nothing, a length that is there already, and two that cannot be."""
    for held, length, cuts in ((14, 11, [11]), (6, 6, []), (5, 0, [0])):
        cache = WatchedCache(range(held))
        expect(function, cache, length, gives=None, hint="Nothing is returned.")
        call = f"{function.__name__}(a cache of {held} positions, {length})"
        if cache.cuts != cuts:
            raise Different(
                f"{call} called truncate with {describe(cache.cuts)}, expected {describe(cuts)}."
            )
    for held, length in ((3, 4), (3, -1)):
        why = f"it cannot go back to {length} of {held} positions"
        expect_value_error(function, WatchedCache(range(held)), length, why=why)
    _remember(function)


@visible_check
def check_verify_block(function: Callable) -> None:
    """The block of the card, its rows alone, and a block without draft tokens."""
    gives = (torch.tensor([0, 1, 2]), torch.tensor([1, 0, 2]))
    hint = "Row 0 is rejected at once, row 1 after one token, row 2 not at all."
    expect_verdict(function, *BLOCK, gives=gives, hint=hint)
    for row in range(3):
        alone = [part[row : row + 1] for part in BLOCK]
        one = tuple(part[row : row + 1] for part in gives)
        hint = "Each row has its own tokens, coins and u."
        expect_verdict(function, *alone, gives=one, hint=hint)
    p, q, drafted, r, u = BLOCK
    empty = (p[:, :1], q[:, :0], drafted[:, :0], r[:, :0], u)
    gives = (torch.tensor([0, 0, 0]), torch.tensor([1, 1, 1]))
    hint = "Without draft tokens there is only the bonus row."
    expect_verdict(function, *empty, gives=gives, hint=hint)
    _remember(function)


def expect_verdict(function: Callable, *block: torch.Tensor, gives: tuple, hint: str) -> None:
    """Raise Different unless `function(*block)` returns the two tensors `gives`, both long."""
    for part in expect(function, *block, gives=gives, hint=hint):
        if part.dtype != torch.long:
            call = format_call(function, block)
            raise Different(f"{call} returned a tensor of {part.dtype}. Both are to be torch.long.")


@visible_check
def check_speculative_generate(function: Callable) -> None:
    """Four texts of the example models, what was read for them, and 0 tokens."""
    for (k, temperature, eos_id, seed), text in TEXTS.items():
        target, draft = models()
        args = [target, draft, list(PROMPT), k, TOKENS, temperature, np.random.default_rng(seed)]
        hint = "Which numbers are drawn, in which order, and what has each model read by then?"
        expect(function, *args, eos_id, gives=text, hint=hint)
        for model in (target, draft):
            for fault in model.trace:
                raise Different(f"With k={k}, the {model} had this: {fault}. {FAULTS[fault]}")
    target, draft = models()
    args = [target, draft, list(PROMPT), 3, 0, 1.0, np.random.default_rng(0)]
    expect(function, *args, gives=[], hint="0 tokens are asked for.")
    if target.passes:
        raise Different("0 tokens are asked for, and a model was called. Read nothing for them.")
    _remember(function)


FAULTS = {
    "read the prompt again": "What a cache holds is never fed a second time.",
    "read a token of the text again": "Roll back to what has been read of the text, no further.",
    "too many passes": "One pass reads a whole block.",
}


HINTS = {
    "rollback": (
        "Three cases, in this order: the length cannot be, there is nothing to do, or cut.",
        "int(cache.length[0]) is how many positions the one row holds.",
        "Raise ValueError unless 0 <= length <= held; cache.truncate(length) if length < held.",
    ),
    "verify_block": (
        "Decide on all draft tokens of all rows at once, then count up to each row's first "
        "rejection.",
        "gather(-1, drafted[..., None]) picks the probabilities of the drafted tokens. A "
        "cumulative product of the verdicts is 1 up to the first rejection and 0 after it.",
        "With count (B,): pad q by one row of zeros, take p and q at [torch.arange(B), count], "
        "clamp their difference at 0, divide by its sum (p if that is 0), and sample_rows. "
        "After a whole block q is 0 there, and what is left is the bonus row of p.",
    ),
    "speculative_generate": (
        "The text ends with one token that nobody has read. feed reads whatever is missing, so the "
        "prompt, that token and a bonus token need no case of their own.",
        "A block: n, the numbers, n draft tokens one by one, one pass of the target over what it "
        "has not read, the verdict, the new tokens, two rollbacks.",
        "Both caches go back to at most len(text) - 1 positions. The draft may hold fewer: "
        "rollback(draft_cache, min(held, len(text) - 1)). With n = 0 there is no q to join: "
        "torch.cat([*q, p[:, :0]], 1) is right for every n.",
    ),
}

hints = hints_from(HINTS)
