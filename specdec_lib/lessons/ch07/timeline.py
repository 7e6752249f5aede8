"""One block by six drafters, along time: which states and tokens go into each step, and when."""

from specdec_lib.lessons.ch07.lesson import LAYER
from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.drawing.axes import chart, label_rows, legend_below, swatches, write_inside
from specdec_lib.lessons.drawing.style import show
from specdec_lib.lessons.drawing.tokens import box_style, plain_box

_SHOWN = 0.62  # target passes: the frame ends long before the target's pass does
_ROWS = read_tables(__package__, "timeline.toml")


def timeline() -> None:
    """The rows, one below the other; every row ends with the target's pass over the block."""
    ax = chart("Four draft tokens to one scale: what goes in, and when", size=(9.0, 3.8))
    for y, steps in zip(label_rows(ax, list(_ROWS)), _ROWS.values(), strict=True):
        start = 0.0
        for reads, layers in steps:
            plain_box(ax, start, y, layers * LAYER, "drafted")
            write_inside(ax, start + layers * LAYER / 2, y, reads, fontsize=8)
            start += layers * LAYER
        plain_box(ax, start, y, 1.0, "scored")
        write_inside(ax, (start + _SHOWN) / 2, y, "the pass \N{RIGHTWARDS ARROW}", fontsize=8)
    ax.set(xlim=(0, _SHOWN), xlabel="time in target passes; the target's pass is 1 wide")
    ax.grid(visible=False)
    names = {"drafted": "a draft step, and what it reads", "scored": "the target's pass"}
    dresses = [box_style(kind) | {"label": text} for kind, text in names.items()]
    legend_below(ax, columns=2, handles=swatches(dresses))
    words = "; ".join(
        f"{name}: {sum(layers for _, layers in steps) * LAYER:.3g}, reading "
        f"{', '.join(reads for reads, _ in steps if reads)}"
        for name, steps in _ROWS.items()
    )
    times = [sum(layers for _, layers in steps) * LAYER for steps in _ROWS.values()]
    range_text = f"from {min(times):.3g} to {max(times):.3g} of a target pass"
    show(ax.figure, f"Drafting takes {range_text}. {words}.")
