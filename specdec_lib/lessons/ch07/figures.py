"""The figures of chapter 07 that draw the student's functions, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch02.computed import exact_paths
from specdec_lib.lessons.ch07 import computed, lesson
from specdec_lib.lessons.ch07.lesson import LAYER, PLACES, TREE, WALK_R, WALK_TOKENS, P, Q
from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, text_grid
from specdec_lib.lessons.drawing.style import ACCEPTED_COLOUR, GREY, TARGET_COLOUR, show
from specdec_lib.lessons.drawing.wording import TOKEN_NAMES, by_token, comma_list

TEXT = (0.0, 0.0)  # where the text before TREE is drawn: depth and height
RADIUS = 0.2  # of a node


@axes.uses_student_functions("one_hot_accept")
def certain_token(accept: Callable, p: np.ndarray, token: int) -> None:
    """The student's exact distribution for one certain draft token, by its two paths."""

    def position(p, q, drafted, r, u):
        return accept(drafted, p, r, u)

    law = exact_paths(position, p, np.eye(len(p))[token])
    name = TOKEN_NAMES[token]
    ax = axes.chart(f"The draft always proposes {name}: two paths into each token", "probability")
    words = axes.masses_by_path(ax, law, p, (f"{mass:.3f}" for mass in law.sum(axis=0)))
    show(ax.figure, f"The draft always proposes {name}. Mass {words}.")


@axes.uses_student_functions("multi_candidate_accept")
def more_candidates(accept: Callable, p: np.ndarray, q: np.ndarray, most: int) -> None:
    """The exact distribution by number of candidates; what is accepted, by the best rule too."""
    counts = np.arange(1, most + 1)
    laws = [computed.candidates_law(accept, p, q, int(n)) for n in counts]
    shares = {
        "the best rule": [computed.best_acceptance(p, q, int(n)) for n in counts],
        "your function": [float(law[0].sum()) for law in laws],
    }
    _law_and_shares(laws, p, shares, f"What comes out, with 1 to {most} candidates", "drawn from q")


@axes.uses_student_functions("one_hot_accept")
def top_candidates(
    accept: Callable, in_turn: Callable, p: np.ndarray, q: np.ndarray, most: int
) -> None:
    """The exact distribution with the draft's most probable tokens as candidates.

    `in_turn(accept, candidates, p, r, u)` is the notebook's loop over the student's function.
    """
    best = np.argsort(-q).tolist()
    counts = np.arange(1, most + 1)
    laws = [computed.top_law(partial(in_turn, accept), p, best[:n]) for n in counts]
    shares = {
        "drawn from q": np.cumsum(computed.accepted_in_turn(p, q, most)).tolist(),
        "the top tokens, your function": [float(law[0].sum()) for law in laws],
    }
    _law_and_shares(laws, p, shares, f"What comes out, with the top 1 to {most}", "the top of q")


def _law_and_shares(
    laws: list[np.ndarray], p: np.ndarray, shares: dict[str, list[float]], title: str, which: str
) -> None:
    """Left the distributions (2, V) by number of candidates, right how often one is accepted.

    The last of `shares` is the student's, and has its numbers written below it.
    """
    counts = np.arange(1, len(laws) + 1)
    left, right = axes.panels(2, (9.4, 3.9), width_ratios=[1.15, 1])
    _laws_side_by_side(left, laws, p, title)
    words = draw_series(right, counts, shares)
    own = list(shares.values())[-1]
    axes.write_above(right, counts, own, (f"{share:.3f}" for share in own), gap=-17)
    right.set(title="One of them is accepted", xlim=(0.7, len(laws) + 0.3))
    right.set(xlabel=f"candidates, {which}", xticks=counts, ylim=(0, 1.05))
    axes.legend_below(right, columns=2, columnspacing=1)
    parts = [f"n = {n}: {by_token(law.sum(axis=0))}" for n, law in zip(counts, laws, strict=True)]
    show(
        right.figure,
        f"{title}. {'; '.join(parts)}; the target {by_token(p)}. The share that is accepted, by "
        f"candidates. {words}.",
    )


def _laws_side_by_side(ax: Axes, laws: list[np.ndarray], p: np.ndarray, title: str) -> None:
    width = 0.8 / len(laws)
    for number, law in enumerate(laws):
        x = np.arange(len(p)) + (number - (len(laws) - 1) / 2) * width
        labels = ("_", "__") if number else ("a candidate", "replaced")
        parts = dict(zip(labels, law, strict=True))
        axes.pile_bars(ax, x, parts, ("accepted", "residual"), 0.9 * width)
    axes.target_lines(ax, p)
    ax.set(ylabel="probability", title=title)
    axes.token_axis(ax, len(p), top=max(p.max(), *(law.sum(axis=0).max() for law in laws)))
    axes.legend_below(ax)


@axes.uses_student_functions("tree_attention_mask")
def tree_and_mask(make: Callable) -> None:
    """The example's tree, and the mask that the student's function makes of it."""
    mask = np.asarray(lesson.with_an_end(make)(TREE), dtype=bool)
    left, right = axes.panels(2, (8.6, 3.6))
    _draw_tree(left)
    left.set_title("Six draft tokens after the text")
    text_grid(right, np.where(mask, "●", ""), *[range(len(TREE))] * 2, shades=0.3 * mask)
    right.set(title="Your mask: row i sees column j", xlabel="node j", ylabel="node i")
    rows = [f"{i} sees {np.flatnonzero(row).tolist()}" for i, row in enumerate(mask)]
    show(right.figure, f"A tree with the parents {TREE}. By your mask, {'; '.join(rows)}.")


