"""The fork server: loads what answers need, once, and then gives every submission a copy of itself.

It is started by exec and has nothing of the grader's in its memory. It never runs a student's
code, and reads from nobody but the grader: a child is given its own link and nothing else. What a
child is started with comes from the grader; that it has started is told by the process between,
which runs no code of a student's either.
"""

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
import room  # noqa: E402

NOBODY = 65534


def main() -> None:
    """Read the settings from argv, enter the room, load, then fork for every request."""
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    if settings["room"] is not None:
        room.enter(settings["room"])
        sys.path[sys.path.index(HERE)] = settings["room"]["inside"]
    if settings["become_nobody"]:
        become_nobody()
    load(settings)
    silence()
    if settings["cold"]:
        work(link_of(settings), settings["layers"], settings)
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
    if settings["library"] not in sys.path:
        sys.path.append(settings["library"])
    import closing
    import worker

    sys.path.remove(os.path.dirname(worker.__file__))
    closing.close(settings["own_work"])
    for name in settings["preload"]:
        importlib.import_module(name)
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
    send(control, {"ready": True})
    while True:
        data, handles, _, _ = socket.recv_fds(control, 2**16, 1)
        if not data:
            return
        child = os.fork()
        if child == 0:
            start(control, handles[0], settings | json.loads(data))
        os.close(handles[0])
        _, status = os.waitpid(child, 0)
        if status:
            send(control, {"failed": f"the process between ended with status {status}"})
        reap()


def reap() -> None:
    """Children of the processes between fall to the first process of the room, which may be us."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def start(control: socket.socket, handle: int, settings: dict) -> None:
    """In the process between: divide, tell the grader of the child, and be the child."""
    try:
        inner.divide(settings["layers"], settings["proc"], lambda child: announce(control, child))
    except OSError as error:
        send(control, {"failed": str(error)})
        os._exit(0)
    try:
        inner.close_all_but(handle)
        work(socket.socket(fileno=handle), settings["layers"], settings)
    finally:
        os._exit(0)


def announce(control: socket.socket, child: int) -> None:
    """Hand the grader a handle on the child, by which it can be ended and nothing else."""
    handle = os.pidfd_open(child)
    socket.send_fds(control, [b'{"started": true}'], [handle])


def work(link: socket.socket, layers: list[str], settings: dict) -> None:
    """Be a student's process from here on."""
    import wire
    import worker

    try:
        os.setsid()
    except PermissionError:
        pass  # it leads one already
    try:
        inner.confine(layers, settings)
    except (OSError, ValueError) as error:
        wire.send(link, {"failed": str(error)})
        return
    worker.serve_link(link)


def send(control: socket.socket, message: dict) -> None:
    """One message to the grader."""
    control.send(json.dumps(message).encode())


if __name__ == "__main__":
    main()
