"""Autoregression on the target's states: EAGLE (Li et al., 2024).

From the state at a position and the token after it a small trained layer predicts the state one
position on, which the target's own head turns into a distribution. The token that is drawn from it
goes back in, together with the predicted state. So, unlike a draft model, the head knows the
target's state.

With a cut vocabulary the target's head gives the logits of frequent tokens alone, as in FR-Spec
(Zhao et al., 2025, arXiv:2502.14856): a token that is left out has a q of 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from specdec_lib.assets import ASSETS
from specdec_lib.device import to_device
from specdec_lib.drafters.hidden import HiddenStateDrafter
from specdec_lib.drafters.protocol import Proposal, stack_proposal
from specdec_lib.models.cache import KVCache
from specdec_lib.models.checkpoint import LayerWeights, Shape
from specdec_lib.models.cut_vocabulary import read_d2t, widened
from specdec_lib.models.linear import Linear
from specdec_lib.models.llama import Layer, Llama, PassContext, RMSNorm, rotary_tables
from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import RandomSource, Warp

HEAD_FILE = "head.safetensors"
BUILT_IN_EAGLE = ASSETS / "eagle" / HEAD_FILE
HEAD_WIDTH, THETA, EPSILON = 32, 10000.0, 1e-6  # of attention, rotary embedding and norms


@dataclass(frozen=True)
class EagleWeights(LayerWeights):
    """A head of width w for states of `width`: a Llama layer between two matrices.

    The paper's layer is as wide as the target's; this one is narrower.
    """

    fuse: Tensor  # (w, 2 width): what the state adds to the layer's input, then the token
    norm: Tensor  # (w,), after the layer
    up: Tensor  # (width, w)

    def shape(self, target: Llama) -> Shape:
        """The sizes of a Llama of this one layer, with the tokens and positions of `target`."""
        width, heads = len(self.fuse), len(self.fuse) // HEAD_WIDTH
        return replace(
            target.shape,
            width=width,
            layers=1,
            heads=heads,
            kv_heads=heads,
            head_width=HEAD_WIDTH,
            mlp=self.down.shape[1],
            theta=THETA,
            epsilon=EPSILON,
        )


def load_eagle_head(target: Llama, path: Path | str = BUILT_IN_EAGLE) -> EagleWeights:
    """The head for `target`: the model that it was trained on, or that one grown."""
    tensors = load_file(path, device=str(target.device))
    return EagleWeights(**{name: tensor.to(target.dtype) for name, tensor in tensors.items()})


class Eagle(HiddenStateDrafter):
    """Draws each draft token from the distribution after a state that EAGLE's layer predicts.

    Its cache holds a position for every true state that it has read. It reads in every block, even
    if it drafts nothing. After a prompt of one token it drafts nothing, because there is no state.
    """

    def __init__(self, target: Llama, weights: EagleWeights, d2t: Tensor | None = None) -> None:
        super().__init__(target, len(weights.up), d2t)
        self.d2t = d2t
        self.shape = weights.shape(target)
        self.cos, self.sin = rotary_tables(self.shape, target.device, target.dtype)
        self.fuse, self.up = Linear(weights.fuse), Linear(weights.up)
        self.layer = Layer(weights, self.shape)
        self.norm = RMSNorm(weights.norm, EPSILON)

    @classmethod
    def from_folder(cls, target: Llama, folder: Path) -> "Eagle":
        """The head in `folder`, which drafts in the cut vocabulary that is there too."""
        weights = load_eagle_head(target, folder / HEAD_FILE)
        return cls(target, weights, read_d2t(folder).to(target.device))

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """An empty cache: the states of the prompts are read with the first block."""
        super().start(texts, warp, capacity)
        shape = self.shape
        size = (1, len(texts), capacity, shape.kv_heads, shape.head_width)
        self.cache = KVCache(*size, self.device, self.target.dtype)

    def propose(self, texts: Texts, limits: Sequence[int], random_source: RandomSource) -> Proposal:
        """Draft token by token, each fed back with the state that was predicted for it."""
        columns = self.latest_columns(texts)
        pairs = zip(limits, columns, strict=True)
        limits = [0 if column < 0 else limit for limit, column in pairs]
        drafted = []
        if max(columns) >= 0:
            state = self.read(columns, texts)
            true_states = self.cache.length_on_cpu
            for index in range(max(limits)):
                if drafted:
                    state = self.next_states(state[:, None], drafted[-1][0][:, None])[:, 0]
                q = self.warp(self.head(state))
                token = random_source.draft_token(q, index)
                drafted.append((token if self.d2t is None else self.d2t[token], q))
            self.cache.truncate(true_states)
        size = self.vocab_size if self.d2t is None else len(self.d2t)
        proposal = stack_proposal(drafted, limits, size, self.device)
        return proposal._replace(q=self.in_whole_vocabulary(proposal.q))

    def in_whole_vocabulary(self, q: Tensor) -> Tensor:
        """Distributions over the tokens of `head` as distributions over all: (..., V)."""
        return q if self.d2t is None else widened(q, self.d2t, self.vocab_size)

    def read(self, columns: Sequence[int], texts: Texts) -> Tensor:
        """The predicted states (B, width) of the last tokens, from the true ones up to `columns`.

        The states of a pass are new from its first column on. Rows are padded to the most new
        states; padding is truncated afterwards.
        """
        counts = [column + 1 for column in columns]
        tokens = torch.zeros(len(counts), max(counts), dtype=torch.long)
        for row, (sequence, count) in enumerate(zip(texts, counts, strict=True)):
            tokens[row, :count] = torch.tensor(sequence[len(sequence) - count :], dtype=torch.long)
        lengths = [old + n for old, n in zip(self.cache.length_on_cpu, counts, strict=True)]
        states = self.hidden.states[:, : max(counts)]
        predicted = self.next_states(states, tokens.to(self.device, non_blocking=True))
        self.cache.truncate(lengths)
        rows = torch.arange(len(columns), device=self.device)
        return predicted[rows, to_device(columns, self.device)]

    def next_states(self, states: Tensor, tokens: Tensor) -> Tensor:
        """Predicted states (B, T, width), one position on, from states and the tokens after them.

        `states` (B, T, width) and `tokens` (B, T); the cache holds them afterwards.
        """
        return self.predict(torch.cat((states, self.target.embed(tokens)[..., : self.width]), -1))

    @torch.no_grad()
    def predict(self, joined: Tensor) -> Tensor:
        """The same from states and the embeddings of the tokens, `joined` (B, T, 2 width)."""
        x = self.fuse(joined)
        slots = self.cache.advance(joined.shape[1])
        context = PassContext(self.cos[slots], self.sin[slots], slots, self.cache.mask(slots))
        return self.up(self.norm(self.layer(x, context, self.cache.layer(0))))
