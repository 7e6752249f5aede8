"""Colours go to a terminal only, and not where $NO_COLOR says no; points have two decimals."""

import contextlib
import os
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from autograde.report.table import print_table
from specdec_lib.cli_generate import counts
from specdec_lib.decoding.state import Generation

COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?[349]\d")
EXERCISE = {"score": 1.0, "max_score": 2.0, "passed": 1, "total": 2}
RESULT = {"exercises": {"f": EXERCISE}, "score": 1.0, "reason": None, "pending": []}


def table() -> None:
    """What `autograde grade` writes, without a grader."""
    print_table({"ada": {"02_rejection_sampling": RESULT}})


def line() -> None:
    """What `specdec generate` writes at its end, without a model."""
    Console().print(counts(Generation([[0]], [[]], target_passes=1)))


def said(write: Callable[[], None], terminal: bool) -> str:
    """What `write` writes to a terminal, or else to a pipe."""
    reader, writer = os.openpty() if terminal else os.pipe()
    with os.fdopen(writer, "w") as out, contextlib.redirect_stdout(out):
        write()
    parts = []
    with os.fdopen(reader, "rb", buffering=0) as written, contextlib.suppress(OSError):
        while part := written.read(65536):  # a terminal whose other side has gone raises
            parts.append(part)
    return b"".join(parts).decode()


@pytest.mark.parametrize("write", [table, line])
def test_colours_are_for_terminals(write: Callable[[], None], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert COLOUR.search(said(write, terminal=True))
    assert "\x1b" not in said(write, terminal=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(said(write, terminal=True))


def test_a_share_of_a_point_is_read_with_two_decimals():
    shared = {**RESULT, "exercises": {"f": {**EXERCISE, "score": 2 / 3}}}
    shown = said(lambda: print_table({"ada": {"02_rejection_sampling": shared}}), terminal=False)
    assert "0.67 " in shown
