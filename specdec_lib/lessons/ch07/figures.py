"""The figures of chapter 07 that draw the student's functions, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

from collections.abc import Callable
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch02.computed import exact_paths
from specdec_lib.lessons.ch07 import computed
from specdec_lib.lessons.common.drawing import (
    drawn_from,
    legend_below,
    masses_by_path,
    panels,
    picture,
    piled,
    target_lines,
    token_axis,
    write_above,
)
from specdec_lib.lessons.common.series import draw, grid
from specdec_lib.lessons.common.style import ACCEPTED, GREY, TARGET, show
from specdec_lib.lessons.common.wording import TOKENS, by_token, listed

RADIUS = 0.2  # of a node of a tree


@drawn_from("one_hot_accept")
def certain_token(accept: Callable, p: np.ndarray, token: int) -> None:
    """The student's exact distribution for one certain draft token, by its two paths."""

    def asked(p, q, drafted, r, u):
        return accept(drafted, p, r, u)

    law = exact_paths(asked, p, np.eye(len(p))[token])
    name = TOKENS[token]
    ax = picture(f"The draft always proposes {name}: two paths into each token", "probability")
    labels = ("came by acceptance", "came by correction")
    words = masses_by_path(ax, law, p, labels, (f"{mass:.3f}" for mass in law.sum(axis=0)))
    show(ax.figure, f"The draft always proposes {name}. Mass {words}.")


@drawn_from("multi_candidate_accept")
def more_candidates(accept: Callable, p: np.ndarray, q: np.ndarray, most: int) -> None:
    """The exact distribution by number of candidates; what is accepted, and two other rules."""
    counts = np.arange(1, most + 1)
    found = [computed.candidates_law(accept, p, q, int(n)) for n in counts]
    shares = {
        "the best rule": [computed.best_acceptance(p, q, int(n)) for n in counts],
        "SpecTr's rule": [computed.k_seq(p, q, int(n)) for n in counts],
        "your function": [float(law[0].sum()) for law in found],
    }
    title = "What comes out, with 1 to {} candidates"
    _law_and_shares(found, p, shares, title.format(most), "drawn from q")


@drawn_from("one_hot_accept")
def top_candidates(
    accept: Callable, in_turn: Callable, p: np.ndarray, q: np.ndarray, most: int
) -> None:
    """The exact distribution with the draft's most probable tokens as candidates.

    `in_turn(accept, candidates, p, r, u)` is the notebook's loop over the student's function.
    """
    best = np.argsort(-q).tolist()
    counts = np.arange(1, most + 1)
    found = [computed.top_law(partial(in_turn, accept), p, best[:n]) for n in counts]
    shares = {
        "drawn from q": np.cumsum(computed.refused_in_turn(p, q, most)).tolist(),
        "the top tokens, your function": [float(law[0].sum()) for law in found],
    }
    title = f"What comes out, with the top 1 to {most} of q"
    _law_and_shares(found, p, shares, title, "the top of q")


def _law_and_shares(
    found: list[np.ndarray], p: np.ndarray, shares: dict[str, list[float]], title: str, which: str
) -> None:
    """Left the distributions (2, V) by number of candidates, right how often one is accepted.

    The last of `shares` is the student's, and has its numbers written below it.
    """
    counts = np.arange(1, len(found) + 1)
    left, right = panels(2, (9.4, 3.9), width_ratios=[1.15, 1])
    _laws_side_by_side(left, found, p, title)
    told = draw(right, counts, shares)
    own = list(shares.values())[-1]
    write_above(right, counts, own, (f"{share:.3f}" for share in own), gap=-17)
    lowest = min(min(each) for each in shares.values())
    right.set_title("One of them is accepted")
    right.set(xlabel=f"candidates, {which}", xticks=counts, ylim=(lowest - 0.12, 1.05))
    right.set_xlim(0.7, len(found) + 0.3)
    legend_below(right, columns=2, columnspacing=1)
    parts = [f"n = {n}: {by_token(law.sum(axis=0))}" for n, law in zip(counts, found, strict=True)]
    show(
        right.figure,
        f"{title}. {'; '.join(parts)}; the target {by_token(p)}. The share that is accepted, by "
        f"candidates. {told}.",
    )


def _laws_side_by_side(ax: Axes, found: list[np.ndarray], p: np.ndarray, title: str) -> None:
    width = 0.8 / len(found)
    for number, law in enumerate(found):
        x = np.arange(len(p)) + (number - (len(found) - 1) / 2) * width
        labels = ("_", "__") if number else ("a candidate", "replaced")
        parts = dict(zip(labels, law, strict=True))
        piled(ax, x, parts, ("accepted", "residual"), 0.9 * width)
    target_lines(ax, p)
    ax.set(ylabel="probability", title=title)
    token_axis(ax, len(p), top=max(p.max(), *(law.sum(axis=0).max() for law in found)))
    legend_below(ax)


@drawn_from("tree_attention_mask")
def tree_and_mask(make: Callable, parents: list[int]) -> None:
    """A draft tree, and the mask that the student's function makes of it."""
    mask = np.asarray(make(list(parents)), dtype=bool)
    left, right = panels(2, (8.6, 3.6), width_ratios=[1, 1])
    draw_tree(left, parents)
    left.set_title("Six draft tokens after the text")
    names = [f"{node}" for node in range(len(parents))]
    grid(right, np.where(mask, "●", ""), names, names, shades=0.3 * mask)
    right.set_title("Your mask: row i sees column j")
    right.set(xlabel="node j", ylabel="node i")
    rows = [f"{i} sees {np.flatnonzero(row).tolist()}" for i, row in enumerate(mask)]
    show(right.figure, f"A tree with the parents {list(parents)}. By your mask, {'; '.join(rows)}.")


