"""Chapter 06: recorded blocks of the built-in pair, played with a clock."""

from typing import Any

from specdec_lib.lessons.data import recorded
from specdec_lib.lessons.widgets.simulator import Simulator


def generation_simulator(k: int = 5, c: float = 0.1, v: float = 1.0) -> Simulator:
    """The live simulator of chapter 06, with its sliders where the arguments say.

    `c` and `v`, the time of a verification whatever K is, are in passes of the target over one
    token. A `k` has to be among the recorded ones.
    """
    state = {"k": k, "c": c, "v": v, "run": 0, "shown": 0}
    data = {"record": _page_record()}
    return Simulator("generation", "Generation simulator", state, height=1500, data=data)


def _page_record() -> dict[str, Any]:
    """What the page needs of the record: no prompt tokens but the last ones, as text."""
    record = recorded.record()
    tails = ["".join(record["pieces"][str(t)] for t in each[-24:]) for each in record["passages"]]
    requests = [{"k": each["k"], "accepted": each["accepted"]} for each in record["requests"]]
    kept = {name: record[name] for name in ("pieces", "runs")}
    return {**kept, "passages": tails, "requests": requests}
