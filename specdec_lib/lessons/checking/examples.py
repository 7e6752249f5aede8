"""One example of a function: call it, compare, and say exactly what differs.

The visible checks and the hidden tests both speak through `expect`, so a student reads the same
three things in both: the call, what came back, and what was expected. A visible check also calls
on copies, and refuses a warning and a changed argument.
"""

import contextlib
import functools
import inspect
import io
import textwrap
import time
import traceback
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .blame import PACKAGE_FOLDERS, error_text, is_unwritten
from .comparing import difference, first_difference
from .describing import describe, distinct_texts, parameter_names
from .kinds import ARRAYS
from .lending import copy_plain
from .pasting import brief_call, format_call

TO_ASK = "Stuck? Copy this message and add what you verified, what you assume, and your next step."
_LINE_LENGTH = 96  # characters of a line that a check prints
RERUN_LIMITS = (20, 1.0)  # runs and seconds in which a check that fails is repeated
UNSTEADY = (
    "Asked again, it gives another answer. Use the arguments alone: no random numbers of your own, "
    "and nothing that an earlier call has left."
)
DIVISION_QUESTION = " Which division meets a 0 there, and should it?"
_SHARED = "returned an array that shares its memory with an argument. Return a copy."
_LESSONS = PACKAGE_FOLDERS[:2][-1]  # this package and what stands beside it


class Different(AssertionError):
    """A call whose result is not the expected one; its text is written for the student.

    `seen` is what happened, and `hint` the likely cause, if one is known. `returned` is an array
    whose only fault so far is that it shares its memory with an argument.
    """

    def __init__(self, seen: str, hint: str = "", returned: Any = None) -> None:
        super().__init__(f"{seen} {hint}".strip())
        self.seen, self.hint, self.returned = seen, hint, returned

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the message without the check's own frames, and how to ask."""
        return [*textwrap.wrap(str(self), 88, break_long_words=False), TO_ASK]


class Unwritten(NotImplementedError):
    """An answer that is not there yet; in a notebook it is one line."""

    def _render_traceback_(self) -> list[str]:
        return [f"{self}. This cell waits for it, and 'Run All Cells' stops here."]


#: The calls that agreed, a line each, while a visible check runs; None at any other time.
_agreements: list[str] | None = None


def visible_check(check: Callable[[Callable], None]) -> Callable[[Callable], None]:
    """Decorate a check that stands in a notebook: it prints the calls that it made, if all agree.

    The function is called on copies, and may neither warn nor change them (`guard_calls`). A stub
    shows one line, and no frames.
    """

    @functools.wraps(check)
    def run(function: Callable) -> None:
        global _agreements
        _agreements = []
        try:
            check(guard_calls(function))
            _print_agreements(check.__name__.removeprefix("check_"), _agreements)
        except NotImplementedError as stub:
            if not is_unwritten(stub):
                raise
            raise Unwritten(str(stub)) from None
        except Different as wrong:
            steady = _is_steady(check, function, str(wrong))
            raise wrong if steady else Different(wrong.seen, UNSTEADY) from None
        finally:
            _agreements = None

    return run


def _is_steady(check: Callable, function: Callable, message: str) -> bool:
    """Whether a check that failed with `message` fails with the same one again and again.

    Every run makes its arguments anew, so only the function itself can make a difference.
    """
    most, seconds = RERUN_LIMITS
    end = time.monotonic() + seconds
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(most):
            try:
                check(guard_calls(function))
                return False
            except Exception as again:
                if str(again) != message:
                    return False
            if time.monotonic() > end:
                break
    return True


def check_examples(function: Callable, *cases: tuple, hint: str = "") -> None:
    """A visible check of typed cases: the arguments of each, and last what they give.

    Raises Different for the first case that a function gets wrong; `hint` is true of every case.
    """

    def check(function: Callable) -> None:
        for *args, gives in cases:
            expect(function, *args, gives=gives, hint=hint)

    check.__name__ = function.__name__
    visible_check(check)(function)


def helpers_first(*checks: Callable[[Callable], None]) -> Callable:
    """Decorate a check of a function that calls others: if it fails, theirs are asked first.

    Raises Different with what `checks` say of a function that is wrong by itself. One that is not
    written counts as right: the function may do without.
    """

    def decorate(check: Callable[[Callable], None]) -> Callable[[Callable], None]:
        @functools.wraps(check)
        def run(function: Callable) -> None:
            try:
                check(function)
            except Different:
                _ask_helpers(inspect.unwrap(function), checks)
                raise

        return run

    return decorate


