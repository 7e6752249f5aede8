"""Chapter 00: writing tokens one by one, checking them in one pass, and the roofline of both."""

from specdec_lib.lessons.widgets.simulator import Simulator


def bottleneck_simulator(
    bandwidth: float = 3.35e12,
    peak_flops: float = 989.5e12,
    n_params: float = 7e9,
    bytes_per_param: float = 2,
    tokens: int = 8,
) -> Simulator:
    """The simulator of chapter 00, with its sliders where the arguments say.

    `bandwidth` in bytes/s, `peak_flops` in FLOP/s; `tokens` are written one by one, or checked in
    one pass.
    """
    state = {
        "bandwidth": bandwidth,
        "peak_flops": peak_flops,
        "n_params": n_params,
        "bytes_per_param": bytes_per_param,
        "tokens": tokens,
    }
    return Simulator("bottleneck", "Bottleneck simulator", state, height=1000)
