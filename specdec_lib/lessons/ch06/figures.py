"""The figures of chapter 06 that are drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: what is called computed does not use it.
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.ch06 import service
from specdec_lib.lessons.ch06.computed import of_sample, quantile, request_law
from specdec_lib.lessons.common.distributions import block_law
from specdec_lib.lessons.common.drawing import (
    CROSS,
    LINES,
    bars,
    drawn_from,
    legend_below,
    panels,
    picture,
    swatches,
    write_above,
    write_beside,
)
from specdec_lib.lessons.common.lending import at_most
from specdec_lib.lessons.common.series import around, draw, grid, in_words
from specdec_lib.lessons.common.style import ACCEPTED, GREY, show
from specdec_lib.lessons.common.tokens import draw_blocks, dress, fates, plain_box
from specdec_lib.theory import walltime_speedup

BLOCKS = 3000  # blocks of the histogram
RUNS = 40  # runs for each point of the speed
REQUESTS = 400  # requests for each point of the tails
STEPS = 2000  # steps for each point of the lock-step
SHOWN = 8  # blocks drawn as rows
KS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
ROWS = (1, 2, 4, 8, 16)
BATCHES, CONTEXTS = (1, 8, 32, 64, 128, 256, 512), (0, 125, 250, 500, 1000, 2000, 8000)
MOST_K, ALPHA = 8, 0.7  # of the map of a large GPU
MUCH_TEXT = 4000  # tokens in each cache: nearly the longest text of Llama 2, and 16 rows fit
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

# Lines that stand for what was computed.
COMPUTED = {"computed": {"color": "black", "marker": ""}}
OPEN = {"markerfacecolor": "white", "markersize": 8}

Box = tuple[str, str]  # kind, text


@drawn_from("simulate_block")
def rows_of_coins(simulate: Callable, alpha: float, k: int) -> None:
    """A few blocks of coins with the student's verdicts; the counts of many blocks."""
    coins = np.random.default_rng(3).random((BLOCKS, k))
    counts = [int(simulate(alpha, k, row)) for row in coins]
    left, right = panels(2, (9.4, 3.9), width_ratios=(1.5, 1))
    texts = [[f"{coin:.2f}" for coin in row] for row in coins[:SHOWN]]
    rows = [outcome(n, text, "+1") for n, text in zip(counts, texts, strict=False)]
    draw_blocks(left, rows, [f"gives {n}" for n in counts[:SHOWN]], columns=2)
    left.set_title(f"{SHOWN} blocks, alpha = {alpha:g}")
    seen = np.bincount(np.clip(counts, 0, None), minlength=k + 1) / BLOCKS
    exact = np.append(block_law(alpha, k), np.zeros(max(0, len(seen) - k - 1)))
    bars(right, np.arange(len(seen)), seen, "target", label="your function")
    right.plot(np.arange(len(exact)), exact, color="black", label="computed", **CROSS)
    right.set_title(f"{BLOCKS} blocks")
    right.set_xticks(np.arange(len(seen)))
    right.set(xlabel="accepted tokens", ylabel="share of the blocks")
    legend_below(right)
    told = in_words(range(len(seen)), {"your function": seen, "computed": exact})
    first = f"{SHOWN} blocks of {k} coins, for which your function returned {counts[:SHOWN]}."
    show(right.figure, f"{first} Share of {BLOCKS} blocks by accepted tokens, {told}.")


@drawn_from("simulate_decode")
def speed_against_k(simulate: Callable, alpha: float, c: float) -> None:
    """Speed by K from the student's function, with standard errors, beside the formula."""
    means, errors = zip(*(_speed(simulate, alpha, c, k) for k in KS), strict=True)
    exact = [walltime_speedup(alpha, c, k) for k in range(max(KS) + 1)]
    best = int(np.argmax(exact))
    ax = picture(f"Speed by K, alpha = {alpha:g}, c = {c:g}", "times plain decoding", (7.0, 4.0))
    computed = draw(ax, range(len(exact)), {"computed": exact}, looks=COMPUTED)
    name = "your function, one standard error"
    yours = draw(ax, KS, {name: means}, kind="marks", ends={name: around(means, errors)})
    ax.axhline(1, color=GREY, linestyle=":", label="plain decoding")
    ax.axvline(best, color=ACCEPTED, linestyle="--", label=f"best K = {best}")
    ax.set(xlabel="K", ylim=(0, 1.15 * max(*exact, *means)))
    legend_below(ax, 2)
    show(ax.figure, f"Speed by K. {yours}. {computed}. The best K is {best}.")


