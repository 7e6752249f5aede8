"""The cost model E / (c K + v(K+1)) against what the decoder takes."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import torch
from tqdm import tqdm

from specdec_lib.decoding.generate import start_run
from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Block, Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.bench.workbench import Workbench, draft, target
from specdec_lib.measure.core.costs import CONTEXT, K_MAX, costs_of, pass_task
from specdec_lib.measure.core.runs import (
    ROUNDS,
    SAMPLED,
    Decoder,
    Recorded,
    choices,
    plain,
    speculative,
)
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs

NAME = "large"  # the draft with most to lose: its passes cost most
SHARE_PROMPTS = 3


def share_of_bound(bench: Workbench, warp: Warp) -> float:
    """The least share of the bound that we reach, over K = 1..8 and two sizes of target."""
    return min(
        share(bench, cost, dtype, warp)
        for cost, dtype in (("40m", torch.float32), ("234m", bench.best("234m", warp).dtype))
    )


def share(bench: Workbench, cost: str, dtype: torch.dtype, warp: Warp) -> float:
    """The least over K of measured speedup over E / (c K + v(K+1)).

    c and v are from bare passes of their own; E is how many tokens the timed blocks brought.
    """
    model, drafter, tokens = target(cost, dtype), ModelDrafter(draft(NAME)), bench.tokens
    costs, _ = costs_of(model, drafter.model)
    decoders = {k: speculative(model, drafter, k, warp, tokens) for k in range(1, K_MAX + 1)}
    decoders[0] = plain(model, warp, tokens)
    shares = shares_of(costs, decoders, bench.prompts_for(warp, dtype)[:SHARE_PROMPTS])
    name = f"{cost}, {dtype}, temperature {warp.temperature:g}"
    bench.notes.append(in_words(name, shares, costs))
    return min(shares)


def shares_of(
    costs: Costs, decoders: Mapping[int, Decoder], prompts: Sequence[list[int]]
) -> list[float]:
    """Measured speedup over E / (c K + v(K+1)) for every K above 0 in `decoders`, by K.

    Number 0 is plain decoding. E is how many tokens the timed blocks brought.
    """
    recorded = {k: Recorded(decoder) for k, decoder in decoders.items()}
    seconds = total_seconds(recorded, prompts)
    shares = []
    for k in sorted(set(decoders) - {0}):
        bound = recorded[k].tokens_a_block / (costs.c * k + costs.v[k + 1])
        shares.append(seconds[0] / seconds[k] / bound)
    return shares


def in_words(name: str, shares: Sequence[float], costs: Costs) -> str:
    """The shares for K = 1, 2 and so on, in a line."""
    listed = ", ".join(f"{share:.2f}" for share in shares)
    return (
        f"share of the bound at {name}, K = 1 to {len(shares)}: {listed} "
        f"(c = {costs.c:.3f}, v({len(shares) + 1}) = {costs.v[len(shares) + 1]:.2f})"
    )


def total_seconds(
    decoders: Mapping[int, Decoder], prompts: Sequence[list[int]]
) -> dict[int, float]:
    """The seconds of every decoder over all prompts, all decoders by turns on each."""
    totals = dict.fromkeys(decoders, 0.0)
    for prompt in tqdm(prompts, desc="prompts", leave=False):
        tasks = {name: partial(decoder, prompt) for name, decoder in decoders.items()}
        for name, seconds in interleaved(tasks, ROUNDS).items():
            totals[name] += sum(seconds)
    return totals


def model_error(bench: Workbench) -> float:
    """The largest relative error of K draft passes and one verification as the time of a block.

    At the 40M cost in float32, batches of 1 to 32 and K of 1 to 8; the passes are bare ones over
    as many rows, measured by turns with the blocks.
    """
    errors = {}
    for batch in tqdm((1, 2, 4, 8, 16, 32), desc="batch", leave=False):
        for k in (1, 2, 4, 8):
            errors[batch, k] = block_error(batch, k)
    worst = max(errors, key=lambda key: abs(errors[key]))
    bench.notes.append(
        f"cost model, largest error: {errors[worst]:+.1%} at batch {worst[0]}, K = {worst[1]}; "
        f"median of the errors' sizes {statistics.median(map(abs, errors.values())):.1%}"
    )
    return abs(errors[worst])


def block_error(batch: int, k: int) -> float:
    """(measured - predicted) / predicted time of a block."""
    model, small = target("40m", torch.float32), draft(NAME)
    tasks = {
        "draft": pass_task(small, 1, batch),
        "target": pass_task(model, k + 1, batch),
        "block": block_task(model, small, batch, k),
    }
    seconds = {key: statistics.median(taken) for key, taken in interleaved(tasks, 7).items()}
    predicted = k * seconds["draft"] + seconds["target"]
    return seconds["block"] / predicted - 1


def block_task(model: Llama, small: Llama, batch: int, k: int) -> Callable[[], list[Block]]:
    """One block of speculative decoding behind a context, a new one with every call."""
    prompts = [[1 + row, *range(2, CONTEXT + 1)] for row in range(batch)]
    settings, drafter = Settings(model.max_length - CONTEXT - k, SAMPLED), ModelDrafter(small)
    run = start_run(model, drafter, prompts, settings, model.max_length)
    made = choices(SAMPLED, seed=0, rows=batch)
    return lambda: decode_block(run, drafter, k, made)
