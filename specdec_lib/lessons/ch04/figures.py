"""The figures of chapter 04 that draw the student's functions, each with its words.

They show what the function does, even if it is wrong: no line, label or text assumes the right
answer.
"""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.common.drawing import (
    LINES,
    bars,
    drawn_from,
    legend_below,
    named_rows,
    picture,
    write_inside,
)
from specdec_lib.lessons.common.style import PALE, TARGET, role, show


def one_block(target_ms: float, draft_ms: float, k: int, accepted: int) -> None:
    """One block beside plain decoding of as many tokens, in milliseconds."""
    tokens = accepted + 1
    block, alone = k * draft_ms + target_ms, tokens * target_ms
    ax = picture("One block, and plain decoding of as many tokens", size=(8.2, 2.9))
    named_rows(ax, ["plain", "speculative"])
    for i in range(tokens):
        ax.barh(1, target_ms, 0.5, left=i * target_ms, **role("target") | {"label": None})
        ax.text((i + 0.5) * target_ms, 1, "target pass", ha="center", va="center")
    for i in range(k):
        name = "accepted" if i < accepted else "excess"
        word = "draft token, accepted" if i < accepted else "draft token, not used"
        label = word if i in (0, accepted) else None
        ax.barh(0, draft_ms, 0.5, left=i * draft_ms, **role(name) | {"label": label})
    ax.barh(0, target_ms, 0.5, left=k * draft_ms, **role("target") | {"label": None})
    ax.text(k * draft_ms + target_ms / 2, 0, "target pass", ha="center", va="center")
    told = f"{block:g} ms for {tokens} tokens: {block / tokens:g} ms each"
    ax.text(block + 4, 0, told, va="center")
    ax.set_xlabel(f"milliseconds; plain: {target_ms:g} ms each, {alone / block:.2f} times as long")
    ax.grid(visible=False)
    legend_below(ax, 2)
    show(
        ax.figure,
        f"Two rows of bars over time. Plain: {tokens} target passes of {target_ms:g} ms, together "
        f"{alone:g} ms. Speculative: {k} draft steps of {draft_ms:g} ms, {accepted} of them "
        f"accepted, and one target pass. {told}, {alone / block:.2f} times as fast.",
    )


@drawn_from("expected_accepted")
def found_formula(accepted: Callable, means: Mapping[float, Sequence[float]]) -> None:
    """The student's mean over K as lines, and simulated `means` for K = 1, 2, ... as circles."""
    ax = picture("Simulated blocks, and your function", "accepted draft tokens")
    parts = []
    for (alpha, circles), (colour, dash, _) in zip(means.items(), LINES, strict=False):
        ks = list(range(1, len(circles) + 1))
        line = [accepted(alpha, k) for k in ks]
        ax.plot(ks, line, dash, color=colour, label=f"yours, alpha = {alpha:g}")
        ax.plot(ks, circles, "o", color=colour, markerfacecolor="white", markersize=8)
        far = max(abs(one - other) for one, other in zip(line, circles, strict=True))
        parts.append(
            f"alpha {alpha:g}: at K = {ks[-1]} simulated {circles[-1]:.2f}, yours "
            f"{line[-1]:.2f}, at most {far:.2f} apart"
        )
    ax.set_xlabel("K, draft tokens in a block; circles: 10,000 simulated blocks")
    legend_below(ax)
    show(ax.figure, f"Accepted draft tokens of a block. {'; '.join(parts)}.")


@drawn_from("expected_accepted", "expected_tokens")
def tokens_of_a_block(accepted: Callable, tokens: Callable, alpha: float = 0.7) -> None:
    """The student's two means for K = 0..10, the one on top of the other."""
    ks = np.arange(11)
    low = np.array([accepted(alpha, int(k)) for k in ks], dtype=float)
    whole = np.array([tokens(alpha, int(k)) for k in ks], dtype=float)
    ax = picture(f"Tokens of a block by your functions, alpha = {alpha:g}", "tokens on average")
    bars(ax, ks, low, "accepted", 0.8, label="accepted draft tokens")
    dress = {"label": "correction or bonus", "hatch": ".."}
    ax.bar(ks, whole - low, 0.8, bottom=low, **role("target") | dress)
    for k, value in zip(ks, whole, strict=True):
        write_inside(ax, k, value - 0.2, f"{value:.2f}", fontsize=9)
    bound = 1 / (1 - alpha)
    ax.axhline(bound, color="black", linestyle="--", label=f"1/(1 - alpha) = {bound:.2f}")
    ax.set_xticks(ks)
    ax.set_xlabel("K, draft tokens in a block")
    ax.set_ylim(min(0.0, low.min()), 1.2 * max(bound, whole.max()))
    legend_below(ax)
    parts = [f"K = {k}: {a:.2f} and {t:.2f}" for k, a, t in zip(ks, low, whole, strict=True)]
    show(
        ax.figure,
        f"Accepted tokens and all tokens of a block, by your functions. {'; '.join(parts)}.",
    )


