"""Decoders against each other: ours over plain decoding, and ours over Hugging Face's."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.measure import hugging
from specdec_lib.measure.bench.workbench import BUILT_IN, Workbench
from specdec_lib.measure.core.runs import GREEDY, Decoder
from specdec_lib.measure.core.timing import Key, Spread, interleaved
from specdec_lib.sampling import Warp

TRIED_K = (None, 1, 2, 3, 4, 6)  # None: the heuristic of transformers
SHORT, NEAR = 16, 1.25  # tokens of the first trial; over the fastest there, to be tried again
THEIRS = torch.float32, torch.bfloat16  # what Hugging Face's target may be fastest in
DRAFT_ROUNDS = 5  # of a draft by itself, a tenth of a second each


def over_plain(bench: Workbench, size: str | None, warp: Warp) -> Spread:
    """Our speculative over our plain decoding, both in the dtype that suits speculation best."""
    best = bench.best(size, warp)
    return bench.over_plain(size, warp, best, best.dtype)


def over_best_plain(bench: Workbench, size: str | None, warp: Warp) -> Spread:
    """Our speculative over our plain decoding, each in the dtype that suits it best."""
    return bench.over_plain(size, warp, bench.best(size, warp), bench.best_plain(size))


def over_hugging(
    bench: Workbench,
    size: str | None,
    dtypes: Sequence[torch.dtype] | None = None,
    assisted: bool = True,
) -> Spread:
    """Our speculative over Hugging Face on the same weights, greedy, each as it is fastest.

    Theirs may be in bfloat16 also where ours may not: torch's own products differ.
    """
    best = bench.best(size, GREEDY, dtypes)
    theirs, name = fastest_hugging(
        {dtype: hugging_target(size or "built-in", dtype) for dtype in dtypes or THEIRS},
        bench.prompts_for(GREEDY, best.dtype)[0],
        bench.tokens,
        best.draft if assisted else None,
    )
    what = f"Hugging Face {'assisted' if assisted else 'generate'}, {name}"
    ours = bench.decoder(size, best.dtype, GREEDY, best.draft, best.k)
    prompts = bench.prompts_for(GREEDY, best.dtype)
    return bench.compare(f"{size or BUILT_IN} over {what}", theirs, ours, prompts)


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
    drafts = {dtype: hugging_draft(ASSETS / draft, dtype) for dtype in targets}
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
