"""A model as the decoder sees it: tokens in, logits out, and a cache that can be cut back.

B is the number of rows of a batch, T the number of tokens that one pass appends, V the vocabulary.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor

Texts = Sequence[Sequence[int]]  # token ids, row by row
EosIds = int | Iterable[int] | None  # a token that ends a text, or several, or none
PREFILL_CHUNK = 256  # tokens in a pass of the prefill: bounds the memory of its unused logits


class Cache(Protocol):
    """What a model remembers of each row: keys and values, or just the tokens.

    `length` (B,) long is the number of positions that each row holds.
    """

    length: Tensor

    def truncate(self, length: Tensor | Sequence[int] | int) -> None:
        """Forget every position from `length` on: one number for all rows, or one for each.

        Nothing is moved or erased. Raises ValueError if a row does not hold that many.
        """


class Model(Protocol):
    """A causal language model.

    `max_length` is the longest sequence that it takes, None if there is no limit. `device` is the
    device of its tokens.
    """

    vocab_size: int
    max_length: int | None
    device: torch.device

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> Cache:
        """An empty cache of `batch` rows, with room for `capacity` positions (all, without it)."""

    def forward(self, tokens: Tensor, cache: Cache) -> Tensor:
        """The logits (B, T, V) after each of `tokens` (B, T) long, which are appended to `cache`.

        softmax(logits[:, t]) is the distribution of the token after tokens[:, t].
        """


def cache_lengths(cache: Cache) -> list[int]:
    """The number of positions that each row holds.

    Our caches track it on the CPU; for others we read the tensor, which synchronises a GPU.
    """
    on_cpu = getattr(cache, "length_on_cpu", None)
    return cache.length.tolist() if on_cpu is None else on_cpu


def eos_ids(eos_id: EosIds) -> frozenset[int]:
    """The tokens that end a text, as a set."""
    if eos_id is None:
        return frozenset()
    return frozenset(eos_id if isinstance(eos_id, Iterable) else [eos_id])


def prefill(model: Model, cache: Cache, sequences: Texts, skip_last: int = 1) -> None:
    """Read sequences into `cache`, all but the last `skip_last` tokens of each.

    What the cache holds already must be a prefix of the sequence. All rows read as many tokens as
    the one that lacks most: a long row reads some of its own again, a short one is padded, and the
    padding is truncated afterwards.
    """
    ends = [max(len(sequence) - skip_last, 0) for sequence in sequences]
    lacking = [end - held for end, held in zip(ends, cache_lengths(cache), strict=True)]
    width = max(*lacking, 0)
    starts = [max(end - width, 0) for end in ends]
    cache.truncate(starts)
    if not width:
        return
    tokens = torch.zeros(len(sequences), width, dtype=torch.long)
    for row, (sequence, start, end) in enumerate(zip(sequences, starts, ends, strict=True)):
        tokens[row, : end - start] = torch.tensor(sequence[start:end], dtype=torch.long)
    for chunk in tokens.to(model.device, non_blocking=True).split(PREFILL_CHUNK, dim=1):
        model.forward(chunk, cache)
    cache.truncate(ends)
