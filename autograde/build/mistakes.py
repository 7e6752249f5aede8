"""What an author can mend: told in a line, with exit code 1, and never as a traceback."""

import sys
from collections.abc import Callable
from functools import wraps


class Mistake(Exception):
    """A chapter cannot be read, built or executed: the text says where, why, and what to do."""


def told(command: Callable[..., int]) -> Callable[..., int]:
    """`command`, which returns an exit code; 1 where a Mistake stops it, and its text on stderr."""

    @wraps(command)
    def run(*arguments: object) -> int:
        try:
            return command(*arguments)
        except Mistake as mistake:
            print(mistake, file=sys.stderr)
            return 1

    return run
