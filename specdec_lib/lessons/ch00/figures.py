"""The figures of chapter 00: what the student's functions do, even if they are wrong."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch00.lesson import Chip, ModelShape
from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.kinds import FLOATS, INTS
from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, show_table, text_grid
from specdec_lib.lessons.drawing.style import role, show

RECORDED = read_tables(__package__, "passes.toml")  # ms of passes over 1, 2, ... tokens
MAX_FREE = 1000  # tokens, where counting them ends, and the map's scale
_NEW = role("target") | {"label": "the pass returns its distribution"}
_OLD = role("target") | {"facecolor": "white", "linestyle": "--", "label": "must be there already"}
_BOTH = _NEW | {"linestyle": "--", "label": "both"}


def serial_and_parallel(tokens: int) -> None:
    """A pass for every token that is written, each waiting for the one before; then one for all."""
    every, last = range(1, tokens + 1), tokens + 2
    ax = axes.chart(f"Writing {tokens} tokens, and checking {tokens} tokens", size=(7.0, 3.8))
    for y in every:
        for x in (*every[y - 1 :], last):
            dress = _BOTH if x == last else _NEW if x == y else _OLD
            ax.bar(x, 0.7, 0.7, bottom=y - 0.35, **dress)
            ax.annotate(str(y), (x, y), ha="center", va="center")
    ax.set(xlim=(0.4, last + 0.6), ylim=(tokens + 0.6, 0.4))
    ax.set_xticks([*every, last], [*(f"pass {x}" for x in every), "one pass"])
    ax.set_yticks(every, [f"token {y}" for y in every])
    ax.grid(visible=False)
    axes.legend_below(ax, handles=axes.swatches((_NEW, _OLD, _BOTH)))
    show(
        ax.figure,
        f"Writing {tokens} tokens takes {tokens} passes; pass {tokens} needs tokens 1 to "
        f"{tokens - 1}, which earlier passes wrote, and writes token {tokens}. Checking "
        f"{tokens} tokens that are there takes 1 pass, which scores all of them.",
    )


@axes.uses_student_functions("time_pass")
def passes_and_tokens(
    time_pass: Callable, forward: Callable, widths: Sequence[int], seconds: dict[int, float]
) -> None:
    """The student's times of a pass over n tokens, noted in `seconds`, and of n passes over one."""
    times = {n: time_pass(forward, n, time.perf_counter) for n in widths}
    wrong = [value for value in times.values() if not isinstance(value, INTS + FLOATS)]
    if wrong := wrong or [value for value in times.values() if not 0 < value < math.inf]:
        raise Different(f"it returned {wrong[0]!r} for a real pass")
    seconds.update(times)
    values = {
        "n passes over one token": [1e3 * n * times[1] for n in widths],
        "one pass over n tokens": [1e3 * value for value in times.values()],
    }
    gains = [f"{n * times[1] / times[n]:.1f} times" for n in widths[1:]]
    title = "Labels: writing takes so many times as long as checking"
    ax = axes.chart(title, "ms, by your time_pass", size=(7.0, 3.8))
    words = draw_series(ax, widths, values)
    axes.write_above(ax, widths[1:], values["one pass over n tokens"][1:], gains, fontsize=9)
    dress = {name: {"linestyle": ":", "marker": "D"} | axes.HOLLOW for name in RECORDED}
    recorded = draw_series(ax, range(1, 7), RECORDED, plot_options=dress)
    axes.log_log(ax, "n, the number of tokens")
    _ticks(ax, widths)
    axes.legend_below(ax, columns=2)
    show(ax.figure, f"{title}, {', '.join(gains)}. In ms on this machine, {words}; {recorded}.")


@axes.uses_student_functions("forward_time")
def predicted_and_measured(
    forward: Callable,
    seconds: Mapping[int, float],
    n_params: float,
    bytes_per_param: float,
    limits: Mapping[str, float],
) -> None:
    """The student's times of real passes, if any, on the student's line for this machine."""
    given = (n_params, bytes_per_param, *limits.values())
    tokens = list(seconds) or [1, 32]
    values = {"predicted": _times(forward, tokens, given)}
    title = "Points: your time_pass. Line: your forward_time"
    if seconds:
        values["measured"] = [1e3 * value for value in seconds.values()]
        ratios = np.divide(values["measured"], values["predicted"])
        title = f"Points: your passes, {ratios.min():.1f} to {ratios.max():.1f} times the line"
    ax = axes.chart(title, "ms", size=(7.0, 3.8))
    marks = {"predicted": {"marker": "|", "color": "black"}}
    words = draw_series(ax, tokens, values, kind="marks", plot_options=marks)
    _lines(ax, forward, [given], max(tokens))
    _ticks(ax, tokens)
    show(ax.figure, f"{title}. In ms on this machine, {words}.")


