"""A figure from {name: values}: bars or lines in the dress of the house, and the words for it.

The alternative text is made from the very values that are drawn, so the two cannot part.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.common.drawing import LINES, bars, legend_below, picture, write_above
from specdec_lib.lessons.common.style import PALE, display_page, in_notebook, show
from specdec_lib.lessons.common.wording import short

Values = Mapping[str, Sequence[float]]
Ends = Mapping[str, Sequence[tuple[float, float]]]  # low and high of every value
ROLES = ("target", "draft", "accepted", "excess", "residual")


def series_figure(
    title: str,
    x: Sequence,
    values: Values,
    *,
    xlabel: str = "",
    ylabel: str = "",
    size: tuple[float, float] = (7.0, 3.6),
    note: str = "",
    **how: Any,
) -> None:
    """One picture of `values`, each as long as `x`; `how` goes to `draw`.

    Its alternative text is the title, every value at its place, and `note`.
    """
    ax = picture(title, ylabel, size)
    ax.set_xlabel(xlabel)
    told = draw(ax, x, values, **how)
    if len(values) > 1:
        legend_below(ax)
    show(ax.figure, f"{title}. {told}. {note}".strip())


def draw(
    ax: Axes,
    x: Sequence,
    values: Values,
    *,
    kind: str = "lines",
    roles: Sequence[str] = ROLES,
    text: str = "",
    ends: Ends | None = None,
    looks: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> str:
    """Draw `values` over `x` into `ax`; returns them in words.

    `kind` is lines, marks or bars; bars stand side by side and wear `roles`. Where `x` holds
    names, they are written at equal distances. `text`, such as ".2f", writes every value above
    its place. `ends` draws an interval at every value, and the words have it too. `looks`, by
    name, goes to `ax.plot`.
    """
    named = any(isinstance(each, str) for each in x)
    at = np.arange(len(x)) if named or kind == "bars" else np.asarray(x, dtype=float)
    if named or kind == "bars":
        ax.set_xticks(at, [f"{each}" for each in x])
    width = 0.8 / max(1, len(values))
    for i, (name, numbers) in enumerate(values.items()):
        place = at + (i - (len(values) - 1) / 2) * width if kind == "bars" else at
        if kind == "bars":
            bars(ax, place, numbers, roles[i % len(roles)], 0.95 * width, label=name)
        else:
            colour, dash, marker = LINES[i % len(LINES)]
            look = {"linestyle": dash if kind == "lines" else "none", "marker": marker}
            ax.plot(place, numbers, **look | {"color": colour, "label": name} | looks.get(name, {}))
        tops = np.asarray(numbers, dtype=float)
        if ends:
            ax.vlines(place, *zip(*ends[name], strict=True), color="black", linewidth=1.6)
            tops = [high for _, high in ends[name]]
        if text:
            ax.margins(y=0.12)  # room for the highest
            write_above(ax, place, tops, (format(each, text) for each in numbers), fontsize=9)
    return in_words(x, values, ends)


def around(values: Sequence[float], errors: Sequence[float]) -> list[tuple[float, float]]:
    """The ends (low, high) of each value with its error."""
    return [(value - error, value + error) for value, error in zip(values, errors, strict=True)]


def in_words(x: Sequence, values: Values, ends: Ends | None = None) -> str:
    """Values and places: "plain: 1.2 at 3, 1.4 at 4; ..." or "plain: code: 1.2; ..."."""
    told = []
    for name, numbers in values.items():
        cells = [
            # A name may have two lines.
            f"{' '.join(place.split())}: {short(number)}"
            if isinstance(place, str)
            else f"{short(number)} at {place}"
            for place, number in zip(x, numbers, strict=True)
        ]
        if ends:
            pairs = zip(cells, ends[name], strict=True)
            cells = [f"{cell} ({short(low)} to {short(high)})" for cell, (low, high) in pairs]
        told.append(f"{name}: {', '.join(cells)}")
    return "; ".join(told)


def grid(
    ax: Axes,
    cells: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    shades: np.ndarray | None = None,
) -> str:
    """Write `cells`, texts in rows, into a grid with names; returns them in words, none empty.

    `shades`, as many as cells, colour them from white at 0 to dark blue at 1.
    """
    told = []
    for y, texts in enumerate(cells):
        for x, text in enumerate(texts):
            ax.text(x, y, text, ha="center", va="center")
        filled = zip(texts, columns, strict=True)
        told.append(f"{rows[y]}: " + ", ".join(f"{text} at {at}" for text, at in filled if text))
    if shades is not None:
        ax.imshow(shades, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    ax.grid(visible=False)
    ax.hlines(np.arange(len(rows)) + 0.5, -0.5, len(columns) - 0.5, color=PALE, linewidth=0.8)
    ax.vlines(np.arange(len(columns)) + 0.5, -0.5, len(rows) - 0.5, color=PALE, linewidth=0.8)
    return "; ".join(told)


def table(rows: Any, caption: str = "", digits: int = 3) -> None:
    """Show a DataFrame, or what makes one, as the notebook shows tables; elsewhere print it."""
    import pandas as pd  # takes half a second, and most cells need no table

    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    shown = {"index": not isinstance(frame.index, pd.RangeIndex)}  # numbers of rows say nothing
    text = f"{caption}\n{frame.round(digits).to_string(**shown)}".strip("\n")
    shown |= {"float_format": f"{{:.{digits}g}}".format, "na_rep": "", "border": 0}
    page = frame.to_html(**shown)
    if in_notebook():
        display_page(f"<p>{caption}</p>{page}" if caption else page, text)
    else:
        print(text)
