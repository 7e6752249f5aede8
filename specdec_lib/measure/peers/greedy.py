"""Greedy decoding, plain and speculative, by anything that reads tokens and can forget the last.

Leviathan et al. (2023), Algorithm 1, at temperature 0: a draft token is accepted if it is the
target's most probable one, and after the first that is not stands the target's own.
"""

import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from specdec_lib.decoding.state import Generation
from specdec_lib.measure.core.runs import Decoder


class Reader(Protocol):
    """A model that holds the text it has read so far."""

    length: int  # tokens held

    def read(self, tokens: Sequence[int], last_only: bool = False) -> np.ndarray:
        """Append `tokens`; the logits (len(tokens), V) after each, or (1, V) after the last."""

    def cut(self, length: int) -> None:
        """Hold only the first `length` tokens."""


def plain(target: Reader, count: int) -> Decoder:
    """Plain decoding of `count` tokens; the prompt's own pass gives the first."""

    def decode(prompt: list[int]) -> Generation:
        begun = time.perf_counter()
        target.cut(0)
        written = [best(target.read(prompt, last_only=True))[0]]
        while len(written) < count:
            written += best(target.read(written[-1:]))
        return Generation([written], [], len(written), time.perf_counter() - begun)

    return decode


def speculative(target: Reader, draft: Reader, k: int, count: int) -> Decoder:
    """As `plain`, with up to `k` draft tokens for every pass of the target."""

    def decode(prompt: list[int]) -> Generation:
        begun, end, passes = time.perf_counter(), len(prompt) + count, 1
        target.cut(0)
        draft.cut(0)
        text = prompt + best(target.read(prompt, last_only=True))
        while len(text) < end:
            drafted = draft_block(draft, text, min(k, end - len(text) - 1))
            choices = best(target.read([text[-1], *drafted]))
            accepted = agreed(drafted, choices)
            text += choices[: accepted + 1]
            target.cut(len(text) - 1)
            draft.cut(min(draft.length, len(text) - 1))
            passes += 1
        return Generation([text[len(prompt) :]], [], passes, time.perf_counter() - begun)

    return decode


def draft_block(draft: Reader, text: list[int], count: int) -> list[int]:
    """`count` tokens after `text`, of which the draft first reads what it does not hold."""
    drafted: list[int] = []
    while len(drafted) < count:
        unread = drafted[-1:] or text[draft.length :]
        drafted += best(draft.read(unread, last_only=True))
    return drafted


def agreed(drafted: list[int], choices: list[int]) -> int:
    """How many draft tokens, from the first, are the target's choices."""
    wrong = (at for at, token in enumerate(drafted) if token != choices[at])
    return next(wrong, len(drafted))


def best(logits: np.ndarray) -> list[int]:
    """The most probable token of every row."""
    return logits.argmax(-1).tolist()
