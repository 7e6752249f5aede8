"""Python as it is where there is no Linux: what only some systems have is missing, or raises."""

import sys
from pathlib import Path

from data_files import table

PROGRAMS = table("any_system.toml")
ONLY_LINUX = PROGRAMS["only_linux"]


def command(folder: Path, *arguments: object, seconds: float) -> list[str]:
    """The command line of `specdec mark`'s grader there; its programs lie in `folder`.

    A cell of one's own has so many `seconds`.
    """
    from autograde.course import ROOT
    from autograde.sandbox import workers

    worker, start = folder / "worker.py", workers.WORKER_PROGRAM
    texts = {"block": ONLY_LINUX, "folder": str(start.parent), "program": str(start)}
    worker.write_text(PROGRAMS["program"].format(**texts))
    grader = folder / "grader.py"
    values = {"block": ONLY_LINUX, "root": str(ROOT), "program": str(worker), "seconds": seconds}
    grader.write_text(PROGRAMS["command"].format(**values))
    return [sys.executable, "-X", "utf8", str(grader), *map(str, arguments)]
