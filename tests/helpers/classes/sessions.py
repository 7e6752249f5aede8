"""Sessions of a worker, for tests of what happens in one."""

from autograde.sandbox.session import Cell, Session
from autograde.sandbox.workers import Limits

LIMITS = Limits(call_seconds=1.5)


def session(*sources: str, seconds: float = 20.0, limits: Limits = LIMITS) -> Session:
    """A session over cells with these sources, each of which has so many seconds."""
    cells = [Cell(f"cell-{number}", source, seconds) for number, source in enumerate(sources)]
    return Session(cells, limits)


def value_of(code: str, *args: object, limits: Limits = LIMITS) -> object:
    """The value of `f(*args)`, where f is defined by the one cell `code`."""
    with session(code, limits=limits) as s:
        return s.call("f", args).value
