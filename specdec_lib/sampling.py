"""From logits to distributions, and from uniform numbers to tokens.

The functions on tensors use tensor methods only: chapters that need NumPy alone do not wait for
torch to be imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from specdec_lib.errors import SpecdecError

if TYPE_CHECKING:
    from torch import Tensor


def softmax(logits: np.ndarray) -> np.ndarray:
    """Numerically stable softmax over the last axis of `logits` (..., V)."""
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def sample_from(probs: np.ndarray, u: float) -> int:
    """The token that the uniform number `u`, in [0, 1), picks from `probs` (V,) by the inverse CDF.

    It is the smallest index whose cumulative sum exceeds `u`, so one of probability 0 is never
    picked. If rounding leaves the whole sum at or below `u`, it is the last token of positive
    probability. ValueError if there is none, or if `probs` is no single row.
    """
    probs = np.asarray(probs, dtype=float)
    if probs.ndim != 1:
        raise ValueError(f"sample_from: probs has shape {probs.shape}, and should be one row (V,)")
    index = int(np.searchsorted(np.cumsum(probs), u, side="right"))
    if index < len(probs):
        return index
    possible = np.flatnonzero(probs > 0)
    if not len(possible):
        raise ValueError(f"sample_from: probs has no positive entry: {probs.tolist()}")
    return int(possible[-1])


def sample_rows(probs: Tensor, u: Tensor) -> Tensor:
    """`sample_from` for every row of `probs` (B, V), with `u` (B,): the tokens (B,) long.

    The CDF is in float64, and nothing synchronises the device. If rounding leaves `u` at or above
    a row's total, it picks the last token of positive probability, which every row must have.
    """
    import torch

    cdf = probs.double().cumsum(-1)
    total = cdf[:, -1]
    u_below_total = u.minimum(total.nextafter(total.new_zeros(())))
    tokens = torch.searchsorted(cdf, u_below_total[:, None], right=True)[:, 0]
    return tokens.clamp_(max=cdf.shape[1] - 1)  # a sum that is no number is beyond all of them


@dataclass(frozen=True)
class Warp:
    """How logits become the distribution that is sampled: temperature, then top-k, then top-p.

    Temperature 0 puts everything on the largest logit. `top_k` keeps the k most probable tokens,
    `top_p` the fewest most probable ones whose sum reaches it (Holtzman et al., 2020). Target and
    draft are warped alike: speculative decoding then samples the warped target.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature != 0 and not 1e-4 <= self.temperature < float("inf"):
            raise SpecdecError(
                f"temperature is {self.temperature}; it must be 0, or finite and at least 0.0001"
            )
        if self.top_k is not None and self.top_k < 1:
            raise SpecdecError(f"top_k is {self.top_k}; it must be 1 or more, or None")
        if not 0 < self.top_p <= 1:
            raise SpecdecError(f"top_p is {self.top_p}; it must be above 0 and at most 1")

    def __call__(self, logits: Tensor) -> Tensor:
        """The distributions (..., V), in float32 or better, of `logits` (..., V)."""
        logits = logits if logits.dtype.itemsize >= 4 else logits.float()
        if self.temperature == 0:
            best = logits.argmax(-1, keepdim=True)
            return logits.new_zeros(logits.shape).scatter_(-1, best, 1.0)
        if self.temperature != 1:
            logits = logits / self.temperature
        if self.top_k is not None and self.top_k < logits.shape[-1]:
            threshold = logits.topk(self.top_k).values[..., -1:]
            logits = logits.masked_fill(logits < threshold, float("-inf"))
        probs = logits.softmax(-1)
        return probs if self.top_p == 1 else _nucleus(probs, self.top_p)


def _nucleus(probs: Tensor, top_p: float) -> Tensor:
    """`probs` on the fewest most probable tokens whose sum reaches `top_p`, renormalised."""
    sorted_probs, tokens = probs.sort(dim=-1, descending=True, stable=True)
    mass_before = sorted_probs.cumsum(-1) - sorted_probs
    nucleus = sorted_probs.masked_fill(mass_before >= top_p, 0.0)
    nucleus = nucleus / nucleus.sum(-1, keepdim=True)
    return probs.new_zeros(probs.shape).scatter_(-1, tokens, nucleus)


