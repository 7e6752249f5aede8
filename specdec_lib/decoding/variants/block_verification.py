"""Judging a block as a whole instead of token by token (Sun et al., 2024, arXiv 2403.10444).

The tokens have the target's distribution, as with `verify`, and on average at least as many are
accepted: a token that the target likes more than the draft does makes up for an earlier one that
the target likes less.
"""

import torch
from torch import Tensor

from specdec_lib.decoding.verify import Verdict, accepted_prefix, accepts, probability_of, residual
from specdec_lib.sampling import Choices


def verify_whole_block(
    p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Choices
) -> Verdict:
    """Judge `drafted` (B, n), with arguments as those of `verify`: Algorithm 2 of Sun et al.

    The accepted prefix is the longest whose coin falls; the coins are thrown from the longest on.
    """
    p_drafted, q_drafted = probability_of(drafted, p[:, :-1]), probability_of(drafted, q)
    weights = prefix_weights(p_drafted, q_drafted)
    keep = prefix_chances(p, q, weights, limits)
    places = torch.arange(drafted.shape[1], device=p.device)
    longest_first = (limits[:, None] - 1 - places).clamp(min=0)  # coin 0 is for the whole block
    pair = 1 - keep.gather(-1, longest_first), torch.ones_like(keep)
    passed_over = accepts(*pair, choices.coins(*pair))
    count = limits - accepted_prefix(passed_over, limits)
    token = choices.last(next_of_block(p, q, weights, count, limits))
    return Verdict(count, token, p_drafted, q_drafted)


def prefix_weights(p_drafted: Tensor, q_drafted: Tensor) -> Tensor:
    """The weight of every prefix, the empty one first: w_i = min(1, w_{i-1} p_i / q_i), (B, n+1).

    If q is 0 nothing was drawn, and the weight is not looked at.
    """
    ratios = p_drafted.double() / q_drafted.double().clamp(min=torch.finfo(torch.float64).tiny)
    weights = [ratios.new_ones(len(ratios))]
    for ratio in ratios.unbind(-1):
        weights.append((weights[-1] * ratio).clamp(max=1))
    return torch.stack(weights, -1)


def prefix_chances(p: Tensor, q: Tensor, weights: Tensor, limits: Tensor) -> Tensor:
    """The chance of each prefix of 1 to n tokens to be kept if no longer one is: (B, n).

    With m the mass of max(w p - q, 0) after the prefix it is m / (m + 1 - w), and w for the whole
    block, after which nothing was drafted; 0 beyond a row's limit.
    """
    n = q.shape[1]
    mass = (weights[:, 1:n, None] * p[:, 1:n] - q[:, 1:]).clamp(min=0).sum(-1)
    lost = 1 - weights[:, 1:n]
    inner = torch.where(mass > 0, mass / (mass + lost), torch.zeros_like(mass))
    lengths = torch.arange(1, n + 1, device=p.device)
    inner = torch.nn.functional.pad(inner, (0, 1))
    chances = torch.where(lengths == limits[:, None], weights[:, 1:], inner)
    return chances * (lengths <= limits[:, None])


def next_of_block(p: Tensor, q: Tensor, weights: Tensor, count: Tensor, limits: Tensor) -> Tensor:
    """What follows `count` (B,) kept tokens: max(w p - q, 0), normed, or p after a whole block."""
    rows = torch.arange(len(p), device=p.device)
    inside = (count < limits)[:, None]
    weight = torch.where(inside, weights[rows, count][:, None], 1.0)
    q_next = torch.nn.functional.pad(q, (0, 0, 0, 1))[rows, count] * inside
    return residual(weight * p[rows, count], q_next)
