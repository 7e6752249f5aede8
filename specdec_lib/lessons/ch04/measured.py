"""The figures of chapter 04 that show what was measured in the notebook, each with its words."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from specdec_lib.lessons.common.drawing import (
    drawn_from,
    named_rows,
    panels,
    picture,
    write_above,
    write_beside,
)
from specdec_lib.lessons.common.style import ACCEPTED, EXCESS, TARGET, role, show


@drawn_from("walltime_speedup")
def flat_or_measured(speedup: Callable, rows: Mapping[str, Any]) -> None:
    """The student's speed-up over K with v = 1 and with the measured v, a panel for each row."""
    axes, parts = panels(len(rows), (8.8, 3.4), sharey=True), []
    for ax, (name, row) in zip(axes, rows.items(), strict=True):
        ks = [m - 1 for m in sorted(row.costs.v)]
        flat = [speedup(row.alpha, row.costs.c, k) for k in ks]
        real = [speedup(row.alpha, row.costs.c, k, row.costs.v[k + 1]) for k in ks]
        ax.plot(ks, flat, "s--", color=ACCEPTED, label="v = 1")
        ax.plot(ks, real, "o-", color=TARGET, label="measured v")
        ax.axhline(1, color="black", linewidth=1.2)
        ax.set(title=f"{name}: alpha {row.alpha:.2f}, c {row.costs.c:.2f}", xlabel="K")
        parts.append(f"{name}: {_in_words(ks, flat)} with v = 1, {_in_words(ks, real)} as measured")
    axes[0].set(ylabel="times as fast", ylim=(0, None))
    axes[0].legend(loc="lower left")
    show(axes[0].figure, f"Speed-up over K. {'; '.join(parts)}.")


def _in_words(ks: list[int], speeds: list[float]) -> str:
    best = max(ks, key=lambda k: speeds[k])
    return f"best {speeds[best]:.2f} at K = {best}"


def strategies(alphas: Mapping[str, float], costs: Mapping[str, float]) -> None:
    """Alpha of every draft as a bar, and its c as a diamond on the same axis, if it is known."""
    names = sorted(alphas, key=lambda name: -alphas[name])
    ax = picture("The bar must reach beyond the diamond", size=(8.0, 0.42 * len(names) + 1.3))
    y, bar = named_rows(ax, names), [alphas[name] for name in names]
    diamond = [costs.get(name, np.nan) for name in names]
    ax.barh(y, bar, 0.6, **role("accepted") | {"label": "alpha"})
    ax.plot(diamond, y, "D", color="black", label="c")
    write_beside(ax, np.fmax(bar, diamond), y, (_pair(name, alphas, costs) for name in names))
    ax.set_xlim(0, 1)
    ax.legend(loc="lower right")
    listed = "; ".join(f"{name}: {_pair(name, alphas, costs)}" for name in names)
    show(ax.figure, f"Acceptance and cost by strategy. {listed}.")


def _pair(name: str, alphas: Mapping[str, float], costs: Mapping[str, float]) -> str:
    cost = f", c {costs[name]:.2g}" if name in costs else ""
    return f"alpha {alphas[name]:.2f}{cost}"


def learning_curve(curve: Mapping[int, float], c: float) -> None:
    """Alpha on unseen text over the steps of a distillation, and the draft's c."""
    ax = picture("The early exit learns on your loss", "alpha", size=(7.0, 3.4))
    ax.plot(list(curve), list(curve.values()), "o-", color=TARGET, label="alpha on unseen text")
    ax.axhline(c, color=EXCESS, linestyle="--", label=f"c = {c:.2f}: break-even")
    for step, alpha in curve.items():
        write_above(ax, [step], [alpha], [f"{alpha:.3f}"], gap=7 if alpha > c else -16)
    ax.set(xlabel="steps", ylim=(0, 1.25 * max(*curve.values(), c)))
    ax.margins(x=0.08)
    ax.legend(loc="lower right")
    listed = ", ".join(f"{alpha:.3f} after {step}" for step, alpha in curve.items())
    show(ax.figure, f"Alpha by steps of training: {listed}. The draft's c is {c:.2f}.")


def table_of_drafts(rows: Mapping[str, Any], walltime_speedup: Callable) -> None:
    """Print what was measured of each draft, and what the student's function makes of it."""
    try:
        lines = [_line(name, row, walltime_speedup) for name, row in rows.items()]
    except NotImplementedError:
        print("This table uses your own walltime_speedup. Write it first.")
        return
    except Exception as error:  # whatever a half-written function does
        print(f"Your walltime_speedup cannot be used yet: {error!r}")
        return
    head = ("draft", "parameters", "tokens/s", "alpha", "c", "with v = 1", "with measured v")
    for line in (head, *lines):
        print(f"{line[0]:12}{line[1]:>11}{line[2]:>10}{line[3]:>7}{line[4]:>7}", end="")
        print(f"{line[5]:>16}{line[6]:>17}")


def _line(name: str, row: Any, speedup: Callable) -> tuple[str, ...]:
    """A draft's row; the last two columns are the best K and its speed-up."""
    c, v = row.costs.c, row.costs.v
    flat = [speedup(row.alpha, c, m - 1) for m in sorted(v)]
    real = [speedup(row.alpha, c, m - 1, v[m]) for m in sorted(v)]
    best = [f"K = {int(np.argmax(each))}: {max(each):.2f}" for each in (flat, real)]
    size = f"{row.parameters / 1e6:.2f}M"
    return (name, size, f"{row.tokens_per_second:.0f}", f"{row.alpha:.3f}", f"{c:.2f}", *best)
