"""The sandbox: the files that a student's process can see, and the command that sets it up.

The process sees the interpreter, the installed packages without `autograde`, the course's library
and the programs of `inside/`, all read-only. It sees no home folder, nothing else of the
repository, no network, and of /proc only what describes the processor.
"""

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograde.chapter import library_folders

PROGRAM = Path(__file__).parent / "inside"
INSIDE = "/specdec-worker"
SCRATCH = "/specdec-scratch"
SHELF = "/specdec-library"  # holds the library by its name, and nothing beside it
SHARED = "/dev/shm"  # the C library keeps named semaphores there
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
FILES = ("/etc/ld.so.cache", "/usr/share/zoneinfo", "/nix/store")
# torch looks the processor up here. Without these files it computes with the oldest instructions:
# more slowly, and with other last bits than the grader, so that no misconception would match.
_CPU = "/sys/devices/system/cpu"
PROCESSOR = (
    "/proc/cpuinfo",
    *(f"{_CPU}/{name}" for name in ("kernel_max", "possible", "present", "online")),
)
NOBODY = 65534
NO_BUBBLEWRAP = "bubblewrap is not installed: sudo apt install bubblewrap"
SCRATCH_MIB, SHARED_MIB = 64, 16
# One thread: as many submissions are graded at once as there are processors.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class RootFs:
    """The mounts of the sandbox's root: every path is the same inside and outside."""

    binds: list[str]  # read-only
    masks: list[str]  # folders below them that are shown empty
    links: list[tuple[str, str]]  # a link and what it points to


@cache
def rootfs() -> RootFs:
    """The mounts for this interpreter and for the course's library."""
    binds, links = _binds_and_links()
    masks = [str(Path(path, "autograde")) for path in _packages()]
    if not any(path.startswith("/tmp/") for path in binds):
        links.append(("/tmp", SCRATCH))
    on_shelf = [(f"{SHELF}/{folder.name}", str(folder)) for folder in library_folders()]
    return RootFs(binds, [path for path in masks if os.path.isdir(path)], links + on_shelf)


def _binds_and_links() -> tuple[list[str], list[tuple[str, str]]]:
    """What to bind, no path below another one; links of the system are made again as links."""
    wanted = [*SYSTEM, *FILES, *PROCESSOR, *_interpreter(), *_packages()]
    wanted += map(str, library_folders())
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
    """A file and, if it is a link, every file on the way to the real one."""
    steps = [path]
    while os.path.islink(steps[-1]):
        steps.append(os.path.join(os.path.dirname(steps[-1]), os.readlink(steps[-1])))
    return [os.path.normpath(step) for step in steps]


def library_path() -> list[str]:
    """Where a process without a sandbox imports the course's library from."""
    return [str(folder.parent) for folder in library_folders()]


@cache
def _packages() -> list[str]:
    """Where packages are, as a fresh interpreter finds them. Its other folders are left out."""
    ask = [sys.executable, "-I", "-c", "import json, sys; print(json.dumps(sys.path))"]
    path = json.loads(subprocess.run(ask, capture_output=True, check=True, text=True).stdout)
    kinds = ("site-packages", "dist-packages")
    folders = {*path, *site.getsitepackages()}
    return sorted(p for p in folders if p.rstrip("/").endswith(kinds) and os.path.isdir(p))


@cache
def is_root() -> bool:
    """Whether this process is a root that can and should become nobody.

    The root of a user namespace that maps nobody else is an ordinary user outside of it.
    """
    if os.geteuid() or not os.path.exists("/proc/self/uid_map"):
        return False
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    ranges = [map(int, line.split()) for line in lines]
    return any(first <= NOBODY < first + count for first, _, count in ranges)


def find_bubblewrap() -> str | None:
    """bubblewrap's program on the system's path, which no setting of the account can change."""
    return shutil.which("bwrap", path=os.defpath)


def bubblewrap(settings: dict) -> list[str]:
    """The command that runs `inside/start.py` in bubblewrap."""
    command = [str(find_bubblewrap()), "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    command += ["--unshare-uts", "--unshare-cgroup-try", "--clearenv", "--new-session"]
    command += ["--die-with-parent"]
    # Root keeps its rights until it has found its files, and then becomes nobody. Bubblewrap's own
    # process stays root beside it; with another account there is none that it could send signals.
    root = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    command += root if is_root() else ["--unshare-user", "--as-pid-1"]
    for name, value in environment(SCRATCH).items():
        command += ["--setenv", name, value]
    command += _mount_options(rootfs())
    program = [sys.executable, "-I", "-B", f"{INSIDE}/start.py", json.dumps(settings)]
    return [*command, "--remount-ro", "/", "--", *program]


def _mount_options(root: RootFs) -> list[str]:
    """The mounts as bubblewrap's options, in the order in which it carries them out."""
    words = ["--chmod", "0111", "/"]
    devices = list(filter(os.path.exists, DEVICES))
    for path in _folders_above(root.binds + devices + [link for link, _ in root.links]):
        # They can be gone through, not listed; an import has to list the shelf.
        words += ["--perms", "0755" if path == SHELF else "0111", "--dir", path]
    for path in root.binds:
        words += ["--ro-bind", path, path]
    words += ["--ro-bind", str(PROGRAM), INSIDE]
    for path in root.masks:
        words += ["--tmpfs", path, "--remount-ro", path]
    for link, target in root.links:
        words += ["--symlink", target, link]
    for path in devices:
        words += ["--dev-bind", path, path]
    for path, mib in ((SCRATCH, SCRATCH_MIB), (SHARED, SHARED_MIB)):
        words += ["--dir", path, "--perms", "1777", "--size", str(mib * 2**20), "--tmpfs", path]
    return words


def _folders_above(paths: list[str]) -> list[str]:
    """Every folder above one of `paths`, each before those below it."""
    return sorted({str(above) for path in paths for above in Path(path).parents} - {"/"})


def environment(scratch: str) -> dict[str, str]:
    """The whole environment of a student's process."""
    return {
        "PATH": os.defpath,
        "HOME": scratch,
        "TMPDIR": scratch,
        "MPLCONFIGDIR": scratch,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
    } | ONE_THREAD
