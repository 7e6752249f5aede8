"""The student's functions as the hidden tests call them: each call runs in the sandbox."""

import copy
import inspect
import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.session import Cell, NotDefined, ProcessEnded, Reply, Session, StudentError


@dataclass(frozen=True)
class Call:
    """One call of a student's function, kept so that its cause can be looked for afterwards.

    `args` are copies from before the call, so a generator is in the state that it had then.
    `traces` holds what each thing lent among them notes of its use (see `traces_of`).
    """

    function: str
    args: tuple
    reply: Reply | None
    error: str | None  # the name of the exception
    traces: tuple = ()


class Shown(reprlib.Repr):
    """Arguments as code for a notebook; in angle brackets what no notebook can make, or is long.

    An object may say by its attribute `code` how a notebook makes it. A code that begins with `*`
    makes the next argument as well, whose own is empty.
    """

    def repr_ndarray(self, value: Any, level: int) -> str:
        """An array of few numbers whole."""
        few = 0 < value.size <= self.maxlist
        return f"np.array({_named(value, 'np')})" if few else f"<an array of shape {value.shape}>"

    def repr_Tensor(self, value: Any, level: int) -> str:  # noqa: N802  by the type's name
        """The same of a tensor."""
        few, shape = 0 < value.numel() <= self.maxlist, tuple(value.shape)
        numbers = f"{_named(value, 'torch')}, dtype={value.dtype}"
        return f"torch.tensor({numbers})" if few else f"<a tensor of shape {shape}>"

    def repr_instance(self, value: Any, level: int) -> str:
        """A number, an object's code, or its type."""
        if isinstance(value, float | bool | np.generic | None):
            return _named(np.asarray(value), "np")
        thing = getattr(value, "thing", value)  # of a remote object
        name = getattr(thing, "__name__", f"a {type(thing).__name__}")
        return getattr(value, "code", getattr(thing, "code", f"<{name.strip('<>')}>"))


def _named(numbers: Any, module: str) -> str:
    """The numbers of an array or a tensor, with the module's names for nan and infinity."""
    return re.sub(r"\b(nan|inf)\b", rf"{module}.\1", repr(numbers.tolist()))


SHOWN = Shown()
SHOWN.fillvalue = "<...>"
SHOWN.maxlist = SHOWN.maxtuple = SHOWN.maxdict = 36
SHOWN.maxstring = SHOWN.maxlong = 80


def traces_of(args: tuple) -> tuple:
    """The `trace` of every remote object among `args`, None for what keeps none.

    A NumPy generator's is its state: it says how many numbers were drawn.
    """
    return tuple(
        each.bit_generator.state
        if isinstance(each, np.random.Generator)
        else getattr(each.thing, "trace", None)
        for each in args
        if isinstance(each, RemoteObject | np.random.Generator)
    )


@dataclass(eq=False)
class Student:
    """A student's notebook as the hidden tests see it: functions to call, values to read.

    `parameters` gives each function's parameter names, for the text of messages. `calls` holds
    the calls since it was last emptied, `told` what a test has to say to who passes it. `given` has
    a cell for each function that the release defines: one that a test calls runs as it was given,
    whatever the student has made of it. The names in this class can be no exercise's: the builder
    refuses them.
    """

    session: Session
    parameters: dict[str, list[str]]
    given: Mapping[str, Cell] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    told: str = ""

    def __getattr__(self, name: str) -> "Function":
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.given:
            self.session.put_in_place([self.given[name]])
        function = Function(self, name)
        setattr(self, name, function)  # the next look-up does not come here
        return function

    def counted(self, name: str) -> "Function":
        """The function `name`, whose operators of torch are counted."""
        return Function(self, name, count=True)

    def value(self, name: str) -> Any:
        """The value of a name in the notebook. Raises NotDefined or ProcessEnded."""
        return self.session.value(name)


class Function:
    """One function of the student's, called with positional plain data."""

    def __init__(self, student: Student, name: str, count: bool = False) -> None:
        self.student, self.count = student, count
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
        kept = copy.deepcopy(args)
        try:
            reply = self.student.session.call(self.__name__, args, self.count)
        except (StudentError, NotDefined, ProcessEnded) as error:
            error.call = getattr(error, "call", "") or self.text(args)
            name = getattr(error, "name", type(error).__name__)
            self._note(kept, args, None, name)
            if name == "NotImplementedError":
                unwritten = NotImplementedError(str(error))
                unwritten.no_answer = True
                raise unwritten from None
            raise
        self._note(kept, args, reply, None)
        return reply.value

    def _note(self, kept: tuple, args: tuple, reply: Reply | None, error: str | None) -> None:
        call = Call(self.__name__, kept, reply, error, traces_of(args))
        self.student.calls.append(call)

    def text(self, args: tuple) -> str:
        """A call as text, with its parameters' names: `f(p=np.array([0.5, 0.5]), token=1)`."""
        names = [f"{name}=" for name in self.student.parameters.get(self.__name__, [])]
        pairs = zip_longest(names[: len(args)], map(SHOWN.repr, args), fillvalue="")
        given = (text if text[:1] in ("", "*") else name + text for name, text in pairs)
        return f"{self.__name__}({', '.join(filter(None, given))})"
