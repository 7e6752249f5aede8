"""docs/security.md: every promise names a test, and every test that it names exists."""

import re

import pytest

from autograde.course import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE)


@pytest.mark.parametrize("file, test", NAMED)
def test_a_named_test_exists(file: str, test: str):
    (path,) = (ROOT / "tests" / "autograde").rglob(file)
    assert f"\ndef {test}(" in path.read_text(encoding="utf-8")


def test_every_promise_names_a_test():
    _, *rows = re.findall(r"^\| [^-].*", PAGE, re.MULTILINE)
    assert len(rows) > 10
    assert [row for row in rows if not re.search(r"`test_\w+\.py::test_\w+` \|$", row)] == []
