"""How often the target would accept a draft, position by position on held-out text.

The acceptance rate is E[sum_x min(p(x), q(x))] (Leviathan et al., 2023, Theorem 3.5): both models
read the same text, nothing is sampled, and the figure has no noise of its own.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.assets import tokenizer
from specdec_lib.drafters.ngram import NgramDrafter
from specdec_lib.measure.prompts import Tokens
from specdec_lib.models.protocol import Model
from specdec_lib.progress import progress
from specdec_lib.sampling import Warp

WINDOW = 512  # tokens read at once

# The distributions (T, V) after each of T tokens.
Reader = Callable[[list[int]], Tensor]


@dataclass(frozen=True)
class Acceptance:
    """Means over `positions` positions."""

    alpha: float  # at temperature 1
    greedy: float  # how often the most probable token of both is the same
    positions: int


def acceptance(p: Reader, q: Reader, texts: Sequence[Tokens], most: int = 8000) -> Acceptance:
    """How often q's tokens are accepted by p on the first `most` novel positions of `texts`."""
    overlap, agreed, positions = 0.0, 0, 0
    for ids, judged in windows(texts, most):
        target, draft = p(ids)[judged], q(ids)[judged]
        overlap += torch.minimum(target, draft).sum().item()
        agreed += int((target.argmax(-1) == draft.argmax(-1)).sum())
        positions += len(judged)
    return Acceptance(overlap / positions, agreed / positions, positions)


class Place(NamedTuple):
    """A token of a text, and what both models say where it stands."""

    piece: str
    accepted: float  # sum min(p, q) at its position
    p: float  # of the token itself
    q: float


def places(p: Reader, q: Reader, ids: list[int], start: int) -> list[Place]:
    """The tokens of `ids` from `start` on, each judged after all of those before it."""
    target, draft = (read(ids[:-1])[start - 1 :] for read in (p, q))  # (T, V)
    overlap, words = torch.minimum(target, draft).sum(-1).tolist(), tokenizer()
    return [
        Place(words.decode([token]), overlap[i], target[i, token].item(), draft[i, token].item())
        for i, token in enumerate(ids[start:])
    ]


def bits_per_byte(p: Reader, texts: Sequence[Tokens]) -> float:
    """The bits that p needs for a byte of the novel lines of `texts`."""
    bits, sizes = 0.0, 0
    for text in texts:
        for start in range(0, len(text.ids) - 1, WINDOW):
            ids = text.ids[start : start + WINDOW + 1]
            probs = p(ids[:-1])[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]
            for i, probability in enumerate(probs.tolist(), start + 1):
                if text.novel[i]:
                    bits -= math.log2(probability)
                    sizes += text.sizes[i]
    return bits / sizes


def windows(texts: Sequence[Tokens], most: int) -> Iterator[tuple[list[int], Tensor]]:
    """Up to WINDOW tokens at a time, and those of their positions whose next token is novel.

    Ends after `most` such positions.
    """
    for text in texts:
        for start in range(0, len(text.ids) - 1, WINDOW):
            novel = text.novel[start + 1 : start + WINDOW + 1]
            judged = torch.tensor(novel).nonzero()[:most, 0]
            if len(judged):
                yield text.ids[start : start + WINDOW], judged
            most -= len(judged)
            if not most:
                return


def model_reader(model: Model) -> Reader:
    """The distributions of a model at temperature 1."""

    def read(ids: list[int]) -> Tensor:
        tokens = torch.tensor([ids], device=model.device)
        return Warp()(model.forward(tokens, model.new_cache(1, len(ids)))[0]).cpu()

    return read


def ngram_reader(drafter: NgramDrafter) -> Reader:
    """The distributions of an n-gram drafter at temperature 1."""

    def read(ids: list[int]) -> Tensor:
        drafter.start([ids], Warp(), len(ids))
        return torch.stack([drafter.distribution(ids[: i + 1]) for i in range(len(ids))])

    return read


def remembered(reader: Reader) -> Reader:
    """`reader`, with everything that it has read kept in memory."""
    kept = cache(lambda ids: reader(list(ids)))
    return lambda ids: kept(tuple(ids))


def acceptances(
    target: Reader, drafts: Mapping[str, Reader], texts: Sequence[Tokens], most: int
) -> dict[str, Acceptance]:
    """The acceptance of every draft on the first `most` novel positions of `texts`, by name."""
    named = progress(drafts.items(), "drafts")
    return {name: acceptance(target, draft, texts, most) for name, draft in named}
