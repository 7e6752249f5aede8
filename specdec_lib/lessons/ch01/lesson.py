"""Chapter 01, draft then verify: its examples and the visible checks on them."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch01.models import (
    DRAFT,
    TARGET,
    Calls,
    DraftModel,
    TargetModel,
    greedy_decode,
    tokenize,
)
from specdec_lib.lessons.checking import answers
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.examples import Different, expect, helpers_first, visible_check
from specdec_lib.lessons.checking.tables import check_of, expect_tables

__all__ = ["committed"]

# The text and the block that the chapter works on: the draft's favourites after "the cat sat". The
# target rejects the third. It agrees with the fourth, which is dropped all the same.
PREFIX = tokenize("the cat sat")
DRAFT_BLOCK = tokenize("on the cat sat")
NEW_TOKENS = 12  # new tokens of a whole decode
EACH_PASS = "(does each pass add a token of the target's?)"
# What the target alone writes, and two more tokens.
ALONE = greedy_decode(TARGET, PREFIX, NEW_TOKENS + 2)

# Greedy text of the built-in target soon runs in circles; after this prompt its first 32 tokens do
# not repeat any four tokens in a row.
REAL_PROMPT = (
    'class Stack:\n    """A list that is used from one end."""\n\n    def __init__(self):\n'
)

TRUTHS = truths_of(__package__)

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


def target_rows(prefix: list[int], drafted: list[int]) -> np.ndarray:
    """What the small target gives from the prefix's last token on (k + 1, V)."""
    return np.array([TARGET.row([*prefix, *drafted[:i]]) for i in range(len(drafted) + 1)])


def models(
    draft: TargetModel = DRAFT, which: str = "", **limits: int
) -> tuple[TargetModel, DraftModel]:
    """The target, and a draft with the rows of `draft`; Calls has their `limits` and `which`."""
    calls = Calls(**limits, which=which)
    target, second = TargetModel(TARGET.row, calls), DraftModel(draft.row, calls)
    given = [f"{name}={most}" for name, most in limits.items()]
    target.code = f"*lesson.models({', '.join(['lesson.TARGET'] * (draft is TARGET) + given)})"
    second.code = ""  # it is made with the target
    return target, second


@visible_check
def check_score_block(function: Callable) -> None:
    """The block of the card, a short prefix and a long one, and no draft tokens at all."""
    start = "Yours begin at the start of the prefix."
    late = "Yours begin one row late: the last prefix token's row judges the first draft token."
    alone = "Does the target read the prefix, too?"
    told_apart = TARGET, tokenize("sat on"), tokenize("the mat")
    after_prefix, block_alone = TARGET(tokenize("sat on the mat"))[2:], TARGET(tokenize("the mat"))
    for words in answers.read_tables(__package__, "blocks.toml")["score_block"]:
        before, block = map(tokenize, words)
        every = TARGET([*before, *block])
        asks = [(every, start), (every[: len(block) + 1], start)]
        asks += [(every[len(before) :], late, (told_apart, after_prefix))]
        asks += [(every[len(before) :], alone, (told_apart, block_alone))]
        asks += [(every[len(before) - 1 : -1], "The row after the last draft token is missing.")]
        rows = "1 row: that" if not block else f"{len(block) + 1} rows, starting with that"
        hint = f"Return {rows} of the last prefix token."
        target, _ = models(targets=1)
        target.code = "lesson.models(targets=1)[0]"
        gives = target_rows(before, block)
        expect(function, target, before, block, gives=gives, hint=hint, asks=asks)


def block_and_rows(words: str) -> tuple[list[int], np.ndarray]:
    """A block that is drafted after PREFIX, and what the target gives for it."""
    return tokenize(words), target_rows(PREFIX, tokenize(words))


check_greedy_prefix = check_of(globals(), "greedy_prefix")


@visible_check
@helpers_first(check_score_block, check_greedy_prefix)
def check_greedy_speculative_decode(function: Callable) -> None:
    """The text and its end, then its passes: whole blocks, and no tokens at all.

    If that fails, the functions that the loop calls are checked first.
    """
    expect_tables(function, globals(), "greedy_speculative_decode")
    _check_passes(function)


def _check_passes(function: Callable) -> None:
    """The calls: with the card's draft, with a draft that is always right, and for no tokens."""
    card = "(the card writes these 12 tokens in 4 passes)"
    moves = "Each pass also gives its correction (row m) or bonus (row K), without a second call. "
    moves += "Each call of the draft reads the tokens drafted so far."
    perfect = "This draft is always right: a block of 4 writes 5 tokens, with the bonus."
    for draft, count, passes, hint, which in (
        (DRAFT, NEW_TOKENS, 4, moves, card),
        (TARGET, NEW_TOKENS + 1, 3, perfect, ""),
        (DRAFT, 0, 0, "Nothing is asked for.", ""),
    ):
        pair = models(draft, which, targets=passes, in_a_block=4 if passes else 0)
        gives = greedy_decode(TARGET, PREFIX, count)
        try:
            expect(function, *pair, PREFIX, 4, count, gives=gives, hint=hint)
        except Different as wrong:
            raise Different(wrong.seen, _other_block(draft.row, pair[0].calls) or hint) from None


def _other_block(row: Callable, calls: Calls) -> str:
    """What was drafted first, if these aren't the draft's choices; an empty text if they are."""
    choices = greedy_decode(TargetModel(row), PREFIX, 4)
    first = calls.blocks[0][1] if calls.blocks else []
    drafted = first[len(PREFIX) :]
    if first[: len(PREFIX)] != PREFIX or len(drafted) != 4 or drafted == choices:
        return ""
    return (
        f"Your first block drafts {drafted}, and the draft's choices are {choices}: each is the "
        "argmax of all that draft_model returns for the text and the tokens drafted so far."
    )
