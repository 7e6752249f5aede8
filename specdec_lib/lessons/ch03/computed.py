"""Exact distributions and noise floors of chapter 03. Nothing here is sampled."""

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch03.rules import Rule, residual


def noise(p: np.ndarray, draws: float) -> float:
    """The total variation to p (V,) that `draws` tokens from p itself show on average.

    The frequency of a token has the standard deviation sqrt(p (1 - p) / draws); the mean of its
    absolute value is sqrt(2/pi) of that (the normal approximation), and half the sum is the answer.
    """
    return float(np.sqrt(2 / np.pi / draws) * np.sqrt(p * (1 - p)).sum() / 2)


def mixed_up(p: np.ndarray, q: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, float]:
    """The distribution (V,) and the accepted share if drafts come from `drawn` but q is reported.

    Ratio and residual use q (V,), as in chapter 02. With `drawn` equal to q the distribution is p.
    """
    ratio = np.ones(len(p))
    np.divide(p, q, out=ratio, where=q > p)
    accepted = drawn * ratio
    return accepted + (1 - accepted.sum()) * residual(p, q), float(accepted.sum())


def lenient(p: np.ndarray, q: np.ndarray, lenience: float) -> tuple[np.ndarray, float]:
    """The distribution (V,) and the accepted share if the coin is compared with p / (lenience q).

    Leviathan et al. (2023), Appendix A.5; the residual stays that of p and q.
    """
    accepted = np.minimum(q, p / lenience)
    return accepted + (1 - accepted.sum()) * residual(p, q), float(accepted.sum())


def mixture(p: np.ndarray, q: np.ndarray, weight: float) -> tuple[np.ndarray, float]:
    """The distribution (V,) and the accepted share with weight p + (1 - weight) q as the target.

    `assistant_ensemble_weight` of Hugging Face transformers does this.
    """
    law = weight * p + (1 - weight) * q
    return law, float(np.minimum(law, q).sum())


def rule_law(rule: Rule, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The distribution (V,) of a rule on a grid of 64 by 64 midpoints, all tokens in one call."""
    axis = np.arange(0.5, 64) / 64
    tokens, r, u = (part.ravel() for part in np.meshgrid(np.arange(len(q)), axis, axis))
    out = rule(p, q, tokens, r, u)
    return np.bincount(out, weights=q[tokens] / 64**2, minlength=len(p))


def text_law(
    target: np.ndarray, draft: np.ndarray, k: int, length: int, stale: bool = False
) -> np.ndarray:
    """The distribution (V,) * length of a text by blocks of `k`, every branch followed to its end.

    `target` and `draft` (V + 1, V) look at one token only: row t follows token t, the last row
    follows the empty text. `stale` takes the bonus from the row before: a bug.
    """
    vocab = target.shape[1]

    def block(tape: exact.Tape, text: list[int]) -> None:
        for _ in range(k):
            p, q = (table[text[-1] if text else -1] for table in (target, draft))
            kept = q * np.minimum(1, p / q)
            replaced = (1 - kept.sum()) * residual(p, q)
            outcome = tape.choose([*kept, *replaced])
            text.append(outcome % vocab)
            if outcome >= vocab:  # a correction ends the block
                return
        last = [-1, *text][-2 if stale else -1]
        text.append(tape.choose(target[last]))

    def write(tape: exact.Tape) -> tuple[int, ...]:
        text: list[int] = []
        while len(text) < length:
            block(tape, text)
        return tuple(text[:length])

    law = np.zeros((vocab,) * length)
    for text, weight in exact.branches(write):
        law[text] += weight
    return law


def plain_law(target: np.ndarray, length: int) -> np.ndarray:
    """The distribution (V,) * length of a text by the target alone: the product of its rows."""
    law = np.zeros((target.shape[1],) * length)
    for text in np.ndindex(*law.shape):
        law[text] = np.prod([target[a, b] for a, b in zip((-1, *text), text, strict=False)])
    return law


def bfloat16(values: np.ndarray) -> np.ndarray:
    """`values` rounded to bfloat16, the nearest and ties to even, as float32."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)
