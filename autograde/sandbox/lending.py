"""What hidden tests lend to a student's function: it stays here, and its uses are seen here.

A plain function or a NumPy generator may be given as an argument as it is. Anything else is wrapped
as `Lent(thing, "method()", "attribute")`, which names what may be asked of it.
"""

from types import FunctionType, MethodType
from typing import Any

import numpy as np

from autograde.sandbox.inside import wire

MOST_USES = 100_000  # by one call of a student's function
# A use happens in the grader's own process, which no limit of memory or time holds.
MOST_ASKED = 100_000  # numbers that one use may ask for
MOST_GIVEN = 1_000_000  # numbers in the arguments of one use


class Lent:
    """`thing` with the names that may be used; with `call`, it may be called.

    The arguments of one use may hold `most_given` numbers.
    """

    def __init__(
        self, thing: Any, *names: str, call: bool = False, most_given: int = MOST_GIVEN
    ) -> None:
        self.thing, self.names, self.call, self.most_given = thing, names, call, most_given


class Desk:
    """The things lent for one call, by number, and their uses."""

    def __init__(self) -> None:
        self.lent: list[Lent] = []
        self.uses = 0

    def lend(self, value: Any) -> Any:
        """A handle for what stays here; every other value as it is."""
        if isinstance(value, FunctionType | MethodType):
            value = Lent(value, call=True)
        elif isinstance(value, np.random.Generator):
            value = Lent(value, "random()")
        if not isinstance(value, Lent):
            return value
        known = [i for i, each in enumerate(self.lent) if each.thing is value.thing]
        if not known:
            self.lent.append(value)
        number = known[0] if known else len(self.lent) - 1
        return wire.Handle(number, value.call, list(value.names))

    def answer(self, question: Any) -> dict:
        """The answer to one use. Raises ProtocolError where the question is not one.

        What goes wrong in the use itself is told to the student's function.
        """
        self.uses += 1
        if self.uses > MOST_USES:
            raise wire.ProtocolError(f"more than {MOST_USES} uses of what it was given")
        thing, name, args, kwargs = self._read(question)
        try:
            _refuse_large(thing, [*args, *kwargs.values()])
            return {"value": wire.encode(self.lend(self._use(thing, name, args, kwargs)))}
        except Exception as error:
            return {"refused": {"name": type(error).__name__[:80], "text": str(error)[:2000]}}

    def _read(self, question: Any) -> tuple[Lent, str, list, dict]:
        """The parts of a question, with handles in its arguments turned back into the things."""
        try:
            lent, name = self._find(question["of"]), question["name"]
            args = wire.decode(question["args"], self.thing)
            kwargs = {k: wire.decode(v, self.thing) for k, v in question["kwargs"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise wire.ProtocolError(f"a question that is none: {error}") from None
        if type(name) is not str or type(args) is not list:
            raise wire.ProtocolError("a question that is none")
        return lent, name, args, kwargs

    def _find(self, number: Any) -> Lent:
        if type(number) is not int or not 0 <= number < len(self.lent):
            raise wire.ProtocolError("a handle that was never lent")
        return self.lent[number]

    def thing(self, number: int, callable_: bool, names: list[str]) -> Any:
        """The thing behind a handle. Raises ProtocolError where it was never lent."""
        return self._find(number).thing

    @staticmethod
    def _use(lent: Lent, name: str, args: list, kwargs: dict) -> Any:
        if not name and lent.call:
            return lent.thing(*args, **kwargs)
        if f"{name}()" in lent.names:
            return getattr(lent.thing, name)(*args, **kwargs)
        if name in lent.names and not args and not kwargs:
            return getattr(lent.thing, name)
        raise AttributeError(f"{name or 'a call'} is not among what may be used here")


def _refuse_large(lent: Lent, given: list) -> None:
    """Raise ValueError where a use gives or asks for more than the grader should make of it."""
    if _count(given) > lent.most_given:
        most = f"{lent.most_given:,}"
        raise ValueError(f"one use may be given {most} numbers, and this one was given more")
    draws = isinstance(lent.thing, np.random.Generator)
    if any(_size(value) > MOST_ASKED for value in given if draws or type(value) is int):
        raise ValueError(
            f"one use may ask for {MOST_ASKED:,} numbers, and this one asked for more; "
            "draw only what is needed"
        )


def _count(value: Any) -> int:
    """The numbers in an argument, about; a text counts by its letters."""
    if isinstance(value, list | tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        return 1 + sum(map(_count, items))
    if isinstance(value, np.ndarray | str):
        return np.size(value) if isinstance(value, np.ndarray) else len(value)
    return value.numel() if type(value).__name__ == "Tensor" else 1


def _size(value: Any) -> int:
    """The numbers that a size asks for: the product of its whole numbers, as far as it matters."""
    asked = 1
    for part in np.ravel(value).tolist():
        if type(part) is int and asked <= MOST_ASKED:
            asked *= max(1, abs(part))
    return asked
