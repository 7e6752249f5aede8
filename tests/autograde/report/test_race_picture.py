"""The README's picture is the recorded race."""

import runpy
from types import SimpleNamespace

from autograde.course import ROOT
from specdec_lib.measure.race.record import recorded_race


def test_the_readme_tells_the_numbers_of_the_recorded_race():
    text = (ROOT / "README.md").read_text().split("\n## ")[0]
    race_picture = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "race_picture.py")))
    whole = recorded_race()
    first = race_picture.first_text(whole)
    for race in (whole, first):
        assert f"{race.ratio(race.lanes[1]):.2f}" in text
    assert f'src="docs/_static/race.png" width="640" alt="{race_picture.words(first)}"' in text
    assert all(f"{lane.seconds:.2f} s" in text for lane in first.lanes)
    assert whole.remarks[0] in " ".join(text.split())
