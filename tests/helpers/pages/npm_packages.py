"""axe-core, the one package of npm that tests need, fetched once into build/."""

import contextlib
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path

import pytest

from autograde.chapter import BUILD

AXE = "4.14.1"


@cache
def _package(name: str, version: str) -> Path | None:
    """The folder of the package; None where it is not there and npm cannot fetch it."""
    folder = BUILD / f"{name}-{version}"
    if not (folder / "package" / "package.json").exists() and not _fetch(name, version, folder):
        return None
    return folder / "package"


def package(name: str, version: str) -> Path:
    """The folder of the package; the test that asks is skipped where npm cannot fetch it.

    Asked for in a test and not as a file is collected: collecting tests fetches nothing.
    """
    folder = _package(name, version)
    if folder is None:
        pytest.skip(f"npm cannot fetch the package {name}")
    return folder


def _fetch(name: str, version: str, folder: Path) -> bool:
    """Fetch it aside and put it in place whole: another test process may be doing the same."""
    if shutil.which("npm") is None:
        return False
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as aside:
        command = ["npm", "pack", f"{name}@{version}"]
        done = subprocess.run(command, cwd=aside, capture_output=True)
        archives = list(Path(aside).glob("*.tgz"))
        if done.returncode or not archives:
            return False
        with tarfile.open(archives[0]) as archive:
            # Python 3.11 before 3.11.4, as in Debian 12, knows no filters.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(Path(aside, "whole"))
        with contextlib.suppress(OSError):  # the other process was first
            Path(aside, "whole").rename(folder)
    return True