def _ask_helpers(function: Callable, checks: Sequence[Callable]) -> None:
    """Raise Different if one that `function` may call fails its own check."""
    known, code = getattr(function, "__globals__", {}), getattr(function, "__code__", None)
    for check in checks:
        name = check.__name__.removeprefix("check_")
        if name not in known or not _names(code, name):
            continue
        try:
            inspect.unwrap(check)(guard_calls(known[name]))
        except NotImplementedError:
            continue
        except Different as wrong:
            message = f"Is {name} right? {function.__name__} calls it, and {wrong}"
            raise Different(message) from None


def _names(code: object, name: str) -> bool:
    """Whether the code of a function, or of one that is defined in it, uses this name."""
    if not isinstance(code, types.CodeType):
        return False
    return name in code.co_names or any(_names(part, name) for part in code.co_consts)


def guard_calls(function: Callable) -> Callable:
    """`function` on copies of its arguments; it raises Different for what no answer may do.

    That is: a warning, a changed argument, and an array that is an argument or a part of one.
    """

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        copies = [copy_plain(arg) for arg in args]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                got = function(*copies)
            except Exception as error:  # at a limit, the cause may be an argument that grew
                fault = _is_from_lesson(error) and _fault(function, args, copies, None, caught)
                if not fault:
                    raise
                raise Different(f"{format_call(function, args)} {fault}") from None
        if fault := _fault(function, args, copies, got, caught):
            shared = got if fault == _SHARED else None
            raise Different(f"{format_call(function, args)} {fault}", returned=shared)
        return got

    return call


def _fault(
    function: Callable,
    args: Sequence,
    copies: Sequence,
    got: Any,
    caught: Sequence[warnings.WarningMessage],
) -> str | None:
    """The fault of a call that no answer may have; None if there is none.

    The function worked on the `copies` of `args` and returned `got`.
    """
    if caught:
        return describe_warning(str(caught[0].message))
    names = [*parameter_names(function), *map(str, range(len(args)))]
    for name, now, before in zip(names, copies, args, strict=False):
        if difference(now, before) is not None:
            advice = "Work on a copy: the caller still needs the old one."
            return f"changed its argument {name}. {advice}"
    arrays = [arg for arg in copies if isinstance(arg, ARRAYS)]
    if isinstance(got, ARRAYS) and any(np.may_share_memory(got, arg) for arg in arrays):
        return _SHARED
    return None


def describe_warning(text: str) -> str:
    """A warning in words: its text, and the likely cause."""
    asks = {
        "divide": DIVISION_QUESTION,
        "log": " Did you take the logarithm of 0?",
        "2.0)": " Does NumPy get a tensor? Use torch, as in torch.minimum." * ("_wrap__" in text),
        "exp": " np.exp overflows above 709: subtract the largest logit first.",
    }
    return f'gave a warning: "{text}".{asks.get(text.rpartition(" ")[2], "")}'


def record_agreement(call: str, outcome: str) -> None:
    """Add a call that agreed to the list of the visible check that runs, if one does."""
    if _agreements is not None:
        line = f"{call} -> {outcome}"
        _agreements.append(line if len(line) <= _LINE_LENGTH else f"{call}\n    -> {outcome}")


def _print_agreements(name: str, calls: Sequence[str]) -> None:
    """Print the calls of a check, a line each, which all agreed."""
    for call in calls:
        print(call)
    summary = f"all {len(calls)} examples agree" if len(calls) > 1 else "the example agrees"
    print(f"{name}: {summary}. Grading looks at more cases than these.")


