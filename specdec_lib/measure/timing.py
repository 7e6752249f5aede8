"""Times of bare tasks, interleaved, since a machine's speed drifts; and of a model's passes.

Decoders are measured by measure/compare.py.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from specdec_lib.device import wait_for
from specdec_lib.models.protocol import Cache, Model, cache_lengths
from specdec_lib.progress import progress

_Key = TypeVar("_Key")
_Result = TypeVar("_Result")


def timed(task: Callable[..., _Result], *arguments: object) -> tuple[float, _Result]:
    """The seconds of `task` on these arguments, until a GPU is done too, and its result."""
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
    for _ in progress(range(warm_up + rounds), "rounds"):
        for key, task in tasks.items():
            seconds[key].append(timed(task)[0])
    return {key: times[warm_up:] for key, times in seconds.items()}


class RecordedPass(NamedTuple):
    """A pass: when it ended, and the tokens in the cache before and after it, of the first row."""

    end: float
    before: int
    after: int


class PassRecorder:
    """A model that records its passes."""

    def __init__(self, model: Model) -> None:
        self.model, self.passes = model, list[RecordedPass]()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by copy before there is a model
            raise AttributeError(name)
        return getattr(self.model, name)

    def forward(self, tokens: Tensor, cache: Cache, **forward_kwargs: Any) -> Tensor:
        """The model's logits (B, T, V); `forward_kwargs` are those of a tree's pass."""
        before = cache_lengths(cache)[0]
        logits = self.model.forward(tokens, cache, **forward_kwargs)
        self.passes.append(RecordedPass(time.perf_counter(), before, before + tokens.shape[1]))
        return logits
