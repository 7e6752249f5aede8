"""Colours go to a terminal only, and not where $NO_COLOR says no."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

import pytest

COLOUR = re.compile(r"\x1b\[(?:[\d;]*;)?[349]\d")
# What `specdec generate --show` and `autograde grade` write, without a model and a grader.
TABLE = """
from autograde.reports.table import print_table
exercise = {"score": 1.0, "max_score": 2.0, "passed": 1, "total": 2}
result = {"exercises": {"f": exercise}, "score": 1.0, "reason": None, "pending": []}
print_table({"ada": {"02_rejection_sampling": result}})
"""
TEXT = """
import sys
from specdec_lib.decoding.progress import Block
from specdec_lib.generation import marked
from specdec_lib.pipes import takes_colour
print(marked([Block([5], 1, 8, 2, [0.5], [0.5])], str, takes_colour(sys.stdout)))
"""


def said(script: str, terminal: bool, **variables: str) -> str:
    """What a script writes to a terminal, or else to a pipe."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    reader, writer = os.openpty() if terminal else os.pipe()
    environment = kept | {"TERM": "xterm-256color"} | variables
    subprocess.run([sys.executable, "-c", script], stdout=writer, env=environment, check=True)
    os.close(writer)
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


@pytest.mark.parametrize("script", [TABLE, TEXT], ids=["table", "text"])
def test_colours_are_for_terminals(script: str):
    assert COLOUR.search(said(script, terminal=True))
    assert not COLOUR.search(said(script, terminal=True, NO_COLOR="1"))
    assert "\x1b" not in said(script, terminal=False)
