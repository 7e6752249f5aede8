"""Chapters 02 to 04: p and q, whose bars the reader drags, and everything that follows from them.

One simulator with three views: the residual, the two paths into each token, and speed over K.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_lib.lessons.widgets.simulator import Simulator

WORKED_TARGET = (0.45, 0.30, 0.15, 0.10)
WORKED_DRAFT = (0.30, 0.45, 0.20, 0.05)
SAMPLERS = ("rule", "from_target", "argmax")
K_MAX = 20
#: Milliseconds of a target pass and of a draft step, as Chen et al. (2023) report them.
PASS_MS, STEP_MS = 14.1, 1.8


def linked_simulator(
    view: str = "residual",
    target: Sequence[float] = WORKED_TARGET,
    draft: Sequence[float] = WORKED_DRAFT,
    k: int = 4,
    c: float | None = None,
    s: float = 0.0,
) -> Simulator:
    """The simulator of chapters 02 ("residual"), 03 ("paths") and 04 ("speed").

    `target` and `draft` (4,) are distributions, `k` the draft tokens of a block. Times are those
    of Chen et al. unless the reader sets `c` and `s`, with v(n) = 1 + s (n - 1).
    """
    p, q = (np.asarray(each).tolist() for each in (target, draft))
    state = {"view": view, "target": p, "draft": q, "k": k, "token": 1, **_times(c, s)}
    if view == "paths":
        state |= {"sampler": SAMPLERS[0], "counts": [0, 0, 0, 0], "history": [], "seed": 3}
    height = 1300 if view == "paths" else 900
    return Simulator("linked", "Simulator of p and q", state, height)


def _times(c: float | None, s: float) -> dict[str, Any]:
    """Times that nobody has measured here, and what they are."""
    source = "The times are those of Chen et al. (2023), not of this machine."
    if c is not None:
        source = "The pass is that of Chen et al. (2023); c and s are set by hand."
    c = STEP_MS / PASS_MS if c is None else c
    return {"c": c, "s": s, "most": K_MAX, "ms": PASS_MS, "source": source}
