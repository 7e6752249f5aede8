"""A worker in a container of docker or podman, for where namespaces are refused."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile

from autograde.sandbox import outer, workers
from autograde.sandbox.workers import Cold, FenceError, Kind

ENGINES = ("podman", "docker")


class Contained(Cold):
    """A worker in a container, which is ended by its name."""

    def __init__(self, command: list[str], engine: str, name: str) -> None:
        super().__init__(command, [], None)
        self.engine, self.name = engine, name

    def end(self) -> None:
        """Kill the container, then its client."""
        subprocess.run([self.engine, "kill", self.name], capture_output=True, timeout=30)
        super().end()


def contained(kind: Kind) -> tuple[socket.socket, Contained]:
    """The link to a worker in a new container, and the worker. Raises FenceError."""
    engine = running_engine()
    if engine is None:
        raise FenceError("neither podman nor docker answers")
    name = f"specdec-{secrets.token_hex(8)}"
    folder = tempfile.mkdtemp(prefix="specdec-link-")
    settings = workers.settings_of(kind, True, workers.COLD_LAYERS)
    command = outer.container(settings, engine, folder, name)
    try:
        with named_socket(folder) as listener:
            worker = Contained(command, engine, name)
            return accepted(listener, worker), worker
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def named_socket(folder: str) -> socket.socket:
    """A listening socket in `folder` that the container's user may connect to."""
    os.chmod(folder, 0o755)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/worker")
    os.chmod(f"{folder}/worker", 0o666)
    listener.listen(1)
    listener.settimeout(workers.START_SECONDS)
    return listener


def accepted(listener: socket.socket, worker: Cold) -> socket.socket:
    """The worker's own connection. Raises FenceError where it does not come."""
    try:
        link, _ = listener.accept()
    except OSError:
        worker.end()
        raise FenceError("the container did not start in time") from None
    return link


def running_engine() -> str | None:
    """The container engine of this machine that answers, if there is one."""
    for name in filter(shutil.which, ENGINES):
        if subprocess.run([name, "info"], capture_output=True, timeout=20).returncode == 0:
            return name
    return None
