"""A chapter's parts for Colab: a link below the title, and a cell that installs the course.

Both use the repository's address, `Repository` in `[project.urls]` of pyproject.toml. Without an
address there is no link, and the student uploads a zip: the class's, or that of the repository.
"""

import tomllib

from autograde.course import ROOT, current_course

CELL_ID = "colab"
COLAB = "https://colab.research.google.com/github"
GITHUB = "https://github.com/"
# The course's core dependencies are ranges, so Colab's NumPy stays; torch is not among them. The
# extra has what no range would do for. A course without it is installed with a warning.
_INSTALL_CELL = """\
# Only on Colab: install the course, from the newest zip in the file panel.
import os
import sys
from pathlib import Path

if "google.colab" in sys.modules:
    newest = max(Path().glob("*.zip"), key=os.path.getmtime, default=None)
    course = f"{{newest}}[colab]" if newest else {address!r}
    if course is None:
        raise FileNotFoundError("Put the course's zip into the file panel, then run this again.")
    get_ipython().run_line_magic("pip", f'install --quiet "{{course}}"')"""


def repository() -> str | None:
    """The address of the repository; None if pyproject.toml has none."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["project"].get("urls", {}).get("Repository")


def open_link(chapter: str) -> str:
    """The Markdown link that opens a chapter in Colab; "" if the repository is not on GitHub."""
    address = repository() or ""
    if not address.startswith(GITHUB):
        return ""
    name = address.removeprefix(GITHUB)
    return f"\n\n[Open in Colab]({COLAB}/{name}/blob/main/notebooks/{chapter}/{chapter}.ipynb)"


def install_cell() -> str:
    """The code of the cell that installs the course."""
    address = repository()
    named = f"{current_course().name}[colab] @ git+{address}"
    return _INSTALL_CELL.format(address=named if address else None)
