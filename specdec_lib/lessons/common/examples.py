"""One example of a function: call it, compare, and say exactly what differs.

The visible checks and the hidden tests both speak through `expect`, so a student reads the same
three things in both: the call, what came back, and what was expected.
"""

import functools
import inspect
import re
import textwrap
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

try:
    import numpy as np
except ImportError:  # a browser without it: nested lists stand for arrays there
    array = list
    ARRAYS, BOOLS, INTS, FLOATS = (), (bool,), (int,), (float,)
else:
    array = np.array
    ARRAYS, BOOLS = (np.ndarray,), (bool, np.bool_)
    INTS, FLOATS = (int, np.integer), (float, np.floating)

VALUE_TOLERANCE = 1e-9
LINE = 96  # characters of a line that a check prints
MOST_SHOWN = 2000  # characters of one value in a message; a student's may have millions


class Different(AssertionError):
    """A call whose result is not the expected one; its text is written for the student."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the message, without the frames of the check itself."""
        return textwrap.wrap(str(self), 88, break_long_words=False)


class Unwritten(NotImplementedError):
    """An answer that is not there yet; in a notebook it is one line."""

    def _render_traceback_(self) -> list[str]:
        return [f"NotImplementedError: {self}"]


#: The calls that agreed, a line each, while a visible check runs; None at any other time.
_agreeing: list[str] | None = None


def visible_check(check: Callable[[Callable], None]) -> Callable[[Callable], None]:
    """Decorate a check that stands in a notebook: it prints the calls that it made, if all agree.

    A stub shows one line there, and no frames.
    """

    @functools.wraps(check)
    def run(function: Callable) -> None:
        global _agreeing
        _agreeing = []
        try:
            check(function)
            agreed(check.__name__.removeprefix("check_"), _agreeing)
        except NotImplementedError as stub:
            raise Unwritten(str(stub)) from None
        finally:
            _agreeing = None

    return run


def agrees(call: str, outcome: str) -> None:
    """Note a call that agreed, for the visible check that runs, if one does."""
    if _agreeing is not None:
        line = f"{call} -> {outcome}"
        _agreeing.append(line if len(line) <= LINE else f"{call}\n    -> {outcome}")


def agreed(name: str, calls: Sequence[str]) -> None:
    """Print the calls of a check that all agreed, a line each, and say so."""
    for call in calls:
        print(call)
    said = f"all {len(calls)} examples agree" if len(calls) > 1 else "the example agrees"
    print(f"{name}: {said}. Grading looks at more cases than these.")


def expect(function: Callable, *args: Any, gives: Any, hint: str = "") -> Any:
    """Call `function(*args)` and raise `Different` unless it returns `gives`.

    Numbers agree within 1e-9. A stub's NotImplementedError passes through unchanged, and so does
    an exception with the attribute `no_answer`, so that a missing answer is told from a wrong
    one. `hint` is the likely cause, as a question.
    """
    call, brief = format_call(function, args), brief_call(function, args)
    try:
        got = function(*args)
    except Exception as error:
        pass_missing_answers(error)
        happened = getattr(error, "what_happened", None) or _raised(error)
        raise Different(f"{call} {happened}; expected {describe(gives)}.") from None
    why = difference(got, gives)
    if why is not None:
        raise Different(f"{call} {_outcome(got, gives, why)} {'' if why else hint}".strip())
    agrees(brief, describe(got))
    return got


def expect_value_error(function: Callable, *args: Any, why: str) -> None:
    """Call `function(*args)` and raise `Different` unless it raises ValueError."""
    call, brief = format_call(function, args), brief_call(function, args)
    try:
        got = function(*args)
    except Exception as error:
        pass_missing_answers(error)
        # From the grader's worker an error comes wrapped: its name there, and what happened.
        happened = getattr(error, "what_happened", None)
        name = getattr(error, "name", "") if happened else type(error).__name__
        if name == "ValueError":
            agrees(brief, "ValueError")
            return
        said = happened or f"raised {name}"
        raise Different(f"{call} {said}, expected ValueError: {why}.") from None
    raise Different(f"{call} returned {describe(got)}, expected ValueError: {why}.")


