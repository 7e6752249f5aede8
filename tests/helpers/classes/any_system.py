"""Python as it is where there is no Linux: what only some systems have is missing, or raises."""

import sys
from pathlib import Path

ONLY_LINUX = """
import os, select, socket, sys, time
FUNCTIONS = {
    os: "fork forkpty setsid setresuid unshare setns memfd_create pidfd_open sysconf",
    socket: "send_fds recv_fds",
    time: "clock_gettime",
}
def no(name):
    def raises(*args, **kwargs):
        raise AssertionError(f"{name} is not there on every system")
    return raises
for module, names in FUNCTIONS.items():
    for name in names.split():
        if hasattr(module, name):
            setattr(module, name, no(f"{module.__name__}.{name}"))
del select.poll, select.epoll
import asyncio, ctypes, multiprocessing.connection
del os.O_DIRECTORY, os.O_NOFOLLOW, os.O_NONBLOCK, os.killpg, socket.AF_UNIX
sys.modules["resource"] = None
def watch(event, args):
    if event == "open" and str(args[0]).startswith(("/dev/shm", "/proc/self", "/proc/sys")):
        raise AssertionError(f"{args[0]} is not there on every system")
    if event == "ctypes.dlopen" and not args[0]:
        raise AssertionError("there is not one C library on every system")
sys.addaudithook(watch)
"""
_PROGRAM = """{block}
import runpy
sys.path[0] = {folder!r}
runpy.run_path({program!r}, run_name="__main__")
"""
_COMMAND = """{block}
os.environ["AUTOGRADE_ROOT"] = {root!r}
from dataclasses import replace
from autograde.grading import grade
from autograde.sandbox import workers
workers.WORKER_PROGRAM = {program!r}
material_of = grade.material_of
def hurried(chapter):
    material = material_of(chapter)
    return replace(material, limits=replace(material.limits, extra_cell_seconds={seconds}))
grade.material_of = hurried
from autograde.selfstudy.__main__ import run_mark
sys.exit(run_mark(sys.argv[1:]))
"""


def command(folder: Path, *arguments: object, seconds: float) -> list[str]:
    """The command line of `specdec mark`'s grader there; its programs lie in `folder`.

    A cell of one's own has so many `seconds`.
    """
    from autograde.course import ROOT
    from autograde.sandbox import workers

    worker, start = folder / "worker.py", workers.WORKER_PROGRAM
    texts = {"block": ONLY_LINUX, "folder": str(start.parent), "program": str(start)}
    worker.write_text(_PROGRAM.format(**texts))
    grader = folder / "grader.py"
    values = {"block": ONLY_LINUX, "root": str(ROOT), "program": str(worker), "seconds": seconds}
    grader.write_text(_COMMAND.format(**values))
    return [sys.executable, "-X", "utf8", str(grader), *map(str, arguments)]
