"""What a worker has in memory before a student's code arrives, and what it keeps out of sight."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable
from types import ModuleType


def load(settings: dict, *folders: str) -> ModuleType:
    """The module `worker`, with the modules of `preload` and the library in place.

    No import finds the programs in `folders` afterwards, nor those beside this one.
    """
    importlib.invalidate_caches()
    import worker

    here = os.path.dirname(worker.__file__)
    sys.path.remove(here)
    hide({here, *folders})
    sys.path += settings["library"]
    for module, names in settings["preload"]:
        # A module that cannot be loaded here fails again in the student's cell, which says why.
        with contextlib.suppress(Exception):
            __import__(module, fromlist=names)
    return worker


def hide(folders: Iterable[str]) -> None:
    """Let an import find none of the modules in `folders`: a student's may have their names."""
    own = [name for name, module in sys.modules.items() if _lies_in(folders, module)]
    for name in own:
        del sys.modules[name]


def _lies_in(folders: Iterable[str], module: object) -> bool:
    file = getattr(module, "__file__", None) or ""
    return os.path.dirname(file) in folders and getattr(module, "__name__", "") != "__main__"
