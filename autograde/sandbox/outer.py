"""The outer fence: what a student's process can see at all, and the command that puts it there.

Only the interpreter, its packages less `autograde`, the library and the programs of `inside/` are
bound, read-only. There is no home, no repository, no /proc, no network.
"""

import json
import os
import site
import subprocess
import sys
import sysconfig
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from autograde.chapter import library_folders

PROGRAM = Path(__file__).parent / "inside"
INSIDE = "/specdec-worker"
SCRATCH = "/specdec-scratch"
SHARED = "/dev/shm"  # the C library keeps named semaphores there
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
FILES = ("/etc/ld.so.cache", "/usr/share/zoneinfo", "/nix/store")
# torch looks the processor up here. Without, it computes with the oldest instructions: slower, and
# in other last bits than the grader, so that no misconception would be recognised.
PROCESSOR = (
    "/proc/cpuinfo",
    *(
        f"/sys/devices/system/cpu/{name}"
        for name in ("kernel_max", "possible", "present", "online")
    ),
)
NOBODY = 65534
SCRATCH_MIB, SHARED_MIB = 64, 16


@dataclass(frozen=True)
class Plan:
    """The room's furniture, as `inside/room.py` reads it. Paths are the same inside and outside."""

    binds: list[str]  # read-only
    masks: list[str]  # folders below them that are shown empty
    links: list[tuple[str, str]]  # a link and what it points to
    program: str = str(PROGRAM)
    inside: str = INSIDE
    devices: list[str] = field(default_factory=lambda: list(filter(os.path.exists, DEVICES)))
    folders: list[str] = field(default_factory=lambda: [SCRATCH, SHARED])
    scratch: tuple[tuple[str, int], ...] = ((SCRATCH, SCRATCH_MIB), (SHARED, SHARED_MIB))

    @property
    def readable(self) -> list[str]:
        """What landlock lets be read: all that is bound."""
        return [*self.binds, self.inside]

    @property
    def writable(self) -> list[str]:
        """What landlock lets be written."""
        return [*self.folders, *self.devices]


@cache
def plan() -> Plan:
    """The plan for this interpreter."""
    binds, links = _places()
    masks = [str(Path(path, "autograde")) for path in _packages()]
    if not any(path.startswith("/tmp/") for path in binds):
        links.append(("/tmp", SCRATCH))
    return Plan(binds, [path for path in masks if os.path.isdir(path)], links)


def _places() -> tuple[list[str], list[tuple[str, str]]]:
    """What to bind, no path below another one; links of the system are made again as links."""
    wanted = [
        *SYSTEM,
        *FILES,
        *PROCESSOR,
        *_interpreter(),
        *_packages(),
        *map(str, library_folders()),
    ]
    links = [(p, os.readlink(p)) for p in SYSTEM if os.path.islink(p)]
    linked = {link for link, _ in links}
    real = sorted({p for p in wanted if os.path.exists(p) and p not in linked})
    return [p for p in real if not any(p.startswith(q + "/") for q in real)], links


def _interpreter() -> list[str]:
    """The interpreter's own folders, under each prefix, and the program files themselves."""
    names = ("bin", "lib", "lib64", "pyvenv.cfg")
    own = [p for p in {sys.prefix, sys.base_prefix, sys.base_exec_prefix} if p != "/usr"]
    folders = [str(Path(p, name)) for p in own for name in names]
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    return [*folders, *standard, *_links_to(sys.executable)]


def _links_to(path: str) -> list[str]:
    """A file and, where it is a link, every file on the way to the real one."""
    steps = [path]
    while os.path.islink(steps[-1]):
        steps.append(os.path.join(os.path.dirname(steps[-1]), os.readlink(steps[-1])))
    return [os.path.normpath(step) for step in steps]


@cache
def _packages() -> list[str]:
    """Where packages are, as a fresh interpreter finds them. Other folders of the path are left."""
    ask = [sys.executable, "-I", "-c", "import json, sys; print(json.dumps(sys.path))"]
    path = json.loads(subprocess.run(ask, capture_output=True, check=True, text=True).stdout)
    found = {*path, *site.getsitepackages()}
    kinds = ("site-packages", "dist-packages")
    return sorted(p for p in found if p.rstrip("/").endswith(kinds) and os.path.isdir(p))


