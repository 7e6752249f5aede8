"""What the hidden tests of chapter 08 expect, each by another way than the chapter's solution.

A verdict is reached row by row in exact fractions. A text is written without a cache: every
distribution is looked up for the whole text so far.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

Row = Sequence[float]  # a distribution (V,)


def cuts(held: int, length: int) -> list[int] | None:
    """The calls of truncate that bring a cache back to `length`; None if it cannot go there."""
    if length not in range(held + 1):
        return None
    return [length] * (length != held)


def verdict(p: Tensor, q: Tensor, drafted: Tensor, r: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """Accepted counts and next tokens (B,): p (B, K+1, V), q (B, K, V), drafted and r (B, K)."""
    rows = zip(*(part.tolist() for part in (p, q, drafted, r, u)), strict=True)
    counts, tokens = zip(*(judged(*row) for row in rows), strict=True)
    return torch.tensor(counts), torch.tensor(tokens)


def judged(
    p: Sequence[Row], q: Sequence[Row], drafted: Sequence[int], r: Row, u: float
) -> tuple[int, int]:
    """The accepted count and the next token of one row, with exact products and sums."""
    for count, token in enumerate(drafted):
        if Fraction(r[count]) * Fraction(q[count][token]) >= Fraction(p[count][token]):
            both = zip(p[count], q[count], strict=True)
            missing = [max(Fraction(a) - Fraction(b), Fraction(0)) for a, b in both]
            return count, drawn(missing if any(missing) else p[count], u)
    return len(drafted), drawn(p[-1], u)


def drawn(weights: Sequence[float | Fraction], u: float) -> int:
    """The first token whose share of the `weights`, with those before it, exceeds `u`."""
    totals = list(accumulate(map(Fraction, weights)))
    return next(token for token, total in enumerate(totals) if total > Fraction(u) * totals[-1])


def blocks(
    target: np.ndarray,
    draft: np.ndarray,
    prompt: Sequence[int],
    k: int,
    tokens: int,
    temperature: float,
    eos: int | None,
    seed: int,
) -> list[list[int]]:
    """The tokens that each block adds, from the models' tables (V, V, V) and a generator's seed."""
    rng, text, found = np.random.default_rng(seed), list(prompt), []
    while (left := tokens + len(prompt) - len(text)) > 0 and not (found and eos in found[-1]):
        n = min(k, left - 1)
        numbers = rng.random(2 * n + 1) if temperature else np.zeros(2 * n + 1)
        drafted: list[int] = []
        for u in numbers[:n]:
            drafted.append(drawn(law(draft, text + drafted, temperature), u))
        p, q = (
            [law(table, text + drafted[:i], temperature) for i in range(n + 1)]
            for table in (target, draft)
        )
        count, token = judged(p, q[:n], drafted, numbers[n:-1], numbers[-1])
        new = [*drafted[:count], token]
        found.append(new[: new.index(eos) + 1] if eos in new else new)
        text += found[-1]
    return found


def law(table: np.ndarray, text: Sequence[int], temperature: float) -> list[float]:
    """The distribution after `text` by its last two tokens; before the first one stands a 0."""
    row = table[tuple([0, *text][-2:])]
    if temperature == 0:
        return [float(token == row.argmax()) for token in range(len(row))]
    powers = [float(each) ** (1 / temperature) for each in row]
    return [each / math.fsum(powers) for each in powers]
