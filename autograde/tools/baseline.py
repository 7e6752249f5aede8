"""What the engine is measured against: plain nbgrader, its test cells running pytest in the kernel.

It is as good as such a course can be made: the same hidden cases, collected once a kernel, points
by behaviour, no tracebacks. It isolates nothing, and it explains nothing.
"""

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde.chapter import Chapter
from autograde.submission import is_demo

CELL = """### BEGIN HIDDEN TESTS
from autograde.tools.in_kernel import points
points("{chapter}", "{name}", {points}, globals())
### END HIDDEN TESTS"""
CONFIG = """c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.ignore = [".*"]
"""


def write_course(course: Path, chapter: str) -> None:
    """Make a plain nbgrader course with this chapter, its demonstrations left out."""
    source = nbformat.read(Chapter(chapter).solution, as_version=4)
    source.cells = [_plain(cell, chapter) for cell in source.cells if not is_demo(cell)]
    folder = course / "source" / chapter
    folder.mkdir(parents=True)
    nbformat.write(source, folder / f"{chapter}.ipynb")
    (course / "nbgrader_config.py").write_text(CONFIG.format(root=str(course)))


def _plain(cell: NotebookNode, chapter: str) -> NotebookNode:
    """A grade cell with tests of its own; any other cell as it is."""
    nbgrader = cell.metadata.get("nbgrader", {})
    if cell.cell_type == "code" and nbgrader.get("grade"):
        name = nbgrader["grade_id"].removeprefix("test_")
        cell.source = CELL.format(chapter=chapter, name=name, points=float(nbgrader["points"]))
    return cell
