"""What the hidden tests of several chapters share: quizzes, predictions, what NumPy gave away."""

import copy
from collections.abc import Callable
from importlib import import_module
from typing import Any

from autograde.hidden import exercise
from autograde.hidden.exercise import untouched
from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.session import StudentError
from autograde.sandbox.student import Student
from specdec_lib.lessons.checking import examples
from specdec_lib.lessons.checking.answers import (
    feedback_on_guess,
    quiz_letter,
    quizzes_of,
    require_guess,
)
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.pasting import format_call


class Exercise(exercise.Exercise):
    """A graded function of this course: compared and told as the chapters' visible checks do it.

    `expect` is the comparer of the visible check.
    """

    def __init__(self, name: str, expect: Callable = examples.expect) -> None:
        super().__init__(name)
        self.expect = expect
        self._expected: dict[int, tuple[tuple, Any]] = {}  # by the id of arguments, kept alive here

    def assert_same(
        self, student: Student, solution: Student, args: tuple, hint: str = "", form: bool = False
    ) -> None:
        """Raise Different unless the student's function gives what the solution gives for `args`.

        `hint` is true of every case. Only values count, so a tuple is as good as a list and float32
        as good as float64. With `form`, the type is the one that the card names, no warning
        appears, and neither a changed argument nor the memory of one comes back.
        """
        __tracebackhide__ = True  # pytest shows the test and what differs
        given = copy.deepcopy(args)  # a generator moves on
        expected = self.expected_of(solution, args)
        self.compare(getattr(student, self.name), given, expected, hint, form)

    def expected_of(self, solution: Student, args: tuple) -> Any:
        """What the solution gives for `args`, or the exception; it is asked once in a process."""
        if id(args) not in self._expected:
            try:
                value = getattr(solution, self.name)(*copy.deepcopy(args))
            except StudentError as error:
                value = error
            self._expected[id(args)] = args, value
        return self._expected[id(args)][1]

    def compare(
        self, function: Callable, args: tuple, expected: Any, hint: str, form: bool
    ) -> None:
        """Raise Different unless `function(*args)` gives `expected`, or raises what it is."""
        __tracebackhide__ = True
        if isinstance(expected, StudentError):
            examples.expect_value_error(function, *args, why=hint.removesuffix("."))
            return
        self.expect(function, *args, gives=expected, hint=hint, form=form)
        if form:
            no_warning(function.student)
            own_array(function.student)
            untouched(function.student)


def quiz(name: str) -> Callable:
    """The test of the quiz of this name: each option gets its own explanation."""
    asked = quizzes_of(_lesson_of(name))[name]

    @Exercise(name).group("the right option")
    def right_option(student: Student) -> None:
        letter = quiz_letter(name, student.value(name))
        if letter != asked.right:
            raise Different(f"You chose {letter}. {asked.explanations[letter]}")
        student.pass_message = f"You chose {letter}. {asked.explanations[letter]}"

    return right_option


def prediction(name: str, low: float, high: float) -> Callable:
    """The test of a prediction: any number in range passes, and the student reads the truth."""

    @Exercise(name).group(f"a guess from {low:,} to {high:,}")
    def in_range(student: Student) -> None:
        guess = student.value(name)
        require_guess(name, guess, low, high)
        student.pass_message = _truth_about(name, guess)

    return in_range


def _truth_about(name: str, guess: float) -> str:
    """What the chapter of the prediction `name` says of a guess."""
    truth = import_module(f"{_lesson_of(name)}.lesson").TRUTHS[name]
    if truth.value is None:
        return f"You said {guess:g}. The chapter measures it, in the cell below your guess."
    return feedback_on_guess(guess, truth)


def _lesson_of(name: str) -> str:
    """The package of the chapter in which a quiz or a prediction stands, "quiz_02_b" in ch02."""
    return f"specdec_lib.lessons.ch{name.split('_')[1]}"


class Lent(RemoteObject):
    """A thing as an argument, to call, or of which `names` may be used; `text` is how it is shown.

    Without a text it is shown as it shows itself.
    """

    def __init__(self, thing: Any, text: str = "", *names: str) -> None:
        super().__init__(thing, *names, call=not names)
        self.text = text

    def __repr__(self) -> str:
        return self.text or repr(self.obj)


def own_array(student: Student) -> None:
    """Raise Different if a call of this case returned an argument, or a view of one."""
    shared = [call for call in student.calls if call.reply and call.reply.shares_memory]
    if shared:
        call = shared[0]
        raise Different(
            f"{_text_of(student, call.function, call.args)} returned an array that shares its "
            "memory with an argument. Return a copy: whoever changes the result would change the "
            "argument."
        )


def no_warning(student: Student) -> None:
    """Raise Different if a call of this case gave a warning."""
    for call in student.calls:
        if call.reply and call.reply.warnings:
            warning = examples.describe_warning(call.reply.warnings[0])
            raise Different(f"{_text_of(student, call.function, call.args)} {warning}")


def _text_of(student: Student, function: str, args: tuple) -> str:
    """A call as it can be pasted into a notebook."""
    return format_call(getattr(student, function), args)