def pass_missing_answers(error: Exception) -> None:
    """Raise `error` again if it says that there is no answer yet."""
    if isinstance(error, NotImplementedError) or getattr(error, "no_answer", False):
        raise error


def _raised(error: Exception) -> str:
    """The exception and the line of source that raised it."""
    line = traceback.extract_tb(error.__traceback__)[-1].line
    return f"raised {type(error).__name__}: {error}" + (f", at `{line}`" if line else "")


def _outcome(got: Any, gives: Any, why: str) -> str:
    """What came back and what was expected, with all digits if the first five are equal."""
    row = differing_row(got, gives)
    if row is not None:
        return f"returned {row}."
    texts = describe(got), describe(gives)
    if texts[0] == texts[1]:
        texts = shortened(got, MOST_SHOWN), shortened(gives, MOST_SHOWN)
    return f"returned {texts[0]}, expected {texts[1]}{why}."


def differing_row(got: Any, gives: Any) -> str | None:
    """The first row of an array (N, V) that is not as expected, in words; else None."""
    if isinstance(gives, tuple):
        pair = isinstance(got, tuple) and len(got) == len(gives) == 2
        if not pair or difference(got[0], gives[0]) is not None:
            return None
        got, gives = got[1], gives[1]
    if not isinstance(gives, ARRAYS) or gives.ndim != 2 or _array(got, gives) != "":
        return None
    apart = np.abs(np.subtract(got, gives, dtype=float))  # of booleans, too
    i = np.flatnonzero(~(apart <= VALUE_TOLERANCE).all(axis=1))[0]
    return f"an array whose row {i} is {describe(got[i])}, expected {describe(gives[i])}"


def difference(got: Any, expected: Any) -> str | None:
    """None if `got` is as good as `expected`; else a remark on its type, or an empty text."""
    if isinstance(got, ARRAYS) and got.shape == () and not isinstance(expected, ARRAYS):
        got = got[()]  # np.where and its kind give one number this way
    if isinstance(expected, BOOLS):
        return _scalar(got, expected, BOOLS, "True or False")
    if isinstance(expected, INTS):
        return _scalar(got, expected, INTS, "a whole number")
    if isinstance(expected, float):
        return _scalar(got, expected, INTS + FLOATS, "a number")
    if isinstance(expected, ARRAYS):
        return _array(got, expected)
    if type(expected).__name__ == "Tensor":  # torch is not imported for those who do without
        same_type = type(got) is type(expected)
        return _array(got.numpy(), expected.numpy()) if same_type else _sequence(got, expected)
    return _sequence(got, expected)


def _scalar(got: Any, expected: Any, kinds: tuple, what: str) -> str | None:
    is_bool = isinstance(got, BOOLS)
    if not isinstance(got, kinds) or (is_bool and bool not in kinds):
        return f" (it should be {what}, not {type_name(got)})"
    close = got == expected or abs(float(got) - float(expected)) <= VALUE_TOLERANCE
    return None if close else ""


def _array(got: Any, expected: "np.ndarray") -> str | None:
    if not isinstance(got, ARRAYS):
        return f" (it should be a NumPy array, not {type_name(got)})"
    if got.shape != expected.shape:
        return f" (its shape is {got.shape}, it should be {expected.shape})"
    if got.dtype.kind not in "biuf":
        return f" (its dtype is {got.dtype}, it should hold numbers)"
    apart = np.abs(np.subtract(got, expected, dtype=float))  # of booleans, too
    return None if np.all(apart <= VALUE_TOLERANCE) else ""


def _sequence(got: Any, expected: Any) -> str | None:
    if type(got) is not type(expected):
        return f" (it should be {type_name(expected)}, not {type_name(got)})"
    if isinstance(expected, dict):
        return _entries(got, expected)
    if not isinstance(expected, list | tuple):
        return None if got == expected else ""
    if len(got) != len(expected):
        return ""
    remarks = [difference(g, e) for g, e in zip(got, expected, strict=True)]
    return next((remark for remark in remarks if remark is not None), None)


