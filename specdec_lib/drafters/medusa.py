"""Heads on the target's state, one for each of the next positions: Medusa (Cai et al., 2024).

The state that gave the text's last token also goes through a few small trained blocks, and the
target's own head reads each: block i predicts the token i positions after the last one, whatever
the tokens between are. A whole draft takes one small product, and no second model.

Medusa's paper accepts drafts by "typical acceptance": every token that is probable enough to the
target. That is lossy: the text no longer has the target's distribution. Here drafts are drawn from
the heads' distributions, and judged like those of any other drafter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch.nn.functional as F
from torch import Tensor

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.hidden import HiddenStateDrafter, gather_columns, read_tensors
from specdec_lib.drafters.protocol import Proposal, stack_proposal
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import RandomSource

BUILT_IN_MEDUSA = ASSETS / "medusa" / "heads.safetensors"


@dataclass(frozen=True)
class MedusaHeads:
    """n residual blocks of low rank, h + up silu(down h), for states h of `width`.

    The paper's block is h + silu(W h), and a vocabulary head of its own follows each (Cai et
    al., 2024, section 2.1.1).
    """

    down: Tensor  # (n, rank, width)
    up: Tensor  # (n, width, rank)

    def __call__(self, states: Tensor, count: int) -> Tensor:
        """(B, width) -> (B, count, width), what the target's head reads for the first `count`."""
        inner = F.silu(F.linear(states, self.down[:count].flatten(0, 1)))
        inner = inner.unflatten(-1, (count, -1, 1))
        return states[:, None] + (self.up[:count] @ inner)[..., 0]


def load_medusa_heads(target: Llama, path: Path | str = BUILT_IN_MEDUSA) -> MedusaHeads:
    """The heads for `target`: the model that they were trained on, or that one grown."""
    return MedusaHeads(**read_tensors(path, target))


class Medusa(HiddenStateDrafter):
    """Draws each draft token from its own head's distribution, warped as the target's is.

    A head knows nothing of the tokens that are drawn before its own. A block drafts at most as many
    tokens as there are heads, and none after a prompt of one token, because there is no state.
    """

    def __init__(self, target: Llama, heads: MedusaHeads) -> None:
        super().__init__(target, heads.down.shape[-1])
        self.heads = heads

    def propose(self, texts: Texts, limits: Sequence[int], random_source: RandomSource) -> Proposal:
        """Draft from all heads at once."""
        columns, n_heads = self.latest_columns(texts), len(self.heads.down)
        pairs = zip(limits, columns, strict=True)
        limits = [0 if column < 0 else min(limit, n_heads) for limit, column in pairs]
        drafted = []
        if max(limits) > 0:
            state = gather_columns(self.hidden.states, columns)
            rows = self.warp(self.head(self.heads(state, max(limits)))).unbind(1)
            drafted = [(random_source.draft_token(q, index), q) for index, q in enumerate(rows)]
        return stack_proposal(drafted, limits, self.vocab_size, self.device)
