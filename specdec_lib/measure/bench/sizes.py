"""The sizes that a device has room for, and the bytes that a step reads there."""

from collections.abc import Sequence

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.fixed_shape.graph import spare
from specdec_lib.decoding.fixed_shape.step import bucket
from specdec_lib.device import default_dtype, free_memory
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.limits import weights_read
from specdec_lib.models.checkpoint import Shape, read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS, grown_shape, parameters

SIZES = ("7b", "1b", "234m", "40m")  # from the largest: if one has no room, the next is taken
BATCH = 8
# Beside the weights: kernels' workspaces, graphs, the compiler's trials, Hugging Face's caches.
RESERVE = 3_000_000_000


def size_for(bench: Workbench, wanted: str | None) -> str | None:
    """The largest size up to `wanted` that the GPU has room for; on a CPU `wanted` itself.

    What stands in for `wanted` is kept in `bench.smaller` and named in the figure's row. Raises
    ValueError if not even the smallest has room.
    """
    if not bench.captured:
        return wanted
    if wanted not in bench.smaller:
        rest = SIZES[SIZES.index(wanted) :]
        fitting = next((size for size in rest if has_room(size, bench.device)), None)
        if fitting is None:
            raise ValueError(f"{bench.device} has no room for the {rest[-1]} size; free its memory")
        bench.smaller[wanted] = fitting
    return bench.smaller[wanted]


def has_room(size: str, device: torch.device) -> bool:
    """Whether the weights, the caches of BATCH rows and RESERVE fit into the free memory."""
    free = free_memory(device)
    return free is None or memory_needed(size, default_dtype(device)) <= free


def memory_needed(size: str, dtype: torch.dtype) -> int:
    """Bytes of the weights at their peak, of the caches of BATCH rows, and RESERVE."""
    shape = grown_shape(read_shape(ASSETS / "target"), COSTS[size])
    numbers = parameters(shape) + largest_matrix(shape) + BATCH * cache_numbers(shape, 512)
    return numbers * dtype.itemsize + RESERVE


def largest_matrix(shape: Shape) -> int:
    """The numbers of the largest matrix of a layer: it is held once more while it is made."""
    return 2 * shape.mlp * shape.width


def cache_numbers(shape: Shape, positions: int) -> int:
    """The numbers of the keys and values of so many positions of one row."""
    return 2 * shape.layers * shape.kv_heads * shape.head_width * positions


def bytes_a_step(model: Llama, prompt: Sequence[int], tokens: int) -> float:
    """Bytes that a plain step reads on average: all weights but the embedding, keys and values.

    Of the cache what a step reads is counted, which is whole buckets of positions.
    """
    lengths = range(len(prompt), len(prompt) + tokens)
    positions = sum(bucket(length + spare(0)) for length in lengths) / tokens
    return (weights_read(model) + cache_numbers(model.shape, 1) * positions) * model.dtype.itemsize
