"""The figures and sentences of chapter 08 on what was measured with the decoder that runs there.

Tables come from specdec_lib.measure.experiment as DataFrames.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from specdec_lib.lessons.common.answers import WIDE
from specdec_lib.lessons.common.drawing import legend_below, named_rows, panels, picture
from specdec_lib.lessons.common.series import draw, in_words, series_figure, table
from specdec_lib.lessons.common.style import ACCEPTED, show

if TYPE_CHECKING:
    import pandas as pd

NAMES = {
    "plain": "plain decoding",
    "loop": "your decoder",
    "generate": "Hugging Face,\nplain",
    "assisted": "Hugging Face,\nspeculative",
}
COLUMNS = ["alpha", "c", "K", "tokens per pass", "v = 1", "measured v", "measured v + prompt"]
# The same mark for the same quantity, whoever measured or promised it.
MARKS = {
    "v = 1": ("x", {"color": "black", "markersize": 8}),
    "measured v": ("|", {"color": "black", "markersize": 12, "markeredgewidth": 2}),
    "measured v + prompt": ("o", {"color": "white", "markeredgecolor": "black"}),
    "clock": ("D", {"color": ACCEPTED}),
}
T5_SIZES = {"T5-small": "77M", "T5-base": "250M", "T5-large": "800M"}  # section 4.1 there


class Spread(NamedTuple):
    """A median and the quartiles beside it; of a single value all three are this value."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.median:.2f} (one turn: no quartiles)"
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def beside_hugging_face(met: Any) -> None:
    """The decoder beside Hugging Face's: target passes first, then the clock, then in words."""
    speeds = met.speeds
    names = [NAMES[name] for name in speeds.index]
    left, right = panels(2, (9.0, 3.6))
    look = {"kind": "bars", "roles": ("accepted",)}
    passes = {"passes": (100 / speeds.tokens_per_pass).tolist()}
    clock = {"tokens per second": speeds.tokens_per_second.tolist()}
    told = [draw(left, names, passes, text=".3g", **look)]
    told += [draw(right, names, clock, text=".3g", **look)]
    for ax, title in ((left, "Target passes for 100 tokens"), (right, "Tokens per second")):
        ax.set_title(title)
        ax.tick_params(axis="x", labelsize=8)
    what = f"Greedy decoding, {met.row.draft} draft, K = {met.row.K}"
    show(left.figure, f"{what}. For 100 tokens, {'; '.join(told)}.")
    for line in said_of(met):
        print(textwrap.fill(line, WIDE))


def said_of(met: Any) -> Iterator[str]:
    """The headline of the course: the texts, how many times as fast, and what the quartiles say."""
    plain, theirs = (Spread(*met.over.loc[name]) for name in ("plain", "assisted"))
    same, ties, others = met.texts.values()
    texts = "The same text, token for token"
    if ties or others:
        texts = f"{same} of {same + ties + others} texts the same as plain decoding's, {ties} "
        texts += f"parted at a near-tie, {others} elsewhere"
    yield (
        f"{texts}; {plain} times as fast as plain decoding, {theirs} times as fast as Hugging "
        "Face's own speculative decoding."
    )
    if others:
        yield "A text that parts elsewhere has another cause. Find it before you believe the times."
    yield _meaning(plain, "plain decoding", "A block costs more than its tokens save")
    yield _meaning(theirs, "Hugging Face", "Its passes, or its work between them, cost less time")


def _meaning(speed: Spread, other: str, why: str) -> str:
    """What a median and its quartiles, as they are printed, say."""
    low, high = round(speed.low, 2), round(speed.high, 2)
    if speed.low == speed.high:
        return f"Beside {other}: one turn shows nothing yet. Measure more of them."
    if low > 1:
        return f"Beside {other}: faster on this run. Both quartiles lie above 1."
    if high < 1:
        return f"Beside {other}: slower on this run. Both quartiles lie below 1. {why} here."
    return f"Beside {other}: this run shows no difference. 1 lies between the quartiles."


def results(rows: "pd.DataFrame") -> None:
    """The rows of the experiment: passes first, what was promised, and last the clock."""
    shown = rows[COLUMNS].copy()
    shown.index = [f"{row.draft}, T = {row.temperature}" for row in rows.itertuples()]
    ends = zip(rows.clock, rows.low, rows.high, strict=True)
    shown["clock (quartiles)"] = [str(Spread(*each)) for each in ends]
    table(shown, f"Your decoder on the {rows.target.iloc[0]} target, held-out code")


def beside_the_paper(rows: "pd.DataFrame", paper: Sequence[Any]) -> None:
    """Promises and the clock of the rows that were run, above those of Leviathan's Tables 2, 4."""
    marked = [_mine(row) for row in rows.to_dict("records")] + [_leviathan(row) for row in paper]
    names, marks = zip(*marked, strict=True)
    ax = picture("Your machine, and below it the paper", size=(9.0, 1.4 + 0.3 * len(names)))
    y = named_rows(ax, names)
    ax.hlines(y[: len(rows)], rows.low, rows.high, color="black")
    told = []
    for name, (mark, look) in MARKS.items():
        found = {names[i]: at[name] for i, at in enumerate(marks) if name in at}
        places = [y[i] for i, at in enumerate(marks) if name in at]
        ax.plot(list(found.values()), places, mark, label=name, **look)
        told.append(in_words(list(found), {name: list(found.values())}))
    ax.axvline(1, color="black", linewidth=1)
    ax.axhline(y[len(rows)] + 0.5, color="black", linewidth=0.8, linestyle=":")
    ax.set_xlabel("times as fast as plain decoding")
    legend_below(ax, 2)
    show(ax.figure, f"Speed-ups on this machine, then the paper's printed ones. {'; '.join(told)}.")


Marked = tuple[str, Mapping[str, float]]


def _mine(row: Mapping[str, Any]) -> Marked:
    """One row of this machine: its label, and its marks."""
    label = f"yours: {row['target']} / {row['draft']}, T = {row['temperature']}"
    return label, {name: row[name] for name in MARKS}


def _leviathan(row: Any) -> Marked:
    label = f"TPU v4: T5-XXL 11B / {T5_SIZES[row.draft]}, {row.task}, T = {row.temperature}"
    return label, {"v = 1": row.expected, "clock": row.measured}


def batches(served: "pd.DataFrame") -> None:
    """Tokens a second by batch, for plain decoding and every K."""
    found = served.pivot(index="batch", columns="way", values="tokens a second")
    ways = {way: found[way].tolist() for way in served.way.unique()}
    title, xlabel = "Many requests: all rows of a batch in one pass", "requests in a batch"
    series_figure(title, list(found.index), ways, xlabel=xlabel, ylabel="tokens per second")
