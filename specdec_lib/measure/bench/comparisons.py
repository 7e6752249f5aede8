"""Decoders against each other: ours over plain decoding, and ours over Hugging Face's."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.measure import hugging
from specdec_lib.measure.bench.sizes import BATCH, size_for
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.models import target
from specdec_lib.measure.core.runs import GREEDY, SAMPLED, Decoder
from specdec_lib.measure.core.timing import Key, Spread, interleaved
from specdec_lib.measure.drafters.bound import (
    Draft,
    PassCosts,
    best_option,
    decoder_of,
    drafts_for,
    options,
    pass_costs,
)
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp

TRIED_K = (None, 1, 2, 3, 4, 6)  # None: the heuristic of transformers
SHORT, NEAR = 16, 1.25  # tokens of the first trial; over the fastest there, to be tried again
DRAFT_ROUNDS = 5  # of a draft by itself, a tenth of a second each


def over_plain(bench: Workbench, wanted: str | None, warp: Warp) -> Spread:
    """Our speculative over our plain decoding, both in the dtype that suits speculation best."""
    size = size_for(bench, wanted)
    best = bench.best(size, warp)
    return bench.over_plain(size, warp, best, best.dtype)


def over_best_plain(bench: Workbench, wanted: str | None, warp: Warp) -> Spread:
    """Our speculative over our plain decoding, each in the dtype that suits it best."""
    size = size_for(bench, wanted)
    return bench.over_plain(size, warp, bench.best(size, warp), bench.best_plain(size))


def family_over_best_plain(bench: Workbench, wanted: str, warp: Warp) -> Spread:
    """The best chain or tree of all drafts over our plain decoding, each in its best dtype.

    The cost model chooses it from measured passes and from its acceptance on the prompts.
    """
    size, dtype = size_for(bench, wanted), bench.best(wanted, warp).dtype
    model, prompts = target(size, dtype, bench.device), bench.prompts_for(warp, dtype)
    drafts, costs = bench.once(("family", size, dtype), lambda: drafts_and_costs(model))
    best = best_option(drafts, costs, prompts, bench.tokens, warp)
    bench.note(
        f"{bench.where(size)}, the best of the family at temperature {warp.temperature:g}: "
        f"{best.option.draft}, {best.option.setting}; {best.tokens:.2f} tokens a block, drafting "
        f"{best.drafting:.2f}, v = {best.verifying:.2f}; expected {best.speed:.2f} times plain"
    )
    return bench.compare(
        f"{bench.where(size)} over plain, the best of the family at temperature "
        f"{warp.temperature:g}",
        bench.decoder(size, bench.best_plain(size), warp),
        decoder_of(best.option, drafts, model, warp, bench.tokens),
        prompts,
    )


def drafts_and_costs(model: Llama) -> tuple[dict[str, Draft], PassCosts]:
    """The drafts of the family beside `model`, and the seconds of every pass of theirs and its."""
    drafts = drafts_for(model)
    return drafts, pass_costs(model, drafts, options(drafts))


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
    """Our speculative over Hugging Face on the same weights, greedy, each as it is fastest.

    On a CPU theirs may be in bfloat16 also where ours may not: torch's own products differ.
    """
    size = size_for(bench, wanted)
    best = bench.best(size, GREEDY, dtypes)
    theirs, name = fastest_hugging(
        {
            dtype: hugging_target(size or "built-in", dtype, bench.device)
            for dtype in dtypes or their_dtypes(bench)
        },
        bench.prompts_for(GREEDY, best.dtype)[0],
        bench.tokens,
        best.draft if assisted else None,
    )
    what = f"Hugging Face {'assisted' if assisted else 'generate'}, {name}"
    ours = bench.decoder(size, best.dtype, GREEDY, best.draft, best.k)
    prompts = bench.prompts_for(GREEDY, best.dtype)
    return bench.compare(f"{bench.where(size)} over {what}", theirs, ours, prompts)


def their_dtypes(bench: Workbench) -> Sequence[torch.dtype]:
    """What Hugging Face's model may be fastest in."""
    return bench.dtypes if bench.captured else (torch.float32, torch.bfloat16)


# Kept, since several figures hold ours against the same model.
hugging_target = cache(hugging.Counted.of_target)
hugging_draft = cache(hugging.Counted.of_folder)


def fastest_hugging(
    targets: Mapping[torch.dtype, hugging.Counted], trial: list[int], tokens: int, draft: str | None
) -> tuple[Decoder, str]:
    """The fastest way to `generate` on `trial`: of all dtypes and, assisted by `draft`, all K.

    The draft runs in the dtype in which it writes fastest by itself. Ways that take much longer
    than the fastest for a few tokens are not tried on a whole text.
    """
    helper = fastest_draft(targets, trial, draft) if draft else None
    short = ways(targets, min(tokens, SHORT), helper)
    seconds = least_seconds(short, trial, rounds=2)
    near = [name for name in short if seconds[name] <= NEAR * min(seconds.values())]
    whole = {name: way for name, way in ways(targets, tokens, helper).items() if name in near}
    seconds = least_seconds(whole, trial, rounds=2) if len(whole) > 1 else {}
    best = min(whole, key=lambda name: seconds.get(name, 0.0))
    return whole[best], best


class Helper(NamedTuple):
    """A draft of Hugging Face's assisted generation."""

    name: str
    model: hugging.Counted


def fastest_draft(
    targets: Mapping[torch.dtype, hugging.Counted], trial: list[int], draft: str
) -> Helper:
    """The draft in that dtype of `targets` in which it writes after `trial` fastest."""
    drafts = {
        dtype: hugging_draft(ASSETS / draft, dtype, model.model.device)
        for dtype, model in targets.items()
    }
    alone = {
        dtype: partial(hugging.generate, model, new_tokens=SHORT) for dtype, model in drafts.items()
    }
    seconds = least_seconds(alone, trial, DRAFT_ROUNDS) if len(alone) > 1 else {}
    dtype = min(drafts, key=lambda dtype: seconds.get(dtype, 0.0))
    return Helper(f"{draft} draft in {dtype}", drafts[dtype])


def least_seconds(ways: Mapping[Key, Decoder], trial: list[int], rounds: int) -> dict[Key, float]:
    """The shortest time that each took after `trial`."""
    tasks = {name: partial(way, trial) for name, way in ways.items()}
    return {name: min(times) for name, times in interleaved(tasks, rounds, warm_up=0).items()}


def ways(
    targets: Mapping[torch.dtype, hugging.Counted], tokens: int, helper: Helper | None
) -> dict[str, Decoder]:
    """By name all dtypes and, assisted by `helper`, all K."""
    found: dict[str, Decoder] = {}
    for dtype, model in targets.items():
        run = partial(hugging.generate, model, new_tokens=tokens)
        if helper is None:
            found[str(dtype)] = run
            continue
        for k in TRIED_K:
            label = f"{dtype}, {helper.name}, K = {k or 'by its heuristic'}"
            found[label] = partial(run, draft=helper.model, k=k)
    return found
