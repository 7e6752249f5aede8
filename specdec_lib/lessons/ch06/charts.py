"""The figures of chapter 06 that need no function of the student's, each with its words."""

from collections.abc import Callable
from functools import partial

import numpy as np

from specdec_lib.lessons.ch06.computed import quantile, request_law
from specdec_lib.lessons.ch06.figures import SHARES
from specdec_lib.lessons.data import recorded
from specdec_lib.lessons.drawing.axes import CROSS, bars, chart, legend_below
from specdec_lib.lessons.drawing.series import show_table
from specdec_lib.lessons.drawing.style import show
from specdec_lib.lessons.drawing.tokens import draw_blocks, token_outcomes

_WIDTH = 4  # blocks, of a bar of the histogram
_RUN = 1  # the recorded run that is drawn


def blocks_as_recorded(k: int, rows: int) -> None:
    """The first blocks of a recorded run, every token in the dress of its fate."""
    blocks, drawn = recorded.runs(k)[_RUN][:rows], []
    for b in blocks:
        fates = [*token_outcomes(b.accepted, k), "bonus" if b.accepted == k else "corrected"]
        drawn.append([*zip(fates, map(recorded.text_of, [*b.drafted, b.token]), strict=True)])
    ax = chart(f"The first {rows} blocks of a text, K = {k}", size=(9.4, 1.2 + 0.36 * rows))
    draw_blocks(ax, drawn, [f"{b.accepted} accepted" for b in blocks])
    parts = [", ".join(f"{kind} {text}" for kind, text in row) for row in drawn]
    show(ax.figure, f"Blocks of {k} draft tokens. " + ". ".join(parts) + ".")


def requests_against_coins(k: int) -> None:
    """Blocks that each recorded request took, beside the exact distribution under coins."""
    request, n_tokens = recorded.requests()[k], recorded.data()["request_tokens"]
    law = request_law(request.alpha, k, n_tokens)
    edges = np.arange(20, request.blocks.max() + 2 * _WIDTH, _WIDTH)
    below = np.append(0.0, np.cumsum(np.append(law, np.zeros(edges[-1]))))  # under each number
    coins = len(request.blocks) * np.diff(below[edges])
    title = f"{len(request.blocks)} recorded requests of {n_tokens} tokens, K = {k}"
    ax = chart(title, "requests")
    middles = edges[:-1] + (_WIDTH - 1) / 2
    counts = np.histogram(request.blocks, edges)[0]
    recorded_tail = _tail(partial(np.quantile, method="inverted_cdf"), request.blocks)
    coins_tail = _tail(quantile, law)
    bars(ax, middles, counts, "target", 0.85 * _WIDTH, label=f"recorded: {recorded_tail}")
    label = f"coins of {request.alpha:.3f}, computed: {coins_tail}"
    seen = coins > 0.05  # crosses on the axis would hide the recorded tail
    ax.plot(middles[seen], coins[seen], color="black", label=label, **CROSS | {"markersize": 8})
    ax.set_xlabel("blocks that a request took")
    legend_below(ax, 1)
    show(ax.figure, f"Blocks that requests took. Recorded: {recorded_tail}; coins: {coins_tail}.")


def _tail(share_of: Callable, values: np.ndarray) -> str:
    """p50, p95 and p99 in words."""
    return ", ".join(f"{name} {share_of(values, at):.0f}" for name, at in SHARES.items())


def show_steps(title: str, costs: np.ndarray) -> None:
    """Show the milliseconds of a step by rows and K as a table."""
    ks = [k for k in (0, 1, 2, 4, 6, 8) if k < costs.shape[1]]
    rows = [rows for rows in (1, 2, 4, 8, 16) if rows < len(costs)]
    columns = {f"K = {k}": [f"{costs[row, k]:.1f}" for row in rows] for k in ks}
    show_table({"rows": rows} | columns, f"{title}: milliseconds of a step")
