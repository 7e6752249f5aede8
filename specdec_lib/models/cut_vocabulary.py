"""A draft model that knows only the tokens that the target writes most.

The output matrix is half of a small draft's work, and most of its rows are hardly ever drawn. So
the draft model has a vocabulary of its own, and `d2t` names each of its tokens in the target's, as
in FR-Spec (Zhao et al., 2025, arXiv:2502.14856) and EAGLE-3 (Li et al., 2025, arXiv:2503.01840).
A token that is left out has a q of 0. Only a correction or a bonus token can be such a token, so
what is written keeps the target's distribution.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from specdec_lib.models.cache import KVCache
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Texts

D2T_FILE = "d2t.npy"


class CutVocabulary:
    """A Llama with the protocol of protocol.py, over the whole vocabulary of its target.

    `llama` is the model itself, in its own vocabulary. The tokens that it lacks are read as its
    token 0, the end of a document.
    """

    def __init__(self, llama: Llama, d2t: Tensor, vocab_size: int) -> None:
        self.llama, self.d2t, self.vocab_size = llama, d2t, vocab_size
        self.shape, self.device, self.dtype = llama.shape, llama.device, llama.dtype
        self.max_length = llama.max_length
        self.t2d = d2t.new_zeros(vocab_size)
        self.t2d[d2t] = torch.arange(len(d2t), device=d2t.device)
        self._t2d = self.t2d.tolist()

    @classmethod
    def from_folder(
        cls, folder: Path, vocab_size: int, device: torch.device | str, dtype: torch.dtype
    ) -> "CutVocabulary":
        """The Llama in `folder`, with its d2t.npy, for a target of `vocab_size` tokens."""
        d2t = read_d2t(folder).to(device)
        return cls(Llama.from_folder(folder, device, dtype), d2t, vocab_size)

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> KVCache:
        """An empty cache, as Llama.new_cache."""
        return self.llama.new_cache(batch, capacity)

    def forward(self, tokens: Tensor, cache: KVCache) -> Tensor:
        """The logits (B, T, V) after `tokens` (B, T), -inf for tokens that are left out."""
        logits = self.llama.forward(self.t2d[tokens], cache)
        return widened(logits, self.d2t, self.vocab_size, float("-inf"))

    def own_tokens(self, texts: Texts) -> list[list[int]]:
        """`texts` in its own vocabulary."""
        return [[self._t2d[token] for token in text] for text in texts]


def read_d2t(folder: Path) -> Tensor:
    """The target's id of each token of the cut vocabulary whose file is in `folder`."""
    return torch.from_numpy(np.load(folder / D2T_FILE).astype(np.int64))


def widened(values: Tensor, d2t: Tensor, vocab_size: int, fill: float = 0.0) -> Tensor:
    """`values` (..., len(d2t)) in the whole vocabulary: (..., vocab_size), elsewhere `fill`."""
    wide = values.new_full((*values.shape[:-1], vocab_size), fill)
    return wide.index_copy_(-1, d2t, values)