@cache
def is_root() -> bool:
    """Whether this is a root that can and should become nobody.

    Root of a user namespace that maps nobody else is an ordinary user in another's eyes.
    """
    if os.geteuid() or not os.path.exists("/proc/self/uid_map"):
        return False
    ranges = [
        map(int, line.split()) for line in Path("/proc/self/uid_map").read_text().splitlines()
    ]
    return any(first <= NOBODY < first + count for first, _, count in ranges)


def bubblewrap(settings: dict, handles: list[int]) -> list[str]:
    """The command that runs the server in bubblewrap; `handles` are open files it inherits."""
    command = ["bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--clearenv", "--new-session"]
    # A fork server ends when its socket closes; a lone worker has to be ended with its command.
    command += ["--die-with-parent"] if settings["cold"] else []
    # Root keeps itself until it has found its files, and then becomes nobody.
    root = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    command += root if is_root() else ["--unshare-user"]
    for name, value in environment(SCRATCH).items():
        command += ["--setenv", name, value]
    return [*command, *_furniture(plan()), "--remount-ro", "/", "--", *program(settings, INSIDE)]


def _furniture(room: Plan) -> list[str]:
    """The plan in bubblewrap's words, in the order in which it is to be carried out."""
    words = []
    for path in _ways_to(room.binds + room.devices):  # else as closed as they are outside
        words += ["--perms", "0755", "--dir", path]
    for path in room.binds:
        words += ["--ro-bind", path, path]
    words += ["--ro-bind", room.program, room.inside]
    for path in room.masks:
        words += ["--tmpfs", path, "--remount-ro", path]
    for link, target in room.links:
        words += ["--symlink", target, link]
    for path in room.devices:
        words += ["--dev-bind", path, path]
    for path in room.folders:
        words += ["--dir", path]
    for path, mib in room.scratch:
        words += ["--perms", "1777", "--size", str(mib * 2**20), "--tmpfs", path]
    return words


def _ways_to(paths: list[str]) -> list[str]:
    """Every folder above one of `paths`, those above others first."""
    return sorted({str(above) for path in paths for above in Path(path).parents} - {"/"})


def namespaces(settings: dict, handles: list[int]) -> list[str]:
    """The command that runs the server, which then makes its own room."""
    return program(settings | {"room": asdict(plan())}, str(PROGRAM))


def container(settings: dict, engine: str, socket_folder: str, name: str) -> list[str]:
    """The command that runs one worker in a container of docker or podman.

    A container inherits no open file, so the worker connects to a socket in `socket_folder`.
    The image is only a root to bind into: `$SPECDEC_IMAGE`, by default debian:stable-slim.
    """
    room = plan()
    command = [engine, "run", "--rm", "--name", name, "--network", "none", "--read-only"]
    command += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--ipc", "private"]
    command += ["--pids-limit", "128", "--memory", f"{settings['memory_mib'] + 256}m"]
    command += ["--user", f"{os.getuid() or 65534}:{os.getgid() or 65534}"]
    command += ["--userns", "keep-id"] if engine == "podman" and os.getuid() else []
    binds = [(p, p) for p in room.binds if p not in SYSTEM[:3]]
    for source, target in [*binds, (room.program, room.inside), (socket_folder, "/specdec-link")]:
        command += ["--volume", f"{source}:{target}:ro"]
    for path in room.masks:
        command += ["--tmpfs", f"{path}:ro,size=4k"]
    for path, mib in room.scratch:
        command += ["--tmpfs", f"{path}:rw,mode=1777,size={mib}m"]
    for variable, value in environment(SCRATCH).items():
        command += ["--env", f"{variable}={value}"]
    image = os.environ.get("SPECDEC_IMAGE", "debian:stable-slim")
    connect = {"connect": "/specdec-link/worker", "become_nobody": False}
    return [*command, image, *program(settings | connect, INSIDE)]


def program(settings: dict, folder: str) -> list[str]:
    """The server's own command line."""
    return [sys.executable, "-I", "-B", f"{folder}/server.py", json.dumps(settings)]


def environment(scratch: str) -> dict[str, str]:
    """All that the server's environment holds. One thread: a fork keeps no other."""
    return {
        "PATH": os.defpath,
        "HOME": scratch,
        "TMPDIR": scratch,
        "MPLCONFIGDIR": scratch,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
