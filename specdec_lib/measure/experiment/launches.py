"""What a draft costs whose kernels the host starts one by one, and one that is replayed as a graph.

A GPU is fast enough for a small model's kernels to be over before the next is started. Then a pass
takes as long as starting it, and that goes by the number of layers, not by the weights. Yan,
Agarwal and Venkataraman (2024), "Decoding Speculative Decoding", arXiv 2402.01528, find depth to be
what a draft's time depends on, and trade it for width. Here four drafts beside one target, two
sizes times two depths, are timed both ways. Their weights are random: only their cost is looked at.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.assets import ASSETS
from specdec_lib.device import default_device, default_dtype
from specdec_lib.measure.core.costs import REPLAYS, graph_task, pass_task
from specdec_lib.measure.core.kernels import kernels_a_layer
from specdec_lib.measure.core.limits import weights_read
from specdec_lib.measure.core.memory import Say, attempt
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.measure.experiment.budget import LAUNCHES
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.measure.experiment.seq2seq import random_t5
from specdec_lib.measure.experiment.survey import GPU_SIZES, fitting
from specdec_lib.models.checkpoint import LayerWeights, Shape, Weights
from specdec_lib.models.hf import EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import scaled

Tasks = Mapping[str, Callable[[], None]]  # by way

SIZES = {"a tenth": 0.1, "a hundredth": 0.01}  # of the weights that the target reads
DEPTHS = {"deep": 0.75, "shallow": 0.1}  # of its layers; Qwen2.5: 24 of 28
DRAFTS = tuple(product(SIZES.items(), DEPTHS.items()))
HEAD, MLP = 64, 2.75  # the width of a head, and of the MLP over that of the model
ROUNDS = 10
# FLAN-T5 XXL and small: the decoder's layers, and the weights that a pass over one token reads, in
# matrices of the decoder and the head (config.json of google/flan-t5-xxl and -small: d_model 4096
# and 512, 64 and 6 heads of 64, d_ff 10240 and 1024; keys and values of the source are kept).
T5 = {"xxl": (24, 5.57e9), "small": (8, 38.5e6)}
# Assumed where nothing is measured: the host's time to start a kernel, and a card's bandwidth.
LAUNCH, BANDWIDTH = 5e-6, 2.8e12


class Launched(NamedTuple):
    """A draft beside its target: how many of its weights and layers it has, and c both ways."""

    name: str
    weights: float
    layers: float
    launched: float
    replayed: float


def on(machine: Machine) -> list[Launched]:
    """The drafts beside the machine's largest target, as many as there is time and memory for."""
    target = max(machine.targets.values(), key=weights_read)
    with machine.budget.part(LAUNCHES) as part:
        return list(measure(target, ROUNDS, part.each(DRAFTS, "drafts")))


def measure(
    target: Llama, rounds: int, drafts: Iterable = DRAFTS, say: Say = print
) -> Iterator[Launched]:
    """Every one of `drafts` beside `target`, each as soon as it is there.

    One for which there is no memory is left out, with a line.
    """
    both = attempt("What captures a pass of the target", partial(ways, target), say)
    for (size, share), (depth, deep) in drafts if both else ():
        shape = shape_for(target, share, deep)
        task = partial(beside, target, both, shape, f"{size}, {depth}", rounds)
        if found := attempt(f"A draft of {size} of the weights, {depth},", task, say):
            yield found


def beside(target: Llama, both: Tasks, shape: Shape, name: str, rounds: int) -> Launched:
    """A draft of this shape: it and the target, whose ways are `both`, take turns.

    A turn is REPLAYS passes in a row; captures come before.
    """
    draft = random_llama(shape, target.device, target.dtype)
    tasks = {("target", way): task for way, task in both.items()}
    tasks |= {("draft", way): task for way, task in ways(draft).items()}
    seconds = {key: median(each) for key, each in interleaved(tasks, rounds).items()}
    c = [seconds["draft", way] / seconds["target", way] for way in both]
    parts = weights_read(draft) / weights_read(target)
    return Launched(name, parts, shape.layers / target.shape.layers, *c)


def ways(model: Llama) -> Tasks:
    """REPLAYS passes over one token, started kernel by kernel, and as graphs."""
    one = pass_task(model, 1)

    def launched() -> None:
        for _ in range(REPLAYS):
            one()

    return {"launched": launched, "replayed": graph_task(model, 1)}


