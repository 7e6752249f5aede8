"""Reading prompts into a cache."""

from collections.abc import Sequence

import torch

from specdec_lib.models.protocol import Cache, Model

CHUNK = 256  # tokens a pass: bounds the memory of logits that nobody reads


def prefill(model: Model, cache: Cache, sequences: Sequence[Sequence[int]], leave: int) -> None:
    """Read all but the last `leave` tokens of every sequence into the empty `cache`.

    Shorter rows are filled up on the right, and cut back to their own length afterwards.
    """
    lengths = [max(len(sequence) - leave, 0) for sequence in sequences]
    tokens = torch.zeros(len(sequences), max(lengths), dtype=torch.long)
    for row, (sequence, length) in enumerate(zip(sequences, lengths, strict=True)):
        tokens[row, :length] = torch.tensor(sequence[:length], dtype=torch.long)
    for chunk in tokens.to(model.device).split(CHUNK, dim=1):
        if chunk.shape[1]:
            model.forward(chunk, cache)
    cache.truncate(torch.tensor(lengths))
