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
from specdec_lib.measure.acceptance import Acceptance, acceptance, model_reader
from specdec_lib.measure.compare import Decoder, compare
from specdec_lib.measure.costs import (
    LARGEST_K,
    DraftCosts,
    costs_from_times,
    interleave_draft_steps,
)
from specdec_lib.measure.hugging import AssistantSettings, CountedModel, hf_generate
from specdec_lib.measure.library_decoders import GREEDY, SAMPLED, plain, speculative
from specdec_lib.measure.models import load_draft, load_target, target_dtypes
from specdec_lib.measure.prompts import encoded_documents, prompts, without_repetition
from specdec_lib.measure.timing import interleaved_times
from specdec_lib.sampling import Warp

BENCH_PROMPTS, BENCH_TOKENS, BENCH_ROUNDS = 8, 64, 2  # of a comparison
TRIED_K = (None, 1, 2, 3, 4, 6)  # None: as transformers drafts by default
_POOL = 300  # held-out prompts to choose from
_PASSES = {"234m": 20, None: 200}  # rounds of bare passes: about ten seconds
_TRIAL_TOKENS = 16  # of the first trial of Hugging Face's decoders
_NEARLY_FASTEST = 1.25  # over the fastest there, to be tried again

BEST_PLAIN, SPECULATIVE = "best plain", "speculative"
BEST_GENERATE, BEST_ASSISTED = "HF generate", "HF assisted"
# The target's cost (None: as it is) and the temperature.
COMPARISONS = {
    "234M cost, T = 1": ("234m", SAMPLED),
    "234M cost, greedy": ("234m", GREEDY),
    "built-in pair, greedy": (None, GREEDY),
}

LoadCounted = Callable[[torch.dtype], CountedModel]


class SpeculativeSetup(NamedTuple):
    """A dtype, a draft and a K, and the tokens a second that the cost model expects."""

    dtype: torch.dtype
    draft: str
    k: int
    speed: float

    def __str__(self) -> str:
        return f"{dtype_name(self.dtype)}, {self.draft} draft, K = {self.k}"


def run_comparison(size: str | None, warp: Warp) -> tuple[pd.DataFrame, list[str]]:
    """Plain, ours and, if greedy, Hugging Face's two by turns; and how each of them runs."""
    passes = bare_passes(size)
    best = best_setup(passes, warp)
    plain_dtype = min(passes, key=lambda dtype: passes[dtype].pass_seconds)
    drafter, chosen = ModelDrafter(load_draft(best.draft)), prompts_for(warp, best.dtype)
    slow, target = load_target(size, plain_dtype), load_target(size, best.dtype)
    ours = speculative(target, drafter, best.k, warp, BENCH_TOKENS)
    decoders = {
        BEST_PLAIN: (dtype_name(plain_dtype), plain(slow, warp, BENCH_TOKENS)),
        SPECULATIVE: (str(best), ours),
    }
    if warp == GREEDY:
        load = partial(hf_target, size or "built-in"), partial(_hf_draft, ASSETS / best.draft)
        decoders |= hf_fastest(*load, best.draft, chosen[0], BENCH_TOKENS)
    return by_turns(decoders, chosen)


def by_turns(
    decoders: Mapping[str, tuple[str, Decoder]], prompts: Sequence
) -> tuple[pd.DataFrame, list[str]]:
    """`compare` of decoders with their setups; and how each of them runs."""
    alone = {name: decoder for name, (_, decoder) in decoders.items()}
    notes = [f"{name}: {setup}" for name, (setup, _) in decoders.items()]
    return compare(alone, prompts, rounds=BENCH_ROUNDS), notes


def hf_fastest(
    load_target: LoadCounted, load_draft: LoadCounted, draft: str, prompt: list[int], tokens: int
) -> dict[str, tuple[str, Decoder]]:
    """Hugging Face's two decoders, each in its fastest setup, which stands before it."""
    makers = {
        BEST_GENERATE: partial(hf_decoders, load_target, None, draft),
        BEST_ASSISTED: partial(hf_decoders, load_target, load_draft, draft),
    }
    return {name: fastest_decoder(make, prompt, tokens) for name, make in makers.items()}


