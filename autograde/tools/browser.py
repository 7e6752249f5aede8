"""What the page "Try it here" needs: the exercises as data, and the Python that checks them."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde.chapter import ROOT, Chapter
from autograde.files import files_below, zip_of
from autograde.submission import is_answer, is_demo

LIBRARY = ROOT / "specdec_lib"
# Everything that a visible check imports, pytest and what pytest imports. All of it is Python.
OURS = ("__init__.py", "exact.py", "notebook.py", "sampling.py", "theory.py")
PYTEST = ("_pytest", "iniconfig", "packaging", "pluggy", "py", "pygments", "pytest")
# torch is not built for browsers.
NEEDS_TORCH = ("distillation_loss", "rollback", "verify_block", "speculative_generate")


def exercises(chapter: str) -> list[dict]:
    """The exercises of a chapter that need no more than NumPy, in order.

    Each has its name, its stub, the names of the exercises above it, and the code that stands above
    it in the notebook.
    """
    release = nbformat.read(Chapter(chapter).release, as_version=4)
    above: list[str] = []
    functions: list[dict] = []
    for cell in release.cells:
        if cell.cell_type != "code" or is_demo(cell):
            continue
        if _is_function(cell):
            name = cell.metadata.nbgrader.grade_id
            functions.append({"name": name, "stub": cell.source, "above": list(above)})
        elif "nbgrader" not in cell.metadata:
            above.append(cell.source)
    return [each for each in functions if each["name"] not in NEEDS_TORCH]


def _is_function(cell: NotebookNode) -> bool:
    return is_answer(cell) and cell.source.lstrip().startswith(("def ", "class "))


def exercises_json(chapters: list[str]) -> bytes:
    """All of them by chapter, as the page reads it."""
    by_chapter = {chapter: exercises(chapter) for chapter in chapters}
    return json.dumps({c: listed for c, listed in by_chapter.items() if listed}, indent=1).encode()


def payload() -> bytes:
    """A zip to unpack into Pyodide's site-packages; made twice it has the same bytes."""
    return zip_of({name: path.read_bytes() for name, path in _files()})


def _files() -> Iterator[tuple[str, Path]]:
    """The name in the zip and the place of every file."""
    for path in [*(LIBRARY / name for name in OURS), *files_below(LIBRARY / "lessons")]:
        if path.suffix in (".py", ".json"):
            yield path.relative_to(ROOT).as_posix(), path
    for package in PYTEST:
        spec = importlib.util.find_spec(package)
        top = Path(spec.origin)
        files = files_below(top.parent) if spec.submodule_search_locations else [top]
        above = top.parent.parent if spec.submodule_search_locations else top.parent
        for path in files:
            if path.suffix == ".py":
                yield path.relative_to(above).as_posix(), path
