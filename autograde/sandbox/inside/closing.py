"""Functions of the library that answer an exercise: where a student's code runs, they raise.

Copied code is not found by this. It keeps an import from passing for an answer.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class Closing(MetaPathFinder):
    """Replaces the functions `names`, as "package.module.function", when their module is loaded."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names: dict[str, list[str]] = {}
        for name in names:
            module, _, function = name.rpartition(".")
            self.names.setdefault(module, []).append(function)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The ordinary spec of one of the modules, with a loader that closes its functions."""
        spec = PathFinder.find_spec(fullname, path) if fullname in self.names else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            for function in self.names[fullname]:
                setattr(module, function, closed(f"{fullname}.{function}"))

        spec.loader.exec_module = exec_module
        return spec


def close(names: Sequence[str]) -> None:
    """Close functions of modules that are not loaded yet."""
    sys.meta_path.insert(0, Closing(names))


def closed(name: str) -> Callable:
    """What stands in the place of the function `name`."""

    def own_work(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{name} answers this exercise; the answer has to be your own work")

    return own_work