@drawn_from("walltime_speedup")
def speed_by_k(speedup: Callable, alpha: float, costs: Sequence[float]) -> None:
    """The student's speed-up over K for several c, its best K ringed."""
    lines = {f"c = {c:g}": [speedup(alpha, c, k) for k in range(21)] for c in costs}
    ax = picture(f"Speed-up by your function, alpha = {alpha:g}")
    show(ax.figure, f"Speed-up over K, {_draw_lines(ax, lines)}")


@drawn_from("walltime_speedup")
def perfect_to_useless(speedup: Callable, costs: Sequence[float], k: int) -> None:
    """Print the student's speed-up from a perfect draft to a useless one, for several c."""
    rows = [(alpha, [speedup(alpha, c, k) for c in costs]) for alpha in (1.0, 0.7, 0.3, 0.0)]
    print(f"Speed-up by your function, K = {k}; the text has the target's distribution each time.")
    print("alpha  " + "".join(f"{f'c = {c:g}':>10}" for c in costs))
    for alpha, speeds in rows:
        print(f"{alpha:5.1f}  " + "".join(f"{speed:10.2f}" for speed in speeds))


@drawn_from("expected_tokens", "walltime_speedup")
def next_draft_token(tokens: Callable, speedup: Callable, alpha: float, c: float) -> None:
    """What each further draft token brings for its time, and the speed-up without it."""
    ks = np.arange(9)
    rates = [(tokens(alpha, int(k) + 1) - tokens(alpha, int(k))) / c for k in ks]
    speeds = [speedup(alpha, c, int(k)) for k in ks]
    ax = picture(f"The next draft token, alpha = {alpha:g}, c = {c:g}", "tokens for a pass's time")
    bars(ax, ks, rates, "draft", 0.6, label="the next draft token brings")
    ax.plot(ks, speeds, "o-", color="black", label="speed-up without it")
    best = int(np.argmax(speeds))
    ax.annotate("top", (best, speeds[best]), xytext=(0, 7), textcoords="offset points", ha="center")
    ax.set_xticks(ks)
    ax.set_xlabel("K, draft tokens that the block has already")
    legend_below(ax, 2)
    listed = "; ".join(
        f"K = {k}: the next brings {rate:.2f}, the speed-up is {speed:.2f}"
        for k, rate, speed in zip(ks, rates, speeds, strict=True)
    )
    show(ax.figure, f"What the next draft token brings for a pass's time. {listed}.")


@drawn_from("best_k")
def best_k_map(
    best_k: Callable, alphas: Sequence[float], costs: Sequence[float], k_max: int
) -> None:
    """The student's best K for every alpha and c, as a table of numbers."""
    table = np.array([[best_k(alpha, c, k_max) for c in costs] for alpha in alphas])
    title = f"The best K by your function, up to {k_max}"
    labels = [f"{alpha:g}" for alpha in alphas], [f"{c:g}" for c in costs]
    ax = _number_table(table, labels, title, "{:.0f}", size=(6.4, 4.2))
    ax.set(ylabel="alpha", xlabel="c, time of a draft step; grey: plain decoding is fastest")
    for row, column in np.argwhere(table == 0):
        ax.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, color="0.85", zorder=0))
    rows = [
        f"alpha {a}: {', '.join(map(str, row))}" for a, row in zip(labels[0], table, strict=True)
    ]
    show(ax.figure, f"Best K for c of {', '.join(labels[1])}, by your function. {'; '.join(rows)}.")


@drawn_from("prompt_lookup")
def found_in_the_text(lookup: Callable, words: Sequence[str], k: int) -> None:
    """A text in boxes, and after it what the student's lookup drafts."""
    known = list(dict.fromkeys(words))
    drafted = [known[token] for token in lookup([known.index(word) for word in words], k)]
    ax = picture("The text, and what your function drafts after it", size=(8.8, 1.7))
    for i, word in enumerate([*words, *drafted]):
        bars(ax, [i], [1], "target" if i < len(words) else "draft", 0.94)
        write_inside(ax, i, 0.5, word, fontsize=10)
    ax.set_xticks(range(len(words)), [str(i) for i in range(len(words))])
    ax.set_yticks([])
    ax.set_xlabel(f"position; after the text your draft: {' '.join(drafted) or 'none'}")
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    show(
        ax.figure,
        f"The text: {' '.join(words)}. Your function drafts: {' '.join(drafted) or 'nothing'}.",
    )


