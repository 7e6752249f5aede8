"""The figures of chapter 06 that are drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: what is called computed does not use it.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from specdec_lib.lessons.ch06 import budget, service
from specdec_lib.lessons.ch06.computed import quantile, request_law
from specdec_lib.lessons.ch06.lesson import ALPHA, checked_k, limited_spend
from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, text_grid
from specdec_lib.lessons.drawing.style import GREY, show

_BATCHES = (1, 8, 32, 64, 128, 256, 512)
_CONTEXTS = (0, 250, 500, 1000, 2000, 4000, 16_000)
_MAX_K = 8  # of the map of a whole H100
_DRAWN_KS = range(4)  # policies that always draft the same; with more the queue only grows
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@axes.uses_student_functions("mixture_quantile")
def mixed_requests(
    quantile_of: Callable, rates: tuple[float, float], k: int, n_tokens: int
) -> None:
    """Blocks of requests of two kinds, half each, with p99 by the student's function."""
    mean, share = sum(rates) / 2, SHARES["p99"]
    laws = [request_law(rate, k, n_tokens) for rate in (*rates, mean)]
    p99 = quantile_of(laws[:2], [0.5, 0.5], share)
    coins = quantile(laws[2], share)
    names = (f"easy, coins of {rates[0]:g}", f"hard, coins of {rates[1]:g}")
    ax = axes.chart("Half of the requests easy, half hard", "share of all requests", (7.4, 4.0))
    for law, name, (colour, dash, _) in zip(laws, names, axes.LINE_STYLES, strict=False):
        ax.plot(law / 2, color=colour, linestyle=dash, label=name)
    ax.plot(laws[2], color=GREY, linestyle=":", linewidth=2, label=f"all with coins of {mean:.2f}")
    top = 1.05 * laws[0].max() / 2
    ax.axvline(p99, color="black", linewidth=1.5)
    ax.axvline(coins, color=GREY, linestyle=":", linewidth=2)
    axes.write_beside(ax, (p99, coins), (top, top), (f"your p99: {p99}", f"p99 of coins: {coins}"))
    last = max(int(np.flatnonzero(law > 1e-4)[-1]) for law in laws)
    ax.set(xlim=(0, max(last, p99) + 18), ylim=(0, 1.15 * top))
    ax.set_xlabel(f"blocks of K = {k} that a request of {n_tokens} tokens takes")
    axes.legend_below(ax)
    easy, hard = (quantile(law, share) for law in laws[:2])
    alone = f"of easy requests alone {easy}, of hard ones alone {hard}, of coins {coins}"
    show(ax.figure, f"p99 of all requests by your function: {p99} blocks. Computed: {alone}.")


@axes.uses_student_functions("choose_k")
def policies(choose_k: Callable) -> None:
    """p99 of the service by policy, the student's beside the others; its K by rows of the step."""
    costs, load, student_k = service.gpu(0), service.DAY, partial(checked_k, choose_k)
    ways = {f"K = {k}": service.constant(k) for k in _DRAWN_KS}
    ways |= {"you": service.policy(student_k, load.alpha, costs), "oracle": service.oracle(costs)}
    p99s = {name: service.p99(way, load, costs) for name, way in ways.items()}
    left, right = axes.panels(2, (9.4, 3.9), width_ratios=(1.6, 1))
    dresses = ["draft"] * len(_DRAWN_KS) + ["target", "accepted"]
    for x, (value, dress_of) in enumerate(zip(p99s.values(), dresses, strict=True)):
        axes.bars(left, [x], [value], dress_of)
    axes.write_above(left, range(len(p99s)), p99s.values(), map("{:.0f}".format, p99s.values()))
    left.set_xticks(range(len(p99s)), [name.replace("K = ", "") for name in p99s])
    left.set_title("p99 latency by policy")
    left.set(xlabel="always this K, or a policy", ylabel="ms", ylim=(0, 1.15 * max(p99s.values())))
    rows = range(1, len(costs))
    texts = {"no text": 0, f"{service.MUCH_TEXT:,} tokens of text in each cache": service.MUCH_TEXT}
    drafted = {
        name: [student_k(0, row, load.alpha, service.gpu(text)) for row in rows]
        for name, text in texts.items()
    }
    by_rows = draw_series(right, rows, drafted)
    right.set(title="Your K by load", xticks=range(1, len(costs), 3))
    right.set(xlabel="rows of the step", ylabel="K", ylim=(-0.3, costs.shape[1] - 0.7))
    axes.legend_below(right, 1)
    parts = [f"{name} {value:.0f}" for name, value in p99s.items()]
    show(right.figure, f"p99 in ms: {', '.join(parts)}. Your K by rows of the step, {by_rows}.")


@axes.uses_student_functions("choose_k")
def verdict_by_context(choose_k: Callable) -> None:
    """The K that the student's policy sets on an H100, by rows and by text in each cache."""
    tables = [service.roofline(text, max(_BATCHES), _MAX_K) for text in _CONTEXTS]
    ks = np.array([[checked_k(choose_k, 0, n, ALPHA, costs) for costs in tables] for n in _BATCHES])
    fits = np.array([[service.fits(text, rows) for text in _CONTEXTS] for rows in _BATCHES])
    title = f"Your K for Llama 3.1 8B on an H100, alpha = {ALPHA:g}"
    ax = axes.chart(title, "rows", (7.0, 4.2))
    ax.set_xlabel("tokens of text in each row's cache; empty: does not fit into the memory")
    names = [str(rows) for rows in _BATCHES], [f"{text:,}" for text in _CONTEXTS]
    words = text_grid(ax, np.where(fits, ks.astype(str), ""), *names, fits * ks / (2 * _MAX_K))
    show(ax.figure, f"{title}: by rows, at tokens of text. {words}.")


@axes.uses_student_functions("spend")
def spent_budget(spend: Callable) -> None:
    """The tokens of one step that the student's function has checked; its tokens per ms."""
    spend, step = limited_spend(spend), budget.confidences()[0]
    checked, survival = list(spend(step, budget.pass_ms())), np.cumprod(step, axis=1)
    left, right = axes.panels(2, (9.4, 3.9), width_ratios=(1.4, 1))
    chosen = np.arange(budget.N_DRAFTED) < np.array(checked)[:, None]
    cells = [[f"{value:.2f}" for value in row] for row in survival]
    names = [f"row {i}" for i in range(len(cells))], [f"{j}" for j in range(len(cells[0]))]
    words = text_grid(left, cells, *names, 0.35 * chosen)
    left.set(title=f"One step: {sum(checked)} of {chosen.size} are checked (blue)")
    left.set_xlabel("draft token j, with the probability that it is accepted")
    speed = {f"first {k}\nof each": budget.tokens_a_ms(budget.same_of_all(k)) for k in (0, 1, 2, 6)}
    speed["you"] = budget.tokens_a_ms(lambda confidences: spend(confidences, budget.pass_ms()))
    rates = {"tokens per ms": list(speed.values())}
    speeds = draw_series(right, list(speed), rates, kind="bars", text=".2f")
    right.set(title=f"Tokens per millisecond, {budget.N_STEPS} steps")
    show(left.figure, f"Checked {checked} of {words}. Over {budget.N_STEPS} steps, {speeds}.")
