"""The figure of chapter 00 on a real machine: measured passes over the student's forward_time."""

from collections.abc import Callable, Sequence
from statistics import quantiles

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from specdec_lib.lessons.ch00.checks import (
    Passes,
)
from specdec_lib.lessons.common.drawing import (
    LINES,
    drawn_from,
    log_log,
    panels,
)
from specdec_lib.lessons.common.style import show


@drawn_from("forward_time")
def measured_passes(forward: Callable, passes: Sequence[Passes], bandwidth: float) -> None:
    """Measured passes with their quartiles, over the student's roofline at the measured limits."""
    names = list(dict.fromkeys(each.name[1] for each in passes))
    axes, parts = panels(len(names), (8.8, 4.0), ylabel="ms", sharey=True), []
    for ax, dtype in zip(axes, names, strict=True):
        mine = [each for each in passes if each.name[1] == dtype]
        for each, look in zip(mine, LINES, strict=False):
            parts.append(_measured(ax, forward, each, bandwidth, look))
        ax.set_title(f"{dtype}, {mine[0].peak_flops / 1e9:.0f} GFLOP/s")
        log_log(ax, "tokens in the pass")
        ax.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
        ax.minorticks_off()
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.legend(title="points: measured; line: your roofline", fontsize=9, title_fontsize=9)
    show(
        axes[0].figure,
        f"Measured passes and your roofline at {bandwidth / 1e9:.1f} GB/s, by tokens. "
        f"{' '.join(parts)}",
    )


def _measured(ax: Axes, forward: Callable, each: Passes, bandwidth: float, look: tuple) -> str:
    """One model's points and line; returns them in words."""
    colour, dash, marker = look
    tokens = np.array(list(each.seconds))
    spread = 1e3 * np.array([quantiles(s, n=4, method="inclusive") for s in each.seconds.values()])
    low, middle, high = spread.T
    limits = (each.n_params, each.bytes_per_param, bandwidth, each.peak_flops)
    line = [1e3 * forward(int(n), *limits) for n in tokens]
    label = f"{each.name[0]}, {each.n_params / 1e6:.1f}M weights"
    dense = range(1, tokens.max() + 1)
    ax.plot(dense, [1e3 * forward(n, *limits) for n in dense], dash, color=colour)
    around = [middle - low, high - middle]
    ax.errorbar(tokens, middle, around, fmt=marker, color=colour, label=label)
    shown = [i for i, n in enumerate(tokens) if n in (1, 8, 64)]
    told = ", ".join(f"for {tokens[i]} {middle[i]:.3g} ms, line {line[i]:.3g}" for i in shown)
    return f"{', '.join(each.name)}: {told}."
