"""The student's functions as the hidden tests call them: each call runs in the sandbox."""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.session import Cell, NotDefined, ProcessEnded, Reply, Session, StudentError


@dataclass(frozen=True)
class Call:
    """A record of one call of a student's function, from which its cause is found afterwards.

    `args` are copies from before the call, so a generator is in the state that it had then.
    `traces` holds what each proxied argument has recorded of its use (see `traces_of`).
    """

    function: str
    args: tuple
    reply: Reply | None
    error: str | None  # the name of the exception
    traces: tuple = ()


def traces_of(args: tuple) -> tuple:
    """The `trace` of every remote object among `args`, None for one without a trace.

    A NumPy generator's trace is its state, which says how many numbers were drawn.
    """
    return tuple(
        arg.bit_generator.state
        if isinstance(arg, np.random.Generator)
        else getattr(arg.obj, "trace", None)
        for arg in args
        if isinstance(arg, RemoteObject | np.random.Generator)
    )


@dataclass(eq=False, repr=False)
class Student:
    """A student's notebook as the hidden tests see it: functions to call, values to read.

    `parameters` gives each function's parameter names, for the text of messages. `calls` holds
    the calls since it was last emptied, `pass_message` what a test says to students who pass it.
    `release_functions` has a cell for each function that the release defines: a test calls the
    release's version, whatever the student has made of it. No exercise can have a name of this
    class: the builder refuses it.
    """

    session: Session
    parameters: dict[str, list[str]]
    release_functions: Mapping[str, Cell] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    pass_message: str = ""

    def __repr__(self) -> str:
        return f"<the functions {', '.join(self.parameters)}>"

    def __getattr__(self, name: str) -> "StudentFunction":
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.release_functions:
            self.session.override([self.release_functions[name]])
        function = StudentFunction(self, name)
        setattr(self, name, function)  # the next look-up does not come here
        return function

    def profile(self, name: str) -> "StudentFunction":
        """The function `name`, with each call's uses of torch in its reply."""
        return StudentFunction(self, name, profile=True)

    def value(self, name: str) -> Any:
        """The value of a name in the notebook. Raises NotDefined or ProcessEnded."""
        return self.session.value(name)


class StudentFunction:
    """One function of the student's, called with positional plain data."""

    def __init__(self, student: Student, name: str, profile: bool = False) -> None:
        self.student = student
        self.profile = profile
        self.__name__ = name
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = student.parameters.get(name, [])
        self.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])

    def __call__(self, *args: Any) -> Any:
        """The value that the student's function returns for `args`.

        Raises NotImplementedError for a stub, StudentError for any other exception of the
        student's, NotDefined if there is no such function, and ProcessEnded if the call reached
        its time limit or ended the process.
        """
        args_before = copy.deepcopy(args)
        try:
            reply = self.student.session.call(self.__name__, args, self.profile)
        except (StudentError, NotDefined, ProcessEnded) as error:
            error.called = getattr(error, "called", None) or (self, args_before)
            name = getattr(error, "name", type(error).__name__)
            self._record(args_before, args, None, name)
            if name == "NotImplementedError":
                unwritten = NotImplementedError(str(error))
                unwritten.no_answer = True
                raise unwritten from None
            raise
        self._record(args_before, args, reply, None)
        return reply.value

    def _record(self, before: tuple, after: tuple, reply: Reply | None, error: str | None) -> None:
        call = Call(self.__name__, before, reply, error, traces_of(after))
        self.student.calls.append(call)
