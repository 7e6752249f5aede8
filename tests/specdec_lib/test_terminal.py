"""Colours go to a terminal only, and not where $NO_COLOR says no; points have two decimals."""

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import IO

import pytest

from autograde.report.table import print_table
from specdec_lib.cli_generate import marked
from specdec_lib.cli_race import takes_colour
from specdec_lib.decoding.state import Block

COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?[349]\d")
BLOCKS = [Block([5], [5], 8, 2, True, [0.5], [0.5])]
EXERCISE = {"score": 1.0, "max_score": 2.0, "passed": 1, "total": 2}
RESULT = {"exercises": {"f": EXERCISE}, "score": 1.0, "reason": None, "pending": []}


def table() -> None:
    """What `autograde grade` writes, without a grader."""
    print_table({"ada": {"02_rejection_sampling": RESULT}})


def text() -> None:
    """What `specdec generate --show` writes, without a model."""
    print(marked(BLOCKS, str, takes_colour(sys.stdout)))


def said(write: Callable[[], None], terminal: bool) -> str:
    """What `write` writes to a terminal, or else to a pipe."""
    reader, writer = os.openpty() if terminal else os.pipe()
    with os.fdopen(writer, "w") as out, contextlib.redirect_stdout(out):
        write()
    with os.fdopen(reader, "rb") as written:
        return b"".join(_until_end(written)).decode()


def _until_end(written: IO[bytes]) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(written.fileno(), 65536)
        except OSError:  # a terminal's other side has gone: that is its end
            return
        if not part:
            return
        yield part


@pytest.mark.parametrize("write", [table, text])
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
