"""What a model is to the decoder: tokens in, logits out, and a cache that can be cut back.

B is the number of rows of a batch, T the number of tokens that one pass appends, V the vocabulary.
"""

from typing import Protocol

import torch
from torch import Tensor


class Cache(Protocol):
    """What a model remembers of each row: its keys and values, or just the tokens.

    `length` (B,) long counts the positions that each row holds.
    """

    length: Tensor

    def truncate(self, length: Tensor | int) -> None:
        """Forget every position from `length` on: one number for all rows, or (B,), one each.

        Nothing is moved or erased. Raises ValueError where a row does not hold so many.
        """


class Model(Protocol):
    """A causal language model.

    `max_length` is the longest sequence that it can take, None where there is no limit; `device`
    is where it expects its tokens.
    """

    vocab_size: int
    max_length: int | None
    device: torch.device

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> Cache:
        """An empty cache of `batch` rows, with room for `capacity` positions (all, without it)."""

    def forward(self, tokens: Tensor, cache: Cache) -> Tensor:
        """The logits (B, T, V) behind each of `tokens` (B, T) long, which are appended to `cache`.

        Row t of the logits is the distribution of the token that follows tokens[:, t].
        """
