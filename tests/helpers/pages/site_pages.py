"""What `make site` leaves, for the slow tests that look at these pages."""

import subprocess
import sys
from functools import cache
from pathlib import Path

from autograde.chapter import BUILD, ROOT


def _run(*module: str) -> None:
    """Run one of our modules. In a process of its own: a test with a browser has a loop already."""
    command = [sys.executable, "-m", *module]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@cache
def made_site() -> Path:
    """The folder of the site, made anew where something has changed."""
    _run("autograde.tools.site")
    return BUILD / "site"
