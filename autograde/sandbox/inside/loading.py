"""What a worker has in memory before a student's code arrives."""

import contextlib
import os
import sys
from types import ModuleType


def load(settings: dict) -> ModuleType:
    """The module `worker`, with the modules of `preload` loaded and the library on the path.

    The folder of these programs is first on the path till then, and is taken off it.
    """
    import worker

    sys.path.remove(os.path.dirname(worker.__file__))
    sys.path += settings["library"]
    for module, names in settings["preload"]:
        # A module that cannot be loaded here fails again in the student's cell, which says why.
        with contextlib.suppress(Exception):
            __import__(module, fromlist=names)
    return worker
