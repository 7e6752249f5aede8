"""The figures of chapter 05 on what was measured with the built-in models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specdec_lib.lessons.ch04.measured import promise_and_clock
from specdec_lib.lessons.ch05.checks import conditional_rates
from specdec_lib.lessons.ch05.computed import blocks_needed, first_and_later
from specdec_lib.lessons.common.drawing import (
    CROSS,
    bars,
    drawn_from,
    legend_below,
    panels,
    picture,
    write_above,
)
from specdec_lib.lessons.common.style import ACCEPTED, BAND, DRAFT, show
from specdec_lib.theory import walltime_speedup


def acceptance_table(measured: Mapping[tuple[str, str], Any], paper: Sequence[Any]) -> None:
    """Alpha of every draft on every kind of text, at two temperatures, with the paper's below.

    `measured` has an Acceptance for (kind of text, name of draft); `paper` the rows of Table 3.
    """
    kinds, names = (list(dict.fromkeys(key[i] for key in measured)) for i in (0, 1))
    axes = panels(2, (9.0, 3.8), sharey=True)
    x, parts = np.arange(len(names)), []
    for ax, kind in zip(axes, kinds, strict=True):
        found = [measured[kind, name] for name in names]
        greedy, sampled = zip(*((each.greedy, each.alpha) for each in found), strict=True)
        bars(ax, x - 0.2, greedy, "draft", 0.38, label="T = 0", text=".2f")
        bars(ax, x + 0.2, sampled, "target", 0.38, label="T = 1", text=".2f")
        ax.set_title(f"{kind.capitalize()}, {found[0].positions} positions")
        ax.set_xticks(x, names)
        parts += [
            f"{kind}, {n}: {e.greedy:.3f} and {e.alpha:.3f}"
            for n, e in zip(names, found, strict=True)
        ]
    axes[0].set(ylabel="alpha", ylim=(0, 1))
    axes[1].legend(loc="upper right")
    show(axes[0].figure, f"Acceptance at temperature 0 and at 1. {'; '.join(parts)}.")
    print("The paper's Table 3, T = 0 and T = 1:")
    for row in paper:
        print(f"  {row.target:20} {row.draft:12} {row.greedy:.2f}  {row.sampled:.2f}")


def by_kind(found: Mapping[str, Mapping[str, Any]]) -> None:
    """Tokens a block by kind of text, with the 95% interval, for every drafter.

    `found` has by drafter and kind a Rate: its value, and low and high.
    """
    drafters, kinds = list(found), list(next(iter(found.values())))
    ax = picture("Tokens a block by kind of text, greedy", "tokens a block", size=(7.6, 3.8))
    x, width, parts = np.arange(len(kinds)), 0.8 / len(drafters), []
    for i, (name, rates) in enumerate(found.items()):
        at = x + (i - (len(drafters) - 1) / 2) * width
        values = [rates[kind].value for kind in kinds]
        bars(ax, at, values, ("draft", "target")[i % 2], 0.9 * width, label=name)
        ends = [(rates[kind].low, rates[kind].high) for kind in kinds]
        ax.vlines(at, *zip(*ends, strict=True), color="black", linewidth=1.8)
        tops = [high for _, high in ends]
        write_above(ax, at, tops, (f"{value:.2f}" for value in values), fontsize=9)
        parts += [
            f"{name}, {kind}: {value:.2f} ({low:.2f} to {high:.2f})"
            for kind, value, (low, high) in zip(kinds, values, ends, strict=True)
        ]
    ax.set_xticks(x, kinds)
    ax.axhline(1, color="black", linewidth=1)
    ax.set_ylim(0, 1.15 * max(each.high for rates in found.values() for each in rates.values()))
    legend_below(ax, 2)
    show(ax.figure, f"Tokens a block with the 95% interval. {'; '.join(parts)}.")


@drawn_from("acceptance_by_class")
def by_class(acceptance_by_class: Callable, verdicts: Any, classes: Sequence[str]) -> None:
    """Agreement by class from the student's function, and beside it the overlap at T = 1."""
    found = acceptance_by_class([int(n) for n in verdicts.agreed], list(verdicts.classes))
    counts = {name: verdicts.classes.count(name) for name in classes}
    labels = np.array(verdicts.classes)
    overlap = [float(verdicts.overlap[labels == name].mean()) for name in classes]
    ax = picture("Accepted by kind of token, largest draft", "alpha", size=(7.6, 3.8))
    x, mine = np.arange(len(classes)), [float(found.get(name, 0.0)) for name in classes]
    bars(ax, x, mine, "accepted", label="T = 0, by your function")
    write_above(ax, x, mine, (f"{alpha:.2f}" for alpha in mine), fontsize=9)
    errors = [(p * (1 - p) / counts[name]) ** 0.5 for p, name in zip(mine, classes, strict=True)]
    ax.errorbar(x - 0.2, mine, errors, fmt="none", color="black", linewidth=1.5)
    ax.plot(x + 0.2, overlap, "D", color="black", label="T = 1, sum min(p, q)")
    ax.set_xticks(x, [f"{name}\n{counts[name]} tokens" for name in classes])
    ax.set_ylim(0, 1)
    legend_below(ax, 2)
    rows = zip(classes, mine, overlap, strict=True)
    parts = [
        f"{name}, {counts[name]} tokens: {m:.3f} at T = 0, {o:.3f} at T = 1" for name, m, o in rows
    ]
    show(ax.figure, f"Acceptance by class of token. {'; '.join(parts)}.")


