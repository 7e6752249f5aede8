"""The figures of chapter 05 on the papers' tables, and those that need no model.

Rows are the named tuples of the papers' tables. What a student's function is asked for is drawn as
it answers, even if it is wrong.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from specdec_lib.lessons.ch05.checks import (
    BASELINE_SECONDS,
    DRIFT,
    RUNS,
    SPECULATIVE_SECONDS,
    drifting_seconds,
)
from specdec_lib.lessons.ch05.computed import blocks_of, orders, rounding_interval
from specdec_lib.lessons.common.drawing import (
    CROSS,
    UNUSED,
    bars,
    drawn_from,
    legend_below,
    legend_beside,
    named_rows,
    panels,
    picture,
    swatches,
)
from specdec_lib.lessons.common.style import ACCEPTED, BAND, DRAFT, GREY, TARGET, role, show
from specdec_lib.theory import expected_tokens

SAMPLES = 2000  # seeded blocks for each point of the one figure that samples
FATE = {
    "accepted": role("accepted") | {"label": "accepted"},
    "rejected": role("excess") | {"label": "rejected"},
    "never judged": UNUSED | {"label": "never judged"},
}
ENDS = FATE | {"bonus": role("target") | {"label": "bonus: not judged"}}
# The methods whose marks are named in the picture by task.
NAMED = {
    "Draft model": {"marker": "D", "color": DRAFT, "markersize": 10, "zorder": 3},
    "Prompt lookup": {"marker": "s", "color": TARGET, "markersize": 8, "zorder": 3},
}
PRINTED = {"color": TARGET, "markerfacecolor": "white", "markersize": 7, "markeredgewidth": 1.8}


def six_blocks(accepted: Sequence[int], k: int) -> None:
    """Every draft token of some blocks as a square: accepted, rejected, or never judged."""
    ax = picture(f"{len(accepted)} blocks of {k} draft tokens", size=(6.4, 3.2))
    names = [f"block {i + 1}" for i in range(len(accepted))]
    for y, n in zip(named_rows(ax, names), accepted, strict=True):
        fates = (["accepted"] * n + ["rejected"] + ["never judged"] * k)[:k]
        for x, fate in enumerate(fates):
            ax.add_patch(Rectangle((x + 0.1, y - 0.38), 0.8, 0.76, **FATE[fate]))
    ax.set_xlim(0, k)
    ax.set_xticks(np.arange(k) + 0.5, [str(x) for x in range(k)])
    ax.set_xlabel("position in the block")
    ax.grid(visible=False)
    legend_beside(ax, handles=swatches(FATE.values()))
    texts = [f"{name}: {n} accepted" for name, n in zip(names, accepted, strict=True)]
    show(
        ax.figure,
        f"Blocks of {k} draft tokens. {'; '.join(texts)}. A block that was stopped has one "
        "rejected token after the accepted ones; the rest of it was never judged.",
    )


def how_likely(accepted: Sequence[int], k: int) -> None:
    """How probable these blocks are, for every alpha, with the largest value drawn as 1."""
    passed, stopped = sum(accepted), sum(n < k for n in accepted)
    alphas = np.linspace(0, 1, 201)
    chance = alphas**passed * (1 - alphas) ** stopped
    ax = picture("How probable are these six blocks?", "probability, the top is 1", size=(6.4, 3.2))
    ax.plot(alphas, chance / chance.max(), color=TARGET)
    ax.set(xlabel="alpha", xlim=(0, 1), ylim=(0, 1.08))
    ax.set_xticks(
        np.linspace(0, 1, 21),
        [f"{x:.1f}" if i % 2 == 0 else "" for i, x in enumerate(np.linspace(0, 1, 21))],
    )
    values = zip(alphas[::20], (chance / chance.max())[::20], strict=True)
    text = ", ".join(f"{value:.2f} at {alpha:.1f}" for alpha, value in values)
    show(ax.figure, f"Probability of the six blocks over alpha, relative to its top: {text}.")


@drawn_from("alpha_from_blocks")
def alpha_found_again(alpha_from_blocks: Callable, k: int) -> None:
    """Seeded blocks of known alpha: what the student's function finds, and accepted by drafted."""
    truths = np.linspace(0.1, 0.9, 9)
    blocks = [_sampled_blocks(alpha, k, seed) for seed, alpha in enumerate(truths)]
    found = np.array([float(alpha_from_blocks(list(each), k)) for each in blocks])
    naive = np.array([sum(each) / (k * len(each)) for each in blocks])
    ax = picture(f"Blocks of {k} made with a known alpha", "estimate", size=(6.4, 3.8))
    ax.plot([0, 1], [0, 1], color="black", linewidth=1, label="the alpha they were made with")
    ax.plot(truths, found, "o", color=ACCEPTED, markersize=9, label="your function")
    ax.plot(truths, naive, color=DRAFT, label="accepted by drafted", **CROSS)
    ax.set(xlabel="alpha", ylim=(0, 1.02))
    ax.legend(loc="upper left")
    pairs = zip(truths, found, naive, strict=True)
    text = "; ".join(f"{t:.1f}: yours {f:.3f}, accepted by drafted {n:.3f}" for t, f, n in pairs)
    show(ax.figure, f"Estimates of alpha from {SAMPLES} seeded blocks each. Made with {text}.")


