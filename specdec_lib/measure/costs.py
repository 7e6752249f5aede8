"""c and v from bare passes, and the dtype, draft and K that they make best.

A bare pass is `forward` on a filled cache and nothing else: what a decoder adds is not in it.
"""

import statistics
from collections.abc import Callable

import torch

from specdec_lib.measure.timing import interleaved
from specdec_lib.models.protocol import Model
from specdec_lib.theory import Costs

CONTEXT = 128  # tokens that stand in the cache already
K_MAX = 8


def pass_task(
    model: Model, tokens: int, batch: int = 1, context: int = CONTEXT
) -> Callable[[], None]:
    """A pass over `tokens` tokens in every row behind `context` others, each time the same."""
    generator = torch.Generator().manual_seed(0)
    shape = (batch, CONTEXT + tokens)
    text = torch.randint(model.vocab_size, shape, generator=generator).to(model.device)
    cache = model.new_cache(batch, CONTEXT + tokens)
    model.forward(text[:, :CONTEXT], cache)

    def run() -> None:
        model.forward(text[:, CONTEXT:], cache)
        cache.truncate(CONTEXT)

    return run


def costs_of(
    target: Model, draft: Model, k_max: int = K_MAX, rounds: int = 20, batch: int = 1
) -> tuple[Costs, float]:
    """c and v up to k_max + 1 tokens, and the seconds of a target pass over one."""
    tasks = {width: pass_task(target, width, batch) for width in range(1, k_max + 2)}
    tasks[0] = pass_task(draft, 1, batch)
    seconds = {key: statistics.median(taken) for key, taken in interleaved(tasks, rounds).items()}
    draft_seconds = seconds.pop(0)
    v = {width: taken / seconds[1] for width, taken in seconds.items()}
    return Costs(c=draft_seconds / seconds[1], v=v), seconds[1]
