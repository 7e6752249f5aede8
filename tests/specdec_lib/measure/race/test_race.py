"""The race: turns on one clock each, the same text, a budget that is kept, and what is recorded."""

import json
from dataclasses import replace

import pytest
import torch
from classes.chapter_cases import functions_of

from specdec_lib.measure.core import models
from specdec_lib.measure.core.held_out import prompts, repeated_share
from specdec_lib.measure.core.progress import Progress
from specdec_lib.measure.core.runs import GREEDY, plain
from specdec_lib.measure.race import command, turns
from specdec_lib.measure.race import race as racing
from specdec_lib.measure.race.chapters import RACES
from specdec_lib.measure.race.contestants import (
    branching,
    copying,
    drafting,
    guessing,
    judged_by,
    own,
)
from specdec_lib.measure.race.limits import Limits, TooSlow
from specdec_lib.measure.race.race import disturbed, race
from specdec_lib.measure.race.record import PATH, Lane, Pass, Race, as_data, from_data, recorded

LONG = 40
STEP = functions_of("02_rejection_sampling")["speculative_step"]
OWN = functions_of("08_full_generation")["speculative_generate"]


class Ticking:
    """A clock on which every look takes `tick` seconds."""

    def __init__(self, tick: float) -> None:
        self.tick, self.now = tick, 0.0

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


@pytest.fixture
def small(monkeypatch):
    """Races on the built-in target itself, which loads at once."""
    target = models.target(None, torch.float32)
    monkeypatch.setattr(turns, "costliest", lambda cost, *_: (cost, target))


def raced(contestants, tokens=LONG, texts=1, temperature=0.0, rows=1, tick=1e-3, seconds=1e6):
    limits = Limits(seconds, Ticking(tick))
    return turns.measured(
        contestants, limits, tokens, texts, temperature, rows, False, "40m", 0, Progress()
    )


def test_every_drafter_writes_the_text_of_plain_decoding(small):
    everybody = {
        "model": drafting("small", 3), "copy": copying(), "random": guessing(),
        "tree": branching("small", (2, 1)), "own": own(OWN, "small", 3),
    }  # fmt: skip
    found = raced(everybody)
    first, *others = found.lanes
    assert first.name == turns.PLAIN and len(first.passes) == LONG
    assert all(found.same(lane) for lane in others)
    assert all(len(lane.passes) < LONG for lane in others if lane.name != "random")
    assert all(len(lane.pieces[0]) == LONG for lane in found.lanes)


def test_a_clock_runs_only_while_its_decoder_works(small):
    found = raced({"model": drafting("small", 3)}, texts=2, tick=0.5)
    for lane in found.lanes:
        assert lane.seconds == pytest.approx(0.5 * len(lane.passes))  # two looks at every pass
        assert sum(lane.by_text) == pytest.approx(lane.seconds)
    plainly, fast = found.lanes
    assert found.ratio(fast) == pytest.approx(len(plainly.passes) / len(fast.passes))


def test_the_decoders_take_turns(small, monkeypatch):
    order = []
    advance = turns.Runner.advance

    def noted(runner, mark):
        order.append((id(runner), mark))
        advance(runner, mark)
        assert runner.written >= min(mark, LONG)

    monkeypatch.setattr(turns.Runner, "advance", noted)
    raced({"model": drafting("small", 3)})
    marks = [mark for _, mark in order]
    assert marks == sorted(marks) and len(set(order)) == len(order)
    assert {first for first, _ in order[::2]} != {second for second, _ in order[1::2]}


def test_a_race_that_takes_too_long_is_stopped_at_the_same_token(small):
    found = raced({"model": drafting("small", 3)}, texts=3, tick=0.01, seconds=2.0)
    assert found.remarks == (turns.STOPPED,)
    lengths = [sum(map(len, lane.pieces)) for lane in found.lanes]
    assert turns.LEAST <= lengths[0] == lengths[1] < 3 * LONG
    assert found.same(found.lanes[1]) and len(found.prompts) == len(found.lanes[0].texts)