def _sampled_blocks(alpha: float, k: int, seed: int) -> list[int]:
    """Accepted counts of SAMPLES blocks whose tokens pass with `alpha`, each on its own."""
    passed = np.random.default_rng(seed).random((SAMPLES, k)) < alpha
    return passed.cumprod(axis=1).sum(axis=1).tolist()


@drawn_from("operations_factor")
def operations_against_speed(operations_factor: Callable, rows: Sequence[Any]) -> None:
    """Table 1: the student's operations and the tokens a block, beside what the paper prints."""
    mine = [float(operations_factor(row.alpha, 0.0, row.k)) for row in rows]
    ax = picture("Table 1: what a token costs, and what it gains", "times plain decoding")
    x = np.arange(len(rows))
    speeds, printed = [row.speed for row in rows], [row.operations for row in rows]
    bars(ax, x - 0.2, mine, "draft", 0.38, label="operations, by your function", text=".2f")
    bars(ax, x + 0.2, speeds, "accepted", 0.38, label="speed at c = 0, printed", text=".2f")
    # Below the numbers that stand above the bars.
    line = {"color": "black", "linewidth": 2.5, "label": "operations, printed"}
    ax.hlines(printed, x - 0.39, x - 0.01, **line)
    ax.set_xticks(x, [f"{row.alpha:g}\nK = {row.k}" for row in rows])
    ax.set(xlabel="alpha and block length", ylim=(0, 1.15 * max(*mine, *speeds)))
    ax.legend(loc="upper left")
    parts = [
        f"alpha {row.alpha:g}, K {row.k}: yours {value:.2f}, printed {row.operations:.2f}, "
        f"speed {row.speed:.2f}"
        for row, value in zip(rows, mine, strict=True)
    ]
    show(ax.figure, f"Operations a token over plain decoding. {'; '.join(parts)}.")


def expected_and_measured(rows: Sequence[Any]) -> None:
    """Tables 2 and 4: the interval of the formula, the printed value in it, the measured one."""
    ax = picture("T5-XXL: what the formula expects, what the clock said", size=(7.6, 5.0))
    y = named_rows(ax, [setting_name(row) for row in rows])
    lows, highs = np.array([rounding_interval(r.alpha, r.c, r.k) for r in rows]).T
    band = {"color": BAND, "edgecolor": GREY, "label": "formula, with the rounding"}
    ax.barh(y, highs - lows, 0.55, left=lows, **band)
    ax.plot([r.expected for r in rows], y, "s", label="expected, printed", **PRINTED)
    ax.plot([r.measured for r in rows], y, "D", color="black", markersize=7, label="measured")
    ax.set(xlim=(1.0, 3.7), xlabel="times as fast as plain decoding")
    legend_below(ax)
    parts = [
        f"{setting_name(row)}: formula {low:.2f} to {high:.2f}, printed {row.expected}, "
        f"measured {row.measured}"
        for row, low, high in zip(rows, lows, highs, strict=True)
    ]
    show(ax.figure, f"Speed-ups of T5-XXL. {'; '.join(parts)}.")


