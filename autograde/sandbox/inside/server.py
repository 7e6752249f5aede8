"""The fork server: loads what answers need, once, and then gives every submission a copy of itself.

It is started by exec and has nothing of the grader's in its memory. It never runs a student's
code, and reads from nobody but the grader: a child is given its own link to the grader and closes
everything else.
"""

import contextlib
import importlib
import json
import os
import socket
import sys

# Python's isolated mode leaves the program's own folder out of the path; it is taken off again,
# so that a student's `import cells` finds nothing.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import inner  # noqa: E402
import kernel  # noqa: E402
import room  # noqa: E402

NOBODY = 65534


def main() -> None:
    """Read the settings from argv, enter the room, load, then fork for every request."""
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    if settings["room"] is not None:
        room.enter(settings["room"], settings["become_nobody"])
        sys.path[sys.path.index(HERE)] = settings["room"]["inside"]
    if settings["become_nobody"]:
        become_nobody()
    if not settings["cold"]:
        inner.settle(settings["proc"])
    elif settings["room"] is not None:
        kernel.die_with_parent()  # the command outside; a change of user would undo it
    load(settings)
    silence()
    if settings["cold"]:
        work(link_of(settings), settings)
    else:
        serve(socket.socket(fileno=settings["control"]), settings)


def become_nobody() -> None:
    """Root gives itself up: the kernel holds limits against every user but root."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def load(settings: dict) -> None:
    """Import the worker and the modules of `preload`, with the exercises' answers closed."""
    import gc

    importlib.invalidate_caches()
    sys.path += [folder for folder in settings["libraries"] if folder not in sys.path]
    import closing
    import worker

    sys.path.remove(os.path.dirname(worker.__file__))
    closing.close(settings["own_work"])
    for module, names in settings["preload"]:
        # What cannot be loaded, as a module that uses a closed function, fails in the cell itself.
        with contextlib.suppress(Exception):
            __import__(module, fromlist=names)
    gc.collect()
    gc.freeze()  # a collection in a child would otherwise copy every page of this one


def silence() -> None:
    """Errors of the start were told to the grader; a student's output goes nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def link_of(settings: dict) -> socket.socket:
    """The link to the grader: inherited, or in a container a named socket to connect to."""
    if settings["connect"] is None:
        return socket.socket(fileno=settings["control"])
    link = socket.socket(socket.AF_UNIX)
    link.connect(settings["connect"])
    return link


def serve(control: socket.socket, settings: dict) -> None:
    """One child for each request, until the grader closes its end or is gone."""
    home = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=settings["proc"])
    send(control, {"ready": True})
    while True:
        data, handles, _, _ = socket.recv_fds(control, 2**16, 1)
        if not data:
            return
        reap()
        try:
            child = inner.fork(settings["layers"], home)
        except OSError as error:
            send(control, {"failed": str(error)})
        else:
            if child == 0:
                be_child(handles[0], settings)
            announce(control, child)
        os.close(handles[0])


def reap() -> None:
    """Let go of the children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def be_child(handle: int, settings: dict) -> None:
    """Be a student's process, with the link at `handle` as the one open file, and end."""
    try:
        inner.close_all_but(handle, settings["proc"])
        link = socket.socket(fileno=handle)
        work(link, settings)
    finally:
        os._exit(0)


def announce(control: socket.socket, child: int) -> None:
    """Hand the grader a handle on the child, by which it can be ended and nothing else."""
    handle = os.pidfd_open(child)
    socket.send_fds(control, [b'{"started": true}'], [handle])
    os.close(handle)


def work(link: socket.socket, settings: dict) -> None:
    """Put up the inner fence, then answer the grader's requests."""
    import wire
    import worker

    with contextlib.suppress(PermissionError):  # it leads a session already
        os.setsid()
    try:
        if not settings["cold"]:
            inner.divide(settings["layers"], settings["proc"])
            os.close(settings["proc"])
        inner.confine(settings["layers"], settings)
    except (OSError, ValueError) as error:
        wire.send(link, {"failed": str(error)})
        return
    worker.serve_link(link)


def send(control: socket.socket, message: dict) -> None:
    """One message to the grader."""
    control.send(json.dumps(message).encode())


if __name__ == "__main__":
    main()
