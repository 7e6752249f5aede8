"""Results files: what was written is read again, and two of them stand side by side."""

from pathlib import Path

import pandas as pd
import pytest

from specdec_lib.measure.results import read_results, side_by_side, write_results

ROW = {"target": "234m", "draft": "base", "task": "code", "temperature": 1}
FIGURES = {"alpha": 0.64, "c": 0.02, "K": 4, "measured v": 1.5, "clock": 1.234}


def table(*rows: dict) -> pd.DataFrame:
    return pd.DataFrame([ROW | FIGURES | row for row in rows])


def test_a_table_is_read_as_it_was_written(tmp_path: Path):
    frame = table({}, {"draft": "bigram", "clock": None})
    path = write_results(frame, {"device": "a card"}, tmp_path / "a.json")
    found, about = read_results(path)
    pd.testing.assert_frame_equal(found, frame)
    assert about == {"device": "a card"} and list(tmp_path.iterdir()) == [path]


def test_two_machines_stand_side_by_side(tmp_path: Path):
    one = write_results(table({}), {"device": "a laptop"}, tmp_path / "a.json")
    both = table({"clock": None}, {"target": "7b", "K": 8})
    other = write_results(both, {"device": "a card"}, tmp_path / "b.json")
    lines = side_by_side(one, other).splitlines()
    assert lines[0].startswith("A") and lines[0].endswith("a.json: device a laptop")
    assert lines[1].endswith("b.json: device a card")
    assert lines[3].split()[:4] == list(ROW)
    shared, single = (line.split() for line in lines[4:])
    assert shared[0] == "234m" and shared[4:6] == ["0.64"] * 2 and shared[-2:] == ["1.23", "-"]
    assert single[0] == "7b" and single[4:6] == ["-", "0.64"]


@pytest.mark.parametrize("text", ["{", "[]", '{"about": {}, "table": {}}', "[" * 100_000, None])
def test_a_file_that_is_no_table_is_named(tmp_path: Path, text: str | None):
    path = tmp_path / "a.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ValueError, match=r"a\.json.* a file that chapter 08 wrote"):
        side_by_side(path, path)
