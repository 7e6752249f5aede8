"""What a program of ours ends with: an exit code, and any error as a line on stderr."""

import os
import sys
from collections.abc import Callable

from autograde.chapter import AuthorError

OUTPUT_CLOSED = 141  # what a shell gives for a program that SIGPIPE ended: 128 + 13


def exit_code(command: Callable[[], int], not_started: tuple[type[Exception], ...] = ()) -> int:
    """The exit code of a program that is `command`, with any error as a line on stderr.

    An AuthorError gives 1, an error of `not_started` 2, a reader that has gone 141 without a word.
    The signal SIGPIPE stays off: it would also end the program when another process that it talks
    to has gone.
    """
    try:
        return _said(command, not_started)
    except BrokenPipeError:
        # Python writes what is left once more as it ends; that goes nowhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        return OUTPUT_CLOSED


def _said(command: Callable[[], int], not_started: tuple[type[Exception], ...]) -> int:
    try:
        return command()
    except BrokenPipeError:  # an OSError, which may be one of `not_started`
        raise
    except AuthorError as error:
        print(error, file=sys.stderr)
        return 1
    except not_started as error:
        print(f"autograde: {error}", file=sys.stderr)
        return 2
    finally:
        sys.stdout.flush()  # now, while a closed pipe can still be caught