@axes.uses_student_functions("walk_tree")
def walked_down(walk: Callable) -> None:
    """The example's tree with its tokens, and the branch that the student's walk keeps."""
    rows = [np.tile(row, (len(TREE) + 1, 1)) for row in (P, Q)]
    out = list(map(int, lesson.with_an_end(walk)(TREE, WALK_TOKENS, *rows, WALK_R, 0.5)))
    path = _branch(out)
    letters = ", ".join(TOKEN_NAMES[token] for token in out)
    ax = axes.chart(f"Your walk writes {letters}", size=(6.0, 3.4))
    pairs = zip(WALK_TOKENS, WALK_R, strict=True)
    _draw_tree(ax, [f"{TOKEN_NAMES[token]}, r = {coin:g}" for token, coin in pairs], path)
    show(
        ax.figure,
        f"A tree with the parents {TREE}, the tokens {WALK_TOKENS} and the coins "
        f"{comma_list(WALK_R)}. Your walk writes {out}: it keeps the nodes {path}, then one "
        "token more.",
    )


def _branch(out: list[int]) -> list[int]:
    """The nodes of TREE, from the text on, whose tokens begin `out`."""
    path: list[int] = []
    for token in out:
        node = path[-1] if path else -1
        below = [i for i, parent in enumerate(TREE) if (parent, WALK_TOKENS[i]) == (node, token)]
        if not below:
            break
        path.append(below[0])
    return path


def _draw_tree(ax: Axes, labels: Sequence[str] = (), path: Sequence[int] = ()) -> None:
    """TREE as circles and lines, the text before it as a box at the left.

    `labels` stand below the nodes; the nodes of `path` are filled, and its lines are thick.
    """
    ax.text(*TEXT, "text", ha="center", va="center",
            bbox={"boxstyle": "round", "facecolor": "white"})  # fmt: skip
    for node, parent in enumerate(TREE):
        (x, y), (x0, y0) = PLACES[node], PLACES[parent] if parent >= 0 else TEXT
        ours = node in path
        line = {"color": ACCEPTED_COLOUR, "linewidth": 3} if ours else {"color": GREY}
        ax.plot([x0 + 0.24, x - RADIUS], [y0, y], zorder=1, **line)
        face, edge = ((0.78, 0.9, 0.86), ACCEPTED_COLOUR) if ours else ("white", TARGET_COLOUR)
        ax.add_patch(plt.Circle((x, y), RADIUS, facecolor=face, edgecolor=edge, linewidth=1.6))
        ax.text(x, y, str(node), ha="center", va="center", zorder=3)
        if labels:
            ax.text(x, y - RADIUS - 0.05, labels[node], ha="center", va="top", fontsize=9)
    ax.set(xlim=(-0.5, 3.5), ylim=(-1.25, 1.75), aspect="equal")
    ax.axis("off")


@axes.uses_student_functions("head_step")
def top_tokens(step: Callable, places: Iterable[tuple], decode: Callable) -> None:
    """The top token of the student's step at all `places`, beside the target's."""
    rows = [[x, int(np.argmax(step(h, x, head))), own] for h, x, head, own in places]
    equal = np.array([guess == own for _, guess, own in rows])
    title = f"Your step and the target agree at {equal.sum()} of {len(rows)} places. The last ten:"
    ax = axes.chart(title, size=(9.0, 2.3))
    cells = [[repr(decode([x])) for x in row] for row in zip(*rows[-10:], strict=True)]
    names = ("the token", "your step's next", "the target's next")
    shades = np.outer([0, 1, 1], 0.3 * equal[-10:])
    words = text_grid(ax, cells, names, range(1, len(rows) + 1)[-10:], shades)
    show(ax.figure, f"{title} {words}.")


@axes.uses_student_functions("tokens_from_positions")
def by_position(tokens: Callable) -> None:
    """Acceptance by position, and the speed of a block of K tokens by the student's function."""
    left, right = axes.panels(2, (9.4, 3.9))
    counts = range(1, 8)
    speeds = {
        f"{name}: {float(tokens(rates)):.2f} tokens at K = 7": [
            float(tokens(rates[:k])) / (1 + LAYER * layers)
            for k, layers in zip(counts, lesson.LAYERS[name], strict=True)
        ]
        for name, rates in lesson.POSITION_RATES.items()
    }
    words = draw_series(left, counts, lesson.POSITION_RATES), draw_series(right, counts, speeds)
    left.set(title="Acceptance by position, from 0.5", xlabel="position in the block")
    left.set(ylabel="of the blocks that got there", ylim=(0.5, 0.8))
    right.set(title=f"Speed, if a layer costs {LAYER:g} passes", xlabel="K", ylim=(0.8, None))
    right.axhline(1, color="black", linewidth=1)
    axes.legend_below(left)
    axes.legend_below(right, columns=1)
    show(left.figure, f"Acceptance by position: {words[0]}. Speed by K: {words[1]}.")
