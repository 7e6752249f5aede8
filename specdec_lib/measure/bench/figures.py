"""Every figure of the bench: what it is, what was hoped for, and how it is measured."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

from specdec_lib.measure.bench.bound import model_error, share_of_bound
from specdec_lib.measure.bench.comparisons import (
    over_best_plain,
    over_hugging,
    over_plain,
)
from specdec_lib.measure.bench.memory import memory_overhead
from specdec_lib.measure.bench.workbench import Workbench
from specdec_lib.measure.core.runs import GREEDY, SAMPLED
from specdec_lib.measure.core.timing import Picked, Spread

Value = float | Spread | Picked


class Figure(NamedTuple):
    """`goal` is at least this, or with `most` at most this; None: only reported."""

    what: str
    goal: float | None
    measure: Callable[[Workbench], Value]
    most: bool = False
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

    def verdict(self, value: Value) -> str:
        """Whether the goal is met; nothing if there is none."""
        return {True: "met", False: "missed", None: ""}[self.met(value)]


def number_of(value: Value) -> float:
    """The number that stands for a value."""
    if isinstance(value, Picked):
        return value.value
    return value.median if isinstance(value, Spread) else value


def figure(what: str, goal: float | None, measure: Callable, **options: object) -> Figure:
    """A figure: `measure` with `options`."""
    return Figure(what, goal, partial(measure, **options))


FIGURES = {
    "cost234m_vs_own_ar_sampled": figure(
        "234M cost, over our plain decoding, T = 1", 2.0, over_plain, size="234m", warp=SAMPLED
    ),
    "cost234m_vs_own_ar_greedy": figure(
        "234M cost, over our plain decoding, greedy", 2.2, over_plain, size="234m", warp=GREEDY
    ),
    "cost234m_vs_best_plain_sampled": figure(
        "234M cost, over our best plain decoding, T = 1",
        1.8,
        over_best_plain,
        size="234m",
        warp=SAMPLED,
    ),
    "cost234m_vs_best_plain_greedy": figure(
        "234M cost, over our best plain decoding, greedy",
        1.9,
        over_best_plain,
        size="234m",
        warp=GREEDY,
    ),
    "cost234m_vs_hf_generate": figure(
        "234M cost, greedy, over HF generate", 2.5, over_hugging, size="234m", assisted=False
    ),
    "cost234m_vs_hf_assisted": figure(
        "234M cost, greedy, over HF assisted generation", 2.0, over_hugging, size="234m"
    ),
    "builtin_vs_own_ar": figure(
        "built-in pair, over our plain decoding, T = 1", None, over_plain, size=None, warp=SAMPLED
    ),
    "builtin_vs_own_ar_greedy": figure(
        "built-in pair, over our plain decoding, greedy", None, over_plain, size=None, warp=GREEDY
    ),
    "builtin_vs_hf_assisted": figure(
        "built-in pair, greedy, over HF assisted generation", 2.5, over_hugging, size=None
    ),
    "builtin_vs_hf_generate": figure(
        "built-in pair, greedy, over HF generate", 2.0, over_hugging, size=None, assisted=False
    ),
    "cost40m_vs_hf_assisted": figure(
        "40M cost, float32, greedy, over HF assisted generation",
        1.4,
        over_hugging,
        size="40m",
        dtypes=(torch.float32,),
    ),
    "share_of_bound_greedy": figure(
        "least share of E/(cK + v(K+1)), K = 1 to 8, greedy", 0.88, share_of_bound, warp=GREEDY
    ),
    "share_of_bound_sampled": figure(
        "least share of E/(cK + v(K+1)), K = 1 to 8, T = 1", 0.88, share_of_bound, warp=SAMPLED
    ),
    "model_error": Figure(
        "median error of the cost model, batch 1 to 32, K = 1 to 8",
        0.12,
        model_error,
        most=True,
        number=".1%",
    ),
    "memory_overhead": Figure(
        "peak memory over weights and cache, 234M cost", 1.3, memory_overhead, most=True
    ),
}
