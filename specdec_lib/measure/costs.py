"""c and v from bare passes.

A bare pass is `forward` on a filled cache and nothing else: what a decoder adds is not in it.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice

import torch
from torch import Tensor

from specdec_lib.measure.timing import interleaved
from specdec_lib.models.protocol import Model
from specdec_lib.theory import Costs

CONTEXT = 128  # tokens that stand in the cache already
K_MAX = 8

Task = Callable[[], object]
# By name the costs of drafts, and the seconds of a target pass over one token.
Measured = tuple[dict[str, Costs], float]


def pass_tasks(
    model: Model, widths: Sequence[int], batch: int = 1, context: int | None = None
) -> dict[int, Task]:
    """Passes over so many tokens in every row after `context` others (CONTEXT), always the same.

    They share one cache: the context is read once, which takes longer than many of the passes.
    """
    context = CONTEXT if context is None else context
    most = context + max(widths)
    text, cache = random_text(model, batch, most), model.new_cache(batch, most)
    model.forward(text[:, :context], cache)

    def run(width: int) -> None:
        model.forward(text[:, context : context + width], cache)
        cache.truncate(context)

    return {width: partial(run, width) for width in widths}


def pass_task(model: Model, tokens: int, batch: int = 1) -> Task:
    """The one of `pass_tasks` over `tokens` tokens."""
    return pass_tasks(model, [tokens], batch)[tokens]


def random_text(model: Model, batch: int, length: int) -> Tensor:
    """The same tokens (B, length) with every call."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(model.vocab_size, (batch, length), generator=generator).to(model.device)


def costs_by_dtype(
    targets: Mapping[torch.dtype, Model], drafts: Mapping[str, Model], rounds: int
) -> dict[torch.dtype, Measured]:
    """The costs by draft and the seconds of a plain pass, for a target in several dtypes.

    All passes are interleaved. A draft is the same beside every target.
    """
    turns = {
        (dtype, key): run
        for dtype, target in targets.items()
        for key, run in in_turn(target, {n: pass_task(d, 1) for n, d in drafts.items()}).items()
    }
    times = interleaved(turns, rounds)
    return {
        dtype: relative({key: times[d, key] for d, key in turns if d == dtype}) for dtype in targets
    }


def in_turn(target: Model, drafts: Mapping[str, Task], k_max: int = K_MAX) -> dict[int | str, Task]:
    """Passes of the target by width, 1 to k_max + 1, and the draft steps by name, in their order.

    A draft step stands after a target pass, as the first one of a block does: the target's weights
    have pushed the draft's out of the processor's cache.
    """
    turns: dict[int | str, Task] = {}
    steps = iter(drafts.items())
    for width, run in pass_tasks(target, range(1, k_max + 2)).items():
        turns[width] = run
        turns.update(islice(steps, 1))
    return turns | dict(steps)


def relative(times: Mapping[int | str, Sequence[float]]) -> Measured:
    """The costs by draft, and the seconds of a plain pass, from the times of the tasks `in_turn`.

    Each is the median of its times.
    """
    seconds = {key: statistics.median(each) for key, each in times.items()}
    one = seconds[1]
    v = {width: seconds[width] / one for width in seconds if isinstance(width, int)}
    names = [name for name in seconds if isinstance(name, str)]
    return {name: Costs(seconds[name] / one, v) for name in names}, one
