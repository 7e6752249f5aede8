"""Known wrong answers.

They serve twice: the tests hold that each of them loses points, and a student whose function
behaves like one of them reads its refutation (see cause.py).
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import CodeType

from autograde.chapter import AuthorError, Chapter
from autograde.check import Bug, Exercise
from autograde.submission import is_answer, solution_of


@dataclass(frozen=True)
class Misconception:
    """A wrong answer with its refutation.

    `think` is what somebody may believe, `because` why it is not so, both as sentences; the
    third part, the numbers, comes from the case that failed. `code` is the wrong function under
    the exercise's own name. Misconceptions of one chapter with the same `thought` are one thought
    that shows in several exercises.
    """

    exercise: str
    name: str
    think: str
    because: str
    function: Callable | None
    code: str
    thought: str

    def explain(self, numbers: str) -> str:
        """The refutation in three parts."""
        return f"You may have assumed that {self.think} But {self.because} For example: {numbers}"


class Misconceptions:
    """The wrong answers of one chapter, in order: if several match, the first one counts."""

    def __init__(self) -> None:
        self.all: list[Misconception] = []

    def exercise(self, name: str) -> "WrongAnswers":
        """The wrong answers to the graded function `name`, still to be written."""
        return WrongAnswers(self, name)

    def of(self, exercise: str) -> list[Misconception]:
        """Those of one exercise."""
        return [wrong for wrong in self.all if wrong.exercise == exercise]


@dataclass(frozen=True)
class WrongAnswers:
    """The wrong answers to one exercise: `wrong` decorates each."""

    chapter: Misconceptions
    exercise: str

    def wrong(
        self, think: str, because: str, same_as: Callable | None = None
    ) -> Callable[[Callable], Callable]:
        """Decorate a wrong version of the exercise, named after what is wrong with it.

        `same_as` is a wrong answer above, to another exercise, that comes of the same thought.
        Raises ValueError if it is none.
        """

        def register(function: Callable) -> Callable:
            name, code = function.__name__, _answer_code(function, self.exercise)
            thought = self._thought_of(same_as) if same_as else name
            new = Misconception(self.exercise, name, think, because, function, code, thought)
            self.chapter.all.append(new)
            return function

        return register

    def form_of(self, wrong: Callable) -> Callable[[Callable], Callable]:
        """Decorate another form of a wrong answer above: other code, the same thought and words.

        Raises ValueError if `wrong` is none of this exercise.
        """

        def register(function: Callable) -> Callable:
            known = (each for each in self.chapter.of(self.exercise) if each.function is wrong)
            first = next(known, None)
            if first is None:
                raise ValueError(f"form_of({wrong!r}): that is no wrong answer to {self.exercise}")
            code = _answer_code(function, self.exercise)
            self.chapter.all.append(replace(first, function=function, code=code))
            return function

        return register

    def _thought_of(self, function: Callable) -> str:
        for wrong in self.chapter.all:
            if wrong.function is function:
                return wrong.thought
        raise ValueError(f"same_as={function!r} is no wrong answer above: decorate it with `wrong`")


def _answer_code(function: Callable, exercise: str) -> str:
    """What a student with this misconception would hand in, the helpers it uses above it."""
    source = inspect.getsource(function)
    helpers = [inspect.getsource(helper) for helper in _helpers(function)]
    body = source[source.index("def ") :]
    answer = body.replace(f"def {function.__name__}(", f"def {exercise}(", 1)
    return "\n\n".join([*helpers, answer])


def _helpers(function: Callable) -> list[Callable]:
    """The file's own `_helpers` that a function calls, those that they call before them."""
    used = [function.__globals__.get(name) for name in _names(function.__code__)]
    mine = [f for f in used if inspect.isfunction(f) and f.__name__.startswith("_")]
    return list(dict.fromkeys(helper for f in mine for helper in [*_helpers(f), f]))


def _names(code: CodeType) -> list[str]:
    """The global names in a function's code, those of the functions within it included."""
    inner = [
        name for const in code.co_consts if isinstance(const, CodeType) for name in _names(const)
    ]
    return [*code.co_names, *inner]


@cache
def misconceptions_of(chapter: str) -> Misconceptions:
    """The registry `WRONG` of `autograde/chapters/chNN_wrong.py`, empty if that is not there."""
    known = Chapter(chapter)
    if known.wrong.is_file():
        return known.import_wrong().WRONG
    found = Misconceptions()
    if known.tests.is_file():
        found.all = [patched(chapter, bug) for bug in bugs_of(known)]
    return found


def bugs_of(chapter: Chapter) -> list[Bug]:
    """The known bugs of a chapter, in the order of its tests."""
    values = vars(chapter.import_tests()).values()
    return [bug for each in values if isinstance(each, Exercise) for bug in each.bugs]


def patched(chapter: str, bug: Bug) -> Misconception:
    """The wrong answer that a bug makes of the solution.

    Raises AuthorError unless the text that it replaces stands there exactly once.
    """
    answer = answers_of(chapter).get(bug.exercise, "")
    if answer.count(bug.old) != 1:
        raise AuthorError(
            f"{Chapter(chapter).tests.name}: a bug of {bug.exercise} replaces {bug.old!r}, which "
            f"stands {answer.count(bug.old)} times in the solution; it must stand there once"
        )
    code = answer.replace(bug.old, bug.new)
    return Misconception(bug.exercise, bug.think, bug.think, bug.because, None, code, bug.think)


@cache
def answers_of(chapter: str) -> dict[str, str]:
    """The right answer of every cell that a student writes in, by its name."""
    cells = [cell for cell in solution_of(chapter).cells if is_answer(cell)]
    return {cell.metadata.nbgrader.grade_id: _without_marks(cell.source) for cell in cells}


def _without_marks(source: str) -> str:
    marks = ("### BEGIN SOLUTION", "### END SOLUTION")
    return "\n".join(line for line in source.split("\n") if line.strip() not in marks)
