"""Chapter 04: the speed-up over K for any alpha, c and price of a longer pass, with its optimum."""

from specdec_lib.lessons.widgets.fields import probability, whole
from specdec_lib.lessons.widgets.simulator import Simulator

K_MAX = 20  # tradeoff.js has the same number
_START = {"alpha": 0.8, "c": 0.05, "k": 3, "s": 0.0}


def tradeoff_simulator(
    alpha: float = 0.8, c: float = 0.05, k: int = 3, s: float = 0.0
) -> Simulator:
    """The simulator of chapter 04, with its sliders where the arguments say.

    `alpha` is the acceptance rate, `c` the time of a draft step, `k` the draft tokens of a block,
    and `s` what every token of a pass after the first costs: v(m) = 1 + s (m - 1). ValueError,
    naming the argument, for what is out of range.
    """
    return Simulator(
        "tradeoff",
        title="Trade-off explorer",
        fields={"alpha": probability, "c": probability, "k": whole(0, K_MAX), "s": probability},
        state={"alpha": alpha, "c": c, "k": k, "s": s},
        reset=_START,
        height=720,
    )
