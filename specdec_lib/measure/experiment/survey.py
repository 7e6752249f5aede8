"""What chapter 08 runs on: the device, the models on it, and what their passes cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import pandas as pd
import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype, dtype_name, free_memory
from specdec_lib.device import processor as processor_line
from specdec_lib.measure.costs import DraftCosts, costs_from_times, interleave_draft_steps
from specdec_lib.measure.own_text import own_prompts
from specdec_lib.measure.prompts import chat_questions, prompts
from specdec_lib.measure.race.turns import Subject, questions_to
from specdec_lib.measure.timing import interleaved_times
from specdec_lib.models.catalogue import BUILT_IN, SMOLLM2, PairError, require_known
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.protocol import Model, prefill
from specdec_lib.models.scale import TARGET_COSTS, grow_shape, parameter_count, target_weights
from specdec_lib.models.smollm2 import DRAFT_MODEL, FOLDERS

# What the target costs: the first of these whose weights fit into the memory.
SIZES = {"cpu": ("234m", "40m"), "cuda": ("7b", "1b", "234m", "40m")}
_MEMORY_FACTOR = 2.5  # memory over the weights alone: Hugging Face has its own copy
_ROUNDS = 15  # of bare passes
PROMPT_TOKENS = 16
_PREFILL = "a prompt"  # a task that is no draft


@dataclass(frozen=True)
class ExperimentMachine:
    """A target, its drafts, and what they cost.

    `name` is the target's: a fetched pair's, or the cost of which the built-in target is. The
    target of `pair` writes the same text at its own cost. `longer` multiplies how much is measured.
    """

    device: torch.device
    name: str
    target: Llama
    pair: Pair
    drafts: dict[str, Model]
    costs: DraftCosts
    longer: float = 1

    @property
    def task(self) -> str:
        """What the pair writes: "chat", answers to questions, or "code"."""
        return "chat" if self.pair.is_chat else "code"

    @property
    def race_subject(self) -> Subject | None:
        """The questions of a race of a pair that chats, whose ends stop no decoder."""
        if not self.pair.is_chat:
            return None
        return questions_to(self.pair, chat_questions())._replace(ends=None)

    def scaled(self, count: int) -> int:
        """`count` times `longer`; at least 1."""
        return max(1, round(self.longer * count))

    def about(self) -> dict[str, str]:
        """The machine as data, for a results file."""
        return {"device": device_line(self.device), "dtype": dtype_name(self.target.dtype)}

    def passes(self) -> pd.DataFrame:
        """Milliseconds a token of plain decoding, v by width, and c of the drafts, in one row."""
        row = {"ms per token": 1e3 * self.costs.pass_seconds}
        row |= {f"v({width})": self.costs.v[width] for width in (2, 3, 5, 9)}
        row |= {f"c of {name}": self.costs.by_draft[name].c for name in self.drafts}
        return pd.DataFrame([row])


def load_machine(longer: float = 1, name: str | None = None) -> ExperimentMachine:
    """A pair on this machine's device, and what its passes cost; prints what they are.

    Without a `name` it is the fetched pair or, with a line that says so, the built-in one. Raises
    ValueError unless `longer` is positive, and PairError if the pair `name` cannot be loaded.
    """
    if not longer > 0:
        raise ValueError(f"LONGER is {longer}; it is a positive number, 1 for the usual time")
    require_known("pair in this chapter called", name or SMOLLM2, (SMOLLM2, BUILT_IN))
    device = default_device()
    dtype = default_dtype(device)
    try:
        draft = None if name == BUILT_IN else DRAFT_MODEL
        pair = load_pair(name or SMOLLM2, draft, device=device, dtype=dtype)
    except PairError as error:
        if name:
            raise
        print(f"The built-in pair stands in for a real one: {error}.")
        pair = load_pair(device=device, dtype=dtype)
    name, target, drafts = pair.name, pair.target, {FOLDERS[DRAFT_MODEL].name: pair.draft}
    models = pair.label
    if name == BUILT_IN:
        name, small = largest_size(SIZES[device.type], device, dtype), draft_dtype(device, dtype)
        models = f"the built-in ones, the target slowed down to a cost of {name.upper()}"
        target = Llama(target_weights(name, dtype, device))
        drafts = {each: Llama.from_folder(ASSETS / each, device, small) for each in BUILT_IN_DRAFTS}
    print(f"{device_line(device)}, {dtype_name(dtype)}. The models: {models}.")
    (prompt,) = pair_prompts(pair, 1)
    costs = measure_costs(target, drafts, prompt, max(1, round(longer * _ROUNDS)))
    return ExperimentMachine(device, name, target, pair, drafts, costs, longer)


def pair_prompts(pair: Pair, count: int) -> list[list[int]]:
    """At most `count` questions for a pair that chats, else pieces of held-out code."""
    if pair.is_chat:
        return own_prompts(pair, "chat", count)
    return prompts(count, PROMPT_TOKENS, ".py")


def measure_costs(target: Llama, drafts: dict, prompt: list[int], rounds: int) -> DraftCosts:
    """What every draft, every width and `prompt` cost, in `rounds` rounds by turns."""
    tasks = interleave_draft_steps(target, drafts)
    tasks[_PREFILL] = lambda: prefill(target, target.new_cache(1, len(prompt)), [prompt])
    times = interleaved_times(tasks, rounds)
    prompt_seconds = median(times.pop(_PREFILL))
    costs = costs_from_times(times)
    return costs._replace(prompt=prompt_seconds / costs.pass_seconds)


def largest_size(sizes: Sequence[str], device: torch.device, dtype: torch.dtype) -> str:
    """The first of `sizes` whose weights fit into the free memory; if none does, the last one."""
    shape, free = read_shape(ASSETS / "target"), free_memory(device)
    for size in sizes:
        weights = parameter_count(grow_shape(shape, TARGET_COSTS[size])) * dtype.itemsize
        if free is None or _MEMORY_FACTOR * weights <= free:
            return size
    return sizes[-1]


def device_line(device: torch.device) -> str:
    """The device in words."""
    if device.type == "cpu":
        return processor_line()
    card = torch.cuda.get_device_properties(device)
    return f"{card.name}, compute capability {card.major}.{card.minor}"
