"""Lookup-table models: a distribution for every context, small enough to enumerate whole texts."""

import torch
from torch import Tensor

from specdec_lib.models.cache import RaggedCache


class TokenCache(RaggedCache):
    """The tokens themselves, for lookup-table models."""

    def __init__(self, batch: int, capacity: int | None = None) -> None:
        super().__init__(batch, capacity, "cpu")
        self.tokens = torch.zeros(batch, 0, dtype=torch.long)

    def append(self, tokens: Tensor) -> Tensor:
        """Write `tokens` (B, T) after each row's last; returns their positions (B, T)."""
        positions = self.advance(tokens.shape[1])
        missing = max(self.longest - self.tokens.shape[1], 0)
        self.tokens = torch.nn.functional.pad(self.tokens, (0, missing))
        self.tokens.scatter_(1, positions, tokens)
        return positions


class TableModel:
    """The next token's distribution, looked up by the last tokens.

    `table` (V, ..., V, V) holds it in its last axis; the axes before it are the last tokens, the
    oldest first. A token that is missing because the sequence is short counts as 0. Logits are the
    logarithms, in the table's dtype. Raises ValueError if a row is no distribution.
    """

    device = torch.device("cpu")
    max_length = None

    def __init__(self, table: Tensor) -> None:
        sums = table.sum(-1)
        if (table < 0).any() or not torch.allclose(sums, torch.ones_like(sums)):
            raise ValueError("every row of table must be a distribution")
        self.logits = table.log()
        self.order = table.ndim - 1
        self.vocab_size = table.shape[-1]

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> TokenCache:
        """An empty cache of `batch` rows."""
        return TokenCache(batch, capacity)

    def forward(self, tokens: Tensor, cache: TokenCache) -> Tensor:
        """The logits (B, T, V) after each of `tokens` (B, T), which are appended to `cache`."""
        positions = cache.append(tokens)
        known = torch.nn.functional.pad(cache.tokens, (self.order, 0))
        # In `known`, the token at position t stands at t + order.
        last = [known.gather(1, positions + 1 + back) for back in range(self.order)]
        return self.logits[tuple(last)]
