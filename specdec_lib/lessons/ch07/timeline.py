"""One block by five drafters, along time: which states and tokens go into each step, and when."""

from typing import NamedTuple

from matplotlib.axes import Axes

from specdec_lib.lessons.drawing.axes import (
    chart,
    label_rows,
    legend_below,
    swatches,
    write_inside,
)
from specdec_lib.lessons.drawing.style import show
from specdec_lib.lessons.drawing.tokens import box_style, plain_box

K = 4
PASS = 1.0  # the width of the target's pass


class Step(NamedTuple):
    """A draft step: what it reads, and its width in target passes."""

    reads: str
    width: float


def steps(first: str, again: str, width: float) -> list[Step]:
    """K steps of one width; step i reads token i, after `first` or, later, after `again`."""
    return [Step(f"{again if i else first}x{i}", width) for i in range(K)]


# The widths are a sketch and stand for no machine: a step of a layer, of a small model, of five
# layers, and of a table that is looked up.
ROWS = {
    "draft model": steps("", "", 0.24),
    "EAGLE-3": steps("h, ", "g, ", 0.14),
    "MTP": steps("h, ", "g, ", 0.14),
    "DFlash": [Step("h, x0, 4 masks", 0.42)],
    "DSpark": [Step("h, x0, 4 masks", 0.42), *(Step("", 0.04) for _ in range(K))],
}


def timeline() -> None:
    """The rows, one below the other; every row ends with the target's pass over the block."""
    ax = chart("One block of four draft tokens: what goes in, and when", size=(9.0, 3.6))
    heights = label_rows(ax, list(ROWS))
    told = [_row(ax, y, name, row) for y, (name, row) in zip(heights, ROWS.items(), strict=True)]
    ax.set(
        xlim=(0, 4 * 0.24 + PASS + 0.05),
        xticks=[],
        xlabel="time, a sketch; h: the target's states, g: the head's own output",
    )
    ax.grid(visible=False)
    names = {"drafted": "a draft step, what it reads (thin: a look-up)", "scored": "target's pass"}
    dresses = [box_style(kind) | {"label": text} for kind, text in names.items()]
    legend_below(ax, columns=2, handles=swatches(dresses))
    show(ax.figure, f"Draft steps of a block of {K} tokens. {'; '.join(told)}. Widths: a sketch.")


def _row(ax: Axes, y: float, name: str, row: list[Step]) -> str:
    """Draw the steps of a drafter and the target's pass behind them; returns them in words."""
    x = 0.0
    for step in row:
        plain_box(ax, x, y, step.width, "drafted")
        if step.reads:
            write_inside(ax, x + step.width / 2, y, step.reads, fontsize=9)
        x += step.width
    plain_box(ax, x, y, PASS, "scored")
    write_inside(ax, x + PASS / 2, y, "x0 x1 x2 x3 x4", fontsize=9)
    reads = [step.reads for step in row if step.reads]
    return f"{name}: in {len(row)}, reading {'; '.join(reads)}"
