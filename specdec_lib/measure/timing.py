"""Times of bare tasks that can be compared on a machine whose speed drifts: interleaved.

Decoders are measured by measure/compare.py.
"""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from specdec_lib.device import wait_for
from specdec_lib.progress import progress

_Key = TypeVar("_Key")
_Result = TypeVar("_Result")


def timed(task: Callable[[], object]) -> float:
    """The seconds that `task` takes, until the GPU is done if there is one."""
    return timed_result(task)[0]


def timed_result(task: Callable[..., _Result], *arguments: object) -> tuple[float, _Result]:
    """The seconds of `task` on these arguments, as `timed`, and its result."""
    wait_for()
    start = time.perf_counter()
    result = task(*arguments)
    wait_for()
    return time.perf_counter() - start, result


def interleaved_times(
    tasks: Mapping[_Key, Callable[[], object]], rounds: int, warm_up: int = 1
) -> dict[_Key, list[float]]:
    """The seconds of every task in every round, all tasks once a round, one after the other.

    The first `warm_up` rounds are not counted.
    """
    seconds: dict[_Key, list[float]] = {key: [] for key in tasks}
    for round_number in progress(range(warm_up + rounds), "rounds"):
        for key, task in tasks.items():
            task_seconds = timed(task)
            if round_number >= warm_up:
                seconds[key].append(task_seconds)
    return seconds
