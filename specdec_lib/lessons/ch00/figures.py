"""The figures of chapter 00, drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: no line, label or text assumes the right
answer.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import quantiles

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from specdec_lib.lessons.ch00.checks import BYTES, Machine, Model
from specdec_lib.lessons.common.drawing import LINES, drawn_from, log_log, panels, picture, swatches
from specdec_lib.lessons.common.series import draw, grid, in_words, series_figure, table
from specdec_lib.lessons.common.style import TARGET, role, show

MOST_FREE = 1000  # tokens, the end of the map's scale
GIVEN = role("target") | {"label": "scored in this pass"}
READ = role("target") | {"facecolor": "white", "linestyle": "--", "label": "must be there"}


def serial_and_parallel(tokens: int) -> None:
    """Left, a pass for every token, each waiting for the one before; right, one pass for all."""
    row, every = panels(2, (8.6, 3.8), sharey=True), range(1, tokens + 1)
    _grid(row[0], [(i, j, j == i) for i in every for j in range(1, i + 1)])
    _grid(row[1], [(1, j, True) for j in every])
    row[0].set_title(f"Writing: {tokens} passes, each waits")
    row[1].set_title("Checking: 1 pass")
    for ax in row:
        ax.set(xlim=(0.4, tokens + 0.6), ylim=(tokens + 0.6, 0.4), xlabel="pass", xticks=every)
        ax.set_yticks(every, [f"token {i}" for i in every])
        ax.grid(visible=False)
    row[1].legend(handles=swatches((GIVEN, READ)), loc="upper right")
    show(
        row[0].figure,
        f"Left: writing {tokens} tokens takes {tokens} passes; pass {tokens} reads tokens 1 to "
        f"{tokens - 1}, which the passes before it gave, and gives token {tokens}. Right: checking "
        f"{tokens} tokens that are there takes 1 pass, which scores all of them.",
    )


def _grid(ax: Axes, cells: Sequence[tuple[int, int, bool]]) -> None:
    """A box for each (pass, token, whether the pass gives it); else the pass reads the token."""
    for x, y, gives in cells:
        ax.bar(x, 0.7, 0.7, bottom=y - 0.35, **(GIVEN if gives else READ))
        ax.annotate(str(y), (x, y), ha="center", va="center")


@drawn_from("arithmetic_intensity")
def roofline(intensity: Callable, machine: Machine, bytes_per_param: float) -> None:
    """What the machine can reach by FLOP per byte, and where the student's passes stand on it."""
    tokens = (1, 5, 32, 256, 2048)
    x = np.array([intensity(n, bytes_per_param) for n in tokens], dtype=float)
    line = np.geomspace(min(0.3, x.min()), max(9000, x.max()), 200)
    roof, y = (np.minimum(machine.peak_flops, at * machine.bandwidth) / 1e12 for at in (line, x))
    ax = picture("An H100: what a pass can reach", "TFLOP/s", size=(7.0, 3.8))
    ax.plot(line, roof, color="black", linewidth=2)
    ax.plot(x, y, "o", color=TARGET, markersize=9)
    for n, *at in zip(tokens, x, y, strict=True):
        text = f"{n} token{'s' * (n > 1)}"
        ax.annotate(text, at, xytext=(8, -17), textcoords="offset points")
    log_log(ax, "FLOP per byte, by your function")
    ridge = machine.peak_flops / machine.bandwidth
    show(
        ax.figure,
        f"A roofline: it rises with {machine.bandwidth / 1e12:g} TB/s up to {ridge:.0f} FLOP per "
        f"byte and is flat at {machine.peak_flops / 1e12:g} TFLOP/s from there. Your passes, by "
        f"tokens: {in_words(tokens, {'FLOP per byte': x, 'TFLOP/s': y})}.",
    )


@drawn_from("forward_time")
def pass_times(
    forward: Callable, machines: Mapping[str, Machine], n_params: float, bytes_per_param: float
) -> None:
    """The student's time of a pass over 1 to 4096 tokens, a line for each machine."""
    passes = {
        name: (n_params, bytes_per_param, *machine.limits.values())
        for name, machine in machines.items()
    }
    title, tokens = f"A pass of a model with {n_params / 1e9:g}B parameters", 4 ** np.arange(7)
    times = {name: _times(forward, tokens, given) for name, given in passes.items()}
    ax = picture(title, "ms, by your function", size=(7.0, 3.8))
    told = draw(ax, tokens, times, kind="marks")
    _lines(ax, forward, np.geomspace(1, 4096, 100).round(), passes.values())
    log_log(ax, "tokens in the pass")
    ax.legend()
    show(ax.figure, f"{title}: ms by your function, by tokens. {told}.")


@drawn_from("forward_time")
def measured_passes(
    forward: Callable,
    seconds: Mapping[tuple[str, str], Mapping[int, Sequence[float]]],
    sizes: Mapping[tuple[str, str], int],
    limits: Mapping[str, float],
) -> None:
    """Measured passes with their quartiles, over the student's roofline at the measured limits.

    `seconds` of all rounds, by tokens, and `sizes` in parameters have keys (cost, dtype).
    """
    dtypes = list(dict.fromkeys(dtype for _, dtype in seconds))
    row, told = panels(len(dtypes), (8.8, 4.0), ylabel="ms", sharey=True), []
    for ax, dtype in zip(row, dtypes, strict=True):
        mine = {key: times for key, times in seconds.items() if key[1] == dtype}
        told.append(f"{dtype}: {_points(ax, mine, sizes)}")
        given = BYTES[dtype], limits["bandwidth"], limits[dtype]
        _lines(ax, forward, range(1, 65), [(sizes[key], *given) for key in mine])
        ax.set_title(f"{dtype}, {limits[dtype] / 1e9:.0f} GFLOP/s")
        log_log(ax, "tokens in the pass")
        ax.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
        ax.minorticks_off()
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.legend(title="points: measured; line: your roofline", fontsize=9, title_fontsize=9)
    bandwidth = f"{limits['bandwidth'] / 1e9:.1f} GB/s"
    show(row[0].figure, f"Measured passes at {bandwidth}, ms by tokens. {'. '.join(told)}.")


