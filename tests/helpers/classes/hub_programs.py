"""What a JupyterHub with real accounts needs of a machine, and whether this one has it."""

import os
import shutil
import sys
from pathlib import Path

from autograde.course import ROOT

PROGRAMS = ("useradd", "runuser", "git", "jupyterhub", "configurable-http-proxy")
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def why_no_hub() -> str | None:
    """Why there can be no hub here; None if there can."""
    if sys.platform != "linux" or os.getuid() != 0:
        return "accounts are made by root, on Linux"
    if missing := [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]:
        return f"there is no {', '.join(missing)}"
    folders = (*Path(sys.executable).resolve().parents, *ROOT.parents)
    if not all(folder.stat().st_mode & 0o005 == 0o005 for folder in folders):
        return "other accounts cannot read this Python, or this repository"
    return None
