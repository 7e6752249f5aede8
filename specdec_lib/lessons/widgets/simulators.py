"""The simulators of the chapters: each function makes the first state of one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from specdec_lib.lessons.ch07.lesson import SHAPES, P, Q
from specdec_lib.lessons.data import recorded
from specdec_lib.lessons.widgets.simulator import Simulator

#: Largest K of the view "speed" (see `linked_simulator`).
MAX_SPEED_K = 20
#: Milliseconds of a target pass and of a draft step, as Chen et al. (2023) report them.
PASS_MS, STEP_MS = 14.1, 1.8
_PAPER_COLUMNS = ("task", "draft", "temperature", "k", "alpha", "c", "expected", "measured")


def bottleneck_simulator(
    bandwidth: float = 3.35e12,
    peak_flops: float = 989.5e12,
    n_params: float = 7e9,
    bytes_per_param: float = 2,
    tokens: int = 8,
) -> Simulator:
    """Chapter 00: tokens written one by one or checked in one pass, and the roofline of both.

    `bandwidth` in bytes/s, `peak_flops` in FLOP/s. The arguments say where the sliders stand.
    """
    state = {
        "bandwidth": bandwidth,
        "peak_flops": peak_flops,
        "n_params": n_params,
        "bytes_per_param": bytes_per_param,
        "tokens": tokens,
    }
    return Simulator("bottleneck", "Bottleneck simulator", state, height=1000)


def linked_simulator(
    view: str = "residual",
    target: Sequence[float] = P,
    draft: Sequence[float] = Q,
    k: int = 4,
    c: float | None = None,
    s: float = 0.0,
) -> Simulator:
    """p and q, whose bars the reader drags, and everything that follows from them.

    Its views are those of chapters 02 ("residual"), 03 ("paths": the two paths into each token) and
    04 ("speed" over K). `target` and `draft` (4,) are distributions, `k` the draft tokens of a
    block. Times are those of Chen et al. unless the reader sets `c` and `s`; v(n) is
    1 + s (n - 1).
    """
    p, q = np.asarray(target).tolist(), np.asarray(draft).tolist()
    state = {"view": view, "target": p, "draft": q, "k": k, "token": 1, **_times(c, s)}
    if view == "paths":
        state |= {"sampler": "rule", "counts": [0, 0, 0, 0], "history": [], "seed": 3}
    height = 1300 if view == "paths" else 900
    return Simulator("linked", "Simulator of p and q", state, height)


def _times(c: float | None, s: float) -> dict[str, Any]:
    """Times that nobody has measured here, and what they are."""
    source = "The times are those of Chen et al. (2023), not of this machine."
    if c is not None:
        source = "The pass is that of Chen et al. (2023); c and s are set by hand."
    c = STEP_MS / PASS_MS if c is None else c
    return {"c": c, "s": s, "most": MAX_SPEED_K, "ms": PASS_MS, "source": source}


def paper_rows_simulator(rows: Iterable[Any], row: int = 0) -> Simulator:
    """Chapter 05: a row of Leviathan et al.'s Tables 2 and 4 over all block lengths.

    `rows` are named tuples of the tables, and `row` is the one shown first. The curve is
    E / (c K + 1) over K, the band the values that round to the printed alpha, c and speed-up.
    """
    plain = [{name: getattr(each, name) for name in _PAPER_COLUMNS} for each in rows]
    chosen = {key: plain[row][key] for key in ("alpha", "c", "k")}
    state = {"rows": plain, "row": row, **chosen}
    return Simulator("paper_rows", "A row of the paper", state, height=1020)


def batch_simulator(alpha: float = 0.8, k: int = 5, rows: int = 4) -> Simulator:
    """Chapter 06: a batch of rows of coins, in lock-step and ragged.

    Every row writes 24 tokens. `k` and `rows` are from 1 to 16.
    """
    state = {"alpha": alpha, "k": k, "rows": rows, "seed": 2, "passes": 24}
    return Simulator("batch", "Batch simulator", state, height=760)


def generation_simulator(k: int = 5, c: float = 0.1, v: float = 1.0) -> Simulator:
    """Chapter 06: recorded blocks of the built-in pair, or coins of a chosen alpha, with a clock.

    `c` and `v`, the time of a verification whatever K is, are in passes of the target over one
    token. A `k` has to be among the recorded ones.
    """
    state = {"alpha": None, "k": k, "c": c, "v": v, "run": 0, "shown": 0}
    data = {"record": _page_record()}
    return Simulator("generation", "Generation simulator", state, height=800, data=data)


def _page_record() -> dict[str, Any]:
    """What the page needs of the record: no prompt tokens but the last ones, as text."""
    record = recorded.data()
    tails = ["".join(record["pieces"][str(t)] for t in each[-24:]) for each in record["passages"]]
    requests = [{"k": each["k"], "accepted": each["accepted"]} for each in record["requests"]]
    whole = {name: record[name] for name in ("pieces", "runs")}
    return {**whole, "passages": tails, "requests": requests}


def draft_tree_simulator(accepted: Mapping[str, Sequence[float]]) -> Simulator:
    """Chapter 07: a draft tree, who sees whom in it, and how many tokens each shape writes.

    `accepted` gives, for each draft by name, how likely the i-th candidate of a place is the
    accepted one.
    """
    drafts = [{"name": name, "shares": list(row)} for name, row in accepted.items()]
    trees = [{"name": name, "parents": list(row)} for name, row in SHAPES.items()]
    chosen = {"draft": 0, "shape": 1, "node": 4}
    state = {"drafts": drafts, "shapes": trees, **chosen, "c": 0.2}
    return Simulator("draft_tree", "Draft tree simulator", state, height=780)


def trace_picture(prompt: str, blocks: Sequence[Mapping[str, Any]]) -> Simulator:
    """Chapter 08: a text of one's own decoder, every token with its fate, p, q and ratio.

    `blocks` have `drafted` (pieces of text), `p` and `q` of each, how many were `accepted`, and the
    `token` after them. The first token is chosen when the picture opens.
    """
    state = {"prompt": prompt, "blocks": blocks, "chosen": 0}
    return Simulator("trace", "A text at temperature 1, token by token", state, height=560)
