"""No folder has more lines of Python than CONTRIBUTING.md's table allows."""

import re

import pytest

from autograde.course import ROOT

ROW = re.compile(r"^\| `([\w/]+)` \| ([\d,]+) \|$", re.MULTILINE)
BUDGET = ROW.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("folder", "most"), BUDGET)
def test_a_folder_keeps_to_its_budget(folder: str, most: str):
    files = [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")]
    lines = sum(text.count("\n") for text in files)
    assert 0 < lines <= int(most.replace(",", "")), f"{folder} has {lines} lines"
