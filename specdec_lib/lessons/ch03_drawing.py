"""Parts of chapter 03's figures: axes, bars in the dress of a role, the target's lines, words."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.style import role, style

TOKENS = "ABCDEFGH"


def axes(title: str, ylabel: str = "probability", size: tuple = (7.0, 3.6)) -> Axes:
    """One pair of axes with a title."""
    style()
    _, ax = plt.subplots(figsize=size)
    ax.set_title(title, pad=10)
    ax.set_ylabel(ylabel)
    return ax


def row_of_axes(count: int, size: tuple, ylabel: str = "probability") -> list[Axes]:
    """`count` axes side by side with one scale."""
    style()
    _, row = plt.subplots(1, count, figsize=size, sharey=True)
    row[0].set_ylabel(ylabel)
    return list(row)


def bars(
    ax: Axes,
    heights: np.ndarray,
    name: str,
    bottom: np.ndarray | float = 0.0,
    label: str | None = None,
    shift: float = 0.0,
    width: float = 0.6,
) -> None:
    """Bars in the dress of a role; a bar of no height leaves no line behind."""
    heights = np.asarray(heights, dtype=float)
    drawn = np.abs(heights) > 1e-12
    if drawn.any():
        dress = role(name) | ({"label": label} if label else {})
        floor = np.broadcast_to(bottom, heights.shape)[drawn]
        ax.bar(np.flatnonzero(drawn) + shift, heights[drawn], width, bottom=floor, **dress)


def target_lines(ax: Axes, p: np.ndarray) -> None:
    """The target as a black line across each token."""
    x = np.arange(len(p))
    ax.hlines(p, x - 0.38, x + 0.38, color="black", linewidth=2.5, label="target p")


def write(ax: Axes, x: float, height: float, text: str) -> None:
    """A word above a bar."""
    ax.annotate(text, (x, height), xytext=(0, 4), textcoords="offset points", ha="center")


def finish(ax: Axes, count: int, top: float, title: str | None = None, columns: int = 3) -> None:
    """Names of the tokens, room for the words above the bars, and the legend below."""
    ax.set_xticks(np.arange(count), list(TOKENS[:count]))
    ax.set_ylim(0, 1.2 * max(top, 1e-3))
    if title:
        ax.set_title(title, pad=10)
    if columns:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=columns)


def numbers(values: np.ndarray) -> str:
    """The values by the names of their tokens, for alternative texts."""
    pairs = zip(TOKENS, np.asarray(values, dtype=float), strict=False)
    return ", ".join(f"{name} {value:.3g}" for name, value in pairs)
