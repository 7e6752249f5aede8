"""How often the target would accept a drafter's first, second, third token, on held-out text.

As in acceptance.py, nothing is sampled: the draft tokens before the one that is judged are the
text's own, and the figure is E[sum_x min(p(x), q(x))] at that position.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lib.drafters.protocol import OnTarget
from specdec_lib.measure.core.acceptance import Acceptance, windows
from specdec_lib.measure.core.held_out import Tokens
from specdec_lib.models.cache import Hidden
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp

ROWS = 32  # texts drafted for at once


class Given:
    """Choices that take the given tokens (B, n), whatever they are drawn from."""

    def __init__(self, tokens: Tensor) -> None:
        self.tokens = tokens

    def begin(self, counts: Sequence[int]) -> None:
        """Nothing is drawn."""

    def draw(self, probs: Tensor, index: int) -> Tensor:
        """Column `index`."""
        return self.tokens[:, index]

    def accept(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """All of them."""
        return torch.ones_like(p, dtype=torch.bool)


class Read:
    """A cache of B rows, each with the states of one text up to an end of its own."""

    def __init__(self, hidden: Hidden, rows: int) -> None:
        self.hidden = Hidden(*(part.expand(rows, *part.shape[1:]) for part in hidden))


def acceptance_by_step(
    target: Llama, drafter: OnTarget, texts: Sequence[Tokens], steps: int = 3, most: int = 4000
) -> list[Acceptance]:
    """The acceptance of each of the first `steps` draft tokens, on `most` novel positions.

    For drafters that read the target's states and nothing else of its cache. The novel position is
    that of the first draft token; the others follow it.
    """
    totals, positions = torch.zeros(2, steps, dtype=torch.float64), 0
    for ids, judged in windows(texts, most):
        cache = target.new_cache(1, len(ids))
        p = Warp()(target.forward(torch.tensor([ids], device=target.device), cache)[0])
        inside = judged[(judged > 0) & (judged + steps < len(ids))]
        for ends in inside.split(ROWS):
            q = proposed(drafter, Read(cache.hidden, len(ends)), ids, ends, steps)
            behind = p[ends[:, None] + torch.arange(steps)]
            totals[0] += torch.minimum(behind, q).sum((0, 2))
            totals[1] += (behind.argmax(-1) == q.argmax(-1)).sum(0)
        positions += len(inside)
    return [Acceptance(*pair, positions) for pair in (totals / positions).T.tolist()]


def proposed(drafter: OnTarget, cache: Read, ids: list[int], ends: Tensor, steps: int) -> Tensor:
    """The distributions (B, steps, V) drafted behind ids[: end + 1] for each of `ends` (B,)."""
    texts = [ids[: end + 1] for end in ends.tolist()]
    tokens = torch.tensor(ids)[ends[:, None] + 1 + torch.arange(steps)]
    drafter.start(texts, Warp(), len(ids) + steps)
    drafter.follow(cache)
    return drafter.propose(texts, [steps] * len(texts), Given(tokens.to(drafter.device))).q