def setting_name(row: Any) -> str:
    """A row of Tables 2 and 4 in a few words."""
    return f"{row.task}, {row.draft}, T = {row.temperature}"


@drawn_from("implied_alpha")
def implied_rates(implied_alpha: Callable, settings: Sequence[Any], loops: Sequence[Any]) -> None:
    """The alpha that each clock implies, by the student's function, beside the printed one."""
    names = [setting_name(row) for row in settings]
    names += [f"Chen, {row.benchmark}, {row.sampling}" for row in loops]
    times = [(1 / row.measured, 1.0, row.c, row.k) for row in settings]
    times += [(row.speculative_ms, row.plain_ms, row.draft_ms, row.k) for row in loops]
    implied = [_alpha_or_nan(implied_alpha, *each) for each in times]
    ax = picture("The acceptance rate that the clock implies", size=(7.6, 5.6))
    y = named_rows(ax, names)
    printed = np.array([row.alpha for row in settings])
    ax.hlines(y[: len(printed)], printed, implied[: len(printed)], color=GREY, linewidth=1.5)
    ax.plot(printed, y[: len(printed)], "s", label="alpha, printed", **PRINTED)
    ax.plot(implied, y, "D", color="black", markersize=7, label="implied, by your function")
    ax.set(xlim=(0, 1), xlabel="alpha")
    legend_below(ax, 2)
    shown = [f"{row.alpha:.2f} printed, " for row in settings] + [""] * len(loops)
    parts = [f"{n}: {s}{a:.3f} implied" for n, s, a in zip(names, shown, implied, strict=True)]
    show(ax.figure, f"Acceptance rates. {'; '.join(parts)}.")


def _alpha_or_nan(implied_alpha: Callable, *times: float) -> float:
    """What the student's function returns, NaN if it says that no alpha fits."""
    try:
        return float(implied_alpha(*times))
    except ValueError:
        return float("nan")


@drawn_from("paired_speedup")
def two_orders(paired_speedup: Callable) -> None:
    """The same slowing machine, timed one side after the other, and interleaved."""
    left, right = panels(2, (8.6, 3.6), ylabel="seconds a run", sharey=True)
    parts = []
    for ax, interleaved, name in (
        (left, False, "all plain runs first"),
        (right, True, "by turns"),
    ):
        seconds = drifting_seconds(interleaved)
        speedup = float(paired_speedup(*(list(map(float, each)) for each in seconds)))
        _draw_runs(ax, *seconds, interleaved)
        ax.set_title(f"{name.capitalize()}: {speedup:.2f} times as fast")
        parts.append(f"timed {name}, your function gives {speedup:.3f}")
    left.legend(loc="upper left")
    show(
        left.figure,
        f"A machine that becomes {DRIFT:.0%} slower over {2 * RUNS} runs, and a method that is "
        f"{BASELINE_SECONDS / SPECULATIVE_SECONDS:g} times as fast: {'; '.join(parts)}.",
    )


def _draw_runs(ax: Axes, plain: np.ndarray, fast: np.ndarray, interleaved: bool) -> None:
    """Both sides at the places in time that the order gives them."""
    n = len(plain)
    at = (np.arange(n) * 2, np.arange(n) * 2 + 1) if interleaved else np.split(np.arange(2 * n), 2)
    ax.plot(at[0], plain, "o", color=TARGET, label="plain")
    ax.plot(at[1], fast, "^", color=DRAFT, label="speculative")
    ax.set_ylim(0, 1.9)
    ax.set_xticks(range(0, 2 * n, 5), range(1, 2 * n + 1, 5))
    ax.set_xlabel("run, in the order of the clock")


