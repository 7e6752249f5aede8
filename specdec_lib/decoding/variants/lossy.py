"""LOSSY: more draft tokens are accepted, and the target's distribution is lost. Counter-examples.

Each is a verifier that a decoder takes in the place of `verify`, to see what it gains and what it
gives up; exact.one_token tells the second exactly. Nothing uses one unless it is named, and the
names say what they are.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.decoding.verify import (
    Verdict,
    accepted_prefix,
    accepts,
    next_distribution,
    probability_of,
)
from specdec_lib.sampling import Choices


@dataclass(frozen=True)
class Lenient:
    """What both forms of lenience share. Raises ValueError unless it is in (0, 1]."""

    lenience: float

    def __post_init__(self) -> None:
        if not 0 < self.lenience <= 1:
            raise ValueError(
                f"lenience is {self.lenience}; it must be above 0 and at most 1 (1: exact)"
            )


class LossyLenience(Lenient):
    """LOSSY. The coin is compared with p / (l q): Leviathan et al. (2023), Appendix A.5.

    A smaller lenience l in (0, 1] accepts more, and l = 1 is `verify`. No token comes out more than
    1/l times as often as the target writes it; there is no such bound from below. The correction is
    drawn from the residual of p and q, which l does not enter.
    """

    def __call__(
        self, p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Choices
    ) -> Verdict:
        """Judge `drafted` (B, n), with arguments as those of `verify`."""
        p_drafted, q_drafted = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
        pair = p_drafted, self.lenience * q_drafted
        count = accepted_prefix(accepts(*pair, choices.coins(*pair)), limits)
        token = choices.last(next_distribution(p, q, count, limits))
        return Verdict(count, token, p_drafted, q_drafted)


class LossyGreedyLenience(Lenient):
    """LOSSY. A token that is at least l times as probable as the best one passes for the best.

    The form of lenience for greedy text (Leviathan et al., 2023, Appendix A.5): p(x) >= l max p,
    with p from before everything is put on the best token. So the decoder needs a temperature above
    0 here, and what is given up is greedy text: the token after an accepted prefix is the best
    one, and l = 1 writes greedy text with any draft.
    """

    def __call__(
        self, p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Choices
    ) -> Verdict:
        """Judge `drafted` (B, n), with arguments as those of `verify`."""
        p_drafted, q_drafted = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
        good = p_drafted >= self.lenience * p[:, :-1].amax(-1)
        count = accepted_prefix(good, limits)
        best = F.one_hot(next_of_target(p, count).argmax(-1), p.shape[-1]).to(p.dtype)
        return Verdict(count, choices.last(best), p_drafted, q_drafted)


@dataclass(frozen=True)
class LossyTypical:
    """LOSSY. A draft token passes if it is typical: p(x) > min(epsilon, delta exp(-H(p))).

    Typical acceptance of Medusa (Cai et al., 2024, section 2.3.1), with the defaults of its code; H
    is the entropy in nats. No coin, no q: it asks whether the target could have written the token,
    not how often. The token after an accepted prefix is drawn from p; the paper takes the best.
    """

    epsilon: float = 0.09
    delta: float = 0.3

    def __call__(
        self, p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Choices
    ) -> Verdict:
        """Judge `drafted` (B, n), with arguments as those of `verify`."""
        p_drafted, q_drafted = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
        entropy = torch.special.entr(p[:, :-1]).sum(-1)
        least = (self.delta * torch.exp(-entropy)).clamp(max=self.epsilon)
        count = accepted_prefix(p_drafted > least, limits)
        return Verdict(count, choices.last(next_of_target(p, count)), p_drafted, q_drafted)


def next_of_target(p: Tensor, count: Tensor) -> Tensor:
    """The target's distributions (B, V) after `count` (B,) accepted tokens."""
    return p[torch.arange(len(p), device=p.device), count]
