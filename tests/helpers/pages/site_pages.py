"""What `make site` leaves, for the slow tests that look at these pages."""

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from filelock import FileLock

from autograde.course import BUILD, ROOT


@cache
def built_site() -> Path:
    """The folder of the site, made anew where something has changed.

    Of the workers of a test run one makes it: another look at a page that is being written would
    find it without its styles.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"{os.getpid()}")
    made = Path(tempfile.gettempdir(), f"specdec-site-{run}")
    with FileLock(f"{made}.lock"):
        if not made.exists():
            # In a process of its own: a test with a browser has a loop already.
            subprocess.run([sys.executable, "-m", "autograde.tools.site"], cwd=ROOT, check=True)
            made.touch()
    return BUILD / "site"
