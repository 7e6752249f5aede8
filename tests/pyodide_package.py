"""Pyodide's npm package, fetched once into build/, for the test of the page "Try it here"."""

import shutil
import subprocess
import tarfile
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
    if shutil.which("npm") is None:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["npm", "pack", f"pyodide@{VERSION}"], cwd=folder, capture_output=True)
    archives = list(folder.glob("*.tgz"))
    if done.returncode or not archives:
        return False
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    return True
