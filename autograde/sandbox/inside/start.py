"""The program of a student's process: loads what answers need, gives up its rights, then answers.

It is started by exec and has nothing of the grader's in its memory.
"""

import json
import os
import socket
import sys

# Python's isolated mode leaves the program's own folder out of the path; `load` takes it off again.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import loading  # noqa: E402
import sandbox  # noqa: E402


def main() -> None:
    """Read the settings from argv, load, enter the sandbox, then answer the grader's requests."""
    global wire, worker
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    if settings["become_nobody"]:
        sandbox.become_nobody()
    worker = loading.load(settings)
    wire = worker.wire
    silence()
    link = socket.socket(fileno=settings["link"])
    try:
        os.chdir(settings["home"])
        sandbox.limit(settings["memory_mib"], settings["cpu_seconds"])
        sandbox.lock_down()
    except (OSError, ValueError) as error:
        wire.send(link, {"failed": str(error)})
        return
    worker.serve_link(link)


def silence() -> None:
    """Send stdout and stderr nowhere: only errors of the start are for the grader."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nowhere, handle)
    os.close(nowhere)


if __name__ == "__main__":
    main()
