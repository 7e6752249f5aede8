"""What the figures of chapter 00 share: axes, ticks and looks."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from specdec_lib.lessons.style import ACCEPTED, DRAFT, EXCESS, TARGET, style

LOOKS = ((TARGET, "-", "o"), (EXCESS, "--", "s"), (ACCEPTED, "-.", "^"), (DRAFT, ":", "D"))
NEVER = float("inf")  # a limit that is never reached


def axes_of(title: str, ylabel: str, size: tuple = (7.0, 3.8)) -> Axes:
    """Empty axes in the course's style."""
    style()
    _, ax = plt.subplots(figsize=size)
    ax.set_title(title, pad=10)
    ax.set_ylabel(ylabel)
    return ax


def log_log(ax: Axes, xlabel: str) -> None:
    """Both axes logarithmic, with plain numbers."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.grid(axis="both", visible=True)
    ax.set_xlabel(xlabel)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(plain_ticks)


def plain_ticks(value: float, _: int) -> str:
    """A tick as 1,000 and not as a power of ten."""
    return f"{value:,.10g}"


def write_above(ax: Axes, x: float, height: float, text: str) -> None:
    """Write `text` above the end of a bar."""
    ax.annotate(text, (x, height), xytext=(0, 4), textcoords="offset points", ha="center")
