"""Chapter 00: writing tokens one by one, checking them in one pass, and the roofline of both."""

from typing import Any

from specdec_lib.lessons.widgets.simulator import Field, Simulator


def between(low: float, high: float) -> Field:
    """A field that is a number from `low` to `high`."""

    def check(name: str, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"{name} is {value!r}, which is not a number") from None
        if not low <= number <= high:
            raise ValueError(f"{name} is {number:g}; this simulator takes {low:g} to {high:g}")
        return number

    return check


_FIELDS = {
    "bandwidth": between(1e9, 1e14),
    "peak_flops": between(1e9, 1e16),
    "n_params": between(1e6, 1e13),
    "bytes_per_param": between(0.5, 4),
    "tokens": lambda name, value: int(between(1, 512)(name, value)),
}


def bottleneck_simulator(
    bandwidth: float = 3.35e12,
    peak_flops: float = 989.5e12,
    n_params: float = 7e9,
    bytes_per_param: float = 2,
    tokens: int = 8,
) -> Simulator:
    """The simulator of chapter 00, with its sliders where the arguments say.

    `bandwidth` in bytes/s, `peak_flops` in FLOP/s; `tokens` are written one by one, or checked in
    one pass. ValueError, naming the argument, for a number that no slider can show. The reset
    button goes back to these arguments.
    """
    state = {
        "bandwidth": bandwidth,
        "peak_flops": peak_flops,
        "n_params": n_params,
        "bytes_per_param": bytes_per_param,
        "tokens": tokens,
    }
    return Simulator(
        "bottleneck",
        title="Bottleneck simulator",
        fields=_FIELDS,
        state=state,
        reset=state,
        height=1000,
    )