def test_a_text_whose_prompt_takes_the_rest_of_the_time_is_left_out(small, monkeypatch):
    begin = turns.Runner.begin

    def late(runner, batch, number):
        begin(runner, batch, number)
        runner.limits.clock.now += 1e6 * number

    monkeypatch.setattr(turns.Runner, "begin", late)
    found = raced({}, texts=2, seconds=1e5)
    assert found.remarks == (turns.STOPPED,)
    assert len(found.prompts) == len(found.lanes[0].texts) == len(found.lanes[0].by_text) == 1
    assert disturbed(found) is None


def test_a_race_has_as_many_texts_as_fit_into_its_time(small):
    """By a clock on which a text takes 4 s: two looks, of 0.05 s each, at every pass."""
    found = raced({}, texts=None, tick=0.05, seconds=17.0)
    assert not found.remarks and 3 <= len(found.prompts) <= 4
    assert {len(text) for text in found.lanes[0].pieces} == {LONG}


def test_a_fast_machine_has_enough_texts(small):
    """At the cost of 40 million parameters a token takes about 5 ms; 10 s are to be seen."""
    assert len(turns.TEXTS) * 48 * 2 * 5e-3 >= 10
    assert len(list(turns.batches(None, 1))) == len(turns.TEXTS) == len(set(turns.TEXTS))


def test_a_race_says_at_once_that_it_begins(monkeypatch):
    said = []
    line = type("Line", (), {"update": lambda self, text: said.append(text)})()
    monkeypatch.setattr(turns, "measured", lambda *how: said.append("measured"))
    racing.run({}, progress=Progress(lambda: line, after=0))
    assert said == ["starting the race", "measured", ""]


def test_a_race_of_a_few_tokens_is_none(small):
    with pytest.raises(TooSlow, match="this machine wrote"):
        raced({"model": drafting("small", 3)}, tick=0.1, seconds=1.0)


def test_a_target_that_loads_too_slowly_gives_way_to_a_smaller_one(monkeypatch):
    asked = []

    def loaded(cost, limits, progress):
        asked.append(cost)
        if cost == "234m":
            raise TooSlow("loading a target would take 90 s here")
        return cost

    monkeypatch.setattr(turns, "loaded", loaded)
    assert turns.costliest("234m", Limits(1.0), Progress()) == ("40m", "40m")
    assert asked == ["234m", "40m"]


def test_loading_is_given_up_as_soon_as_it_shows():
    with pytest.raises(TooSlow, match="loading a target would take"):
        turns.loaded("40m", Limits(4.0, Ticking(1.0)), Progress())


def test_own_rule_and_the_library_draw_the_same_tokens(small):
    found = raced({"own": judged_by(STEP, "small"), "ours": drafting("small", 3)}, temperature=1.0)
    assert found.lanes[1].pieces == found.lanes[2].pieces != found.lanes[0].pieces


def test_rows_are_written_together_and_the_first_is_shown(small):
    alone, together = raced({}, tokens=24), raced({}, tokens=24, rows=3)
    assert together.rows == 3 and len(together.lanes[0].passes) == 24
    assert together.lanes[0].pieces == alone.lanes[0].pieces


def of(*lanes, **more):
    texts = {name: [[Pass(end, ["x"]) for end in ends]] for name, ends in lanes}
    return Race([Lane(name, each) for name, each in texts.items()], ["def "], "a pair", **more)


def test_a_disturbed_race_has_the_recorded_one_beside_it(monkeypatch):
    ends = [*range(1, 41), *range(42, 122, 2)]  # a pass takes 1 s, later 2 s
    monkeypatch.setattr(racing, "run", lambda contestants: of(("plain", ends), ("fast", ends)))
    found, beside = race("00", {})
    assert "This run was disturbed" in found.remarks[0]
    assert "A quiet run, recorded on" in beside.remarks[0] and racing.OTHER in beside.remarks[0]
    assert beside.lanes == recorded("00").lanes


def test_the_recorded_race_says_nothing_of_its_target_if_both_are_of_one(monkeypatch):
    ends = [*range(1, 41), *range(42, 122, 2)]
    found = replace(of(("plain", ends), ("fast", ends)), pair=recorded("00").pair)
    monkeypatch.setattr(racing, "run", lambda contestants: found)
    assert racing.OTHER not in race("00", {})[1].remarks[0]


