"""Figures: one way to draw axes, bars, labels and legends, and to wait for a student's function.

The look is that of style.py; numbers in words are in wording.py.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from specdec_lib.errors import DependencyError
from specdec_lib.lessons.checking.blame import error_text, is_unwritten, student_frames
from specdec_lib.lessons.checking.lending import call_with_copies
from specdec_lib.lessons.drawing.style import palette, role, use_course_style
from specdec_lib.lessons.drawing.wording import TOKEN_NAMES, by_token

#: Colour, dash and marker of the lines of a figure: any one of the three tells them apart.
_LINE_COLOURS = [palette("light")[name] for name in ("target", "accepted", "excess", "draft")]
LINE_STYLES = tuple(zip(_LINE_COLOURS, ("-", "--", "-.", ":"), "os^D", strict=True))
#: A mark that stands across what it is compared with.
CROSS = {"marker": "x", "linestyle": "none", "markersize": 10, "markeredgewidth": 2.5}
#: Black lines with marks that are white inside.
HOLLOW = {"color": "black", "markerfacecolor": "white"}
#: What keeps words legible on a hatch or a line.
WHITE_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1}


def uses_student_functions(*names: str) -> Callable[[Callable], Callable]:
    """Decorate a figure that calls the student's functions `names`.

    They are the figure's first arguments, and get copies of theirs. A function that is unwritten,
    or that raises, is named in one line in place of the picture, so that no picture stops the
    notebook. The names are the figure's attribute `functions`.
    """

    def decorate(figure: Callable) -> Callable:
        @functools.wraps(figure)
        def draw(*args, **kwargs) -> None:
            try:
                own = map(call_with_copies, args[: len(names)])
                figure(*own, *args[len(names) :], **kwargs)
            except Exception as error:  # whatever a half-written function does
                print(_why_not(error, names))
            finally:
                plt.close("all")  # else the notebook would show a picture that is half drawn

        draw.functions = names
        return draw

    return decorate


def _why_not(error: Exception, names: Sequence[str]) -> str:
    """Why a picture is missing. Only their own code in the traceback makes it a student's fault."""
    all_names, frames = " and ".join(names), student_frames(error)
    if isinstance(error, DependencyError):
        return f"{error} Your {all_names} has no part in this."
    if is_unwritten(error):
        notebook = frames[-1].filename.partition(", cell ")[0]  # no cell there has a number
        place = f" of {notebook}" if ".ipynb" in notebook else ""
        return f"This cell uses your own {all_names}. Write it first: {frames[-1].name}{place}."
    message = getattr(error, "what_happened", getattr(error, "seen", None))
    if message or frames:
        blamed = next((frame.name for frame in frames if frame.name in names), all_names)
        return f"Your {blamed} cannot be used yet: {message or error_text(error)}"
    return (
        f"There is no picture. What your {all_names} returned may not fit: drawing it "
        f"{error_text(error)}. Run the check of {all_names}. "
        "If it passes, this is a mistake of the course: please report it."
    )


def chart(title: str, ylabel: str = "", size: tuple[float, float] = (7.0, 3.6)) -> Axes:
    """One pair of axes with a title; `size` in inches."""
    (ax,) = panels(1, size, ylabel=ylabel)
    ax.set_title(title)
    return ax


def panels(count: int, size: tuple[float, float], ylabel: str = "", **options: Any) -> list[Axes]:
    """`count` pairs of axes side by side; the first has the `ylabel`.

    `options` go to plt.subplots.
    """
    use_course_style()
    _, axes = plt.subplots(1, count, figsize=size, squeeze=False, **options)
    axes.flat[0].set_ylabel(ylabel)
    return list(axes.flat)


def token_axis(ax: Axes, count: int, top: float, low: float = 0.0) -> None:
    """The names of `count` tokens, and room from `low` to above `top` for the labels of bars."""
    ax.set_xticks(np.arange(count), list(TOKEN_NAMES[:count]))
    ax.set_ylim(min(0.0, 1.2 * low), 1.2 * max(top, 1e-3))


