"""The figures of chapter 04 that show what was measured in the notebook, each with its words."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from specdec_lib.lessons.common.drawing import (
    drawn_from,
    named_bars,
    named_rows,
    picture,
    write_beside,
)
from specdec_lib.lessons.common.series import draw, table
from specdec_lib.lessons.common.style import EXCESS, role, show


@drawn_from("walltime_speedup")
def promise_and_clock(speedup: Callable, account: Any) -> None:
    """The student's speed-up with one cost more in each bar, and the measured one below.

    `account` has `alpha`, `k`, `tokens_a_block`, `measured`, `by_text`, and `steps`: by name the c
    and the v of each.
    """
    alpha, k, found = account.alpha, account.k, account.tokens_a_block
    speeds = {name: speedup(alpha, c, k, v) for name, (c, v) in account.steps.items()}
    promised, last = speedup(alpha, 0.0, k, 1.0), list(speeds.values())[-1]
    speeds[f"text: {found:.2f} tokens a block, not {promised:.2f}"] = last * found / promised
    speeds["the clock"] = account.measured
    ax = picture(f"From the promise to the clock, K = {k}", size=(8.4, 3.2))
    told = named_bars(ax, speeds, [f"{speed:.2f}" for speed in speeds.values()], "target")
    ax.barh(0, account.measured, 0.6, **role("accepted"))  # the lowest row, in another dress
    ax.axvline(1, color="black", linewidth=1.2)
    ax.set_xlim(0, 1.15 * max(*speeds.values(), 1))
    texts = f"the texts: {min(account.by_text):.2f} to {max(account.by_text):.2f}"
    ax.set_xlabel(f"times as fast as plain decoding; {texts}")
    show(ax.figure, f"Speed-up with one cost more in each bar. {told}; {texts}.")


def strategies(alphas: Mapping[str, float], costs: Mapping[str, float]) -> None:
    """Alpha of every draft as a bar, and its c as a diamond on the same axis, if it is known."""
    names = sorted(alphas, key=lambda name: -alphas[name])
    told = {name: f"alpha {alphas[name]:.2f}" for name in names}
    told |= {name: f"{told[name]}, c {costs[name]:.2g}" for name in names if name in costs}
    ax = picture("The bar must reach beyond the diamond", size=(8.0, 0.42 * len(names) + 1.3))
    y, bar = named_rows(ax, names), [alphas[name] for name in names]
    diamond = [costs.get(name, np.nan) for name in names]
    ax.barh(y, bar, 0.6, **role("accepted") | {"label": "alpha"})
    ax.plot(diamond, y, "D", color="black", label="c")
    write_beside(ax, np.fmax(bar, diamond), y, told.values())
    ax.set_xlim(0, 1)
    ax.legend(loc="lower right")
    listed = "; ".join(f"{name}: {text}" for name, text in told.items())
    show(ax.figure, f"Acceptance and cost by strategy. {listed}.")


def learning_curve(curve: Mapping[int, float], c: float) -> None:
    """Alpha on unseen text over the steps of a distillation, and the draft's c."""
    ax = picture("The early exit learns on your loss", "alpha")
    told = draw(ax, list(curve), {"alpha on unseen text": list(curve.values())}, text=".3f")
    ax.axhline(c, color=EXCESS, linestyle="--", label=f"c = {c:.2f}: break-even")
    ax.set(xlabel="steps", ylim=(0, 1.25 * max(*curve.values(), c)))
    ax.margins(x=0.08)
    ax.legend(loc="lower right")
    show(ax.figure, f"By steps of training, {told}. The draft's c is {c:.2f}.")


@drawn_from("walltime_speedup")
def table_of_drafts(speedup: Callable, rows: Mapping[str, Any]) -> None:
    """What was measured of each draft, and the best K by the student's function, as a table."""

    def best(row: Any, v: Mapping[int, float]) -> str:
        speeds = {m - 1: float(speedup(row.alpha, row.costs.c, m - 1, v[m])) for m in sorted(v)}
        k = max(speeds, key=speeds.get)
        return f"K = {k}: {speeds[k]:.2f}"

    table([
        {
            "draft": name,
            "parameters": f"{row.parameters / 1e6:.2f}M",
            "tokens/s": round(row.tokens_per_second),
            "alpha": row.alpha,
            "c": row.costs.c,
            "with v = 1": best(row, dict.fromkeys(row.costs.v, 1.0)),
            "with measured v": best(row, row.costs.v),
        }
        for name, row in rows.items()
    ])  # fmt: skip


def promise(speedup: Callable, draft: str, row: Any, k: int) -> None:
    """Print what `speedup` promises of a draft whose steps follow each other, with v = 1."""
    promised = speedup(row.alpha, row.again, k)
    print(f"The choice: {draft}, K = {k}. With v = 1 and c = {row.again:.3f}, from draft steps in")
    print(f"a row, the formula promises {promised:.2f} times as fast.")


def table_of_pairs(published: Mapping[str, Any]) -> None:
    """Every published pair with the sizes of its models and of their vocabularies, as a table."""
    rows = []
    for pair in published["pairs"].values():
        for draft in pair["drafts"].values():
            shapes = [published["repositories"][each]["shape"] for each in (pair["target"], draft)]
            large, small = (shape["parameters"] for shape in shapes)
            rows.append({
                "target": pair["target"],
                "draft": draft,
                "parameters": f"{large / 1e9:.2f}B, {small / 1e9:.2f}B",
                "ratio": round(large / small),
                "vocabularies": " ".join(str(shape["vocabulary"]) for shape in shapes),
                "card": f"{pair['card']} GB",
            })  # fmt: skip
    table(rows)
