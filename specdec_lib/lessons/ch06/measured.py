"""The figures of chapter 06 that show what was recorded or measured, each with its words."""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch05.measured import given_the_earlier
from specdec_lib.lessons.ch06.computed import of_sample, quantile, request_law
from specdec_lib.lessons.ch06.figures import OPEN, SHARES, outcome
from specdec_lib.lessons.common import recorded
from specdec_lib.lessons.common.drawing import CROSS, bars, legend_below, picture, piled
from specdec_lib.lessons.common.series import around, draw, table
from specdec_lib.lessons.common.style import GREY, show
from specdec_lib.lessons.common.tokens import draw_blocks
from specdec_lib.theory import Costs, expected_tokens

WIDTH = 4  # blocks, of a bar of the histogram
RUN = 1  # the recorded run that is drawn


def blocks_as_recorded(k: int, rows: int) -> None:
    """The first blocks of a recorded run, every token in the dress of its fate."""
    blocks = recorded.runs(k)[RUN][:rows]
    drawn = [
        outcome(b.accepted, [recorded.text_of(t) for t in b.drafted], recorded.text_of(b.token))
        for b in blocks
    ]
    ax = picture(f"{rows} recorded blocks, K = {k}", size=(9.4, 1.2 + 0.36 * rows))
    draw_blocks(ax, drawn, [f"{b.accepted} accepted" for b in blocks], columns=3)
    parts = [", ".join(f"{kind} {text}" for kind, text in row) for row in drawn]
    show(ax.figure, f"Blocks of {k} draft tokens. " + ". ".join(parts) + ".")


def acceptance_by_position(k: int) -> None:
    """Acceptance of each position among the blocks that reached it, with standard errors."""
    request = recorded.requests()[k]
    ax = picture(f"Acceptance by position, given that the earlier ones passed, K = {k}", "share")
    told = given_the_earlier(ax, np.repeat(np.arange(k + 1), request.accepted), k)
    ax.axhline(request.alpha, color="black", linestyle="--", label=f"coins of {request.alpha:.3f}")
    ax.set_xlabel("position in the block; below it, how many blocks reached it")
    legend_below(ax)
    show(
        ax.figure,
        f"Acceptance by position. {told}. Coins would have {request.alpha:.3f} throughout.",
    )


def requests_against_coins(k: int) -> None:
    """Blocks that each recorded request took, beside the exact distribution under coins."""
    request, n_tokens = recorded.requests()[k], recorded.record()["request_tokens"]
    law = request_law(request.alpha, k, n_tokens)
    edges = np.arange(20, request.blocks.max() + 2 * WIDTH, WIDTH)
    below = np.append(0.0, np.cumsum(np.append(law, np.zeros(edges[-1]))))  # under each number
    coins = len(request.blocks) * np.diff(below[edges])
    title = f"{len(request.blocks)} recorded requests of {n_tokens} tokens, K = {k}"
    ax = picture(title, "requests")
    middles = edges[:-1] + (WIDTH - 1) / 2
    seen = np.histogram(request.blocks, edges)[0]
    recorded_tail = _tail(of_sample, request.blocks)
    coins_tail = _tail(quantile, law)
    bars(ax, middles, seen, "target", 0.85 * WIDTH, label=f"recorded: {recorded_tail}")
    label = f"coins of {request.alpha:.3f}, computed: {coins_tail}"
    ax.plot(middles, coins, color="black", label=label, **CROSS | {"markersize": 8})
    ax.set_xlabel("blocks that a request took")
    legend_below(ax, 1)
    show(ax.figure, f"Blocks that requests took. Recorded: {recorded_tail}; coins: {coins_tail}.")


def _tail(share_of: Callable, values: np.ndarray) -> str:
    """p50, p95 and p99 in words."""
    return ", ".join(f"{name} {share_of(values, at):.0f}" for name, at in SHARES.items())


def oracle(c: float) -> None:
    """Where recorded blocks break, and what the best fixed K and an oracle make of it."""
    longest = max(recorded.requests())
    breaks = [block.accepted for run in recorded.runs(longest)[:3] for block in run][:28]
    alpha, speeds = recorded.alpha(), recorded.speeds(lambda k: c * k + 1)
    best = max(speeds, key=speeds.__getitem__)
    ideal = 1 / (1 - alpha * (1 - c))
    tokens = recorded.requests()[longest].tokens[0]
    told = tokens / (c * (tokens - 1) + 1)
    fixed = speeds[best][0]
    ax = picture(f"Where recorded blocks break, and one K for all (c = {c:g})", "draft tokens")
    passed = np.array(breaks)
    parts = {
        "drafted and accepted": np.minimum(passed, best),
        "drafted for nothing": np.maximum(best - passed, 0),
        "not drafted, would have passed": np.maximum(passed - best, 0),
    }
    piled(ax, range(len(breaks)), parts, ("accepted", "excess", "residual"), 0.8)
    label = f"best fixed K = {best}: speed {fixed:.2f}"
    ax.axhline(best, color="black", linestyle="--", label=label)
    ax.plot([], [], " ", label=f"oracle: speed {told:.2f}; of coins, {ideal:.2f}")
    ax.set_xlabel("block")
    ax.set_xticks([])
    legend_below(ax, 2)
    show(
        ax.figure,
        f"{len(breaks)} recorded blocks would have had {breaks} tokens accepted, of {longest}. At "
        f"c = {c:g} the best fixed K is {best}, with speed {fixed:.2f}; the oracle has {told:.2f}, "
        f"with coins of {alpha:.3f} {ideal:.2f}.",
    )


def past_the_optimum(c: float, costs: Costs) -> None:
    """Predicted and recorded speed by K, for `c` with v = 1 and for measured times."""
    ax = picture("Speed by K: the formula, and recorded blocks", "times plain decoding", (7.4, 4.2))
    times = {
        f"c = {c:g}, v = 1": lambda k: c * k + 1,
        f"measured, c = {costs.c:.2f}": lambda k: costs.c * k + costs.v[k + 1],
    }
    alpha, formula, seen, ends = recorded.alpha(), {}, {}, {}
    for name, time in times.items():
        speeds = recorded.speeds(time)
        formula[f"{name}: formula"] = [expected_tokens(alpha, k) / time(k) for k in speeds]
        means, errors = zip(*speeds.values(), strict=True)
        label = f"{name}: recorded"
        seen[label], ends[label] = means, around(means, errors)
    told = draw(ax, list(speeds), formula, looks=dict.fromkeys(formula, {"marker": ""}))
    marks = dict.fromkeys(seen, OPEN)
    told += "; " + draw(ax, list(speeds), seen, kind="marks", ends=ends, looks=marks)
    ax.axhline(1, color=GREY, linestyle=":", label="plain decoding")
    ax.set(xlabel="K", ylim=(0, None))
    legend_below(ax, 2)
    show(ax.figure, f"Speed by K. {told}.")


def show_steps(title: str, costs: np.ndarray) -> None:
    """Show the milliseconds of a step by rows and K as a table."""
    ks = [k for k in (0, 1, 2, 4, 6, 8) if k < costs.shape[1]]
    rows = [rows for rows in (1, 2, 4, 8, 16) if rows < len(costs)]
    columns = {f"K = {k}": [f"{costs[row, k]:.1f}" for row in rows] for k in ks}
    table({"rows": rows} | columns, f"{title}: milliseconds of a step")
