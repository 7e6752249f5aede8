"""The program of a student's process: load modules, drop privileges, then serve requests.

It is started by exec and has nothing of the grader's in its memory. Requests come through its
stdin and answers go through its stdout; the student's code finds neither there.
"""

import contextlib
import faulthandler
import json
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _FOLDER)  # Python's isolated mode leaves it out


def run_worker() -> None:
    """Read the settings from argv, load modules, set the limits, then serve the grader."""
    global lockdown, wire, worker
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    if settings["isolated"]:
        import lockdown
    if settings["become_nobody"]:
        lockdown.become_nobody()
    import wire
    import worker

    sys.path[:] = [path for path in sys.path if path != _FOLDER] + settings["library"]
    for module, names in settings["preload"]:
        # A module that cannot be loaded here fails again in the student's cell, which says why.
        with contextlib.suppress(Exception):
            __import__(module, fromlist=names)
    connection = wire.Connection(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    if settings["isolated"]:
        os.chdir(settings["home"])
        lockdown.limit_process(settings["memory_mib"], int(settings["total_seconds"]) + 1)
        lockdown.filter_system_calls()
    else:
        limit_unisolated(settings["memory_mib"], settings["total_seconds"])
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):  # from here on nothing of the student's goes to the grader's pipes
        os.dup2(nowhere, handle)
    os.close(nowhere)
    worker.serve_requests(connection)


def limit_unisolated(memory_mib: int, seconds: float) -> None:
    """Set limits without a sandbox. The program ends even if its grader was killed.

    Addresses are not limited: libraries for a GPU reserve many gigabytes, and use none of them.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        import resource

        max_bytes = memory_mib * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, max_bytes))


if __name__ == "__main__":
    run_worker()
