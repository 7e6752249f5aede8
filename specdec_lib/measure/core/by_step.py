"""How often the target would accept a drafter's first, second, third token, on held-out text.

As in acceptance.py, nothing is sampled: the draft tokens before the one that is judged are the
text's own, and the figure is E[sum_x min(p(x), q(x))] at that position.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lib.drafters.eagle import Eagle
from specdec_lib.drafters.medusa import Medusa
from specdec_lib.measure.core.acceptance import Acceptance, windows
from specdec_lib.measure.core.held_out import Tokens
from specdec_lib.models.cache import Hidden
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp

StateDrafter = Eagle | Medusa
ROWS = 32  # texts drafted for at once


class GivenDrafts:
    """Choices that take the given tokens (B, n), whatever they are drawn from."""

    def __init__(self, tokens: Tensor) -> None:
        self.tokens = tokens

    def draft(self, q: Tensor, index: int) -> Tensor:
        """Column `index`."""
        return self.tokens[:, index]


def acceptance_by_step(
    target: Llama, drafter: StateDrafter, texts: Sequence[Tokens], steps: int = 3, most: int = 4000
) -> list[Acceptance]:
    """The acceptance of each of the first `steps` draft tokens, on `most` novel positions.

    For drafters that read the target's states and nothing else of its cache. The novel position is
    that of the first draft token; the others follow it.
    """
    totals, positions = torch.zeros(2, steps, dtype=torch.float64), 0
    for ids, judged in windows(texts, most):
        cache = target.new_cache(1, len(ids))
        tokens, passes = torch.tensor([ids], device=target.device), list[Hidden]()
        p = Warp()(target.forward(tokens, cache, observe=passes.append)[0])
        inside = judged[(judged > 0) & (judged + steps < len(ids))]
        for ends in inside.split(ROWS):
            q = proposed(drafter, passes[0], ids, ends, steps)
            after = p[ends[:, None] + torch.arange(steps)]
            totals[0] += torch.minimum(after, q).sum((0, 2))
            totals[1] += (after.argmax(-1) == q.argmax(-1)).sum(0)
        positions += len(inside)
    return [Acceptance(*pair, positions) for pair in (totals / positions).T.tolist()]


def proposed(
    drafter: StateDrafter, hidden: Hidden, ids: list[int], ends: Tensor, steps: int
) -> Tensor:
    """The distributions (B, steps, V) drafted after ids[: end + 1] for each of `ends` (B,).

    `hidden` are the states of the one text; every row has them up to an end of its own.
    """
    texts = [ids[: end + 1] for end in ends.tolist()]
    tokens = torch.tensor(ids)[ends[:, None] + 1 + torch.arange(steps)]
    drafter.start(texts, Warp(), len(ids) + steps)
    drafter.observe(Hidden(*(part.expand(len(texts), *part.shape[1:]) for part in hidden)))
    return drafter.propose(texts, [steps] * len(texts), GivenDrafts(tokens.to(drafter.device))).q
