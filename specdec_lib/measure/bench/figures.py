"""Every figure of the bench: what it is, what was hoped for, and how it is measured."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

from specdec_lib.measure.bench.bandwidth import bandwidth_share
from specdec_lib.measure.bench.bound import model_error, share_of_bound, share_of_bound_captured
from specdec_lib.measure.bench.cliff import widest_cliff
from specdec_lib.measure.bench.comparisons import (
    batch_over_plain,
    family_over_best_plain,
    over_best_plain,
    over_hugging,
    over_plain,
)
from specdec_lib.measure.bench.memory import memory_overhead
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.runs import GREEDY, SAMPLED
from specdec_lib.measure.core.timing import Picked, Spread
from specdec_lib.sampling import Warp

Value = float | Spread | Picked


class Figure(NamedTuple):
    """`goal` is at least this, or with `most` at most this; None: only reported.

    `size` is the model size of a GPU figure. If another size has stood in for it, the goal is
    nobody's.
    """

    what: str
    goal: float | None
    measure: Callable[[Workbench], Value]
    most: bool = False
    size: str | None = None
    number: str = ".2f"  # how its value is written

    def met(self, value: Value) -> bool | None:
        """Whether the value meets the goal, of a spread the median; None if there is no goal."""
        if self.goal is None:
            return None
        number = number_of(value)
        return number <= self.goal if self.most else number >= self.goal

    def shown(self, value: Value) -> str:
        """The value as text, with its spread."""
        return str(value) if isinstance(value, Spread) else f"{number_of(value):{self.number}}"

    @property
    def wanted(self) -> str:
        """The goal as text."""
        goal = "" if self.goal is None else f"{self.goal:{self.number}}"
        return f"at most {goal}" if self.most else goal

    def verdict(self, value: Value, size: str | None) -> str:
        """Whether the goal is met; nothing if there is none, or `size` is not the goal's."""
        met = self.met(value) if size == self.size else None
        return {True: "met", False: "missed", None: ""}[met]

    def instead(self, size: str | None) -> str:
        """Says that another `size` stood in, if one did."""
        return "" if size == self.size else f" (at the {size} cost: no room for {self.size})"


def number_of(value: Value) -> float:
    """The number that stands for a value."""
    if isinstance(value, Picked):
        return value.value
    return value.median if isinstance(value, Spread) else value


def cpu_figure(what: str, goal: float | None, measure: Callable, **options: object) -> Figure:
    """A figure of the CPU: `measure` with `options`."""
    return Figure(what, goal, partial(measure, **options))


FIGURES = {
    "cost234m_vs_own_ar_sampled": cpu_figure(
        "234M cost, over our plain decoding, T = 1", 2.0, over_plain, wanted="234m", warp=SAMPLED
    ),
    "cost234m_vs_own_ar_greedy": cpu_figure(
        "234M cost, over our plain decoding, greedy", 2.2, over_plain, wanted="234m", warp=GREEDY
    ),
    "cost234m_vs_best_plain_sampled": cpu_figure(
        "234M cost, over our best plain decoding, T = 1",
        1.8,
        over_best_plain,
        wanted="234m",
        warp=SAMPLED,
    ),
    "cost234m_vs_best_plain_greedy": cpu_figure(
        "234M cost, over our best plain decoding, greedy",
        1.9,
        over_best_plain,
        wanted="234m",
        warp=GREEDY,
    ),
    "cost234m_family_vs_best_plain_sampled": cpu_figure(
        "234M cost, the best drafter of the family over our best plain decoding, T = 1",
        2.0,
        family_over_best_plain,
        wanted="234m",
        warp=SAMPLED,
    ),
    "cost234m_family_vs_best_plain_greedy": cpu_figure(
        "234M cost, the best drafter of the family over our best plain decoding, greedy",
        2.1,
        family_over_best_plain,
        wanted="234m",
        warp=GREEDY,
    ),
    "cost234m_vs_hf_generate": cpu_figure(
        "234M cost, greedy, over HF generate", 2.5, over_hugging, wanted="234m", assisted=False
    ),
    "cost234m_vs_hf_assisted": cpu_figure(
        "234M cost, greedy, over HF assisted generation", 2.0, over_hugging, wanted="234m"
    ),
    "builtin_vs_own_ar": cpu_figure(
        "built-in pair, over our plain decoding, T = 1", None, over_plain, wanted=None, warp=SAMPLED
    ),
    "builtin_vs_own_ar_greedy": cpu_figure(
        "built-in pair, over our plain decoding, greedy", None, over_plain, wanted=None, warp=GREEDY
    ),
    "builtin_vs_hf_assisted": cpu_figure(
        "built-in pair, greedy, over HF assisted generation", 2.5, over_hugging, wanted=None
    ),
    "builtin_vs_hf_generate": cpu_figure(
        "built-in pair, greedy, over HF generate", 2.0, over_hugging, wanted=None, assisted=False
    ),
    "cost40m_vs_hf_assisted": cpu_figure(
        "40M cost, float32, greedy, over HF assisted generation",
        1.4,
        over_hugging,
        wanted="40m",
        dtypes=(torch.float32,),
    ),
    "share_of_bound_greedy": cpu_figure(
        "least share of E/(cK + v(K+1)), K = 1 to 8, greedy", 0.88, share_of_bound, warp=GREEDY
    ),
    "share_of_bound_sampled": cpu_figure(
        "least share of E/(cK + v(K+1)), K = 1 to 8, T = 1", 0.88, share_of_bound, warp=SAMPLED
    ),
    "model_error": Figure(
        "median error of the cost model, batch 1 to 32, K = 1 to 8",
        0.12,
        model_error,
        most=True,
        number=".1%",
    ),
    "widest_cliff": Figure(
        "a pass over that of one more token, 1 to 16, largest", 1.3, widest_cliff, most=True
    ),
    "memory_overhead": Figure(
        "peak memory over weights and cache, 234M cost", 1.3, memory_overhead, most=True
    ),
}


def gpu_figure(what: str, goal: float, measure: Callable, size: str, **options: Warp) -> Figure:
    """A figure of a GPU at the cost of `size`."""
    measured = partial(measure, wanted=size, **options)
    return Figure(f"GPU, {size} cost, {what}", goal, measured, size=size)


# Measured if there is a CUDA device, and absent otherwise.
GPU_FIGURES = {
    "gpu_7b_bandwidth_share": gpu_figure(
        "plain decoding, share of copy bandwidth", 0.75, bandwidth_share, "7b"
    ),
    "gpu_7b_vs_own_ar_sampled": gpu_figure(
        "over our plain decoding, T = 1", 2.2, over_plain, "7b", warp=SAMPLED
    ),
    "gpu_7b_vs_own_ar_greedy": gpu_figure(
        "over our plain decoding, greedy", 2.4, over_plain, "7b", warp=GREEDY
    ),
    "gpu_1b_vs_hf_assisted": gpu_figure(
        "greedy, over HF assisted generation", 4.0, over_hugging, "1b"
    ),
    "gpu_7b_vs_hf_assisted": gpu_figure(
        "greedy, over HF assisted generation", 3.0, over_hugging, "7b"
    ),
    "gpu_batch8_vs_own_ar": gpu_figure(
        "8 texts at once, over our plain decoding, T = 1", 1.5, batch_over_plain, "1b"
    ),
    "gpu_share_of_bound": gpu_figure(
        "least share of E/(cK + v(K+1)), K = 1 to 8", 0.85, share_of_bound_captured, "7b"
    ),
}

ALL = FIGURES | GPU_FIGURES
