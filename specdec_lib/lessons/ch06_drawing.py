"""Parts of the figures of chapter 06: axes, and blocks as rows of boxes."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from specdec_lib.lessons.style import role, style

# What a box stands for: its role in the palette, or None for a dashed one, and its words.
KINDS = {
    "accepted": ("accepted", "accepted"),
    "rejected": ("excess", "rejected"),
    "dropped": (None, "dropped, not judged"),
    "correction": ("residual", "correction"),
    "bonus": ("target", "bonus"),
}
CHARACTERS = 98  # of a box's text that fit side by side
Box = tuple[str, str]  # kind, text


def axes(title: str, ylabel: str = "", size: tuple[float, float] = (7.0, 3.6)) -> Axes:
    """One drawing in the course's style."""
    style()
    _, ax = plt.subplots(figsize=size)
    ax.set_title(title, pad=10)
    ax.set_ylabel(ylabel)
    return ax


def legend_below(ax: Axes, columns: int = 3, drop: float = 0.17) -> None:
    """The legend under the drawing, `drop` of its height below the axis."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -drop), ncol=columns)


def dress(kind: str) -> dict:
    """How a box of this kind is drawn; colour is never all that tells two apart."""
    name, label = KINDS[kind]
    if name is None:
        look = {"facecolor": "white", "edgecolor": "#777780", "linestyle": (0, (2, 2))}
        return look | {"linewidth": 1.2, "label": label}
    return role(name) | {"label": label}


def outcome(accepted: int, texts: Sequence[str], last: str) -> list[Box]:
    """The boxes of a block: its draft tokens by their fate, then the correction or the bonus."""
    fates = ["accepted"] * accepted + ["rejected"] + ["dropped"] * len(texts)
    final = "bonus" if accepted == len(texts) else "correction"
    return [*zip(fates, texts, strict=False), (final, last)]


def rectangle(x: float, row: float, width: float, kind: str) -> Rectangle:
    """A box of this kind in a row; rows are 1 apart."""
    return Rectangle((x, row - 0.34), width, 0.68, **dress(kind))


def boxes(
    ax: Axes, rows: Sequence[Sequence[Box]], labels: Sequence[str], width: float = CHARACTERS
) -> None:
    """Rows of boxes, one for each block, with a label before each and a legend below.

    `width` is that of the drawing, in characters.
    """
    for number, row in enumerate(rows):
        left = 0.0
        for kind, text in row:
            shown = "" if kind == "dropped" else text
            size = 1.8 if kind == "dropped" else len(shown) + 1.4
            ax.add_patch(rectangle(left, number, size, kind))
            _write(ax, left + size / 2, number, shown, kind)
            left += size + 0.7
    ax.set_xlim(0, width)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)), labels)
    ax.set_xticks([])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    _legend(ax, [kind for row in rows for kind, _ in row])


def _write(ax: Axes, x: float, y: float, text: str, kind: str) -> None:
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    box = paper if KINDS[kind][0] in ("excess", "residual") else None  # the hatch stays off it
    ax.text(x, y, text, ha="center", va="center", family="monospace", fontsize=9, bbox=box)


def _legend(ax: Axes, used: Sequence[str]) -> None:
    handles = [Rectangle((0, 0), 1, 1, **dress(kind)) for kind in KINDS if kind in used]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=len(handles))
