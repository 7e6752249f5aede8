"""`specdec race`: both texts at their speed, the table, bad options, Ctrl+C, no terminal."""

import io
import os
import re
import subprocess
import sys

import pytest

from specdec_lib import cli, cli_race
from specdec_lib.cli_race import Screen, frame, replay, still, table, wrapped
from specdec_lib.measure.race import race as racing
from specdec_lib.measure.race.limits import TooSlow
from specdec_lib.measure.race.record import Lane, Pass, Race, recorded

SLOW = Lane(
    "plain decoding",
    [[Pass(1.0, ["a"]), Pass(2.0, ["b"]), Pass(3.0, ["c"])], [Pass(4.0, ["\n"]), Pass(5.0, ["d"])]],
)
FAST = Lane("speculative decoding", [[Pass(1.5, ["a", "b", "c"])], [Pass(2.5, ["\n", "d"])]])
RACE = Race([SLOW, FAST], ["if ", "or "], "a target")
COLOUR, MOVE = re.compile(r"\x1b\[[\d;]*m"), re.compile(r"\x1b\[(\d+)F")


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def drawn(screen: Screen) -> str:
    """All that a replay writes."""
    out, time = io.StringIO(), Time()
    replay(RACE, out, screen, time.clock, time.sleep)
    assert 5.0 <= time.now <= 5.2
    return out.getvalue()


def test_two_texts_stand_side_by_side_and_each_at_its_own_moment():
    lines = frame(RACE, 1.7, Screen(columns=80))
    assert [line.split("|") for line in lines[:1]] == [
        ["plain decoding".ljust(39), " speculative decoding"]
    ]
    assert "1.70 s  text 1 of 2" in lines[1] and "1.70 s  text 2 of 2" in lines[1]
    assert lines[2].split("|") == ["if a".ljust(39), " or"]


def test_a_lane_that_has_arrived_keeps_its_time_and_its_last_text():
    lines = frame(RACE, 5.0, Screen(columns=80))
    assert "5.00 s" in lines[1] and "2.50 s" in lines[1]
    assert [line.split("|")[0].strip() for line in lines[2:]] == ["or", "d"]
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["or", "d"]


def test_in_a_narrow_terminal_one_text_stands_above_the_other():
    screen = Screen(columns=30)
    lines = frame(RACE, 1.0, screen)
    assert lines.index("plain decoding") < lines.index("speculative decoding")
    assert not any("|" in line for line in lines)
    assert len({len(frame(RACE, moment, screen)) for moment in (0.0, 1.0, 2.6, 5.0)}) == 1


@pytest.mark.parametrize("columns", [10, 30, 79, 80, 100, 200])
@pytest.mark.parametrize("colour", [False, True])
def test_no_line_is_wider_and_no_frame_higher_than_the_terminal(columns: int, colour: bool):
    race = recorded("00")
    for moment in (0.0, 1.0, 2.0, 9.0):
        lines = frame(race, moment, Screen(columns, 24, colour))
        assert max(len(COLOUR.sub("", line)) for line in lines) < columns
        assert len(lines) < 24


def test_a_line_is_broken_where_it_is_too_long_and_where_it_ends():
    pieces = [("abc", "prompt"), ("de\nf", "own"), ("", "draft"), ("\n", "own")]
    assert wrapped(pieces, 4) == [
        [("abc", "prompt"), ("d", "own")], [("e", "own")], [("f", "own")], []
    ]  # fmt: skip


def test_a_replay_draws_over_itself_and_gives_the_cursor_back():
    text = drawn(Screen(columns=80))
    height = len(frame(RACE, 0.0, Screen(columns=80)))
    assert text.startswith(cli_race.HIDE) and text.endswith(cli_race.SHOW)
    assert set(MOVE.findall(text)) == {f"{height}"}


