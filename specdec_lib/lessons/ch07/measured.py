"""The figures of chapter 07 that show measurements, and what formulas make of them."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch07 import computed
from specdec_lib.lessons.ch07.checks import TREE, WALK_R, WALK_TOKENS, WALKED, P, Q
from specdec_lib.lessons.common.drawing import (
    PAPER,
    bars,
    drawn_from,
    legend_below,
    panels,
    picture,
    target_lines,
    token_axis,
    write_above,
)
from specdec_lib.lessons.common.style import show
from specdec_lib.lessons.common.wording import by_token, listed
from specdec_lib.theory import expected_tokens


def drafters(measured: dict[tuple[str, float], tuple[float, float]], k: int) -> None:
    """Tokens a block of `k` and the share of repeated text, by (drafter, temperature)."""
    names = list(dict.fromkeys(name for name, _ in measured))
    ax = picture(f"Tokens a block on the built-in target, K = {k}", "tokens a block")
    parts = []
    for offset, temperature, dress in ((-0.2, 0.0, "target"), (0.2, 1.0, "residual")):
        x = np.arange(len(names)) + offset
        tokens, repeated = zip(*(measured[name, temperature] for name in names), strict=True)
        bars(ax, x, tokens, dress, 0.36, label=f"temperature {temperature:g}", text=".2f")
        for at, name, value, share in zip(x, names, tokens, repeated, strict=True):
            ax.text(at, 0.12, f"{share:.0%}", ha="center", bbox=PAPER | {"edgecolor": "black"})
            parts.append(
                f"{name} at temperature {temperature:g}: {value:.2f}, {share:.0%} repeated"
            )
    ax.axhline(1, color="black", linestyle="--", label="plain decoding")
    ax.set_xticks(range(len(names)), names)
    ax.set_xlabel("in the box: share of repeated 8-grams in what was written")
    ax.set_ylim(0, 1.35 * max(tokens for tokens, _ in measured.values()))
    ax.legend(loc="upper left", ncol=3)
    show(ax.figure, f"Tokens a block and share of repeated 8-grams. {'; '.join(parts)}.")


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
    x, parts = np.arange(len(trees)), []
    for offset, (draft, q), dress in zip(
        (-0.2, 0.2), drafts.items(), ("target", "draft"), strict=True
    ):
        shares = computed.refused_in_turn(p, q, 6)
        exact = [computed.tree_tokens(parents, shares) for parents in trees.values()]
        tokens = [computed.walked(walk, parents, p, q, walks, 7) for parents in trees.values()]
        times = [c * computed.tree_levels(parents) + 1 for parents in trees.values()]
        speeds = [each / time for each, time in zip(tokens, times, strict=True)]
        for ax, values in ((left, tokens), (right, speeds)):
            bars(ax, x + offset, values, dress, 0.36, label=draft, text=".2f")
        left.plot(x + offset, exact, "_", color="black", markersize=18, markeredgewidth=2)
        parts.append(f"{draft}: " + ", ".join(
            f"{name} {value:.2f} tokens, {speed:.2f}x"
            for name, value, speed in zip(trees, tokens, speeds, strict=True)))  # fmt: skip
    left.set_title("Tokens a block (black lines: computed)", fontsize=11)
    right.set_title(f"Speed, drafting counted: c = {c:g} a level", fontsize=11)
    for ax in (left, right):
        ax.set_xticks(x, [name.replace(" ", "\n", 1) for name in trees])
        ax.set_ylim(0, ax.get_ylim()[1] * 1.15)
    right.axhline(1, color="black", linewidth=1)
    legend_below(left)
    show(left.figure, f"Your walk, {walks} blocks each, c = {c:g}. {'; '.join(parts)}.")


def _require_the_card(walk: Callable) -> None:
    """ValueError if the walk of the card comes out wrong: other trees may then have no end."""
    rows = [np.tile(each, (len(TREE) + 1, 1)) for each in (P, Q)]
    out = [int(token) for token in walk(TREE, WALK_TOKENS, *rows, WALK_R, 0.5)]
    if out != WALKED:
        raise ValueError(f"on the tree of the card it writes {out}; it should be {WALKED}")


def blocks_compared(p: np.ndarray, q: np.ndarray, most: int) -> None:
    """Accepted draft tokens of token and block verification, and how far what comes out is off."""
    beta = float(np.minimum(p, q).sum())
    counts = np.arange(1, most + 1)
    token = [expected_tokens(beta, int(k)) - 1 for k in counts]
    block = [computed.block_accepted(p, q, int(k)) for k in counts]
    law, _ = computed.block_law(p, q, 3)
    off = float(np.abs(law - computed.outer([p] * 4)).max())
    ax = picture("Accepted draft tokens of a block, two verifiers", "accepted")
    bars(ax, counts - 0.2, token, "target", 0.36, label="token by token", text=".2f")
    bars(ax, counts + 0.2, block, "residual", 0.36, label="the block as a whole", text=".2f")
    ax.set_xticks(counts, [f"K = {k}" for k in counts])
    ax.set_xlabel(f"all cases added up for K = 3: no sequence is off by more than {off:.0e}")
    ax.set_ylim(0, 1.2 * max(block))
    ax.legend(loc="upper left")
    show(
        ax.figure,
        f"Accepted draft tokens for K = 1 to {most}. Token by token: {listed(token)}; the block "
        f"as a whole: {listed(block)}. For K = 3 the distribution is off by {off:.0e} at most.",
    )


def typical(p: np.ndarray, q: np.ndarray, epsilon: float, delta: float) -> None:
    """The distribution of one candidate under typical acceptance, beside target and draft."""
    law = computed.typical_law(p, q, epsilon, delta)
    distance = float(np.abs(law - p).sum() / 2)
    threshold = min(epsilon, delta * float(np.exp((p * np.log(p)).sum())))
    title = f"Typical acceptance: {distance:.2f} from the target in total variation"
    ax, x = picture(title, "probability"), np.arange(len(p))
    bars(ax, x - 0.2, q, "draft", width=0.36)
    bars(ax, x + 0.2, law, "excess", width=0.36, label="the distribution that comes out")
    target_lines(ax, p)
    write_above(ax, x + 0.2, np.maximum(law, p), (f"{mass:.2f}" for mass in law))
    ax.axhline(threshold, color="black", linestyle=":", label=f"threshold on p, {threshold:.3f}")
    token_axis(ax, len(p), top=max(p.max(), q.max(), law.max()))
    legend_below(ax)
    show(
        ax.figure,
        f"It gives {by_token(law)}; the draft {by_token(q)}; the target {by_token(p)}, all of it "
        f"above the threshold {threshold:.3f}. The total variation from the target is "
        f"{distance:.3g}.",
    )
