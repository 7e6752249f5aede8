"""Chapter 06: a batch of rows of coins, in lock-step and ragged."""

from specdec_lib.lessons.widgets.generation import between
from specdec_lib.lessons.widgets.simulator import Simulator, probability

K_MOST, ROWS_MOST = 16, 16


def batch_simulator(alpha: float = 0.8, k: int = 5, rows: int = 4, seed: int = 2) -> Simulator:
    """The batch simulator of chapter 06, with its sliders where the arguments say.

    Every row writes 24 tokens. ValueError, naming the argument, for what is outside the sliders.
    """
    fields = {
        "alpha": probability,
        "k": between(1, K_MOST),
        "rows": between(1, ROWS_MOST),
        "seed": between(0, 2**32 - 1),
        "passes": between(0, 24),
    }
    return Simulator(
        "batch",
        title="Batch simulator",
        fields=fields,
        state={"alpha": alpha, "k": k, "rows": rows, "seed": seed, "passes": 24},
        reset={"alpha": 0.8, "k": 5, "rows": 4},
        height=760,
    )
