"""What every simulator's readouts have to show, from its state and the library's own functions.

A simulator that is not here fails the tests of all simulators, by its name.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from classes.chapter_cases import functions_of

from specdec_lib.lessons.ch05.computed import rounding_interval
from specdec_lib.lessons.ch07 import computed
from specdec_lib.lessons.common import recorded
from specdec_lib.theory import expected_tokens, walltime_speedup

State = dict[str, Any]
_SCALES = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
_NUMBER = re.compile(r"(\d+(?:\.(\d+))?(?:e[+-]?\d+)?)(?: (s|ms|µs))?(?!\w)")


def agree(texts: list[str], name: str, state: State) -> bool:
    """Whether the readouts show the library's numbers, to the digits that they show."""
    shown = [match for text in texts for match in _NUMBER.finditer(text)]
    want = expected(name, state)
    return len(shown) == len(want) and all(map(_rounds_to, want, shown))


def _rounds_to(want: float, shown: re.Match) -> bool:
    """Half of the last decimal shown, or of the third digit where that is coarser, is left open."""
    scale = _SCALES[shown[3] or "s"]
    half = 0.51 * scale * 10 ** -len(shown[2] or "")
    return abs(float(shown[1]) * scale - want) <= max(half, 0.0051 * abs(want))


def expected(name: str, state: State) -> list[float]:
    """The numbers that simulator `name` has to show in `state`."""
    return [float(each) for each in NUMBERS[name](state)]


def _batch(state: State) -> list[float]:
    tokens = functions_of("06_simulator")["lockstep_tokens"]
    return [tokens(state["alpha"], state["k"], rows) for rows in (state["rows"], 1)]


def _bottleneck(state: State) -> list[float]:
    chapter = functions_of("00_bottleneck")
    machine = [state[key] for key in ("bandwidth", "peak_flops")]
    model = [state[key] for key in ("n_params", "bytes_per_param")]
    one, together = (chapter["forward_time"](n, *model, *machine) for n in (1, state["tokens"]))
    written = state["tokens"] * one
    return [written, together, chapter["free_tokens"](model[1], *machine), written / together]


def _draft_tree(state: State) -> list[float]:
    parents = state["shapes"][state["shape"]]["parents"]
    shares = state["drafts"][state["draft"]]["shares"]
    return [
        computed.tree_tokens(parents, shares),
        computed.tree_speedup(parents, shares, state["c"]),
    ]


def _generation(state: State) -> list[float]:
    if state["measured"]:
        raise ValueError("the numbers of measured times are not followed here")
    k, c, v = (state[key] for key in ("k", "c", "v"))
    runs = recorded.runs(k)
    blocks = runs[state["run"] % len(runs)][: state["shown"] // 2]
    tokens = sum(block.accepted + 1 for block in blocks)
    predicted, alpha = walltime_speedup(recorded.alpha(), c, k, v), recorded.alpha()
    if not blocks:
        return [predicted, alpha]
    return [tokens / (len(blocks) * (c * k + v)), predicted, tokens / len(blocks), alpha]


def _paper_rows(state: State) -> list[float]:
    setting = [state[key] for key in ("alpha", "c", "k")]
    return [walltime_speedup(*setting), *rounding_interval(*setting)]


def _pipeline(state: State) -> list[float]:
    """Target passes, draft calls and tokens written after so many events of the record."""
    events = [event for block in state["blocks"] for event in _events(block)]
    return list(np.sum([[0, 0, 0], *events[: state["frame"]]], axis=0))


def _events(block: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Each draft call, the pass, each verdict until the first refusal, and the target's token."""
    drafted, accepted = len(block["drafted"]), block["accepted"]
    kept = [(0, 0, int(i < accepted)) for i in range(min(accepted + 1, drafted))]
    return [*[(0, 1, 0)] * drafted, (1, 0, 0), *kept, (0, 0, 1)]


def _trace(state: State) -> list[float]:
    """p, q and p/q of the chosen token, none for a bonus; and the share that was accepted."""
    tokens = [token for block in state["blocks"] for token in _judged(block)]
    judged = sum(len(pair) > 0 for pair in tokens)
    share = sum(block["accepted"] for block in state["blocks"]) / judged
    return [*_ratio(tokens[state["chosen"]]), share]


def _judged(block: dict[str, Any]) -> list[list[float]]:
    """p and q of each token that the block wrote; the bonus token has none."""
    pairs = [list(pair) for pair in zip(block["p"], block["q"], strict=True)]
    return [*pairs, []][: block["accepted"] + 1]


def _ratio(pair: list[float]) -> list[float]:
    return [*pair, pair[0] / pair[1]] if pair else []


def _linked(state: State) -> list[float]:
    """The numbers of every view, then those of the view itself."""
    rate = functions_of("03_lossless")["acceptance_rate"](*_pair(state))
    speeds = [_speedup(state, rate, k) for k in range(state["most"] + 1)]
    tokens, speed = expected_tokens(rate, state["k"]), speeds[state["k"]]
    shared = [rate, 1 - rate, tokens, state["ms"] / 1000 / speed]
    best = next(i for i, each in enumerate(speeds) if each >= max(speeds) - 1e-12)
    views = {"residual": [], "paths": _sample(state), "speed": [speed, best]}
    return (shared[:2] if state["view"] == "paths" else shared) + views[state["view"]]


def _pair(state: State) -> tuple[np.ndarray, np.ndarray]:
    return np.array(state["target"]), np.array(state["draft"])


def _speedup(state: State, rate: float, k: int) -> float:
    return walltime_speedup(rate, state["c"], k, 1 + state["s"] * k)


def _sample(state: State) -> list[float]:
    """A sample's distance from p and that of a perfect sampler; nothing before it is drawn."""
    p, drawn = np.array(state["target"]), sum(state.get("counts", [0]))
    if not drawn:
        return []
    distance = np.abs(np.array(state["counts"]) / drawn - p).sum() / 2
    spread = np.sqrt(p * (1 - p) / drawn)  # a count is nearly normal: E|x| = sd sqrt(2 / pi)
    return [distance, np.sqrt(2 / np.pi) * spread.sum() / 2]


NUMBERS: dict[str, Callable[[State], list[float]]] = {
    "batch": _batch,
    "bottleneck": _bottleneck,
    "design_map": lambda state: [],
    "draft_tree": _draft_tree,
    "generation": _generation,
    "linked": _linked,
    "paper_rows": _paper_rows,
    "pipeline": _pipeline,
    "trace": _trace,
}
