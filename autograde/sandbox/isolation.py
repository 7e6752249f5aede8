"""How a worker is isolated: by bubblewrap, a new sandbox for each submission, or not at all.

The process sees the interpreter, the installed packages without `autograde`, the course's library
and the programs of `inside/`, all read-only. It sees no home folder, nothing else of the
repository, no network, and of /proc only the description of the processor. With
`$SPECDEC_ISOLATION` set to `none` there is no sandbox, on any system.
"""

import os
import shutil
import site
import sys
import sysconfig
from functools import cache
from pathlib import Path

from autograde.course import UsageError, library_folders

PROGRAM = Path(__file__).parent / "inside"
INSIDE = "/specdec-worker"
SCRATCH = "/tmp"
LIBRARY_FOLDER = "/specdec-library"  # holds the package of the library, and nothing beside it
SHARED_MEMORY = "/dev/shm"  # the C library keeps named semaphores there
SCRATCH_MIB = 64
SHARED_MEMORY_MIB = 16
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
FILES = ("/etc/ld.so.cache", "/usr/share/zoneinfo", "/nix/store")
# torch detects the processor's features here. Without these files it uses the oldest instructions:
# slower, and with other last bits than the grader's, so that no known bug would match.
PROCESSOR = [f"/sys/devices/system/cpu/{name}" for name in ("kernel_max", "possible", "present")]
PROCESSOR += ["/sys/devices/system/cpu/online", "/proc/cpuinfo"]
NO_BUBBLEWRAP = "bubblewrap is not installed (on Linux: sudo apt install bubblewrap)"
# One thread: as many submissions are graded at once as there are processors.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "MPLBACKEND": "Agg"} | ONE_THREAD
ENVIRONMENT |= dict.fromkeys(("HOME", "TMPDIR", "MPLCONFIGDIR"), SCRATCH)


def find_bubblewrap() -> str | None:
    """bubblewrap's program on the system's path, which no setting of the account can change."""
    return shutil.which("bwrap", path=os.defpath)


def bwrap_command(settings: str) -> list[str]:
    """The command that runs `inside/start.py` with its settings in bubblewrap."""
    namespaces = "--unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try"
    # Root keeps its privileges until it has opened its files, and then becomes nobody. bubblewrap's
    # own process stays root beside it; with another account there is no process to send signals to.
    root = "--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID"
    account = root if is_root() else "--cap-drop ALL --unshare-user --as-pid-1"
    options = f"{namespaces} {account} --clearenv --new-session --die-with-parent".split()
    for name, value in ENVIRONMENT.items():
        options += ["--setenv", name, value]
    program = [sys.executable, "-I", "-B", f"{INSIDE}/start.py", settings]
    return [str(find_bubblewrap()), *options, *mounts(), "--remount-ro", "/", "--", *program]


def is_root() -> bool:
    """Whether a worker has to become nobody."""
    return os.geteuid() == 0


@cache
def mounts() -> list[str]:
    """The mounts as bubblewrap's options, in the order in which it carries them out.

    Every path but the library's is the same inside and outside.
    """
    devices = list(filter(os.path.exists, DEVICES))
    binds = {path: path for path in _binds()}
    binds |= {f"{LIBRARY_FOLDER}/{folder.name}": str(folder) for folder in library_folders()}
    options = ["--chmod", "0111", "/", *_scratch(SCRATCH, SCRATCH_MIB)]
    for path in _folders_above([*binds, *devices]):
        # Folders can be entered, not listed; an import has to list the library's.
        options += ["--perms", "0755" if path == LIBRARY_FOLDER else "0111", "--dir", path]
    for inside, outside in [*binds.items(), (INSIDE, str(PROGRAM))]:
        options += ["--ro-bind", outside, inside]
    for path in filter(os.path.isdir, [f"{folder}/autograde" for folder in _packages()]):
        options += ["--tmpfs", path, "--remount-ro", path]
    for path in devices:
        options += ["--dev-bind", path, path]
    return options + _scratch(SHARED_MEMORY, SHARED_MEMORY_MIB)


def _scratch(path: str, mib: int) -> list[str]:
    """A folder in memory that anybody may write to."""
    return ["--dir", path, "--perms", "1777", "--size", str(mib * 2**20), "--tmpfs", path]


def _binds() -> list[str]:
    """The paths to bind, none of them below another one."""
    candidates = {*SYSTEM, *FILES, *PROCESSOR, *_interpreter(), *_packages()}
    paths = sorted(filter(os.path.exists, candidates))
    return [path for path in paths if not any(path.startswith(f"{other}/") for other in paths)]


def _interpreter() -> list[str]:
    """The interpreter's own folders, under each prefix, and the program files themselves."""
    names = ("bin", "lib", "lib64", "pyvenv.cfg")
    prefixes = {sys.prefix, sys.base_prefix, sys.base_exec_prefix} - {"/usr"}
    folders = [f"{prefix}/{name}" for prefix in prefixes for name in names]
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    program = [sys.executable]
    while os.path.islink(program[-1]):
        program.append(os.path.join(os.path.dirname(program[-1]), os.readlink(program[-1])))
    return [*folders, *standard, *map(os.path.normpath, program)]


def _packages() -> list[str]:
    """The folders of installed packages, except the account's own."""
    return list(filter(os.path.isdir, site.getsitepackages()))


def _folders_above(paths: list[str]) -> list[str]:
    """All parent folders of `paths`, outer ones first."""
    return sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/"})


VARIABLE = "SPECDEC_ISOLATION"
BUBBLEWRAP, NONE = "bubblewrap", "none"
DESCRIPTIONS = {
    BUBBLEWRAP: "bubblewrap, a sandbox for every submission",
    NONE: "none: a student's code runs with the rights of this account",
}
ADVICE = (
    'See "Where there is no isolation" in docs/security.md of the grader\'s repository, or grade '
    "with --unsafe-no-isolation."
)


class NoIsolation(RuntimeError):
    """There is no sandbox here, and --unsafe-no-isolation was not given."""


def disable_isolation() -> None:
    """Run all code with the rights of this account, in this process and in those it starts."""
    os.environ[VARIABLE] = NONE
    mode.cache_clear()


@cache
def mode() -> str:
    """The isolation mode of this process: BUBBLEWRAP or NONE.

    Raises NoIsolation if bubblewrap is not installed, UsageError for an unknown name.
    """
    name = os.environ.get(VARIABLE) or BUBBLEWRAP
    if name not in DESCRIPTIONS:
        raise UsageError(f"{VARIABLE} is {name!r}; it can be {BUBBLEWRAP} or {NONE}")
    if name == BUBBLEWRAP and not find_bubblewrap():
        raise NoIsolation(
            f"students' code cannot be isolated on this machine: {NO_BUBBLEWRAP}\n{ADVICE}"
        )
    return name
