"""Greedy texts of a decoder beside plain decoding's: the same, near-ties counted apart."""

import math
from collections.abc import Iterable, Sequence

import torch

from specdec_lib.models.protocol import Model

NEAR = 1e-3  # between the two largest logits, in float32
SAME, TIE, DIFFERENT = "the same", "near-tie", "different"
Tokens = Sequence[int]


def verdicts(target: Model, texts: Iterable[tuple[Tokens, Tokens, Tokens]]) -> dict[str, int]:
    """How many of (prompt, text, plain decoding's text) are the same, part at a tie, or differ."""
    gaps = [gap_where_parted(target, *each) for each in texts]
    parted = [gap for gap in gaps if gap is not None]
    ties = sum(gap <= near_tie(target) for gap in parted)
    return {SAME: len(gaps) - len(parted), TIE: ties, DIFFERENT: len(parted) - ties}


def near_tie(target: Model) -> float:
    """How far apart two logits may be and still count as a tie.

    In float32 NEAR. In a narrower dtype two rounding steps of a logit of 16: one for each of them.
    """
    return NEAR if target.dtype.itemsize >= 4 else 2 * 16 * torch.finfo(target.dtype).eps


def gap_where_parted(target: Model, prompt: Tokens, mine: Tokens, right: Tokens) -> float | None:
    """The gap of the target's two largest logits where the texts part; None if they do not part."""
    if list(mine) == list(right):
        return None
    if len(mine) != len(right):
        return math.inf
    at = next(i for i, (a, b) in enumerate(zip(mine, right, strict=True)) if a != b)
    text = torch.tensor([[*prompt, *right[:at]]], device=target.device)
    logits = target.forward(text, target.new_cache(1, text.shape[1]))[0, -1].float()
    largest = logits.topk(2).values
    return float(largest[0] - largest[1])
