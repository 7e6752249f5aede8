"""The chapter's own answers, for what a student builds on answers that are wrong.

They run in a worker of their own, as the student's do: what a student's code gives them may be
anything. The student's worker holds no more of them than a handle.
"""

import builtins
from collections.abc import Iterable
from functools import partial
from typing import Any

from autograde.sandbox.remote import PassedOn
from autograde.sandbox.session import Cell, Session, StudentError
from autograde.sandbox.workers import Limits

# Arguments of a session's calls have no names.
BY_NAME = """\
def answer_of(name, keywords, *args):
    end = len(args) - len(keywords)
    return globals()[name](*args[:end], **dict(zip(keywords, args[end:])))
"""


class Reference:
    """The answers that `cells` define, in a worker that starts when the first is asked for.

    `used` are the names that were asked for since `functions` was called last.
    """

    def __init__(self, cells: list[Cell], limits: Limits) -> None:
        by_name = Cell("answer_of", BY_NAME, limits.cell_seconds)
        self.session = Session([*cells, by_name], limits)
        self.used: set[str] = set()

    def __enter__(self) -> "Reference":
        return self

    def __exit__(self, *_: object) -> None:
        self.session.__exit__()

    def functions(self, names: Iterable[str]) -> dict[str, PassedOn]:
        """The answers to lend, each under its name."""
        self.used = set()
        self.session.ended.clear()
        self.session.accounts.clear()  # what one exercise asks for costs the next one nothing
        return {name: PassedOn(partial(self._answer, name)) for name in names}

    def _answer(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What the answer `name` gives. Raises what it raises, and ProcessEnded.

        TypeError for an argument that is an answer lent here: it would wait for its own worker.
        """
        self.used.add(name)
        if any(isinstance(each, PassedOn) for each in (*args, *kwargs.values())):
            raise TypeError(f"{name} was given a graded function as an argument")
        if self.session.worker is None:
            self.session.renew()
        call = (name, list(kwargs), *args, *kwargs.values())
        (answer,) = self.session.calls("answer_of", [call])
        if isinstance(answer, StudentError):
            raise _as_raised(answer)
        if isinstance(answer, Exception):
            raise answer
        return answer.value


def _as_raised(error: StudentError) -> Exception:
    """An exception of the kind that was raised there, if it is one of Python's own."""
    kind = getattr(builtins, error.name, None)
    known = isinstance(kind, type) and issubclass(kind, Exception)
    return kind(str(error)) if known else RuntimeError(f"{error.name}: {error}")
