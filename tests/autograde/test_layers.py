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

BOTTOM = {"chapter", "files", "result", "submission"}
SANDBOX = {"chapter", "files", "sandbox"}
TESTS = {"chapter", "sandbox", "check", "wrong", "grading"}
GRADE = BOTTOM | TESTS | {"cache", "judge", "grade"}
REPORT = GRADE | {"report"}
NBGRADER = REPORT | {"nbgrader", "receipt"}
BUILD = NBGRADER | {"build"}
ALL = BUILD | {"dispatch", "pool", "lms", "cli", "tools", "grading"}
MAY_IMPORT = {
    "chapter": set(),
    "files": set(),
    "result": set(),
    "submission": {"chapter", "files"},
    "sandbox": SANDBOX,
    "check": TESTS,
    "wrong": TESTS,
    "chapters": {"chapters", "check", "wrong"},
    "cache": BOTTOM,
    "judge": BOTTOM | TESTS,
    "grade": GRADE,
    "dispatch": GRADE,
    "pool": GRADE | {"dispatch"},
    "receipt": BOTTOM | {"cache"},
    "report": REPORT,
    "nbgrader": NBGRADER,
    "build": BUILD,
    "lms": BOTTOM | {"lms"},
    "cli": ALL,
    "__main__": {"cli"},
    "tools": ALL,  # what belongs to this course and its measurements, not to the grader
    "grading": ALL | {"grading"},  # the runner and the commands, until they have moved
}
READS_LIBRARY = {"chapters", "tools"}
# Imports that stand against this still, by module. The list may only become shorter.
KNOWN = {
    "autograde.build.execute": [f"{LIBRARY}.lessons.widgets.simulator.EXPORT_PRIORITY"],
    "autograde.chapters.ch01_tests": ["autograde.sandbox.lending.Lent"],
    "autograde.chapters.ch03_tests": ["autograde.sandbox.lending.MOST_GIVEN"],
    "autograde.chapters.ch06_tests": ["autograde.sandbox.lending.Lent"],
    "autograde.chapters.ch07_tests": ["autograde.sandbox.session.StudentError"],
    "autograde.chapters.ch08_tests": ["autograde.sandbox.lending.Lent"],
    "autograde.check": [
        f"{LIBRARY}.lessons.common.answers.letter_of",
        f"{LIBRARY}.lessons.common.answers.require_guess",
        f"{LIBRARY}.lessons.common.examples.Different",
    ],
    "autograde.cli": [f"{LIBRARY}.pipes.until_closed"],
    "autograde.grading.marks": [f"{LIBRARY}.lessons.common.examples.Different"],
    "autograde.lms.commands": ["autograde.report.commands.read_grades"],
    "autograde.report.commands": ["autograde.nbgrader.gradebook.overrides"],
    "autograde.report.feedback_page": ["autograde.build.offline.markdown2html"],
    "autograde.wrong": [f"{LIBRARY}.lessons.common.examples.difference"],
}


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
    assert offences(FILES[module].read_text(encoding="utf-8"), module) == KNOWN.get(module, [])


@pytest.mark.parametrize(
    ("module", "source", "seen"),
    [
        ("grade", "from autograde.pool import x", ["autograde.pool.x"]),
        ("grade", "def f():\n    from autograde import report", ["autograde.report"]),
        ("nbgrader.plugin", "from autograde.build.text import x", ["autograde.build.text.x"]),
        ("report.table", "import autograde.nbgrader", ["autograde.nbgrader"]),
        ("submission", "from autograde.grade import x", ["autograde.grade.x"]),
        ("chapters.ch02_tests", "from autograde.sandbox.session import x",
         ["autograde.sandbox.session.x"]),
        ("check", f"from {LIBRARY}.sampling import x", [f"{LIBRARY}.sampling.x"]),
        ("cli", f"import {LIBRARY}", [LIBRARY]),
    ],
)  # fmt: skip
def test_a_forbidden_import_is_seen(module: str, source: str, seen: list[str]):
    assert offences(source, f"autograde.{module}") == seen


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("cli", "from autograde.build import release\nfrom autograde.pool import x"),
        ("pool", "from autograde.grade import x"),
        ("nbgrader.plugin", "from autograde.nbgrader import stamps\nimport nbgrader"),
        ("chapters.ch02_tests", f"from {LIBRARY} import x\nfrom autograde.check import x"),
        ("tools.site", f"from {LIBRARY}.lessons import x\nfrom autograde.build import x"),
    ],
)
def test_an_import_in_the_right_direction_passes(module: str, source: str):
    assert offences(source, f"autograde.{module}") == []
