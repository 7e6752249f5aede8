"""One call of a function, and what it did: warnings, shared memory, and uses of torch."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

# Ways to read a value on the host. On a GPU each waits until all work before it is done.
WAITS = (
    *("item", "tolist", "numpy", "cpu", "nonzero", "argwhere", "masked_select", "unique", "equal"),
    *("__bool__", "__int__", "__float__", "__index__", "__array__", "__contains__", "allclose"),
)


def call(function: Callable, args: list, count: bool = False) -> tuple[Any, dict]:
    """The result of `function(*args)`, and what is told of the call; raises what that raises."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result, used = _counted(function, args) if count else (function(*args), [])
    told = {
        "warnings": [str(each.message)[:200] for each in seen[:5]],
        "shares": _shares_memory(result, args),
        "operators": len(used),
        "waits": [name for name in used if name in WAITS][:20],
    }
    return result, told


def _counted(function: Callable, args: list) -> tuple[Any, list[str]]:
    """The result, and the names of torch's functions that were used.

    Counting the operators below them would need torch's dispatch mode, which imports its compiler.
    """
    from torch.overrides import TorchFunctionMode

    used: list[str] = []

    class Counter(TorchFunctionMode):
        def __torch_function__(self, name: Any, types: Any, args: Any = (), kwargs: Any = None):
            used.append(getattr(name, "__name__", ""))
            return name(*args, **(kwargs or {}))

    with Counter():
        return function(*args), used


def _shares_memory(result: Any, args: list) -> bool:
    """Whether the returned array shares memory with an argument."""
    if not isinstance(result, np.ndarray):
        return False
    return any(isinstance(a, np.ndarray) and np.may_share_memory(result, a) for a in args)
