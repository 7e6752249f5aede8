"""Chapter 01, draft then verify: its examples and the visible checks on them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from specdec_lib.lessons.ch01.models import (
    DRAFT,
    END,
    TARGET,
    WORDS,
    Calls,
    DraftModel,
    TargetModel,
    greedy_decode,
    named,
    pair,
    text,
    tokens,
)
from specdec_lib.lessons.common.answers import answering, committed, revealing, truths_of
from specdec_lib.lessons.common.examples import expect, visible_check
from specdec_lib.lessons.common.lending import fixed, handed_out

__all__ = ["DRAFT", "END", "TARGET", "WORDS", "committed"]
__all__ += ["greedy_decode", "named", "pair", "text", "tokens"]

# The text and the block that the chapter works on: the draft's favourites after "the cat".
_PREFIX = tokens("the cat")
__getattr__ = handed_out(PREFIX=_PREFIX, BLOCK=tokens("sat on the cat"))
UNIFORMS = fixed([0.1, 0.5, 0.95])
LONG = 12  # new tokens of a whole decode

# Five blocks of the built-in pair in float64 on a Python prompt, with the coins of a seed.
RECORDED = json.loads(Path(__file__).with_name("blocks.json").read_text(encoding="utf-8"))
# Greedy text of the built-in target soon runs in circles; after this prompt its first 32 tokens do
# not repeat any four tokens in a row.
REAL_PROMPT = (
    'class Stack:\n    """A list that is used from one end."""\n\n    def __init__(self):\n'
)
WRITTEN = sum(block["accepted"] + 1 for block in RECORDED["blocks"])

# The true values that predictions.toml does not hold.
TRUTHS = truths_of(__package__, prediction_01_b=WRITTEN)

answered = answering(__package__)
reveal = revealing(TRUTHS)


def look() -> None:
    """Print what "What you may read elsewhere" tells to look at, worked out."""
    read = TARGET(tokens("the cat sat on"))
    favourites = [WORDS[int(row.argmax())] for row in (read[0], read[3])]
    print("row 0 prefers {}, row 3 prefers {}".format(*favourites))
    print(f"20 tokens, K = 4, a perfect draft: {20 // 5} passes; without the bonus {20 // 4}")


def drafted_rows(model: DraftModel, prefix: list[int], drafted: list[int]) -> np.ndarray:
    """What a small model gives before each token of `drafted` (k, V)."""
    return np.array([model.row([*prefix, *drafted[:i]]) for i in range(len(drafted))])


def target_rows(prefix: list[int], drafted: list[int]) -> np.ndarray:
    """What the small target gives from the prefix's last token on (k + 1, V)."""
    return np.array([TARGET.row([*prefix, *drafted[:i]]) for i in range(len(drafted) + 1)])


@visible_check
def check_draft_block(function: Callable) -> None:
    """The block of the card, one token alone, a block of rare tokens, and another draft."""
    alone, other = tokens("sat sat ran"), tokens("sat on the")
    asks = (
        ((alone, np.array(3 * [DRAFT.row(_PREFIX)])), "Is a draft token in the next call's list?"),
        ((other, drafted_rows(DRAFT, _PREFIX, other)), "0.95 is not in the piece of `the`."),
    )
    for prefix, uniforms, drafted, hint in (
        ("the cat", UNIFORMS, "sat on mat", ""),
        ("the dog", UNIFORMS[2:], "ran", "u = 0.95 picks the second of two words."),
        ("mat .", np.array([0.9, 0.2, 0.99]), "dog sat .", "Token i is picked by uniforms[i]."),
    ):
        before, out = tokens(prefix), tokens(drafted)
        gives = (out, drafted_rows(DRAFT, before, out))
        _, draft = pair(in_a_block=len(out))
        expect(function, draft, before, len(out), uniforms, gives=gives, hint=hint, asks=asks)
    before, out = tokens("sat on"), tokens("the mat")
    far = DraftModel(TARGET.row, Calls(drafts=2))
    hint = "This draft looks at two words: the whole text belongs into every call."
    gives = (out, drafted_rows(TARGET, before, out))
    expect(function, far, before, 2, np.array([0.1, 0.3]), gives=gives, hint=hint)


@visible_check
def check_score_block(function: Callable) -> None:
    """The block of the card, a short prefix and a long one, and no draft tokens at all."""
    for prefix, drafted in (
        ("the cat", "sat on the cat"),
        ("the", "dog ran"),
        ("sat on the", "mat ."),
        ("the cat sat", ""),
    ):
        before, block = tokens(prefix), tokens(drafted)
        hint = f"{len(block) + 1} rows, from the one that follows the last token of the prefix."
        target, _ = pair(targets=1)
        gives = target_rows(before, block)
        expect(function, target, before, block, gives=gives, hint=hint)


@visible_check
def check_greedy_prefix(function: Callable) -> None:
    """A block that parts at its last token, at its first, and nowhere; then a tie."""
    for drafted, count, hint in (
        ("sat on the cat", 3, "The target says sat, on, the, mat."),
        ("ran . the dog", 0, "Later tokens do not count, however good they are."),
        ("sat on the mat", 4, "All four are the target's own."),
    ):
        block = tokens(drafted)
        rows = target_rows(_PREFIX, block)
        expect(function, block, rows, gives=count, hint=hint)
    tie = np.array([[0.25, 0.5, 0.25], [0.2, 0.4, 0.4]])
    hint = "Row 1 has a tie: its first token, 1, is the target's choice."
    expect(function, [1, 2], tie, gives=1, hint=hint)


@visible_check
def check_greedy_speculative_decode(function: Callable) -> None:
    """Twelve tokens in four passes, the text up to an end, whole blocks, no tokens at all."""
    whole = greedy_decode(TARGET, _PREFIX, LONG)
    hint = "The target alone writes: " + text(whole) + "."
    target, draft = pair(targets=4, in_a_block=4, provided="if your score_block is right")
    expect(function, target, draft, _PREFIX, 4, LONG, None, gives=whole, hint=hint)
    for eos, passes, hint in (
        (END, 2, "The text ends with its first eos, also if that stands inside a block."),
        (0, 4, "Here eos is 0, a token like any other."),
    ):
        target, draft = pair(targets=passes, in_a_block=4)
        gives = whole[: whole.index(eos) + 1]
        expect(function, target, draft, _PREFIX, 4, LONG, eos, gives=gives, hint=hint)
    for count, passes, hint in (
        (5, 1, "This draft is always right: four draft tokens and the bonus, in one pass."),
        (LONG + 1, 3, "This draft is always right: blocks of 5, 5 and 3 tokens, one pass each."),
    ):
        calls = Calls(targets=passes, in_a_block=4, provided="with the bonus of a whole block")
        perfect = TargetModel(TARGET.row, calls), DraftModel(TARGET.row, calls)
        gives = greedy_decode(TARGET, _PREFIX, count)
        expect(function, *perfect, _PREFIX, 4, count, None, gives=gives, hint=hint)
    target, draft = pair(targets=0, drafts=0)
    expect(function, target, draft, _PREFIX, 4, 0, None, gives=[], hint="Nothing is asked for.")