def test_colours_only_where_they_are_asked_for():
    assert not COLOUR.search(drawn(Screen(columns=80)).removesuffix(cli_race.SHOW)[:-4])
    one = Race([Lane("fast", FAST.texts[:1])], ["if "], "a target")
    (line,) = frame(one, 9.0, Screen(colour=True))[2:]
    assert line == "\x1b[2mif \x1b[0m\x1b[4;32mab\x1b[0m\x1b[34mc\x1b[0m"


def test_a_replay_that_is_interrupted_gives_the_cursor_back():
    out, time = io.StringIO(), Time()

    def sleep(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(RACE, out, Screen(), time.clock, sleep)
    assert out.getvalue().endswith(cli_race.SHOW)


def test_the_texts_at_the_end_are_whole():
    text = "\n".join(still(RACE, Screen()))
    assert text.count("if abc") == 2 and text.count("plain decoding") == 2


def test_the_table_has_tokens_seconds_passes_and_ratio():
    rows = [line.split() for line in table(RACE)]
    assert rows[0] == ["tokens", "seconds", "passes", "ratio"]
    assert rows[1][-4:] == ["5", "5.00", "5", "1.00"]
    assert rows[2][-4:] == ["5", "2.50", "2", "2.00"]


def said(capsys, *words: str) -> str:
    assert cli.main(["race", *words]) == 0
    return capsys.readouterr().out


def test_without_a_terminal_texts_and_table_are_printed(capsys):
    text = said(capsys, "--recorded")
    assert "\x1b" not in text and "Recorded on" in text
    assert "every decoder wrote the same text" in text
    assert table(recorded("00"))[-1] in text


def test_a_machine_that_cannot_run_the_race_shows_the_recorded_one(capsys, monkeypatch):
    def run(contestants, **how):
        raise TooSlow("this machine wrote 3 tokens in 20 s")

    monkeypatch.setattr(racing, "run", run)
    assert "since this machine wrote 3 tokens in 20 s" in said(capsys)


def test_a_disturbed_race_is_called_that_and_has_the_recorded_one_below(capsys, monkeypatch):
    monkeypatch.setattr(racing, "run", lambda contestants, **how: RACE)
    monkeypatch.setattr(racing, "disturbed", lambda race: "passes took up to twice as long")
    text = said(capsys)
    assert "This run was disturbed: passes took up to twice as long" in text
    assert "A quiet run, recorded" in text and table(recorded("00"))[-1] in text


def test_the_options_reach_the_race(capsys, monkeypatch):
    seen = {}

    def run(contestants, **how):
        seen.update(how, names=list(contestants))
        return RACE

    monkeypatch.setattr(racing, "run", run)
    monkeypatch.setattr(racing, "disturbed", lambda race: None)
    text = said(capsys, "--temperature", "0.7", "--target-cost", "40m", "--k", "5")
    assert (seen["temperature"], seen["cost"]) == (0.7, "40m")
    assert seen["names"] == [cli_race.NAME] and "A quiet run" not in text


@pytest.mark.parametrize(
    "option", ["--k=7", "--draft=small", "--temperature=1", "--target-cost=40m"]
)
def test_the_recorded_race_refuses_an_option_that_it_would_ignore(option: str, capsys):
    assert cli.main(["race", "--recorded", option]) == 2
    assert option.split("=")[0] in capsys.readouterr().err


def test_a_stopped_command_ends_with_130_and_a_word(capsys, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_race, "run", stopped)
    assert cli.main(["race", "--recorded"]) == cli.STOPPED == 130
    assert capsys.readouterr().err == "\nspecdec: stopped\n"


def test_a_terminal_gets_the_replay():
    reader, writer = os.openpty()
    code = "import itertools, time; time.monotonic = itertools.count(0, 0.5).__next__\n"
    code += "from specdec_lib.cli import main; raise SystemExit(main(['race', '--recorded']))"
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=writer, stderr=writer, env=environment
    ) as process:
        os.close(writer)
        text = b""
        while b"\x1b[10F" not in text and b"every decoder" not in text:
            text += os.read(reader, 65536)
        process.terminate()
    os.close(reader)
    assert cli_race.HIDE.encode() in text
