"""The figures of a GPU, by the rules of all figures: `bench.card` says where they are measured.

Both sides are captured: our speculative decoding is held against our plain decoding in the same
graphs. c and v come from captured bare passes in rounds of their own.
"""

from specdec_lib.device import default_dtype
from specdec_lib.measure.bench.comparisons import fastest_hugging, run_comparison
from specdec_lib.measure.bench.cost_model import NAME, SHARE_PROMPTS, in_words, shares_of
from specdec_lib.measure.bench.gpu import (
    BATCH,
    best_on,
    bytes_a_step,
    graph_costs,
    graphs,
    hugging_on,
    layers_on,
    size_for,
    target_on,
)
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.costs import K_MAX
from specdec_lib.measure.core.runs import GREEDY, SAMPLED
from specdec_lib.measure.core.timing import Spread, spread
from specdec_lib.measure.doctor.machine import copy_bandwidth
from specdec_lib.sampling import Warp


def bandwidth_share(bench: Workbench, wanted: str) -> Spread:
    """Bytes that plain decoding reads a second, over the measured copy bandwidth, greedy.

    The steps are timed behind the prompt, what the host does between them included.
    """
    size, dtype = size_for(bench, wanted), default_dtype(bench.card)
    prompts, model = (
        bench.prompts_for(GREEDY, dtype, bench.card),
        target_on(size, dtype, bench.card),
    )
    decode, shares, rates = graphs(bench, size, None, 0, GREEDY), [], []
    decode(prompts[0])  # captures
    for prompt in prompts:
        made, copied = decode(prompt), copy_bandwidth(bench.card)
        read = bytes_a_step(model, prompt, bench.tokens) * made.target_passes
        rates.append(copied)
        shares.append(read / made.seconds / copied)
    found, layers = spread(shares), layers_on(bench.card, bench.mode).reason
    bench.notes.append(
        f"{bench.card} at {size}, share of the copy bandwidth "
        f"({spread(rates).median / 1e9:,.0f} GB/s): {found}; {layers}"
    )
    return found


def over_plain(bench: Workbench, wanted: str, warp: Warp) -> Spread:
    """Our captured speculative decoding over our captured plain decoding."""
    size = size_for(bench, wanted)
    best = best_on(bench, size, warp)
    return run_comparison(
        bench,
        f"{bench.card} at {size} over plain at temperature {warp.temperature:g}",
        graphs(bench, size, None, 0, warp),
        graphs(bench, size, best.draft, best.k, warp),
        bench.prompts_for(warp, best.dtype, bench.card),
    )


def batch_over_plain(bench: Workbench, wanted: str) -> Spread:
    """As `over_plain`, at temperature 1, for BATCH texts at once."""
    size = size_for(bench, wanted)
    best = best_on(bench, size, SAMPLED, batch=BATCH)
    pool = list(bench.pool[: BATCH * bench.most])
    return run_comparison(
        bench,
        f"{bench.card} at {size} over plain, {BATCH} rows",
        graphs(bench, size, None, 0, SAMPLED, rows=BATCH),
        graphs(bench, size, best.draft, best.k, SAMPLED, rows=BATCH),
        [pool[first : first + BATCH] for first in range(0, len(pool) - BATCH + 1, BATCH)],
    )


def over_hugging(bench: Workbench, wanted: str) -> Spread:
    """Our captured speculative decoding over assisted generation on the same tensors, greedy."""
    size, dtype = size_for(bench, wanted), default_dtype(bench.card)
    best = best_on(bench, size, GREEDY)
    prompts = bench.prompts_for(GREEDY, dtype, bench.card)
    targets = {dtype: hugging_on(size, dtype, bench.card)}
    theirs, name = fastest_hugging(targets, prompts[0], bench.tokens, best.draft)
    what = f"{bench.card} at {size} over Hugging Face assisted, {name}"
    ours = graphs(bench, size, best.draft, best.k, GREEDY)
    return run_comparison(bench, what, theirs, ours, prompts)


def share_of_bound(bench: Workbench, wanted: str) -> float:
    """The least share of E / (c K + v(K+1)) over K = 1..8, greedy and at temperature 1."""
    size, dtype = size_for(bench, wanted), default_dtype(bench.card)
    costs, _ = graph_costs(size, NAME, bench.card, bench.mode)
    least = []
    for warp in (GREEDY, SAMPLED):
        decoders = {k: graphs(bench, size, NAME, k, warp) for k in range(1, K_MAX + 1)}
        decoders[0] = graphs(bench, size, None, 0, warp)
        prompts = bench.prompts_for(warp, dtype, bench.card)[:SHARE_PROMPTS]
        shares = shares_of(costs, decoders, prompts)
        name = f"{bench.card} at {size}, temperature {warp.temperature:g}"
        bench.notes.append(in_words(name, shares, costs))
        least.append(min(shares))
    return min(least)
