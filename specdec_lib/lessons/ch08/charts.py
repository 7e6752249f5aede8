"""The figures and sentences of chapter 08 on what was measured with the decoder that runs there.

Tables come from specdec_lib.measure.experiment as DataFrames.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from specdec_lib.lessons.checking.answers import PRINT_WIDTH, read_tables
from specdec_lib.lessons.drawing.axes import chart, label_rows, legend_below, write_beside
from specdec_lib.lessons.drawing.series import series_text, show_table
from specdec_lib.lessons.drawing.style import ACCEPTED_COLOUR, show

if TYPE_CHECKING:
    import pandas as pd

    from specdec_lib.measure.experiment.contest import Contest

_COLUMNS = ["alpha", "c", "K", "tokens per pass", "v = 1", "measured v"]
# The same mark for the same quantity, whoever measured or promised it.
MARKS = {
    "v = 1": ("x", {"color": "black", "markersize": 8}),
    "measured v": ("|", {"color": "black", "markersize": 12, "markeredgewidth": 2}),
    "clock": ("D", {"color": ACCEPTED_COLOUR}),
}
_WORDS = read_tables(__package__, "charts.toml")


# A block is a pass over more tokens than one, and its draft steps.
_DISTURBED = (
    "A block cannot take less than one: other programs ran beside the plain passes. Run again."
)


def contest(measured: "Contest") -> None:
    """The passes and speeds of both loops, then what is faster than what, in a figure and words."""
    about, whose = measured.about, measured.about["loop"]
    what = f"{about['pair']}, greedy, K = {about['K']}, {about['dtype']}"
    table = measured.by_decoder()
    names = (name.partition(" with") for name in table.index)
    table.index = [_WORDS["decoders"][lane].format(whose) + rest + end for lane, rest, end in names]
    show_table(table, f"{what}. {about['device']}, {about['date']}. {_WORDS['medians']}")
    names = _WORDS["speedups"].items()
    speedups = {words.format(whose): measured.speedup(name) for name, words in names}
    ax = chart("Two loops, two forward passes", size=(9.0, 3.0))
    y = label_rows(ax, list(speedups))
    medians, lows, highs = zip(*speedups.values(), strict=True)
    ax.hlines(y, lows, highs, color="black")
    ax.plot(medians, y, "D", color=ACCEPTED_COLOUR)
    beside = (max(high, 1) for high in highs)  # clear of the line at 1
    write_beside(ax, beside, y, (spread(*quartiles) for quartiles in speedups.values()))
    ax.axvline(1, color="black", linewidth=1)
    ax.set(xlabel="times as fast: median and quartiles of the texts", xlim=(0, max(highs) + 1.5))
    sentences = contest_sentences(measured)
    in_words = "; ".join(f"{name}: {spread(*quartiles)}" for name, quartiles in speedups.items())
    show(ax.figure, f"{sentences[0]} {what}. {in_words}.")
    for sentence in (*sentences, _texts_of(*measured.texts.values())):
        print(textwrap.fill(sentence, PRINT_WIDTH))


def contest_sentences(measured: "Contest") -> list[str]:
    """Whose loop is faster, what the library's pass is worth, and each gain over its own plain."""
    whose, (median, low, high) = measured.about["loop"], measured.speedup("the loop")
    same, ratio = "On the same model and the same forward pass", spread(median, low, high)
    names = ("their gain", "our gain", "the pass")
    theirs, ours, passes = (spread(*measured.speedup(name)) for name in names)
    written = 100 / measured.by_decoder()["passes for 100 tokens"].min()
    blocks = [round(written / measured.speedup(name)[0], 1) for name in names[:2]]
    verdict = f"{whose} loop is {ratio} times as fast as Hugging Face's"
    if low <= 1 <= high:
        verdict += ": with 1 between the quartiles, this run finds neither faster"
    return [
        f"{same}, {verdict}.",
        f"The library's forward pass makes {whose} loop {passes} times as fast.",
        f"With drafts over without: Hugging Face's loop {theirs}, and {whose} loop on the "
        f"library's forward pass {ours}. A block writes {written:.2f} tokens, in the time of "
        f"{blocks[0]} of Hugging Face's plain passes, and of {blocks[1]} of the library's.",
        *([_DISTURBED] if min(blocks) < 1 else []),
    ]


def _texts_of(same: int, ties: int, others: int) -> str:
    """How many greedy texts are plain decoding's, and where the others part."""
    count = f"{same} of {same + ties + others} texts are plain decoding's, token for token"
    if others:
        cause = "Find the cause before you believe the times."
        return f"{count}; {ties} part at a near-tie, {others} elsewhere. {cause}"
    return f"{count}; {ties} part at a near-tie." if ties else f"{count}."


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
    names += [
        f"TPU v4: T5-XXL / {_WORDS['t5_sizes'][row.draft]}, T = {row.temperature}" for row in paper
    ]
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
