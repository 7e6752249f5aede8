"""`student.<function>` for the hidden tests: an ordinary call that happens in the worker."""

import copy
import inspect
from dataclasses import dataclass
from typing import Any

from autograde.sandbox.session import Gone, Reply, Session, StudentError


@dataclass(frozen=True)
class Call:
    """One call of a student's function, kept so that its cause can be looked for afterwards.

    `args` are copies from before the call: a generator is where it was then.
    """

    function: str
    args: tuple
    reply: Reply | None
    error: str | None  # the name of the exception, or "Gone"


class Student:
    """A student's notebook as the hidden tests see it: functions to call, values to read.

    `parameters` gives each function's parameter names, for the text of messages. `calls` holds
    the calls made since it was last emptied.
    """

    def __init__(self, session: Session, parameters: dict[str, list[str]]) -> None:
        self.session = session
        self.parameters = parameters
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> "Function":
        if name.startswith("_"):
            raise AttributeError(name)
        return Function(self, name)

    def value(self, name: str) -> Any:
        """The value of a name in the notebook. Raises NotDefined or Gone."""
        return self.session.value(name)


class Function:
    """One function of the student's, called with positional plain data."""

    def __init__(self, student: Student, name: str) -> None:
        self.student = student
        self.__name__ = name
        kind = inspect.Parameter.POSITIONAL_ONLY
        names = student.parameters.get(name, [])
        self.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])

    def __call__(self, *args: Any) -> Any:
        """The value that the student's function returns for `args`.

        Raises NotImplementedError for a stub, StudentError for any other exception of the
        student's, NotDefined where there is no such function, and Gone where the call outlasted
        its limit or ended the process.
        """
        kept = copy.deepcopy(args)
        try:
            reply = self.student.session.call(self.__name__, args)
        except (StudentError, Gone) as error:
            name = getattr(error, "name", "Gone")
            self.student.calls.append(Call(self.__name__, kept, None, name))
            if name == "NotImplementedError":
                raise NotImplementedError(str(error)) from None
            raise
        self.student.calls.append(Call(self.__name__, kept, reply, None))
        return reply.value