def test_an_even_race_stands_alone(monkeypatch):
    even = of(("plain", range(1, 80)), ("fast", range(1, 80)))
    monkeypatch.setattr(racing, "run", lambda contestants: even)
    assert disturbed(even) is None and race("00", {}) == [even]


@pytest.mark.parametrize(
    "error, why",
    [
        (ModuleNotFoundError("no torch", name="torch"), "torch is not installed here"),
        (TooSlow("this machine wrote 3 tokens in 12 s"), "wrote 3 tokens in 12 s"),
    ],
)
def test_where_no_race_can_be_run_the_recorded_one_is_shown(monkeypatch, error, why):
    def run(contestants):
        raise error

    monkeypatch.setattr(racing, "run", run)
    (found,) = race("00", {})
    assert found.lanes == recorded("00").lanes and why in found.remarks[0]


def test_an_unwritten_function_is_asked_for(monkeypatch, capsys):
    def run(contestants):
        raise NotImplementedError("speculative_step")

    monkeypatch.setattr(racing, "run", run)
    assert race("02", {}) == []
    assert "not written yet: speculative_step" in capsys.readouterr().out


def fails(*args):
    raise ImportError("no such module")


WRONG = (
    None, 3, "ab", [], [0.5], [[1]], [-1], [10**6], [1] * (LONG - 1), [1] * (LONG + 1), [1] * LONG
)  # fmt: skip


@pytest.mark.parametrize("gives", [fails, *WRONG], ids=lambda gives: str(gives)[:9])
def test_a_wrong_function_of_the_reader_is_told_in_a_line(small, capsys, gives):
    """[1] * LONG is right in form, but the target was never asked."""

    def wrong(*args):
        return gives(*args) if callable(gives) else gives

    ours = {"speculative_step": judged_by(wrong, "small"), "speculative_generate": own(wrong)}
    for name, mine in ours.items():
        assert race("00", {"yours": mine}, tokens=LONG, texts=1, temperature=1.0, cost="40m") == []
        (line,) = capsys.readouterr().out.splitlines()
        assert name in line and ("no such module" if gives is fails else str(gives)[:3]) in line


def test_a_race_is_read_as_it_was_written(small):
    found = raced({"model": drafting("small", 3)}, temperature=1.0)
    again = from_data(json.loads(json.dumps(as_data(found))))
    assert [lane.pieces for lane in again.lanes] == [lane.pieces for lane in found.lanes]
    assert as_data(again) == as_data(found)


def test_recording_some_races_leaves_the_others_as_they_were(monkeypatch, tmp_path):
    """And so does a race that was disturbed; each is written with where it was run."""
    quiet = of(("plain", range(1, 80)), ("fast", range(1, 80)))
    monkeypatch.setattr(command, "undisturbed", lambda name, how: quiet if name == "00" else None)
    file = tmp_path / "recorded.json"
    file.write_text(PATH.read_text())
    assert command.main(["00", "--out", str(file)]) == 0
    assert command.main(["00", "05", "--out", str(file)]) == 1
    before, after = json.loads(PATH.read_text())["races"], json.loads(file.read_text())["races"]
    assert [name for name in before if after[name] != before[name]] == ["00"]
    assert after["00"]["prompts"] == ["def "] and after["00"]["processor"]


def test_a_race_that_is_not_there_is_named(capsys):
    with pytest.raises(SystemExit):
        command.main(["99"])
    assert "there is no race 99; there are readme, 00" in capsys.readouterr().err


@pytest.mark.parametrize("name", RACES)
def test_recorded_races_are_whole(name):
    found, how = recorded(name), RACES[name]
    assert [lane.name for lane in found.lanes] == [turns.PLAIN, *how["contestants"]]
    assert disturbed(found) is None and not found.remarks
    assert {len(text) for lane in found.lanes for text in lane.pieces} == {how.get("tokens", 48)}
    assert found.temperature or all(map(found.same, found.lanes))


def test_the_record_is_small():
    assert PATH.stat().st_size < 45_000


def test_the_prompts_are_the_first_whose_texts_do_not_run_in_circles():
    decode = plain(models.target(None, torch.float32), GREEDY, 48)
    pool = prompts(3, ending=".py")
    straight = [i for i, each in enumerate(pool) if repeated_share(decode(each).tokens[0]) <= 0.2]
    assert tuple(straight) == turns.TEXTS[:2]
