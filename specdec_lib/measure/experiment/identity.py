"""Greedy text of the loop against plain decoding, token by token, near-ties counted apart."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch

from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import GREEDY, plain
from specdec_lib.measure.experiment.budget import IDENTITY
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Model

EVERY = 2  # so many times the prompts of a timed comparison
NEAR = 1e-3  # between the two largest logits, in float32


class Identity(NamedTuple):
    """How many prompts gave the same text, one that parts at a near-tie, or another one.

    `gaps` are the differences of the target's two largest logits where texts part.
    """

    same: int
    near_ties: int
    different: int
    gaps: list[float]
    near: float

    def __str__(self) -> str:
        total = self.same + self.near_ties + self.different
        parted = f"; gaps {', '.join(f'{gap:.2g}' for gap in self.gaps)}" if self.gaps else ""
        return (
            f"{self.same} of {total} greedy texts are plain decoding's, {self.near_ties} part at a "
            f"near-tie (logits within {self.near:.2g}), {self.different} are different{parted}"
        )


def of_targets(loop: Loop, machine: Machine, draft: str, k: int) -> Iterator[tuple[str, Identity]]:
    """Every target by name, and how its greedy texts compare."""
    chosen, tokens = prompts(EVERY * machine.effort.prompts), machine.effort.tokens
    with machine.budget.part(IDENTITY) as part:
        for number, (name, target) in enumerate(machine.targets.items()):
            mine = part.share(len(machine.targets) - number)
            texts = mine.each(chosen, f"prompts of the {name} target")
            yield name, compare(loop, target, machine.drafts[draft], k, texts, tokens)


def compare(
    loop: Loop, target: Llama, draft: Llama, k: int, chosen: Iterable[list[int]], tokens: int
) -> Identity:
    """Write `tokens` tokens after `chosen` prompts by both decoders, and compare."""
    parted = [gap_where_parted(loop, target, draft, k, prompt, tokens) for prompt in chosen]
    near, gaps = near_tie(target), [gap for gap in parted if gap is not None]
    ties = sum(gap <= near for gap in gaps)
    return Identity(parted.count(None), ties, len(gaps) - ties, gaps, near)


def near_tie(target: Model) -> float:
    """How far apart two logits may be and still count as a tie.

    In float32 NEAR. In a narrower dtype two rounding steps of a logit of 16: one for each of them.
    """
    step = 16 * torch.finfo(target.dtype).eps
    return NEAR if target.dtype.itemsize >= 4 else 2 * step


def gap_where_parted(
    loop: Loop, target: Model, draft: Model, k: int, prompt: Sequence[int], tokens: int
) -> float | None:
    """The gap of the target's two largest logits where the texts part; None if they do not part."""
    right = plain(target, GREEDY, tokens)(prompt).tokens[0]
    mine = loop.decoder(target, draft, k, GREEDY, tokens)(prompt).tokens[0]
    if mine == right:
        return None
    pairs = enumerate(zip(mine, right, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(mine), len(right)))
    text = torch.tensor([[*prompt, *right[:at]]], device=target.device)
    logits = target.forward(text, target.new_cache(1, text.shape[1]))[0, -1].float()
    largest = logits.topk(2).values
    same_length = len(mine) == len(right)
    return float(largest[0] - largest[1]) if same_length else float("inf")