def shape_for(target: Llama, share: float, depth: float) -> Shape:
    """A draft with about so much of the target's weights and so much of its layers."""
    layers = max(1, round(depth * target.shape.layers))
    a_layer = share * weights_read(target) / layers
    heads = max(1, round(math.sqrt(a_layer / (4 + 3 * MLP)) / HEAD))
    return replace(
        target.shape,
        width=heads * HEAD,
        layers=layers,
        heads=heads,
        kv_heads=heads,
        head_width=HEAD,
        mlp=int(MLP * heads * HEAD),
    )


def random_llama(shape: Shape, device: torch.device, dtype: torch.dtype) -> Llama:
    """A Llama of this shape whose weights are random."""

    def drawn(*size: int) -> Tensor:
        return torch.empty(size, device=device, dtype=dtype).normal_(0, 0.02)

    queries = shape.heads * shape.head_width
    rows = queries + 2 * shape.kv_heads * shape.head_width
    layers = [
        LayerWeights(
            norm_attention=drawn(shape.width),
            qkv=drawn(rows, shape.width),
            out=drawn(shape.width, queries),
            norm_mlp=drawn(shape.width),
            gate_up=drawn(2 * shape.mlp, shape.width),
            down=drawn(shape.width, shape.mlp),
        )
        for _ in range(shape.layers)
    ]
    table = drawn(shape.vocab_size, shape.width)
    return Llama(Weights(shape, table, layers, drawn(shape.width), table))


def measured_here() -> list[Launched]:
    """On a card beside the largest target that fits, else beside the built-in one."""
    device = default_device()
    dtype = default_dtype(device)
    if device.type == "cuda":
        target = scaled(
            ASSETS / "target", next(fitting(GPU_SIZES, device, dtype, print)), device, dtype
        )
    else:
        target = Llama.from_folder(ASSETS / "target", device, dtype)
    return list(measure(target, ROUNDS))


def table(found: Sequence[Launched]) -> str:
    """A line for every draft."""
    lines = [f"{'draft':22} weights  layers  c launched  c replayed"]
    for each in found:
        lines.append(
            f"{each.name:22} {each.weights:7.3f} {each.layers:7.2f} {each.launched:11.3f} "
            f"{each.replayed:11.3f}"
        )
    return "\n".join(lines)


def t5_pass(layers: int) -> Callable[[], object]:
    """A pass over one token of a T5 of so many layers in bfloat16, as transformers runs it."""
    model = EncoderDecoder(random_t5(layers, seed=0).bfloat16(), [3, 4, 5])
    token = torch.zeros(1, 1, dtype=torch.long)
    cache = model.new_cache()
    model.forward(token, cache)  # from the second token on, the source is read from the cache
    return lambda: model.forward(token, cache)


class T5Pass(NamedTuple):
    """The seconds that a pass of T5's decoder takes at least."""

    launches: float  # to start its kernels one by one
    reading: float  # to read its weights

    @property
    def seconds(self) -> float:
        """Whichever takes longer: the card reads while the host starts the next."""
        return max(self)


def t5_passes(kernels: int) -> dict[str, T5Pass]:
    """A pass of each T5, by size; `kernels` are a layer's."""
    return {
        size: T5Pass(kernels * layers * LAUNCH, 2 * weights / BANDWIDTH)
        for size, (layers, weights) in T5.items()
    }


def t5_in_words() -> str:
    """Why c of a T5 that the host starts kernel by kernel is not the paper's 0.02."""
    each = kernels_a_layer(t5_pass)
    found = t5_passes(each)
    small, large = found["small"], found["xxl"]
    return (
        f"FLAN-T5 in transformers starts {each} kernels a layer of its decoder. At "
        f"{LAUNCH * 1e6:.0f} microseconds each that is {large.launches * 1e3:.1f} ms a token for "
        f"the 24 layers of XXL, whose weights are read in {large.reading * 1e3:.1f} ms at "
        f"{BANDWIDTH / 1e12:.1f} TB/s, and {small.launches * 1e3:.1f} ms for the 8 of small, read "
        f"in {small.reading * 1e3:.2f} ms: c is {small.seconds / large.seconds:.2f}. By the "
        f"weights alone it would be {small.reading / large.reading:.3f}; the paper has 0.02."
    )


if __name__ == "__main__":
    print(table(measured_here()))
    print(t5_in_words())
