"""Greedy text of the loop against plain decoding, token by token, near-ties counted apart."""

import math
from collections.abc import Sequence

import pandas as pd
import torch

from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import GREEDY, plain
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.models.protocol import Model
from specdec_lib.progress import progress

NEAR = 1e-3  # between the two largest logits, in float32
PROMPTS, TOKENS = 6, 24


def of_targets(loop: Loop, machine: Machine, draft: str, k: int) -> pd.DataFrame:
    """By target: how many greedy texts are plain decoding's, part at a near-tie, or differ."""
    chosen, small = prompts(machine.times(PROMPTS)), machine.drafts[draft]
    rows = {}
    for name, target in machine.targets.items():
        texts = progress(chosen, f"texts of the {name} target")
        gaps = [gap_where_parted(loop, target, small, k, prompt) for prompt in texts]
        parted = [gap for gap in gaps if gap is not None]
        ties = sum(gap <= near_tie(target) for gap in parted)
        rows[name] = {
            "the same": len(gaps) - len(parted),
            "near-tie": ties,
            "different": len(parted) - ties,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def near_tie(target: Model) -> float:
    """How far apart two logits may be and still count as a tie.

    In float32 NEAR. In a narrower dtype two rounding steps of a logit of 16: one for each of them.
    """
    return NEAR if target.dtype.itemsize >= 4 else 2 * 16 * torch.finfo(target.dtype).eps


def gap_where_parted(
    loop: Loop, target: Model, draft: Model, k: int, prompt: Sequence[int]
) -> float | None:
    """The gap of the target's two largest logits where the texts part; None if they do not part."""
    right = plain(target, GREEDY, TOKENS)(prompt).tokens[0]
    mine = loop.decoder(target, draft, k, GREEDY, TOKENS)(prompt).tokens[0]
    if mine == right:
        return None
    if len(mine) != len(right):
        return math.inf
    at = next(i for i, (a, b) in enumerate(zip(mine, right, strict=True)) if a != b)
    text = torch.tensor([[*prompt, *right[:at]]], device=target.device)
    logits = target.forward(text, target.new_cache(1, text.shape[1]))[0, -1].float()
    largest = logits.topk(2).values
    return float(largest[0] - largest[1])
