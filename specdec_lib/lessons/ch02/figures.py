"""The figures of chapter 02, drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch02.computed import RULES, exact_paths, paths
from specdec_lib.lessons.common.distributions import block_law, overlap, total_variation
from specdec_lib.lessons.common.drawing import (
    CROSS,
    bars,
    drawn_from,
    legend_below,
    legend_beside,
    masses_by_path,
    panels,
    picture,
    stacked,
    token_axis,
    write_above,
)
from specdec_lib.lessons.common.series import in_words, series_figure
from specdec_lib.lessons.common.style import show
from specdec_lib.lessons.common.tokens import fates
from specdec_lib.lessons.common.wording import TOKENS, by_token

BLOCKS = 2000  # seeded blocks of the one figure that samples


def two_distributions(p: np.ndarray, q: np.ndarray) -> None:
    """Target and draft (V,) side by side."""
    title = "What the target wants, what the draft proposes"
    values = {"target p": p, "draft q": q}
    how = {"kind": "bars", "text": ".2f", "ylabel": "probability"}
    series_figure(title, TOKENS[: len(p)], values, **how)


def kept_of_100(keep: Sequence[int], p: np.ndarray, q: np.ndarray) -> None:
    """100 proposals of the draft (V,): how many the reader keeps, and what is missing after that.

    A choice that cannot be made is told in a line.
    """
    proposed, wanted = np.round(100 * q).astype(int), np.round(100 * p).astype(int)
    kept = np.asarray(keep)
    numbers = kept.shape == q.shape and kept.dtype.kind in "iuf"
    if not numbers or (kept < 0).any() or (kept > proposed).any():
        most = ", ".join(map(str, proposed))
        print(f"keep is {keep}: write {len(q)} numbers from 0, at most {most}.")
        return
    left, right = panels(2, (8.6, 3.6), ylabel="of 100 proposals")
    counts = (f"{some} of {most}" for some, most in zip(kept, proposed, strict=True))
    parts = {"kept": kept, "dropped": proposed - kept}
    stacked(left, parts, ("accepted", "excess"), counts, target=wanted)
    left.set_title(f"You keep {kept.sum()} of 100")
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
    far = total_variation(off + p, p)
    ax.set_xlabel(f"{far:.3f} of the probability stands on the wrong tokens")
    words = masses_by_path(ax, masses, p, labels, texts)
    ax.set_ylim(0, 1.3 * max(p.max(), (off + p).max()))
    show(ax.figure, f"The rule {rule!r}. Mass {words}. On the wrong tokens: {far:.3f}.")


@drawn_from("acceptance_probability")
def accepted_heights(accept: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The draft's bars (V,), cut where the student's acceptance probability cuts them."""
    share = np.array([accept(p, q, token) for token in range(len(p))], dtype=float)
    parts = {"accepted by your function": share * q, "rejected": q - share * q}
    title = "Accepted height over the whole height of the draft's bar"
    ax = picture(title, "probability")
    words = stacked(ax, parts, ("accepted", "excess"), target=p)
    texts = (f"{each:.2f}{', above 1' if each > 1 else ''}" for each in share)
    write_above(ax, range(len(p)), q * np.maximum(share, 1), texts)
    said = f"Shares {by_token(share)}, in all {share @ q:.3g}; the target {by_token(p)}"
    show(ax.figure, f"{title}. {words}. {said}.")


@drawn_from("speculative_accept")
def walk_through_block(
    accept: Callable, tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray
) -> None:
    """Each position's acceptance probability and coin, and the student's verdict below them."""
    out = list(accept(tokens, p, q, r))
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
    found, both = np.asarray(residual(p, q), dtype=float), np.minimum(p, q)
    left, right = panels(2, (8.6, 3.6))
    parts = {"paid by acceptance": both, "missing": p - both}
    words = stacked(left, parts, ("accepted", "residual"))
    texts = (f"{mass:.2f}" for mass in found)
    drawn = stacked(right, {"drawn after a rejection": found}, ("residual",), texts)
    token_axis(right, len(p), found.max(), found.min())
    titles = "The target: paid, and missing", f"Your residual, which sums to {found.sum():.2f}"
    left.set_title(titles[0])
    right.set_title(titles[1])
    show(right.figure, f"{titles[0]}. {words}. {titles[1]}. {drawn}.")


@drawn_from("correct_token")
def two_masses(correct: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The exact distribution of the student's function, by its two paths, and the target (V,)."""
    masses = exact_paths(correct, p, q)
    total = masses.sum(axis=0)
    ax = picture("Two paths into each token, by your function", "probability")
    labels = ("came by acceptance", "came by correction")
    words = masses_by_path(ax, masses, p, labels, (f"{mass:.3f}" for mass in total))
    show(ax.figure, f"Mass {words}. The largest difference is {np.abs(total - p).max():.2g}.")


@drawn_from("speculative_step")
def step_lengths(step: Callable, p: np.ndarray, q: np.ndarray, k: int) -> None:
    """Tokens a step of the student's writes, over seeded blocks of `k`, beside the exact shares."""
    lengths = Counter(_one_step(step, p, q, k, seed) for seed in range(BLOCKS))
    x = np.arange(min(1, *lengths), max(k + 1, *lengths) + 1)
    seen = np.array([lengths[n] / BLOCKS for n in x])
    law = dict(enumerate(block_law(overlap(p, q), k), 1))
    exact = np.array([law.get(n, 0.0) for n in x])
    title = f"Tokens that one step writes, K = {k}"
    ax = picture(title, f"share of {BLOCKS} blocks")
    bars(ax, x, seen, "target", label="your function, seeded blocks")
    ax.plot(x, exact, color="black", label="computed", **CROSS)
    ax.set_xticks(x, [f"{n}\nwith bonus" if n == k + 1 else str(n) for n in x])
    means = f"{x @ seen:.2f} on average, computed {x @ exact:.2f}"
    ax.set(xlabel=f"tokens written; {means}", ylim=(0, 1.18 * max(seen.max(), exact.max())))
    ax.legend(loc="upper left")
    words = in_words([f"{n} tokens" for n in x], {"your function": seen, "computed": exact})
    show(ax.figure, f"{title}. Share of blocks, {words}; {means}.")


def _draw_missing(ax: Axes, missing: np.ndarray) -> None:
    """What each token (V,) still lacks, upwards, or has too often, downwards."""
    x, lacking, over = np.arange(len(missing)), missing.clip(0), -missing.clip(None, 0)
    bars(ax, x, lacking, "residual", label="missing")
    bars(ax, x, -over, "excess", label="too many")
    write_above(ax, x, lacking, (f"{n}" if n else "" for n in lacking))
    write_above(ax, x, -over, (f"{n}" if n else "" for n in over), gap=-14)
    ax.axhline(0, color="black", linewidth=1)
    ax.set_title(f"Missing {lacking.sum()}, too many {over.sum()}")
    token_axis(ax, len(missing), max(lacking.max(), 5), 1.4 * min(-over.max(), -5))
    legend_below(ax)


def _verdicts(tokens: list[int], out: list) -> list[str]:
    """What became of each draft token, as far as the returned list tells it."""
    if out != list(tokens[: len(out)]):
        return ["in your list" if token in out else "not in it" for token in tokens]
    return fates(len(out), len(tokens))


def _one_step(step: Callable, p: np.ndarray, q: np.ndarray, k: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    drafted = [int(t) for t in rng.choice(len(q), size=k, p=q)]
    rows = np.tile(p, (k + 1, 1)), np.tile(q, (k, 1))
    return len(step(drafted, *rows, rng.random(k), float(rng.random())))
