"""Figures of chapter 00 on real machines: measured passes, and those of published data sheets.

They are drawn from the student's forward_time, even if it is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import quantiles

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from specdec_lib.lessons.ch00.checks import (
    CHEN_CHIPS,
    CHEN_PARAMS,
    CHEN_SECONDS,
    MACHINES,
    Machine,
    Model,
    Passes,
)
from specdec_lib.lessons.common.drawing import (
    LINES,
    drawn_from,
    log_log,
    named_rows,
    panels,
    picture,
    plain_ticks,
    write_beside,
)
from specdec_lib.lessons.common.style import role, show


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


@drawn_from("forward_time")
def published_times(
    forward: Callable, machines: Mapping[str, Machine], models: Mapping[str, Model]
) -> None:
    """One token of each model on one chip of each kind, and Chen et al.'s measured one."""
    rows = [
        (f"{model}, 1 {name}", 1e3 * forward(1, size.n_params, 2, *machine.limits.values()))
        for model, size in models.items()
        for name, machine in machines.items()
    ]
    tpu = (CHEN_CHIPS * limit for limit in MACHINES["TPU v4"].limits.values())
    rows.append((f"70B, {CHEN_CHIPS} TPU v4", 1e3 * forward(1, CHEN_PARAMS, 2, *tpu)))
    names, times = zip(*rows, strict=True)
    ax = picture("One token in bfloat16, by your function", size=(8.0, 4.4))
    y = named_rows(ax, names)
    ax.barh(y, times, 0.62, **role("target") | {"label": "your roofline"})
    ax.plot([1e3 * CHEN_SECONDS], [0], "D", color="black", label="measured by Chen et al.")
    texts = [f"{time:.3g} ms" for time in times]
    texts[-1] += f", measured {1e3 * CHEN_SECONDS:g}"
    write_beside(ax, [*times[:-1], max(times[-1], 1e3 * CHEN_SECONDS)], y, texts)
    _milliseconds(ax, 1, 4 * max(times), "ms")
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.99))
    listed = "; ".join(f"{name} {time:.3g} ms" for name, time in rows)
    measured = f"Chen et al. measured {1e3 * CHEN_SECONDS:g} ms for the last one."
    show(ax.figure, f"Time of one token in bfloat16 by your function: {listed}. {measured}")


def _milliseconds(ax: Axes, least: float, most: float, label: str) -> None:
    """A logarithmic horizontal axis with plain numbers."""
    ax.set(xscale="log", xlim=(least, most), xlabel=label)
    ax.xaxis.set_major_formatter(plain_ticks)
