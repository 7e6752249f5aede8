"""Mixtures of experts in chapter 07: what a pass reads, by the student's `expected_experts`.

A pass is taken to wait for memory alone, and a router to choose for each token by itself, all
experts alike.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from specdec_lib.lessons.common.drawing import drawn_from, legend_below, panels
from specdec_lib.lessons.common.series import draw
from specdec_lib.lessons.common.style import show
from specdec_lib.theory import expected_tokens, walltime_speedup

ExpectedExperts = Callable[[int, int, int], float]


@dataclass(frozen=True)
class Mixture:
    """A model by its published sizes: parameters in all and for one token, in billions."""

    name: str
    total: float
    one_token: float
    n_experts: int
    active: int

    def read(self, experts: ExpectedExperts, n_tokens: int) -> float:
        """Billions of parameters that a pass over `n_tokens` tokens reads."""
        more = experts(n_tokens, self.n_experts, self.active) - self.active
        return self.one_token + more * (self.total - self.one_token) / (
            self.n_experts - self.active
        )

    def v(self, experts: ExpectedExperts, n_tokens: int, batch: int = 1) -> float:
        """The time of a pass over `n_tokens` tokens a row, in passes over one token a row."""
        return self.read(experts, batch * n_tokens) / self.read(experts, batch)


#: Sizes from arXiv 2401.04088, the model card of Qwen3-30B-A3B, and arXiv 2412.19437.
MIXTURES = (
    Mixture("Mixtral 8x7B", 47, 13, 8, 2),
    Mixture("Qwen3-30B-A3B", 30.5, 3.3, 128, 8),
    Mixture("DeepSeek-V3", 671, 37, 256, 8),
)
BATCHES = (1, 2, 4, 8, 16, 32, 64)


def routed(n_experts: int, active: int, most: int = 5, draws: int = 10_000) -> None:
    """Print how many experts passes over 1 to `most` tokens read, the mean over drawn choices."""
    ranks = np.random.default_rng(7).random((draws, most, n_experts)).argsort(axis=2)
    chosen = ranks < active  # (draws, most, n_experts): each token's choice
    for n in range(1, most + 1):
        read = chosen[:, :n].any(axis=1).sum(axis=1).mean()
        print(f"{n} token{'s' * (n > 1)}: {read:.2f} of {n_experts} experts read on average")


@drawn_from("expected_experts")
def experts_read(
    experts: ExpectedExperts,
    alpha: float = 0.7,
    k: int = 4,
    c: float = 0.05,
) -> None:
    """v of a pass, and the speed of a block by batch size, for models with experts and without."""
    left, right = panels(2, (8.6, 3.9))
    tokens, counts = expected_tokens(alpha, k), range(1, 2 * k + 2)
    passes = {each.name: [each.v(experts, n) for n in counts] for each in MIXTURES}
    speeds = {
        each.name: [tokens / (c * k + each.v(experts, k + 1, batch)) for batch in BATCHES]
        for each in MIXTURES
    }
    told = f"v by tokens: {draw(left, counts, passes)}. Speed by batch: "
    told += draw(right, BATCHES, speeds)
    dense = walltime_speedup(alpha, c, k)
    left.axhline(1, color="black", linewidth=1.5, label="without experts")
    right.axhline(dense, color="black", linewidth=1.5)
    right.axhspan(0, 1, color="black", alpha=0.07)
    right.text(BATCHES[-1], 0.08, "slower than plain", ha="right")
    left.set(title="v(n): a pass over n tokens", xlabel="n tokens, one request", ylim=(0, None))
    right.set(title=f"Speed, K = {k}, alpha = {alpha:g}, c = {c:g}", xlabel="requests in the batch")
    right.set(xscale="log", ylim=(0, 1.15 * dense))
    right.set_xticks(BATCHES, [str(batch) for batch in BATCHES])
    right.minorticks_off()
    legend_below(left, columns=2)
    show(left.figure, f"{told}. Without experts v is 1 and the speed {dense:.3g}.")
