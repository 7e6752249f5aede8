"""Bringing a cache to where a text is: reading what it lacks, forgetting what it has too much."""

from collections.abc import Sequence

import torch

from specdec_lib.models.protocol import Cache, Model

CHUNK = 256  # tokens a pass: bounds the memory of logits that nobody reads


def read_up_to(model: Model, cache: Cache, sequences: Sequence[Sequence[int]], leave: int) -> None:
    """Let `cache` hold all but the last `leave` tokens of every sequence.

    What it holds already must be the beginning of the sequence, up to there. All rows read as many
    tokens as the one that lacks most: some of their own again, and behind a short one fillers that
    are forgotten afterwards.
    """
    wanted = [max(len(sequence) - leave, 0) for sequence in sequences]
    pairs = zip(wanted, cache.length.tolist(), strict=True)
    lacking = max(max(want - held for want, held in pairs), 0)
    starts = [max(want - lacking, 0) for want in wanted]
    cache.truncate(starts)
    if not lacking:
        return
    tokens = torch.zeros(len(sequences), lacking, dtype=torch.long)
    for row, (sequence, start, end) in enumerate(zip(sequences, starts, wanted, strict=True)):
        tokens[row, : end - start] = torch.tensor(sequence[start:end], dtype=torch.long)
    for chunk in tokens.to(model.device).split(CHUNK, dim=1):
        model.forward(chunk, cache)
    cache.truncate(wanted)