@cache
def bare_passes(size: str | None) -> dict[torch.dtype, DraftCosts]:
    """c and v of every draft and the seconds of a plain pass, by dtype, all interleaved.

    A draft is the same beside every target.
    """
    drafts = {name: load_draft(name) for name in BUILT_IN_DRAFTS}
    tasks = {
        dtype: interleave_draft_steps(load_target(size, dtype), drafts) for dtype in target_dtypes()
    }
    together = {(dtype, key): task for dtype in tasks for key, task in tasks[dtype].items()}
    times = interleaved_times(together, _PASSES[size])
    return {
        dtype: costs_from_times({key: times[dtype, key] for key in tasks[dtype]}) for dtype in tasks
    }


def best_setup(passes: Mapping[torch.dtype, DraftCosts], warp: Warp) -> SpeculativeSetup:
    """The setup with the most tokens a second, by the cost model E / (c K + v(K+1))."""
    rates = {name: draft_acceptance(name) for name in BUILT_IN_DRAFTS}
    alphas = {name: rate.greedy if warp == GREEDY else rate.alpha for name, rate in rates.items()}
    setups = [
        SpeculativeSetup(dtype, name, k, costs.speedup(alphas[name], k) / there.pass_seconds)
        for dtype, there in passes.items()
        for name, costs in there.by_draft.items()
        for k in range(1, LARGEST_K + 1)
    ]
    return max(setups, key=lambda setup: setup.speed)


@cache
def draft_acceptance(name: str) -> Acceptance:
    """The acceptance by the built-in target, which a costlier one has too, on held-out text."""
    p, q = model_reader(load_target(None, torch.float32)), model_reader(load_draft(name))
    return acceptance(p, q, encoded_documents(), max_positions=4000)


def prompts_for(warp: Warp, dtype: torch.dtype) -> Sequence[list[int]]:
    """Held-out prompts; for greedy figures, those whose text does not run in circles.

    The built-in target finds them, in the dtype that is measured: the texts of two dtypes part.
    """
    if warp != GREEDY:
        return prompts(BENCH_PROMPTS)
    decoder = plain(load_target(None, dtype), GREEDY, BENCH_TOKENS)
    return without_repetition(decoder, prompts(_POOL), BENCH_PROMPTS)


def fastest_decoder(
    make_decoders: Callable[[int], dict[str, Decoder]], prompt: list[int], tokens: int
) -> tuple[str, Decoder]:
    """The fastest of some decoders to write `tokens` tokens after `prompt`, its name first.

    Those that take much longer than the fastest for a few tokens are not tried on a whole text.
    """
    seconds = _least_seconds(make_decoders(_TRIAL_TOKENS), prompt)
    limit = _NEARLY_FASTEST * min(seconds.values())
    finalists = {
        name: decoder for name, decoder in make_decoders(tokens).items() if seconds[name] <= limit
    }
    seconds = _least_seconds(finalists, prompt)
    name = min(seconds, key=lambda name: seconds[name])
    return name, finalists[name]


def _least_seconds(decoders: Mapping[str, Decoder], prompt: list[int]) -> dict[str, float]:
    """The shortest time that each took after `prompt`."""
    tasks = {name: partial(decoder, prompt) for name, decoder in decoders.items()}
    return {name: min(times) for name, times in interleaved_times(tasks, 2, warm_up=0).items()}


def hf_decoders(
    load_target: LoadCounted, load_draft: LoadCounted | None, draft: str, tokens: int
) -> dict[str, Decoder]:
    """All dtypes of Hugging Face's target, by name; assisted by a draft, its dtypes and all K."""
    decoders: dict[str, Decoder] = {}
    for dtype in target_dtypes():
        target, name = load_target(dtype), dtype_name(dtype)
        generate = partial(hf_generate, target, new_tokens=tokens)
        if load_draft is None:
            decoders[name] = generate
            continue
        for draft_dtype, k in product(target_dtypes(), TRIED_K):
            model = load_draft(draft_dtype)
            setup = f"{name}, {draft} draft in {dtype_name(draft_dtype)}, {AssistantSettings.of(k)}"
            decoders[setup] = partial(generate, draft=model, k=k)
    return decoders


# Kept, since two comparisons run against the same models.
hf_target = cache(CountedModel.from_size)
_hf_draft = cache(CountedModel.from_folder)
