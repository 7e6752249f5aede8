"""Pyodide's npm package, fetched once into build/, for the test of the page "Try it here"."""

import contextlib
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from autograde.paths import BUILD

VERSION = "314.0.7"  # as in docs/_static/try-worker.mjs


@cache
def package() -> Path | None:
    """The folder of the package; None where it is not there and npm cannot fetch it."""
    folder = BUILD / f"pyodide-{VERSION}"
    if not (folder / "package" / "pyodide.mjs").exists() and not _fetch(folder):
        return None
    return folder / "package"


def _fetch(folder: Path) -> bool:
    """Fetch it aside and put it in place whole: another test process may be doing the same."""
    if shutil.which("npm") is None:
        return False
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as aside:
        command = ["npm", "pack", f"pyodide@{VERSION}"]
        done = subprocess.run(command, cwd=aside, capture_output=True)
        archives = list(Path(aside).glob("*.tgz"))
        if done.returncode or not archives:
            return False
        with tarfile.open(archives[0]) as archive:
            archive.extractall(Path(aside, "whole"), filter="data")
        with contextlib.suppress(OSError):  # the other process was first
            Path(aside, "whole").rename(folder)
    return True
