"""`specdec race`: both texts at their own speed on a terminal, and the table."""

import io
import re

import pytest
from rich.console import Console

from specdec_lib import cli, cli_race
from specdec_lib.measure.race.record import Lane, Race, TargetPass, recorded_race

FIRST = [TargetPass(1.0, ["a"]), TargetPass(2.0, ["b"]), TargetPass(3.0, ["c"])]
SLOW = Lane("plain decoding", [FIRST, [TargetPass(4.0, ["\n"]), TargetPass(5.0, ["d"])]])
PASSES = TargetPass(1.5, ["a", "b", "c"]), TargetPass(2.5, ["\n", "d"])
FAST = Lane("speculative decoding", [[one] for one in PASSES])
CODES = re.compile(r"\x1b\[(?!2K)[\d;?]*[a-zA-Z]")  # but the one that clears a line
RACE = Race([SLOW, FAST], ["if ", "or "], "a target")


def drawn(moment: float, columns: int = 40) -> str:
    """Both panels after so many seconds."""
    console = Console(file=io.StringIO(), width=columns, height=24)
    width, height = cli_race.text_size(RACE, console)
    for lane in RACE.lanes:
        console.print(cli_race.panel(RACE, lane, moment, width, height))
    return console.file.getvalue()


def test_a_token_is_there_from_its_own_moment_on():
    slow, fast = drawn(1.7).split("speculative")
    assert "│ if a " in slow and "1.70 s, text 1 of 2" in slow
    assert "│ or  " in fast and "1.70 s, text 2 of 2" in fast


@pytest.mark.parametrize("columns, lines", [(20, 12), (60, 24), (79, 24), (80, 24), (200, 60)])
def test_the_replay_fits_into_the_terminal(columns: int, lines: int, monkeypatch):
    monkeypatch.setattr(cli_race.time, "sleep", lambda seconds: None)
    console = Console(file=io.StringIO(), width=columns, height=lines, force_terminal=True)
    cli_race.replay(recorded_race(), console)
    last = CODES.sub("", console.file.getvalue()).rpartition("\x1b[2K")[2].splitlines()
    assert max(map(len, last)) <= columns and 4 < len(last) < lines


def test_drafted_tokens_are_marked_by_more_than_their_colour():
    (line,) = cli_race.visible_lines(RACE, FAST, 0, 9.0, 40)
    assert line.plain == "if abc"
    marked = [span for span in line.spans if "underline" in str(span.style)]
    assert [(span.start, span.end) for span in marked] == [(3, 5)]


def test_the_table_has_tokens_seconds_passes_and_ratio(capsys):
    cli_race.show_in_terminal(RACE, "here")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["plain", "decoding", "5", "5.00", "5", "1.00", "yes"] in rows
    assert ["speculative", "decoding", "5", "2.50", "2", "2.00", "yes"] in rows


def test_without_a_terminal_the_recorded_race_is_its_table_alone(capsys):
    assert cli.main(["race", "--recorded"]) == 0
    said = capsys.readouterr().out
    assert "times as fast" in said and "on another machine" in said
    assert "\x1b" not in said and recorded_race().prompts[0] not in said


def test_the_options_reach_the_race(capsys, monkeypatch):
    def run(lanes, temperature, cost, **settings):
        seen.update(temperature=temperature, cost=cost, lanes=list(lanes))
        return RACE

    seen = {}
    monkeypatch.setattr("specdec_lib.measure.race.turns.run_race", run)
    assert cli.main(["race", "--temperature", "0.7", "--target-cost", "40m", "--k", "5"]) == 0
    assert seen == {"temperature": 0.7, "cost": "40m", "lanes": ["speculative decoding"]}
    assert "on this machine" in capsys.readouterr().out
