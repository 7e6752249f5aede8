"""The figures of chapter 04 that draw the student's functions, each with its words.

They show what the function does, even if it is wrong: no line, label or text assumes the right
answer.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from specdec_lib.lessons.common.drawing import (
    HOLLOW,
    bars,
    drawn_from,
    legend_below,
    named_rows,
    picture,
    write_inside,
)
from specdec_lib.lessons.common.series import draw, grid, in_words, table
from specdec_lib.lessons.common.style import role, show

RING = {"markersize": 12, "markerfacecolor": "none", "markeredgecolor": "black"}


def one_block(target_ms: float, draft_ms: float, k: int, accepted: int) -> None:
    """One block beside plain decoding of as many tokens, in milliseconds."""
    tokens, drafted = accepted + 1, k * draft_ms
    block, alone = drafted + target_ms, tokens * target_ms
    ax = picture("One block, and plain decoding of as many tokens", size=(8.2, 2.9))
    named_rows(ax, ["plain", "speculative"])
    steps = [(i * draft_ms, draft_ms) for i in range(k)]
    for name, spans, label in (
        ("accepted", steps[:accepted], "draft token, accepted"),
        ("excess", steps[accepted:], "draft token, not used"),
    ):
        ax.broken_barh(spans, (-0.25, 0.5), **role(name) | {"label": label})
    for y, start in [(0, drafted)] + [(1, i * target_ms) for i in range(tokens)]:
        ax.barh(y, target_ms, 0.5, left=start, **role("target") | {"label": None})
        ax.text(start + target_ms / 2, y, "target pass", ha="center", va="center")
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
    ks = range(1, 1 + len(next(iter(means.values()))))
    ax = picture("Simulated blocks, and your function", "accepted draft tokens")
    lines = {f"yours, alpha = {alpha:g}": [accepted(alpha, k) for k in ks] for alpha in means}
    told = draw(ax, ks, lines)
    for circles in means.values():
        ax.plot(ks, circles, "o", **HOLLOW | {"markersize": 11, "zorder": 1})
    ax.set_xlabel("K, draft tokens in a block; circles: 10,000 simulated blocks")
    legend_below(ax)
    simulated = in_words(ks, {f"simulated, alpha = {a:g}": each for a, each in means.items()})
    show(ax.figure, f"Accepted draft tokens of a block, by K. {told}; {simulated}.")


@drawn_from("expected_accepted", "expected_tokens")
def tokens_of_a_block(accepted: Callable, tokens: Callable, alpha: float = 0.7) -> None:
    """The student's two means for K = 0..10, the one on top of the other."""
    ks = range(11)
    low = np.array([accepted(alpha, k) for k in ks], dtype=float)
    whole = np.array([tokens(alpha, k) for k in ks], dtype=float)
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
    told = in_words(ks, {"accepted": low, "all tokens": whole})
    show(ax.figure, f"Tokens of a block by K, by your functions. {told}.")


@drawn_from("walltime_speedup")
def speed_by_k(speedup: Callable, alpha: float, costs: Sequence[float]) -> None:
    """The student's speed-up over K for several c, its best K ringed."""
    lines = {f"c = {c:g}": [speedup(alpha, c, k) for k in range(21)] for c in costs}
    ax = picture(f"Speed-up by your function, alpha = {alpha:g}", "times as fast")
    told, best = draw(ax, range(21), lines), []
    for name, speeds in lines.items():
        k = int(np.argmax(speeds))
        ax.plot(k, speeds[k], "o", **RING)
        best.append(f"{name}: K = {k} with {speeds[k]:.2f}")
    ax.axhline(1, color="black", linewidth=1.2)
    ax.annotate("plain decoding", (0, 1), xytext=(0, -13), textcoords="offset points")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("K, draft tokens in a block; a ring marks the best")
    ax.xaxis.get_major_locator().set_params(integer=True)
    legend_below(ax, 4)
    show(ax.figure, f"Speed-up over K. {told}. Best: {'; '.join(best)}.")


@drawn_from("walltime_speedup")
def perfect_to_useless(speedup: Callable, costs: Sequence[float], k: int) -> None:
    """The student's speed-up from a perfect draft to a useless one, for several c, as a table."""
    rows = [
        {"alpha": alpha} | {f"c = {c:g}": float(speedup(alpha, c, k)) for c in costs}
        for alpha in (1.0, 0.7, 0.3, 0.0)
    ]
    told = "the text has the target's distribution each time"
    table(rows, f"Speed-up by your function, K = {k}; {told}.")