@drawn_from("alpha_from_blocks")
def by_position(alpha_from_blocks: Callable, blocks: Mapping[str, Sequence[int]], k: int) -> None:
    """Acceptance by position, given the earlier ones and over all blocks; alpha by the student.

    The first entry of `blocks` is drawn; of the others only alpha is told.
    """
    alphas = {name: float(alpha_from_blocks(list(each), k)) for name, each in blocks.items()}
    name, accepted = next(iter(blocks.items()))
    rates, tried = zip(*conditional_rates(accepted, k), strict=True)
    every = [sum(n > i for n in accepted) / len(accepted) for i in range(k)]
    errors = [
        2 * (rate * (1 - rate) / trials) ** 0.5 if trials else 0.0
        for rate, trials in zip(rates, tried, strict=True)
    ]
    ax = picture(f"Acceptance by position, {len(accepted)} blocks after {name}", "share accepted")
    x = np.arange(1, k + 1)
    look = {"fmt": "o", "color": "black", "capsize": 4}
    ax.errorbar(x, rates, errors, label="given that the earlier ones passed, ± 2 errors", **look)
    ax.plot(x, every, color=DRAFT, label="over all blocks", **CROSS)
    ax.axhline(alphas[name], color=ACCEPTED, linestyle="--", label="alpha, by your function")
    ax.set_xticks(x, [f"{i}\n{n} judged" for i, n in zip(x, tried, strict=True)])
    told = ", ".join(f"{alpha:.3f} after {each}" for each, alpha in alphas.items())
    ax.set(xlabel=f"position in the block; alpha is {told}", ylim=(0, 1))
    legend_below(ax, 2)
    rows = zip(x, rates, errors, every, strict=True)
    parts = [f"position {i}: {r:.3f} (± {e:.3f}), over all blocks {a:.3f}" for i, r, e, a in rows]
    show(ax.figure, f"Acceptance by position. {'; '.join(parts)}. Alpha is {told}.")
    if any(tried[1:]):
        _first_or_later(list(zip(rates, tried, strict=True)), len(accepted))


def _first_or_later(rates: Sequence[tuple[float, int]], blocks: int) -> None:
    difference, error = first_and_later(rates)
    print(
        f"Later positions less the first: {difference:+.3f}, standard error {error:.3f}, from "
        f"{blocks} blocks."
    )
    if difference and error:
        needed = blocks_needed(difference, error, blocks)
        print(f"If the difference is really this, {needed:,} blocks make it two standard errors.")


@drawn_from("paired_speedup")
def pairs(paired_speedup: Callable, plain: Sequence[float], fast: Sequence[float]) -> None:
    """The ratio of every timed text, their geometric mean by the student, and the quartiles."""
    mean = float(paired_speedup(list(plain), list(fast)))
    ratios = np.array(plain) / np.array(fast)
    texts = f"{len(ratios)} text{'s' * (len(ratios) > 1)}"
    ax = picture(f"{texts}, each timed with both decoders", "plain over speculative")
    x, spread = np.arange(1, len(ratios) + 1), "one text: no quartiles"
    if len(ratios) > 1:
        low, high = np.quantile(ratios, (0.25, 0.75))
        ax.axhspan(low, high, color=BAND, label="middle half of the texts")
        spread = f"quartiles {low:.2f} and {high:.2f}"
    ax.plot(x, ratios, "o", color="black", label="one text")
    look = {"color": ACCEPTED, "linestyle": "--", "linewidth": 2}
    ax.axhline(mean, label=f"geometric mean, by your function: {mean:.2f}", **look)
    ax.axhline(1, color="black", linewidth=1)
    ax.set_xticks(x)
    ax.set_xlabel(f"number of the text; {spread}")
    ax.set_ylim(0, 1.15 * max(*ratios, mean, 1))
    legend_below(ax)
    listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    show(
        ax.figure,
        f"Plain over speculative seconds, text by text: {listed}. Their geometric mean by your "
        f"function is {mean:.3f}; {spread}.",
    )


def from_formula_to_clock(alpha: float, account: Any, steps: Sequence[Any]) -> None:
    """Chapter 04's picture of a promise and a clock, with the library's formula."""
    promise_and_clock(walltime_speedup, alpha, account, steps)
