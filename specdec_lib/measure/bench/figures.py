"""What the bench compares: plain decoding, ours, and Hugging Face's two, each as it is fastest."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import NamedTuple

import pandas as pd
import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import dtype_name
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure import hugging
from specdec_lib.measure.compare import Decoder, compare
from specdec_lib.measure.costs import K_MAX, Measured, costs_by_dtype
from specdec_lib.measure.models import accepted, draft, dtypes, target
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.runs import GREEDY, SAMPLED, plain, speculative, straight
from specdec_lib.measure.timing import interleaved
from specdec_lib.sampling import Warp

POOL = 300  # held-out prompts to choose from
PROMPTS, TOKENS, ROUNDS = 8, 64, 2  # of a comparison
PASSES = {"234m": 20, None: 200}  # rounds of bare passes: about ten seconds
TRIED_K = (None, 1, 2, 3, 4, 6)  # None: as transformers drafts by default
SHORT, NEAR = 16, 1.25  # tokens of the first trial; over the fastest there, to be tried again

PLAIN, OURS = "best plain", "speculative"
GENERATE, ASSISTED = "HF generate", "HF assisted"
# The target's cost (None: as it is) and the temperature.
COMPARISONS = {
    "234M cost, T = 1": ("234m", SAMPLED),
    "234M cost, greedy": ("234m", GREEDY),
    "built-in pair, greedy": (None, GREEDY),
}
# By key of the JSON: a comparison, and what ours is held against there.
FIGURES = {
    "cost234m_vs_best_plain_sampled": ("234M cost, T = 1", PLAIN),
    "cost234m_vs_best_plain_greedy": ("234M cost, greedy", PLAIN),
    "cost234m_vs_hf_generate": ("234M cost, greedy", GENERATE),
    "cost234m_vs_hf_assisted": ("234M cost, greedy", ASSISTED),
    "builtin_vs_hf_generate": ("built-in pair, greedy", GENERATE),
    "builtin_vs_hf_assisted": ("built-in pair, greedy", ASSISTED),
}


class Choice(NamedTuple):
    """A dtype, a draft and a K, and the tokens a second that the cost model expects."""

    dtype: torch.dtype
    draft: str
    k: int
    speed: float


def measured(size: str | None, warp: Warp) -> tuple[pd.DataFrame, list[str]]:
    """PLAIN, OURS and, if greedy, Hugging Face's two by turns; and how each of them runs."""
    passes = bare_passes(size)
    best = best_choice(passes, warp)
    own = min(passes, key=lambda dtype: passes[dtype][1])  # plain decoding's own best dtype
    ours = f"{dtype_name(best.dtype)}, {best.draft} draft, K = {best.k}"
    how = {PLAIN: dtype_name(own), OURS: ours}
    drafter, chosen = ModelDrafter(draft(best.draft)), prompts_for(warp, best.dtype)
    decoders = {
        PLAIN: plain(target(size, own), warp, TOKENS),
        OURS: speculative(target(size, best.dtype), drafter, best.k, warp, TOKENS),
    }
    if warp == GREEDY:
        for side, small in ((GENERATE, None), (ASSISTED, best.draft)):
            how[side], decoders[side] = fastest(partial(ways, size, small), chosen[0])
    frame = compare(decoders, chosen, rounds=ROUNDS)
    return frame, [f"{side}: {each}" for side, each in how.items()]


@cache
def bare_passes(size: str | None) -> dict[torch.dtype, Measured]:
    """c and v of every draft and the seconds of a plain pass, by dtype, all interleaved."""
    targets = {dtype: target(size, dtype) for dtype in dtypes()}
    return costs_by_dtype(targets, {name: draft(name) for name in BUILT_IN_DRAFTS}, PASSES[size])


def best_choice(passes: Mapping[torch.dtype, Measured], warp: Warp) -> Choice:
    """The choice with the most tokens a second, by the cost model E / (c K + v(K+1))."""
    rates = {name: accepted(name) for name in BUILT_IN_DRAFTS}
    alphas = {name: each.greedy if warp == GREEDY else each.alpha for name, each in rates.items()}
    choices = [
        Choice(dtype, name, k, costs.speedup(alphas[name], k) / seconds)
        for dtype, (by_draft, seconds) in passes.items()
        for name, costs in by_draft.items()
        for k in range(1, K_MAX + 1)
    ]
    return max(choices, key=lambda choice: choice.speed)


def prompts_for(warp: Warp, dtype: torch.dtype) -> Sequence[list[int]]:
    """Held-out prompts; for greedy figures, those whose text does not run in circles.

    The built-in target finds them, in the dtype that is measured: the texts of two dtypes part.
    """
    if warp != GREEDY:
        return prompts(PROMPTS)
    return straight(plain(target(None, dtype), GREEDY, TOKENS), prompts(POOL), PROMPTS)


def fastest(ways: Callable[[int], dict[str, Decoder]], trial: list[int]) -> tuple[str, Decoder]:
    """The fastest of Hugging Face's `ways` to write TOKENS tokens after `trial`, its name first.

    Ways that take much longer than the fastest for a few tokens are not tried on a whole text.
    """
    seconds = least_seconds(ways(SHORT), trial)
    near = [name for name in seconds if seconds[name] <= NEAR * min(seconds.values())]
    whole = {name: way for name, way in ways(TOKENS).items() if name in near}
    seconds = least_seconds(whole, trial)
    name = min(seconds, key=lambda name: seconds[name])
    return name, whole[name]


def least_seconds(ways: Mapping[str, Decoder], trial: list[int]) -> dict[str, float]:
    """The shortest time that each took after `trial`."""
    tasks = {name: partial(way, trial) for name, way in ways.items()}
    return {name: min(times) for name, times in interleaved(tasks, 2, warm_up=0).items()}


def ways(size: str | None, small: str | None, tokens: int) -> dict[str, Decoder]:
    """All dtypes of Hugging Face's target, by name; assisted by `small`, its dtypes and all K."""
    found: dict[str, Decoder] = {}
    for dtype in dtypes():
        model, name = hugging_target(size or "built-in", dtype), dtype_name(dtype)
        run = partial(hugging.generate, model, new_tokens=tokens)
        if small is None:
            found[name] = run
            continue
        for helper, k in product(dtypes(), TRIED_K):
            assisted = partial(run, draft=hugging_draft(ASSETS / small, helper), k=k)
            drafting = hugging.Drafting.of(k)
            how = f"{name}, {small} draft in {dtype_name(helper)}, {drafting}"
            found[how] = assisted
    return found


# Kept, since two comparisons hold ours against the same models.
hugging_target = cache(hugging.Counted.of_target)
hugging_draft = cache(hugging.Counted.of_folder)
