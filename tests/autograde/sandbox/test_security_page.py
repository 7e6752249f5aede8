"""docs/security.md: every promise names a test, and every test that it names exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE)


def promises(page: str) -> list[str]:
    """The rows of the table of promises."""
    table = page.split("## What is promised")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    return [row for row in rows if not row.startswith(("| ---", "| promise"))]


@pytest.mark.parametrize("file, test", NAMED)
def test_a_named_test_exists(file: str, test: str):
    (path,) = (ROOT / "tests").rglob(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_promise_names_a_test():
    rows = promises(PAGE)
    assert len(rows) > 20
    assert [row for row in rows if not re.search(r"`test_\w+\.py::test_\w+` \|$", row)] == []
