"""Decoders against each other: ours over plain decoding, and ours over Hugging Face's."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.measure import hugging
from specdec_lib.measure.bench.workbench import Workbench, target
from specdec_lib.measure.core.runs import GREEDY, Decoder, Recorded, compare, plain, speculative
from specdec_lib.measure.core.timing import Spread, interleaved
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.scale import COSTS, grown
from specdec_lib.sampling import Warp

TRIED_K = (None, 1, 2, 3, 4, 6)  # None: the heuristic of transformers


def over_plain(bench: Workbench, cost: str | None, warp: Warp) -> Spread:
    """Our speculative over our plain decoding, both in the dtype that suits speculation best."""
    best = bench.best(cost, warp)
    model = target(cost, best.dtype)
    return run_comparison(
        bench,
        f"{cost or 'built-in'} over plain at temperature {warp.temperature:g}",
        plain(model, warp, bench.tokens),
        speculative(model, best.drafter, best.k, warp, bench.tokens),
        bench.prompts_for(warp, best.dtype),
    )


def run_comparison(
    bench: Workbench, name: str, slower: Decoder, faster: Decoder, prompts: Sequence[list[int]]
) -> Spread:
    """`compare`, with a note of what the prompts and the passes were."""
    sides = Recorded(slower), Recorded(faster)
    found = compare(*sides, prompts)
    bench.notes.append(
        f"{name}: {found}, {len(prompts)} prompts, {sides[1].repeated:.0%} repeated "
        f"8-grams; tokens a target pass {sides[1].tokens_a_block:.2f} against "
        f"{sides[0].tokens_a_block:.2f}"
    )
    return found


def over_hugging(
    bench: Workbench, cost: str | None, dtypes: tuple[torch.dtype, ...], assisted: bool
) -> Spread:
    """Our speculative over Hugging Face on the same weights, greedy, each as it is fastest."""
    best = bench.best(cost, GREEDY, dtypes)
    ours = speculative(target(cost, best.dtype), best.drafter, best.k, GREEDY, bench.tokens)
    theirs, name = fastest_hugging(
        {dtype: hugging_target(cost, dtype) for dtype in dtypes},
        bench.prompts_for(GREEDY, dtypes[0])[0],
        bench.tokens,
        best.draft if assisted else None,
    )
    what = f"{cost or 'built-in'} over Hugging Face {'assisted' if assisted else 'generate'}"
    prompts = bench.prompts_for(GREEDY, best.dtype)
    return run_comparison(bench, f"{what}, {name}", theirs, ours, prompts)


def fastest_hugging(
    targets: Mapping[torch.dtype, hugging.Counted], trial: list[int], tokens: int, draft: str | None
) -> tuple[Decoder, str]:
    """The fastest way to `generate` on `trial`: of all dtypes and, assisted by `draft`, all K."""
    tasks: dict[str, Decoder] = {}
    for dtype, model in targets.items():
        run = partial(hugging.generate, model, new_tokens=tokens)
        if draft is None:
            tasks[str(dtype)] = run
            continue
        for draft_dtype, k in product(targets, TRIED_K):
            helper = hugging.Counted.of_folder(ASSETS / draft, draft_dtype, model.model.device)
            label = f"{dtype}, {draft} draft in {draft_dtype}, K = {k or 'by its heuristic'}"
            tasks[label] = partial(run, draft=helper, k=k)
    seconds = interleaved({name: partial(run, trial) for name, run in tasks.items()}, rounds=2)
    best = min(tasks, key=lambda name: min(seconds[name]))
    return tasks[best], best


def hugging_target(
    cost: str | None, dtype: torch.dtype, device: torch.device | str = "cpu"
) -> hugging.Counted:
    """The same target in transformers."""
    if cost is None:
        return hugging.Counted.of_folder(ASSETS / "target", dtype, device)
    weights = grown(read_weights(ASSETS / "target", device, dtype), COSTS[cost])
    return hugging.Counted.of_weights(weights)
