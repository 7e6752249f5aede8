"""Exact distributions and noise floors of chapter 03, and samples by a rule."""

import itertools
from collections.abc import Hashable

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch03.rules import Rule
from specdec_lib.lessons.common.distributions import overlap, pick, residual


def noise(p: np.ndarray, draws: float) -> float:
    """The total variation to p (V,) that `draws` tokens from p itself show on average.

    The frequency of a token has the standard deviation sqrt(p (1 - p) / draws); the mean of its
    absolute value is sqrt(2/pi) of that (the normal approximation), and half the sum is the answer.
    """
    return float(np.sqrt(2 / np.pi / draws) * np.sqrt(p * (1 - p)).sum() / 2)


def chance_of_more(p: np.ndarray, draws: int, distance: float, runs: int = 2000) -> float:
    """In which share of `runs` a perfect sampler of p (V,) is at least `distance` away from it."""
    counts = np.random.default_rng(1).multinomial(draws, p, size=runs)
    return float(np.mean(np.abs(counts / draws - p).sum(axis=1) / 2 >= distance))


def mixed_up(p: np.ndarray, q: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, float]:
    """The distribution (V,) and the accepted share if drafts come from `drawn` but q is reported.

    Ratio and residual use q (V,), as in chapter 02. With `drawn` equal to q the distribution is p.
    """
    ratio = np.divide(p, q, out=np.ones(len(p)), where=q > p)
    return _corrected(drawn * ratio, p, q)


def lenient(p: np.ndarray, q: np.ndarray, lenience: float) -> tuple[np.ndarray, float]:
    """The distribution (V,) and the accepted share if the coin is compared with p / (lenience q).

    Leviathan et al. (2023), Appendix A.5; the residual stays that of p and q.
    """
    return _corrected(np.minimum(q, p / lenience), p, q)


def _corrected(accepted: np.ndarray, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, float]:
    """What comes out (V,) if the residual makes up for what is not `accepted` (V,); its share."""
    return accepted + (1 - accepted.sum()) * residual(p, q), float(accepted.sum())


def mixture(p: np.ndarray, q: np.ndarray, weight: float) -> tuple[np.ndarray, float]:
    """The distribution (V,) and the accepted share with weight p + (1 - weight) q as the target.

    `assistant_ensemble_weight` of Hugging Face transformers does this.
    """
    out = weight * p + (1 - weight) * q
    return out, overlap(out, q)


def counted(
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


def sample(
    rule: Rule, p: np.ndarray, q: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """`draws` tokens by a rule, its drafts drawn from q (V,)."""
    return rule(p, q, pick(q, rng.random(draws)), *rng.random((2, draws)))


def questions(p: np.ndarray, q: np.ndarray) -> list[tuple[tuple[int, ...], float, float]]:
    """Every yes-or-no question about a token: who gets a yes, and its probability by p and by q.

    Of a question and its opposite, the one that p (V,) answers with yes more often than q (V,).
    """
    every = range(len(p))
    asked = (list(yes) for size in every[1:] for yes in itertools.combinations(every, size))
    found = [(tuple(yes), float(p[yes].sum()), float(q[yes].sum())) for yes in asked]
    more = [question for question in found if question[1] - question[2] > 1e-12]
    return sorted(more, key=lambda question: question[2] - question[1])


def exact_rules(p: np.ndarray, q: np.ndarray, steps: int) -> np.ndarray:
    """Every exact rule on two tokens that keeps token 0 and 1 with chances i/steps and j/steps.

    Rows (n, 3): both chances, and the share of draft tokens that is kept. After a rejection the
    rule may write either token, with a chance that makes the distribution p (2,) if there is one.
    """
    chances = np.arange(steps + 1) / steps
    keep = np.array(list(itertools.product(chances, chances)))
    possible = keep[(keep * q <= p + 1e-12).all(axis=1)]
    return np.column_stack([possible, possible @ q])


def texts(
    target: np.ndarray, draft: np.ndarray, k: int, length: int, stale: bool = False
) -> dict[Hashable, float]:
    """The probability of every text of `length` tokens by blocks of `k`; 0: by the target alone.

    `target` and `draft` (V + 1, V) look at one token only: row t follows token t, the last row
    follows the empty text. `stale` takes the bonus from the row before: a bug.
    """
    vocab = target.shape[1]

    def block(tape: exact.Tape, text: list[int]) -> None:
        for _ in range(k):
            p, q = (table[text[-1] if text else -1] for table in (target, draft))
            kept = q * np.minimum(1, p / q)
            outcome = tape.choose([*kept, *(1 - kept.sum()) * residual(p, q)])
            text.append(outcome % vocab)
            if outcome >= vocab:  # a correction ends the block
                return
        last = [-1, *text][-2 if stale else -1]
        text.append(tape.choose(target[last]))

    def write(tape: exact.Tape) -> list[int]:
        text: list[int] = []
        while len(text) < length:
            block(tape, text)
        return text[:length]

    return exact.distribution(write)
