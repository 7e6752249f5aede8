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
DESCRIPTIONS = {
    BUBBLEWRAP: "bubblewrap, a sandbox for every submission",
    NONE: "none: a student's code runs with the rights of this account",
}
ADVICE = 'See docs/security.md, "Where there is no isolation", or grade with --unsafe-no-isolation.'


class NoIsolation(RuntimeError):
    """There is no sandbox here, and --unsafe-no-isolation was not given."""


def disable_isolation() -> None:
    """Run all code with the rights of this account, in this process and in those it starts."""
    os.environ[VARIABLE] = NONE
    mode.cache_clear()


@cache
def mode() -> str:
    """The isolation mode of this process: BUBBLEWRAP or NONE.

    Raises NoIsolation if bubblewrap is not installed, UsageError for an unknown name.
    """
    name = os.environ.get(VARIABLE) or BUBBLEWRAP
    if name not in DESCRIPTIONS:
        raise UsageError(f"{VARIABLE} is {name!r}; it can be {BUBBLEWRAP} or {NONE}")
    if name == BUBBLEWRAP and not bwrap.find_bubblewrap():
        raise NoIsolation(
            f"students' code cannot be isolated on this machine: {bwrap.NO_BUBBLEWRAP}\n{ADVICE}"
        )
    return name
