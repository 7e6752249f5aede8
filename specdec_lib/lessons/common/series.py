"""A figure from {name: values}: bars or lines in the dress of the house, and the words for it.

The alternative text is made from the very values that are drawn, so the two cannot part.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.common.drawing import LINES, bars, legend_below, picture, write_above
from specdec_lib.lessons.common.style import show

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
    """  # fmt: skip
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
) -> str:
    """Draw `values` over `x` into `ax`; returns them in words.

    `kind` is lines, marks or bars; bars stand side by side and wear `roles`. Where `x` holds
    names, they are written at equal distances. `text`, such as ".2f", writes every value above
    its place. `ends` draws an interval at every value, and the words have it too.
    """  # fmt: skip
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
            line = dash if kind == "lines" else "none"
            ax.plot(place, numbers, linestyle=line, marker=marker, color=colour, label=name)
        tops = np.asarray(numbers, dtype=float)
        if ends:
            ax.vlines(place, *zip(*ends[name], strict=True), color="black", linewidth=1.6)
            tops = [high for _, high in ends[name]]
        if text:
            write_above(ax, place, tops, (format(each, text) for each in numbers), fontsize=9)
    return in_words(x, values, ends)


def in_words(x: Sequence, values: Values, ends: Ends | None = None) -> str:
    """Every value at its place: "plain: 1 at K = 0, 1.4 at K = 1; ..."."""
    told, places = [], [" ".join(f"{place}".split()) for place in x]  # a name may have two lines
    for name, numbers in values.items():
        cells = [f"{number:.3g} at {place}" for place, number in zip(places, numbers, strict=True)]
        if ends:
            pairs = zip(cells, ends[name], strict=True)
            cells = [f"{cell} ({low:.3g} to {high:.3g})" for cell, (low, high) in pairs]
        told.append(f"{name}: {', '.join(cells)}")
    return "; ".join(told)


def table(rows: Any, caption: str = "", digits: int = 3) -> None:
    """Show a DataFrame, or what makes one, as the notebook shows tables; elsewhere print it."""
    import pandas as pd  # takes half a second, and most cells need no table

    from specdec_lib.lessons.common.style import display_page

    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    text = f"{caption}\n{frame.round(digits).to_string()}".strip()
    page = frame.to_html(float_format=lambda number: f"{number:.{digits}g}", na_rep="", border=0)
    display_page(f"<p>{caption}</p>{page}" if caption else page, text)
