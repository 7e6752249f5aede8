"""The README's table of chapters says what the chapters say."""

import re

import pytest

from autograde.chapter import ROOT, SOLUTIONS, chapter_names


@pytest.mark.parametrize("chapter", chapter_names())
def test_the_table_has_each_chapter_with_its_minutes_and_functions(chapter: str):
    source = (SOLUTIONS / f"{chapter}.py").read_text(encoding="utf-8")
    minutes = re.search(r"^# (\d+) minutes", source, re.M)[1]
    answers = re.findall(r'^# %% solution="(\w+)"', source, re.M)
    functions = [name for name in answers if not re.match("quiz_|prediction_", name)]
    place = f"notebooks/{chapter}/{chapter}.ipynb"
    (row,) = [
        line for line in (ROOT / "README.md").read_text().splitlines() if f"({place})" in line
    ]
    assert f"| {minutes} | {', '.join(f'`{name}`' for name in functions)} |" in row
