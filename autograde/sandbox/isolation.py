"""The isolation of this process, decided once.

A worker is a new program in a sandbox of bubblewrap, one for each submission. `$SPECDEC_ISOLATION`
can be `none`: then there is no sandbox, on any system.
"""

import os
from functools import cache

from autograde.course import UsageError
from autograde.sandbox import bwrap

VARIABLE = "SPECDEC_ISOLATION"
BUBBLEWRAP, NONE = "bubblewrap", "none"
DESCRIBED = {
    BUBBLEWRAP: "bubblewrap, a sandbox for every submission",
    NONE: "none: a student's code runs with the rights of this account",
}
ADVICE = 'See docs/security.md, "Where there is no isolation", or grade with --unsafe-no-isolation.'


class NoIsolation(RuntimeError):
    """This machine offers no isolation, and nobody said that there need be none."""


def isolate_nothing() -> None:
    """Run all code with the rights of this account, in this process and in those it starts."""
    os.environ[VARIABLE] = NONE
    chosen.cache_clear()


@cache
def chosen() -> str:
    """The name of this process's isolation.

    Raises NoIsolation if bubblewrap is not installed, UsageError for an unknown name.
    """
    asked = os.environ.get(VARIABLE) or BUBBLEWRAP
    if asked not in DESCRIBED:
        raise UsageError(f"{VARIABLE} is {asked!r}; it can be {BUBBLEWRAP} or {NONE}")
    if asked == BUBBLEWRAP and not bwrap.find_bubblewrap():
        raise NoIsolation(
            f"students' code cannot be isolated on this machine: {bwrap.NO_BUBBLEWRAP}\n{ADVICE}"
        )
    return asked
