"""What a program of ours ends with: an exit code, and any error as a line on stderr."""

import sys
from collections.abc import Callable

from autograde.chapter import AuthorError


def exit_code(command: Callable[[], int], not_started: tuple[type[Exception], ...] = ()) -> int:
    """The exit code of `command`: 1 for an AuthorError, 2 for an error of `not_started`."""
    try:
        return command()
    except AuthorError as error:
        print(error, file=sys.stderr)
        return 1
    except not_started as error:
        print(f"autograde: {error}", file=sys.stderr)
        return 2
