"""Exact distributions and noise floors of chapter 03. Nothing here is sampled."""

import itertools

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch03.rules import Rule, pick, residual


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


def rule_law(
    rule: Rule, p: np.ndarray, q: np.ndarray, cells: int = 64, place: float = 0.5
) -> np.ndarray:
    """The distribution (V,) of a rule on `cells` by `cells` squares, all tokens in one call.

    `place` is where in a square it is asked: 0.5 is the middle.
    """
    axis = np.arange(place, cells) / cells
    tokens, r, u = (part.ravel() for part in np.meshgrid(np.arange(len(q)), axis, axis))
    out = rule(p, q, tokens, r, u)
    counts = np.bincount(len(p) * tokens + out, minlength=len(p) ** 2)  # whole numbers add exactly
    return q @ counts.reshape(len(p), len(p)) / cells**2


def sampled(rule: Rule, p: np.ndarray, q: np.ndarray, draws: int, seed: int) -> float:
    """Total variation of `draws` tokens by a rule to p (V,), its drafts drawn from q (V,)."""
    rng = np.random.default_rng(seed)
    tokens = rule(p, q, pick(q, rng.random(draws)), *rng.random((2, draws)))
    return float(np.abs(np.bincount(tokens, minlength=len(p)) / draws - p).sum() / 2)


def questions(p: np.ndarray, q: np.ndarray) -> list[tuple[tuple[int, ...], float, float]]:
    """Every yes-or-no question about a token: who gets a yes, and its probability by p and by q.

    Of a question and its opposite, the one that p (V,) answers with yes more often than q (V,).
    """
    found = []
    for size in range(1, len(p)):
        for yes in itertools.combinations(range(len(p)), size):
            by_p, by_q = float(p[list(yes)].sum()), float(q[list(yes)].sum())
            if by_p - by_q > 1e-12:
                found.append((yes, by_p, by_q))
    return sorted(found, key=lambda question: question[2] - question[1])


def exact_rules(p: np.ndarray, q: np.ndarray, steps: int) -> np.ndarray:
    """Every exact rule on two tokens that keeps token 0 and 1 with chances i/steps and j/steps.

    Rows (n, 3): both chances, and the share of draft tokens that is kept. After a rejection the
    rule may write either token, with a chance that makes the distribution p (2,) if there is one.
    """
    chances = np.arange(steps + 1) / steps
    keep0, keep1 = (part.ravel() for part in np.meshgrid(chances, chances))
    kept0, kept1 = q[0] * keep0, q[1] * keep1
    possible = (kept0 <= p[0] + 1e-12) & (kept1 <= p[1] + 1e-12)
    return np.stack([keep0, keep1, kept0 + kept1], axis=1)[possible]


def chance_of_more(p: np.ndarray, draws: int, distance: float, runs: int = 2000) -> float:
    """In which share of `runs` a perfect sampler of p (V,) is at least `distance` away from it."""
    counts = np.random.default_rng(1).multinomial(draws, p, size=runs)
    seen = np.abs(counts / draws - p).sum(axis=1) / 2
    return float(np.mean(seen >= distance))


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
