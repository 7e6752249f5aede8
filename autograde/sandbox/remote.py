"""The grader's objects, as arguments of a student's function.

A `RemoteObject` is used in the student's process and runs here, where the hidden test sees and
counts its uses. A plain function or a NumPy generator may be an argument as it is; anything else is
given as `RemoteObject(obj, "method()", "attribute")`, which names what the student's code may use.
"""

from types import FunctionType, MethodType
from typing import Any

import numpy as np

from autograde.sandbox.inside import wire


class RemoteObject:
    """`obj` with the names that student's code may use; with `call`, it may be called."""

    def __init__(self, obj: Any, *names: str, call: bool = False) -> None:
        self.obj = obj
        self.names = names
        self.call = call


def is_proxied(value: Any) -> bool:
    """Whether an argument stays in this process and crosses as a proxy."""
    return isinstance(value, RemoteObject | FunctionType | MethodType | np.random.Generator)


class ObjectTable:
    """The remote objects of one call, by number, and the uses of them."""

    def __init__(self) -> None:
        self.objects: list[RemoteObject] = []

    def add(self, value: Any) -> Any:
        """A handle for what stays in this process; every other value as it is."""
        if not is_proxied(value):
            return value
        if isinstance(value, np.random.Generator):
            value = RemoteObject(value, "random()")
        elif not isinstance(value, RemoteObject):
            value = RemoteObject(value, call=True)
        self.objects.append(value)
        return wire.Handle(len(self.objects) - 1, value.call, list(value.names))

    def answer(self, question: dict) -> dict:
        """The answer to one use. Raises one of wire.MALFORMED for a question of no known form.

        An exception of the use itself goes to the student's function.
        """
        remote, name = self.objects[question["of"]], str(question["name"])
        args = list(wire.decode_value(question["args"], self.resolve))
        kwargs = dict(wire.decode_value(question["kwargs"], self.resolve))
        try:
            return {"value": wire.encode_value(self.add(_use(remote, name, args, kwargs)))}
        except Exception as error:
            return {"refused": [type(error).__name__[:80], str(error)[:2000]]}

    def resolve(self, number: int, *_: Any) -> Any:
        """The object of a handle. Raises LookupError for a number that no handle has."""
        return self.objects[number].obj


def _use(remote: RemoteObject, name: str, args: list, kwargs: dict) -> Any:
    if not name and remote.call:
        return remote.obj(*args, **kwargs)
    if f"{name}()" in remote.names:
        return getattr(remote.obj, name)(*args, **kwargs)
    if name in remote.names and not args and not kwargs:
        return getattr(remote.obj, name)
    raise AttributeError(f"{name or 'a call'} is not among what may be used here")
