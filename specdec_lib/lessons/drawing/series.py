"""A figure from {name: values}: bars or lines in the look of the course, and the words for it.

The alternative text is made from the very values that are drawn, so the two cannot part.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from specdec_lib.lessons.drawing.axes import (
    LINE_STYLES,
    WHITE_BOX,
    bars,
    chart,
    legend_below,
    write_above,
)
from specdec_lib.lessons.drawing.style import PALE, ROLES, display_page, show
from specdec_lib.lessons.drawing.wording import short_number

Values = Mapping[str, Sequence[float]]
# One hue from white on: matplotlib's "Blues" turns to lilac on its way.
_BLUES = LinearSegmentedColormap.from_list("one_blue", ["white", "#0a4f94"])


def series_figure(
    title: str,
    x: Sequence,
    values: Values,
    *,
    xlabel: str = "",
    ylabel: str = "",
    **options: Any,
) -> None:
    """One picture of `values`, each as long as `x`; `options` go to `draw_series`.

    Its alternative text is the title and every value at its place.
    """
    ax = chart(title, ylabel)
    ax.set_xlabel(xlabel)
    words = draw_series(ax, x, values, **options)
    if len(values) > 1:
        legend_below(ax)
    show(ax.figure, f"{title}. {words}.")


def draw_series(
    ax: Axes,
    x: Sequence,
    values: Values,
    *,
    kind: str = "lines",
    roles: Sequence[str] = ROLES,
    text: str = "",
    plot_options: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> str:
    """Draw `values` over `x` into `ax`; returns them in words.

    `kind` is lines, marks or bars; bars stand side by side in the look of `roles`. Where `x` holds
    names, they are written at equal distances. `text`, such as ".2f", writes every value above
    its place. `plot_options`, by name, go to `ax.plot`.
    """
    named = any(isinstance(place, str) for place in x)
    at = np.arange(len(x)) if named or kind == "bars" else np.asarray(x, dtype=float)
    if named or kind == "bars":
        ax.set_xticks(at, list(map(str, x)))
    width = 0.8 / max(1, len(values))
    for i, (name, numbers) in enumerate(values.items()):
        place = at + (i - (len(values) - 1) / 2) * width if kind == "bars" else at
        if kind == "bars":
            bars(ax, place, numbers, roles[i % len(roles)], 0.95 * width, label=name)
        else:
            colour, dash, marker = LINE_STYLES[i % len(LINE_STYLES)]
            line = dash if kind == "lines" else "none"
            options = {"linestyle": line, "marker": marker, "color": colour, "label": name}
            ax.plot(place, numbers, **options | plot_options.get(name, {}))
        if text:
            ax.margins(y=0.12)  # room for the highest
            texts = [format(number, text) for number in numbers]
            on_lines = {"gap": 8, "bbox": WHITE_BOX} if kind == "lines" else {}
            write_above(ax, place, numbers, texts, fontsize=9, **on_lines)
    return series_text(x, values)


def series_text(x: Sequence, values: Values) -> str:
    """Values and places: "plain: 1.2 at 3, 1.4 at 4; ..." or "plain: code: 1.2; ..."."""
    parts = []
    for name, numbers in values.items():
        cells = (_at_place(at, short_number(value)) for at, value in zip(x, numbers, strict=True))
        parts.append(f"{name}: {', '.join(cells)}")
    return "; ".join(parts)


def _at_place(place: Any, text: str) -> str:
    """A value with its place; the name of a place may have two lines."""
    return f"{' '.join(place.split())}: {text}" if isinstance(place, str) else f"{text} at {place}"


def text_grid(
    ax: Axes,
    cells: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    shades: np.ndarray | None = None,
) -> str:
    """Write `cells`, texts in rows, into a grid with names; returns those with text in words.

    `shades`, as many as cells, colour them from white at 0 to dark blue at 1.
    """
    parts = []
    for y, texts in enumerate(cells):
        for x, text in enumerate(texts):
            ax.text(x, y, text, ha="center", va="center")
        filled = zip(texts, columns, strict=True)
        parts.append(f"{rows[y]}: " + ", ".join(f"{text} at {at}" for text, at in filled if text))
    if shades is not None:
        ax.imshow(shades, cmap=_BLUES, vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    ax.grid(visible=False)
    ax.hlines(np.arange(len(rows)) + 0.5, -0.5, len(columns) - 0.5, color=PALE, linewidth=0.8)
    ax.vlines(np.arange(len(columns)) + 0.5, -0.5, len(rows) - 0.5, color=PALE, linewidth=0.8)
    return "; ".join(parts)


def show_table(rows: Any, caption: str = "", columns: Sequence[str] | None = None) -> None:
    """Show a DataFrame, or what makes one, as the notebook shows tables; elsewhere print it.

    `columns` name the parts of rows that are tuples.
    """
    import pandas as pd  # takes half a second, and most cells need no table

    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, columns=columns)
    shown = {"index": not isinstance(frame.index, pd.RangeIndex)}  # numbers of rows say nothing
    shown |= {"float_format": "{:.3g}".format, "na_rep": ""}
    text = f"{caption}\n{frame.to_string(**shown)}".strip("\n")
    page = frame.to_html(border=0, **shown)
    if frame.select_dtypes("number").empty:  # words; Jupyter sets every cell flush right
        page = re.sub("<t([hd])>", r'<t\1 style="text-align: left">', page)
    display_page(f"<p>{caption}</p>{page}" if caption else page, text)
