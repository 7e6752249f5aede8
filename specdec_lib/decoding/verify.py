"""The target's verdict on a block: how many draft tokens it accepts, and the token after them."""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.errors import UsageError
from specdec_lib.sampling import Choices, sample_rows


def accepts(p: Tensor, q: Tensor, r: Tensor) -> Tensor:
    """THE RULE: a draft token is accepted if r q < p, so with probability min(1, p/q).

    `p` is the target's probability of the token, `q` the draft's and `r` a uniform number in
    [0, 1). Leviathan et al. (2023), Algorithm 1, without the division, so that q = 0 needs no case
    of its own; the strict inequality never accepts p = 0. In float64, where r cannot round to 1.
    """
    return r * q.double() < p.double()


def residual(p: Tensor, q: Tensor) -> Tensor:
    """max(p - q, 0), normalised, for p and q (B, V): what a correction is drawn from.

    If p <= q everywhere (rounding), fall back to p.
    """
    rest = (p - q).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return torch.where(mass > 0, rest / mass, p)


class Verdict(NamedTuple):
    """The verdict on a block of n draft tokens in B rows."""

    count: Tensor  # (B,) accepted tokens, from the first
    token: Tensor  # (B,) the correction or bonus
    p: Tensor  # (B, n) the target's probability of each draft token
    q: Tensor  # (B, n) the draft's


# A function that judges a block, as `verify` does.
Verifier = Callable[[Tensor, Tensor, Tensor, Tensor, Choices], Verdict]


def verify(p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Choices) -> Verdict:
    """The verdict on `drafted` (B, n): Algorithm 1 of Leviathan et al. (2023), all rows at once.

    `p` (B, n+1, V) are the target's distributions, the last after the whole block, and `q`
    (B, n, V) those that the draft tokens were drawn from. `limits` (B,) says how many of a row's
    draft tokens count. Nothing here synchronises with the device.
    """
    p_drafted, q_drafted = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
    r = choices.coins(p_drafted, q_drafted)
    count = accepted_prefix(accepts(p_drafted, q_drafted, r), limits)
    token = choices.last(next_distribution(p, q, count, limits))
    return Verdict(count, token, p_drafted, q_drafted)


class Given(NamedTuple):
    """The choices of one verification, from uniform numbers r (B, n) and u (B,)."""

    r: Tensor
    u: Tensor

    def coins(self, p: Tensor, q: Tensor) -> Tensor:
        """r, in float64."""
        return self.r.double()

    def last(self, probs: Tensor) -> Tensor:
        """The tokens (B,) that u picks."""
        return sample_rows(probs, self.u.double())


def verify_block(
    p: Tensor, q: Tensor, drafted: Tensor, r: Tensor, u: Tensor
) -> tuple[Tensor, Tensor]:
    """Accepted counts and next tokens, (B,) each: `verify` for given uniform numbers r and u."""
    limits = torch.full((len(p),), drafted.shape[1], device=p.device)
    verdict = verify(p, q, drafted, limits, Given(r, u))
    return verdict.count, verdict.token


def probability_of(tokens: Tensor, probs: Tensor) -> Tensor:
    """The entry of each distribution of `probs` (B, n, V) at `tokens` (B, n): (B, n)."""
    return probs.gather(-1, tokens[..., None])[..., 0]


def accepted_prefix(accepted: Tensor, limits: Tensor) -> Tensor:
    """How many of `accepted` (B, n) precede the first rejection and a row's limit: (B,)."""
    counts = torch.arange(accepted.shape[1], device=accepted.device) < limits[:, None]
    return (accepted & counts).cumprod(-1).sum(-1)


def next_distribution(p: Tensor, q: Tensor, count: Tensor, limits: Tensor) -> Tensor:
    """The distribution (B, V) of the token after `count` (B,) accepted ones.

    After a rejection, the residual of p and q at that position. After a block that was accepted
    whole there is no q, so the bonus token is drawn from the residual of p and 0, which is p.
    """
    rows = torch.arange(len(p), device=p.device)
    q_next = F.pad(q, (0, 0, 0, 1))[rows, count] * (count < limits)[:, None]
    return residual(p[rows, count], q_next)


def finite_rows(probs: Tensor) -> Tensor:
    """Whether the largest entry of each row of `probs` (..., V), or of logits, is finite: (...)."""
    return probs.amax(-1).isfinite()


def require_finite(finite: bool, whose: str) -> None:
    """Raise UsageError unless the distributions of `whose`, target or drafter, were `finite`."""
    if not finite:
        raise UsageError(
            f"the {whose} gave logits that are not finite: look at its weights, and if it runs "
            "in float16 try bfloat16 or float32"
        )