@axes.uses_student_functions("free_tokens", "forward_time")
def free_on_the_line(
    free: Callable, forward: Callable, machines: Mapping[str, Chip], n_params: float, size: float
) -> None:
    """The student's free tokens of each machine, marked where they stand on its line."""
    passes = {name: (n_params, size, *machine[:2]) for name, machine in machines.items()}
    counts = {name: free(size, *machine[:2]) for name, machine in machines.items()}
    ax = axes.chart("Where your free tokens end", "ms, by your forward_time", size=(7.0, 3.8))
    _lines(ax, forward, passes.values())
    for (name, count), (colour, _, marker) in zip(counts.items(), axes.LINE_STYLES, strict=False):
        style = {"color": colour, "marker": marker, "markersize": 10, "linestyle": "none"}
        ax.plot(count, *_times(forward, [count], passes[name]), label=f"{name}: {count}", **style)
    ax.legend()
    words = ", ".join(f"{name} {count}" for name, count in counts.items())
    show(ax.figure, f"Your free tokens, marked on the lines of your forward_time: {words}.")


def _lines(ax: Axes, forward: Callable, passes: Iterable[tuple], most: int = 4096) -> None:
    """A line for each of `passes`, also at parts of a token, so that it bends where it should."""
    tokens = np.geomspace(1, most, 400).tolist()
    for given, (colour, dash, _) in zip(passes, axes.LINE_STYLES, strict=False):
        ax.plot(tokens, _times(forward, tokens, given), dash, color=colour)
    axes.log_log(ax, "tokens in the pass")


def _times(forward: Callable, tokens: Sequence[float], given: tuple) -> list[float]:
    """The student's time of passes over so many tokens, in ms."""
    return [1e3 * forward(n, *given) for n in tokens]


def _ticks(ax: Axes, tokens: Sequence[int]) -> None:
    """A tick at each of `tokens`; the times go from one tick to another."""
    low, high = ax.get_ylim()
    times = np.outer(10.0 ** np.arange(-6, 9), (1, 2, 5)).ravel()
    ax.set_xticks(tokens, [f"{n}" for n in tokens])
    ax.set_yticks(times)
    ax.minorticks_off()
    ax.set_ylim(max(times[times <= low], default=low), min(times[times >= high], default=high))


@axes.uses_student_functions("forward_time")
def count_free(forward: Callable, *machines: tuple[float, float, float, float]) -> None:
    """Show how many tokens take no longer than one by the student's `forward`, up to MAX_FREE.

    A machine is its model's parameters, bytes a parameter, bytes/s and FLOP/s.
    """
    if wrong := [given for given in machines if not min(given) > 0]:
        print(f"Your line {wrong[0]} is no machine: write numbers above 0.")
        return
    columns = ("parameters", "bytes each", "bytes/s", "FLOP/s")
    counts = [_free(lambda n, given=given: forward(n, *given)) for given in machines]
    texts = [f"{count}{' or more' * (count == MAX_FREE)}" for count in counts]
    rows = [(*given, text) for given, text in zip(machines, texts, strict=True)]
    show_table(rows, columns=(*columns, "tokens that take no longer than one"))


@axes.uses_student_functions("pass_time")
def free_map(
    pass_time: Callable,
    machine: Chip,
    model: ModelShape,
    batches: Sequence[int],
    contexts: Sequence[int],
) -> None:
    """How many new tokens per row take no longer than one, by the student's function.

    It knows no arithmetic of attention: here that takes its share of the peak.
    """
    costs = (model.n_params, 2, model.kv_bytes, machine.bandwidth)

    def free(batch: int, text: int) -> int:
        flops = 2 * model.n_params
        left = machine.peak_flops * flops / (flops + model.attention_flops * text)
        return _free(lambda n: pass_time(n, batch, text, *costs, left))

    sizes = [[(batch, text) for text in contexts] for batch in batches]
    counts = [[free(*at) for at in row] for row in sizes]
    room = machine.memory - 2 * model.n_params
    stars = [["*" * (batch * text * model.kv_bytes > room) for batch, text in row] for row in sizes]
    cells = np.char.add(np.array(counts).astype(str), stars)
    title = "New tokens per row that cost no more than one"
    ax = axes.chart(title, "rows (users)", size=(7.0, 4.2))
    ax.set_xlabel("tokens of text in each row; *: more than one GPU can hold")
    names = [f"{batch}" for batch in batches], [f"{text:,}" for text in contexts]
    words = text_grid(ax, cells, *names, np.log(counts) / (2 * np.log(MAX_FREE)))
    ends = [f"{size}, {row[0]} to {row[-1]}" for size, row in zip(batches, counts, strict=True)]
    summary = f"{title}, from no text to the longest: in a batch of {ends[0]}; of {ends[-1]}"
    show(ax.figure, f"{summary}. By rows, at tokens of text. {words}.")


def _free(time: Callable[[int], float]) -> int:
    """How many tokens take no longer than one, at most MAX_FREE."""
    one = time(1)
    return next((n for n in range(2, MAX_FREE + 1) if time(n) > one), MAX_FREE + 1) - 1
