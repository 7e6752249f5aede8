"""The README's table and its Python hold, and each path that a page names exists."""

import re

import pytest

from autograde.course import ROOT, SOLUTIONS, chapter_names


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
    assert f"| {minutes} " in row
    named = set(re.findall(r"`(\w+)`", row))
    assert named and named <= set(functions)  # a new one may be missing


def test_the_python_of_the_readme_prints_a_text(capsys):
    (block,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert len([line for line in block.splitlines() if line]) == 6
    exec(block, {})
    written = capsys.readouterr().out
    assert written.startswith("def quicksort(") and len(written) > len("def quicksort(\n")


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
OURS = re.compile(r"(?<![\w/])(?:specdec_lib|autograde|tests|docs|solutions|notebooks)/[\w./*-]*\w")


def missing(text: str) -> list[str]:
    """Paths of the repository that a page names and that do not exist; NN is any chapter's number.

    Chapter 09 is the example of the guide for authors, temperatures that of docs/own_course.md.
    """
    names = {name for name in OURS.findall(text) if not re.search("09|temperatures", name)}
    patterns = {
        name: name.replace("NN_topic", "NN_*").replace("NN", "[0-9][0-9]") for name in names
    }
    return sorted(name for name, pattern in patterns.items() if not any(ROOT.glob(pattern)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_path_that_a_page_names_exists(page):
    assert missing(page.read_text(encoding="utf-8")) == []