class RandomSource(Protocol):
    """Every random decision of a decoder, so that a test can make all of them, one by one."""

    def start_block(self, n_drafts: Sequence[int], active: Sequence[bool]) -> None:
        """Begin a block of up to n_drafts[b] draft tokens in every row b that is active."""

    def draft_token(self, q: Tensor, index: int) -> Tensor:
        """Draft token number `index` of the block in every row (B,), drawn from `q` (B, V)."""

    def acceptance_uniforms(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """A uniform number r (B, n) for each draft token, from number `first` of the block on.

        The rule of verify.py compares it with p / q, the draft tokens' probabilities (B, n). Only
        an enumerator (exact.py) looks at them, to weigh the two outcomes.
        """

    def next_token(self, probs: Tensor) -> Tensor:
        """The block's last token in every row (B,), correction or bonus, from `probs` (B, V)."""


class Uniforms:
    """Random decisions from uniform numbers, one NumPy generator a row.

    A block of n draft tokens takes n numbers for the draft tokens, n numbers r for their acceptance
    and one, u, for the token after them: in this order, used or not. So a row's numbers do not
    depend on the other rows.
    """

    def __init__(self, generators: Sequence[np.random.Generator]) -> None:
        self.generators = generators
        self.block: np.ndarray | Tensor | None = None  # (B, 2 k + 1), once a block is there

    @classmethod
    def given(cls, r: Tensor, u: Tensor) -> Uniforms:
        """The numbers r (B, n) and u (B,) of one block, which is drafted already."""
        import torch

        uniforms = cls(())
        uniforms.k, uniforms.block = 0, torch.cat((r.double(), u.double()[:, None]), 1)
        uniforms._on_device = uniforms.block
        return uniforms

    def start_block(self, n_drafts: Sequence[int], active: Sequence[bool]) -> None:
        """Draw the numbers of a block. ValueError unless there is a generator for every row."""
        rows = len(n_drafts)
        if rows != len(self.generators):
            raise ValueError(f"{rows} rows need as many generators, not {len(self.generators)}")
        self.k = max(n_drafts)
        self.block = np.zeros((rows, 2 * self.k + 1))
        self.r = self.block[:, self.k : -1]
        self.u = self.block[:, -1]
        for row, (generator, n) in enumerate(zip(self.generators, n_drafts, strict=True)):
            if active[row]:
                self.block[row, :n] = generator.random(n)
                self.r[row, :n] = generator.random(n)
                self.u[row] = generator.random()
        self._on_device: Tensor | None = None

    def draft_token(self, q: Tensor, index: int) -> Tensor:
        """By the inverse CDF."""
        return sample_rows(q, self._block_on(q)[:, index])

    def acceptance_uniforms(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """In float64, in which r cannot round to 1."""
        block = self._block_on(p)
        start = self.k + first
        return block[:, start : start + p.shape[1]]

    def next_token(self, probs: Tensor) -> Tensor:
        """By the inverse CDF."""
        return sample_rows(probs, self._block_on(probs)[:, -1])

    def _block_on(self, other: Tensor) -> Tensor:
        """The block on the device of `other`: sent there once, without synchronising."""
        if self.block is None:
            raise ValueError("no block has started: call start_block, which draws its numbers")
        if self._on_device is None or self._on_device.device != other.device:
            import torch

            self._on_device = torch.from_numpy(self.block).to(other.device, non_blocking=True)
        return self._on_device


class Greedy:
    """The decisions at temperature 0, and only there: every distribution stands on one token."""

    def start_block(self, n_drafts: Sequence[int], active: Sequence[bool]) -> None:
        """Nothing is drawn."""

    def draft_token(self, q: Tensor, index: int) -> Tensor:
        """The one token."""
        return q.argmax(-1)

    def acceptance_uniforms(self, p: Tensor, q: Tensor, first: int = 0) -> Tensor:
        """0: p is 0 or 1, and a draft token is accepted if the target's token is the same."""
        return p.new_zeros(p.shape)

    def next_token(self, probs: Tensor) -> Tensor:
        """The one token."""
        return probs.argmax(-1)


def random_source_for(warp: Warp, generators: Sequence[np.random.Generator]) -> RandomSource:
    """Uniform numbers of a generator for every row; at temperature 0 nothing is random."""
    return Uniforms(generators) if warp.temperature else Greedy()
