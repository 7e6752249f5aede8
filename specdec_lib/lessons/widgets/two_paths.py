"""Chapter 03: two masses that add up to p, and samples drawn against the exact law."""

from collections.abc import Sequence
from typing import Any

from specdec_lib.lessons.widgets.acceptance import WORKED_DRAFT, WORKED_TARGET
from specdec_lib.lessons.widgets.simulator import Simulator, distribution

SAMPLERS = ("rule", "from_target", "argmax")
SEED = 3
EMPTY = {"counts": [0, 0, 0, 0], "history": [], "seed": SEED}


def _sampler(name: str, value: Any) -> str:
    if value not in SAMPLERS:
        raise ValueError(f"{name} is {value!r}; it is one of {', '.join(SAMPLERS)}")
    return value


def _plain(_: str, value: Any) -> Any:
    return value


_FIELDS = {
    "target": distribution(4),
    "draft": distribution(4),
    "sampler": _sampler,
    "counts": _plain,
    "history": _plain,
    "seed": _plain,
}


def two_paths_simulator(
    target: Sequence[float] = WORKED_TARGET,
    draft: Sequence[float] = WORKED_DRAFT,
    sampler: str = "rule",
) -> Simulator:
    """The simulator of chapter 03, before anything is sampled.

    `target` and `draft` (4,) are distributions; `sampler` is rule, from_target (replaces from p)
    or argmax (drafts greedily, rule with the full q). ValueError, naming the argument, otherwise.
    """
    return Simulator(
        "two_paths",
        title="Two paths simulator",
        fields=_FIELDS,
        state={"target": target, "draft": draft, "sampler": sampler, **EMPTY},
        reset={"target": WORKED_TARGET, "draft": WORKED_DRAFT, **EMPTY},
        height=1240,
    )
