"""The figures of chapter 00, drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: no line, label or text assumes the right
answer.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch00.checks import Machine, Model
from specdec_lib.lessons.common.drawing import (
    LINES,
    bars,
    drawn_from,
    log_log,
    panels,
    picture,
)
from specdec_lib.lessons.common.style import TARGET, role, show

READ = role("target") | {"label": "reading the weights"}
CALCULATE = role("residual") | {"label": "calculating"}
MOST_FREE = 1000  # tokens, the end of the map's scale


def serial_and_parallel(tokens: int) -> None:
    """Left, a pass for every token, each waiting for the one before; right, one pass for all."""
    axes = panels(2, (8.6, 3.8), sharey=True)
    every = range(1, tokens + 1)
    _grid(axes[0], [(i, j, j == i) for i in every for j in range(1, i + 1)])
    _grid(axes[1], [(1, j, True) for j in every])
    axes[0].set_title(f"Writing: {tokens} passes, each waits")
    axes[1].set_title("Checking: 1 pass")
    for ax in axes:
        ax.set_xlim(0.4, tokens + 0.6)
        ax.set_xticks(every)
        ax.set_xlabel("pass")
    axes[0].set_yticks(every, [f"token {i}" for i in every])
    axes[0].set_ylim(tokens + 0.6, 0.4)
    axes[1].legend(loc="upper right")
    show(
        axes[0].figure,
        f"Left: writing {tokens} tokens takes {tokens} passes; pass {tokens} reads tokens 1 to "
        f"{tokens - 1}, which the passes before it gave, and gives token {tokens}. Right: checking "
        f"{tokens} tokens that are there takes 1 pass, which scores all of them.",
    )


@drawn_from("arithmetic_intensity")
def roofline(intensity: Callable, machine: Machine, bytes_per_param: float) -> None:
    """What the machine can reach by FLOP per byte, and where the student's passes stand on it."""
    tokens = (1, 5, 32, 256, 2048)
    x = np.array([intensity(n, bytes_per_param) for n in tokens], dtype=float)
    y = np.minimum(machine.peak_flops, x * machine.bandwidth)
    ax = picture("An H100: what a pass can reach", "TFLOP/s", size=(7.0, 3.8))
    line = np.geomspace(min(0.3, x.min()), max(9000, x.max()), 200)
    roof = np.minimum(machine.peak_flops, line * machine.bandwidth)
    ax.plot(line, roof / 1e12, color="black", linewidth=2)
    ax.plot(x, y / 1e12, "o", color=TARGET, markersize=9)
    for n, a, b in zip(tokens, x, y / 1e12, strict=True):
        text = f"{n} token{'s' * (n > 1)}"
        ax.annotate(text, (a, b), xytext=(8, -17), textcoords="offset points")
    log_log(ax, "FLOP per byte, by your function")
    parts = [f"{a:.4g} for {n}" for n, a in zip(tokens, x, strict=True)]
    ridge = machine.peak_flops / machine.bandwidth
    show(
        ax.figure,
        f"A roofline: it rises with {machine.bandwidth / 1e12:g} TB/s up to {ridge:.0f} FLOP per "
        f"byte and is flat at {machine.peak_flops / 1e12:g} TFLOP/s from there. Your passes, in "
        f"FLOP per byte by tokens: {', '.join(parts)}.",
    )


@drawn_from("forward_time")
def pass_times(
    forward: Callable, machines: Mapping[str, Machine], n_params: float, bytes_per_param: float
) -> None:
    """The student's time of a pass over 1 to 4096 tokens, a line for each machine."""
    tokens = np.unique(np.geomspace(1, 4096, 100).round().astype(int))
    marked = [int(np.argmin(abs(tokens - 4**i))) for i in range(7)]
    title = f"A pass of a model with {n_params / 1e9:g}B parameters"
    ax = picture(title, "ms, by your function", size=(7.0, 3.8))
    parts = []
    for (name, machine), (colour, dash, marker) in zip(machines.items(), LINES, strict=False):
        times = [
            1e3 * forward(int(n), n_params, bytes_per_param, *machine.limits.values())
            for n in tokens
        ]
        look = {"marker": marker, "markersize": 6, "markevery": marked, "color": colour}
        ax.plot(tokens, times, dash, label=name, **look)
        parts.append(f"{name}: {times[0]:.3g} ms for 1 token, {times[-1]:.3g} ms for {tokens[-1]}")
    log_log(ax, "tokens in the pass")
    ax.legend()
    show(ax.figure, f"Time of a pass against its tokens, by your function. {'; '.join(parts)}.")


@drawn_from("forward_time")
def count_free(
    forward: Callable, *machines: tuple[float, float, float, float], most: int = 1000
) -> None:
    """Print how many tokens take no longer than one by the student's `forward`, up to `most`.

    A machine is its model's parameters, bytes a parameter, bytes/s and FLOP/s.
    """
    counts = [_count(forward, machine, most) for machine in machines]
    print("parameters  bytes each  bytes/s  FLOP/s   tokens that take no longer than one")
    for machine, found in zip(machines, counts, strict=True):
        size, each, bandwidth, peak = (f"{number:,g}" for number in machine)
        more = " or more" if found == most else ""
        print(f"{size:>10}  {each:>10}  {bandwidth:>7}  {peak:>6}   {found}{more}")


def _count(forward: Callable, machine: tuple[float, float, float, float], most: int) -> int:
    one = forward(1, *machine)
    longer = (n for n in range(2, most + 1) if forward(n, *machine) > one)
    return next(longer, most + 1) - 1


