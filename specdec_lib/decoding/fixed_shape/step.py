"""One block of speculative decoding in tensors of fixed shape: what a CUDA graph records.

Everything that a step reads or leaves is set aside once and filled anew, so that it stays
at its place in memory. No operation waits for the device, and none has a shape or a course that
depends on data. Plain decoding is the same step with K = 0.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from specdec_lib.decoding.verify import finite_rows, packed, verify
from specdec_lib.models.cache import FixedCache
from specdec_lib.models.llama import RunLayer
from specdec_lib.models.protocol import Model, Texts, prefill
from specdec_lib.sampling import Choices, Greedy, Warp, sample_rows

# Passes read whole multiples of this many positions; attention on CUDA takes a mask only if its
# rows are aligned to 16 bytes, which they then are.
BUCKET = 128


def bucket(positions: int) -> int:
    """The positions that a pass reads if a row holds so many."""
    return -(-positions // BUCKET) * BUCKET


class FixedModel(Model, Protocol):
    """A model whose passes can be of fixed shape, as a CUDA graph needs them: Llama, T5Decoder."""

    def new_fixed_cache(self, batch: int, capacity: int) -> FixedCache:
        """An empty cache of `batch` rows whose shapes do not follow its contents (FixedCache)."""


class Numbers:
    """Choices from a tensor of uniform numbers that is filled anew before every step.

    Its columns are in the order of `Uniforms`: K for the draft tokens, K for the acceptance, one
    for the last token.
    """

    def __init__(self, rows: int, k: int, device: torch.device) -> None:
        self.k = k
        self.uniform = torch.zeros(rows, 2 * k + 1, dtype=torch.float64, device=device)
        # From page-locked memory the copy to a GPU does not wait.
        locked = device.type == "cuda"
        self.staging = torch.zeros(self.uniform.shape, dtype=torch.float64, pin_memory=locked)

    def send(self, numbers: np.ndarray) -> None:
        """Take `numbers` (B, 2K + 1) for the next step.

        The step before must be over, or its numbers may be on their way still.
        """
        self.staging.copy_(torch.from_numpy(numbers))
        self.uniform.copy_(self.staging, non_blocking=True)

    def begin(self, limits: Sequence[int], running: Sequence[bool]) -> None:
        """The numbers are there."""

    def draft(self, q: Tensor, index: int) -> Tensor:
        """By the inverse CDF."""
        return sample_rows(q, self.uniform[:, index])

    def coins(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """The columns after those of the draft tokens."""
        return self.uniform[:, self.k + first : self.k + first + p.shape[1]]

    def last(self, probs: Tensor) -> Tensor:
        """By the inverse CDF."""
        return sample_rows(probs, self.uniform[:, -1])


class Step:
    """One block of every row: `tokens` (B, capacity) and `length` (B,) are its state.

    A row stands still from `goal` (B,) tokens on. `outcome` (B, 3K+3) is what the host reads, in
    one tensor of float64: whether all logits of the target were finite, how many draft tokens were
    accepted, the correction or bonus, the K draft tokens, and p and q of each.
    """

    def __init__(
        self, target: FixedModel, draft: FixedModel | None, rows: int, capacity: int, k: int,
        warp: Warp, run: RunLayer | None = None,
    ) -> None:  # fmt: skip
        """Set everything aside, for texts of up to `capacity` positions; `run` runs layers."""
        self.target, self.draft, self.k, self.warp, self.run = target, draft, k, warp, run
        self.rows, self.capacity, device = rows, bucket(capacity), target.device
        self.choices: Choices = Numbers(rows, k, device) if warp.temperature else Greedy()
        self.tokens = torch.zeros(rows, self.capacity, dtype=torch.long, device=device)
        self.length = torch.zeros(rows, dtype=torch.long, device=device)
        self.goal = torch.zeros_like(self.length)
        self.outcome = torch.zeros(rows, 3 * k + 3, dtype=torch.float64, device=device)
        self.limits = torch.full((rows,), k, device=device)
        self.ahead = torch.arange(k + 1, device=device)
        self.target_cache = target.new_fixed_cache(rows, self.capacity)
        self.draft_cache = draft.new_fixed_cache(rows, self.capacity) if draft and k else None

    @property
    def caches(self) -> list[FixedCache]:
        """The target's cache, and the draft's if there is one."""
        return [cache for cache in (self.target_cache, self.draft_cache) if cache is not None]

    @torch.inference_mode()
    def begin(self, prompts: Texts, max_new_tokens: int) -> None:
        """Stand at the ends of `prompts`, read but for what the first passes feed."""
        lengths = torch.tensor([len(prompt) for prompt in prompts])
        texts = torch.zeros(self.tokens.shape, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            texts[row, : len(prompt)] = torch.tensor(prompt)
        self.tokens.copy_(texts)
        self.length.copy_(lengths)
        self.goal.copy_(lengths + max_new_tokens)
        self.look_at(bucket(max(map(len, prompts))))
        self._read(self.target, self.target_cache, prompts, leave=1)
        if self.draft_cache is not None:
            self._read(self.draft, self.draft_cache, prompts, leave=2)

    def look_at(self, positions: int) -> None:
        """Let passes read the first `positions` of the caches; no row may need more."""
        for cache in self.caches:
            cache.seen = positions

    @torch.inference_mode()
    def __call__(self) -> None:
        """Draft, verify, accept, advance; nothing waits for the device."""
        drafted, q = self._draft()
        last = self.tokens.gather(1, self.length[:, None] - 1)
        self.target_cache.truncate(self.length - 1)
        feed = torch.cat((last, drafted), 1)
        logits = self.target.forward(feed, self.target_cache, run=self.run)
        verdict = verify(self.warp(logits), q, drafted, self.limits, self.choices)
        kept = F.pad(drafted, (0, 1)).scatter(1, verdict.count[:, None], verdict.token[:, None])
        self.tokens.scatter_(1, self.length[:, None] + self.ahead, kept)
        finite = finite_rows(logits).all(-1, keepdim=True)
        self.outcome.copy_(torch.cat((finite, packed(drafted, verdict)), 1))
        self.length += (verdict.count + 1) * (self.length < self.goal)

    def result(self) -> list[list[float]]:
        """`outcome` on the host: this is the one time in a step that it waits for the device."""
        return self.outcome.tolist()

    def _draft(self) -> tuple[Tensor, Tensor]:
        """The draft tokens (B, K) and their distributions (B, K, V).

        The first pass reads two tokens, always: after a fully accepted block both are new.
        """
        if not self.k:
            empty = self.tokens[:, :0]
            return empty, torch.zeros(self.rows, 0, self.target.vocab_size, device=empty.device)
        self.draft_cache.truncate(self.length - 2)
        feed = self.tokens.gather(1, torch.stack((self.length - 2, self.length - 1), 1))
        drafted, distributions = [], []
        for index in range(self.k):
            logits = self.draft.forward(feed, self.draft_cache, run=self.run)
            q = self.warp(logits[:, -1])
            token = self.choices.draft(q, index)
            drafted.append(token)
            distributions.append(q)
            feed = token[:, None]
        return torch.stack(drafted, 1), torch.stack(distributions, 1)

    def _read(self, model: FixedModel, cache: FixedCache, prompts: Texts, leave: int) -> None:
        """Read the prompts anew: passes of any width, and so not those of `run`."""
        cache.truncate(0)
        prefill(model, cache, prompts, leave)