def _speed(simulate: Callable, alpha: float, c: float, k: int) -> tuple[float, float]:
    """The mean speed of runs of 200 tokens, and its standard error."""
    seeds = ([k, seed] for seed in range(RUNS))
    runs = [simulate(alpha, c, k, 200, _ending(np.random.default_rng(s), k, 200)) for s in seeds]
    speeds = np.array([run["tokens"] / run["time"] for run in runs])
    return float(speeds.mean()), float(speeds.std(ddof=1) / np.sqrt(len(speeds)))


def _ending(rng: np.random.Generator, k: int, n_tokens: int) -> SimpleNamespace:
    """The generator for one run, which ends a loop that would not end by itself."""
    why = f"every block writes a token, so {n_tokens} tokens take {n_tokens} blocks at most"
    return SimpleNamespace(random=at_most((k + 1) * n_tokens, rng.random, "rng.random", why))


@drawn_from("simulate_decode")
def tails(simulate: Callable, alpha: float, c: float, n_tokens: int) -> None:
    """p50, p95 and p99 of a request's time by K, from the student's function and computed."""
    title = f"How long a request of {n_tokens} tokens takes, alpha = {alpha:g}, c = {c:g}"
    ax = picture(title, "target passes", (7.4, 4.2))
    laws = {k: request_law(alpha, k, n_tokens) for k in KS}
    times = {k: _times(simulate, alpha, c, k, n_tokens) for k in KS}
    exact, seen = {}, {}
    for name, share in SHARES.items():
        exact[name] = [quantile(laws[k], share) * (c * k + 1) for k in KS]
        lowest = KS[int(np.argmin(exact[name]))]
        seen[f"{name}, lowest at K = {lowest}"] = [of_sample(times[k], share) for k in KS]
    computed = draw(ax, KS, exact, looks=dict.fromkeys(exact, {"marker": "", "label": "_"}))
    yours = draw(ax, KS, seen, kind="marks", looks=dict.fromkeys(seen, OPEN))
    ax.plot([], [], "o", color=GREY, label=f"{REQUESTS} requests by your function")
    ax.plot([], [], color=GREY, label="computed")
    ax.set(xlabel="K", ylim=(0, None))
    legend_below(ax, 2)
    told = f"Computed: {computed}. By your function: {yours}"
    show(ax.figure, f"Time of a request in target passes. {told}.")


def _times(simulate: Callable, alpha: float, c: float, k: int, n_tokens: int) -> np.ndarray:
    rng = np.random.default_rng([6, k])
    runs = [simulate(alpha, c, k, n_tokens, _ending(rng, k, n_tokens)) for _ in range(REQUESTS)]
    return np.array([run["time"] for run in runs], dtype=float)


@drawn_from("mixture_quantile")
def mixed_requests(
    quantile_of: Callable, rates: tuple[float, float], k: int, n_tokens: int
) -> None:
    """Blocks of requests of two kinds, half each, with p99 by the student's function."""
    mean, share = sum(rates) / 2, SHARES["p99"]
    laws = [request_law(rate, k, n_tokens) for rate in (*rates, mean)]
    found, coins = quantile_of(laws[:2], [0.5, 0.5], share), quantile(laws[2], share)
    names = (f"easy, coins of {rates[0]:g}", f"hard, coins of {rates[1]:g}")
    ax = picture("Half of the requests easy, half hard", "share of all requests", (7.4, 4.0))
    for law, name, (colour, dash, _) in zip(laws, names, LINES, strict=False):
        ax.plot(law / 2, color=colour, linestyle=dash, label=name)
    ax.plot(laws[2], color=GREY, linestyle=":", linewidth=2, label=f"all with coins of {mean:.2f}")
    top = laws[0].max() / 2
    ax.axvline(found, color="black", linewidth=1.5)
    ax.axvline(coins, color=GREY, linestyle=":", linewidth=2)
    texts = (f"your p99: {found}", f"p99 of coins: {coins}")
    write_beside(ax, (found, coins), (1.05 * top, 1.05 * top), texts)
    last = max(int(np.flatnonzero(law > 1e-4)[-1]) for law in laws)
    ax.set(xlim=(0, max(last, found) + 18), ylim=(0, 1.2 * top))
    ax.set_xlabel(f"blocks of K = {k} that a request of {n_tokens} tokens takes")
    legend_below(ax)
    easy, hard = (quantile(law, share) for law in laws[:2])
    alone = f"of easy requests alone {easy}, of hard ones alone {hard}, of coins {coins}"
    show(ax.figure, f"p99 of all requests by your function: {found} blocks. Computed: {alone}.")


