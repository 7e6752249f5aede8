"""What a call does with torch: how many of its functions it uses, and where it waits for a value.

Counted in the student's process, so a submission that sets out to forge the count can. Counting
the operators below these functions would need torch's dispatch mode, which imports its compiler.
"""

from collections.abc import Callable
from typing import Any

# Ways to read a value on the host. On a GPU each waits until all work before it is done.
WAITS = (
    *("item", "tolist", "numpy", "cpu", "nonzero", "argwhere", "masked_select", "unique", "equal"),
    *("__bool__", "__int__", "__float__", "__index__", "__array__", "__contains__", "allclose"),
)


def counted(function: Callable, args: list) -> tuple[Any, dict]:
    """The result of `function(*args)`, and {"operators": how many, "waits": names}."""
    from torch.overrides import TorchFunctionMode

    counts: dict[str, Any] = {"operators": 0, "waits": []}

    class Counter(TorchFunctionMode):
        def __torch_function__(self, used: Any, types: Any, args: Any = (), kwargs: Any = None):
            name = getattr(used, "__name__", "")
            counts["operators"] += 1
            counts["waits"] += [name] if name in WAITS else []
            return used(*args, **(kwargs or {}))

    with Counter():
        return function(*args), counts
