"""Chapter 02: acceptance of one drafted token, and overlap and residual of two distributions."""

from collections.abc import Sequence

from specdec_lib.lessons.widgets.fields import distribution, probability
from specdec_lib.lessons.widgets.simulator import Simulator

WORKED_TARGET = (0.45, 0.30, 0.15, 0.10)
WORKED_DRAFT = (0.30, 0.45, 0.20, 0.05)

_FIELDS = {"p": probability, "q": probability, "target": distribution(4), "draft": distribution(4)}


def acceptance_simulator(
    p: float = 0.6,
    q: float = 0.4,
    target: Sequence[float] = WORKED_TARGET,
    draft: Sequence[float] = WORKED_DRAFT,
) -> Simulator:
    """The simulator of chapter 02, with its sliders where the arguments say.

    `p` and `q` are the target's and the draft's probability of one drafted token; `target` and
    `draft` (4,) are the distributions of the second panel. ValueError, naming the argument, for
    what is no probability or does not sum to 1. The reset button goes back to the worked pair.
    """
    return Simulator(
        "acceptance",
        title="Acceptance simulator",
        fields=_FIELDS,
        state={"p": p, "q": q, "target": target, "draft": draft},
        reset={"target": WORKED_TARGET, "draft": WORKED_DRAFT},
        height=960,
    )
