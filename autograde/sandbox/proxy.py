"""`student.<function>` for the hidden tests: an ordinary call that happens in the worker."""

import copy
import inspect
from dataclasses import dataclass
from typing import Any

from autograde.sandbox.lending import Lent
from autograde.sandbox.session import Gone, Reply, Session, StudentError


@dataclass(frozen=True)
class Call:
    """One call of a student's function, kept so that its cause can be looked for afterwards.

    `args` are copies from before the call: a generator is where it was then. `traces` tell what was
    done with each thing that was lent and keeps one.
    """

    function: str
    args: tuple
    reply: Reply | None
    error: str | None  # the name of the exception, or "Gone"
    traces: tuple = ()


def traces_of(args: tuple) -> tuple:
    """The `trace` of every lent thing among `args`; None where it has none."""
    lent = [each.thing for each in args if isinstance(each, Lent)]
    return tuple(getattr(thing, "trace", None) for thing in lent)


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

    def counted(self, name: str) -> "Function":
        """The function `name`, whose operators of torch are counted."""
        return Function(self, name, count=True)

    def value(self, name: str) -> Any:
        """The value of a name in the notebook. Raises NotDefined or Gone."""
        return self.session.value(name)


class Function:
    """One function of the student's, called with positional plain data.

    With `count`, what it does with torch is in the reply of its call.
    """

    def __init__(self, student: Student, name: str, count: bool = False) -> None:
        self.student, self.count = student, count
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
            reply = self.student.session.call(self.__name__, args, self.count)
        except (StudentError, Gone) as error:
            name = getattr(error, "name", "Gone")
            self.student.calls.append(Call(self.__name__, kept, None, name, traces_of(args)))
            if name == "NotImplementedError":
                raise NotImplementedError(str(error)) from None
            raise
        self.student.calls.append(Call(self.__name__, kept, reply, None, traces_of(args)))
        return reply.value