@drawn_from("expected_tokens", "walltime_speedup")
def next_draft_token(tokens: Callable, speedup: Callable, alpha: float, c: float) -> None:
    """What each further draft token brings for its time, and the speed-up without it."""
    ks = range(9)
    brings = [(tokens(alpha, k + 1) - tokens(alpha, k)) / c for k in ks]
    speeds = [speedup(alpha, c, k) for k in ks]
    ax = picture(f"The next draft token, alpha = {alpha:g}, c = {c:g}", "tokens for a pass's time")
    told = draw(ax, ks, {"the next draft token brings": brings}, kind="bars", roles=("draft",))
    ax.plot(ks, speeds, "o-", color="black", label="speed-up without it")
    best = int(np.argmax(speeds))
    ax.annotate("top", (best, speeds[best]), xytext=(0, 7), textcoords="offset points", ha="center")
    ax.set_xlabel("K, draft tokens that the block has already")
    legend_below(ax, 2)
    speeds_told = in_words(ks, {"the speed-up without it": speeds})
    show(ax.figure, f"By K, for a pass's time: {told}; {speeds_told}.")


@drawn_from("best_k")
def best_k_map(
    best_k: Callable, alphas: Sequence[float], costs: Sequence[float], k_max: int
) -> None:
    """The student's best K for every alpha and c, as a table of numbers."""
    best = np.array([[best_k(alpha, c, k_max) for c in costs] for alpha in alphas])
    title = f"The best K by your function, up to {k_max}"
    labels = [f"{alpha:g}" for alpha in alphas], [f"{c:g}" for c in costs]
    ax = picture(title, "alpha", size=(6.4, 4.2))
    told = grid(ax, best.astype(str), *labels, shades=0.2 * (best == 0))
    ax.set_xlabel("c, time of a draft step; shaded: plain decoding is fastest")
    show(ax.figure, f"{title}, by alpha at each c. {told}.")


@drawn_from("bigram_probs")
def bigram_table(bigram_probs: Callable, words: Sequence[str]) -> None:
    """The student's table of a small text, without smoothing."""
    known = list(dict.fromkeys(words))
    probs = np.asarray(bigram_probs([known.index(word) for word in words], len(known), 0.0))
    cells = [[f"{x:.2f}" if x else "" for x in row] for row in probs]
    title = "What follows each word, by your function (smoothing 0)"
    ax = picture(title, "this word", size=(6.4, 4.2))
    told = grid(ax, cells, known, known)
    ax.set_xlabel("is followed by")
    show(ax.figure, f"{title}, in the text {' '.join(words)}. {told}.")


@drawn_from("prompt_lookup")
def found_in_the_text(lookup: Callable, words: Sequence[str], k: int) -> None:
    """A text in boxes, and after it what the student's lookup drafts."""
    known = list(dict.fromkeys(words))
    drafted = [known[token] for token in lookup([known.index(word) for word in words], k)]
    told = " ".join(drafted) or "nothing"
    ax = picture("The text, and what your function drafts after it", size=(8.8, 1.7))
    for i, word in enumerate([*words, *drafted]):
        bars(ax, [i], [1], "target" if i < len(words) else "draft", 0.94)
        write_inside(ax, i, 0.5, word, fontsize=10)
    ax.set_xticks(range(len(words)), [str(i) for i in range(len(words))])
    ax.set_yticks([])
    ax.set_xlabel(f"position; after the text your draft: {told}")
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    show(ax.figure, f"The text: {' '.join(words)}. Your function drafts: {told}.")


@drawn_from("distillation_loss")
def loss_of_a_coin(loss: Callable, p: float) -> None:
    """The student's loss for a vocabulary of two tokens, over the draft's probability of one."""
    import torch

    qs = np.linspace(0.04, 0.96, 24).round(2)
    target = torch.tensor([[p, 1 - p]]).log()
    losses = [float(loss(target, torch.tensor([[q, 1 - q]]).log())) for q in qs.tolist()]
    title = f"Your loss for two tokens; the target gives {p:g} to the first"
    ax = picture(title, "loss, 1 - alpha")
    told = draw(ax, qs, {"your loss": losses})
    ax.axvline(p, color="black", linestyle="--", linewidth=1)
    ax.annotate("q = p", (p, max(losses)), xytext=(4, -4), textcoords="offset points")
    ax.set_xlabel("q, the draft's probability of the first token")
    show(ax.figure, f"{title}. By q, {told}.")