def three_orders(k: int) -> None:
    """The same right and wrong positions in three orders, cut into the blocks of a decoder."""
    ax = picture("18 right positions of 24, in three orders", size=(8.4, 2.8))
    parts, names = [], []
    for y, (name, order) in zip((2, 1, 0), orders().items(), strict=True):
        blocks = blocks_of(order, k)
        at = 0
        for block in blocks:
            for fate in block:
                ax.add_patch(Rectangle((at + 0.06, y - 0.3), 0.88, 0.6, **ENDS[fate]))
                at += 1
            ax.plot([at, at], [y - 0.42, y + 0.42], color="black", linewidth=2)
        tokens = len(order) / len(blocks)
        names.append(f"{name}\n{len(blocks)} blocks, {tokens:.2f} tokens each")
        parts.append(f"{name}: {len(blocks)} blocks, {tokens:.2f} tokens a block")
    named_rows(ax, names)
    ax.set(xlim=(0, len(order)), xlabel="position in the text; a line ends a block")
    ax.grid(visible=False)
    kinds = ("accepted", "rejected", "bonus")
    legend_below(ax, handles=swatches(ENDS[kind] for kind in kinds))
    alpha = sum(order) / len(order)
    told = f"The formula gives {expected_tokens(alpha, k):.2f} at alpha {alpha:g} and K = {k}"
    show(ax.figure, f"Blocks of {k} over the same acceptances. {'; '.join(parts)}. {told}.")


def by_task(rows: Sequence[Any]) -> None:
    """Speed-ups of the methods by task, the task with the lowest mean at the bottom."""
    tasks = list(rows[0]._fields[1:])
    means = {task: float(np.mean([getattr(row, task) for row in rows])) for task in tasks}
    tasks.sort(key=lambda task: -means[task])
    ax = picture("Spec-Bench: the same method, another text", size=(7.6, 3.6))
    y = named_rows(ax, [task.replace("_", " ") for task in tasks])
    for row in rows:
        look = NAMED.get(row.method, {"marker": "o", "color": GREY})
        name = row.method if row.method in NAMED else None
        ax.plot([getattr(row, task) for task in tasks], y, linestyle="none", label=name, **look)
    ax.plot([], [], "o", color=GREY, label=f"{len(rows) - len(NAMED)} other methods")
    ax.axvline(1, color="black", linewidth=1)
    ax.set(xlim=(0.9, 2.8), xlabel="times as fast as plain decoding, Vicuna 7B on an A100")
    legend_below(ax)
    parts = [
        f"{row.method}: " + ", ".join(f"{task} {getattr(row, task)}" for task in tasks)
        for row in rows
    ]
    told = ", ".join(f"{task} {means[task]:.2f}" for task in tasks)
    show(ax.figure, f"Speed-ups by task. {'; '.join(parts)}. Means: {told}.")


def two_devices(rows: Sequence[Any]) -> None:
    """Tokens a step and speed-up of the same methods on two machines."""
    ax = picture("Spec-Bench, Vicuna 7B: the same tokens, other speed-ups", size=(7.6, 4.4))
    blocks = [(r.rtx3090_tokens / r.rtx3090_speedup, r.a100_tokens / r.a100_speedup) for r in rows]
    names = [
        f"{r.method}, {r.a100_tokens:.2f} tokens\na block takes {one:.2f} and {other:.2f}"
        for r, (one, other) in zip(rows, blocks, strict=True)
    ]
    y = named_rows(ax, names)
    slow, fast = [r.rtx3090_speedup for r in rows], [r.a100_speedup for r in rows]
    ax.hlines(y, slow, fast, color=GREY, linewidth=1.5)
    ax.plot(slow, y, "o", color=TARGET, markersize=9, label="RTX 3090")
    ax.plot(fast, y, "s", color=DRAFT, markersize=8, label="A100")
    ax.set(xlim=(1.0, 2.5), xlabel="times as fast as plain decoding on the same machine")
    legend_below(ax, 2)
    parts = [
        f"{r.method}: {r.rtx3090_tokens} tokens and {r.rtx3090_speedup}x on the RTX 3090, "
        f"{r.a100_tokens} tokens and {r.a100_speedup}x on the A100"
        for r in rows
    ]
    show(ax.figure, f"Speed-ups on two machines. {'; '.join(parts)}.")
