"""The figures of chapter 04 that draw the student's functions, each with its words.

They show what the function does, even if it is wrong: nothing drawn assumes the right answer.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, series_text, text_grid
from specdec_lib.lessons.drawing.style import show

RING = {"markersize": 12, "markerfacecolor": "none", "markeredgecolor": "black"}


@axes.uses_student_functions("expected_tokens")
def simulated_means(tokens: Callable, means: Mapping[float, Sequence[float]]) -> None:
    """The student's mean over K as lines, and simulated `means` for K = 0, 1, ... as circles."""
    ks = range(len(next(iter(means.values()))))
    ax = axes.chart("Simulated blocks, and your function", "tokens per block")
    lines = {f"yours, alpha = {alpha:g}": [tokens(alpha, k) for k in ks] for alpha in means}
    words = draw_series(ax, ks, lines)
    for circles in means.values():
        ax.plot(ks, circles, "o", **axes.HOLLOW | {"markersize": 11, "zorder": 1})
    ax.set_xlabel("K, draft tokens in a block; circles: 10,000 simulated blocks")
    axes.legend_below(ax)
    by_name = {f"simulated, alpha = {alpha:g}": values for alpha, values in means.items()}
    simulated = series_text(ks, by_name)
    apart = max(np.abs(np.subtract(lines[f"yours, alpha = {a:g}"], means[a])).max() for a in means)
    message = f"Your function and the simulated blocks differ by at most {apart:.3f} tokens"
    show(ax.figure, f"{message}. {words}; {simulated}.")


@axes.uses_student_functions("walltime_speedup")
def speed_by_k(speedup: Callable, alpha: float, costs: Sequence[float]) -> None:
    """The student's speed-up over K for several c, its best K ringed."""
    lines = {f"c = {c:g}": [speedup(alpha, c, k) for k in range(21)] for c in costs}
    ax = axes.chart(f"Speed-up by your function, alpha = {alpha:g}", "times as fast")
    words, best = draw_series(ax, range(21), lines), []
    for name, speeds in lines.items():
        k = int(np.argmax(speeds))
        ax.plot(k, speeds[k], "o", **RING)
        best.append(f"{name}: K = {k} with {speeds[k]:.2f}")
    ax.axhline(1, color="black", linewidth=1.2)
    ax.annotate("plain decoding", (0, 1), xytext=(0, -13), textcoords="offset points")
    ax.set(ylim=(0, None), xlabel="K, draft tokens in a block; a ring marks the best")
    ax.xaxis.get_major_locator().set_params(integer=True)
    axes.legend_below(ax, 4)
    show(ax.figure, f"Best: {'; '.join(best)}. Speed-up over K. {words}.")


@axes.uses_student_functions("expected_tokens", "walltime_speedup")
def next_draft_token(tokens: Callable, speedup: Callable, alpha: float, c: float) -> None:
    """What each draft token of a block yields for its time, and the speed-up before it."""
    ks = range(1, 10)
    yields = [(tokens(alpha, k) - tokens(alpha, k - 1)) / c for k in ks]
    speeds = [speedup(alpha, c, k - 1) for k in ks]
    title = f"The next draft token, alpha = {alpha:g}, c = {c:g}"
    ax = axes.chart(title, "tokens per target pass")
    words = draw_series(ax, ks, {"its yield": yields}, kind="bars", roles=("draft",))
    ax.plot(speeds, "o-", color="black", label="speed-up so far, without it")  # as the bars stand
    best = int(np.argmax(speeds))
    stop = f"stop before token {best + 1}: K = {best}"
    place = {"xytext": (10, 44), "textcoords": "offset points", "arrowprops": {"arrowstyle": "->"}}
    ax.annotate(stop, (best, speeds[best]), **place)
    ax.set_xlabel("number of the draft token in its block")
    axes.legend_below(ax, 2)
    so_far = series_text(ks, {"the speed-up so far": speeds})
    show(ax.figure, f"{title}: {stop}. Tokens per target pass, by draft token. {words}; {so_far}.")


@axes.uses_student_functions("best_k")
def best_k_map(
    best_k: Callable, alphas: Sequence[float], costs: Sequence[float], k_max: int
) -> None:
    """The student's best K at v = 1 for every alpha and c, as a table of numbers."""
    alphas = sorted(alphas, reverse=True)  # upwards, as on every other axis
    v = [1.0] * (k_max + 1)
    best = np.array([[best_k(alpha, c, v) for c in costs] for alpha in alphas])
    title = f"The best K by your function, up to {k_max}"
    labels = [f"{alpha:g}" for alpha in alphas], [f"{c:g}" for c in costs]
    ax = axes.chart(title, "alpha", size=(6.4, 4.2))
    words = text_grid(ax, best.astype(str), *labels, shades=0.2 * (best == 0))
    ax.set_xlabel("c, time of a draft step; shaded: plain decoding is fastest")
    show(ax.figure, f"{title}, by alpha at each c. {words}.")


@axes.uses_student_functions("best_k", "walltime_speedup")
def your_numbers(
    best_k: Callable, speedup: Callable, *, alpha: float, step: float, one: float, nine: float
) -> None:
    """Print the K that the student's functions choose for four numbers, three of them times.

    `step` is that of a draft step, `one` and `nine` of a target pass over so many tokens.
    """
    if not (0 <= alpha <= 1 and min(step, one, nine) > 0):
        print("Enter alpha as a number from 0 to 1, such as 0.7, and times above 0.")
        return
    c, s = step / one, (nine / one - 1) / 8
    v = [1 + s * k for k in range(21)]
    k = best_k(alpha, c, v)
    fast = speedup(alpha, c, k, v[k])
    print(f"c = {c:.3f}, s = {s:.3f}: best_k chooses K = {k}; the formula promises {fast:.2f}.")


@axes.uses_student_functions("prompt_lookup")
def drafted_after_text(lookup: Callable, words: Sequence[str], k: int) -> None:
    """A text in boxes, and after it what the student's lookup drafts."""
    known = list(dict.fromkeys(words))
    drafted = [known[token] for token in lookup([known.index(word) for word in words], k)]
    draft_text = " ".join(drafted) or "nothing"
    ax = axes.chart("The text, and what your function drafts after it", size=(8.8, 1.7))
    for i, word in enumerate([*words, *drafted]):
        axes.bars(ax, [i], [1], "target" if i < len(words) else "draft", 0.94)
        axes.write_inside(ax, i, 0.5, word, fontsize=10)
    ax.set_xticks(range(len(words)), [str(i) for i in range(len(words))])
    ax.set(yticks=[], xlabel=f"position; after the text your draft: {draft_text}")
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    show(ax.figure, f"The text: {' '.join(words)}. Your function drafts: {draft_text}.")
