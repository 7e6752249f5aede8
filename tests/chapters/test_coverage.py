"""Everything that the course has to offer a learner, row by row, and the heading that it is under.

`coverage/chNN.json` maps rows to headings of chapter NN.
"""

import json
from pathlib import Path

import pytest

from autograde.chapter import SOLUTIONS

FRAGMENTS = sorted((Path(__file__).parent / "coverage").glob("ch*.json"))
ROWS = {"000": 33, "001": 15, "002": 49, "003": 14, "004": 16}
NUMBERS = {f"{page}-{row:02}" for page, rows in ROWS.items() for row in range(1, rows + 1)}


def headings(chapter: str) -> set[str]:
    """The headings of a chapter's source, without their marks."""
    (source,) = SOLUTIONS.glob(f"{chapter.removeprefix('ch')}_*.py")
    lines = source.read_text(encoding="utf-8").splitlines()
    marked = [line.removeprefix("# ") for line in lines if line.startswith("# #")]
    return {line.lstrip("#").strip() for line in marked}


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda path: path.stem)
def test_every_row_of_a_chapter_stands_under_a_heading_of_it(fragment: Path):
    rows = json.loads(fragment.read_text())
    assert set(rows.values()) <= headings(fragment.stem)


def test_every_row_is_met_and_none_is_invented():
    met = [row for fragment in FRAGMENTS for row in json.loads(fragment.read_text())]
    assert set(met) == NUMBERS and len(NUMBERS) == 127
