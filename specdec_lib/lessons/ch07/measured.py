"""The figures of chapter 07 that show measurements, and what formulas make of them."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch07 import computed
from specdec_lib.lessons.ch07.checks import TREE, WALK_R, WALK_TOKENS, WALKED, P, Q
from specdec_lib.lessons.common.distributions import overlap, total_variation
from specdec_lib.lessons.common.drawing import (
    PAPER,
    drawn_from,
    legend_below,
    panels,
    picture,
    target_lines,
    token_axis,
    write_above,
)
from specdec_lib.lessons.common.series import draw, in_words
from specdec_lib.lessons.common.style import show
from specdec_lib.lessons.common.wording import TOKENS, by_token
from specdec_lib.theory import expected_tokens


def drafters(measured: dict[tuple[str, float], tuple[float, float]], k: int) -> None:
    """Tokens a block of `k` and the share of repeated text, by (drafter, temperature)."""
    names = list(dict.fromkeys(name for name, _ in measured))
    tokens, repeated = (
        {f"temperature {t:g}": [measured[name, t][i] for name in names] for t in (0.0, 1.0)}
        for i in (0, 1)
    )
    ax = picture(f"Tokens a block on the built-in target, K = {k}", "tokens a block")
    told = draw(ax, names, tokens, kind="bars", roles=("target", "residual"), text=".2f")
    for offset, shares in zip((-0.2, 0.2), repeated.values(), strict=True):
        for at, share in enumerate(shares):
            box = PAPER | {"edgecolor": "black"}
            ax.text(at + offset, 0.12, f"{share:.0%}", ha="center", bbox=box)
    ax.axhline(1, color="black", linestyle="--", label="plain decoding")
    ax.set_xlabel("in the box: share of repeated 8-grams in what was written")
    ax.set_ylim(0, 1.35 * max(tokens for tokens, _ in measured.values()))
    ax.legend(loc="upper left", ncol=3)
    shares = in_words(names, repeated)
    show(ax.figure, f"Tokens a block. {told}. Share of repeated 8-grams. {shares}.")


@drawn_from("walk_tree")
def shapes_walked(
    walk: Callable,
    p: np.ndarray,
    drafts: dict[str, np.ndarray],
    trees: dict[str, list[int]],
    c: float,
    walks: int = 1000,
) -> None:
    """Tokens a block and speed of every tree, for each draft, by walks of the student's function.

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
        "Tokens a block (black lines: computed)",
        f"Speed, drafting counted: c = {c:g} a level",
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
    show(left.figure, f"Your walk, {walks} blocks each. {'. '.join(told)}.")


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
    title = "Accepted draft tokens of a block, two verifiers"
    ax, places = picture(title, "accepted"), [f"K = {k}" for k in counts]
    values, roles = {"token by token": token, "the block as a whole": block}, ("target", "residual")
    told = draw(ax, places, values, kind="bars", roles=roles, text=".2f")
    ax.set_xlabel(f"all cases added up for K = 3: no sequence is off by more than {off:.0e}")
    ax.set_ylim(0, 1.2 * max(block))
    ax.legend(loc="upper left")
    show(ax.figure, f"{title}. {told}. For K = 3 the distribution is off by {off:.0e} at most.")


def typical(p: np.ndarray, q: np.ndarray, epsilon: float, delta: float) -> None:
    """The distribution of one candidate under typical acceptance, beside target and draft."""
    law = computed.typical_law(p, q, epsilon, delta)
    distance = total_variation(law, p)
    threshold = min(epsilon, delta * float(np.exp((p * np.log(p)).sum())))
    title = f"Typical acceptance: {distance:.2f} from the target in total variation"
    ax, drawn = picture(title, "probability"), {"draft q": q, "what comes out": law}
    told = draw(ax, TOKENS[: len(p)], drawn, kind="bars", roles=("draft", "excess"))
    target_lines(ax, p)
    texts = (f"{mass:.2f}" for mass in law)
    write_above(ax, np.arange(len(p)) + 0.2, np.maximum(law, p), texts)
    ax.axhline(threshold, color="black", linestyle=":", label=f"threshold on p, {threshold:.3f}")
    token_axis(ax, len(p), top=max(p.max(), q.max(), law.max()))
    legend_below(ax)
    show(
        ax.figure,
        f"{told}; the target {by_token(p)}, all of it above the threshold {threshold:.3f}. The "
        f"total variation from the target is {distance:.3g}.",
    )
