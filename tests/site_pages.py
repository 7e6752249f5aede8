"""The site as `make site` makes it, for the slow tests that look at its pages."""

import subprocess
import sys
from functools import cache
from pathlib import Path

from autograde.paths import BUILD, ROOT


@cache
def made_site() -> Path:
    """The folder of the site, made anew where something has changed."""
    command = [sys.executable, "-m", "autograde.site"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILD / "site"
