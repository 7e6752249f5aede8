"""Decoders against each other: ours over plain decoding, and ours over Hugging Face's."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import product

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.measure import hugging
from specdec_lib.measure.bench.sizes import BATCH, size_for
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.runs import GREEDY, SAMPLED, Decoder
from specdec_lib.measure.core.timing import Spread, interleaved
from specdec_lib.sampling import Warp

TRIED_K = (None, 1, 2, 3, 4, 6)  # None: the heuristic of transformers


def over_plain(bench: Workbench, wanted: str | None, warp: Warp) -> Spread:
    """Our speculative over our plain decoding, both in the dtype that suits speculation best."""
    size = size_for(bench, wanted)
    best = bench.best(size, warp)
    return bench.compare(
        f"{bench.where(size)} over plain at temperature {warp.temperature:g}",
        bench.decoder(size, best.dtype, warp),
        bench.decoder(size, best.dtype, warp, best.draft, best.k),
        bench.prompts_for(warp, best.dtype),
    )


def batch_over_plain(bench: Workbench, wanted: str) -> Spread:
    """As `over_plain`, at temperature 1, for BATCH texts at once."""
    size = size_for(bench, wanted)
    best = bench.best(size, SAMPLED, batch=BATCH)
    pool = list(bench.pool[: BATCH * bench.most])
    return bench.compare(
        f"{bench.where(size)} over plain, {BATCH} rows",
        bench.decoder(size, best.dtype, SAMPLED, batch=True),
        bench.decoder(size, best.dtype, SAMPLED, best.draft, best.k, batch=True),
        [pool[first : first + BATCH] for first in range(0, len(pool) - BATCH + 1, BATCH)],
    )


def over_hugging(
    bench: Workbench,
    wanted: str | None,
    dtypes: Sequence[torch.dtype] | None = None,
    assisted: bool = True,
) -> Spread:
    """Our speculative over Hugging Face on the same weights, greedy, each as it is fastest."""
    size, dtypes = size_for(bench, wanted), dtypes or bench.dtypes
    best = bench.best(size, GREEDY, dtypes)
    theirs, name = fastest_hugging(
        {dtype: hugging_target(size, dtype, bench.device) for dtype in dtypes},
        bench.prompts_for(GREEDY, dtypes[0])[0],
        bench.tokens,
        best.draft if assisted else None,
    )
    what = f"Hugging Face {'assisted' if assisted else 'generate'}, {name}"
    ours = bench.decoder(size, best.dtype, GREEDY, best.draft, best.k)
    prompts = bench.prompts_for(GREEDY, best.dtype)
    return bench.compare(f"{bench.where(size)} over {what}", theirs, ours, prompts)


# Kept, since on a GPU several figures hold ours against the same model.
hugging_target = cache(hugging.Counted.of_target)


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
