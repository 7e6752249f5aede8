"""Mixtures of experts in chapter 06: what a pass reads, by the student's `expected_experts`.

A pass is taken to wait for memory alone (in `bound` for arithmetic too), and a router to choose for
each token by itself, all experts alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch00.lesson import MACHINES
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
_BATCHES = [2**n for n in range(11)]
_H100 = MACHINES["H100"]


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


def bound(experts: ExpectedExperts, rows: int) -> float:
    """How many times as fast drafts make gpt-oss-120b, if routers chose independently.

    A pass takes as long as an H100 reads, or calculates; tokens per pass are those measured.
    """
    tokens = np.interp(rows, list(MEASURED), [row[0] for row in MEASURED.values()])

    def seconds(n: int) -> float:
        reading = 1e9 * GPT_OSS.read(experts, n) / _H100.bandwidth
        return max(reading, 2e9 * n * _DATA["billions_active"] / _H100.peak_flops)

    v = seconds(rows * (K_MEASURED + 1)) / seconds(rows)
    return float(tokens / (_C * K_MEASURED + v))


def _gain_by_batch(ax: Axes, experts: ExpectedExperts) -> str:
    """Draw gpt-oss-120b's `bound` by the batch, and what was measured; returns both in words."""
    measured = [drafted / plain for _, drafted, plain in MEASURED.values()]
    alone = [bound(experts, rows) for rows in _BATCHES]
    words = draw_series(ax, _BATCHES, {"computed, independent routers": alone})
    marks = {"kind": "marks", "plot_options": {"measured": CROSS | {"color": "black"}}}
    words += "; " + draw_series(ax, list(MEASURED), {"measured": measured}, **marks)
    ax.axhline(1, color="black", linewidth=1)
    ax.set(title="gpt-oss-120b, K = 3: speed", xlabel="requests in the batch", xscale="log")
    ax.set(ylim=(0, 1.15 * max(*alone, *measured)))
    ax.set_xticks(_BATCHES[::3], [str(rows) for rows in _BATCHES[::3]])
    ax.minorticks_off()
    return words


@uses_student_functions("expected_experts")
def experts_read(experts: ExpectedExperts) -> None:
    """v of a pass by its tokens; gpt-oss-120b as measured beside what independent routers allow."""
    left, right = panels(2, (9.0, 3.9))
    counts = range(1, 10)
    passes = {mixture.name: [mixture.v(experts, n) for n in counts] for mixture in MIXTURES}
    words = f"v by tokens: {draw_series(left, counts, passes)}"
    left.axhline(1, color="black", linewidth=1.5, label="without experts")
    left.set(title="v(n): time of a pass over n tokens", xlabel="n, one request", ylim=(0, None))
    words += f". {_gain_by_batch(right, experts)}"
    legend_below(left, columns=2)
    legend_below(right, columns=1)
    show(left.figure, f"{words}.")


@uses_student_functions("expected_experts")
def read_by_batch(experts: ExpectedExperts, batches: Sequence[int]) -> None:
    """Show how many experts of a layer of gpt-oss-120b a batch reads, without drafts and with."""
    read = {
        f"K = {k}": [experts(rows * (k + 1), GPT_OSS.n_experts, GPT_OSS.active) for rows in batches]
        for k in (0, K_MEASURED)
    }
    show_table({"rows": batches} | read, "gpt-oss-120b: experts of a layer that a pass reads")


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
