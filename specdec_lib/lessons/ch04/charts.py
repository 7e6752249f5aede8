"""The figures of chapter 04 that show what was measured in the notebook, each with its words."""

from collections.abc import Callable, Mapping
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, show_table
from specdec_lib.lessons.drawing.style import EXCESS_COLOUR, role, show

if TYPE_CHECKING:
    from specdec_lib.measure.gap import DraftChoice, SpeedupBreakdown
    from specdec_lib.measure.strategies import DraftMeasurement


@axes.uses_student_functions("walltime_speedup")
def promise_and_clock(speedup: Callable, account: "SpeedupBreakdown") -> None:
    """The student's speed-up with one cost more in each bar, and the measured one below."""
    alpha, k, tokens = account.alpha, account.k, account.tokens_a_block
    speeds = {name: speedup(alpha, c, k, v) for name, (c, v) in account.steps.items()}
    promised = speedup(alpha, 0.0, k, 1.0)
    last = list(speeds.values())[-1]
    speeds[f"text: {tokens:.2f} tokens per block, not {promised:.2f}"] = last * tokens / promised
    speeds["the clock"] = account.measured
    ax = axes.chart(f"From the promise to the clock, K = {k}", size=(8.4, 3.2))
    words = axes.named_bars(ax, speeds, [f"{speed:.2f}" for speed in speeds.values()], "target")
    ax.barh(0, account.measured, 0.6, **role("accepted"))  # the lowest row, in another dress
    ax.axvline(1, color="black", linewidth=1.2)
    ax.set_xlim(0, 1.15 * max(*speeds.values(), 1))
    count, low, high = len(account.by_text), min(account.by_text), max(account.by_text)
    texts = f"texts: {count} of {account.tokens} tokens, {low:.2f} to {high:.2f}"
    ax.set_xlabel(f"times as fast as plain decoding; {texts}")
    show(ax.figure, f"Speed-up with one cost more in each bar. {words}; {texts}.")


def strategies(drafts: Mapping[str, tuple[float, float]]) -> None:
    """Alpha of every draft as a bar, and its c as a diamond on the same axis."""
    names = sorted(drafts, key=lambda name: -drafts[name][0])
    labels = [f"alpha {drafts[name][0]:.2f}, c {drafts[name][1]:.2g}" for name in names]
    title = "A draft pays only if alpha exceeds c"
    ax = axes.chart(title, size=(8.0, 0.42 * len(names) + 1.3))
    y = axes.label_rows(ax, names)
    bar, diamond = np.array([drafts[name] for name in names]).T
    ax.barh(y, bar, 0.6, **role("accepted") | {"label": "alpha"})
    ax.plot(diamond, y, "D", color="black", label="c", clip_on=False)
    axes.write_beside(ax, np.maximum(bar, diamond), y, labels)
    ax.set_xlim(0, max(1.0, 1.3 * diamond.max()))
    ax.legend(loc="lower right")
    listed = "; ".join(f"{name}: {text}" for name, text in zip(names, labels, strict=True))
    show(ax.figure, f"{title}. {listed}.")


def show_learning_curve(curve: Mapping[int, float], c: float) -> None:
    """Alpha on unseen text over the steps of a distillation, and the draft's c."""
    ax = axes.chart("The early exit learns on your loss", "alpha")
    words = draw_series(ax, list(curve), {"alpha on unseen text": list(curve.values())}, text=".3f")
    ax.axhline(c, color=EXCESS_COLOUR, linestyle="--", label=f"c = {c:.2f}: break-even")
    ax.set(xlabel="steps", ylim=(0, 1.25 * max(*curve.values(), c)))
    ax.margins(x=0.08)
    ax.legend(loc="lower right")
    show(ax.figure, f"By steps of training, {words}. The draft's c is {c:.2f}.")


def read_curve(curve: Mapping[int, float], c: float) -> None:
    """Print whether the draft of a learning curve has come to pay."""
    first, last = curve[0], curve[max(curve)]
    crossed = "It has crossed the line: a useless draft has just become a useful one."
    below = "It is below the line: here the draft costs more than it gives."
    said = crossed if first <= c < last else below if last <= c else "The draft pays."
    print(f"Alpha went from {first:.3f} to {last:.3f}, and c is {c:.2f}. {said}")


def table_of_drafts(
    rows: "Mapping[str, DraftMeasurement]", choices: "Mapping[str, DraftChoice]", assumed: str
) -> None:
    """What was measured of each draft, and the choice of K with what it promises, as a table.

    `assumed` is what the choice assumes of v. The columns are few: a phone shows them all.
    """
    steps = {name: 1000 / row.tokens_per_second for name, row in rows.items()}
    passes = median(steps[name] / row.costs.c for name, row in rows.items())
    caption = (
        f"Your K and its promise with {assumed}. A target pass takes {passes:.3g} ms, a draft step "
    )
    columns = ("draft", "size", "alpha", "c", "s", "K", "promise")
    cells = []
    for name, row in rows.items():
        size, choice = f"{row.parameters / 1e6:.2f}M", choices[name]
        cells.append((name, size, row.alpha, row.costs.c, choice.s, choice.k, choice.speedup))
    caption += ", ".join(f"{ms:.3g} ({name})" for name, ms in steps.items()) + "."
    show_table(cells, caption, columns)
