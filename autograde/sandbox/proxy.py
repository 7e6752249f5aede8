"""`student.<function>` for the hidden tests: an ordinary call that happens in the worker."""

import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autograde.sandbox.lending import Lent
from autograde.sandbox.session import Reply, Session


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
        function = Function(self, name)
        setattr(self, name, function)  # found without this method the next time
        return function

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
        (answer,) = self._answers([(args, copy.deepcopy(args))])
        return answer

    def each(self, many: list[tuple]) -> Iterator[Any]:
        """The values for one list of arguments after the other, which go to the worker together.

        The arguments are plain data that nobody changes afterwards. Raises as a call does, where
        the call that went wrong has its turn.
        """
        return self._answers([(args, args) for args in many])

    def _answers(self, many: list[tuple[tuple, tuple]]) -> Iterator[Any]:
        """The values for arguments, each beside what is kept of it."""
        given = [args for args, _ in many]
        answers = self.student.session.calls(self.__name__, given, self.count)
        for answer, (args, kept) in zip(answers, many, strict=False):  # the last may be an error
            failed = isinstance(answer, Exception)
            reply, error = (None, getattr(answer, "name", "Gone")) if failed else (answer, None)
            self.student.calls.append(Call(self.__name__, kept, reply, error, traces_of(args)))
            if error == "NotImplementedError":
                raise NotImplementedError(str(answer)) from None
            if failed:
                raise answer
            yield reply.value
