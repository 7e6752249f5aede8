"""Chapter 00: writing tokens one by one, checking them in one pass, and the roofline of both."""

from specdec_lib.lessons.widgets.fields import number, whole
from specdec_lib.lessons.widgets.simulator import Simulator

_FIELDS = {
    "bandwidth": number(1e9, 1e14),
    "peak_flops": number(1e9, 1e16),
    "n_params": number(1e6, 1e13),
    "bytes_per_param": number(0.5, 4),
    "tokens": whole(1, 512),
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
    one pass. ValueError, naming the argument, for a number that no slider can show.
    """
    values = (bandwidth, peak_flops, n_params, bytes_per_param, tokens)
    state = dict(zip(_FIELDS, values, strict=True))
    return Simulator("bottleneck", "Bottleneck simulator", _FIELDS, state, height=1000)
