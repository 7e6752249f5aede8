"""Chapter 06: recorded blocks of the built-in pair, played with a clock."""

from collections.abc import Callable
from typing import Any

from specdec_lib.lessons import recorded
from specdec_lib.lessons.widgets.simulator import Simulator
from specdec_lib.theory import Costs

C_MOST, V_LEAST, V_MOST = 0.5, 1.0, 3.0


def generation_simulator(
    k: int = 5, c: float = 0.1, v: float = 1.0, costs: Costs | None = None
) -> Simulator:
    """The live simulator of chapter 06, with its sliders where the arguments say.

    `c` and `v`, the time of a verification whatever K is, are in passes of the target over one
    token; with measured `costs` the reader can switch to those. ValueError, naming the argument,
    for a K that is not recorded and for times outside the sliders.
    """
    page = _page_record()
    ks = tuple(each["k"] for each in page["requests"])
    fields = {
        "k": one_of(ks),
        "c": between(0.0, C_MOST),
        "v": between(V_LEAST, V_MOST),
        "run": between(0, 10**6),
        "shown": between(0, 10**6),
        "measured": one_of((False, True)),
        "costs": lambda name, value: value,
        "record": lambda name, value: value,
    }
    times = {"c": costs.c, "v": {str(k): costs.v[k + 1] for k in ks}} if costs else None
    return Simulator(
        "generation",
        title="Generation simulator",
        fields=fields,
        state={"k": k, "c": c, "v": v, "run": 0, "shown": 0, "measured": False},
        reset={"costs": times, "record": page},
        height=1500,
    )


def _page_record() -> dict[str, Any]:
    """What the page needs of the record: no prompt tokens but the last ones, as text."""
    record = recorded.record()
    pieces = {token: recorded.visible(piece) for token, piece in record["pieces"].items()}
    tails = ["".join(record["pieces"][str(t)] for t in each[-24:]) for each in record["passages"]]
    return {
        "pieces": pieces,
        "passages": tails,
        "runs": record["runs"],
        "requests": [{"k": each["k"], "accepted": each["accepted"]} for each in record["requests"]],
    }


def between(least: float, most: float) -> Callable[[str, Any], float]:
    """A field that holds a number in this range."""

    def check(name: str, value: Any) -> float:
        if not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"{name} is {value!r}: it lies between {least:g} and {most:g}")
        return value

    return check


def one_of(values: tuple) -> Callable[[str, Any], Any]:
    """A field that holds one of `values`."""

    def check(name: str, value: Any) -> Any:
        if value not in values:
            raise ValueError(f"{name} is {value!r}: choose one of {', '.join(map(str, values))}")
        return value

    return check
