"""The program of a student's process: loads what answers need, gives up its rights, then answers.

It is started by exec and has nothing of the grader's in its memory. Requests come through its
stdin and answers go through its stdout; the student's code finds neither there.
"""

import contextlib
import faulthandler
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)  # Python's isolated mode leaves it out


def main() -> None:
    """Read the settings from argv, load, take the limits, then answer the grader's requests."""
    global lockdown, wire, worker
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    if settings["isolated"]:
        import lockdown
    if settings["become_nobody"]:
        lockdown.become_nobody()
    import wire
    import worker

    sys.path[:] = [path for path in sys.path if path != HERE] + settings["library"]
    for module, names in settings["preload"]:
        # A module that cannot be loaded here fails again in the student's cell, which says why.
        with contextlib.suppress(Exception):
            __import__(module, fromlist=names)
    link = wire.Link(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    if settings["isolated"]:
        os.chdir(settings["home"])
        lockdown.limit(settings["memory_mib"], int(settings["total_seconds"]) + 1)
        lockdown.filter_system_calls()
    else:
        limit(settings["memory_mib"], settings["total_seconds"])
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):  # what the start had to say of its errors was for the grader
        os.dup2(nowhere, handle)
    os.close(nowhere)
    worker.serve(link)


def limit(memory_mib: int, seconds: float) -> None:
    """Limits without a sandbox. A program whose grader was killed ends by itself, on any system.

    Addresses are not limited: libraries for a GPU reserve many gigabytes, and use none of them.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        import resource

        most = memory_mib * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


if __name__ == "__main__":
    main()
