"""c and v from bare passes, and the dtype, draft and K that they make best.

A bare pass is `forward` on a filled cache and nothing else: what a decoder adds is not in it.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import torch
from torch import Tensor

from specdec_lib.decoding.fixed_shape.graph import captured
from specdec_lib.decoding.fixed_shape.step import bucket
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.models.llama import Llama, RunLayer
from specdec_lib.models.protocol import Model
from specdec_lib.theory import Costs

CONTEXT = 128  # tokens that stand in the cache already
K_MAX = 8
REPLAYS = 8  # of a captured pass in a task, one after the other: what starts them hardly counts

# From a model, the tokens of a pass and the rows to passes of that kind.
PassTask = Callable[[Llama, int, int], Callable[[], None]]


def pass_task(model: Model, tokens: int, batch: int = 1) -> Callable[[], None]:
    """A pass over `tokens` tokens in every row after CONTEXT others, each time the same."""
    text = random_text(model, batch, CONTEXT + tokens)
    cache = model.new_cache(batch, CONTEXT + tokens)
    model.forward(text[:, :CONTEXT], cache)

    def run() -> None:
        model.forward(text[:, CONTEXT:], cache)
        cache.truncate(CONTEXT)

    return run


def graph_task(
    model: Llama, tokens: int, batch: int = 1, run: RunLayer | None = None
) -> Callable[[], None]:
    """REPLAYS passes as in `pass_task`, in fixed shapes: on CUDA each is one captured graph."""
    text = random_text(model, batch, CONTEXT + tokens)
    cache = model.new_fixed_cache(batch, bucket(CONTEXT + tokens))
    model.forward(text[:, :CONTEXT], cache)
    start, last = cache.length.clone(), text[:, CONTEXT:].contiguous()

    @torch.inference_mode()
    def one() -> None:
        cache.truncate(start)
        model.forward(last, cache, run=run)

    replay = captured(one, (), model.device)

    def task() -> None:
        for _ in range(REPLAYS):
            replay()

    return task


def random_text(model: Model, batch: int, length: int) -> Tensor:
    """The same tokens (B, length) with every call."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(model.vocab_size, (batch, length), generator=generator).to(model.device)


def costs_of(
    target: Model, draft: Model, k_max: int = K_MAX, rounds: int = 20
) -> tuple[Costs, float]:
    """c and v up to k_max + 1 tokens, and the seconds of a target pass over one."""
    costs, seconds = costs_by_draft(target, {"draft": pass_task(draft, 1)}, k_max, rounds)
    return costs["draft"], seconds


def costs_by_draft(
    target: Model,
    drafts: Mapping[str, Callable[[], object]],
    k_max: int = K_MAX,
    rounds: int = 20,
    batch: int = 1,
    task: PassTask = pass_task,
) -> tuple[dict[str, Costs], float]:
    """As `costs_of`, for several drafts, interleaved; `drafts` are tasks of one draft step each."""
    times = interleaved(bare_passes(target, drafts, k_max, batch, task), rounds)
    return costs_in(times), statistics.median(times[1])


def bare_passes(
    target: Model,
    drafts: Mapping[str, Callable[[], object]],
    k_max: int = K_MAX,
    batch: int = 1,
    task: PassTask = pass_task,
) -> dict[int | str, Callable[[], object]]:
    """Target passes by their tokens, 1 to k_max + 1, and draft steps by name: tasks to be timed.

    A draft step stands after a target pass, as the first one of a block does: the target's weights
    have pushed the draft's out of the processor's cache.
    """
    tasks: dict[int | str, Callable[[], object]] = {}
    steps = iter(drafts.items())
    for width in range(1, k_max + 2):
        tasks[width] = task(target, width, batch)
        tasks.update(islice(steps, 1))
    return tasks | dict(steps)


def costs_in(times: Mapping[int | str, Sequence[float]]) -> dict[str, Costs]:
    """c and v of every draft from the times of `bare_passes`, by the medians."""
    seconds = {key: statistics.median(each) for key, each in times.items()}
    v = {m: took / seconds[1] for m, took in seconds.items() if isinstance(m, int)}
    drafts = (name for name in seconds if not isinstance(name, int))
    return {name: Costs(seconds[name] / seconds[1], v) for name in drafts}
