"""Blocks as chapter 06 draws them: rows of boxes, one for each token."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from specdec_lib.lessons.common.drawing import UNUSED, legend_below, swatches, write_inside
from specdec_lib.lessons.common.style import role

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


def dress(kind: str) -> dict:
    """How a box of this kind is drawn; colour is never all that tells two apart."""
    name, label = KINDS[kind]
    return (role(name) if name else UNUSED) | {"label": label}


def outcome(accepted: int, texts: Sequence[str], last: str) -> list[Box]:
    """The boxes of a block: its draft tokens by their fate, then the correction or the bonus."""
    fates = ["accepted"] * accepted + ["rejected"] + ["dropped"] * len(texts)
    final = "bonus" if accepted == len(texts) else "correction"
    return [*zip(fates, texts, strict=False), (final, last)]


def rectangle(x: float, row: float, width: float, kind: str) -> Rectangle:
    """A box of this kind in a row; rows are 1 apart."""
    return Rectangle((x, row - 0.34), width, 0.68, **dress(kind))


def _lettering(kind: str) -> dict:
    """Monospace, so that the width of a text is known; white paper behind it only on a hatch."""
    paper = {} if KINDS[kind][0] in ("excess", "residual") else {"bbox": None}
    return {"family": "monospace", "fontsize": 9} | paper


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
            write_inside(ax, left + size / 2, number, shown, **_lettering(kind))
            left += size + 0.7
    ax.set_xlim(0, width)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)), labels)
    ax.set_xticks([])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    used = {kind for row in rows for kind, _ in row}
    handles = swatches(dress(kind) for kind in KINDS if kind in used)
    legend_below(ax, len(handles), handles=handles)
