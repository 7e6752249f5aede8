"""What Colab needs in a chapter: a link below the title, and a cell that installs the course.

Both know the repository's address from `[project.urls]` in pyproject.toml, `Repository`. Without an
address there is no link, and the course comes from the zip that the student uploads.
"""

import tomllib

from autograde.course import ROOT, current_course

ID = "colab"  # of the cell
COLAB = "https://colab.research.google.com/github"
GITHUB = "https://github.com/"
# The course's core dependencies are ranges: Colab's NumPy stays, and torch is none of them.
CELL = """\
# Only on Colab: install the course.
import sys
from pathlib import Path

if "google.colab" in sys.modules:
    course = "{bundle}" if Path("{bundle}").exists() else {address!r}
    if course is None:
        raise FileNotFoundError("Put {bundle} into the file panel, then run this again.")
    get_ipython().run_line_magic("pip", f"install --quiet {{course}}")"""


def repository() -> str | None:
    """The address of the repository; None if pyproject.toml has none."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["project"].get("urls", {}).get("Repository")


def link(chapter: str) -> str:
    """The line that opens a chapter in Colab; empty if the repository is not on GitHub."""
    address = repository() or ""
    if not address.startswith(GITHUB):
        return ""
    name = address.removeprefix(GITHUB)
    return f"\n\n[Open in Colab]({COLAB}/{name}/blob/main/notebooks/{chapter}/{chapter}.ipynb)"


def cell() -> str:
    """The code of the cell."""
    address = repository()
    bundle = f"{current_course().name}.zip"
    return CELL.format(bundle=bundle, address=address and f"git+{address}")
