"""The two limits of this processor, measured: bytes a second from memory, FLOP a second.

Both are the best of several rounds, since they stand for what the machine can do at most.
"""

from collections.abc import Callable

import torch

from specdec_lib.measure.timing import timed
from specdec_lib.models import scale
from specdec_lib.models.llama import Llama

COPY_MEGABYTES = 256  # much more than a processor's cache holds
_MATRIX_WIDTH = 1024  # of the square matrices


def copy_bandwidth(megabytes: float = COPY_MEGABYTES, rounds: int = 7) -> float:
    """Bytes a second of a copy within memory, those read and those written together.

    Needs twice `megabytes` of memory.
    """
    source = torch.ones(int(megabytes * 2**20 / 4))
    copy = torch.empty_like(source)
    return 2 * source.nbytes / _least_seconds(lambda: copy.copy_(source), rounds)


def matrix_rate(rounds: int = 7) -> float:
    """FLOP a second of a product of two square matrices; a multiplication and an addition are two.

    The matrices hold float32, as the course's models do on a processor.
    """
    left, right = torch.rand(2, _MATRIX_WIDTH, _MATRIX_WIDTH)
    return 2 * _MATRIX_WIDTH**3 / _least_seconds(lambda: left @ right, rounds)


def machine_limits() -> dict[str, float]:
    """Both limits of the processor: "bandwidth" in bytes/s, "peak_flops" in FLOP/s."""
    return {"bandwidth": copy_bandwidth(), "peak_flops": matrix_rate()}


def _least_seconds(task: Callable[[], object], rounds: int) -> float:
    """The seconds of the fastest of `rounds` rounds, after one that is not counted."""
    timed(task)
    return min(timed(task)[0] for _ in range(rounds))


def weights_read(model: Llama) -> tuple[int, int]:
    """The weights that a pass reads, and the bytes of each in memory."""
    return scale.weights_read(model.shape), model.head.bytes_per_weight
