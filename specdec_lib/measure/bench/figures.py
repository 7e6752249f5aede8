"""Every figure of the bench: what it is, what was hoped for, and how it is measured."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

from specdec_lib.measure.bench import gpu_figures as gpu
from specdec_lib.measure.bench import memory
from specdec_lib.measure.bench.comparisons import over_hugging, over_plain
from specdec_lib.measure.bench.cost_model import model_error, share_of_bound
from specdec_lib.measure.bench.workbench import DTYPES, Workbench
from specdec_lib.measure.core.runs import GREEDY, SAMPLED
from specdec_lib.measure.core.timing import Spread
from specdec_lib.sampling import Warp

Value = float | Spread
FLOAT32 = (torch.float32,)


class Figure(NamedTuple):
    """`goal` is at least this, or with `most` at most this; None: only reported.

    `size` is the model size of a GPU figure. Where another size has stood in for it, the goal is
    nobody's.
    """

    what: str
    goal: float | None
    measure: Callable[[Workbench], Value]
    most: bool = False
    size: str | None = None

    def met(self, value: Value) -> bool | None:
        """Whether the median meets the goal; None where there is none."""
        if self.goal is None:
            return None
        median = value.median if isinstance(value, Spread) else value
        return median <= self.goal if self.most else median >= self.goal


def memory_overhead(bench: Workbench) -> float:
    """Peak memory over weights and cache at the 234M cost."""
    return memory.overhead("234m", "bfloat16")


PLAIN_234M = partial(over_plain, cost="234m")
PLAIN_BUILT_IN = partial(over_plain, cost=None)
HF_BUILT_IN = partial(over_hugging, cost=None, dtypes=DTYPES)

FIGURES = {
    "cost234m_vs_own_ar_sampled": Figure(
        "234M cost, speculative over plain, T = 1",
        2.0,
        partial(PLAIN_234M, warp=SAMPLED),
    ),
    "cost234m_vs_own_ar_greedy": Figure(
        "234M cost, speculative over plain, greedy",
        2.2,
        partial(PLAIN_234M, warp=GREEDY),
    ),
    "builtin_vs_own_ar": Figure(
        "built-in pair, speculative over plain, T = 1",
        None,
        partial(PLAIN_BUILT_IN, warp=SAMPLED),
    ),
    "builtin_vs_own_ar_greedy": Figure(
        "built-in pair, speculative over plain, greedy",
        None,
        partial(PLAIN_BUILT_IN, warp=GREEDY),
    ),
    "builtin_vs_hf_assisted": Figure(
        "built-in pair, greedy, over HF assisted generation",
        3.0,
        partial(HF_BUILT_IN, assisted=True),
    ),
    "builtin_vs_hf_generate": Figure(
        "built-in pair, greedy, over HF generate",
        2.0,
        partial(HF_BUILT_IN, assisted=False),
    ),
    "cost40m_vs_hf_assisted": Figure(
        "40M cost, float32, greedy, over HF assisted generation",
        1.4,
        partial(over_hugging, cost="40m", dtypes=FLOAT32, assisted=True),
    ),
    "share_of_bound_greedy": Figure(
        "least share of E/(cK + v(K+1)), K <= 8, greedy", 0.90, partial(share_of_bound, warp=GREEDY)
    ),
    "share_of_bound_sampled": Figure(
        "least share of E/(cK + v(K+1)), K <= 8, T = 1", 0.85, partial(share_of_bound, warp=SAMPLED)
    ),
    "model_error": Figure(
        "error of the cost model, batch 1 to 32, K 1 to 8", 0.10, model_error, most=True
    ),
    "memory_overhead": Figure(
        "peak memory over weights and cache, 234M cost", 1.3, memory_overhead, most=True
    ),
}


def gpu_figure(what: str, goal: float, measure: Callable, size: str, **options: Warp) -> Figure:
    """A figure of a GPU at the cost of `size`."""
    measured = partial(measure, wanted=size, **options)
    return Figure(f"GPU, {size} cost, {what}", goal, measured, size=size)


# Measured where there is a CUDA device, and absent elsewhere.
GPU_FIGURES = {
    "gpu_7b_bandwidth_share": gpu_figure(
        "plain decoding, share of copy bandwidth", 0.75, gpu.bandwidth_share, "7b"
    ),
    "gpu_7b_vs_own_ar_sampled": gpu_figure(
        "speculative over plain, T = 1", 2.2, gpu.over_plain, "7b", warp=SAMPLED
    ),
    "gpu_7b_vs_own_ar_greedy": gpu_figure(
        "speculative over plain, greedy", 2.4, gpu.over_plain, "7b", warp=GREEDY
    ),
    "gpu_1b_vs_hf_assisted": gpu_figure(
        "greedy, over HF assisted generation", 4.0, gpu.over_hugging, "1b"
    ),
    "gpu_7b_vs_hf_assisted": gpu_figure(
        "greedy, over HF assisted generation", 3.0, gpu.over_hugging, "7b"
    ),
    "gpu_batch8_vs_own_ar": gpu_figure(
        "8 texts at once, speculative over plain, T = 1", 1.5, gpu.batch_over_plain, "1b"
    ),
    "gpu_share_of_bound": gpu_figure(
        "least share of E/(cK + v(K+1)), K <= 8", 0.85, gpu.share_of_bound, "7b"
    ),
}
