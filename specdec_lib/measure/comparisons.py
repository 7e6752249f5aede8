"""Decoders against each other: ours over plain decoding, and ours over Hugging Face's."""

import tempfile
from functools import partial
from pathlib import Path

import torch

from specdec_lib.measure import hugging
from specdec_lib.measure.runs import GREEDY, Decoder, compare, plain, speculative
from specdec_lib.measure.timing import Spread, interleaved
from specdec_lib.measure.workbench import Workbench, target
from specdec_lib.models.checkpoint import read_weights, write_weights
from specdec_lib.models.pairs import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.models.scale import COSTS, grown
from specdec_lib.sampling import Warp


def over_plain(bench: Workbench, cost: str | None, warp: Warp) -> Spread:
    """Our speculative over our plain decoding, both in the dtype that suits speculation best."""
    best = bench.best(cost, warp)
    model = target(cost, best.dtype)
    return run_comparison(
        bench,
        f"{cost or 'built-in'} over plain at temperature {warp.temperature:g}",
        plain(model, warp, bench.tokens),
        speculative(model, best.drafter, best.k, warp, bench.tokens),
        greedy=warp == GREEDY,
    )


def run_comparison(
    bench: Workbench, name: str, slower: Decoder, faster: Decoder, greedy: bool = True
) -> Spread:
    """`compare`, with a note of what the prompts were like."""
    found = compare(slower, faster, bench.prompts, greedy)
    bench.notes.append(
        f"{name}: {found.speedup}, {len(found.used)} prompts, {found.repeated:.0%} repeated 8-grams"
    )
    return found.speedup


def over_hugging(
    bench: Workbench, cost: str | None, dtypes: tuple[torch.dtype, ...], assisted: bool
) -> Spread:
    """Our speculative over Hugging Face on the same weights, greedy, each as it is fastest."""
    best = bench.best(cost, GREEDY, dtypes)
    ours = speculative(target(cost, best.dtype), best.drafter, best.k, GREEDY, bench.tokens)
    theirs, name = fastest_hugging(bench, cost, dtypes, assisted)
    what = f"{cost or 'built-in'} over Hugging Face {'assisted' if assisted else 'generate'}"
    return run_comparison(bench, f"{what}, {name}", theirs, ours)


def fastest_hugging(
    bench: Workbench, cost: str | None, dtypes: tuple[torch.dtype, ...], assisted: bool
) -> tuple[Decoder, str]:
    """The fastest way to `generate`, of all dtypes and, assisted, drafts and K, on two prompts."""
    tasks: dict[str, Decoder] = {}
    for dtype in dtypes:
        model = hugging_target(cost, dtype)
        run = partial(hugging.generate, model, new_tokens=bench.tokens)
        if not assisted:
            tasks[str(dtype)] = run
            continue
        for name in BUILT_IN_DRAFTS:
            helper = hugging.Counted(ASSETS / name, dtype)
            for k in (None, 1, 2, 3, 4, 6, 8):
                label = f"{dtype}, {name} draft, K = {k or 'by its heuristic'}"
                tasks[label] = partial(run, draft=helper, k=k)
    trial = bench.prompts[:2]
    seconds = interleaved(
        {label: partial(each_of, run, trial) for label, run in tasks.items()}, rounds=2
    )
    best = min(tasks, key=lambda label: min(seconds[label]))
    return tasks[best], best


def each_of(run: Decoder, prompts: list[list[int]]) -> None:
    """Run on every prompt."""
    for prompt in prompts:
        run(prompt)


def hugging_target(cost: str | None, dtype: torch.dtype) -> hugging.Counted:
    """The same target in transformers."""
    if cost is None:
        return hugging.Counted(ASSETS / "target", dtype)
    weights = grown(read_weights(ASSETS / "target", "cpu", torch.float32), COSTS[cost])
    with tempfile.TemporaryDirectory() as folder:
        write_weights(weights, Path(folder))
        return hugging.Counted(Path(folder), dtype)
