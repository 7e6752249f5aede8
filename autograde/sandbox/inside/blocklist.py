"""An import hook for functions of the library that answer an exercise: they raise when called.

The hook keeps an import from passing for an answer. It does not notice copied code.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class Blocklist(MetaPathFinder):
    """Replaces the functions `names` when their module is loaded.

    They are given as "package.module.function", or as "package.module.Class.method".
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names: dict[str, list[str]] = {}
        for name in names:
            module, function = split_name(name)
            self.names.setdefault(module, []).append(function)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The ordinary spec of one of the modules, with a loader that replaces its functions."""
        spec = PathFinder.find_spec(fullname, path) if fullname in self.names else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            for function in self.names[fullname]:
                replace(module, function, refusal(f"{fullname}.{function}"))

        spec.loader.exec_module = exec_module
        return spec


def block(names: Sequence[str]) -> None:
    """Block functions of modules that are not loaded yet."""
    sys.meta_path.insert(0, Blocklist(names))


def split_name(name: str) -> tuple[str, str]:
    """The module of a blocked name, and the rest of it: "function", or "Class.method"."""
    module, _, function = name.rpartition(".")
    package, _, last = module.rpartition(".")
    return (package, f"{last}.{function}") if last[:1].isupper() else (module, function)


def replace(module: ModuleType, function: str, other: Callable) -> None:
    """Put `other` in the place of a module's function, or of a method or property in a class."""
    *within, name = function.split(".")
    owner = getattr(module, within[0]) if within else module
    is_property = isinstance(vars(owner).get(name), property)
    setattr(owner, name, property(other) if is_property else other)


def refusal(name: str) -> Callable:
    """The function that stands in the place of the function `name`."""

    def own_work(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{name} answers this exercise; the answer has to be your own work")

    return own_work
