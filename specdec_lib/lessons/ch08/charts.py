"""The figures and sentences of chapter 08 on what was measured with the decoder that runs there.

Tables come from specdec_lib.measure.experiment as DataFrames.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from specdec_lib.lessons.checking.answers import PRINT_WIDTH
from specdec_lib.lessons.drawing.axes import chart, label_rows, legend_below, panels
from specdec_lib.lessons.drawing.series import draw_series, series_figure, series_text, show_table
from specdec_lib.lessons.drawing.style import ACCEPTED_COLOUR, show

if TYPE_CHECKING:
    import pandas as pd

    from specdec_lib.measure.experiment.grid import Comparison

_COLUMNS = ["alpha", "c", "K", "tokens per pass", "v = 1", "measured v", "measured v + prompt"]
# The same mark for the same quantity, whoever measured or promised it.
MARKS = {
    "v = 1": ("x", {"color": "black", "markersize": 8}),
    "measured v": ("|", {"color": "black", "markersize": 12, "markeredgewidth": 2}),
    "measured v + prompt": ("o", {"color": "white", "markeredgecolor": "black"}),
    "clock": ("D", {"color": ACCEPTED_COLOUR}),
}
T5_SIZES = {"T5-small": "77M", "T5-base": "250M", "T5-large": "800M"}  # section 4.1 there


def beside_transformers(met: "Comparison", whose: str) -> None:
    """The decoder beside Hugging Face's: target passes first, then the clock, then in words."""
    mine = f"{whose} decoder"
    labels = {
        "plain": "plain decoding",
        "loop": mine.replace(" decoder", "\ndecoder"),
        "generate": "Hugging Face,\nplain",
        "assisted": "Hugging Face,\nspeculative",
    }
    names = [labels[name] for name in met.speeds.index]
    left, right = panels(2, (9.0, 3.6))
    options = {"kind": "bars", "roles": ("accepted",)}
    passes = {"passes": (100 / met.speeds.tokens_per_pass).tolist()}
    clock = {"tokens per second": met.speeds.tokens_per_second.tolist()}
    words = [draw_series(left, names, passes, text=".3g", **options)]
    words += [draw_series(right, names, clock, text=".3g", **options)]
    for ax, title in ((left, "Target passes for 100 tokens"), (right, "Tokens per second")):
        ax.set_title(title)
        ax.tick_params(axis="x", labelsize=8)
    what = f"Greedy decoding, {met.row.target} target, {met.row.draft} draft, K = {met.row.K}"
    left.figure.suptitle(what)
    show(left.figure, f"{what}. For 100 tokens, {'; '.join(words)}.")
    if met.row.task == "chat":
        print(met.first_text)
    print(textwrap.fill(_texts_of(*met.texts.values()), PRINT_WIDTH))
    theirs = f"Hugging Face's speculation ({met.assistant})"
    for name, other in (("plain", "plain decoding"), ("assisted", theirs)):
        print(f"{mine.capitalize()}: {spread(*met.over.loc[name])} times as fast as {other}.")


def _texts_of(same: int, ties: int, others: int) -> str:
    """How many greedy texts are plain decoding's, and where the others part."""
    said = f"{same} of {same + ties + others} texts are plain decoding's, token for token"
    if others:
        cause = "Find the cause before you believe the times."
        return f"{said}; {ties} part at a near-tie, {others} elsewhere. {cause}"
    return f"{said}; {ties} part at a near-tie." if ties else f"{said}."


def spread(median: float, low: float, high: float) -> str:
    """A median and the quartiles beside it."""
    return f"{median:.2f} ({low:.2f} to {high:.2f})"


def results(rows: "pd.DataFrame", whose: str) -> None:
    """The rows of the experiment: passes first, what was promised, and last the clock."""
    shown = rows[_COLUMNS].copy()
    shown.index = [f"{row.draft}, T = {row.temperature}" for row in rows.itertuples()]
    ends = zip(rows.clock, rows.low, rows.high, strict=True)
    shown["clock (quartiles)"] = [spread(*quartiles) for quartiles in ends]
    what = f"{rows.target.iloc[0]} target, held-out {rows.task.iloc[0]}"
    caption = f"{whose.capitalize()} decoder on the {what}"
    show_table(shown, caption)


def beside_the_paper(rows: "pd.DataFrame", paper: Sequence[Any]) -> None:
    """Promises and the clock of the rows that were run, above Leviathan's for English to German."""
    rows = rows.sort_values("temperature", kind="stable")  # the paper's order
    mine = zip(rows.target, rows.draft, rows.temperature, strict=True)
    names = [f"here: {target} / {draft}, T = {t}" for target, draft, t in mine]
    names += [f"TPU v4: T5-XXL / {T5_SIZES[row.draft]}, T = {row.temperature}" for row in paper]
    values = {name: rows[name].tolist() for name in MARKS}
    values["v = 1"] += [row.expected for row in paper]
    values["clock"] += [row.measured for row in paper]
    ax = chart("Your machine, and below it the paper's", size=(9.0, 1.4 + 0.3 * len(names)))
    y = label_rows(ax, names)
    ax.hlines(y[: len(rows)], rows.low, rows.high, color="black")
    alts = []
    for name, (mark, style) in MARKS.items():
        points = values[name]
        ax.plot(points, y[: len(points)], mark, label=name, **style)
        alts.append(series_text(names[: len(points)], {name: points}))
    ax.axvline(1, color="black", linewidth=1)
    ax.axhline(y[len(rows)] + 0.5, color="black", linewidth=0.8, linestyle=":")
    ax.set_xlabel("times as fast as plain decoding")
    legend_below(ax, 2)
    show(ax.figure, f"Speed-ups on this machine, then the paper's printed ones. {'; '.join(alts)}.")


def batches(served: "pd.DataFrame") -> None:
    """Tokens a second by batch, for plain decoding and every K."""
    speeds = served.pivot(index="batch", columns="way", values="tokens a second")
    ways = {way: speeds[way].tolist() for way in served.way.unique()}
    title, xlabel = "Many requests: all rows of a batch in one pass", "requests in a batch"
    series_figure(title, list(speeds.index), ways, xlabel=xlabel, ylabel="tokens per second")