def _entries(got: dict, expected: dict) -> str | None:
    """The difference of two dictionaries, whatever the order of their keys."""
    if got.keys() != expected.keys():
        keys = describe(list(got)), describe(list(expected))
        return f" (its keys are {keys[0]}, they should be {keys[1]})"
    return _sequence([got[key] for key in expected], list(expected.values()))


def type_name(value: Any) -> str:
    """The type of `value` with its article: "a list", "an array", "None"."""
    name = getattr(value, "type_in_student_code", type(value).__name__)
    if value is None:
        return "None"
    if isinstance(value, ARRAYS):
        return "an array"
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def describe(value: Any) -> str:
    """`value` as a student would write it, with at most five significant digits.

    What is longer than `MOST_SHOWN` characters is cut there, before the rest of it is written.
    """
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > MOST_SHOWN:
            return text[:MOST_SHOWN] + " ..."
    return text


def _pieces(value: Any) -> Iterator[str]:
    """The text of `value`, in pieces of which none is long."""
    if isinstance(value, ARRAYS):
        shown = 0 < value.size <= 12
        yield from _pieces(value.tolist()) if shown else [f"an array of shape {value.shape}"]
    elif type(value).__name__ == "Tensor":
        shown = 0 < value.numel() <= 12
        shape = tuple(value.shape)
        yield f"tensor({describe(value.tolist())})" if shown else f"a tensor of shape {shape}"
    elif isinstance(value, list | tuple | dict) and len(value) <= 40:
        yield from _items(value)
    elif isinstance(value, BOOLS):
        yield str(bool(value))
    elif isinstance(value, types.FunctionType | types.MethodType):
        yield value.__name__
    else:
        yield f"{value:.5g}" if isinstance(value, FLOATS) else shortened(value)


def _items(value: list | tuple | dict) -> Iterator[str]:
    """The pieces of a list, a tuple or a dict."""
    if isinstance(value, dict):
        brackets, items = "{}", [(f"{shortened(key)}: ", item) for key, item in value.items()]
    else:
        brackets, items = "()" if isinstance(value, tuple) else "[]", [("", item) for item in value]
    yield brackets[0]
    for i, (name, item) in enumerate(items):
        yield f"{', ' * bool(i)}{name}"
        yield from _pieces(item)
    yield ",)" if brackets == "()" and len(value) == 1 else brackets[1]


def shortened(value: Any, most: int = 200) -> str:
    """`repr` of a value, the same in every run, and cut if it is longer than `most`."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return text if len(text) <= most else text[:most] + " ..."


def format_call(function: Callable, args: tuple) -> str:
    """The call as text, with the parameters' names: `f(p=[0.5, 0.5], token=1)`."""
    names = parameter_names(function)
    named = [
        f"{names[i]}={describe(arg)}" if i < len(names) else describe(arg)
        for i, arg in enumerate(args)
    ]
    return f"{getattr(function, '__name__', 'function')}({', '.join(named)})"


def brief_call(function: Callable, args: tuple) -> str:
    """The call as a check prints it: `f([0.5, 0.5], 1)`; what is long stands there by its name."""
    if _agreeing is None:  # hidden tests make thousands of calls, and print none
        return ""
    names = parameter_names(function) + [""] * len(args)
    texts = (_brief(arg, name) for arg, name in zip(args, names, strict=False))
    return f"{getattr(function, '__name__', 'function')}({', '.join(texts)})"


def _brief(value: Any, name: str) -> str:
    """`value` as text, or its parameter's name for rows of numbers and for a long text."""
    shape, text = getattr(value, "shape", (1,)), describe(value)
    return name if name and (len(shape) > 1 or 0 in shape or len(text) > 60) else text


def parameter_names(function: Callable) -> list[str]:
    """The names of the function's parameters, in order; none if it tells none."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
