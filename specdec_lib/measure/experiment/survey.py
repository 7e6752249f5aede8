"""What chapter 08 finds on a machine, and what follows: device, dtype, targets, pairs, effort.

Every finding is printed as soon as it is there. What does not fit falls to the next size, and says
so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from statistics import median
from typing import NamedTuple

import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype, free_memory, name_of
from specdec_lib.measure.core.acceptance import acceptances, model_reader
from specdec_lib.measure.core.choice import SECONDS, choices, fastest, fastest_plain
from specdec_lib.measure.core.costs import K_MAX, costs_by_dtype, pass_task
from specdec_lib.measure.core.held_out import all_tokens
from specdec_lib.measure.core.limits import copy_bandwidth, weights_read
from specdec_lib.measure.core.models import dtypes
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.measure.experiment.budget import LOOK, ON_CPU, ON_GPU, Budget, Part
from specdec_lib.measure.experiment.costs import Found, costs_on
from specdec_lib.measure.experiment.machine import Effort, Machine, Targets, device_line
from specdec_lib.measure.experiment.rows import DISTURBED
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import require_memory
from specdec_lib.models.pairs import cost_label
from specdec_lib.models.scale import COSTS, grown_shape, parameters, scaled

Say = Callable[[str], None]

CPU_SIZES = ("234m", "40m")  # the largest first; the built-in size always fits
GPU_SIZES = ("7b", "1b", "234m", "40m")
GPU_TARGETS = 2  # so many of them, the largest that fit
ROOM = 1.3  # memory over the weights alone
TRIAL = 1000  # positions of the acceptance that the dtype is chosen with
LEAST_PASSES = 1200  # plain passes that take as long as the least of every part
TRIAL_PASSES = 700  # as many plain passes take about as long as the trial of two dtypes
LEAST_ROUNDS = 3  # of passes that the dtype is chosen with


class Formats(NamedTuple):
    """The dtypes of speculative and of plain decoding, and why.

    `loaded` are the models that were loaded to find out, by dtype and size.
    """

    dtype: torch.dtype
    plain: torch.dtype
    why: str
    loaded: dict[torch.dtype, dict[str, Llama]]


def look(longer: float = 1, say: Say = print) -> Machine:
    """Find out what this machine has, saying each finding as it comes."""
    effort = Effort().times(longer)
    device = default_device()
    budget = Budget(ON_GPU if device.type == "cuda" else ON_CPU, longer, say=say)
    say(f"Budget: {budget.seconds:.0f} s for all that is measured below")
    with budget.part(LOOK) as part:
        machine = looked(device, effort, budget, part, say)
    say(f"Pairs: {', '.join(machine.targets)}, each with its drafts")
    return machine


def looked(device: torch.device, effort: Effort, budget: Budget, part: Part, say: Say) -> Machine:
    """The findings, each said as it comes."""
    say(f"Device: {device_line(device)}")
    free = free_memory(device)
    say(f"Memory: {'unknown' if free is None else f'{free / 1e9:.1f} GB free'} on {device.type}")
    bandwidth = copy_bandwidth(device)
    say(f"Copy bandwidth: {bandwidth / 1e9:.1f} GB/s")
    part.note("the dtype is chosen")
    formats = chosen_formats(device, budget.seconds, part, say)
    say(f"Dtype: {name_of(formats.dtype)}, because {formats.why}")
    targets = built_in_targets(device, formats, budget.seconds, say)
    where = device, draft_dtype(device, formats.dtype)
    drafts = {name: Llama.from_folder(ASSETS / name, *where) for name in BUILT_IN_DRAFTS}
    plain = {} if formats.plain == formats.dtype else formats.loaded[formats.plain]
    costs = costs_in_time(targets, plain, drafts, effort.passes, part, say)
    targets = {name: targets[name] for name in costs}
    kept = Targets(targets, partial(made, device=device, dtype=formats.dtype))
    return Machine(
        device, formats.dtype, kept, drafts, (), effort, bandwidth, costs, plain, budget, free
    )


def costs_in_time(
    targets: Mapping[str, Llama], plain: Mapping[str, Llama], drafts: Mapping[str, Llama],
    passes: int, part: Part, say: Say,
) -> dict[str, Found]:  # fmt: skip
    """What passes of every target cost, of the first one always, of others if `part` has time.

    `plain` are those targets in the dtype of plain decoding that have another one.
    """
    costs: dict[str, Found] = {}
    for number, (name, target) in enumerate(targets.items()):
        if costs and not part.fits(0, f"the {name} target"):
            continue
        mine, best = part.share(len(targets) - number), plain.get(name, target)
        costs[name] = costs_on(target, best, drafts, passes, mine)
        for line in cost_lines(name, target, costs[name]):
            say(line)
    return costs


def chosen_formats(device: torch.device, seconds: float, part: Part, say: Say) -> Formats:
    """The dtypes that decode fastest; the experiment may take `seconds`.

    On a CPU that has several to choose from, passes of a larger target are timed in each, if `part`
    has the time.
    """
    if device.type != "cpu":
        best = default_dtype(device)
        return Formats(best, best, "that is what the device multiplies fastest", {})
    f32 = torch.float32
    size, model, one = next(costlier(CPU_SIZES, device, f32, seconds, say), (None, None, 0.0))
    if model is None:
        return Formats(f32, f32, "there is no room to try another on a larger target", {})
    loaded = {f32: {size: model}}
    candidates = dtypes()
    if len(candidates) == 1:
        return Formats(f32, f32, "this processor has no instructions for bfloat16", loaded)
    if not part.fits(TRIAL_PASSES * one, "trials of other dtypes"):
        return Formats(f32, f32, "there is no time to try another", loaded)
    others = {each: scaled(ASSETS / "target", size, device, each) for each in candidates[1:]}
    return tried(size, {f32: model} | others)


def tried(size: str, models: dict[torch.dtype, Llama]) -> Formats:
    """The dtypes of `models`, the target at `size` in each, that decode fastest in a trial."""
    draft = Llama.from_folder(ASSETS / BUILT_IN_DRAFTS[0])
    steps = {dtype: {BUILT_IN_DRAFTS[0]: pass_task(draft, 1)} for dtype in models}
    measured = costs_by_dtype(models, steps, SECONDS, least=LEAST_ROUNDS)
    options = choices(measured, {BUILT_IN_DRAFTS[0]: quick_acceptance(draft)})
    why = ", ".join(
        f"{name_of(each.dtype)} has v(5) = {measured[each.dtype][0][each.draft].v[5]:.2f} and "
        f"promises {each.tokens_per_second:.0f} tokens/s at K = {each.k}"
        for each in options
    )
    loaded = {dtype: {size: model} for dtype, model in models.items()}
    best = fastest(options).dtype
    return Formats(best, fastest_plain(measured), f"at the {size} cost {why}", loaded)


def costlier(
    sizes: Sequence[str], device: torch.device, dtype: torch.dtype, seconds: float, say: Say
) -> Iterator[tuple[str, Llama, float]]:
    """The built-in target at those of `sizes` for which there is memory and time.

    With its name in `sizes`, and the seconds of a pass over one token.
    """
    for size in fitting(sizes, device, dtype, say):
        try:
            model = scaled(ASSETS / "target", size, device, dtype)
        except (MemoryError, RuntimeError) as error:  # torch.OutOfMemoryError is a RuntimeError
            if "memory" not in str(error).lower() and not isinstance(error, MemoryError):
                raise
            say(f"The {size} target does not fit after all, and the next size is taken: {error}")
            continue
        one = a_pass(model)
        if one * LEAST_PASSES > seconds and size != sizes[-1]:
            say(
                f"The {size} target is left out, and the next size taken: a pass takes {one:.2f} "
                f"s, and {seconds:.0f} s are too short for the experiment with it"
            )
            continue
        yield size, model, one


def a_pass(model: Llama) -> float:
    """The seconds of a pass over one token: the median of three, since the least flatters."""
    return median(interleaved({"pass": pass_task(model, 1)}, rounds=3)["pass"])


def quick_acceptance(draft: Llama) -> float:
    """The acceptance rate of a draft by the unscaled target on a little text."""
    target = model_reader(Llama.from_folder(ASSETS / "target"))
    drafts = {"draft": model_reader(draft)}
    return acceptances(target, drafts, all_tokens(), TRIAL)["draft"].alpha


def fitting(
    sizes: Sequence[str], device: torch.device, dtype: torch.dtype, say: Say
) -> Iterator[str]:
    """Those of `sizes` whose weights fit into the free memory; says which do not."""
    shape = read_shape(ASSETS / "target")
    for size in sizes:
        weights = parameters(grown_shape(shape, COSTS[size]))
        try:
            require_memory(int(ROOM * weights), dtype, device)
        except PairError as error:
            say(f"The {size} target is left out, and the next size taken: {error}")
        else:
            yield size


def built_in_targets(
    device: torch.device, formats: Formats, seconds: float, say: Say
) -> dict[str, Llama]:
    """The built-in target, and as many costlier ones as the device is for and has room for."""
    dtype = formats.dtype
    targets = {"built-in": Llama.from_folder(ASSETS / "target", device, dtype)}
    if device.type == "cuda":
        found = islice(costlier(GPU_SIZES, device, dtype, seconds, say), GPU_TARGETS)
        targets |= {size: model for size, model, _ in found}
    else:
        targets |= formats.loaded.get(dtype, {})
    return dict(sorted(targets.items(), key=lambda each: parameters(each[1].shape)))


def cost_lines(name: str, model: Llama, found: Found) -> Iterator[str]:
    """v(2) to v(9) of a target, what a cost-scaled one stands for, and whether to trust it."""
    listed = ", ".join(f"{found.v[m]:.2f}" for m in range(2, K_MAX + 2))
    yield (
        f"Target {name}: a pass reads {weights_read(model) / 1e6:,.0f}M parameters; plain decoding "
        f"takes {found.seconds * 1e3:.1f} ms a token; v(2) to v({K_MAX + 1}): {listed}"
    )
    if name in COSTS:
        yield f"  its rows are: {cost_label(name, *BUILT_IN_DRAFTS)}"
    if found.disturbed:
        yield "  " + DISTURBED.format(why=found.disturbed)


def made(name: str, device: torch.device, dtype: torch.dtype) -> Llama:
    """The built-in target, or it at the cost of a larger one."""
    if name in COSTS:
        return scaled(ASSETS / "target", name, device, dtype)
    return Llama.from_folder(ASSETS / "target", device, dtype)
