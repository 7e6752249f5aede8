"""Sessions of a worker, for tests of what happens in one."""

from autograde.sandbox.session import Cell, Reply, Session
from autograde.sandbox.workers import Limits

LIMITS = Limits(call_seconds=1.5)


def session(
    *sources: str, seconds: float = 5.0, limits: Limits = LIMITS, **settings: float
) -> Session:
    cells = [Cell(f"cell-{number}", source, seconds) for number, source in enumerate(sources)]
    return Session(cells, limits, **settings)


def call(session: Session, name: str, args: tuple) -> Reply:
    """The reply to one call; raises what came in its place."""
    return session.call(name, args)


def value_of(code: str, *args: object, limits: Limits = LIMITS) -> object:
    """The value of `f(*args)`, where f is defined by the one cell `code`."""
    with session(code, limits=limits) as s:
        return call(s, "f", args).value