@drawn_from("lockstep_tokens")
def lockstep_against_rows(tokens: Callable, alpha: float, k: int) -> None:
    """Tokens a step and row by the number of rows, from the student's function and simulated."""
    yours = {"your function": [float(tokens(alpha, k, size)) for size in ROWS]}
    means, errors = _simulated_steps(alpha, k)
    ax = picture(f"Lock-step: tokens a step and row, alpha = {alpha:g}, K = {k}", "tokens a step")
    told = draw(ax, ROWS, yours, kind="bars")
    name = f"{STEPS} steps of coins, one standard error"
    x, ends = range(len(ROWS)), {name: around(means, errors)}
    looks = {name: CROSS | {"color": "black"}}
    draw(ax, x, {name: means}, kind="marks", ends=ends, looks=looks)
    heights = yours["your function"]
    write_above(ax, x, np.maximum(heights, means), (f"{each:.2f}" for each in heights), gap=9)
    ax.set_xlabel("rows of the batch")
    ax.set_yticks(range(k + 2))
    ax.set_ylim(0, 1.2 * max(*heights, *means))
    legend_below(ax)
    simulated = in_words(ROWS, {name: means}, ends)
    show(ax.figure, f"Tokens a step and row, by the rows of the batch. {told}. {simulated}.")


