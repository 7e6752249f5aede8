"""Judging a block as a whole instead of token by token (Sun et al., 2024, arXiv 2403.10444).

The tokens have the target's distribution, as with `verify`, and on average at least as many are
accepted: a token that is more probable under the target than under the draft makes up for an
earlier one that is less probable.
"""

import torch
from torch import Tensor

from specdec_lib.decoding.verify import Verdict, accepted_prefix, accepts, probability_of, residual
from specdec_lib.sampling import Choices


def verify_whole_block(
    p: Tensor, q: Tensor, drafted: Tensor, limits: Tensor, choices: Choices
) -> Verdict:
    """The verdict on `drafted` (B, n), from the arguments of `verify`: Algorithm 2 of Sun et al.

    Prefixes are tried from the longest on, with a coin each, and the first success is accepted.
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

    Where q is 0 nothing was drawn, and the weight is not used.
    """
    ratios = p_drafted.double() / q_drafted.double().clamp(min=torch.finfo(torch.float64).tiny)
    weights = [ratios.new_ones(len(ratios))]
    for ratio in ratios.unbind(-1):
        weights.append((weights[-1] * ratio).clamp(max=1))
    return torch.stack(weights, -1)


def prefix_chances(p: Tensor, q: Tensor, weights: Tensor, limits: Tensor) -> Tensor:
    """The probability that each prefix of 1 to n tokens is kept if no longer one is: (B, n).

    With m the mass of max(w p - q, 0) after the prefix, m / (m + 1 - w); w for the whole block,
    after which nothing was drafted; 0 beyond a row's limit.
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
    """The distribution (B, V) after `count` (B,) kept tokens: max(w p - q, 0), normalised, or p."""
    rows = torch.arange(len(p), device=p.device)
    inside = (count < limits)[:, None]
    weight = torch.where(inside, weights[rows, count][:, None], 1.0)
    q_next = torch.nn.functional.pad(q, (0, 0, 0, 1))[rows, count] * inside
    return residual(weight * p[rows, count], q_next)
