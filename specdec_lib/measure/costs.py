"""c and v from bare passes.

A bare pass is `forward` on a filled cache and nothing else: what a decoder adds is not in it.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor

from specdec_lib.models.protocol import Model
from specdec_lib.theory import Costs

CONTEXT_TOKENS = 128  # that stand in the cache already
LARGEST_K = 8

PassTask = Callable[[], object]


class DraftCosts(NamedTuple):
    """The costs of several drafts beside one target, in passes of `pass_seconds`."""

    by_draft: dict[str, Costs]
    pass_seconds: float  # of a target pass over one token

    @property
    def v(self) -> Mapping[int, float]:
        """The target's passes by width."""
        return next(iter(self.by_draft.values())).v


def pass_tasks(
    model: Model, widths: Sequence[int], batch: int = 1, context: int = CONTEXT_TOKENS
) -> dict[int, PassTask]:
    """Passes over so many tokens in every row after `context` others, by width; always the same.

    They share one cache: the context is read once, which takes longer than many of the passes.
    """
    capacity = context + max(widths)
    text, cache = random_text(model, batch, capacity), model.new_cache(batch, capacity)
    model.forward(text[:, :context], cache)

    def run(width: int) -> None:
        model.forward(text[:, context : context + width], cache)
        cache.truncate(context)

    return {width: partial(run, width) for width in widths}


def pass_task(model: Model) -> PassTask:
    """One pass over one token."""
    return pass_tasks(model, [1])[1]


def random_text(model: Model, batch: int, length: int) -> Tensor:
    """The same tokens (B, length) with every call."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(model.vocab_size, (batch, length), generator=generator).to(model.device)


def interleave_draft_steps(target: Model, drafts: Mapping[str, Model]) -> dict[Any, PassTask]:
    """Target passes by width, 1 to LARGEST_K + 1, and draft steps by name, in the order to run.

    A draft step stands after a target pass, as the first one of a block does: the target's weights
    have pushed the draft's out of the processor's cache.
    """
    tasks: dict[Any, PassTask] = {}
    remaining_steps = iter([(name, pass_task(draft)) for name, draft in drafts.items()])
    for width, task in pass_tasks(target, range(1, LARGEST_K + 2)).items():
        tasks[width] = task
        tasks.update(islice(remaining_steps, 1))
    return tasks | dict(remaining_steps)


def costs_from_times(times: Mapping[int | str, Sequence[float]]) -> DraftCosts:
    """The costs from the times of the tasks of `interleave_draft_steps`: medians of the rounds."""
    seconds = {key: statistics.median(rounds) for key, rounds in times.items()}
    plain = seconds[1]
    v = {width: seconds[width] / plain for width in seconds if isinstance(width, int)}
    names = [name for name in seconds if isinstance(name, str)]
    return DraftCosts({name: Costs(seconds[name] / plain, v) for name in names}, plain)
