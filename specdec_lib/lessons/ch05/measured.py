"""The figures of chapter 05 on what was measured with the built-in models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch05.computed import (
    blocks_needed,
    conditional_rates,
    first_and_later,
    standard_error,
)
from specdec_lib.lessons.common.drawing import CROSS, drawn_from, legend_below, panels, picture
from specdec_lib.lessons.common.series import around, draw, in_words, series_figure, table
from specdec_lib.lessons.common.style import ACCEPTED, BAND, DRAFT, show


def acceptance_table(measured: Mapping[tuple[str, str], Any], paper: Sequence[Any]) -> None:
    """Alpha of every draft on every kind of text, at two temperatures, with the paper's below.

    `measured` has an Acceptance for (kind of text, name of draft); `paper` the rows of Table 3.
    """
    kinds, names = (list(dict.fromkeys(key[i] for key in measured)) for i in (0, 1))
    axes, told = panels(2, (9.0, 3.8), ylabel="alpha", sharey=True), []
    for ax, kind in zip(axes, kinds, strict=True):
        found = [measured[kind, name] for name in names]
        alphas = {"T = 0": [e.greedy for e in found], "T = 1": [e.alpha for e in found]}
        words = draw(ax, names, alphas, kind="bars", roles=("draft", "target"), text=".2f")
        title = f"{kind.capitalize()}, {found[0].positions} positions"
        ax.set_title(title)
        told.append(f"{title}: {words}")
    axes[0].set_ylim(0, 1)
    axes[1].legend(loc="upper right")
    show(axes[0].figure, f"Acceptance at temperature 0 and at 1. {'. '.join(told)}.")
    head = ("target", "draft", "T = 0", "T = 1")
    rows = [(row.target, row.draft, row.greedy, row.sampled) for row in paper]
    table([dict(zip(head, row, strict=True)) for row in rows], "The paper's Table 3: alpha")


def by_kind(found: Mapping[str, Mapping[str, Any]]) -> None:
    """Tokens a block by kind of text, with the 95% interval, for every drafter.

    `found` has by drafter and kind a Rate: its value, and low and high.
    """
    rates = {name: list(kinds.values()) for name, kinds in found.items()}
    series_figure(
        "Tokens a block by kind of text, greedy",
        list(next(iter(found.values()))),
        {name: [rate.value for rate in each] for name, each in rates.items()},
        ends={name: [(rate.low, rate.high) for rate in each] for name, each in rates.items()},
        ylabel="tokens a block",
        size=(7.6, 3.8),
        kind="bars",
        roles=("draft", "target"),
        text=".2f",
        note="In brackets: the 95% interval.",
    )


@drawn_from("acceptance_by_class")
def by_class(acceptance_by_class: Callable, verdicts: Any, classes: Sequence[str]) -> None:
    """Agreement by class from the student's function, and beside it the overlap at T = 1."""
    found = acceptance_by_class([int(n) for n in verdicts.agreed], list(verdicts.classes))
    labels = np.array(verdicts.classes)
    overlaps = [verdicts.overlap[labels == name] for name in classes]
    values = {
        "T = 0, by your function": [float(found.get(name, 0.0)) for name in classes],
        "T = 1, sum min(p, q)": [float(each.mean()) for each in overlaps],
    }
    counts = [len(each) for each in overlaps]
    cold, warm = values.values()
    errors = [
        list(map(standard_error, cold, counts)),
        [float(each.std()) / n**0.5 for each, n in zip(overlaps, counts, strict=True)],
    ]
    series_figure(
        "Accepted by kind of token, largest draft",
        [f"{name}\n{n} tokens" for name, n in zip(classes, counts, strict=True)],
        values,
        ends=dict(zip(values, map(around, (cold, warm), errors), strict=True)),
        ylabel="alpha",
        size=(7.6, 3.8),
        kind="bars",
        roles=("accepted", "target"),
        text=".2f",
        note="In brackets: one standard error.",
    )


