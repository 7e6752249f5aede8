"""Objects of the grader's process as a student's function sees them: called, or used by name.

Every use is a question to the grader's process, which answers with plain data or another handle.
"""

import builtins
import socket
from functools import partial
from typing import Any

import wire


class RemoteObject(wire.Handle):
    """An object that stays in the grader's process."""

    def __init__(self, link: socket.socket, number: int, callable_: bool, names: list[str]) -> None:
        super().__init__(number, callable_, names)
        self._link = link

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        if not self.callable_:
            raise TypeError("this object cannot be called")
        return self._ask("", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """An attribute's present value, or a method."""
        if name.startswith("_") or name.rstrip("()") not in {n.rstrip("()") for n in self.names}:
            raise AttributeError(f"there is no {name} here; there are {', '.join(self.names)}")
        if f"{name}()" in self.names:
            return lambda *args, **kwargs: self._ask(name, args, kwargs)
        return self._ask(name, (), {})

    def _ask(self, name: str, args: tuple, kwargs: dict) -> Any:
        question = {"of": self.number, "name": name, "args": wire.encode(list(args))}
        question["kwargs"] = {key: wire.encode(value) for key, value in kwargs.items()}
        wire.send(self._link, {"ask": question})
        answer = wire.receive(self._link)
        if answer is None:
            raise SystemExit  # the grader has ended
        if "refused" in answer:
            raise _exception(**answer["refused"])
        return wire.decode(answer["value"], maker(self._link))


# Exceptions that take one text and show it unchanged, and that the grader takes for no stub.
KINDS = ("ArithmeticError", "AttributeError", "IndexError", "TypeError", "ValueError")


def _exception(name: str, text: str) -> Exception:
    """An exception of a use in the grader's process, of the same kind if that is in KINDS."""
    return getattr(builtins, name)(text) if name in KINDS else RuntimeError(f"{name}: {text}")


def maker(link: socket.socket) -> wire.MakeHandle:
    """The function that makes a RemoteObject from a handle's parts."""
    return partial(RemoteObject, link)
