"""The KV cache: memory allocated once, and a length for every row.

Rollback is setting a length (as in gpt-fast): what is beyond it is never read again, and the next
pass overwrites it. Every row of a batch has its own length, so a row with more accepted tokens
moves ahead without copies and without padding.
"""

import operator
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from specdec_lib.device import to_device


class RaggedCache:
    """The length of every row in positions: the base of every cache.

    It is there twice: `length` (B,) long on the device for the passes, and `length_on_cpu`, a list
    of numbers, so that checks and sizes never synchronise a GPU.
    """

    def __init__(self, batch: int, capacity: int | None, device: torch.device | str) -> None:
        self.capacity = capacity
        self.length = torch.zeros(batch, dtype=torch.long, device=device)
        self.length_on_cpu = [0] * batch

    @property
    def longest(self) -> int:
        """The number of positions of the longest row."""
        return max(self.length_on_cpu)

    def advance(self, count: int) -> Tensor:
        """Make every row longer by `count`; returns the new positions (B, count).

        Raises ValueError if a row would grow past the capacity.
        """
        if self.capacity is not None and self.longest + count > self.capacity:
            raise ValueError(
                f"the cache has room for {self.capacity} positions, not {self.longest} + {count}: "
                "shorten the prompt or ask for fewer new tokens"
            )
        positions = self.length[:, None] + torch.arange(count, device=self.length.device)
        self.length = self.length + count
        self.length_on_cpu = [length + count for length in self.length_on_cpu]
        return positions

    def truncate(self, length: Tensor | Sequence[int] | int) -> None:
        """Forget every position from `length` on: one number, or one for each row.

        Raises ValueError if a number is negative or above what its row holds.
        """
        old = self.length_on_cpu
        new = length.tolist() if isinstance(length, Tensor) else length
        new = [new] * len(old) if np.ndim(new) == 0 else new
        new = [operator.index(number) for number in new]
        if len(new) != len(old):
            raise ValueError(f"{len(new)} lengths for a cache of {len(old)} rows")
        for row, (before, after) in enumerate(zip(old, new, strict=True)):
            if not 0 <= after <= before:
                raise ValueError(f"row {row} holds {before} positions and cannot be cut to {after}")
        self.length_on_cpu = new
        self.length = to_device(new, self.length.device)


class Tree(NamedTuple):
    """Branches of a text as the tokens of one pass: the root first, parents before children.

    The first nodes may be in the cache already; the pass reads the T nodes that follow.
    """

    depths: Tensor  # (T,) long, 0 for the root
    ancestors: Tensor  # (T, root and nodes) bool: row i marks itself and its ancestors

    @classmethod
    def from_parents(
        cls, parents: Sequence[int], device: torch.device | str = "cpu", n_cached: int = 0
    ) -> "Tree":
        """The tree with one node for every entry of `parents`, which is its parent's number.

        The root is number 0, so the first entry belongs to node 1. The first `n_cached` nodes were
        read by earlier passes and are the last positions in the cache.
        """
        ancestors = np.eye(len(parents) + 1, dtype=bool)
        for node, parent in enumerate(parents, start=1):
            ancestors[node] |= ancestors[parent]
        rows = torch.from_numpy(ancestors[n_cached:]).to(device, non_blocking=True)
        return cls(rows.sum(-1) - 1, rows)

    def positions(self, slots: Tensor) -> Tensor:
        """The positions in the text of the tokens that a pass writes to `slots` (1, T)."""
        return slots[:, -1:] + 1 - self.ancestors.shape[1] + self.depths


class HiddenStates(NamedTuple):
    """The last layer's output in one pass, as the head reads it."""

    states: Tensor  # (B, T, width)
    positions: Tensor  # (B, T), where in the text


class LayerCache(NamedTuple):
    """The keys and values of one layer; a pass reads the first `visible` positions."""

    all_keys: Tensor  # (B, capacity, heads, width), as all_values
    all_values: Tensor
    rows: Tensor  # (B, 1): 0, 1, ..., B - 1
    visible: int

    def store(self, positions: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write `keys` and `values` (B, T, heads, width) at `positions` (B, T).

        Returns all keys and values that the pass reads, (B, heads, visible, width) each.
        """
        self.all_keys.index_put_((self.rows, positions), keys)
        self.all_values.index_put_((self.rows, positions), values)
        keys, values = self.all_keys[:, : self.visible], self.all_values[:, : self.visible]
        return keys.transpose(1, 2), values.transpose(1, 2)


class KVCache(RaggedCache):
    """The keys and values of every layer, (layers, B, capacity, heads, width) each."""

    def __init__(
        self,
        layers: int,
        batch: int,
        capacity: int,
        heads: int,
        width: int,
        device: torch.device | str,
        dtype: torch.dtype,
    ) -> None:
        super().__init__(batch, capacity, device)
        shape = (layers, batch, capacity, heads, width)
        self.keys = torch.zeros(shape, device=device, dtype=dtype)
        self.values = torch.zeros(shape, device=device, dtype=dtype)
        self._rows = torch.arange(batch, device=device)[:, None]

    def layer(self, number: int) -> LayerCache:
        """The keys and values of a layer, to read and to write."""
        return LayerCache(self.keys[number], self.values[number], self._rows, self.longest)

    def keep_nodes(self, start: int, nodes: Sequence[int]) -> None:
        """Keep only `nodes` of the tree that was read from `start` on, and move them together."""
        slots = start + to_device(nodes, self.keys.device)
        for tensor in (self.keys, self.values):
            tensor[:, :, start : start + len(nodes)] = tensor[:, :, slots]
        self.truncate(start + len(nodes))

    def mask(self, slots: Tensor, tree: Tree | None = None) -> Tensor | None:
        """The mask (B, 1, T, S), broadcast over the heads, of a pass that writes to `slots` (B, T).

        To be added to the scores: -inf at later tokens, or at other branches of `tree` (then B is
        1), and at anything beyond a shorter row's length. None if there is nothing to hide.
        """
        if tree is not None:
            context = self.longest - tree.ancestors.shape[1]
            hidden = torch.nn.functional.pad(~tree.ancestors, (context, 0))[None, None]
        elif slots.shape[1] == 1 and min(self.length_on_cpu) == self.longest:
            return None
        else:
            hidden = torch.arange(self.longest, device=slots.device) > slots[:, None, :, None]
        return torch.zeros_like(hidden, dtype=self.keys.dtype).masked_fill_(hidden, float("-inf"))
