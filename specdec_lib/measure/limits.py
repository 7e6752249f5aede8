"""The two limits of this processor, measured: bytes a second from memory, FLOP a second.

Both are the best of several rounds, since they stand for what the machine can do at most.
"""

from collections.abc import Callable

import torch

from specdec_lib.measure.timing import timed
from specdec_lib.models import scale
from specdec_lib.models.llama import Llama

_COPIED = 2**28  # bytes: much more than a processor's cache holds
_MATRIX_WIDTH = 1024  # of the square matrices
_ROUNDS = 7


def machine_limits() -> dict[str, float]:
    """Both limits of the processor: "bandwidth" in bytes/s, "peak_flops" in FLOP/s.

    The first is that of a copy within memory, bytes read and written together; it needs twice
    _COPIED bytes. The second is that of a product of two square matrices in float32, as the
    course's models have on a processor; a multiplication and an addition are two.
    """
    source = torch.ones(_COPIED // 4)
    copy = torch.empty_like(source)
    bandwidth = 2 * source.nbytes / _least_seconds(lambda: copy.copy_(source))
    left, right = torch.rand(2, _MATRIX_WIDTH, _MATRIX_WIDTH)
    peak_flops = 2 * _MATRIX_WIDTH**3 / _least_seconds(lambda: left @ right)
    return {"bandwidth": bandwidth, "peak_flops": peak_flops}


def _least_seconds(task: Callable[[], object]) -> float:
    """The seconds of the fastest of _ROUNDS rounds, after one that is not counted."""
    timed(task)
    return min(timed(task)[0] for _ in range(_ROUNDS))


def weights_and_bytes(model: Llama) -> tuple[int, int]:
    """The weights that a pass reads, and the bytes of each in memory."""
    return scale.weights_read(model.shape), model.head.bytes_per_weight
