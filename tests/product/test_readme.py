"""What the README says holds: its Python, its chapters, its race, and each path that it names."""

import re
import runpy
from pathlib import Path

import pytest

from autograde.course import ROOT, SOLUTIONS, chapter_names
from autograde.hidden.causes import bugs_of
from autograde.tools.samples import functions_of
from specdec_lib.measure.race.record import recorded_race

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", chapter_names())
def test_the_table_has_each_chapter_with_its_minutes_and_functions(chapter: str):
    source = (SOLUTIONS / f"{chapter}.py").read_text(encoding="utf-8")
    minutes = re.search(r"^# (\d+) minutes", source, re.M)[1]
    (row,) = re.findall(rf"^.*\(notebooks/{chapter}/{chapter}\.ipynb\).*$", README, re.M)
    assert f"| {minutes} " in row
    assert set(re.findall(r"`(\w+)`", row)) == set(functions_of(chapter))


def test_the_numbers_of_both_pictures_are_told():
    text = README.split("\n## ")[0]
    race_picture = runpy.run_path(str(ROOT / "docs" / "race_picture.py"))
    whole = recorded_race()
    first = race_picture["first_text"](whole)
    assert all(f"{race.ratio(race.lanes[1]):.2f}" in text for race in (whole, first))
    words = race_picture["words"](first)
    assert f'src="docs/_static/race.png" width="640" alt="{words}"' in text
    assert all(f"{lane.seconds:.2f} s" in text for lane in first.lanes)
    assert whole.remarks[0] in " ".join(text.split())
    words = runpy.run_path(str(ROOT / "docs" / "trial_picture.py"))["drawn"]()[1]
    assert f'src="docs/_static/trial.png" width="640" alt="{words}"' in README


def test_what_a_class_gets_is_counted():
    text = " ".join(README.split())
    for what, of in (("functions", functions_of), ("known bugs", bugs_of)):
        assert f" {sum(len(of(name)) for name in chapter_names())} {what}" in text


def test_the_python_of_the_readme_prints_a_text(capsys):
    (block,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert len([line for line in block.splitlines() if line and line[0] != "#"]) == 6
    exec(block, {})
    written = capsys.readouterr().out
    assert written.startswith("def quicksort(") and len(written) > len("def quicksort(\n")


def test_the_field_guide_has_the_tables_of_the_file_that_chapter_07_shows():
    guide = (ROOT / "docs" / "field_guide.md").read_text(encoding="utf-8")
    with_tables = runpy.run_path(str(ROOT / "docs" / "field_tables.py"))["with_tables"]
    assert guide.count("<!-- end -->") == 3
    assert with_tables(guide) == guide, "`python docs/field_tables.py` writes the tables"
    assert with_tables(guide.replace("LiLiCorr", "", 1)) == guide  # a cell that somebody edits


def test_each_finding_has_a_line():
    listed = (ROOT / "findings" / "README.md").read_text(encoding="utf-8")
    scripts = sorted(path.name for path in (ROOT / "findings").glob("*.sh"))
    assert re.findall(r"^- `(.*?)`: .", listed, re.MULTILINE) == scripts


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
def test_each_path_that_a_page_names_exists(page: Path):
    assert missing(page.read_text(encoding="utf-8")) == []
