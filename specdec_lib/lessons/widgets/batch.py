"""Chapter 06: a batch of rows of coins, in lock-step and ragged."""

from specdec_lib.lessons.widgets.simulator import Simulator


def batch_simulator(alpha: float = 0.8, k: int = 5, rows: int = 4) -> Simulator:
    """The batch simulator of chapter 06, with its sliders where the arguments say.

    Every row writes 24 tokens. `k` and `rows` are from 1 to 16.
    """
    state = {"alpha": alpha, "k": k, "rows": rows, "seed": 2, "passes": 24}
    return Simulator("batch", "Batch simulator", state, height=760)
