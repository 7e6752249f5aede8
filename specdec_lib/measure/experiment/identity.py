"""Greedy texts of a decoder beside plain decoding's: where they part, and whether by rounding."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
import torch

from specdec_lib.models.protocol import Model
from specdec_lib.text_stream import common_prefix_length

NEAR_TIE_GAP = 1e-3  # between two logits, in float32
SAME, TIE, DIFFERENT = "the same", "near-tie", "different"


class Parting(NamedTuple):
    """Where two greedy texts part: the place, and the target's logits of both tokens there."""

    place: int
    plain_logit: float
    other_logit: float

    @property
    def gap(self) -> float:
        """How far apart the two logits are."""
        return abs(self.plain_logit - self.other_logit)


def count_identical_texts(
    target: Model, texts: Iterable[tuple[Sequence[int], Sequence[int], Sequence[int]]]
) -> dict[str, int]:
    """How many of (prompt, text, plain decoding's text) are the same, part at a tie, or differ."""
    partings = [parting(target, *text) for text in texts]
    gaps = [each.gap for each in partings if each is not None]
    ties = sum(gap <= near_tie(target) for gap in gaps)
    return {SAME: len(partings) - len(gaps), TIE: ties, DIFFERENT: len(gaps) - ties}


def near_tie(target: Model) -> float:
    """How far apart two logits may be and still count as a tie.

    In float32 NEAR_TIE_GAP. In a narrower dtype two rounding steps of a logit of 16: one for each.
    """
    wide = target.dtype.itemsize >= 4
    return NEAR_TIE_GAP if wide else 2 * 16 * torch.finfo(target.dtype).eps


def parting(
    target: Model, prompt: Sequence[int], text: Sequence[int], plain_text: Sequence[int]
) -> Parting | None:
    """Where `text` parts from plain decoding's; None if it does not.

    The logits are those of a pass over the text before. Of a token that is not there it is -inf.
    """
    if list(text) == list(plain_text):
        return None
    place = common_prefix_length(text, plain_text)
    tokens = torch.tensor([[*prompt, *plain_text[:place]]], device=target.device)
    logits = target.forward(tokens, target.new_cache(1, tokens.shape[1]))[0, -1].tolist()
    ends = (logits[each[place]] if place < len(each) else -torch.inf for each in (plain_text, text))
    return Parting(place, *ends)


def first_partings(
    generate: Callable[..., list[int]],
    pairs: Mapping[str, tuple[Model, Model]],
    prompts: Sequence[Sequence[int]],
    k: int = 4,
    tokens: int = 64,
) -> pd.DataFrame:
    """A row for each of `pairs`: where a greedy text with drafts first parts from one without."""
    rows = []
    for name, (target, draft) in pairs.items():
        row: dict[str, str | float] = {"program": name, "the texts part": "nowhere"}
        for number, prompt in enumerate(prompts, 1):
            both = (generate(target, draft, [*prompt], n, tokens, 0.0, None) for n in (k, 0))
            parted = parting(target, prompt, *both)
            if parted:
                logits = f"{parted.plain_logit:.4f} and {parted.other_logit:.4f}"
                place = f"text {number}, token {parted.place + 1}"
                row |= {"the texts part": place, "its two logits": logits, "gap": parted.gap}
                break
        rows.append(row)
    return pd.DataFrame(rows)
