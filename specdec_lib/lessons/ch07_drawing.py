"""Parts of the figures of chapter 07: axes, bars in their dress, labels, numbers in words."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.style import role, style

TOKENS = "ABCDEFGH"


def axes(title: str, ylabel: str = "probability", size: tuple = (7.0, 3.6)) -> Axes:
    """One panel with its title."""
    style()
    _, ax = plt.subplots(figsize=size)
    ax.set_title(title, pad=10)
    ax.set_ylabel(ylabel)
    return ax


def panels(count: int, size: tuple, widths: list[float] | None = None) -> list[Axes]:
    """`count` panels side by side."""
    style()
    _, row = plt.subplots(1, count, figsize=size, width_ratios=widths)
    return list(row)


def bars(
    ax: Axes,
    x: np.ndarray,
    heights: np.ndarray,
    name: str,
    bottom: np.ndarray | float = 0.0,
    width: float = 0.6,
    label: str | None = None,
) -> None:
    """Bars in the dress of a role; a bar of no height leaves no line behind."""
    dress = role(name) | ({"label": label} if label else {})
    heights = np.asarray(heights, dtype=float)
    drawn = np.abs(heights) > 1e-12
    if drawn.any():
        floor = np.broadcast_to(bottom, heights.shape)[drawn]
        ax.bar(np.asarray(x)[drawn], heights[drawn], width, bottom=floor, **dress)


def target_lines(ax: Axes, p: np.ndarray) -> None:
    """The target's level over every token."""
    x = np.arange(len(p))
    ax.hlines(p, x - 0.38, x + 0.38, color="black", linewidth=2.5, label="target p")


def write(ax: Axes, x: float, height: float, text: str) -> None:
    """A label above a bar."""
    ax.annotate(text, (x, height), xytext=(0, 4), textcoords="offset points", ha="center")


def finish(ax: Axes, count: int, top: float, title: str | None = None) -> None:
    """Names of the tokens, room for the labels above the bars, and the legend below."""
    ax.set_xticks(np.arange(count), list(TOKENS[:count]))
    ax.set_ylim(0, 1.18 * max(top, 1e-3))
    if title:
        ax.set_title(title, pad=10)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=3)


def numbers(values: np.ndarray) -> str:
    """Values with the names of their tokens, in words."""
    pairs = zip(TOKENS, np.asarray(values, dtype=float), strict=False)
    return ", ".join(f"{name} {value:.3g}" for name, value in pairs)


def listed(values: object) -> str:
    """Numbers in a row, to three digits."""
    return ", ".join(f"{value:.3g}" for value in values)
