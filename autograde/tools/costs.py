"""`python -m autograde.tools.costs COMMAND ...`: its CPU seconds and wall seconds, as JSON.

CPU seconds are those of all processes of the command. A sandbox does not wait for all that it has
started, and CPU time counts only if somebody waits: this process, made for the command alone,
inherits whatever is left, and waits.
"""

import contextlib
import ctypes
import json
import os
import resource
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def main(command: list[str]) -> int:
    """Run the command without its output; returns its exit code."""
    if sys.platform == "linux":  # make this process the parent of all orphans below it
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    process.wait()
    wall = time.monotonic() - start
    with contextlib.suppress(ChildProcessError):  # raised when none is left
        while True:
            os.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps([usage.ru_utime + usage.ru_stime, wall]))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
