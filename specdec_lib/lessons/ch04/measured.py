"""The figures of chapter 04 that show what was measured in the notebook, each with its words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specdec_lib.lessons.common.drawing import (
    drawn_from,
    named_rows,
    picture,
    write_above,
    write_beside,
)
from specdec_lib.lessons.common.style import EXCESS, TARGET, role, show

WIDE = (8.4, 3.2)


@drawn_from("walltime_speedup")
def promise_and_clock(speedup: Callable, alpha: float, found: Any, steps: Sequence[Any]) -> None:
    """The student's speed-up with one cost more in each bar, and the measured one below.

    `steps` have a `name`, `c` and `verify_cost`; `found` has `k`, `tokens_a_block` and `measured`.
    """
    k, tokens = found.k, speedup(alpha, 0.0, found.k, 1.0)
    speeds = [speedup(alpha, step.c, k, step.verify_cost) for step in steps]
    names = [step.name for step in steps]
    names += [f"text: {found.tokens_a_block:.2f} tokens a block, not {tokens:.2f}", "the clock"]
    speeds += [speeds[-1] * found.tokens_a_block / tokens, found.measured]
    ax = picture(f"From the promise to the clock, K = {k}", size=WIDE)
    y = named_rows(ax, names)
    for name, at, speed in zip(names, y, speeds, strict=True):
        dress = role("accepted" if name == "the clock" else "target") | {"label": None}
        ax.barh(at, speed, 0.6, **dress)
    write_beside(ax, speeds, y, (f"{speed:.2f}" for speed in speeds))
    ax.axvline(1, color="black", linewidth=1.2)
    ax.set(xlim=(0, 1.15 * max(*speeds, 1)))
    low, high = min(found.by_text), max(found.by_text)
    ax.set_xlabel(f"times as fast as plain decoding; the texts: {low:.2f} to {high:.2f}")
    listed = "; ".join(f"{name}: {speed:.2f}" for name, speed in zip(names, speeds, strict=True))
    show(
        ax.figure, f"Speed-up with one cost more in each bar. {listed}. Line at 1: plain decoding."
    )


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
    return (name, size, f"{row.tokens_per_second:.0f}", f"{row.alpha:.3f}", f"{c:.3f}", *best)


def promise(speedup: Callable, draft: str, row: Any, k: int) -> None:
    """Print what `speedup` promises of a draft whose steps follow each other, with v = 1."""
    promised = speedup(row.alpha, row.again, k)
    print(
        f"\nThe choice: {draft}, K = {k}. With v = 1 and c = {row.again:.3f}, from draft steps in"
    )
    print(f"a row, the formula promises {promised:.2f} times as fast.")


def table_of_pairs(published: Mapping[str, Any]) -> None:
    """Print every published pair with the sizes of its models and of their vocabularies."""
    print(f"{'target':28}{'draft':30}{'parameters':>16}{'ratio':>7}{'vocabularies':>17}  card")
    for pair in published["pairs"].values():
        for draft in pair["drafts"].values():
            shapes = [published["repositories"][each]["shape"] for each in (pair["target"], draft)]
            large, small = (shape["parameters"] for shape in shapes)
            sizes = f"{large / 1e9:.2f}B, {small / 1e9:.2f}B"
            words = " ".join(str(shape["vocabulary"]) for shape in shapes)
            print(
                f"{pair['target']:28}{draft:30}{sizes:>16}{large / small:>7.0f}{words:>17}", end=""
            )
            print(f"  {pair['card']} GB")