def expect(
    function: Callable,
    *args: Any,
    gives: Any,
    hint: str = "",
    asks: Sequence[tuple] = (),
    raises: Sequence[Sequence[str]] = (),
    form: bool = True,
) -> Any:
    """Call `function(*args)` and raise `Different` unless it returns `gives`.

    Numbers agree within 1e-9; without `form` only the values count (`difference`). A stub's
    NotImplementedError passes through unchanged, and so does an exception with the attribute
    `no_answer`: a missing answer is not a wrong one. `hint` is true of the example whatever came
    back. `asks` are wrong values, each with the question for exactly that value; it is said alone.
    Where several thoughts give one value, the question is followed by other calls that tell them
    apart, each the arguments and what this thought gives. `raises` are words of an error or of the
    line it came from, each with the remedy.
    """
    __tracebackhide__ = True  # pytest shows the test that calls this
    texts = _texts_before(function, args)
    try:
        got = function(*args)
    except Different as fault:
        got = fault.returned  # its values first: a copy of wrong ones is no better
        if got is None or difference(got, gives, form) is None:
            raise
    except Exception as error:
        reraise_for_student(error)
        happened = getattr(error, "what_happened", None)
        call = texts[0] or format_call(function, args)
        message = f"{call} {happened or error_text(error)}; expected {describe(gives)}."
        remedies = ((" for ^:", "In Python a power is written **."), *raises, ("NoneType", ""))
        hint = next((remedy for words, remedy in remedies if words in error_text(error)), hint)
        raise Different(message, "" if happened or _is_from_lesson(error) else hint) from None
    why = difference(got, gives, form)
    if why is None:
        record_agreement(texts[1], describe(got))
        return got
    call = texts[0] or format_call(function, args)
    asked = _question(function, got, asks) or _form_question(got, gives)
    is_whole = isinstance(got, float) and got.is_integer()
    text = f"{got:.1f}" if is_whole else describe(got)  # "1" would be no float
    shown = (text + why, describe(gives)) if why and not asked else distinct_texts(got, gives)
    returned = first_difference(got, gives, form) or "{}, expected {}".format(*shown)
    raise Different(f"{call} returned {returned}.", asked or ("" if why else hint))


def _question(function: Callable, got: Any, asks: Sequence[tuple]) -> str:
    """The question of `asks` for the value `got` in any form; an empty text if there is none."""
    fitting = ((ask, also) for wrong, ask, *also in asks if difference(got, wrong, False) is None)
    return next((ask for ask, also in fitting if all(_gives(function, *call) for call in also)), "")


def _form_question(got: Any, gives: Any) -> str:
    """The question where nothing came back, or a pair the other way round; else an empty text.

    Only two things of different types can be told apart by their order.
    """
    if got is None:
        return "The call came to its end without a return."
    pair = isinstance(gives, tuple) and isinstance(got, tuple | list) and len(got) == 2
    turned = pair and difference(tuple(got[::-1]), gives, False) is None
    return "Is that the other order?" if turned and type(gives[0]) is not type(gives[1]) else ""


def _gives(function: Callable, args: tuple, value: Any) -> bool:
    """Whether a call gives this value, in any form; an error is none."""
    try:
        return difference(function(*args), value, False) is None
    except Exception:
        return False


def expect_value_error(function: Callable, *args: Any, why: str) -> None:
    """Call `function(*args)` and raise `Different` unless it raises ValueError."""
    __tracebackhide__ = True  # pytest shows the test that calls this
    texts = _texts_before(function, args)
    try:
        outcome = f"returned {describe(function(*args))}"
    except Exception as error:
        reraise_for_student(error)
        # From the grader's worker an error comes wrapped: its name there, and what happened.
        happened = getattr(error, "what_happened", None)
        name = getattr(error, "name", "") if happened else type(error).__name__
        if name == "ValueError":
            record_agreement(texts[1], "ValueError")
            return
        outcome = happened or f"raised {name}"
    call = texts[0] or format_call(function, args)
    raise Different(f"{call} {outcome}, expected ValueError: {why}.") from None


def _texts_before(function: Callable, args: tuple) -> tuple[str, str]:
    """The call as code and in short, before the function can change its arguments.

    The hidden tests get empty texts: they make thousands of calls, and the function works in
    another process, on copies.
    """
    if _agreements is None:
        return "", ""
    return format_call(function, args), brief_call(function, args)


def reraise_for_student(error: Exception) -> None:
    """Raise `error` again if it says that there is no answer yet, or is written for the student."""
    if isinstance(error, Different) or is_unwritten(error) or getattr(error, "no_answer", False):
        raise error


def _is_from_lesson(error: Exception) -> bool:
    """Whether code of a lesson raised it: what is lent says itself what it was given."""
    return traceback.extract_tb(error.__traceback__)[-1].filename.startswith(_LESSONS)
