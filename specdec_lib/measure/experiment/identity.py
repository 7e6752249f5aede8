"""Greedy texts of a decoder beside plain decoding's: the same, near-ties counted apart."""

import math
from collections.abc import Iterable, Sequence

import torch

from specdec_lib.models.protocol import Model
from specdec_lib.text_stream import common_prefix_length

NEAR_TIE_GAP = 1e-3  # between the two largest logits, in float32
SAME, TIE, DIFFERENT = "the same", "near-tie", "different"


def count_identical_texts(
    target: Model, texts: Iterable[tuple[Sequence[int], Sequence[int], Sequence[int]]]
) -> dict[str, int]:
    """How many of (prompt, text, plain decoding's text) are the same, part at a tie, or differ."""
    gaps = [logit_gap_where_parted(target, *text) for text in texts]
    parted = [gap for gap in gaps if gap is not None]
    ties = sum(gap <= near_tie(target) for gap in parted)
    return {SAME: len(gaps) - len(parted), TIE: ties, DIFFERENT: len(parted) - ties}


def near_tie(target: Model) -> float:
    """How far apart two logits may be and still count as a tie.

    In float32 NEAR_TIE_GAP. In a narrower dtype two rounding steps of a logit of 16: one for each.
    """
    wide = target.dtype.itemsize >= 4
    return NEAR_TIE_GAP if wide else 2 * 16 * torch.finfo(target.dtype).eps


def logit_gap_where_parted(
    target: Model, prompt: Sequence[int], text: Sequence[int], plain_text: Sequence[int]
) -> float | None:
    """The gap of the target's two largest logits where the texts part; None if they do not part."""
    if list(text) == list(plain_text):
        return None
    if len(text) != len(plain_text):
        return math.inf
    shared = plain_text[: common_prefix_length(text, plain_text)]
    tokens = torch.tensor([[*prompt, *shared]], device=target.device)
    logits = target.forward(tokens, target.new_cache(1, tokens.shape[1]))[0, -1].float()
    largest = logits.topk(2).values
    return float(largest[0] - largest[1])
