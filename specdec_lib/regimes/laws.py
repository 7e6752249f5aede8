"""What today's uses do to the distribution, on the pair of chapter 07. Everything is added up."""

import numpy as np

from specdec_lib.lessons.ch03.computed import lenient, mixed_up
from specdec_lib.lessons.ch07.checks import P, Q
from specdec_lib.lessons.ch07.computed import residual, typical_law

GRAMMARS = ("ABCD", "AB", "AC", "BD", "C")  # which tokens a grammar allows
REWARDS = np.array([0.0, 1.0, 0.0, 0.0])  # the answer is right if the token is B


def masked(probs: np.ndarray, allowed: str) -> np.ndarray:
    """`probs` (V,) without the tokens that are not in `allowed`, divided by what is left."""
    kept = np.where([token in allowed for token in "ABCD"], probs, 0.0)
    return kept / kept.sum()


def acceptance_under(allowed: str) -> tuple[float, float]:
    """How likely a draft token is accepted if the grammar masks the target alone, and both."""
    p = masked(P, allowed)
    return tuple(float(np.minimum(p, q).sum()) for q in (Q, masked(Q, allowed)))


def rules() -> dict[str, np.ndarray]:
    """The distribution (V,) that comes out by rule of acceptance: the right one and five others."""
    accepted = np.minimum(P, Q)
    flatter = Q ** (1 / 1.1) / (Q ** (1 / 1.1)).sum()
    greedy = np.eye(len(Q))[Q.argmax()]
    return {
        "the rule of chapter 02": accepted + (1 - accepted.sum()) * residual(P, Q),
        "drawn at temperature 1.1, judged by the q of temperature 1": mixed_up(P, Q, flatter)[0],
        "lenience 0.9": lenient(P, Q, 0.9)[0],
        "a rejected token is replaced from p": accepted + (1 - accepted.sum()) * P,
        "typical acceptance (0.09, 0.3)": typical_law(P, Q, 0.09, 0.3),
        "argmax draft, judged by the full q": mixed_up(P, Q, greedy)[0],
    }


def distance(law: np.ndarray, p: np.ndarray = P) -> float:
    """The total variation of two distributions (V,)."""
    return float(np.abs(law - p).sum() / 2)


def gradients(law: np.ndarray) -> np.ndarray:
    """What one rollout adds to the gradient, by its token (V, V), as the learner computes it.

    The reward less the mean reward of the rollouts, times the gradient of log p with respect to
    the logits. The rollouts come from `law` (V,), and the learner takes them to come from p.
    """
    advantage = REWARDS - law @ REWARDS
    return advantage[:, None] * (np.eye(len(P)) - P)


def gradient(law: np.ndarray) -> np.ndarray:
    """The mean of `gradients` over rollouts from `law` (V,): the direction that is learnt."""
    return law @ gradients(law)


def bias(law: np.ndarray) -> float:
    """How far the mean gradient is from that of rollouts from p, as a share of its length."""
    right = gradient(P)
    return float(np.linalg.norm(gradient(law) - right) / np.linalg.norm(right))


def rollouts_until_bias(law: np.ndarray) -> float:
    """From how many rollouts on the bias is larger than the noise; infinite without a bias.

    The noise of a mean of n is the root of the summed variances over n.
    """
    off = gradient(law) - gradient(P)
    if np.linalg.norm(off) < 1e-12:
        return float("inf")
    spread = law @ (gradients(law) - gradient(law)) ** 2
    return float(spread.sum() / (off @ off))
