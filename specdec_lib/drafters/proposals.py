"""How drafters put the tokens of a block together."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lib.drafters.protocol import Proposal


def drawn(
    drafted: Sequence[tuple[Tensor, Tensor]],
    limits: list[int],
    vocab_size: int,
    device: torch.device,
) -> Proposal:
    """The tokens (B,) and distributions (B, V) of `drafted`, one after the other."""
    if not drafted:
        rows = len(limits)
        none = torch.zeros(rows, 0, dtype=torch.long, device=device)
        return Proposal(none, torch.zeros(rows, 0, vocab_size, device=device), limits)
    tokens, q = zip(*drafted, strict=True)
    return Proposal(torch.stack(tokens, 1), torch.stack(q, 1), limits)


def certain(rows: Sequence[list[int]], vocab_size: int, device: torch.device) -> Proposal:
    """The proposal of looked-up tokens, which are certain: each has a q of 1 on itself."""
    longest = max(len(tokens) for tokens in rows)
    filled = [tokens + [0] * (longest - len(tokens)) for tokens in rows]
    tokens = torch.tensor(filled, dtype=torch.long).to(device, non_blocking=True)
    q = torch.zeros(*tokens.shape, vocab_size, device=device)
    return Proposal(tokens, q.scatter_(-1, tokens[..., None], 1.0), [len(t) for t in rows])
