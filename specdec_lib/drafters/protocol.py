"""A drafter as the decoder sees it: texts in, draft tokens and their distributions out."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import RandomSource, Warp


class Proposal(NamedTuple):
    """The draft of one block, for B rows of up to n tokens.

    `q` holds the very distributions that `tokens` were drawn from: the verification is exact for
    these and for no others. A token that was not drawn but looked up has a q of 1 on itself.
    """

    tokens: Tensor  # (B, n) long
    q: Tensor  # (B, n, V), float32 or better
    limits: list[int]  # how many tokens of each row count


class Drafter(Protocol):
    """Proposes draft tokens after a text of at most `max_length` tokens (None: any number)."""

    vocab_size: int
    max_length: int | None
    device: torch.device

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """A generation begins with these prompts; no sequence will pass `capacity` tokens."""

    def propose(self, texts: Texts, limits: Sequence[int], random_source: RandomSource) -> Proposal:
        """Draft up to limits[b] tokens after each sequence."""


def stack_proposal(
    drafted: Sequence[tuple[Tensor, Tensor]],
    limits: list[int],
    vocab_size: int,
    device: torch.device,
) -> Proposal:
    """The tokens (B,) and distributions (B, V) of `drafted`, one after the other, on `device`."""
    if not drafted:
        rows = len(limits)
        none = torch.zeros(rows, 0, dtype=torch.long, device=device)
        return Proposal(none, torch.zeros(rows, 0, vocab_size, device=device), limits)
    tokens, q = zip(*drafted, strict=True)
    columns = [torch.stack(tensors, 1).to(device, non_blocking=True) for tensors in (tokens, q)]
    return Proposal(*columns, limits)


def one_hot_proposal(rows: Sequence[list[int]], vocab_size: int, device: torch.device) -> Proposal:
    """The proposal of tokens that were looked up, not drawn: each has a q of 1 on itself."""
    longest = max(len(tokens) for tokens in rows)
    padded = [tokens + [0] * (longest - len(tokens)) for tokens in rows]
    tokens = torch.tensor(padded, dtype=torch.long).to(device, non_blocking=True)
    q = torch.zeros(*tokens.shape, vocab_size, device=device)
    return Proposal(tokens, q.scatter_(-1, tokens[..., None], 1.0), [len(t) for t in rows])
