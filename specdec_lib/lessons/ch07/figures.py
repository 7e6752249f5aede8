"""The figures of chapter 07 that draw the student's functions, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch02.computed import exact_paths
from specdec_lib.lessons.ch07 import computed
from specdec_lib.lessons.ch07.models import settling
from specdec_lib.lessons.common.distributions import overlap
from specdec_lib.lessons.common.drawing import (
    bars,
    drawn_from,
    legend_below,
    masses_by_path,
    panels,
    picture,
    piled,
    stacked,
    target_lines,
    token_axis,
    write_above,
)
from specdec_lib.lessons.common.series import draw, grid
from specdec_lib.lessons.common.style import ACCEPTED, GREY, TARGET, show
from specdec_lib.lessons.common.tokens import board, boxes, write
from specdec_lib.lessons.common.wording import TOKENS, by_token, listed

RADIUS = 0.2  # of a node of a tree


@drawn_from("one_hot_accept")
def certain_token(accept: Callable, p: np.ndarray, token: int) -> None:
    """The student's exact distribution for one certain draft token, by its two paths."""

    def asked(p, q, drafted, r, u):
        return accept(drafted, p, r, u)

    law = exact_paths(asked, p, np.eye(len(p))[token])
    ax = picture("One certain draft token, B: two paths into each token", "probability")
    labels = ("came by acceptance", "came by correction")
    words = masses_by_path(ax, law, p, labels, (f"{mass:.3f}" for mass in law.sum(axis=0)))
    show(ax.figure, f"The draft always proposes token {token}. Mass {words}.")


@drawn_from("jacobi_decode")
def renewed_together(
    decode: Callable, target_greedy: Callable, prompt: list[int], guess: list[int]
) -> None:
    """What the student's function asks the target in every pass, and where it stops changing."""
    asked: list[list[int]] = []

    def watched(tokens: list[int]) -> list[int]:
        asked.append(list(tokens[len(prompt) :]))
        return target_greedy(list(tokens))

    out, passes = decode(settling(watched, prompt, guess), list(prompt), list(guess))
    rows = [*asked, list(out)]
    names = ["the guess", *(f"after pass {n}" for n in range(1, len(asked))), "returned"]
    last = [*out, *[None] * len(guess)]  # what a short one lacks is nowhere right
    top, said = 0.6 * len(rows), f"Your function counts {passes} passes."
    ax = board(len(guess) + 2.0, top + 0.5, 0.7, "What each pass reads, by your function")
    for number, (name, row) in enumerate(zip(names, rows, strict=False)):
        pairs = zip(row[: len(guess)], last, strict=False)
        tokens = [("accepted" if token == end else "plain", f"{token}") for token, end in pairs]
        boxes(ax, top - 0.6 * number, name.replace(" ", "\n", 1), tokens)
    write(ax, len(guess) / 2 + 1, 0.1, f"✓: as returned. {said}")
    parts = [f"{name}: {row}" for name, row in zip(names, rows, strict=False)]
    show(ax.figure, f"{'; '.join(parts)}. {said}")


@drawn_from("jacobi_decode")
def passes_on_prompts(
    decode: Callable, target_greedy: Callable, prompts: list[list[int]], count: int
) -> None:
    """Passes that the student's function takes for `count` tokens after every prompt."""
    passes = [
        decode(settling(target_greedy, text, text[-count:]), list(text), list(text[-count:]))[1]
        for text in prompts
    ]
    ax = picture(f"Passes for {count} tokens on the built-in target", "passes")
    prompt_names = [f"{i + 1}" for i in range(len(passes))]
    told = draw(ax, prompt_names, {"your function": passes}, kind="bars", text="g")
    ax.axhline(count, color="black", linestyle="--", label="plain decoding, one token a pass")
    ax.set_xlabel(f"prompt; {np.mean(passes):.2f} passes on average")
    ax.set_ylim(0, 1.3 * max(count, *passes))
    ax.legend(loc="upper right", ncol=2)
    show(
        ax.figure,
        f"Passes for {count} tokens, by prompt. {told}; {np.mean(passes):.2f} on average. Plain "
        f"decoding takes {count}.",
    )


