"""The figures of chapter 02, drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch02.computed import exact_law
from specdec_lib.lessons.ch02.rules import RULES, paths
from specdec_lib.lessons.common.drawing import (
    CROSS,
    bars,
    drawn_from,
    legend_below,
    legend_beside,
    masses_by_path,
    panels,
    picture,
    target_lines,
    token_axis,
    write_above,
)
from specdec_lib.lessons.common.style import show
from specdec_lib.lessons.common.wording import by_token

BLOCKS = 2000  # seeded blocks of the one figure that samples


def two_distributions(p: np.ndarray, q: np.ndarray) -> None:
    """Target and draft (V,) side by side."""
    ax = picture("What the target wants, what the draft proposes", "probability")
    for offset, values, name in ((-0.2, p, "target"), (0.2, q, "draft")):
        bars(ax, np.arange(len(p)) + offset, values, name, width=0.38, text=".2f")
    token_axis(ax, len(p), top=max(p.max(), q.max()))
    legend_below(ax)
    show(ax.figure, f"Bars of the target p: {by_token(p)}; and of the draft q: {by_token(q)}.")


def kept_of_100(keep: Sequence[int], p: np.ndarray, q: np.ndarray) -> None:
    """100 proposals of the draft (V,): how many the reader keeps, and what is missing after that.

    A choice that cannot be made is told in a line.
    """
    proposed, wanted = np.round(100 * q).astype(int), np.round(100 * p).astype(int)
    kept = np.asarray(keep)
    if (
        kept.shape != q.shape
        or kept.dtype.kind not in "iuf"
        or (kept < 0).any()
        or (kept > proposed).any()
    ):
        most = ", ".join(map(str, proposed))
        print(f"keep is {keep}: write {len(q)} numbers from 0, at most {most}.")
        return
    left, right = panels(2, (8.6, 3.6), ylabel="of 100 proposals")
    _draw_kept(left, kept, proposed, wanted)
    _draw_missing(right, wanted - kept)
    words = f"Proposed {by_token(proposed)}. You keep {by_token(kept)}, {kept.sum()} in all."
    missing = by_token(wanted - kept)
    show(right.figure, f"{words} Missing, or too many if negative: {missing}.")


def broken_rule(rule: str, p: np.ndarray, q: np.ndarray) -> None:
    """The exact output of a rule of RULES, by its two paths, beside the target (V,)."""
    if rule not in RULES:
        print(f"There is no rule {rule!r} here. Choose one of: {', '.join(map(repr, RULES))}.")
        return
    masses = paths(rule, p, q)
    off = masses.sum(axis=0) - p
    ax = picture(f"The rule: {rule}", "probability")
    labels = ("came by acceptance", "came otherwise")
    texts = (f"{mass:.3f}\n({each:+.3f})" for mass, each in zip(off + p, off, strict=True))
    words = masses_by_path(ax, masses, p, labels, texts)
    ax.set_ylim(0, 1.3 * max(p.max(), (off + p).max()))
    far = np.abs(off).sum() / 2
    ax.set_xlabel(f"{far:.3f} of the probability stands on the wrong tokens")
    legend_below(ax)
    show(ax.figure, f"The rule {rule!r}. Mass {words}. On the wrong tokens: {far:.3f}.")


@drawn_from("acceptance_probability")
def accepted_heights(accept: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The draft's bars (V,), cut where the student's acceptance probability cuts them."""
    share = np.array([accept(p, q, token) for token in range(len(p))], dtype=float)
    accepted = share * q
    ax = picture("Accepted height over the whole height of the draft's bar", "probability")
    x = np.arange(len(p))
    bars(ax, x, accepted, "accepted", label="accepted by your function")
    bars(ax, x, q - accepted, "excess", bottom=accepted, label="rejected")
    target_lines(ax, p)
    write_above(ax, x, np.maximum(q, accepted), map(_share_text, share))
    token_axis(ax, len(p), top=max(q.max(), p.max(), accepted.max()))
    legend_below(ax)
    show(
        ax.figure,
        f"The draft's bars {by_token(q)}. Accepted of them, by your function: "
        f"{by_token(accepted)}, which are the shares {by_token(share)}. Lines mark the target "
        f"{by_token(p)}. In all, {accepted.sum():.3g} is accepted.",
    )


@drawn_from("speculative_accept")
def walk_through_block(
    accept: Callable, tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray
) -> None:
    """Each position's acceptance probability and coin, and the student's verdict below them."""
    out = list(accept(list(tokens), p.copy(), q.copy(), r.copy()))
    ratios = np.array([min(1.0, p[i, t] / q[i, t]) for i, t in enumerate(tokens)])
    ax = picture("The walk through the block, by your function", "p/q, at most 1")
    x = np.arange(len(tokens))
    bars(ax, x, ratios, "accepted", width=0.5, label="acceptance probability")
    ax.plot(x, r, "D", color="black", markersize=9, label="coin r")
    verdicts = _verdicts(tokens, out)
    ax.set_xticks(x, [f"token {t}\n{v}" for t, v in zip(tokens, verdicts, strict=True)])
    ax.set(xlabel=f"your function returned {out}", ylim=(0, 1.1))
    legend_beside(ax)
    parts = [
        f"token {t}: acceptance probability {ratios[i]:.2g}, coin {r[i]:.2g}, {verdicts[i]}"
        for i, t in enumerate(tokens)
    ]
    show(ax.figure, f"A block of draft tokens. {'; '.join(parts)}. Your function returned {out}.")