def _simulated_steps(alpha: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard errors of a step's tokens, for each number of rows."""
    coins = np.random.default_rng(5).random((STEPS, max(ROWS), k)) < alpha
    accepted = coins.cumprod(axis=2).sum(axis=2)
    slowest = np.array([accepted[:, :size].min(axis=1) + 1 for size in ROWS])
    return slowest.mean(axis=1), slowest.std(axis=1, ddof=1) / np.sqrt(STEPS)


@drawn_from("simulate_block")
def two_batches(simulate: Callable, alpha: float, k: int, rows: int, n_tokens: int = 16) -> None:
    """The same coins in lock-step and ragged: what each row writes, pass by pass."""
    coins = np.random.default_rng(6).random((rows, n_tokens, k))
    wrote = np.array([[int(simulate(alpha, k, r)) + 1 for r in row] for row in coins])
    slowest = wrote.min(axis=0)
    steps = _passes(slowest, n_tokens)
    ends = [_passes(row, n_tokens) for row in wrote]
    kept = np.tile(slowest[:steps], (rows, 1))
    lost, own = wrote[:, :steps] - kept, wrote[:, : max(ends)]
    top, low = panels(2, (8.6, 1.9 + 0.62 * rows), stacked=True, sharex=True)
    _tracks(top, kept, lost, [steps] * rows, k)
    _tracks(low, own, 0 * own, ends, k)
    low.set_xlim(0, max(steps, *ends))
    top.set_title(f"Lock-step: {steps} passes for {n_tokens} tokens, {lost.sum()} thrown away")
    low.set_title(f"Ragged: the rows end after {', '.join(map(str, ends))} passes")
    low.set_xlabel("target passes; the number is what the row writes")
    words = {"accepted": "written", "rejected": "accepted, thrown away", "dropped": "idle"}
    looks = [dress(kind) | {"label": label} for kind, label in words.items()]
    legend_below(low, handles=swatches(looks))
    show(
        low.figure,
        f"{rows} rows of {n_tokens} tokens. In lock-step {steps} passes, which write "
        f"{kept[0].tolist()} tokens in each row; {lost.sum()} accepted tokens are thrown away. "
        f"Ragged, the rows end after {ends} passes.",
    )


def _passes(wrote: np.ndarray, n_tokens: int) -> int:
    """Passes until `n_tokens` are written."""
    return int(np.searchsorted(np.cumsum(wrote), n_tokens)) + 1


def _tracks(ax: Axes, kept: np.ndarray, lost: np.ndarray, ends: Sequence[int], k: int) -> None:
    """One track a row: each pass as wide as 1, filled by tokens written and thrown away."""
    unit = 0.92 / (k + 1)
    for row, step in np.ndindex(*kept.shape):
        if step >= ends[row]:
            plain_box(ax, step, row, 0.92, "dropped")
            continue
        width = unit * kept[row, step]
        plain_box(ax, step, row, width, "accepted")
        if lost[row, step]:
            plain_box(ax, step + width, row, unit * lost[row, step], "rejected")
        ax.text(step + 0.03, row, str(kept[row, step]), va="center", fontsize=9)
    ax.set(xlim=(0, kept.shape[1]), ylim=(len(ends) - 0.5, -0.5))
    ax.set_yticks(range(len(ends)), [f"row {row + 1}" for row in range(len(ends))])
    ax.grid(visible=False, axis="y")


@drawn_from("choose_k")
def policies(choose_k: Callable) -> None:
    """p99 of the service by policy, the student's beside the others; its K by rows of the step."""
    costs, load = service.gpu(0), service.DAY
    yours = service.policy(choose_k, load.alpha, costs)
    ways = {f"K = {k}": service.constant(k) for k in range(costs.shape[1])}
    ways |= {"you": yours, "oracle": service.oracle(costs)}
    found = {name: service.p99(way, load, costs) for name, way in ways.items()}
    left, right = panels(2, (9.4, 3.9), width_ratios=(1.6, 1))
    dresses = ["draft"] * costs.shape[1] + ["target", "accepted"]
    for x, (value, dress_of) in enumerate(zip(found.values(), dresses, strict=True)):
        bars(left, [x], [value], dress_of, text=".0f")
    left.set_xticks(range(len(found)), [name.replace("K = ", "") for name in found])
    left.set_title("p99 latency by policy")
    left.set(xlabel="always this K, or a policy", ylabel="ms", ylim=(0, 1.15 * max(found.values())))
    rows = range(1, len(costs))
    texts = {"short texts": 0, f"{MUCH_TEXT:,} tokens of text in each cache": MUCH_TEXT}
    drafted = {
        name: [choose_k(0, row, load.alpha, service.gpu(text)) for row in rows]
        for name, text in texts.items()
    }
    by_rows = draw(right, rows, drafted)
    right.set_xticks(range(1, len(costs), 3))
    right.set_title("Your K by load")
    right.set(xlabel="rows of the step", ylabel="K", ylim=(-0.3, costs.shape[1] - 0.7))
    legend_below(right, 1)
    parts = [f"{name} {value:.0f}" for name, value in found.items()]
    show(right.figure, f"p99 in ms: {', '.join(parts)}. Your K by rows of the step, {by_rows}.")


@drawn_from("choose_k")
def verdict_by_context(choose_k: Callable) -> None:
    """The K that the student's policy sets on a large GPU, by rows and by text in each cache."""
    tables = [service.computed(text, max(BATCHES), MOST_K) for text in CONTEXTS]
    ks = np.array([[choose_k(0, rows, ALPHA, each) for each in tables] for rows in BATCHES])
    stars = [["*" * (not service.fits(text, rows)) for text in CONTEXTS] for rows in BATCHES]
    title = f"Your K for Llama 2 7B on an H100, alpha = {ALPHA:g}"
    ax = picture(title, "rows", (7.0, 4.2))
    ax.set_xlabel("tokens of text in each row's cache; *: more than one GPU can hold")
    names = [str(rows) for rows in BATCHES], [f"{text:,}" for text in CONTEXTS]
    told = grid(ax, np.char.add(ks.astype(str), stars), *names, ks / (2 * MOST_K))
    show(ax.figure, f"{title}: by rows, at tokens of text. {told}.")


def outcome(accepted: int, texts: Sequence[str], last: str) -> list[Box]:
    """The boxes of a block: its draft tokens by their fate, then the correction or the bonus."""
    final = "bonus" if accepted == len(texts) else "corrected"
    return [*zip(fates(accepted, len(texts)), texts, strict=True), (final, last)]
