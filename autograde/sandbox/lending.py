"""What hidden tests lend to a student's function: it stays here, and its uses are seen here.

A plain function or a NumPy generator may be given as an argument as it is. Anything else is wrapped
as `Lent(thing, "method()", "attribute")`, which names what may be asked of it.
"""

from types import FunctionType, MethodType
from typing import Any

import numpy as np

from autograde.sandbox.inside import wire

MOST_USES = 100_000  # by one call of a student's function


class Lent:
    """`thing` with the names that may be used; with `call`, it may be called."""

    def __init__(self, thing: Any, *names: str, call: bool = False) -> None:
        self.thing, self.names, self.call = thing, names, call


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
