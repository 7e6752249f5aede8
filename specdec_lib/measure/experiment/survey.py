"""What chapter 08 finds on a machine, and what follows: device, dtype, targets, pairs, effort.

Every finding is printed as soon as it is there. What does not fit falls to the next size, and says
so.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype, free_memory, name_of
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.measure.core.costs import K_MAX, costs_by_draft, pass_task
from specdec_lib.measure.core.held_out import all_tokens
from specdec_lib.measure.core.timing import spread
from specdec_lib.measure.doctor.doctor import processor
from specdec_lib.measure.doctor.machine import copy_bandwidth, pass_seconds, weights_read
from specdec_lib.measure.own_table import acceptances
from specdec_lib.models import hub
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import cost_label, require_memory
from specdec_lib.models.scale import COSTS, grown_shape, parameters, scaled
from specdec_lib.theory import Costs

Say = Callable[[str], None]

CPU_COSTS = ("234m", "40m")  # the largest first; the built-in size always fits
GPU_COSTS = ("7b", "1b", "234m", "40m")
GPU_TARGETS = 2  # so many of them, the largest that fit
PUBLISHED = ("gpt2", "qwen2.5", "flan-t5")  # in this order, where the hub can be reached
PATIENCE = 5.0  # seconds for the hub to answer
ROOM = 1.3  # memory over the weights alone
TRIAL = 1000  # positions of the acceptance that the dtype is chosen with


class Effort(NamedTuple):
    """How much is measured; `longer` of `effort` multiplies it."""

    positions: int = 8000  # of held-out text an acceptance rate
    passes: int = 30  # rounds of bare passes
    prompts: int = 3  # an end-to-end comparison
    tokens: int = 24  # behind each prompt
    rounds: int = 2  # by turns, for each prompt

    def times(self, longer: float) -> "Effort":
        """About `longer` times as much. ValueError unless that is a positive number."""
        if not longer > 0:
            raise ValueError(f"longer is {longer}; it is a positive number, 1 for the usual time")
        grown = (max(1, round(each * longer)) for each in (self.positions, self.passes))
        prompts = max(1, round(self.prompts * longer))
        return Effort(*grown, prompts, self.tokens, self.rounds)


@dataclass(frozen=True)
class Machine:
    """What was found. `targets` are the built-in one and its costlier versions, by name."""

    device: torch.device
    dtype: torch.dtype
    targets: dict[str, Llama]
    drafts: dict[str, Llama]
    published: tuple[str, ...]
    effort: Effort
    bandwidth: float  # bytes a second

    @property
    def whole_grid(self) -> bool:
        """Whether every row is run end to end, or the best draft alone."""
        return self.device.type == "cuda"

    def to_json(self) -> dict[str, str | float | int]:
        """As data, for the head of a results file."""
        return {
            "device": device_line(self.device),
            "dtype": name_of(self.dtype),
            "bandwidth_gb_s": round(self.bandwidth / 1e9, 1),
            "threads": torch.get_num_threads(),
            "cuda": torch.version.cuda or "none",
        }


def look(longer: float = 1, say: Say = print) -> Machine:
    """Find out what this machine has, saying each finding as it comes, in about 15 s."""
    effort = Effort().times(longer)
    device = default_device()
    say(f"Device: {device_line(device)}")
    free = free_memory(device)
    say(f"Memory: {'unknown' if free is None else f'{free / 1e9:.1f} GB free'} on {device.type}")
    bandwidth = copy_bandwidth(device)
    say(f"Copy bandwidth: {bandwidth / 1e9:.1f} GB/s")
    dtype, why, loaded = chosen_dtype(device)
    say(f"Dtype: {name_of(dtype)}, because {why}")
    targets = built_in_targets(device, dtype, loaded, say)
    where = device, draft_dtype(device, dtype)
    drafts = {name: Llama.from_folder(ASSETS / name, *where) for name in BUILT_IN_DRAFTS}
    for line in cost_lines(targets):
        say(line)
    published = published_pairs(device, say)
    say(f"Pairs: {', '.join([*targets, *published])}, each with its drafts")
    return Machine(device, dtype, targets, drafts, published, effort, bandwidth)


def device_line(device: torch.device) -> str:
    """The device in words."""
    if device.type == "cpu":
        return f"cpu, since torch finds no CUDA device. {processor()}"
    card = torch.cuda.get_device_properties(device)
    return f"{card.name}, compute capability {card.major}.{card.minor}"


def chosen_dtype(
    device: torch.device,
) -> tuple[torch.dtype, str, dict[str, Llama]]:
    """The dtype of the targets, why, and what was loaded in it to find out.

    On a CPU passes of a larger target are timed in both dtypes for some seconds.
    """
    if device.type != "cpu":
        return default_dtype(device), "that is what the device multiplies fastest", {}
    both = (torch.float32, torch.bfloat16)
    cost = next(fitting(CPU_COSTS, device, torch.float32, say=lambda line: None), None)
    if cost is None:
        return torch.float32, "there is no memory to try another on a larger target", {}
    models = {dtype: scaled(ASSETS / "target", cost, device, dtype) for dtype in both}
    taken = pass_seconds(models, range(1, K_MAX + 2), seconds=5)
    draft = Llama.from_folder(ASSETS / BUILT_IN_DRAFTS[0])
    step = median(pass_seconds({"draft": draft}, [1], seconds=0.1)["draft"][1])
    alpha = quick_acceptance(draft)
    rates = {dtype: best_rate(taken[dtype], step, alpha) for dtype in both}
    best = max(both, key=lambda dtype: rates[dtype][0])
    parts = [
        f"{name_of(d)} has v(5) = {median(taken[d][5]) / median(taken[d][1]):.2f} and promises "
        f"{rates[d][0]:.0f} tokens/s at K = {rates[d][1]}"
        for d in both
    ]
    return best, f"at the {cost} cost {', '.join(parts)}", {cost: models[best]}


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return spread(values).median


def best_rate(seconds: dict[int, list[float]], step: float, alpha: float) -> tuple[float, int]:
    """The largest expected tokens a second, and its K: E / (c K + v(K + 1)) over the plain pass."""
    plain = median(seconds[1])
    costs = Costs(step / plain, {m: median(taken) / plain for m, taken in seconds.items()})
    k = costs.best_k(alpha)
    return costs.speedup(alpha, k) / plain, k


def quick_acceptance(draft: Llama) -> float:
    """The acceptance rate of a draft by the unscaled target on a little text."""
    target = model_reader(Llama.from_folder(ASSETS / "target"))
    drafts = {"draft": model_reader(draft)}
    return acceptances(target, drafts, all_tokens(), TRIAL)["draft"].alpha


def fitting(
    costs: Sequence[str], device: torch.device, dtype: torch.dtype, say: Say
) -> Iterator[str]:
    """Those of `costs` whose weights fit into the free memory; says which do not."""
    shape = read_shape(ASSETS / "target")
    for cost in costs:
        weights = parameters(grown_shape(shape, COSTS[cost]))
        try:
            require_memory(int(ROOM * weights), dtype, device)
        except PairError as error:
            say(f"The {cost} target is left out, and the next size taken: {error}")
        else:
            yield cost


def built_in_targets(
    device: torch.device, dtype: torch.dtype, loaded: dict[str, Llama], say: Say
) -> dict[str, Llama]:
    """The built-in target, and as many costlier ones as the device is for and has memory for."""
    targets = {"built-in": Llama.from_folder(ASSETS / "target", device, dtype), **loaded}
    wanted = GPU_TARGETS if device.type == "cuda" else 1
    for cost in fitting(GPU_COSTS if device.type == "cuda" else CPU_COSTS, device, dtype, say):
        if len(targets) > wanted:
            break
        try:
            targets[cost] = scaled(ASSETS / "target", cost, device, dtype)
        except (MemoryError, RuntimeError) as error:  # torch.OutOfMemoryError is a RuntimeError
            if "memory" not in str(error).lower() and not isinstance(error, MemoryError):
                raise
            say(f"The {cost} target does not fit after all, and the next size is taken: {error}")
    return dict(sorted(targets.items(), key=lambda each: parameters(each[1].shape)))


def cost_lines(targets: dict[str, Llama], rounds: int = 5) -> Iterator[str]:
    """v(2) to v(9) of every target, and what a cost-scaled one stands for."""
    for name, model in targets.items():
        _, seconds = found = costs_by_draft(model, {"itself": pass_task(model, 1)}, rounds=rounds)
        v = found[0]["itself"].v
        listed = ", ".join(f"{v[m]:.2f}" for m in range(2, K_MAX + 2))
        yield (
            f"Target {name}: a pass reads {weights_read(model) / 1e6:,.0f}M parameters and takes "
            f"{seconds * 1e3:.1f} ms; "
            f"v(2) to v({K_MAX + 1}): {listed}"
        )
        if name in COSTS:
            yield f"  its rows are: {cost_label(name, *BUILT_IN_DRAFTS)}"


def published_pairs(device: torch.device, say: Say) -> tuple[str, ...]:
    """The published pairs to run: those that fit a GPU, where the hub answers."""
    if device.type != "cuda":
        say("Hub: not asked, since published pairs are for a GPU")
        return ()
    problem = hub_problem()
    if problem:
        say(f"Hub: cannot be reached ({problem}); no published pairs")
        return ()
    say("Hub: reachable; each pair says how much it fetches before it does")
    return PUBLISHED


def hub_problem(seconds: float = PATIENCE) -> str | None:
    """Why the hub cannot be reached; None where it answers within `seconds`."""
    outcome: list[str | None] = []

    def ask() -> None:
        try:
            hub.find("openai-community/gpt2", hub.text_names)
            outcome.append(None)
        except PairError as error:
            outcome.append(str(error.__cause__ or error)[:200])

    thread = threading.Thread(target=ask, daemon=True)  # looking a name up has no time limit
    thread.start()
    thread.join(seconds)
    return outcome[0] if outcome else f"no answer in {seconds:g} s"
