"""The cost model E / (c K + v(K+1)) against what the decoder takes."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import torch
from tqdm import tqdm

from specdec_lib.decoding.generate import start_run
from specdec_lib.decoding.speculative import decode_block
from specdec_lib.decoding.state import Block, Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.costs import CONTEXT, K_MAX, Task, pass_tasks, relative
from specdec_lib.measure.core.models import draft, target
from specdec_lib.measure.core.runs import SAMPLED, Decoder, Recorded, choices
from specdec_lib.measure.core.timing import Picked, interleaved, timed
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs

NAME = "large"  # the draft with most to lose: its passes cost most
SHARE_PROMPTS = {"40m": 7}  # of other sizes FEW: a round at this one takes some seconds
FEW = 3
BATCHES, KS = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8)  # of the cost model
BLOCK_ROUNDS = 7


def share_of_bound(bench: Workbench, warp: Warp) -> Picked:
    """The least share of the bound that we reach, over K = 1..8 and two sizes."""
    best = bench.best("234m", warp).dtype
    return least(shares(bench, "40m", torch.float32, warp) | shares(bench, "234m", best, warp))


def least(values: Mapping[str, float]) -> Picked:
    """The least of `values`."""
    return Picked(min(values.values()), values)


def shares(bench: Workbench, size: str, dtype: torch.dtype, warp: Warp) -> dict[str, float]:
    """The share of the bound for every K, the median over the rounds, by setting."""
    decoders = {0: bench.decoder(size, dtype, warp)}
    decoders |= {k: bench.decoder(size, dtype, warp, NAME, k) for k in range(1, K_MAX + 1)}
    passes = bench.passes(size, dtype, NAME, K_MAX)
    prompts = bench.prompts_for(warp, dtype)[: SHARE_PROMPTS.get(size, FEW)]
    rounds = shares_by_round(passes, decoders, prompts)
    name = f"{size}, {dtype}, temperature {warp.temperature:g}"
    bench.notes.append(in_words(name, rounds))
    return {f"{name}, K = {k}": share for k, share in medians(rounds).items()}


class Round(NamedTuple):
    """The share of the bound by K, and c and v of the same minute."""

    shares: dict[int, float]
    costs: Costs


def shares_by_round(
    passes: Mapping[int | str, Task],
    decoders: Mapping[int, Decoder],
    prompts: Sequence[list[int]],
) -> list[Round]:
    """A round for every prompt.

    `passes` are those of `costs.in_turn`, with the one draft NAME; decoder 0 is plain decoding.
    """
    interleaved(passes, 1, warm_up=0)  # what is done for the first time is slower
    return [one_round(passes, decoders, each) for each in tqdm(prompts, desc="rounds", leave=False)]


def one_round(
    passes: Mapping[int | str, Task], decoders: Mapping[int, Decoder], prompt: list[int]
) -> Round:
    """Measured speedup over E / (c K + v(K+1)) for every K above 0 in `decoders`, after `prompt`.

    All bare passes are done once after each decoder, so that c and v are those of a machine that is
    as fast as it was for the decoders. E is how many tokens the timed blocks brought.
    """
    times: dict[int | str, list[float]] = {key: [] for key in passes}
    seconds, brought = {}, {}
    for k, decoder in decoders.items():
        recorded = Recorded(decoder)
        seconds[k] = timed(partial(recorded, prompt))
        brought[k] = recorded.tokens_a_block
        for key, taken in interleaved(passes, 1, warm_up=0).items():
            times[key] += taken
    costs = relative(times)[0][NAME]
    bounds = {k: brought[k] / (costs.c * k + costs.v[k + 1]) for k in decoders if k}
    return Round({k: seconds[0] / seconds[k] / bound for k, bound in bounds.items()}, costs)


def medians(rounds: Sequence[Round]) -> dict[int, float]:
    """The median share over the rounds, by K."""
    return {k: statistics.median(each.shares[k] for each in rounds) for k in rounds[0].shares}


def in_words(name: str, rounds: Sequence[Round]) -> str:
    """The shares for K = 1, 2 and so on, and how far c and v of the rounds are apart, in a line."""
    listed = medians(rounds)
    c = [each.costs.c for each in rounds]
    v = [each.costs.v[max(listed) + 1] for each in rounds]
    return (
        f"share of the bound at {name}, K = 1 to {max(listed)}: "
        f"{', '.join(f'{share:.2f}' for share in listed.values())} "
        f"(rounds: {len(rounds)}, c = {min(c):.3f} to {max(c):.3f}, "
        f"v({max(listed) + 1}) = {min(v):.2f} to {max(v):.2f})"
    )


def model_error(bench: Workbench) -> Picked:
    """The median relative error of K draft passes and one verification as the time of a block.

    At the 40M cost in float32, batches of 1 to 32 and K of 1 to 8; the passes are bare ones over
    as many rows, interleaved with the blocks. The largest error is in the notes.
    """
    errors = {}
    for batch in tqdm(BATCHES, desc="batches", leave=False):
        errors |= {f"batch {batch}, K = {k}": each for k, each in block_errors(batch).items()}
    worst = max(errors, key=lambda key: abs(errors[key]))
    middle = statistics.median(map(abs, errors.values()))
    bench.notes.append(
        f"cost model, median error: {middle:.1%}; the largest {errors[worst]:+.1%} at {worst}"
    )
    return Picked(middle, errors)


def block_errors(batch: int) -> dict[int, float]:
    """(measured - predicted) / predicted time of a block by K, the median over BLOCK_ROUNDS."""
    model, small = target("40m", torch.float32), draft(NAME)
    step = pass_tasks(small, [1], batch)[1]
    verify = pass_tasks(model, [k + 1 for k in KS], batch)
    errors = {}
    for k in KS:
        block = block_task(model, small, batch, k)
        tasks = {"draft": step, "target": verify[k + 1], "block": block}
        errors[k] = error_of(interleaved(tasks, BLOCK_ROUNDS), k)
    return errors


def error_of(times: Mapping[str, Sequence[float]], k: int) -> float:
    """The median relative error over rounds of a draft pass, a target pass and a block each."""
    rounds = zip(times["draft"], times["target"], times["block"], strict=True)
    return statistics.median(block / (k * step + verify) - 1 for step, verify, block in rounds)


def block_task(model: Llama, small: Llama, batch: int, k: int) -> Callable[[], list[Block]]:
    """One block of speculative decoding after a context, a new one with every call."""
    prompts = [[1 + row, *range(2, CONTEXT + 1)] for row in range(batch)]
    settings, drafter = Settings(model.max_length - CONTEXT - k, SAMPLED), ModelDrafter(small)
    run = start_run(model, drafter, prompts, settings, model.max_length)
    drawn = choices(SAMPLED, seed=0, rows=batch)
    return lambda: decode_block(run, drafter, k, drawn)
