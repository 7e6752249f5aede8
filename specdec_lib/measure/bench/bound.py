"""The cost model E / (c K + v(K+1)) against what the decoder takes."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import torch
from tqdm import tqdm

from specdec_lib.decoding.generate import start_run
from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Block, Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.bench.sizes import size_for
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.costs import CONTEXT, K_MAX, pass_task
from specdec_lib.measure.core.models import draft, target
from specdec_lib.measure.core.runs import GREEDY, ROUNDS, SAMPLED, Decoder, Recorded, choices
from specdec_lib.measure.core.timing import Picked, interleaved, on_prompts
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs

NAME = "large"  # the draft with most to lose: its passes cost most
SHARE_PROMPTS = 3
SETTINGS = tuple(product((1, 2, 4, 8, 16, 32), (1, 2, 4, 8)))  # batch and K of the cost model


def share_of_bound(bench: Workbench, warp: Warp) -> Picked:
    """The least share of the bound that we reach on a CPU, over K = 1..8 and two sizes."""
    best = bench.best("234m", warp).dtype
    return least(shares(bench, "40m", torch.float32, warp) | shares(bench, "234m", best, warp))


def share_of_bound_captured(bench: Workbench, wanted: str) -> Picked:
    """The least share on a GPU, over K = 1..8, greedy and at temperature 1."""
    size, (dtype,) = size_for(bench, wanted), bench.dtypes
    return least(shares(bench, size, dtype, GREEDY) | shares(bench, size, dtype, SAMPLED))


def least(values: Mapping[str, float]) -> Picked:
    """The least of `values`."""
    return Picked(min(values.values()), values)


def shares(bench: Workbench, size: str, dtype: torch.dtype, warp: Warp) -> dict[str, float]:
    """Measured speedup over E / (c K + v(K+1)), by setting.

    c and v are from bare passes of their own; E is how many tokens the timed blocks brought.
    """
    costs = bench.costs(size, dtype, NAME)
    decoders = {k: bench.decoder(size, dtype, warp, NAME, k) for k in range(1, K_MAX + 1)}
    decoders[0] = bench.decoder(size, dtype, warp)
    listed = shares_of(
        costs, decoders, bench.prompts_for(warp, dtype)[:SHARE_PROMPTS], bench.captured
    )
    name = f"{bench.where(size)}, {dtype}, temperature {warp.temperature:g}"
    bench.notes.append(in_words(name, listed, costs))
    return {f"{name}, K = {k}": each for k, each in enumerate(listed, 1)}


def shares_of(
    costs: Costs, decoders: Mapping[int, Decoder], prompts: Sequence[list[int]], captured: bool
) -> list[float]:
    """Measured speedup over E / (c K + v(K+1)) for every K above 0 in `decoders`, by K.

    Number 0 is plain decoding. E is how many tokens the timed blocks brought. What is `captured`
    is captured before it counts; on a CPU the passes of the costs have warmed everything up.
    """
    recorded = {k: Recorded(decoder) for k, decoder in decoders.items()}
    rounds, warm_up = (ROUNDS, 1) if captured else (1, 0)
    times = on_prompts(recorded, prompts, rounds, warm_up)
    seconds = {k: sum(each) for k, each in times.items()}
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


def model_error(bench: Workbench) -> Picked:
    """The median relative error of K draft passes and one verification as the time of a block.

    At the 40M cost in float32, batches of 1 to 32 and K of 1 to 8; the passes are bare ones over
    as many rows, interleaved with the blocks. The largest error is in the notes.
    """
    errors = {}
    for batch, k in tqdm(SETTINGS, desc="batch and K", leave=False):
        errors[f"batch {batch}, K = {k}"] = block_error(batch, k)
    worst = max(errors, key=lambda key: abs(errors[key]))
    middle = statistics.median(map(abs, errors.values()))
    bench.notes.append(
        f"cost model, median error: {middle:.1%}; the largest {errors[worst]:+.1%} at {worst}"
    )
    return Picked(middle, errors)


def block_error(batch: int, k: int) -> float:
    """(measured - predicted) / predicted time of a block."""
    model, small = target("40m", torch.float32), draft(NAME)
    tasks = {
        "draft": pass_task(small, 1, batch),
        "target": pass_task(model, k + 1, batch),
        "block": block_task(model, small, batch, k),
    }
    seconds = {key: statistics.median(times) for key, times in interleaved(tasks, 7).items()}
    predicted = k * seconds["draft"] + seconds["target"]
    return seconds["block"] / predicted - 1


def block_task(model: Llama, small: Llama, batch: int, k: int) -> Callable[[], list[Block]]:
    """One block of speculative decoding after a context, a new one with every call."""
    prompts = [[1 + row, *range(2, CONTEXT + 1)] for row in range(batch)]
    settings, drafter = Settings(model.max_length - CONTEXT - k, SAMPLED), ModelDrafter(small)
    run = start_run(model, drafter, prompts, settings, model.max_length)
    drawn = choices(SAMPLED, seed=0, rows=batch)
    return lambda: decode_block(run, drafter, k, drawn)
