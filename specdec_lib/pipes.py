"""Where a command's output goes: a pipe that its reader may close, or a terminal with colours."""

import os
import sys
from collections.abc import Callable
from typing import TextIO

CLOSED = 141  # what a shell gives for a program that SIGPIPE ended: 128 + 13


def until_closed(command: Callable[[], int]) -> int:
    """The exit code of `command`; quietly CLOSED where nobody reads its output any more.

    The signal itself stays off: it would also end the program where another process that it talks
    to has gone.
    """
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()  # now, while the error can still be caught
    except BrokenPipeError:
        # Python writes what is left once more as it ends; that goes nowhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        return CLOSED


def takes_colour(stream: TextIO) -> bool:
    """Whether to write in colours: on a terminal only, and not where $NO_COLOR says no."""
    return stream.isatty() and not os.environ.get("NO_COLOR")