def _points(ax: Axes, seconds: Mapping, sizes: Mapping) -> str:
    """Medians and quartiles of each model's passes, in ms by tokens; returns them in words."""
    middles, ends = {}, {}
    for key, times in seconds.items():
        name = f"{key[0]}, {sizes[key] / 1e6:.1f}M weights"
        spread = 1e3 * np.array([quantiles(s, n=4, method="inclusive") for s in times.values()])
        middles[name], ends[name] = spread[:, 1], spread[:, ::2]
    return draw(ax, list(times), middles, kind="marks", ends=ends)


def _lines(ax: Axes, forward: Callable, tokens: Sequence[float], passes: Iterable[tuple]) -> None:
    """A line for each of `passes`, in the colours that `draw` gives to its points."""
    for given, (colour, dash, _) in zip(passes, LINES, strict=False):
        ax.plot(tokens, _times(forward, tokens, given), dash, color=colour)


def _times(forward: Callable, tokens: Sequence[float], given: tuple) -> list[float]:
    """The student's time of passes over so many tokens, in ms."""
    return [1e3 * forward(int(n), *given) for n in tokens]


@drawn_from("forward_time")
def count_free(
    forward: Callable, *machines: tuple[float, float, float, float], most: int = 1000
) -> None:
    """Show how many tokens take no longer than one by the student's `forward`, up to `most`.

    A machine is its model's parameters, bytes a parameter, bytes/s and FLOP/s.
    """
    columns = ("parameters", "bytes each", "bytes/s", "FLOP/s")
    rows = [dict(zip(columns, machine, strict=True)) for machine in machines]
    for row, machine in zip(rows, machines, strict=True):
        count = _free(lambda n, given=machine: forward(n, *given), most)
        row["tokens that take no longer than one"] = f"{count}{' or more' * (count == most)}"
    table(rows)


@drawn_from("free_tokens")
def free_by_machine(
    free: Callable, machines: Mapping[str, Machine], bytes_per_param: Sequence[float]
) -> None:
    """The student's number of free tokens, by machine and format of the weights."""
    counts = {
        f"weights of {8 * size:g} bits": [free(size, *m.limits.values()) for m in machines.values()]
        for size in bytes_per_param
    }
    roles = ("target", "draft", "residual")
    how = {"kind": "bars", "roles": roles, "text": "g", "ylabel": "by your function"}
    series_figure("Tokens that cost no more than one", list(machines), counts, **how)


@drawn_from("kv_cache_bytes")
def cache_beside_weights(cache: Callable, models: Mapping[str, Model], batch_size: int) -> None:
    """The student's cache size against the text's length, and the weights as level lines."""
    tokens = 2 ** np.arange(8, 18, 3)
    weights = {name: 2 * model.n_params / 1e9 for name, model in models.items()}
    row, told = panels(2, (8.8, 4.0), ylabel="GB", sharey=True), []
    for ax, rows in zip(row, (1, batch_size), strict=True):
        sizes = {
            name: [cache(int(n), *model[1:], 2, rows) / 1e9 for n in tokens]
            for name, model in models.items()
        }
        title = f"{rows} row{'s' * (rows > 1)}"
        told.append(f"{title}: {draw(ax, tokens, sizes)}")
        for level, (colour, dash, _) in zip(weights.values(), LINES, strict=False):
            ax.axhline(level, color=colour, linestyle=dash, linewidth=1)
        ax.set_title(title)
        log_log(ax, "tokens of text in each row")
        ax.set_xticks(tokens, [f"{n}" for n in tokens])
        ax.minorticks_off()
    row[0].legend(title="rising: caches; level: weights", fontsize=9, title_fontsize=9)
    levels = ", ".join(f"{name} {level:g}" for name, level in weights.items())
    show(row[0].figure, f"GB of cache, by tokens. {'. '.join(told)}. Weights: {levels} GB.")


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
    sizes = [[(batch, text) for text in contexts] for batch in batches]
    counts = [
        [_free(lambda n, at=at: pass_time(n, *at, *costs), MOST_FREE) for at in row]
        for row in sizes
    ]
    room = machine.memory - 2 * model.n_params
    stars = [["*" * (batch * text * kv_bytes > room) for batch, text in row] for row in sizes]
    cells = np.char.add(np.array(counts).astype(str), stars)
    title = "New tokens of each row that cost no more than one"
    ax = picture(title, "rows (users)", size=(7.0, 4.2))
    ax.set_xlabel("tokens of text in each row; *: more than one GPU can hold")
    names = [f"{batch}" for batch in batches], [f"{text:,}" for text in contexts]
    told = grid(ax, cells, *names, np.log(counts) / (2 * np.log(MOST_FREE)))
    show(ax.figure, f"{title}, by your function: by rows, at tokens of text. {told}.")


def _free(time: Callable[[int], float], most: int) -> int:
    """How many tokens take no longer than one, at most `most`."""
    one = time(1)
    return next((n for n in range(2, most + 1) if time(n) > one), most + 1) - 1
