"""The README's picture is the recorded race: its times, its text, and still where nothing moves."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from autograde.chapter import ROOT
from autograde.tools.race_picture import (
    COLUMNS,
    LEAD,
    MARGIN,
    PATH,
    STILL,
    WIDTH,
    picture,
    still,
    words,
    written,
)
from specdec_lib.measure.race.record import Lane, Pass, Race, recorded, records

SVG = "{http://www.w3.org/2000/svg}"
LANES = [
    Lane("plain decoding", [[Pass(1.0, ["a<b"]), Pass(2.0, ["\n  c"])]]),
    Lane("speculative decoding", [[Pass(1.5, ["a<b", "\n  c"])]]),
]
RACE = Race(LANES, ["if "], "a target")
SHORT = Race([Lane(each.name, [[Pass(0.2, ["a<b"])]]) for each in LANES], ["if "], "a target")


def test_the_picture_is_that_of_the_recorded_race():
    assert PATH.read_text() == picture(recorded("readme"))
    assert STILL.read_text() == still(picture(recorded("readme")))


def test_the_readme_tells_the_numbers_and_the_processor_of_the_recorded_race():
    text = (ROOT / "README.md").read_text().split("\n## ")[0]
    plain, fast = recorded("readme").lanes
    race = records()["races"]["readme"]
    for said in (f"{recorded('readme').ratio(fast):.2f}", race["processor"], race["class"]):
        assert said in text
    assert words(recorded("readme")) in text  # the alternative text
    others = recorded("00")
    assert len(others.prompts) == 6 and "six texts of chapter 00" in text
    assert f"the gain is {others.ratio(others.lanes[1]):.2f}" in " ".join(text.split())
    assert f"{plain.seconds:.2f} s" in text and f"{fast.seconds:.2f} s" in text


def test_every_run_of_letters_has_its_line_its_column_and_the_moment_of_its_pass():
    runs = [tuple(run) for run in written(RACE, LANES[0])]
    assert runs == [
        (0, 0, "if", "prompt", 0.0), (0, 3, "a<b", "own", 1.0), (1, 2, "c", "own", 2.0)
    ]  # fmt: skip
    assert [run.kind for run in written(RACE, LANES[1])] == ["prompt", "draft", "own"]


@pytest.mark.parametrize("race", [RACE, recorded("readme")], ids=["small", "recorded"])
def test_the_picture_fits_and_asks_nothing_of_others(race: Race):
    text = picture(race)
    root = ET.fromstring(text)
    assert root.get("viewBox").split()[2] == f"{WIDTH}" and root.find(f"{SVG}title").text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "") and "<script" not in text
    for run in (run for lane in race.lanes for run in written(race, lane)):
        assert run.column + len(run.text) <= COLUMNS
    assert COLUMNS * 7.2 <= WIDTH - 2 * MARGIN


def moves(browser, picture: str, folder: Path, within: str, **how) -> bool:
    """Whether what is on the screen is another after the end of `SHORT` than before its start."""
    (folder / "race.svg").write_text(picture)
    (folder / "race.html").write_text('<img src="race.svg" width="480">')
    page = browser.new_page(**how)
    page.goto((folder / f"race.{within}").as_uri())
    first = page.screenshot()
    page.wait_for_timeout(1000 * (LEAD + SHORT.lanes[0].seconds) + 500)
    changed = page.screenshot() != first
    page.close()
    return changed


@pytest.mark.browser
def test_it_moves_inside_an_img_and_not_for_who_wants_no_motion(browser, tmp_path):
    assert moves(browser, picture(SHORT), tmp_path, "html")
    assert not moves(browser, still(picture(SHORT)), tmp_path, "html")
    # Chromium does not tell an <img> of the wish that a test makes for the page.
    assert not moves(browser, picture(SHORT), tmp_path, "svg", reduced_motion="reduce")


def test_in_the_dark_the_colours_are_others():
    light, dark = re.findall(r"svg \{ (--ink.*?) \}", picture(RACE))
    assert light != dark and light.count("--") == dark.count("--")
