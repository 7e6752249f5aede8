"""Mixtures of experts in chapter 06: what a pass reads, by the student's `expected_experts`.

A pass is taken to wait for memory alone, and a router to choose for each token by itself, all
experts alike.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from specdec_lib.lessons.ch06.lesson import ALPHA, checked_k
from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.checking.lending import read_only
from specdec_lib.lessons.drawing.axes import CROSS, legend_below, panels, uses_student_functions
from specdec_lib.lessons.drawing.series import draw_series, show_table
from specdec_lib.lessons.drawing.style import show
from specdec_lib.theory import expected_tokens

ExpectedExperts = Callable[[int, int, int], float]
_C = 0.05
_MAX_K = 8


@dataclass(frozen=True)
class Mixture:
    """What passes of a model read, in GB: `always`, and for each expert that they need `expert`.

    The input embedding does not count: a pass reads one row of it for each token.
    """

    name: str
    always: float
    expert: float
    n_experts: int
    active: int

    def read(self, experts: ExpectedExperts, n_tokens: int) -> float:
        """GB that a pass over `n_tokens` tokens reads."""
        return self.always + self.expert * experts(n_tokens, self.n_experts, self.active)

    def v(self, experts: ExpectedExperts, n_tokens: int, rows: int = 1) -> float:
        """The time of a pass over `n_tokens` tokens a row, in passes over one token a row."""
        return self.read(experts, rows * n_tokens) / self.read(experts, rows)

    def costs(self, experts: ExpectedExperts) -> np.ndarray:
        """`costs` (2, _MAX_K + 1) of choose_k for one row, in passes over one token."""
        one = [_C * k + self.v(experts, k + 1) for k in range(_MAX_K + 1)]
        return read_only([[0.0] * (_MAX_K + 1), one])


# The models, and what was measured of the last one: experts.toml says where both are from.
_DATA = read_tables(__package__, "experts.toml")
MIXTURES = tuple(Mixture(**row) for row in _DATA["mixtures"])
GPT_OSS = MIXTURES[-1]
MEASURED, K_MEASURED = {int(rows): row for rows, row in _DATA["measured"].items()}, _DATA["k"]


@uses_student_functions("expected_experts")
def experts_read(experts: ExpectedExperts) -> None:
    """v of a pass by its tokens; gpt-oss-120b as measured beside what independent routers allow."""
    left, right = panels(2, (9.0, 3.9))
    counts = range(1, 10)
    passes = {mixture.name: [mixture.v(experts, n) for n in counts] for mixture in MIXTURES}
    words = f"v by tokens: {draw_series(left, counts, passes)}"
    left.axhline(1, color="black", linewidth=1.5, label="without experts")
    left.set(title="v(n): time of a pass over n tokens", xlabel="n, one request", ylim=(0, None))
    alone = [
        tokens / GPT_OSS.v(experts, K_MEASURED + 1, rows) for rows, (tokens, *_) in MEASURED.items()
    ]
    measured = [drafted / plain for _, drafted, plain in MEASURED.values()]
    words += ". " + draw_series(right, list(MEASURED), {"independent routers, free draft": alone})
    marks = {"kind": "marks", "plot_options": {"measured": CROSS | {"color": "black"}}}
    words += "; " + draw_series(right, list(MEASURED), {"measured": measured}, **marks)
    right.axhline(1, color="black", linewidth=1)
    right.set(title="gpt-oss-120b, K = 3: speed", xlabel="requests in the batch", xscale="log")
    right.set(ylim=(0, 1.15 * max(*alone, *measured)))
    right.set_xticks(list(MEASURED), [str(rows) for rows in MEASURED])
    right.minorticks_off()
    legend_below(left, columns=2)
    legend_below(right, columns=1)
    show(left.figure, f"{words}.")


@uses_student_functions("choose_k", "expected_experts")
def policy_answers(choose_k: Callable, experts: ExpectedExperts) -> None:
    """Show what K = 4 and the student's own K make of one request, model by model."""
    rows = []
    for mixture in MIXTURES:
        costs = mixture.costs(experts)
        k = checked_k(choose_k, 0, 1, ALPHA, costs)
        fixed_k, yours = (f"{expected_tokens(ALPHA, n) / costs[1, n]:.2f}" for n in (4, k))
        rows.append((mixture.name, fixed_k, k, yours))
    caption = f"One request, alpha = {ALPHA}, c = {_C}, independent routers"
    show_table(rows, caption, ("model", "speed at K = 4", "your K", "speed at your K"))
