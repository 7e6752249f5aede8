"""One block by five drafters, along time: which states and tokens go into each step, and when."""

from matplotlib.axes import Axes

from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.drawing.axes import chart, label_rows, legend_below, swatches, write_inside
from specdec_lib.lessons.drawing.style import show
from specdec_lib.lessons.drawing.tokens import box_style, plain_box

_K = 4
PASS = 1.0  # the width of the target's pass


# The draft steps of each drafter: what a step reads, and its width in target passes.
_ROWS = read_tables(__package__, "timeline.toml")


def timeline() -> None:
    """The rows, one below the other; every row ends with the target's pass over the block."""
    ax = chart("One block of four draft tokens: what goes in, and when", size=(9.0, 3.6))
    heights = label_rows(ax, list(_ROWS))
    parts = [_row(ax, y, name, row) for y, (name, row) in zip(heights, _ROWS.items(), strict=True)]
    ax.set(
        xlim=(0, 4 * 0.24 + PASS + 0.05),
        xticks=[],
        xlabel="time, a sketch; h: the target's states, g: the head's own output",
    )
    ax.grid(visible=False)
    names = {"drafted": "a draft step, what it reads (thin: a look-up)", "scored": "target's pass"}
    dresses = [box_style(kind) | {"label": text} for kind, text in names.items()]
    legend_below(ax, columns=2, handles=swatches(dresses))
    show(ax.figure, f"Draft steps of a block of {_K} tokens. {'; '.join(parts)}. Widths: a sketch.")


def _row(ax: Axes, y: float, name: str, row: list[tuple[str, float]]) -> str:
    """Draw the steps of a drafter and the target's pass behind them; returns them in words."""
    x = 0.0
    for reads, width in row:
        plain_box(ax, x, y, width, "drafted")
        if reads:
            write_inside(ax, x + width / 2, y, reads, fontsize=9)
        x += width
    plain_box(ax, x, y, PASS, "scored")
    write_inside(ax, x + PASS / 2, y, "x0 x1 x2 x3 x4", fontsize=9)
    read = "; ".join(reads for reads, _ in row if reads)
    return f"{name}: in {len(row)}, reading {read}"
