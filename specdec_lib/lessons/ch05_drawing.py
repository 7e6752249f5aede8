"""Parts that the figures of chapter 05 share."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from specdec_lib.lessons.style import role, style

GREY = "#c9c9d1"  # an interval, beside the roles' colours


def axes(title: str, ylabel: str = "", size: tuple[float, float] = (7.0, 3.6)) -> Axes:
    """One picture in the course's style."""
    style()
    _, ax = plt.subplots(figsize=size)
    ax.set_title(title, pad=10)
    ax.set_ylabel(ylabel)
    return ax


def two_axes(
    size: tuple[float, float] = (8.6, 3.6), sharey: bool = True
) -> tuple[Figure, Axes, Axes]:
    """Two pictures side by side that share their vertical axis, or do not."""
    style()
    figure, (left, right) = plt.subplots(1, 2, figsize=size, sharey=sharey)
    return figure, left, right


def bars(
    ax: Axes, x: Sequence[float], heights: Sequence[float], name: str, width: float, label: str
) -> None:
    """Bars in the dress of a role, with the number above each."""
    ax.bar(x, heights, width, **role(name) | {"label": label})
    for at, height in zip(x, heights, strict=True):
        write(ax, at, height, f"{height:.2f}")


def write(ax: Axes, x: float, y: float, text: str) -> None:
    """A small text just above a point."""
    ax.annotate(text, (x, y), xytext=(0, 4), textcoords="offset points", ha="center", fontsize=9)


def legend_below(ax: Axes, columns: int = 3, drop: float = -0.2) -> None:
    """The legend under the picture."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, drop), ncol=columns)


def rows_down(ax: Axes, names: Sequence[str]) -> np.ndarray:
    """Name the rows of a horizontal picture, the first on top; returns their heights."""
    y = np.arange(len(names))[::-1]
    ax.set_yticks(y, names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.grid(axis="x")
    ax.grid(visible=False, axis="y")
    return y