@drawn_from("multi_candidate_accept")
def more_candidates(accept: Callable, p: np.ndarray, q: np.ndarray, most: int) -> None:
    """The exact distribution by number of candidates; what is accepted, and two comparisons."""
    counts = np.arange(1, most + 1)
    found = [computed.candidates_law(accept, p, q, int(n)) for n in counts]
    accepted = [float(law[0].sum()) for law in found]
    tries = [1 - (1 - accepted[0]) ** n for n in counts]
    best = [computed.best_acceptance(p, q, int(n)) for n in counts]
    left, right = panels(2, (9.4, 3.9), width_ratios=[1.15, 1])
    _laws_side_by_side(left, found, p)
    shares = {"best possible rule": best, "independent tries": tries, "your function": accepted}
    told = draw(right, counts, shares)
    write_above(right, counts, accepted, (f"{share:.3f}" for share in accepted), gap=-17)
    right.set_title("One of them is accepted")
    right.set(xlabel="candidates", xticks=counts, ylim=(min(0.6, *accepted) - 0.05, 1.03))
    right.set_xlim(0.7, most + 0.3)
    legend_below(right, columnspacing=1)
    parts = [f"n = {n}: {by_token(law.sum(axis=0))}" for n, law in zip(counts, found, strict=True)]
    show(
        right.figure,
        f"Left, what comes out. {'; '.join(parts)}; the target {by_token(p)}. Right, the share "
        f"that is accepted, by candidates. {told}.",
    )


def _laws_side_by_side(ax: Axes, found: list[np.ndarray], p: np.ndarray) -> None:
    width = 0.8 / len(found)
    for number, law in enumerate(found):
        x = np.arange(len(p)) + (number - (len(found) - 1) / 2) * width
        labels = ("_", "__") if number else ("a candidate", "drawn at the end")
        parts = dict(zip(labels, law, strict=True))
        piled(ax, x, parts, ("accepted", "residual"), 0.9 * width)
    target_lines(ax, p)
    ax.set(ylabel="probability", title=f"The distribution, with 1 to {len(found)} candidates")
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
    right.set(xlabel="seen node", ylabel="node")
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
    labels = [f"{TOKENS[token]}, {coin:g}" for token, coin in zip(tokens, r, strict=True)]
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


@drawn_from("map_draft")
def over_the_targets_tokens(
    mapped: Callable, q: np.ndarray, draft_to_target: np.ndarray, p: np.ndarray
) -> None:
    """The draft over its own tokens, and over the target's by the student's function."""
    out = np.asarray(mapped(q, draft_to_target, len(p)), dtype=float)
    left, right = panels(2, (8.6, 3.6), width_ratios=[0.8, 1])
    shared = draft_to_target >= 0
    parts = {"shared": np.where(shared, q, 0), "not shared": np.where(shared, 0, q)}
    stacked(left, parts, ("draft", "excess"))
    names = [f"{i}\nis {TOKENS[t] if t >= 0 else 'nothing'}" for i, t in enumerate(draft_to_target)]
    left.set_title("The draft's own tokens")
    left.set_xticks(range(len(q)), names)
    legend_below(left)
    bars(right, np.arange(len(out)), out, "draft", label="your function", text=".3f")
    target_lines(right, p)
    accepted = overlap(out, p) if len(out) == len(p) else float("nan")
    right.set_title(f"Over the target's: {accepted:.3f} is accepted")
    token_axis(right, len(out), top=max(out.max(), p.max()))
    legend_below(right)
    show(
        right.figure,
        f"The draft over its own tokens {listed(q)}, of which {listed(q[shared])} are shared. By "
        f"your function {by_token(out)} over the target's tokens, whose p is {by_token(p)}; the "
        f"overlap is {accepted:.3g}.",
    )
