"""The target's verdict on a block: how many draft tokens stand, and the token behind them."""

from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.sampling import LAST, Choices, accept_below, sample_rows


class Verdict(NamedTuple):
    """On a block of n draft tokens in B rows."""

    count: Tensor  # (B,) accepted tokens, from the first
    token: Tensor  # (B,) the correction or bonus
    p: Tensor  # (B, n) the target's probability of each draft token
    q: Tensor  # (B, n) the draft's


class Verifier(Protocol):
    """How a block is judged; see `verify`."""

    def __call__(
        self, p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Choices
    ) -> Verdict:
        """The verdict on `drafted` (B, n)."""


def verify(p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Choices) -> Verdict:
    """Judge `drafted` (B, n).

    `p` (B, n+1, V) are the target's distributions, the last behind the whole block, and `q`
    (B, n, V) those that the draft tokens were drawn from. `limits` (B,) says how many of a row's
    draft tokens count. Algorithm 1 of Leviathan et al. (2023), for all rows at once; nothing waits
    for the device.
    """
    p_drafted, q_drafted = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
    count = accepted_prefix(choices.accept(p_drafted, q_drafted), limits)
    token = choices.draw(next_distribution(p, q, count, limits), LAST)
    return Verdict(count, token, p_drafted, q_drafted)


def accepted_prefix(accepted: Tensor, limits: Tensor) -> Tensor:
    """How many of `accepted` (B, n) stand before the first refusal and a row's limit: (B,)."""
    counts = torch.arange(accepted.shape[1], device=accepted.device) < limits[:, None]
    return (accepted & counts).cumprod(-1).sum(-1)


def probability_of(tokens: Tensor, probs: Tensor) -> Tensor:
    """The entry of each distribution of `probs` (B, n, V) at `tokens` (B, n): (B, n)."""
    return probs.gather(-1, tokens[..., None])[..., 0]


def next_distribution(p: Tensor, q: Tensor, count: Tensor, limits: Tensor) -> Tensor:
    """What the token behind `count` (B,) accepted ones is drawn from: (B, V).

    After a rejection it is the residual of p and q at that position. Behind a fully accepted row
    there is no draft token, so nothing is taken from p: the bonus is the residual of p and 0.
    """
    rows = torch.arange(len(p), device=p.device)
    q_next = F.pad(q, (0, 0, 0, 1))[rows, count] * (count < limits)[:, None]
    return residual(p[rows, count], q_next)


def residual(p: Tensor, q: Tensor) -> Tensor:
    """max(p - q, 0), normalised, for p and q (B, V); p itself where that has no mass.

    Without mass p equals q up to rounding, and then every token of p is as good.
    """
    rest = (p - q).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return torch.where(mass > 0, rest / mass, p)


class Given:
    """Choices of one verification from given uniforms: `r` (B, n), `u` (B,)."""

    def __init__(self, r: Tensor, u: Tensor) -> None:
        self.r, self.u = r.double(), u.double()

    def accept(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """By `accept_below`."""
        return accept_below(p, q, self.r[:, first : first + p.shape[1]])

    def draw(self, probs: Tensor, index: int) -> Tensor:
        """By the inverse CDF."""
        return sample_rows(probs, self.u)


def verify_block(
    p: Tensor, q: Tensor, drafted: Tensor, r: Tensor, u: Tensor
) -> tuple[Tensor, Tensor]:
    """Accepted counts and next tokens, (B,) each, for given uniforms r (B, K) and u (B,).

    `p` (B, K+1, V), `q` (B, K, V), `drafted` (B, K), all of which counts.
    """
    limits = torch.full((len(p),), drafted.shape[1], device=p.device)
    return verify(p, q, drafted, limits, Given(r, u))[:2]


def check_finite(logits: Tensor, whose: str) -> None:
    """Raise ValueError where a row of `logits` (..., V) is no distribution."""
    require_finite(bool(finite(logits).all()), whose)


def finite(logits: Tensor) -> Tensor:
    """Whether each row of `logits` (..., V) is a distribution: its largest entry is a number."""
    return logits.amax(-1).isfinite()


def require_finite(finite: bool, whose: str) -> None:
    """Raise ValueError unless the logits were `finite`."""
    if not finite:
        raise ValueError(
            f"the {whose} gave logits that are not finite: look at its weights, and where it runs "
            "in float16 try bfloat16 or float32"
        )
