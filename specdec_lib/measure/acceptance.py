"""How often the target would accept a draft, position by position on held-out text.

The acceptance rate is E[sum_x min(p(x), q(x))] (Leviathan et al., 2023, Corollary 3.6): both models
read the same text, nothing is sampled, and the figure has no noise of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.drafters.eagle import Eagle
from specdec_lib.drafters.ngram import NgramDrafter
from specdec_lib.measure.prompts import EncodedDocument
from specdec_lib.models.cache import HiddenStates
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Warp

WINDOW = 512  # tokens read at once

# The distributions (T, V) after each of T tokens.
Reader = Callable[[list[int]], Tensor]
Documents = Sequence[EncodedDocument]


@dataclass(frozen=True)
class Acceptance:
    """Means over `positions` positions."""

    alpha: float  # the mean of sum_x min(p(x), q(x)), p and q as the readers warp them
    greedy: float  # how often the most probable token of both is the same
    positions: int


def acceptance(p: Reader, q: Reader, texts: Documents, max_positions: int = 8000) -> Acceptance:
    """How often p accepts q's tokens on the first `max_positions` novel positions of `texts`."""
    overlap, agreements, positions = 0.0, 0, 0
    for ids, novel in novel_windows(texts, max_positions):
        target, draft = p(ids)[novel], q(ids)[novel]
        overlap += torch.minimum(target, draft).sum().item()
        agreements += int((target.argmax(-1) == draft.argmax(-1)).sum())
        positions += len(novel)
    return Acceptance(overlap / positions, agreements / positions, positions)


def novel_windows(texts: Documents, max_positions: int) -> Iterator[tuple[list[int], Tensor]]:
    """Up to WINDOW tokens at a time, and those of their positions whose next token is novel.

    Ends after `max_positions` such positions.
    """
    remaining = max_positions
    for text in texts:
        for start in range(0, len(text.ids) - 1, WINDOW):
            next_is_novel = torch.tensor(text.novel[start + 1 : start + WINDOW + 1])
            positions = next_is_novel.nonzero()[:remaining, 0]
            if len(positions):
                yield text.ids[start : start + WINDOW], positions
            remaining -= len(positions)
            if not remaining:
                return


def model_reader(model: Model, warp: Warp = Warp()) -> Reader:
    """The distributions of a model, by default at temperature 1."""

    def read(ids: list[int]) -> Tensor:
        tokens = torch.tensor([ids], device=model.device)
        return warp(model.forward(tokens, model.new_cache(1, len(ids)))[0]).cpu()

    return read


def eagle_reader(eagle: Eagle, warp: Warp = Warp()) -> Reader:
    """The distributions of an EAGLE head for the first draft token of a block.

    Zeros after the first of the tokens: no state comes before it.
    """

    def read(ids: list[int]) -> Tensor:
        tokens, hidden = torch.tensor([ids], device=eagle.device), list[HiddenStates]()
        cache = eagle.target.new_cache(1, len(ids))
        eagle.target.forward(tokens, cache, observe=hidden.append)
        eagle.start([ids], warp, len(ids))
        states = eagle.next_states(hidden[0].states[:, :-1], tokens[:, 1:])
        q = eagle.in_whole_vocabulary(warp(eagle.head(states[0])))
        return F.pad(q, (0, 0, 1, 0)).cpu()

    return read


def ngram_reader(drafter: NgramDrafter) -> Reader:
    """The distributions of an n-gram drafter at temperature 1."""

    def read(ids: list[int]) -> Tensor:
        drafter.start([ids], Warp(), len(ids))
        return torch.stack([drafter.distribution(ids[: i + 1]) for i in range(len(ids))])

    return read


def cached_reader(reader: Reader) -> Reader:
    """`reader`, with everything that it has read kept in memory."""
    cached = cache(lambda ids: reader(list(ids)))
    return lambda ids: cached(tuple(ids))