def label_rows(ax: Axes, names: Sequence[str]) -> np.ndarray:
    """Name the rows of a horizontal picture, the first on top; returns their heights (n,)."""
    y = np.arange(len(names))[::-1]
    ax.set_yticks(y, names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.grid(visible=True, axis="x")
    ax.grid(visible=False, axis="y")
    return y


def log_log(ax: Axes, xlabel: str) -> None:
    """Both axes logarithmic, with plain numbers."""
    ax.set(xscale="log", yscale="log", xlabel=xlabel)
    ax.grid(axis="both", visible=True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,.10g}")  # 1,000 and not a power of ten


def bars(
    ax: Axes,
    x: Sequence[float],
    heights: Sequence[float],
    name: str,
    width: float = 0.6,
    *,
    bottom: np.ndarray | float = 0.0,
    label: str | None = None,
) -> None:
    """Bars in the look of a role; a bar of no height leaves no line behind."""
    x, heights = np.asarray(x, dtype=float), np.asarray(heights, dtype=float)
    visible = np.abs(heights) > 1e-12
    if visible.any():
        floor = np.broadcast_to(bottom, heights.shape)[visible]
        options = role(name) | ({"label": label} if label else {})
        ax.bar(x[visible], heights[visible], width, bottom=floor, **options)


def masses_by_path(
    ax: Axes,
    paths: Sequence[np.ndarray],
    p: np.ndarray,
    texts: Iterable[str],
    labels: Sequence[str] = ("came by acceptance", "came by correction"),
) -> str:
    """Mass by acceptance and, on it, by correction, each (V,), against the target p (V,).

    Returns the masses in words.
    """
    parts = dict(zip(labels, paths, strict=True))
    stacked_token_bars(ax, parts, ("accepted", "residual"), texts, target=p)
    accepted, corrected = paths
    by_path = f"by acceptance {by_token(accepted)}, by correction {by_token(corrected)}"
    return f"{by_path}, together {by_token(accepted + corrected)}; the target {by_token(p)}"


def pile_bars(
    ax: Axes,
    x: Sequence[float],
    parts: Mapping[str, np.ndarray],
    roles: Sequence[str],
    width: float = 0.6,
) -> np.ndarray:
    """Draw bars at `x` (n,), each of the `parts` (n,) on the one before; returns the tops (n,)."""
    top = np.zeros(len(x))
    for (label, part), name in zip(parts.items(), roles, strict=True):
        bars(ax, x, part, name, width, bottom=top, label=label)
        top = top + part
    return top


def stacked_token_bars(
    ax: Axes,
    parts: Mapping[str, np.ndarray],
    roles: Sequence[str],
    texts: Iterable[str] = (),
    target: np.ndarray | None = None,
) -> str:
    """Bars over the tokens, the `parts` (V,) of each one on the other, and `texts` above them.

    A black line across each token marks the `target` (V,). Returns the parts in words.
    """
    x = np.arange(len(next(iter(parts.values()))))
    top = pile_bars(ax, x, parts, roles)
    if target is not None:
        target_lines(ax, target)
        top = np.maximum(top, target)
    if texts:
        write_above(ax, x, top, texts)
    token_axis(ax, len(x), top=top.max())
    legend_below(ax)
    return "; ".join(f"{label}: {by_token(part)}" for label, part in parts.items())


def named_bars(ax: Axes, values: Mapping[str, float], texts: Sequence[str], name: str) -> str:
    """Horizontal bars in the look of a role, the first on top, a text beside each.

    Returns the texts by the names of their bars.
    """
    y, lengths = label_rows(ax, list(values)), list(values.values())
    ax.barh(y, lengths, 0.6, **role(name))
    write_beside(ax, lengths, y, texts)
    return "; ".join(f"{bar}: {text}" for bar, text in zip(values, texts, strict=True))


def target_lines(ax: Axes, p: np.ndarray) -> None:
    """The target p (V,) as a black line across each token."""
    x = np.arange(len(p))
    ax.hlines(p, x - 0.38, x + 0.38, color="black", linewidth=2.5, label="target p")


def write_above(
    ax: Axes,
    x: Iterable[float],
    heights: Iterable[float],
    texts: Iterable[str],
    gap: int = 4,
    **options: Any,
) -> None:
    """Write a text above each point, `gap` points away; `options` go to `ax.annotate`."""
    place = {"xytext": (0, gap), "textcoords": "offset points", "ha": "center"}
    for at, height, text in zip(x, heights, texts, strict=True):
        ax.annotate(text, (at, height), **place, **options)


def write_beside(ax: Axes, x: Iterable[float], y: Iterable[float], texts: Iterable[str]) -> None:
    """Write a text at the right of each point, as at the end of a horizontal bar."""
    for at, height, text in zip(x, y, texts, strict=True):
        ax.annotate(text, (at, height), xytext=(7, -4), textcoords="offset points")


def waterfall(ax: Axes, speeds: Mapping[str, float], clock: float) -> str:
    """The first of `speeds`, every step to the next, and the clock, as bars; and in words."""
    names, ends = [*speeds, "the clock"], np.array(list(speeds.values()))
    y, steps = label_rows(ax, names), np.diff(ends)
    ax.barh(y[0], ends[0], 0.6, **role("target"))
    for at, start, step in zip(y[1:-1], ends[:-1], steps, strict=True):
        ax.barh(at, step, 0.6, left=start, **role("residual" if step > 0 else "excess"))
    ax.barh(y[-1], clock, 0.6, **role("accepted"))
    texts = [f"{ends[0]:.2f}", *(f"{step:+.2f}" for step in steps), f"{clock:.2f}"]
    write_beside(ax, [ends[0], *np.maximum(ends[:-1], ends[1:]), clock], y, texts)
    ax.set_xlim(0, max(ax.get_xlim()[1], 1.3 * ends.max(), 1.2))
    return ", ".join(map(" ".join, zip(names, texts, strict=True)))


def write_inside(ax: Axes, x: float, y: float, text: str, **options: Any) -> None:
    """Write a text in the middle of an area, legible on its hatch; `options` go to `ax.text`."""
    ax.text(x, y, text, ha="center", va="center", **{"bbox": WHITE_BOX} | options)


def legend_below(ax: Axes, columns: int = 3, **options: Any) -> None:
    """Draw the legend under the picture, clear of the ticks and their words; call it last.

    `options` go to `ax.legend`.
    """
    lines = [len(tick.get_text().splitlines()) for tick in ax.get_xticklabels()]
    points = 8 + 14 * (max(lines, default=0) + len(ax.get_xlabel().splitlines()))
    down = ScaledTranslation(0, -points / 72, ax.figure.dpi_scale_trans)
    place = {"bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + down}
    ax.legend(loc="upper center", ncol=columns, **place, **options)


def swatches(styles: Iterable[dict[str, Any]]) -> list[Patch]:
    """Handles for a legend, one for each style of a patch with a label."""
    return [Patch(**style) for style in styles]
