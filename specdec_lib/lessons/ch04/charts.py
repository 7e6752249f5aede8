"""The figures of chapter 04 that show what was measured in the notebook, each with its words."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, show_table
from specdec_lib.lessons.drawing.style import EXCESS_COLOUR, role, show

if TYPE_CHECKING:
    from specdec_lib.measure.gap import DraftChoice, SpeedupBreakdown
    from specdec_lib.measure.strategies import DraftMeasurement
    from specdec_lib.theory import Costs


@axes.uses_student_functions("walltime_speedup")
def promise_and_clock(speedup: Callable, accounts: "Mapping[str, SpeedupBreakdown]") -> None:
    """A waterfall for each choice of draft and K: from the student's speed-up to the clock."""
    panels = axes.panels(len(accounts), (8.6, 3.0), sharex=True, sharey=True)
    words, clocks = [], []
    for ax, (name, account) in zip(panels, accounts.items(), strict=True):
        alpha, k, tokens = account.alpha, account.k, account.tokens_a_block
        speeds = {step: speedup(alpha, c, k, v) for step, (c, v) in account.steps.items()}
        *_, loop = speeds.values()
        speeds["text"] = loop * tokens / speedup(alpha, 0.0, k, 1.0)
        words.append(f"{name}: {axes.waterfall(ax, speeds, account.measured)}")
        low, high, texts = min(account.by_text), max(account.by_text), len(account.by_text)
        clocks.append(f"{account.measured:.2f} with {name} ({low:.2f} to {high:.2f})")
        ax.set(title=name, xlabel="times as fast as plain decoding")
        ax.axvline(1, color="black", linewidth=1.2)
    message = f"Times as fast as plain decoding: {'; '.join(clocks)}. Texts clocked: {texts}."
    show(ax.figure, f"{message} {'. '.join(words)}.")
    print(message)


def strategies(drafts: "Mapping[str, tuple[float, Costs]]") -> None:
    """Alpha of every draft as a bar, its c + s as a diamond, and its best speed-up in words."""
    names = sorted(drafts, key=lambda name: -drafts[name][0])
    labels = [best_speedup(*drafts[name]) for name in names]
    title = "A draft pays if its alpha is above its c + s"
    ax = axes.chart(title, size=(8.0, 0.42 * len(names) + 1.3))
    y = axes.label_rows(ax, names)
    pairs = [(alpha, costs.c + costs.s) for alpha, costs in map(drafts.get, names)]
    bar, diamond = np.array(pairs).T
    ax.barh(y, bar, 0.6, **role("accepted") | {"label": "alpha"})
    ax.plot(diamond, y, "D", color="black", label="c + s", clip_on=False)
    axes.write_beside(ax, np.maximum(bar, diamond), y, labels)
    ax.set_xlim(0, max(1.0, 1.5 * diamond.max()))
    ax.legend(loc="lower right")
    rows = zip(names, bar, diamond, labels, strict=True)
    listed = "; ".join(f"{name}: alpha {a:.2f}, c + s {d:.2g}, {text}" for name, a, d, text in rows)
    show(ax.figure, f"{title}. {listed}.")


def best_speedup(alpha: float, costs: "Costs") -> str:
    """The best K by the formula with the measured v, in words."""
    k = costs.best_k(alpha)
    return f"{costs.speedup(alpha, k):.2f} times with K = {k}" if k else "does not pay"


def show_learning_curve(curve: Mapping[int, float], costs: "Costs") -> None:
    """Alpha on unseen text by steps of a distillation, and whether the draft has come to pay."""
    first, last, line = curve[0], curve[max(curve)], costs.c + costs.s
    ax = axes.chart("The early exit learns on your loss", "alpha")
    words = draw_series(ax, list(curve), {"alpha on unseen text": list(curve.values())}, text=".3f")
    ax.axhline(line, color=EXCESS_COLOUR, linestyle="--", label=f"c + s = {line:.2f}: break-even")
    ax.set(xlabel="steps", ylim=(0, 1.25 * max(*curve.values(), line)))
    ax.margins(x=0.08)
    ax.legend(loc="lower right")
    message = f"Alpha went from {first:.3f} to {last:.3f}; c + s is {line:.2f}"
    show(ax.figure, f"{message}. By steps of training, {words}.")
    crossed = " It has crossed the line!" if first <= line < last else ""
    before, after = best_speedup(first, costs), best_speedup(last, costs)
    print(f"{message}.{crossed} By the formula: {before} before, {after} after.")


def table_of_drafts(
    rows: "Mapping[str, DraftMeasurement]",
    flat: "Mapping[str, DraftChoice]",
    measured: "Mapping[str, DraftChoice]",
) -> None:
    """What was measured of each draft, and K with its promise at v = 1 and with the measured v."""
    steps = {name: 1000 / row.tokens_per_second for name, row in rows.items()}
    name, row = next(iter(rows.items()))
    caption = f"A target pass takes {steps[name] / row.costs.c:.3g} ms, a draft step "
    caption += ", ".join(f"{ms:.3g} ({name})" for name, ms in steps.items()) + "."
    columns = ("draft", "size", "alpha", "c", "s", "K, v = 1", "promise", "K, your v", "promise ")
    cells = [
        (name, f"{row.parameters / 1e6:.2f}M", row.alpha, row.costs.c, row.costs.s)
        + (*flat[name], *measured[name])
        for name, row in rows.items()
    ]
    show_table(cells, caption, columns)
