"""The fork server: loads what answers need, once, and then gives every submission a copy of itself.

It is started by exec and has nothing of the grader's in its memory. It never runs a student's
code, and reads from nobody but the grader: a child gets a link of its own to the grader and closes
everything else. Started without forking, it is itself the one worker.
"""

import contextlib
import json
import os
import socket
import sys

# Python's isolated mode leaves the program's own folder out of the path; `load` takes it off again.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import rootfs  # noqa: E402
import sandbox  # noqa: E402

NOBODY = 65534


def main() -> None:
    """Read the settings from argv, enter the outer sandbox, load, then fork for every request."""
    settings = json.loads(sys.argv[1])
    sys.argv = [""]
    if settings["makes_rootfs"]:
        rootfs.enter(settings["rootfs"], settings["become_nobody"], settings["proc"])
        sys.path[sys.path.index(HERE)] = settings["rootfs"]["inside"]
    if settings["become_nobody"]:
        become_nobody()
    if settings["forks"]:
        sandbox.enter_server_namespaces(settings["proc"])
    load(settings)
    silence()
    control = socket.socket(fileno=settings["control"])
    if settings["forks"]:
        serve(control, settings)
    else:
        work(control, settings)


def become_nobody() -> None:
    """Root gives itself up: the kernel holds limits against every user but root."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def load(settings: dict) -> None:
    """Import the worker and the modules of `preload`."""
    import gc

    import loading

    global wire, worker
    worker = loading.load(settings, HERE)
    wire = worker.wire
    gc.collect()
    gc.freeze()  # a collection in a child would otherwise copy every page of this one


def silence() -> None:
    """Send stdout and stderr nowhere: only errors of the start are for the grader."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nowhere, handle)
    os.close(nowhere)


def serve(control: socket.socket, settings: dict) -> None:
    """One child for each request, until the grader closes its end or has ended."""
    home = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=settings["proc"])
    while True:
        data, handles, _, _ = socket.recv_fds(control, 2**16, 1)
        if not data:
            return
        reap()
        try:
            child = sandbox.fork(home)
        except OSError as error:
            control.send(json.dumps({"failed": str(error)}).encode())
        else:
            if child == 0:
                be_child(handles[0], settings)
            # The handle is all that the grader needs to end the child, and allows nothing else.
            child_handle = os.pidfd_open(child)
            socket.send_fds(control, [b'{"started": true}'], [child_handle])
            os.close(child_handle)
        os.close(handles[0])


def reap() -> None:
    """Collect the exit status of the children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def be_child(handle: int, settings: dict) -> None:
    """Be a student's process, with the link at `handle` as the one open file, and end."""
    try:
        sandbox.close_all_but(handle, settings["proc"])
        work(socket.socket(fileno=handle), settings)
    finally:
        os._exit(0)


def work(link: socket.socket, settings: dict) -> None:
    """Set up the sandbox, then answer the grader's requests."""
    with contextlib.suppress(PermissionError):  # it leads a session already
        os.setsid()
    try:
        enter_sandbox(settings)
    except (OSError, ValueError) as error:
        wire.send(link, {"failed": str(error)})
        return
    worker.serve_link(link)


def enter_sandbox(settings: dict) -> None:
    """All steps for a child of the server; without namespaces for a lone worker.

    A worker without isolation has limits only.
    """
    if settings["forks"]:
        sandbox.enter_namespaces(settings["proc"], settings["rootfs"]["scratch"])
        os.close(settings["proc"])
    os.chdir(settings["home"])
    threads = settings["threads"] if settings["forks"] else None
    sandbox.limit(settings["memory_mib"], settings["cpu_seconds"], threads)
    if settings["isolated"]:
        sandbox.lock_down(settings["rootfs"])


if __name__ == "__main__":
    main()
