"""The figures of chapter 02, drawn from the student's functions, each with its words."""

from collections import Counter
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch02 import exact_law
from specdec_lib.lessons.drawing import drawn_from
from specdec_lib.lessons.style import role, show, style

TOKENS = "ABCDEFGH"


def _axes(title: str, ylabel: str = "probability", size: tuple = (7.0, 3.4)) -> Axes:
    style()
    _, ax = plt.subplots(figsize=size)
    ax.set_title(title)
    ax.set_ylabel(ylabel)
    return ax


def _name_tokens(ax: Axes, count: int) -> None:
    ax.set_xticks(np.arange(count), list(TOKENS[:count]))


def _numbers(values: np.ndarray) -> str:
    pairs = zip(TOKENS, np.asarray(values, dtype=float), strict=False)
    return ", ".join(f"{name} {value:.3g}" for name, value in pairs)


def _legend(ax: Axes, columns: int = 2) -> None:
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=columns)


def two_distributions(p: np.ndarray, q: np.ndarray) -> None:
    """Target and draft (V,) side by side."""
    ax = _axes("What the target wants, what the draft proposes")
    x = np.arange(len(p))
    for offset, values, name in ((-0.2, p, "target"), (0.2, q, "draft")):
        bars = ax.bar(x + offset, values, 0.38, **role(name))
        ax.bar_label(bars, fmt="{:.2f}", padding=2)
    _name_tokens(ax, len(p))
    _legend(ax)
    show(ax.figure, f"Bars of the target p: {_numbers(p)}; and of the draft q: {_numbers(q)}.")


@drawn_from("acceptance_probability")
def kept_heights(accept: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The draft's bars, cut where the student's acceptance probability cuts them."""
    share = np.array([accept(p, q, token) for token in range(len(p))], dtype=float)
    ax = _axes("Kept height over the whole height of the draft's bar")
    x, kept = np.arange(len(p)), share * q
    ax.bar(x, kept, 0.6, **role("accepted"))
    ax.bar(x, q - kept, 0.6, bottom=kept, **role("excess"))
    ax.hlines(p, x - 0.38, x + 0.38, color="black", linewidth=2.5, label="target p")
    for token in x:
        height = max(q[token], p[token], kept[token])
        ax.text(token, height + 0.012, f"{share[token]:.2f}", ha="center")
    ax.margins(y=0.12)
    _name_tokens(ax, len(p))
    _legend(ax, 3)
    show(
        ax.figure,
        f"The draft's bars with the kept part: {_numbers(kept)}. The share kept of each bar: "
        f"{_numbers(share)}. Lines mark the target: {_numbers(p)}. In all, {kept.sum():.3g} "
        "is kept.",
    )


@drawn_from("speculative_accept")
def walk_through_block(
    accept: Callable, tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray
) -> None:
    """Each position's ratio as a bar, its coin as a dot, and the student's verdict below."""
    kept = len(accept(list(tokens), p.copy(), q.copy(), r.copy()))
    ratios = np.array([min(1.0, p[i, t] / q[i, t]) for i, t in enumerate(tokens)])
    ax = _axes("The walk through the block, by your function", "p/q, at most 1")
    x = np.arange(len(tokens))
    ax.bar(x, ratios, 0.5, **{**role("accepted"), "label": "acceptance probability"})
    ax.plot(x, r, "D", color="black", markersize=9, label="coin r")
    verdicts = ["kept" if i < kept else "refused" if i == kept else "dropped" for i in x]
    labels = [f"token {t}\n{v}" for t, v in zip(tokens, verdicts, strict=True)]
    ax.set_xticks(x, labels)
    ax.set_ylim(0, 1.1)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    parts = [
        f"token {t}: ratio {ratios[i]:.2g}, coin {r[i]:.2g}, {verdicts[i]}"
        for i, t in enumerate(tokens)
    ]
    show(ax.figure, "A block of draft tokens. " + "; ".join(parts) + ".")


@drawn_from("residual_distribution")
def missing_part(residual: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Overlap and missing part of the target, and beside them the student's residual."""
    replacement = np.asarray(residual(p.copy(), q.copy()), dtype=float)
    style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.4), sharey=True)
    overlap, x = np.minimum(p, q), np.arange(len(p))
    left.bar(x, overlap, 0.6, **role("accepted"))
    left.bar(x, p - overlap, 0.6, bottom=overlap, **role("residual"))
    left.set_title("The target: paid, and missing")
    left.set_ylabel("probability")
    bars = right.bar(x, replacement, 0.6, **{**role("residual"), "label": "residual"})
    right.bar_label(bars, fmt="{:.2f}", padding=2)
    right.set_title("The missing part, normalised")
    for ax in (left, right):
        _name_tokens(ax, len(p))
        _legend(ax, 1)
    show(
        figure,
        f"Left, the target with the part paid by acceptance: {_numbers(overlap)}; missing: "
        f"{_numbers(p - overlap)}. Right, your residual: {_numbers(replacement)}.",
    )


