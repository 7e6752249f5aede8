"""The linked picture where no script runs: a still of its bars and its view, with all in words."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from specdec_lib.lessons.common.drawing import (
    bars,
    legend_below,
    masses_by_path,
    panels,
    token_axis,
)
from specdec_lib.lessons.common.style import image
from specdec_lib.lessons.common.wording import by_token
from specdec_lib.theory import expected_tokens, walltime_speedup

State = Mapping[str, Any]


def still(state: State) -> str:
    """An `<img>` with its alternative text, and the same words below it, for a state."""
    return _drawn(json.dumps(state))


@lru_cache(maxsize=16)
def _drawn(state_as_text: str) -> str:
    state = json.loads(state_as_text)
    pair, view = panels(2, (8.4, 3.4))
    _draw_pair(pair, state)
    {"residual": _draw_residual, "paths": _draw_paths, "speed": _draw_speed}[state["view"]](
        view, state
    )
    words = in_words(state)
    picture = image(pair.figure, words)
    plt.close(pair.figure)
    return f"{picture}<p>{words}</p>"


def in_words(state: State) -> str:
    """The numbers of a state; the two paths have no blocks and no times."""
    p, q, k = *_pair(state), state["k"]
    shared = (
        f"Target p: {by_token(p)}. Draft q: {by_token(q)}. Both have {_rate(state):.3f} in common: "
        "this share of the draft tokens is accepted."
    )
    if state["view"] == "paths":
        return shared
    tokens, time = expected_tokens(_rate(state), k), _milliseconds(state, k)
    return (
        f"{shared} With K = {k} a block writes {tokens:.3f} tokens on average, and a token takes "
        f"{time:.3g} ms. {state['source']}"
    )


def _pair(state: State) -> tuple[np.ndarray, np.ndarray]:
    return np.array(state["target"]), np.array(state["draft"])


def _rate(state: State) -> float:
    return float(np.minimum(*_pair(state)).sum())


def _milliseconds(state: State, k: int) -> float:
    """The time of a token in blocks of k draft tokens."""
    return state["ms"] / walltime_speedup(_rate(state), state["c"], k, 1 + state["s"] * k)


def _draw_pair(ax: Axes, state: State) -> None:
    p, q = _pair(state)
    x = np.arange(len(p))
    for at, name, values in ((x - 0.2, "target", p), (x + 0.2, "draft", q)):
        bars(ax, at, values, name, 0.36, text=".2f")
    token_axis(ax, len(p), top=max(*p, *q))
    ax.set_title("Target p and draft q")
    legend_below(ax, columns=2)


def _draw_residual(ax: Axes, state: State) -> None:
    p, q = _pair(state)
    left = np.maximum(p - q, 0)
    values = left / left.sum() if left.sum() > 1e-12 else p
    bars(ax, np.arange(len(p)), values, "residual", text=".2f")
    token_axis(ax, len(p), top=values.max())
    ax.set_title("The residual")


def _draw_paths(ax: Axes, state: State) -> None:
    p, q = _pair(state)
    masses = (np.minimum(p, q), np.maximum(p - q, 0))
    texts = (f"{value:.2f}" for value in p)
    masses_by_path(ax, masses, p, ("by acceptance", "by correction"), texts)
    ax.set_title("Two paths into each token")


def _draw_speed(ax: Axes, state: State) -> None:
    times = [_milliseconds(state, k) for k in range(state["most"] + 1)]
    ax.plot(times, "o-", markersize=4)
    ax.axhline(state["ms"], color="black", linestyle="--", linewidth=1.2)
    ax.set(title="Milliseconds per token", xlabel="K; dashed: plain decoding", ylim=(0, None))
