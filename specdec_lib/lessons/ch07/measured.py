"""The figures of chapter 07 that show measurements, and what formulas make of them."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch07 import computed
from specdec_lib.lessons.ch07.checks import TREE, WALK_R, WALK_TOKENS, WALKED, P, Q
from specdec_lib.lessons.common.distributions import overlap
from specdec_lib.lessons.common.drawing import (
    drawn_from,
    legend_below,
    panels,
    picture,
)
from specdec_lib.lessons.common.series import draw, in_words, series_figure
from specdec_lib.lessons.common.style import show
from specdec_lib.theory import expected_tokens


def heads(measured: dict[tuple[str, float], tuple[float, float]], k: int) -> None:
    """Tokens per pass in blocks of `k` draft tokens, by (drafter, temperature)."""
    names = list(dict.fromkeys(name for name, _ in measured))
    tokens = {f"temperature {t}": [measured[name, t][0] for name in names] for t in (0, 1)}
    title = f"Tokens per pass on the built-in target, K = {k}"
    roles = ("target", "residual")
    series_figure(title, names, tokens, kind="bars", roles=roles, text=".2f", ylabel="tokens")


@drawn_from("walk_tree")
def shapes_walked(
    walk: Callable,
    p: np.ndarray,
    drafts: dict[str, np.ndarray],
    trees: dict[str, list[int]],
    c: float,
    walks: int = 1000,
) -> None:
    """Tokens per pass and speed of every tree, by draft, from walks of the student's function.

    A level of a tree is one draft step, which costs `c`; the pass over the tree costs 1.
    """
    _require_the_card(walk)
    left, right = panels(2, (8.6, 4.0))
    tokens = {
        name: [computed.walked(walk, each, p, q, walks, 7) for each in trees.values()]
        for name, q in drafts.items()
    }
    times = [c * computed.tree_levels(each) + 1 for each in trees.values()]
    speeds = {name: np.array(each) / times for name, each in tokens.items()}
    titles = (
        "Tokens per pass (black lines: computed)",
        f"Speed, with c = {c:g} for each level",
    )
    shapes, told = [name.replace(" ", "\n", 1) for name in trees], []
    for ax, title, values in zip((left, right), titles, (tokens, speeds), strict=True):
        draw(ax, shapes, values, kind="bars", text=".2f")
        ax.set_title(title, fontsize=11)
        ax.set_ylim(0, ax.get_ylim()[1] * 1.15)
        told.append(f"{title}: {in_words(list(trees), values)}")
    for offset, q in zip((-0.2, 0.2), drafts.values(), strict=True):
        shares = computed.refused_in_turn(p, q, 6)
        exact = [computed.tree_tokens(each, shares) for each in trees.values()]
        places = np.arange(len(trees)) + offset
        left.plot(places, exact, "_", color="black", markersize=18, markeredgewidth=2)
    right.axhline(1, color="black", linewidth=1)
    legend_below(left)
    show(left.figure, f"Your walk, {walks} trees each. {'. '.join(told)}.")


def _require_the_card(walk: Callable) -> None:
    """ValueError if the walk of the card comes out wrong: other trees may then have no end."""
    rows = [np.tile(each, (len(TREE) + 1, 1)) for each in (P, Q)]
    out = [int(token) for token in walk(TREE, WALK_TOKENS, *rows, WALK_R, 0.5)]
    if out != WALKED:
        raise ValueError(f"on the tree of the card it writes {out}; it should be {WALKED}")


def blocks_compared(p: np.ndarray, q: np.ndarray, most: int) -> None:
    """Accepted draft tokens of token and block verification, and how far what comes out is off."""
    counts, beta = range(1, most + 1), overlap(p, q)
    token = [expected_tokens(beta, k) - 1 for k in counts]
    laws, block = zip(*(computed.block_law(p, q, k) for k in counts), strict=True)
    off = float(np.abs(laws[2] - computed.outer([p] * 4)).max())
    title = "Accepted draft tokens per block, by verifier"
    ax, places = picture(title, "accepted"), [f"K = {k}" for k in counts]
    values, roles = {"token by token": token, "the block as a whole": block}, ("target", "residual")
    told = draw(ax, places, values, kind="bars", roles=roles, text=".2f")
    ax.set_xlabel(f"exact at K = 3: no text's probability is off by more than {off:.0e}")
    ax.set_ylim(0, 1.2 * max(block))
    ax.legend(loc="upper left")
    show(ax.figure, f"{title}. {told}. For K = 3 the distribution is off by {off:.0e} at most.")
