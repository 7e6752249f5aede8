"""One call of a function, and what it did: warnings, shared memory, and uses of torch."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

# Functions of torch that read a value on the host. On a GPU each one is a synchronisation: it waits
# until all earlier work is done.
HOST_SYNCS = (
    "item", "tolist", "numpy", "cpu", "nonzero", "argwhere", "masked_select", "unique", "equal",
    "__bool__", "__int__", "__float__", "__index__", "__array__", "__contains__", "allclose",
)  # fmt: skip


def instrumented_call(
    function: Callable, args: list, profile: bool = False
) -> tuple[Any, dict[str, Any]]:
    """The result of `function(*args)`, and a report on the call; raises what the call raises.

    With `profile` the report counts the uses of torch.
    """
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        result, torch_calls = _profile_torch(function, args) if profile else (function(*args), [])
    report = {
        "warnings": [str(record.message)[:200] for record in records[:5]],
        "shares_memory": _shares_memory(result, args),
        "torch_calls": len(torch_calls),
        "host_syncs": [name for name in torch_calls if name in HOST_SYNCS][:20],
    }
    return result, report


def _profile_torch(function: Callable, args: list) -> tuple[Any, list[str]]:
    """The result, and the names of the functions of torch that were called.

    Counting the operators below them would need torch's dispatch mode, which imports its compiler.
    """
    from torch.overrides import TorchFunctionMode

    names: list[str] = []

    class Recorder(TorchFunctionMode):
        def __torch_function__(self, name: Any, types: Any, args: Any = (), kwargs: Any = None):
            names.append(getattr(name, "__name__", ""))
            return name(*args, **(kwargs or {}))

    with Recorder():
        return function(*args), names


def _shares_memory(result: Any, args: list) -> bool:
    """Whether the returned array shares memory with an argument."""
    if not isinstance(result, np.ndarray):
        return False
    return any(isinstance(a, np.ndarray) and np.may_share_memory(result, a) for a in args)