@drawn_from("free_tokens")
def free_by_machine(
    free: Callable, machines: Mapping[str, Machine], bytes_per_param: Sequence[float]
) -> None:
    """The student's number of free tokens, by machine and format of the weights."""
    title = "Tokens that cost no more than one"
    ax = picture(title, "free tokens, by your function", size=(7.0, 3.8))
    x, parts = np.arange(len(machines)), []
    kinds = zip(bytes_per_param, ("target", "draft", "residual"), strict=True)
    for i, (size, kind) in enumerate(kinds):
        counts = [free(size, *machine.limits.values()) for machine in machines.values()]
        name = f"{8 * size:g} bits"
        bars(ax, x + 0.27 * (i - 1), counts, kind, 0.25, label=name, text="g")
        listed = ", ".join(f"{m} {c:g}" for m, c in zip(machines, counts, strict=True))
        parts.append(f"weights of {name}: {listed}")
    ax.set_xticks(x, list(machines))
    ax.legend(title="a weight has")
    ax.margins(y=0.12)
    show(ax.figure, f"Free tokens by your function. {'; '.join(parts)}.")


@drawn_from("kv_cache_bytes")
def cache_beside_weights(cache: Callable, models: Mapping[str, Model], batch_size: int) -> None:
    """The student's cache size against the text's length, and the weights as level lines."""
    tokens = 2 ** np.arange(8, 18)
    axes, parts = panels(2, (8.8, 4.0), ylabel="GB", sharey=True), []
    for ax, rows in zip(axes, (1, batch_size), strict=True):
        for (name, model), (colour, dash, marker) in zip(models.items(), LINES, strict=False):
            sizes = np.array([cache(int(n), *model[1:], 2, rows) / 1e9 for n in tokens])
            ax.plot(tokens, sizes, dash, marker=marker, markersize=5, color=colour, label=name)
            ax.axhline(2 * model.n_params / 1e9, color=colour, linestyle=dash, linewidth=1)
            parts.append(f"{name}, {rows} row(s): {sizes[0]:.3g} to {sizes[-1]:.3g} GB")
        ax.set_title("1 row" if rows == 1 else f"{rows} rows")
        log_log(ax, "tokens of text in each row")
        ax.set_xticks(tokens[::3], [f"{n}" for n in tokens[::3]])
        ax.minorticks_off()
    axes[0].legend(title="rising: caches; level: weights", fontsize=9, title_fontsize=9)
    weights = ", ".join(f"{name} {2 * m.n_params / 1e9:g} GB" for name, m in models.items())
    show(
        axes[0].figure,
        f"Cache by your function for {tokens[0]} to {tokens[-1]} tokens. {'; '.join(parts)}. "
        f"Weights in bfloat16: {weights}.",
    )


@drawn_from("pass_time")
def free_map(
    pass_time: Callable,
    machine: Machine,
    model: Model,
    kv_bytes: int,
    batches: Sequence[int],
    contexts: Sequence[int],
) -> None:
    """How many new tokens of each row take no longer than one, by the student's function."""
    costs = (model.n_params, 2, kv_bytes, *machine.limits.values())
    table = np.array(
        [[_free(pass_time, batch, text, costs) for text in contexts] for batch in batches]
    )
    fits = [[_gigabytes(model, kv_bytes, b, t) <= machine.memory / 1e9 for t in contexts]
            for b in batches]  # fmt: skip
    ax = picture("New tokens of each row that cost no more than one", size=(7.0, 4.2))
    ax.imshow(np.log(table), cmap="Blues", vmin=0, vmax=2 * np.log(MOST_FREE), aspect="auto")
    for at in np.ndindex(*table.shape):
        text = f"{table[at]}" if fits[at[0]][at[1]] else f"{table[at]}*"
        ax.text(at[1], at[0], text, ha="center", va="center")
    ax.set_xticks(range(len(contexts)), [f"{text:,}" for text in contexts])
    ax.set_yticks(range(len(batches)), [f"{batch}" for batch in batches])
    ax.set_ylabel("rows (users)")
    ax.set_xlabel("tokens of text in each row; *: more than one GPU can hold")
    ax.grid(visible=False)
    rows = [
        f"{batch} row{'s' * (batch > 1)}: {', '.join(map(str, row))}"
        for batch, row in zip(batches, table, strict=True)
    ]
    listed = ", ".join(map(str, contexts))
    show(ax.figure, f"Free tokens of each row, by your function, for {listed} tokens of text. "
         f"{'; '.join(rows)}.")  # fmt: skip


def _free(pass_time: Callable, batch: int, context: int, costs: tuple) -> int:
    """The most new tokens, up to MOST_FREE, that take no longer than one: found by halving."""
    one, low, high = pass_time(1, batch, context, *costs), 1, MOST_FREE + 1
    while high - low > 1:
        middle = (low + high) // 2
        if pass_time(middle, batch, context, *costs) <= one:
            low = middle
        else:
            high = middle
    return low


def _gigabytes(model: Model, kv_bytes: int, batch: int, context: int) -> float:
    """Weights in bfloat16 and the caches of all rows."""
    return (2 * model.n_params + batch * context * kv_bytes) / 1e9


def _grid(ax: Axes, cells: Sequence[tuple[int, int, bool]]) -> None:
    """A box for each (pass, token, whether the pass gives it); else the pass reads the token."""
    given = role("target") | {"label": "scored in this pass"}
    read = role("target") | {"facecolor": "white", "linestyle": "--", "label": "must be there"}
    for dress, wanted in ((given, True), (read, False)):
        some = [(x, y) for x, y, gives in cells if gives == wanted]
        if some:
            x, y = np.array(some).T
            ax.bar(x, 0.7, 0.7, bottom=y - 0.35, **dress)
        else:
            ax.bar([-9], [0], **dress)  # out of sight: for the legend
        for one, other in some:
            ax.annotate(str(other), (one, other), ha="center", va="center")
    ax.grid(visible=False)
