"""Chapter 04: the speed-up over K for any alpha, c and price of a longer pass, with its optimum."""

from typing import Any

from specdec_lib.lessons.widgets.simulator import Simulator, probability

K_MAX = 20  # tradeoff.js has the same number
_START = {"alpha": 0.7, "c": 0.05, "k": 5, "s": 0.0}


def block_length(name: str, value: Any) -> int:
    """`value` as an int from 0 to K_MAX; ValueError, naming `name`, otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError(f"{name} is {value!r}, which is not a whole number")
    if not 0 <= value <= K_MAX:
        raise ValueError(f"{name} is {value}: a block drafts 0 to {K_MAX} tokens here")
    return int(value)


def tradeoff_simulator(
    alpha: float = 0.7, c: float = 0.05, k: int = 5, s: float = 0.0
) -> Simulator:
    """The simulator of chapter 04, with its sliders where the arguments say.

    `alpha` is the acceptance rate, `c` the time of a draft step, `k` the draft tokens of a block,
    and `s` what every token of a pass after the first costs: v(m) = 1 + s (m - 1). ValueError,
    naming the argument, for what is out of range.
    """
    return Simulator(
        "tradeoff",
        title="Trade-off explorer",
        fields={"alpha": probability, "c": probability, "k": block_length, "s": probability},
        state={"alpha": alpha, "c": c, "k": k, "s": s},
        reset=_START,
        height=720,
    )