@drawn_from("alpha_from_blocks")
def by_position(alpha_from_blocks: Callable, blocks: Mapping[str, Sequence[int]], k: int) -> None:
    """Acceptance by position, given the earlier ones and over all blocks; alpha by the student.

    The first entry of `blocks` is drawn; of the others only alpha is told.
    """
    alphas = {name: float(alpha_from_blocks(list(each), k)) for name, each in blocks.items()}
    name, accepted = next(iter(blocks.items()))
    every = [sum(n > i for n in accepted) / len(accepted) for i in range(k)]
    ax = picture(f"Acceptance by position, {len(accepted)} blocks after {name}", "share accepted")
    told, x = given_the_earlier(ax, accepted, k), np.arange(1, k + 1)
    ax.plot(x, every, color=DRAFT, label="over all blocks", **CROSS)
    ax.axhline(alphas[name], color=ACCEPTED, linestyle="--", label="alpha, by your function")
    listed = ", ".join(f"{alpha:.3f} after {each}" for each, alpha in alphas.items())
    ax.set_xlabel(f"position; below it, how many blocks reached it\nalpha is {listed}")
    legend_below(ax, 2)
    told += f"; {in_words(x, {'over all blocks, by position': every})}"
    show(ax.figure, f"Acceptance by position. {told}. Alpha is {listed}.")
    _first_or_later(accepted, k)


def given_the_earlier(ax: Axes, accepted: Sequence[int], k: int) -> str:
    """Draw the acceptance of each position of a block, given the earlier ones; returns its words.

    With two standard errors. A position that no block reached is named, and nothing is drawn there.
    """
    rates, judged = zip(*conditional_rates(accepted, k), strict=True)
    errors = [2 * standard_error(*each) for each in zip(rates, judged, strict=True)]
    name, x = "given that the earlier ones passed, ± 2 errors", range(1, k + 1)
    look = {name: {"color": "black", "linestyle": "none"}}
    told = draw(ax, x, {name: rates}, looks=look, ends={name: around(rates, errors)})
    ax.set_xticks(x, [f"{i}\n{count:,}" for i, count in zip(x, judged, strict=True)])
    ax.set_ylim(0, 1)
    return f"{told}; judged: {', '.join(map(str, judged))}"


def _first_or_later(accepted: Sequence[int], k: int) -> None:
    """Print whether later positions differ from the first, and the blocks that would show it."""
    rates, blocks = conditional_rates(accepted, k), len(accepted)
    if not any(tried for _, tried in rates[1:]):
        return
    difference, error = first_and_later(rates)
    told = f"{difference:+.3f}, standard error {error:.3f}, from {blocks} blocks"
    print(f"Later positions less the first: {told}.")
    if difference and error:
        needed = blocks_needed(difference, error, blocks)
        print(f"If the difference is really this, {needed:,} blocks make it two standard errors.")


@drawn_from("paired_speedup")
def pairs(paired_speedup: Callable, plain: Sequence[float], fast: Sequence[float]) -> None:
    """The ratio of every timed text, their geometric mean by the student, and the quartiles."""
    mean = float(paired_speedup(list(plain), list(fast)))
    ratios = np.array(plain) / np.array(fast)
    texts = f"{len(ratios)} text{'s' * (len(ratios) > 1)}"
    ax = picture(f"{texts}, each timed with both decoders", "plain over speculative")
    low, high = np.quantile(ratios, (0.25, 0.75))
    ax.axhspan(low, high, color=BAND, label="middle half of the texts")
    x, spread = np.arange(1, len(ratios) + 1), f"quartiles {low:.2f} and {high:.2f}"
    ax.plot(x, ratios, "o", color="black", label="one text")
    look = {"color": ACCEPTED, "linestyle": "--", "linewidth": 2}
    ax.axhline(mean, label=f"geometric mean, by your function: {mean:.2f}", **look)
    ax.axhline(1, color="black", linewidth=1)
    ax.set_xticks(x)
    ax.set_xlabel(f"number of the text; {spread}")
    ax.set_ylim(0, 1.15 * max(*ratios, mean, 1))
    legend_below(ax)
    told = in_words(x, {"by text": ratios})
    words = f"Their geometric mean by your function is {mean:.3f}; {spread}."
    show(ax.figure, f"Plain over speculative seconds, {told}. {words}")
