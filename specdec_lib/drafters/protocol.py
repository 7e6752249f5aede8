"""What a drafter is to the decoder: sequences in, draft tokens and their distributions out."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from specdec_lib.models.cache import KVCache
from specdec_lib.sampling import Choices, Warp


class Proposal(NamedTuple):
    """The draft of one block, for B rows of up to n tokens.

    `q` holds the very distributions that `tokens` were drawn from: the verification is exact for
    these and for no others. A token that was not drawn but looked up has a q of 1 on itself.
    """

    tokens: Tensor  # (B, n) long
    q: Tensor  # (B, n, V), float32 or better
    limits: list[int]  # how many tokens of each row count


class Drafter(Protocol):
    """Something that proposes draft tokens, behind at most `max_length` (None: any number)."""

    vocab_size: int
    max_length: int | None
    device: torch.device

    def start(self, sequences: Sequence[Sequence[int]], warp: Warp, capacity: int) -> None:
        """A generation begins with these prompts; no sequence will pass `capacity` tokens."""

    def propose(
        self, sequences: Sequence[Sequence[int]], limits: Sequence[int], choices: Choices
    ) -> Proposal:
        """Draft up to limits[b] tokens behind each sequence; below 1: none for that row."""


@runtime_checkable
class OnTarget(Drafter, Protocol):
    """A drafter that works with what the target has computed."""

    def follow(self, cache: KVCache) -> None:
        """The generation that begins keeps the target's part in `cache`."""


def proposal(
    drafted: Sequence[tuple[Tensor, Tensor]],
    limits: list[int],
    vocab_size: int,
    device: torch.device,
) -> Proposal:
    """The tokens (B,) and distributions (B, V) of `drafted`, one after the other, put together."""
    if not drafted:
        rows = len(limits)
        none = torch.zeros(rows, 0, dtype=torch.long, device=device)
        return Proposal(none, torch.zeros(rows, 0, vocab_size, device=device), limits)
    tokens, q = zip(*drafted, strict=True)
    return Proposal(torch.stack(tokens, 1), torch.stack(q, 1), limits)
