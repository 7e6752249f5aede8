"""The grader's objects, as arguments of a student's function.

A `RemoteObject` is used in the student's process and runs here, where the hidden test sees and
counts its uses. A plain function or a NumPy generator may be an argument as it is; anything else is
given as `RemoteObject(thing, "method()", "attribute")`, which names what the student's code may
use.
"""

import time
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from autograde.sandbox.inside import wire

MAX_USES = 2_000  # of remote objects, by one call of a student's function
# By all calls of one function, so that it costs no other function anything:
MAX_USES_IN_ALL = 40_000
MAX_SECONDS_IN_ALL = 10.0  # in which the grader answers uses
MAX_MEMORY_IN_ALL = 16 * 2**20  # bytes of what the function returned, which is kept
# A use runs in the grader's own process, which no limit of memory or time holds.
MAX_ASKED = 100_000  # numbers that one use may ask for
MAX_GIVEN = 1_000_000  # numbers in the arguments of one use


class RemoteObject:
    """`thing` with the names that student's code may use; with `call`, it may be called.

    The arguments of one use may hold `max_given` numbers.
    """

    def __init__(
        self, thing: Any, *names: str, call: bool = False, max_given: int = MAX_GIVEN
    ) -> None:
        self.thing, self.names, self.call, self.max_given = thing, names, call, max_given


def is_lent(value: Any) -> bool:
    """Whether an argument stays in this process."""
    return isinstance(value, RemoteObject | FunctionType | MethodType | np.random.Generator)


@dataclass
class Account:
    """What the calls of one of the student's functions have cost the grader so far.

    Each method raises ProtocolError where it gets too much.
    """

    memory: int = 0
    uses: int = 0
    seconds: float = 0.0

    def keep(self, weight: int) -> None:
        """Note an answer of about so many bytes."""
        self.memory += weight
        if self.memory > MAX_MEMORY_IN_ALL:
            mib = MAX_MEMORY_IN_ALL // 2**20
            raise wire.ProtocolError(f"what this function returned takes more than {mib} MiB")

    def use(self, seconds: float) -> None:
        """Note one use of an object, which took the grader so long."""
        self.uses += 1
        self.seconds += seconds
        if self.uses > MAX_USES_IN_ALL:
            raise wire.ProtocolError(f"more than {MAX_USES_IN_ALL:,} uses of what it was given")
        if self.seconds > MAX_SECONDS_IN_ALL:
            raise wire.ProtocolError(
                f"what it was given has worked for more than {MAX_SECONDS_IN_ALL:g} s"
            )


class ObjectTable:
    """The remote objects of some calls of one function, by number, and the uses of them."""

    def __init__(self, account: Account | None = None) -> None:
        self.objects: list[RemoteObject] = []
        self.account = account or Account()
        self.uses = 0  # in the present call

    def add(self, value: Any) -> Any:
        """A handle for what stays in this process; every other value as it is."""
        if isinstance(value, FunctionType | MethodType):
            value = RemoteObject(value, call=True)
        elif isinstance(value, np.random.Generator):
            value = RemoteObject(value, "random()")
        if not isinstance(value, RemoteObject):
            return value
        known = [i for i, each in enumerate(self.objects) if each.thing is value.thing]
        if not known:
            self.objects.append(value)
        number = known[0] if known else len(self.objects) - 1
        return wire.Handle(number, value.call, list(value.names))

    def answer(self, question: Any) -> dict:
        """The answer to one use. Raises ProtocolError for a question of no known form.

        An exception of the use itself goes to the student's function.
        """
        self.uses += 1
        if self.uses > MAX_USES:
            raise wire.ProtocolError(f"more than {MAX_USES:,} uses of what it was given")
        start = time.monotonic()
        try:
            return self._answer(question)
        finally:
            self.account.use(time.monotonic() - start)

    def _answer(self, question: Any) -> dict:
        remote, name, args, kwargs = self._read(question)
        try:
            _refuse_large(remote, [*args, *kwargs.values()])
            return {"value": wire.encode(self.add(self._use(remote, name, args, kwargs)))}
        except Exception as error:
            return {"refused": {"name": type(error).__name__[:80], "text": str(error)[:2000]}}

    def _read(self, question: Any) -> tuple[RemoteObject, str, list, dict]:
        """The parts of a question, with the things in place of the handles in its arguments."""
        try:
            remote, name = self._find(question["of"]), question["name"]
            args = wire.decode(question["args"], self.thing)
            kwargs = {k: wire.decode(v, self.thing) for k, v in question["kwargs"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise wire.ProtocolError(f"a question of no known form: {error}") from None
        if type(name) is not str or type(args) is not list:
            raise wire.ProtocolError("a question of no known form")
        return remote, name, args, kwargs

    def _find(self, number: Any) -> RemoteObject:
        if type(number) is not int or not 0 <= number < len(self.objects):
            raise wire.ProtocolError("a handle that was never given out")
        return self.objects[number]

    def thing(self, number: int, callable_: bool, names: list[str]) -> Any:
        """The thing of a handle. Raises ProtocolError if the handle was never given out."""
        return self._find(number).thing

    @staticmethod
    def _use(remote: RemoteObject, name: str, args: list, kwargs: dict) -> Any:
        if not name and remote.call:
            return remote.thing(*args, **kwargs)
        if f"{name}()" in remote.names:
            return getattr(remote.thing, name)(*args, **kwargs)
        if name in remote.names and not args and not kwargs:
            return getattr(remote.thing, name)
        raise AttributeError(f"{name or 'a call'} is not among what may be used here")


def _refuse_large(remote: RemoteObject, given: list) -> None:
    """Raise ValueError if a use gives or asks for more numbers than the grader should handle."""
    if _count(given) > remote.max_given:
        most = f"{remote.max_given:,}"
        raise ValueError(f"one use may be given {most} numbers, and this one was given more")
    draws = isinstance(remote.thing, np.random.Generator)
    if any(_size(value) > MAX_ASKED for value in given if draws or type(value) is int):
        raise ValueError(
            f"one use may ask for {MAX_ASKED:,} numbers, and this one asked for more; "
            "draw only what is needed"
        )


def _count(value: Any) -> int:
    """About how many numbers an argument holds; each letter of a text counts as one."""
    if isinstance(value, list | tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        return 1 + sum(map(_count, items))
    if isinstance(value, np.ndarray | str):
        return np.size(value) if isinstance(value, np.ndarray) else len(value)
    return value.numel() if type(value).__name__ == "Tensor" else 1


def _size(value: Any) -> int:
    """How many numbers a size asks for: the product of its whole numbers, up to the limit."""
    asked = 1
    for part in np.ravel(value).tolist():
        if type(part) is int and asked <= MAX_ASKED:
            asked *= max(1, abs(part))
    return asked
