"""The target's verdict on a block: how many draft tokens it accepts, and the token after them."""

from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.errors import SpecdecError
from specdec_lib.sampling import RandomSource, Uniforms


def accepts(p: Tensor, q: Tensor, r: Tensor) -> Tensor:
    """THE RULE: a draft token is accepted if r q < p, so with probability min(1, p/q).

    `p` is the target's probability of the token, `q` the draft's and `r` a uniform number in
    [0, 1). Leviathan et al. (2023), Algorithm 1, without the division, so that q = 0 needs no case
    of its own; the strict inequality never accepts p = 0. In float64, where r cannot round to 1.
    """
    return r * q.double() < p.double()


def residual_rows(p: Tensor, q: Tensor) -> Tensor:
    """max(p - q, 0), normalised, for p and q (B, V): what a correction is drawn from.

    If p <= q everywhere (rounding), fall back to p.
    """
    excess = (p - q).clamp_(min=0)
    mass = excess.sum(-1, keepdim=True)
    return torch.where(mass > 0, excess / mass, p)


class Verdict(NamedTuple):
    """The verdict on a block of n draft tokens in B rows."""

    count: Tensor  # (B,) accepted tokens, from the first
    token: Tensor  # (B,) the correction or bonus
    p: Tensor  # (B, n) the target's probability of each draft token
    q: Tensor  # (B, n) the draft's


def verify_rows(
    p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, random_source: RandomSource
) -> Verdict:
    """The verdict on `drafted` (B, n): Algorithm 1 of Leviathan et al. (2023), all rows at once.

    `p` (B, n+1, V) are the target's distributions, the last after the whole block, and `q`
    (B, n, V) those that the draft tokens were drawn from. `limits` (B,) says how many of a row's
    draft tokens count. Nothing here synchronises with the device.
    """
    p_drafted, q_drafted = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
    r = random_source.acceptance_uniforms(p_drafted, q_drafted)
    count = accepted_prefix_length(accepts(p_drafted, q_drafted, r), limits)
    token = random_source.next_token(next_distribution(p, q, count, limits))
    return Verdict(count, token, p_drafted, q_drafted)


def verify_block(
    p: Tensor, q: Tensor, drafted: Tensor, r: Tensor, u: Tensor
) -> tuple[Tensor, Tensor]:
    """Accepted counts and next tokens, (B,) each: `verify_rows` with given uniforms r and u."""
    limits = torch.full((len(p),), drafted.shape[1], device=p.device)
    verdict = verify_rows(p, q, drafted, limits, Uniforms.given(r, u))
    return verdict.count, verdict.token


def probability_of(tokens: Tensor, probs: Tensor) -> Tensor:
    """The entry of each distribution of `probs` (B, n, V) at `tokens` (B, n): (B, n)."""
    return probs.gather(-1, tokens[..., None])[..., 0]


def accepted_prefix_length(accepted_mask: Tensor, limits: Tensor) -> Tensor:
    """How many of `accepted_mask` (B, n) precede a row's first rejection and its limit: (B,)."""
    within_limit = torch.arange(accepted_mask.shape[1], device=limits.device) < limits[:, None]
    return (accepted_mask & within_limit).cumprod(-1).sum(-1)


def next_distribution(p: Tensor, q: Tensor, count: Tensor, limits: Tensor) -> Tensor:
    """The distribution (B, V) of the token after `count` (B,) accepted ones.

    After a rejection, the residual of p and q at that position. After a block that was accepted
    whole there is no q, so the bonus token is drawn from the residual of p and 0, which is p.
    """
    rows, n = torch.arange(len(p), device=p.device), q.shape[1]
    p_next = p[rows, count]
    if n == 0:
        return residual_rows(p_next, torch.zeros_like(p_next))
    return residual_rows(p_next, q[rows, count.clamp(max=n - 1)] * (count < limits)[:, None])


def finite_rows(probs: Tensor) -> Tensor:
    """Whether the largest entry of each row of `probs` (..., V), or of logits, is finite: (...)."""
    return probs.amax(-1).isfinite()


def require_finite_block(q: Tensor, target_is_finite: Tensor) -> None:
    """Raise SpecdecError unless `q` (..., V) and the target's rows (B,) are finite.

    This waits for the device.
    """
    draft_ok, target_ok = torch.stack((finite_rows(q).all(), target_is_finite.all())).tolist()
    require_finite(draft_ok, "drafter")
    require_finite(target_ok, "target")


def require_finite(is_finite: bool, source: str) -> None:
    """Raise SpecdecError unless the logits of `source`, the target or the drafter, are finite."""
    if not is_finite:
        raise SpecdecError(
            f"the {source} gave logits that are not finite: look at its weights, and if it runs "
            "in float16 try bfloat16 or float32"
        )