@drawn_from("residual_distribution")
def missing_part(residual: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Overlap and missing part of the target (V,), and beside them the student's residual."""
    replacement = np.asarray(residual(p.copy(), q.copy()), dtype=float)
    left, right = panels(2, (8.6, 3.6))
    overlap, x = np.minimum(p, q), np.arange(len(p))
    bars(left, x, overlap, "accepted", label="paid by acceptance")
    bars(left, x, p - overlap, "residual", bottom=overlap, label="missing")
    bars(right, x, replacement, "residual", label="drawn after a rejection", text=".2f")
    left.set_title("The target: paid, and missing")
    right.set_title(f"Your residual, which sums to {replacement.sum():.2f}")
    token_axis(left, len(p), p.max())
    token_axis(right, len(p), replacement.max(), replacement.min())
    legend_below(left)
    legend_below(right)
    show(
        right.figure,
        f"Left, the target with the part paid by acceptance {by_token(overlap)} and the missing "
        f"part {by_token(p - overlap)}. Right, your residual: {by_token(replacement)}.",
    )


@drawn_from("correct_token")
def two_masses(correct: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The exact distribution of the student's function, by its two paths, and the target (V,)."""
    law = exact_law(correct, p, q)
    total = law.sum(axis=0)
    ax = picture("Two paths into each token, by your function", "probability")
    labels = ("came by acceptance", "came by correction")
    words = masses_by_path(ax, law, p, labels, (f"{mass:.3f}" for mass in total))
    off = np.abs(total - p).max()
    show(ax.figure, f"Mass {words}. The largest difference is {off:.2g}.")


@drawn_from("speculative_step")
def step_lengths(step: Callable, p: np.ndarray, q: np.ndarray, k: int) -> None:
    """Tokens a step of the student's writes, over seeded blocks of `k`, beside the exact shares."""
    lengths = Counter(_one_step(step, p, q, k, seed) for seed in range(BLOCKS))
    x = np.arange(min(1, *lengths), max(k + 1, *lengths) + 1)
    seen = np.array([lengths[n] / BLOCKS for n in x])
    exact = np.array([_exact_share(float(np.minimum(p, q).sum()), n, k) for n in x])
    ax = picture(f"Tokens that one step writes, K = {k}", f"share of {BLOCKS} blocks")
    bars(ax, x, seen, "target", label="your function, seeded blocks")
    ax.plot(x, exact, color="black", label="computed", **CROSS)
    mean = sum(n * count for n, count in lengths.items()) / BLOCKS
    ax.set_xticks(x, [f"{n}\nwith bonus" if n == k + 1 else str(n) for n in x])
    ax.set_xlabel(f"tokens written; {mean:.2f} on average, computed {x @ exact:.2f}")
    ax.set_ylim(0, 1.18 * max(seen.max(), exact.max()))
    ax.legend(loc="upper left")
    parts = [f"{n}: {s:.3f}, computed {e:.3f}" for n, s, e in zip(x, seen, exact, strict=True)]
    show(ax.figure, f"Share of blocks by tokens written. {'; '.join(parts)}. Mean {mean:.2f}.")


def _draw_kept(ax: Axes, kept: np.ndarray, proposed: np.ndarray, wanted: np.ndarray) -> None:
    """Counts (V,) of proposals, cut where the reader stops keeping them."""
    x = np.arange(len(kept))
    bars(ax, x, kept, "accepted", label="kept")
    bars(ax, x, proposed - kept, "excess", bottom=kept, label="dropped")
    target_lines(ax, wanted)
    counts = (f"{some} of {most}" for some, most in zip(kept, proposed, strict=True))
    write_above(ax, x, np.maximum(proposed, wanted), counts)
    ax.set_title(f"You keep {kept.sum()} of 100")
    token_axis(ax, len(kept), max(proposed.max(), wanted.max()))
    legend_below(ax)


def _draw_missing(ax: Axes, missing: np.ndarray) -> None:
    """What each token (V,) still lacks, upwards, or has too often, downwards."""
    x, lacking, over = np.arange(len(missing)), missing.clip(0), -missing.clip(None, 0)
    bars(ax, x, lacking, "residual", label="missing")
    bars(ax, x, -over, "excess", label="too many")
    write_above(ax, x, lacking, (f"{n}" if n else "" for n in lacking))
    write_above(ax, x, -over, (f"{n}" if n else "" for n in over), gap=-14)
    ax.axhline(0, color="black", linewidth=1)
    ax.set_title(f"Missing {lacking.sum()}, too many {over.sum()}")
    token_axis(ax, len(missing), max(lacking.max(), 5), 1.15 * min(-over.max(), -5))
    legend_below(ax)


def _share_text(share: float) -> str:
    return f"{share:.2f}" + (", above 1" if share > 1 else "")


def _verdicts(tokens: list[int], out: list) -> list[str]:
    """What became of each draft token, as far as the returned list tells it."""
    if out != list(tokens[: len(out)]):
        return ["in your list" if token in out else "not in it" for token in tokens]
    words = ["accepted"] * len(out) + ["rejected"] + ["dropped"] * len(tokens)
    return words[: len(tokens)]


def _one_step(step: Callable, p: np.ndarray, q: np.ndarray, k: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    drafted = [int(t) for t in rng.choice(len(q), size=k, p=q)]
    rows = np.tile(p, (k + 1, 1)), np.tile(q, (k, 1))
    return len(step(drafted, *rows, rng.random(k), float(rng.random())))


def _exact_share(beta: float, n: int, k: int) -> float:
    """The probability that a step writes n tokens if each draft token passes with `beta`."""
    if n == k + 1:
        return beta**k
    return beta ** (n - 1) * (1 - beta) if 1 <= n <= k else 0.0
