"""What a page needs to be worked on: a chapter's answers as data, and the Python to check them."""

import ast
import contextlib
import importlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from nbformat import NotebookNode

from autograde.chapter import ROOT
from autograde.files import files_below, zip_of
from autograde.submission import is_answer, is_demo, release_of
from specdec_lib.lessons.common.answers import CLOSE, OPTIONS, Truth, few_digits

LIBRARY = ROOT / "specdec_lib"
# With the lessons, everything that a visible check imports. All of it is Python.
OURS = ("__init__.py", "exact.py", "notebook.py", "sampling.py", "theory.py")
# torch is not built for browsers.
NEEDS_TORCH = ("distillation_loss", "rollback", "verify_block", "speculative_generate")
# A reveal of what is known beforehand; what was measured is a third argument, or another function.
REVEAL = re.compile(r'^\s*lesson\.reveal\("(\w+)", \1\)', re.MULTILINE)


def page_data(chapter: str) -> bytes:
    """The answer cells of a chapter, and the code that stands between them, as its page reads it.

    A JSON object with the chapter's name, CLOSE, and the cells in order. Each has its `kind`:
    "given" (the chapter's own code), "function", "torch" (a function that needs torch),
    "prediction", "quiz" or "written".
    """
    release = release_of(chapter)
    lesson = importlib.import_module(f"{LIBRARY.name}.lessons.ch{chapter[:2]}.checks")
    cells = list(_cells(release, lesson))
    return json.dumps({"chapter": chapter, "close": CLOSE, "cells": cells}, indent=1).encode()


def _cells(release: NotebookNode, lesson: ModuleType) -> Iterator[dict]:
    by_id = {cell.metadata.nbgrader.grade_id: cell for cell in release.cells if _is_graded(cell)}
    known = {name for cell in release.cells for name in REVEAL.findall(cell.source)}
    for cell in release.cells:
        if is_answer(cell):
            name = cell.metadata.nbgrader.grade_id
            test = by_id.get(f"test_{name}", cell)
            data = {"kind": kind_of(cell), "name": name, "stub": cell.source}
            truth = lesson.TRUTHS[name] if name in known else None
            more = _MORE[data["kind"]](name, test, lesson, truth)
            yield data | {"points": test.metadata.nbgrader.points} | more
        elif cell.cell_type == "code" and not is_demo(cell) and not _is_graded(cell):
            yield {"kind": "given", "source": cell.source}


def _is_graded(cell: NotebookNode) -> bool:
    return "nbgrader" in cell.metadata


def kind_of(cell: NotebookNode) -> str:
    """The kind of an answer cell: function, torch, prediction, quiz or written."""
    name = cell.metadata.nbgrader.grade_id
    if cell.cell_type == "markdown":
        return "written"
    if cell.source.lstrip().startswith(("def ", "class ")):
        return "torch" if name in NEEDS_TORCH else "function"
    return "quiz" if name.startswith("quiz_") else "prediction"


def _function(name: str, test: NotebookNode, lesson: ModuleType, truth: None) -> dict:
    return {"hints": list(lesson.HINTS[name])}


def _prediction(name: str, test: NotebookNode, lesson: ModuleType, truth: Truth | None) -> dict:
    """The range of a guess, and what there is to say of one, if that is not measured."""
    (call,) = [node for node in ast.walk(ast.parse(test.source)) if isinstance(node, ast.Call)]
    low, high = map(ast.literal_eval, call.args[2:])
    told = None
    if truth:
        typical = [_number(number) | {"thought": why} for number, why in truth.typical.items()]
        told = {"is": _number(truth.value), "why": truth.why, "typical": typical}
    return {"low": low, "high": high, "told": told}


def _number(value: float) -> dict:
    """A number, in two digits as a guess may write it, and as it is shown."""
    return {"value": value, "rounded": float(f"{value:.2g}"), "shown": few_digits(value)}


def _quiz(name: str, test: NotebookNode, lesson: ModuleType, truth: None) -> dict:
    """What the notebook's check prints for each option."""
    told = {}
    for letter in OPTIONS:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            lesson.answered(name, letter)
        told[letter] = " ".join(printed.getvalue().split())
    return {"told": told}


def _nothing(*_: object) -> dict:
    return {}


_MORE = {
    "function": _function,
    "torch": _nothing,
    "prediction": _prediction,
    "quiz": _quiz,
    "written": _nothing,
}


def payload() -> bytes:
    """A zip to unpack into Pyodide's site-packages; made twice it has the same bytes."""
    return zip_of({name: path.read_bytes() for name, path in _files()})


def _files() -> Iterator[tuple[str, Path]]:
    """The name in the zip and the place of every file."""
    for path in [*(LIBRARY / name for name in OURS), *files_below(LIBRARY / "lessons")]:
        if path.suffix in (".py", ".json"):
            yield path.relative_to(ROOT).as_posix(), path
