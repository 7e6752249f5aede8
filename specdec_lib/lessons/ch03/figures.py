"""The figures of chapter 03 that are drawn from the student's formulas, each with its words.

They show what the function does, also where it is wrong: no bar, label or text assumes the right
answer. Those about sampling and whole rules are in ch03_sampling.py.
"""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch03.laws import mixed_up
from specdec_lib.lessons.common.drawing import (
    HOLLOW,
    bars,
    drawn_from,
    legend_below,
    masses_by_path,
    panels,
    picture,
    target_lines,
    token_axis,
    write_above,
)
from specdec_lib.lessons.common.style import show
from specdec_lib.lessons.common.wording import TOKENS, by_token

SETTINGS = (
    ("temperature 1", (1.0, None, None)),
    ("temperature .5", (0.5, None, None)),
    ("top-k 3", (1.0, 3, None)),
    ("top-p .8", (1.0, None, 0.8)),
)


@drawn_from("total_variation")
def shared_mass(distance: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """What p and q (V,) share and what each has beyond it, with the student's total variation."""
    found = distance(p.copy(), q.copy())
    overlap, x = np.minimum(p, q), np.arange(len(p))
    ax = picture(f"Total variation by your function: {found:.3g}", "probability")
    bars(ax, x, overlap, "accepted", label="shared")
    bars(ax, x, p - overlap, "residual", bottom=overlap, label="only p has it")
    bars(ax, x, q - overlap, "excess", bottom=overlap, label="only q has it")
    write_above(ax, x, np.maximum(p, q), (f"{difference:+.2f}" for difference in p - q))
    token_axis(ax, len(p), max(p.max(), q.max()))
    legend_below(ax)
    show(
        ax.figure,
        f"Target {by_token(p)}; draft {by_token(q)}. Shared: {by_token(overlap)}. Only the target "
        f"has {(p - overlap).sum():.3g}, only the draft {(q - overlap).sum():.3g}. Your function "
        f"says {found:.3g}.",
    )


@drawn_from("acceptance_rate")
def two_samplers(rate: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Plain rejection sampling under its envelope, beside the rule with the student's rate."""
    found, envelope = rate(p.copy(), q.copy()), float((p / q).max())
    left, right = panels(2, (8.6, 3.7), sharey=True)
    overlap, x = np.minimum(p, q), np.arange(len(p))
    bars(left, x, p, "accepted", label="accepted")
    bars(left, x, envelope * q - p, "excess", bottom=p, label="rejected, proposed again")
    bars(right, x, overlap, "accepted", label="accepted")
    bars(right, x, q - overlap, "excess", bottom=overlap, label="rejected, then one draw")
    left.set(ylabel="probability")
    left.set_title(f"Plain: under M q, M = {envelope:.3g}: {1 / envelope:.2f}")
    right.set_title(f"The rule: under q: {found:.3g}")
    for ax in (left, right):
        token_axis(ax, len(p), max((envelope * q).max(), p.max()))
        legend_below(ax, 2)
    show(
        left.figure,
        f"Left, plain rejection sampling: bars of the envelope {by_token(envelope * q)}, of which "
        f"{by_token(p)} is accepted, a share of {1 / envelope:.3g}. Right, the rule: bars of the "
        f"draft {by_token(q)}, of which {by_token(overlap)} is accepted. Your function says "
        f"{found:.3g}.",
    )


@drawn_from("two_paths")
def stacked_paths(paths: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The student's two masses of each token, one on the other, against the target (V,)."""
    accepted, corrected = (np.asarray(mass, float) for mass in paths(p.copy(), q.copy()))
    ax = picture("Two paths into each token, by your function", "probability")
    sums = (f"{a:.2f} + {c:.2f}" for a, c in zip(accepted, corrected, strict=True))
    masses_by_path(ax, (accepted, corrected), p, ("by acceptance", "by correction"), sums)
    show(
        ax.figure,
        f"Mass by acceptance {by_token(accepted)}, by correction {by_token(corrected)}, together "
        f"{by_token(accepted + corrected)}; the target {by_token(p)}.",
    )


@drawn_from("argmax_draft_law")
def laws_against_targets(law_of: Callable, pairs: tuple) -> None:
    """For each pair the student's law with an argmax draft, against the target."""
    row, texts = panels(len(pairs), (8.8, 3.5), sharey=True), []
    row[0].set_ylabel("probability")
    for ax, (p, q) in zip(row, pairs, strict=True):
        law = np.asarray(law_of(p.copy(), q.copy()), dtype=float)
        distance = np.abs(law - p).sum() / 2
        x = np.arange(len(law))
        bars(ax, x, law, "excess", label="law by your function")
        target_lines(ax, p)
        write_above(ax, x, np.maximum(law, p), (f"{m:.3f}".removeprefix("0") for m in law))
        token_axis(ax, len(p), 1.0)
        ax.set_title(f"TV {distance:.3f}")
        ax.set_xlabel(f"argmax of q: {TOKENS[int(np.argmax(q))]}")
        texts.append(
            f"target {by_token(p)}, draft {by_token(q)}, law by your function {by_token(law)}, "
            f"total variation {distance:.3g}"
        )
    handles, labels = row[0].get_legend_handles_labels()
    row[0].figure.legend(handles, labels, loc="outside lower center", ncol=2)
    show(row[0].figure, f"Argmax drafts, full q. {'; '.join(texts)}.")


@drawn_from("warp")
def warped(warp: Callable, logits: np.ndarray) -> None:
    """The student's distribution of `logits` (V,) under each of SETTINGS."""
    row, texts = panels(len(SETTINGS), (8.8, 2.9), sharey=True), []
    row[0].set_ylabel("probability")
    for ax, (name, setting) in zip(row, SETTINGS, strict=True):
        probs = np.asarray(warp(logits.copy(), *setting), dtype=float)
        x = np.arange(len(probs))
        bars(ax, x, probs, "target")
        write_above(ax, x, np.maximum(probs, 0), (f"{m:.2f}".removeprefix("0") for m in probs))
        token_axis(ax, len(probs), 0.9)
        ax.set_title(name)
        texts.append(f"{name}: {by_token(probs)}")
    show(row[0].figure, f"By your function, {'; '.join(texts)}.")


@drawn_from("warp")
def filtered_draft(warp: Callable, target: np.ndarray, draft: np.ndarray) -> None:
    """Both sides sample with top-k; the draft hands over its q as filtered, or as it was before."""
    full = np.asarray(warp(draft.copy()), dtype=float)
    kept = list(range(len(draft), 1, -1))
    sides = [
        [np.asarray(warp(x.copy(), 1.0, k), dtype=float) for x in (target, draft)] for k in kept
    ]
    honest = [float(np.minimum(p, q).sum()) for p, q in sides]
    laws = [mixed_up(p, full, q) for p, q in sides]
    rates = [rate for _, rate in laws]
    errors = [np.abs(law - p).sum() / 2 for (law, _), (p, _) in zip(laws, sides, strict=True)]
    lines = (
        ("o-", rates, "accepted, with the unfiltered q"),
        ("^:", honest, "accepted, with the q drawn from"),
        ("s--", errors, "unfiltered q: TV of law to target"),
    )
    ax = picture("Both sides sample with top-k; which q is handed over?", "share", size=(7.4, 3.6))
    for dress, values, label in lines:
        ax.plot(kept, values, dress, label=label, **HOLLOW)
    ax.set_xticks(kept, [f"k = {k}" if k < len(draft) else "no filter" for k in kept])
    ax.invert_xaxis()
    ax.set_ylim(0, 1.1)
    legend_below(ax, 2)
    texts = [
        f"{k} of {len(draft)} tokens kept: accepted {rate:.3g} with the unfiltered q, {right:.3g} "
        f"with the filtered one, total variation of the former {error:.3g}"
        for k, rate, right, error in zip(kept, rates, honest, errors, strict=True)
    ]
    show(ax.figure, f"Top-k drafts, by your function. {'; '.join(texts)}.")
