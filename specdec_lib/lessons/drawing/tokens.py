"""Tokens as pictures draw them: a shape, a hatch and a sign for every kind, besides a colour.

The simulators (widgets/parts/blocks.js) draw the same shapes.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.offsetbox import DrawingArea
from matplotlib.patches import FancyBboxPatch, Patch, Polygon, Rectangle
from matplotlib.transforms import Affine2D

from specdec_lib.lessons.drawing.axes import panels, write_inside
from specdec_lib.lessons.drawing.style import GREY, PALE, read_look, role

# By kind: the role that lends it colour and hatch, the sign before its text, its name in a legend.
_KINDS = read_look("tokens.json")
_WIDTH, _HEIGHT = 0.88, 0.42
FIRST_X = 1.5  # where the first box of a row stands


def token_outcomes(accepted: int, count: int) -> list[str]:
    """The kinds of `count` draft tokens of a block, of which the first `accepted` pass."""
    return (["accepted"] * accepted + ["rejected"] + ["dropped"] * count)[:count]


def board(width: float, height: float, scale: float, title: str = "") -> Axes:
    """An empty surface, `width` by `height` units, `scale` inches to a unit of height."""
    (ax,) = panels(1, (8.2, scale * height + (0.65 if title else 0.35)))
    ax.set(xlim=(-0.3, width), ylim=(-0.2, height), title=title)
    ax.axis("off")
    return ax


def token_box(ax: Axes, x: float, y: float, kind: str, words: str) -> None:
    """Draw a token of this kind with its middle at (x, y)."""
    for patch in _patches(kind, x, y):
        ax.add_patch(patch)
    look = _KINDS[kind]
    text_style = {"color": "#55555f"} if look["role"] is None else {"fontweight": "bold"}
    if kind == "chosen":
        text_style = {"fontweight": "bold", "bbox": None}
    write_inside(ax, x, y, look["sign"] + words, fontsize=9.5, **text_style)


def boxes(
    ax: Axes, y: float, name: str, words: Iterable[tuple[str, str]], start: float = 0
) -> None:
    """Draw a row's name, and boxes (kind, word) from its place `start` on."""
    write_at(ax, 0.4, y, name, bold=True)
    for i, (kind, word) in enumerate(words):
        token_box(ax, FIRST_X + start + i, y, kind, word)


def box_style(kind: str) -> dict[str, Any]:
    """Options of a patch of this kind; colour is never all that tells two kinds apart."""
    if name := _KINDS[kind]["role"]:
        return role(name) | {"label": kind}
    if kind == "chosen":
        return {"facecolor": PALE, "edgecolor": "black", "linewidth": 2.2}
    line = "-" if kind == "plain" else (0, (2, 2))
    return {"facecolor": "white", "edgecolor": GREY, "linestyle": line, "linewidth": 1.2}


def plain_box(ax: Axes, x: float, y: float, width: float, kind: str) -> None:
    """A box of this kind from x on, without a sign or words; rows of boxes are 1 apart."""
    ax.add_patch(Rectangle((x, y - 0.34), width, 0.68, **box_style(kind)))


def _patches(kind: str, x: float, y: float) -> list[Patch]:
    """The outline of a kind."""
    style = box_style(kind)
    left, low = x - _WIDTH / 2, y - _HEIGHT / 2
    box = Rectangle((left, low), _WIDTH, _HEIGHT, **style)
    if kind == "corrected":
        side, cut = _WIDTH / 2, 0.12
        flat = side - cut
        corners = [(-side, 0), (-flat, 1), (flat, 1), (side, 0), (flat, -1), (-flat, -1)]
        return [Polygon([(x + a, y + b * _HEIGHT / 2) for a, b in corners], closed=True, **style)]
    if kind == "bonus":
        rounded = "round,pad=0,rounding_size=0.18"
        outer = FancyBboxPatch((left, low), _WIDTH, _HEIGHT, boxstyle=rounded, **style)
        inner = (left + 0.04, low + 0.05)
        thin = style | {"facecolor": "none", "linewidth": 0.9}
        size = (_WIDTH - 0.08, _HEIGHT - 0.1)
        return [outer, FancyBboxPatch(inner, *size, boxstyle=rounded, **thin)]
    if kind == "rejected":
        cross = {"color": style["edgecolor"], "linewidth": 1.2, "fill": False, "closed": False}
        right, top = left + _WIDTH, low + _HEIGHT
        ends = [(left, low), (right, top)], [(left, top), (right, low)]
        return [box, *(Polygon(end, **cross) for end in ends)]
    return [box]


def write_at(
    ax: Axes, x: float, y: float, words: str, size: float = 9.5, bold: bool = False
) -> None:
    """Write words with their middle at (x, y)."""
    weight = "bold" if bold else "normal"
    ax.text(x, y, words, ha="center", va="center", fontsize=size, fontweight=weight)


def arrow(ax: Axes, start: tuple, end: tuple, bold: bool) -> None:
    """An arrow; `bold` if it is one to look at."""
    style = {"arrowstyle": "-|>", "linewidth": 2.0 if bold else 0.8}
    ax.annotate("", end, start, arrowprops=style | {"color": "black" if bold else GREY})


class _Swatch:
    """How a legend draws a kind: as the picture does, with its shape, cross or edges."""

    def legend_artist(self, legend: Any, kind: str, size: float, area: DrawingArea) -> None:
        """Put the outline of `kind` into `area`."""
        scale = area.width / _WIDTH, area.height / _HEIGHT
        fit = Affine2D().translate(_WIDTH / 2, _HEIGHT / 2).scale(*scale)
        for patch in _patches(kind, 0, 0):
            patch.set_transform(fit + area.get_transform())
            area.add_artist(patch)


def box_legend(ax: Axes, kinds: tuple[str, ...]) -> None:
    """What the shapes mean, below the picture."""
    labels = [_KINDS[kind]["label"] for kind in kinds]
    look = {"handlelength": 2.8, "handleheight": 1.3, "handler_map": {str: _Swatch()}}
    ax.legend(kinds, labels, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncol=3, **look)


def draw_blocks(ax: Axes, blocks: Sequence[list[tuple[str, str]]], names: Iterable[str]) -> None:
    """Rows of boxes, one for each block, with its name before it and a legend below."""
    for number, (name, block) in enumerate(zip(names, blocks, strict=True)):
        boxes(ax, -0.6 * number, name, block)
    end = FIRST_X + max(map(len, blocks)) - 0.4
    ax.set(xlim=(-0.3, end), ylim=(0.1 - 0.6 * len(blocks), 0.4))
    ax.axis("off")
    used = {kind for block in blocks for kind, _ in block}
    named = (kind for kind, look in _KINDS.items() if kind in used and "label" in look)
    box_legend(ax, tuple(named))
