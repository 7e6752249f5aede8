"""What the hidden tests of chapter 01 expect: the target alone writes the text, token by token.

A model is a function `row(tokens)`, the distribution (V,) after a list of tokens. No block is
drafted, scored or verified here.
"""

from collections.abc import Callable, Container
from fractions import Fraction
from itertools import accumulate

import numpy as np

Row = Callable[[list[int]], np.ndarray]
SEEDS = 200  # looked through for a text that has its eos where it should stand


def hashed(seed: int, vocab_size: int) -> Row:
    """A distribution for every list of tokens, by a generator seeded with all of them."""

    def row(tokens: list[int]) -> np.ndarray:
        return np.random.default_rng([seed, *tokens]).dirichlet(np.ones(vocab_size))

    return row


def off_at(row: Row, lengths: Container[int]) -> Row:
    """A draft that is `row`, but another token's favourite after texts of these lengths."""
    return lambda tokens: np.roll(row(tokens), 1) if len(tokens) in lengths else row(tokens)


def zero_after(length: int) -> Row:
    """A target of three tokens that writes 1, and 0 where the text has this length."""
    return lambda tokens: np.eye(3)[0 if len(tokens) == length else 1]


def favouring(tokens: list[int], vocab_size: int, height: float) -> np.ndarray:
    """Rows (len(tokens), V) whose argmax are `tokens`; the rest of the mass is spread unevenly."""
    rows, shares = np.zeros((len(tokens), vocab_size)), np.arange(1, vocab_size)
    for i, token in enumerate(tokens):
        rows[i, np.arange(vocab_size) != token] = (1 - height) * shares / shares.sum()
        rows[i, token] = height
    return rows


def picked(probs: np.ndarray, u: float) -> int:
    """The first token whose cumulative sum, as a fraction, exceeds u; else the last possible."""
    sums = list(accumulate(map(Fraction, probs.tolist())))
    above = [token for token, total in enumerate(sums) if total > Fraction(u)]
    return above[0] if above else int(np.flatnonzero(probs)[-1])


def drafted(row: Row, prefix: list[int], uniforms: list[float]) -> tuple[list[int], np.ndarray]:
    """The tokens that the numbers pick, and the distributions (k, V) that they are picked from."""
    text = list(prefix)
    for u in uniforms:
        text.append(picked(row(text), u))
    ends = range(len(prefix), len(text))
    return text[len(prefix) :], np.array([row(text[:end]) for end in ends])


def scored(row: Row, prefix: list[int], block: list[int]) -> np.ndarray:
    """The distributions (k + 1, V) after the prefix and after every token of the block."""
    return np.array([row([*prefix, *block[:i]]) for i in range(len(block) + 1)])


def choices(p: np.ndarray) -> list[int]:
    """The most probable token of every row, the first of equal ones."""
    return [row.index(max(row)) for row in p.tolist()]


def agreeing(block: list[int], p: np.ndarray) -> int:
    """The length of the longest beginning of the block that the choices of `p` begin with too."""
    wanted = choices(p)
    return max(n for n in range(len(block) + 1) if block[:n] == wanted[:n])


def alone(row: Row, prompt: list[int], count: int, eos: int | None = None) -> list[int]:
    """Greedy decoding by the target: the new tokens, `eos` kept."""
    written: list[int] = []
    while len(written) < count and (not written or written[-1] != eos):
        written += choices(np.array([row([*prompt, *written])]))
    return written


def blocks_needed(row: Row, draft_row: Row, prompt: list[int], k: int, count: int) -> int:
    """The passes of the target that its text of `count` tokens takes with this draft."""
    gives = alone(row, prompt, count)
    passes = at = 0
    while at < len(gives):
        left = gives[at : at + k]
        before = [[*prompt, *gives[:at], *left[:i]] for i in range(len(left))]
        proposed = choices(np.array([draft_row(text) for text in before]))
        passes, at = passes + 1, at + [*map(int.__eq__, proposed, left), False].index(False) + 1
    return passes


def with_eos_at(seed: int, vocab_size: int, prompt: list[int], place: int) -> tuple[int, int]:
    """A seed and eos: the token that its target writes at `place`, and nowhere before.

    The seed is this one, or the next of those 100 apart for which there is one. Raises ValueError
    if there is none.
    """
    for other in range(seed, seed + 100 * SEEDS, 100):
        written = alone(hashed(other, vocab_size), prompt, place + 1)
        if written[-1] not in written[:-1]:
            return other, written[-1]
    raise ValueError(f"no text has a new token at place {place}: take an earlier place")
