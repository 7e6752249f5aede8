"""Colours go to a terminal only, and not where $NO_COLOR says no; points have two decimals."""

import re

from autograde.report.table import print_table

COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?[349]\d")
EXERCISE = {"score": 1.0, "max_score": 2.0, "passed": 1, "total": 2}
RESULT = {"exercises": {"f": EXERCISE}, "score": 1.0, "reason": None, "pending": []}


def table() -> None:
    """What `autograde grade` writes, without a grader."""
    print_table({"ada": {"02_rejection_sampling": RESULT}})


def test_colours_are_for_terminals(monkeypatch, capsys):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    table()
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if it were a terminal
    table()
    assert COLOUR.search(capsys.readouterr().out)
    monkeypatch.setenv("NO_COLOR", "1")
    table()
    assert not COLOUR.search(capsys.readouterr().out)


def test_a_share_of_a_point_is_read_with_two_decimals(capsys):
    shared = {**RESULT, "exercises": {"f": {**EXERCISE, "score": 2 / 3}}}
    print_table({"ada": {"02_rejection_sampling": shared}})
    assert "0.67 " in capsys.readouterr().out
