"""A race as it is shown: the replay, its reading, and what stands where nothing moves."""

import re
import time

import pytest
from pages.accessibility import faults

from specdec_lib.lessons.drawing import race
from specdec_lib.measure.race.record import Lane, Race, TargetPass

PASSES = [TargetPass(1.0, ["a<b"]), TargetPass(2.0, [" or"]), TargetPass(3.0, [" c"])]
SLOW = Lane("plain decoding", [PASSES])
FAST = Lane("speculative decoding", [[TargetPass(1.5, ["a<b", " or", " c"])]])
OTHER = Lane("another", [[TargetPass(1.5, ["a<b", " and", " c"])]])


def of(*lanes, **more):
    return Race(list(lanes), ["if "], "a target", **more)


def test_a_race_is_read_and_the_readers_own_decoder_summed_up():
    said = list(race.readings(of(SLOW, FAST), "speculative decoding"))
    assert said[0].startswith("Your decoder so far: 3 tokens in 1 passes of the target, 3.00")
    assert "took 1.50 times as long" in said[0]
    assert said[0].endswith("so the decoder was 2.00 times as fast as plain decoding.")
    assert "Plain decoding: 3 tokens in 3 passes" in next(race.readings(of(FAST, SLOW)))


def test_times_as_fast_is_that_of_the_middle_text_everywhere():
    """The texts took 3, 1 and 4 s, and 1 s each: the totals would give 2.67."""
    clocks = {"a": (3.0, 4.0, 8.0), "b": (1.0, 2.0, 3.0)}
    lanes = [Lane(x, [[TargetPass(t, ["a"])] for t in ends]) for x, ends in clocks.items()]
    three = Race(lanes, ["if "] * 3, "a target")
    said = race.race_text(three)
    assert "3.00 times as fast as a (all texts: 1.00 to 4.00)" in said
    assert "took 0.33 times" in said and "3 passes of the target, 3.00 times as fast" in said
    assert "--t:3.00s; width:33.3%" in race.race_page(three)


def test_another_text_is_called_that():
    assert "another did not write the text of plain decoding" in race.verdict(of(SLOW, OTHER))
    said = race.verdict(of(SLOW, OTHER, temperature=0.7))
    assert "At temperature 0.7 every decoder draws its own tokens" in said


def test_a_page_has_every_token_at_its_time_and_marks_what_was_drafted():
    page = race.race_page(of(SLOW, FAST, remarks=("A <machine>.",)))
    spans = re.findall(r'<span class="(sd-\w+) sd-t" style="--t:([\d.]+)s">([^<]*)</span>', page)
    assert ("sd-own", "2.000", " or") in spans
    assert ("sd-draft", "1.500", "a&lt;b or") in spans and ("sd-own", "1.500", " c") in spans
    assert "2.00 times as" in page and "timer. A &lt;machine&gt;." in page and "http" not in page


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_the_replay_shows_tokens_at_their_time_and_runs_again(browser, scripts):
    lane = Lane("plain decoding", [[TargetPass(0.05, ["soon"]), TargetPass(60.0, ["late"])]])
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.set_content(race.race_page(of(lane)))
    # Without scripts a page cannot be waited for; what is drawn can be asked again and again.
    end = time.monotonic() + 30
    while not page.get_by_text("soon").is_visible() and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert page.get_by_text("soon").is_visible() and not page.get_by_text("late").is_visible()
    page.get_by_text("Run it again").click()
    assert not page.get_by_text("late").is_visible()
    context.close()


@pytest.mark.browser
def test_who_wants_no_motion_sees_the_whole_text(browser):
    page = browser.new_page(reduced_motion="reduce")
    page.set_content(race.race_page(of(Lane("plain", [[TargetPass(60.0, ["late"])]]))))
    assert page.get_by_text("late").is_visible()
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("around", ["data-theme='dark'", "data-jp-theme-light='false'"])
def test_a_race_can_be_read_whatever_is_around_it(browser, around):
    page = browser.new_page()
    grey = f"<body {around} style='background: #ced6dd'><main>{race.race_page(of(SLOW, FAST))}"
    page.set_content(f"<!DOCTYPE html><html lang=en><title>x</title>{grey}</main></body></html>")
    assert "color-contrast" not in " ".join(faults(page))
    page.close()
