"""The two limits of a machine, measured: bytes a second from memory, FLOP a second in a product.

Both are the best of several rounds, since they stand for what the machine can do at most.
"""

from collections.abc import Callable, Mapping, Sequence

import torch

from specdec_lib.measure.core.costs import pass_tasks
from specdec_lib.measure.core.timing import Key, interleaved, timed
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import parameters

COPY_MEGABYTES = 256  # much more than a processor's cache holds
NARROWEST, WIDEST = 256, 8192  # of the square matrices
LONG_ENOUGH = 0.01  # seconds of a product, so that starting it does not count


def copy_bandwidth(
    device: torch.device | str = "cpu", megabytes: float = COPY_MEGABYTES, rounds: int = 7
) -> float:
    """Bytes a second of a copy within the device's memory, those read and those written together.

    Needs twice `megabytes` of memory there.
    """
    source = torch.ones(int(megabytes * 2**20 / 4), device=device)
    copy = torch.empty_like(source)
    return 2 * source.nbytes / fastest(lambda: copy.copy_(source), rounds)


def matrix_rate(
    dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu", rounds: int = 7
) -> float:
    """FLOP a second of a product of two square matrices; a multiplication and an addition are two.

    The matrices grow until a product takes a hundredth of a second, so that a GPU is kept busy and
    a processor without instructions for `dtype` is not kept for minutes.
    """
    width = NARROWEST
    while True:
        left, right = (torch.rand(width, width, device=device).to(dtype) for _ in range(2))
        seconds = fastest(lambda a=left, b=right: a @ b, rounds)
        if seconds >= LONG_ENOUGH or width >= WIDEST:
            return 2 * width**3 / seconds
        width *= 2


def machine_limits(
    dtypes: Mapping[str, torch.dtype], device: torch.device | str = "cpu"
) -> dict[str, float]:
    """Both limits of a machine: "bandwidth" in bytes/s, and the FLOP/s of each of `dtypes`."""
    rates = {name: matrix_rate(dtype, device) for name, dtype in dtypes.items()}
    return {"bandwidth": copy_bandwidth(device)} | rates


def fastest(task: Callable[[], object], rounds: int) -> float:
    """The seconds of the fastest of `rounds` rounds, after one that is not counted."""
    timed(task)
    return min(timed(task) for _ in range(rounds))


def pass_seconds(
    models: Mapping[Key, Llama], widths: Sequence[int], rounds: int = 10
) -> dict[Key, dict[int, list[float]]]:
    """The seconds of passes over so many tokens, by model and width; interleaved."""
    tasks = {
        (key, width): run
        for key, model in models.items()
        for width, run in pass_tasks(model, widths).items()
    }
    times = interleaved(tasks, rounds)
    return {key: {n: times[key, n] for n in widths} for key in models}


def weights_read(model: Llama) -> int:
    """The parameters that a pass reads: all but the embedding, of which it looks up a few rows."""
    shape = model.shape
    return parameters(shape) - shape.vocab_size * shape.width
