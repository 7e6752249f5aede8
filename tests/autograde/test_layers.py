"""Which rooms of autograde may import which, and who may import the students' library.

A room is a folder of autograde/ or a file beside them. Below the command line a class is graded by
pool, one submission by grade; nbgrader's side of the house (build -> nbgrader -> report) only calls
grade. Chapters import what hidden tests and wrong answers are written with, and the grader imports
no chapter and no library by name.
"""

import ast
from pathlib import Path

import pytest

from autograde.chapter import LIBRARY, ROOT

BOTTOM = {"bounds", "chapter", "files", "result", "submission"}
SANDBOX = {"bounds", "chapter", "files", "sandbox"}
TESTS = {"chapter", "sandbox", "check", "wrong", "runner", "underneath"}
GRADE = BOTTOM | TESTS | {"cache", "cause", "grade"}
REPORT = GRADE | {"report"}
NBGRADER = REPORT | {"nbgrader"}
BUILD = NBGRADER | {"build"}
ALL = BUILD | {"pool", "lms", "commands", "cli", "tools"}
SELFSTUDY = REPORT | {"selfstudy", "commands"}
MAY_IMPORT = {
    "bounds": set(),
    "chapter": set(),
    "files": set(),
    "result": set(),
    "submission": {"bounds", "chapter", "files"},
    "sandbox": SANDBOX,
    "check": TESTS,
    "wrong": TESTS,
    "runner": TESTS,
    "underneath": TESTS,
    "cause": TESTS | {"cause"},
    "chapters": {"chapters", "check", "wrong"},
    "cache": BOTTOM,
    "grade": GRADE,
    "pool": GRADE,
    "report": REPORT,
    "nbgrader": NBGRADER,
    "build": BUILD,
    "selfstudy": SELFSTUDY,  # one's own notebooks, without nbgrader's side of the house
    "lms": BOTTOM | {"lms"},
    "commands": ALL,
    "cli": ALL,
    "__main__": {"cli"},
    "tools": ALL,  # what belongs to this course and its measurements, not to the grader
    "grading": {"tools"},  # another name for a tool
}
READS_LIBRARY = {"chapters", "tools"}


def room_of(module: str) -> str:
    """autograde.sandbox.session -> sandbox."""
    return module.split(".")[1]


def imports_of(source: str) -> set[str]:
    """The dotted names that a file imports, at its top or in a function."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports here are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def offences(source: str, module: str) -> list[str]:
    """The imports that the file of `module` may not have."""
    room = room_of(module)
    return sorted(
        name
        for name in imports_of(source)
        if name.startswith("autograde.")
        and room_of(name) not in MAY_IMPORT[room]
        or name.split(".")[0] == LIBRARY
        and room not in READS_LIBRARY
    )


def module_name(file: Path) -> str:
    """autograde/build/text.py -> autograde.build.text."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


FILES = {
    module_name(file): file
    for file in sorted((ROOT / "autograde").rglob("*.py"))
    if file != ROOT / "autograde" / "__init__.py"
}


@pytest.mark.parametrize("module", FILES)
def test_a_room_imports_only_what_is_open_to_it(module: str):
    assert offences(FILES[module].read_text(encoding="utf-8"), module) == []


@pytest.mark.parametrize(
    ("module", "source", "seen"),
    [
        ("grade", "from autograde.pool import x", ["autograde.pool.x"]),
        ("grade", "def f():\n    from autograde import report", ["autograde.report"]),
        ("nbgrader.plugin", "from autograde.build.text import x", ["autograde.build.text.x"]),
        ("report.table", "import autograde.nbgrader", ["autograde.nbgrader"]),
        ("chapters.ch02_tests", "from autograde.sandbox.session import x",
         ["autograde.sandbox.session.x"]),
        ("check", f"from {LIBRARY}.sampling import x", [f"{LIBRARY}.sampling.x"]),
        ("cli", f"import {LIBRARY}", [LIBRARY]),
    ],
)  # fmt: skip
def test_a_forbidden_import_is_seen(module: str, source: str, seen: list[str]):
    assert offences(source, f"autograde.{module}") == seen
