"""The README's picture is the recorded race."""

from autograde.chapter import ROOT
from autograde.tools import race_picture
from specdec_lib.measure.race.record import recorded, records


def test_the_readme_tells_the_numbers_and_the_processor_of_the_recorded_race():
    text = (ROOT / "README.md").read_text().split("\n## ")[0]
    race, others, record = recorded("readme"), recorded("00"), records()["races"]["readme"]
    plain, fast = race.lanes
    for said in (f"{race.ratio(fast):.2f}", record["processor"], record["class"]):
        assert said in text
    assert f'src="docs/_static/race.png" width="640" alt="{race_picture.words(race)}"' in text
    assert f"the gain is {others.ratio(others.lanes[1]):.2f}" in " ".join(text.split())
    assert f"{plain.seconds:.2f} s" in text and f"{fast.seconds:.2f} s" in text
