"""Speculative decoding of one sequence, as plainly as it can be written.

It follows the contract of `speculative_generate` in chapter 08 word by word, token by token, and
shares nothing with specdec_lib.decoding, which is compared with it.
"""

from collections.abc import Sequence

import numpy as np
import torch

from specdec_lib.models.protocol import Model
from specdec_lib.sampling import sample_from


class Reader:
    """A model that remembers what it has read, and is fed only what it has not."""

    def __init__(self, model: Model, temperature: float) -> None:
        self.model, self.temperature = model, temperature
        self.cache = model.new_cache()
        self.read: list[int] = []

    def behind_last(self, count: int, tokens: Sequence[int]) -> np.ndarray:
        """The distributions (count, V) after each of the last `count` of `tokens`."""
        known = 0
        while known < len(tokens) - count and self.read[known : known + 1] == [tokens[known]]:
            known += 1
        if known < len(self.read):
            self.cache.truncate(known)
        logits = self.model.forward(torch.tensor([tokens[known:]]), self.cache)
        self.read = list(tokens)
        return np.stack([warped(row, self.temperature) for row in logits[0, -count:]])


def warped(logits: torch.Tensor, temperature: float) -> np.ndarray:
    """softmax(logits / temperature) (V,), in float32 at least; one-hot at temperature 0."""
    if temperature == 0:
        return np.eye(len(logits))[int(logits.argmax())]
    logits = logits.float() if logits.dtype.itemsize < 4 else logits
    return torch.softmax(logits / temperature, 0).double().numpy()


def reference_speculative(
    target: Model,
    draft: Model,
    prompt: Sequence[int],
    k: int,
    max_new_tokens: int,
    temperature: float,
    rng: np.random.Generator,
    eos_id: int | None = None,
) -> list[int]:
    target_reader, draft_reader = Reader(target, temperature), Reader(draft, temperature)
    new: list[int] = []
    while len(new) < max_new_tokens:
        n = min(k, max_new_tokens - len(new) - 1)
        u_draft, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            u_draft, r, u = rng.random(n), rng.random(n), rng.random()
        drafted: list[int] = []
        q = []
        for i in range(n):
            q.append(draft_reader.behind_last(1, [*prompt, *new, *drafted])[0])
            drafted.append(sample_from(q[i], u_draft[i]))
        p = target_reader.behind_last(n + 1, [*prompt, *new, *drafted])
        for token in judged(p, q, drafted, r, u):
            new.append(token)
            if token == eos_id:
                return new
    return new


def judged(
    p: np.ndarray, q: Sequence[np.ndarray], drafted: Sequence[int], r: np.ndarray, u: float
) -> list[int]:
    """The accepted tokens of a block, and the correction or bonus."""
    for i, token in enumerate(drafted):
        if not r[i] * q[i][token] < p[i][token]:
            rest = np.maximum(p[i] - q[i], 0)
            return [*drafted[:i], sample_from(rest / rest.sum() if rest.any() else p[i], u)]
    return [*drafted, sample_from(p[len(drafted)], u)]


def reference_plain(
    target: Model,
    prompt: Sequence[int],
    max_new_tokens: int,
    temperature: float,
    rng: np.random.Generator,
    eos_id: int | None = None,
) -> list[int]:
    """The new tokens of plain decoding: the whole text read anew for each."""
    new: list[int] = []
    while len(new) < max_new_tokens and eos_id not in new:
        p = Reader(target, temperature).behind_last(1, [*prompt, *new])[0]
        new.append(sample_from(p, rng.random() if temperature > 0 else 0.0))
    return new
