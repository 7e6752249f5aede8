"""What `make site` leaves, for the slow tests that look at these pages."""

import subprocess
import sys
from functools import cache
from pathlib import Path

from autograde.chapter import BUILD, ROOT


@cache
def made_site() -> Path:
    """The folder of the site, made anew where something has changed."""
    # In a process of its own: a test with a browser has a loop already.
    subprocess.run([sys.executable, "-m", "autograde.tools.site"], cwd=ROOT, check=True)
    return BUILD / "site"
