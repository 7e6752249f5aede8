"""Mixtures of experts in chapter 06: what a pass reads, by the student's `expected_experts`.

A pass is taken to wait for memory alone, and a router to choose for each token by itself, all
experts alike.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from specdec_lib.lessons.ch06.lesson import choice
from specdec_lib.lessons.checking.lending import read_only
from specdec_lib.lessons.drawing.axes import (
    CROSS_MARKER,
    legend_below,
    panels,
    uses_student_functions,
)
from specdec_lib.lessons.drawing.series import draw_series, show_table
from specdec_lib.lessons.drawing.style import show
from specdec_lib.theory import expected_tokens

ExpectedExperts = Callable[[int, int, int], float]
ALPHA, C, MOST_K = 0.7, 0.05, 8


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
        """`costs` (2, MOST_K + 1) of choose_k for one row, in passes over one token."""
        one = [C * k + self.v(experts, k + 1) for k in range(MOST_K + 1)]
        return read_only([[0.0] * (MOST_K + 1), one])


# From the configurations in transformers 5.23.0 (Qwen3-30B-A3B: its published config.json), at two
# bytes a parameter; a parameter of gpt-oss's experts takes 4.25 bits.
GPT_OSS = Mixture("gpt-oss-120b", 3.10, 0.476, 128, 4)
MIXTURES = (
    Mixture("Mixtral 8x7B", 2.95, 11.27, 8, 2),
    Mixture("Qwen3-30B-A3B", 2.46, 0.453, 128, 8),
    Mixture("DeepSeek-V3", 32.4, 5.11, 256, 8),
    GPT_OSS,
)
# Published for gpt-oss-120b with an EAGLE-3 head, K = 3, on one H100: by the requests in the batch,
# tokens per pass, and tokens a second with the head and without.
MEASURED = {1: (2.41, 285, 212), 8: (2.41, 1044, 795), 64: (2.43, 2339, 1620)}
K_MEASURED = 3


@uses_student_functions("expected_experts")
def experts_read(experts: ExpectedExperts) -> None:
    """v of a pass by its tokens; gpt-oss-120b as measured beside what independent routers allow."""
    left, right = panels(2, (9.0, 3.9))
    counts = range(1, 10)
    passes = {each.name: [each.v(experts, n) for n in counts] for each in MIXTURES}
    told = f"v by tokens: {draw_series(left, counts, passes)}"
    left.axhline(1, color="black", linewidth=1.5, label="without experts")
    left.set(title="v(n): time of a pass over n tokens", xlabel="n, one request", ylim=(0, None))
    alone = [
        tokens / GPT_OSS.v(experts, K_MEASURED + 1, rows) for rows, (tokens, *_) in MEASURED.items()
    ]
    seen = [drafted / plain for _, drafted, plain in MEASURED.values()]
    told += ". " + draw_series(right, list(MEASURED), {"independent routers, free draft": alone})
    looks = {"measured": CROSS_MARKER | {"color": "black"}}
    told += "; " + draw_series(right, list(MEASURED), {"measured": seen}, kind="marks", looks=looks)
    right.axhline(1, color="black", linewidth=1)
    right.set(title="gpt-oss-120b, K = 3: speed", xlabel="requests in the batch", xscale="log")
    right.set(ylim=(0, 1.15 * max(*alone, *seen)))
    right.set_xticks(list(MEASURED), [str(rows) for rows in MEASURED])
    right.minorticks_off()
    legend_below(left, columns=2)
    legend_below(right, columns=1)
    show(left.figure, f"{told}.")


@uses_student_functions("choose_k", "expected_experts")
def policy_answers(choose_k: Callable, experts: ExpectedExperts) -> None:
    """Show what K = 4 and the student's own K make of one request, model by model."""
    rows: dict[str, list] = {"model": [], "speed at K = 4": [], "your K": [], "speed at your K": []}
    for mixture in MIXTURES:
        costs = mixture.costs(experts)
        k = choice(choose_k, 0, 1, ALPHA, costs)
        fixed_k, yours = (f"{expected_tokens(ALPHA, n) / costs[1, n]:.2f}" for n in (4, k))
        for column, cell in zip(rows.values(), (mixture.name, fixed_k, k, yours), strict=True):
            column.append(cell)
    show_table(rows, f"One request, alpha = {ALPHA}, c = {C}, independent routers")