@drawn_from("bigram_probs")
def bigram_table(bigram_probs: Callable, words: Sequence[str]) -> None:
    """The student's table of a small text, without smoothing."""
    known = list(dict.fromkeys(words))
    table = np.asarray(bigram_probs([known.index(word) for word in words], len(known), 0.0))
    title = "What follows each word, by your function (smoothing 0)"
    ax = _number_table(table, (known, known), title, "{:.2f}", size=(6.4, 4.2), hide=0.0)
    ax.set(ylabel="this word", xlabel="is followed by")
    rows = [
        f"after {word}: "
        + ", ".join(f"{other} {x:.2f}" for other, x in zip(known, row, strict=True) if x)
        for word, row in zip(known, table, strict=True)
    ]
    show(
        ax.figure, f"The table of the text {' '.join(words)}, by your function. {'; '.join(rows)}."
    )


@drawn_from("distillation_loss")
def loss_of_a_coin(loss: Callable, p: float) -> None:
    """The student's loss for a vocabulary of two tokens, over the draft's probability of one."""
    import torch

    qs = np.linspace(0.04, 0.96, 24)
    target = torch.tensor([[p, 1 - p]]).log()
    losses = [float(loss(target, torch.tensor([[q, 1 - q]]).log())) for q in qs]
    title = f"Your loss for two tokens; the target gives {p:g} to the first"
    ax = picture(title, "loss, 1 - alpha")
    ax.plot(qs, losses, "o-", color=TARGET, markersize=4)
    ax.axvline(p, color="black", linestyle="--", linewidth=1)
    ax.annotate("q = p", (p, max(losses)), xytext=(4, -4), textcoords="offset points")
    ax.set_xlabel("q, the draft's probability of the first token")
    least = int(np.argmin(losses))
    show(
        ax.figure,
        f"Your loss over q from {qs[0]:.2f} to {qs[-1]:.2f}: {losses[0]:.3g} at the left end, "
        f"least {losses[least]:.3g} at q = {qs[least]:.2f}, {losses[-1]:.3g} at the right end.",
    )


def _draw_lines(ax: Axes, lines: dict[str, Sequence[float]]) -> str:
    """Lines over K = 0, 1, ..., the highest point of each ringed; returns them in words."""
    parts = []
    for (name, values), (colour, dash, marker) in zip(lines.items(), LINES, strict=False):
        best = int(np.argmax(values))
        ax.plot(values, dash, color=colour, marker=marker, markersize=4.5, label=name)
        ring = {"markerfacecolor": "none", "markeredgecolor": "black", "markeredgewidth": 1.6}
        ax.plot(best, values[best], "o", markersize=12, **ring)
        parts.append(
            f"{name}: best at K = {best} with {values[best]:.2f}, at the end {values[-1]:.2f}"
        )
    ax.axhline(1, color="black", linewidth=1.2)
    ax.annotate("plain decoding", (0, 1), xytext=(0, -13), textcoords="offset points")
    ax.set(ylim=(0, None), ylabel="times as fast")
    ax.set_xlabel("K, draft tokens in a block; a ring marks the best")
    ax.xaxis.get_major_locator().set_params(integer=True)
    legend_below(ax, 4)
    return "; ".join(parts) + "."


def _number_table(
    table: np.ndarray,
    labels: tuple[Sequence[str], Sequence[str]],
    title: str,
    text: str,
    size: tuple,
    hide: float | None = None,
) -> Axes:
    """Numbers in a grid, `labels` for its rows and columns; `hide` is left blank."""
    ax = picture(title, size=size)
    rows, columns = table.shape
    for row, column in np.ndindex(rows, columns):
        if table[row, column] != hide:
            ax.text(column, row, text.format(table[row, column]), ha="center", va="center")
    ax.set_xticks(range(columns), labels[1])
    ax.set_yticks(range(rows), labels[0])
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    ax.grid(visible=False)
    for edge in np.arange(-0.5, max(rows, columns)):
        ax.axhline(edge, color=PALE, linewidth=0.8)
        ax.axvline(edge, color=PALE, linewidth=0.8)
    return ax