@drawn_from("walk_tree")
def walked_down(
    walk: Callable,
    parents: list[int],
    tokens: list[int],
    p: np.ndarray,
    q: np.ndarray,
    r: np.ndarray,
    u: float,
) -> None:
    """The tree with its tokens, and the branch that the student's function keeps of it."""
    rows = [np.tile(each, (len(parents) + 1, 1)) for each in (p, q)]
    out = [int(token) for token in walk(parents, tokens, *rows, r, u)]
    path = branch(parents, tokens, out)
    letters = "".join(TOKENS[token] for token in out)
    ax = picture(f"Your walk writes {', '.join(letters)}", size=(6.0, 3.4))
    labels = [f"{TOKENS[token]}, r = {coin:g}" for token, coin in zip(tokens, r, strict=True)]
    draw_tree(ax, parents, labels=labels, kept=path)
    show(
        ax.figure,
        f"A tree with the parents {list(parents)}, the tokens {list(tokens)} and the coins "
        f"{listed(r)}. Your walk writes {out}: it keeps the nodes {path}, then one token more.",
    )


def branch(parents: list[int], tokens: list[int], out: list[int]) -> list[int]:
    """The nodes, from the text on, whose tokens begin `out`; of twins the first."""
    path: list[int] = []
    for token in out:
        node = path[-1] if path else -1
        below = [i for i, parent in enumerate(parents) if parent == node and tokens[i] == token]
        if not below:
            break
        path.append(below[0])
    return path


def draw_tree(
    ax: Axes,
    parents: list[int],
    labels: list[str] | None = None,
    kept: list[int] | None = None,
) -> None:
    """A tree as circles and lines, the text before it as a box at the left.

    Without `labels` the nodes are numbered; what is `kept` is filled, and its lines are thick.
    """
    places, chosen = layout(parents), kept or []
    ax.text(0, 0, "text", ha="center", va="center",
            bbox={"boxstyle": "round", "facecolor": "white"})  # fmt: skip
    for node, parent in enumerate(parents):
        (x, y), (x0, y0) = places[node], places.get(parent, (0.0, 0.0))
        ours = node in chosen
        line = {"color": ACCEPTED, "linewidth": 3} if ours else {"color": GREY}
        ax.plot([x0 + 0.24, x - RADIUS], [y0, y], zorder=1, **line)
        face, edge = ((0.78, 0.9, 0.86), ACCEPTED) if ours else ("white", TARGET)
        ax.add_patch(plt.Circle((x, y), RADIUS, facecolor=face, edgecolor=edge, linewidth=1.6))
        ax.text(x, y, str(node), ha="center", va="center", zorder=3)
        if labels:
            ax.text(x, y - RADIUS - 0.05, labels[node], ha="center", va="top", fontsize=9)
    depths, heights = zip((0.0, 0.0), *places.values(), strict=True)
    ax.set(xlim=(-0.5, max(depths) + 0.5), ylim=(min(heights) - 0.5, max(heights) + 0.5))
    ax.set_aspect("equal")
    ax.axis("off")


def layout(parents: list[int]) -> dict[int, tuple[float, float]]:
    """(depth, height) of every node; leaves stand one below the other, parents in their middle."""
    children = {i: [c for c, p in enumerate(parents) if p == i] for i in range(-1, len(parents))}
    places: dict[int, tuple[float, float]] = {}
    leaves = 0

    def place(node: int, depth: int) -> float:
        nonlocal leaves
        if children[node]:
            heights = [place(child, depth + 1) for child in children[node]]
            height = (heights[0] + heights[-1]) / 2
        else:
            height, leaves = float(-leaves), leaves + 1
        if node >= 0:
            places[node] = (float(depth), height)
        return height

    middle = place(-1, 0)
    return {node: (x, y - middle) for node, (x, y) in places.items()}


@drawn_from("tokens_from_positions")
def by_position(
    tokens: Callable, rates: dict[str, list[float]], layers: dict[str, list[int]], c: float
) -> None:
    """Acceptance by position, and the speed of a block of K tokens by the student's function.

    `layers` has the layers that draft K tokens, K = 1, 2, ...; a layer costs `c` target passes.
    """
    left, right = panels(2, (9.4, 3.9))
    counts = range(1, 1 + max(map(len, rates.values())))
    speeds = {
        f"{name}: {float(tokens(row)):.2f} tokens at K = {len(row)}": [
            float(tokens(row[:k])) / (1 + c * drafting)
            for k, drafting in zip(counts, layers[name], strict=True)
        ]
        for name, row in rates.items()
    }
    told = f"Acceptance by position: {draw(left, counts, rates)}. "
    told += f"Speed by K: {draw(right, counts, speeds)}"
    left.set(title="Acceptance by position", xlabel="position in the block", ylim=(0.5, 0.8))
    left.set_ylabel("if all before it were accepted")
    right.set(title=f"Speed, if a layer costs {c:g} target passes", xlabel="K", ylim=(0.8, None))
    right.axhline(1, color="black", linewidth=1)
    legend_below(left)
    legend_below(right, columns=1)
    show(left.figure, f"{told}.")
