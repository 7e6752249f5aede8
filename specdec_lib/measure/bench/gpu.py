"""What the GPU figures are measured with: models on the card, captured decoders, their costs.

The device is an argument throughout. On a CPU the same steps run without being captured, which is
how this file is tested.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache, partial

import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.decoding.fixed_shape.compiled import Compiled, compiled
from specdec_lib.decoding.fixed_shape.graph import spare
from specdec_lib.decoding.fixed_shape.step import bucket
from specdec_lib.device import default_dtype, free_memory
from specdec_lib.measure import hugging
from specdec_lib.measure.bench.workbench import Choice, Workbench, options_from
from specdec_lib.measure.core.costs import REPLAYS, costs_of, graph_task
from specdec_lib.measure.core.runs import Graphs
from specdec_lib.models.checkpoint import LayerWeights, Shape, Weights, read_shape, read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import cost_label
from specdec_lib.models.scale import COSTS, grown, grown_shape, parameters
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs

SIZES = ("7b", "1b", "234m", "40m")  # from the largest: where one has no room, the next is taken
BATCH = 8
# Beside the weights: kernels' workspaces, graphs, the compiler's trials, Hugging Face's caches.
RESERVE = 3_000_000_000


def size_for(bench: Workbench, wanted: str) -> str:
    """The largest size up to `wanted` that the card has room for.

    What stands in for `wanted` is remembered in `bench.smaller` and named in the figure's row.
    Raises ValueError where not even the smallest has room.
    """
    if wanted not in bench.smaller:
        rest = SIZES[SIZES.index(wanted) :]
        fitting = (size for size in rest if has_room(size, bench.card))
        found = next(fitting, None)
        if found is None:
            raise ValueError(f"{bench.card} has no room for the {rest[-1]} size; free its memory")
        bench.smaller[wanted] = found
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


@cache
def weights_on(size: str | None, dtype: torch.dtype, device: torch.device) -> Weights:
    """The target's weights on the device, made there matrix by matrix and kept.

    With None they are those of the built-in target, not grown. Our model and Hugging Face's stand
    on the same tensors.
    """
    weights = read_weights(ASSETS / "target", device, dtype)
    if size is not None:
        weights = grown(weights, COSTS[size])
    names = [field.name for field in fields(LayerWeights)]
    layers = [LayerWeights(*(getattr(layer, name) for name in names)) for layer in weights.layers]
    return replace(weights, layers=layers)


@cache
def target_on(size: str | None, dtype: torch.dtype, device: torch.device) -> Llama:
    """The target on the device."""
    return Llama(weights_on(size, dtype, device))


@cache
def draft_on(name: str, dtype: torch.dtype, device: torch.device) -> Llama:
    """A built-in draft on the device, in the target's dtype."""
    return Llama.from_folder(ASSETS / name, device, dtype)


@cache
def hugging_on(size: str, dtype: torch.dtype, device: torch.device) -> hugging.Counted:
    """The same target in transformers, on the same tensors."""
    return hugging.Counted.of_weights(weights_on(size, dtype, device))


@cache
def layers_on(device: torch.device, mode: str | None) -> Compiled:
    """How layers run on the device: compiled where that is asked for and can be done."""
    if mode is None:
        return Compiled(None, "layers not compiled")
    return compiled(target_on(None, default_dtype(device), device), mode)


@cache
def graph_costs(
    size: str, draft: str, device: torch.device, mode: str | None, batch: int = 1
) -> tuple[Costs, float]:
    """c and v from captured bare passes, and the seconds of a target pass over one token."""
    dtype = default_dtype(device)
    models = target_on(size, dtype, device), draft_on(draft, dtype, device)
    task = partial(graph_task, run=layers_on(device, mode).run)
    costs, seconds = costs_of(*models, rounds=10, batch=batch, task=task)
    return costs, seconds / REPLAYS


def best_on(bench: Workbench, size: str, warp: Warp, batch: int = 1) -> Choice:
    """The draft and K that the cost model makes fastest, from captured bare passes."""
    names = BUILT_IN_DRAFTS
    measured = {name: graph_costs(size, name, bench.card, bench.mode, batch) for name in names}
    found = options_from(measured, default_dtype(bench.card))[warp.temperature]
    where = f"{bench.card} at {size}"
    best = bench.fastest(f"{where}, temperature {warp.temperature:g}, batch {batch}", found)
    bench.notes.append(f"{where}: {cost_label(size, best.draft)}")
    return best


def graphs(
    bench: Workbench, size: str, draft: str | None, k: int, warp: Warp,
    rows: int | None = None,
) -> Graphs:  # fmt: skip
    """A captured decoder on the card; with k = 0 and no draft, plain decoding."""
    device, dtype = bench.card, default_dtype(bench.card)
    small = draft_on(draft, dtype, device) if draft else None
    run = layers_on(device, bench.mode).run
    model = target_on(size, dtype, device)
    return Graphs(model, small, k, warp, bench.tokens, rows=rows, run=run)


def bytes_a_step(model: Llama, prompt: Sequence[int], tokens: int) -> float:
    """Bytes that a plain step reads on average: all weights but the embedding, keys and values.

    Of the cache what a step reads is counted, which is whole buckets of positions.
    """
    shape, lengths = model.shape, range(len(prompt), len(prompt) + tokens)
    positions = sum(bucket(length + spare(0)) for length in lengths) / tokens
    weights = parameters(shape) - shape.vocab_size * shape.width
    return (weights + cache_numbers(shape, 1) * positions) * model.dtype.itemsize
