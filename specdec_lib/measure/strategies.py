"""Drafts of several kinds on the same text: how often they are accepted and what they cost.

A reader gives the distributions (T, V) after each of T tokens (acceptance.py). The frozen held-out
documents take turns: one to count or train on, the next to measure on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.eagle import Eagle, load_eagle_head
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.measure import acceptance
from specdec_lib.measure.costs import (
    CONTEXT_TOKENS,
    PassTask,
    costs_from_times,
    interleave_draft_steps,
    pass_task,
)
from specdec_lib.measure.prompts import encoded_documents
from specdec_lib.measure.timing import interleaved_times
from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import weights_read
from specdec_lib.progress import progress
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs

PASS_ROUNDS = 15  # of bare passes

# The seconds of every round by task. An integer is the tokens of a target pass.
Times = Mapping[int | str, Sequence[float]]


@dataclass(frozen=True)
class DraftMeasurement:
    """What was measured of a draft for a target."""

    parameters: int
    tokens_per_second: float  # of the draft alone
    alpha: float
    costs: Costs  # c of a draft step right after another one


class DraftBenchmark:
    """The built-in target, and the text that drafts learn from and are judged on.

    `learn` and `unseen` are every other held-out document each; alpha is the mean over the first
    `positions` novel positions of `unseen`, at temperature 1.
    """

    def __init__(self, positions: int = 3000) -> None:
        texts = encoded_documents()
        self.learn = [token for text in texts[0::2] for token in text.ids]
        self.unseen, self.positions = texts[1::2], positions
        self.target = Llama.from_folder(ASSETS / "target")
        self.vocab_size = self.target.vocab_size
        self._p = acceptance.cached_reader(acceptance.model_reader(self.target))

    def alpha(self, q: acceptance.Reader) -> float:
        """The mean of sum_x min(p(x), q(x))."""
        return acceptance.acceptance(self._p, q, self.unseen, self.positions).alpha

    def alphas(self, drafts: Mapping[str, Llama]) -> dict[str, float]:
        """Alpha of every draft."""
        named = progress(drafts.items(), "drafts")
        return {name: self.alpha(acceptance.model_reader(draft)) for name, draft in named}

    def times(self, drafts: Mapping[str, Llama], target: Llama | None = None) -> Times:
        """Bare passes of `target`, which has the built-in distribution, and a step of every draft.

        They take turns, so c and v of all drafts come from the same minutes. A draft step follows
        another one, "NAME first": a target pass before it pushes its weights out of the cache.
        """
        tasks: dict[int | str, PassTask] = {}
        for key, task in interleave_draft_steps(target or self.target, drafts).items():
            if isinstance(key, str):
                tasks[f"{key} first"] = task
            tasks[key] = task
        return interleaved_times(tasks, PASS_ROUNDS)

    def c_of(self, draft: Callable[[list[int]], object]) -> float:
        """c of a draft that is no model: its step after a text, over a target pass."""
        text = max(self.unseen, key=lambda document: len(document.ids)).ids[:CONTEXT_TOKENS]
        tasks = {1: pass_task(self.target), "draft": partial(draft, text)}
        return costs_from_times(interleaved_times(tasks, PASS_ROUNDS)).by_draft["draft"].c


def draft_measurements(
    drafts: Mapping[str, Llama], alphas: Mapping[str, float], times: Times
) -> dict[str, DraftMeasurement]:
    """What was measured of every draft, with the times of DraftBenchmark.times."""
    costs = costs_from_times(times).by_draft
    return {
        name: DraftMeasurement(
            parameters=weights_read(draft.shape),
            tokens_per_second=1 / median(times[name]),
            alpha=alphas[name],
            costs=costs[name],
        )
        for name, draft in drafts.items()
    }


def built_in_models(*names: str, dtype: torch.dtype = torch.float32) -> dict[str, Llama]:
    """Built-in models by name."""
    return {name: Llama.from_folder(ASSETS / name, dtype=dtype) for name in names}


def first_layers(layers: int) -> Llama:
    """The built-in target cut after its first `layers` layers; it keeps its norm and its head."""
    weights = read_weights(ASSETS / "target", "cpu", torch.float32)
    shape = replace(weights.shape, layers=layers)
    return Llama(replace(weights, shape=shape, layers=list(weights.layers)[:layers]))


def lookup_reader(
    lookup: Callable[[list[int], int], list[int]], vocab_size: int
) -> acceptance.Reader:
    """A lookup as a draft: 1 on the token that it gives; all 0 if it gives none."""

    def read(ids: list[int]) -> Tensor:
        q = torch.zeros(len(ids), vocab_size)
        for i in range(len(ids)):
            for token in lookup(ids[: i + 1], 1):
                q[i, token] = 1.0
        return q

    return read


def module_reader(model: nn.Module) -> acceptance.Reader:
    """A model of transformers, which may be in training, as a draft."""

    def read(ids: list[int]) -> Tensor:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits
        return logits[0].float().softmax(-1)

    return read


def places_of(target: Llama, text: Sequence[int]) -> Iterator[tuple[np.ndarray, int, Any, int]]:
    """Every place of a text: the states so far (T, W), the token after them, a head, what is next.

    The head is EAGLE's in NumPy, and has read all places before; next is the target's top token.
    """
    passes, tokens = [], torch.tensor([text])
    logits = target.forward(tokens, target.new_cache(1, len(text)), observe=passes.append)
    states, eagle = passes[0].states, Eagle(target, load_eagle_head(target))
    eagle.start([text], Warp(), len(text))

    def layer(joined: np.ndarray) -> np.ndarray:
        places_read = eagle.cache.length_on_cpu
        state = eagle.predict(torch.from_numpy(joined).float()[None, None])
        eagle.cache.truncate(places_read)
        return state[0, 0].double().numpy()

    head = SimpleNamespace(
        embed=lambda token: target.embed(torch.tensor(token)).double().numpy(),
        layer=layer,
        logits=lambda state: eagle.head(torch.from_numpy(state).float()[None])[0].double().numpy(),
    )
    for i, token in enumerate(text[1:]):
        yield states[0, : i + 1].double().numpy(), token, head, int(logits[0, i + 1].argmax())
        eagle.next_states(states[:, i : i + 1], tokens[:, i + 1 : i + 2])


def compare_drafts(
    benchmark: DraftBenchmark,
    models: Mapping[str, Llama],
    prompt_lookup: Callable[[list[int], int], list],
) -> dict[str, tuple[float, Costs]]:
    """Alpha and costs of the draft `models`, of counts of the training text, and of a lookup.

    The target is the built-in one. A reader's lookup that fails is left out, and a line says why.
    """
    times = benchmark.times(models)
    measured = draft_measurements(models, benchmark.alphas(models), times)
    v = costs_from_times({**times, "any": times[1]}).v  # of all drafts
    points = {name: (draft.alpha, draft.costs) for name, draft in measured.items()}
    counts = Counts.load(ASSETS / "ngrams.npz")
    for name, order in {"bigram counts": 2, "trigram counts": 3}.items():
        drafter = NgramDrafter(counts, order)
        alpha = benchmark.alpha(acceptance.ngram_reader(drafter))
        points[name] = (alpha, Costs(benchmark.c_of(drafter.distribution), v))
    try:
        alpha = benchmark.alpha(lookup_reader(prompt_lookup, benchmark.vocab_size))
        c = benchmark.c_of(lambda text: prompt_lookup(text, 1))
        points["your prompt_lookup"] = (alpha, Costs(c, v))
    except Exception as problem:  # whatever a half-written function does
        print(f"Without your prompt_lookup: {problem}")
    return points


def training_curve(
    benchmark: DraftBenchmark, draft: nn.Module, steps: Iterable[int], every: int
) -> dict[int, float]:
    """Alpha of `draft` before the first of `steps`, which train it, and after each `every`."""
    curve = {0: benchmark.alpha(module_reader(draft))}
    try:
        for step in progress(steps, "training"):
            if step % every == 0:
                curve[step] = benchmark.alpha(module_reader(draft))
    except Exception as problem:  # whatever a half-written loss does
        print(f"This cell trains on your own loss: {problem}")
    return curve