@drawn_from("correct_token")
def two_masses(correct: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The exact law of the student's function, by its two paths, against the target."""
    law = exact_law(correct, p, q)
    ax = _axes("Two paths into each token, by your function")
    x = np.arange(len(p))
    ax.bar(x, law[0], 0.6, **{**role("accepted"), "label": "came by acceptance"})
    ax.bar(x, law[1], 0.6, bottom=law[0], **{**role("residual"), "label": "came by correction"})
    ax.hlines(p, x - 0.38, x + 0.38, color="black", linewidth=2.5, label="target p")
    for token, total in enumerate(law.sum(axis=0)):
        ax.text(token, max(total, p[token]) + 0.012, f"{total:.3f}", ha="center")
    ax.margins(y=0.12)
    _name_tokens(ax, len(p))
    _legend(ax, 3)
    off = np.abs(law.sum(axis=0) - p).max()
    show(
        ax.figure,
        f"Mass by acceptance: {_numbers(law[0])}; by correction: {_numbers(law[1])}; the target: "
        f"{_numbers(p)}. The largest difference from the target is {off:.2g}.",
    )


@drawn_from("speculative_step")
def step_lengths(step: Callable, p: np.ndarray, q: np.ndarray, k: int) -> None:
    """How many tokens a step writes: the student's function over 2,000 seeded blocks of `k`."""
    lengths = Counter(_one_step(step, p, q, k, seed) for seed in range(2000))
    ax = _axes(f"Tokens that one step writes, K = {k}", "share of 2,000 blocks")
    x = np.arange(1, k + 2)
    shares = np.array([lengths[n] / 2000 for n in x])
    names = ["accepted"] * k + ["residual"]
    for n, share, name in zip(x, shares, names, strict=True):
        bars = ax.bar(n, share, 0.6, **{**role(name), "label": ""})
        ax.bar_label(bars, fmt="{:.3f}", padding=2)
    ax.set_xticks(x, [f"{n} with bonus" if n == k + 1 else str(n) for n in x])
    ax.margins(y=0.12)
    mean = sum(n * count for n, count in lengths.items()) / 2000
    ax.set_xlabel(f"tokens written; {mean:.2f} on average")
    parts = ", ".join(f"{n}: {share:.3f}" for n, share in zip(x, shares, strict=True))
    show(ax.figure, f"Share of blocks by tokens written: {parts}. Mean {mean:.2f}.")


def _one_step(step: Callable, p: np.ndarray, q: np.ndarray, k: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    drafted = [int(t) for t in rng.choice(len(q), size=k, p=q)]
    rows = np.tile(p, (k + 1, 1)), np.tile(q, (k, 1))
    return len(step(drafted, *rows, rng.random(k), float(rng.random())))


@drawn_from("acceptance_probability")
def before_and_after(accept: Callable, p: float, before: float, after: float) -> None:
    """One token at two draft probabilities: what is kept of the draft's bar."""
    ax = _axes("The same token, proposed more boldly", size=(5.4, 3.4))
    shares = [_share(accept, p, q) for q in (before, after)]
    for x, q, share in zip((0, 1), (before, after), shares, strict=True):
        first = x == 0
        ax.bar(x, share * q, 0.5, **_labelled("accepted", first))
        ax.bar(x, q - share * q, 0.5, bottom=share * q, **_labelled("excess", first))
        ax.text(x, max(p, q) + 0.02, f"kept {share:.2f}", ha="center")
    ax.axhline(p, color="black", linewidth=2.5, label="target p")
    ax.set_xticks([0, 1], [f"q = {before:g}", f"q = {after:g}"])
    ax.set_ylim(0, 1)
    _legend(ax, 3)
    text = "; ".join(
        f"at q = {q:g} the share kept is {share:.3g}"
        for q, share in zip((before, after), shares, strict=True)
    )
    show(ax.figure, f"One token with p = {p:g}: {text}.")


def _share(accept: Callable, p: float, q: float) -> float:
    return float(accept(np.array([p, 1 - p]), np.array([q, 1 - q]), 0))


def _labelled(name: str, labelled: bool) -> dict:
    return role(name) if labelled else {**role(name), "label": ""}
