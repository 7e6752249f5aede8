"""Chapter 03: two masses that add up to p, and samples drawn against the exact distribution."""

from collections.abc import Sequence

from specdec_lib.lessons.widgets.acceptance import WORKED_DRAFT, WORKED_TARGET
from specdec_lib.lessons.widgets.fields import distribution, one_of, unchecked
from specdec_lib.lessons.widgets.simulator import Simulator

SAMPLERS = ("rule", "from_target", "argmax")
SEED = 3
EMPTY = {"counts": [0, 0, 0, 0], "history": [], "seed": SEED}


_FIELDS = {
    "target": distribution(4),
    "draft": distribution(4),
    "sampler": one_of(*SAMPLERS),
    "counts": unchecked,
    "history": unchecked,
    "seed": unchecked,
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
