"""A case of a hidden test by its name and its numbers: what an author reads after a change.

A chapter may have its numbers in a file of their own, `autograde/chapters/numbers/chNN_numbers.py`,
in names of capitals. A case is then named by the list and the place in it.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import isfunction
from types import ModuleType

from autograde.chapter import Chapter
from autograde.grade import hidden_tests_of
from autograde.runner import Trial


def numbers_of(chapter: str) -> ModuleType | None:
    """The file of the chapter's numbers, or None if its tests have their own."""
    file = Chapter(chapter).numbers
    return import_module(f"autograde.chapters.numbers.{file.stem}") if file.is_file() else None


def places(chapter: str, exercise: str, behaviour: str | None = None) -> Iterator[str]:
    """The cases of an exercise, or of one behaviour, each with its numbers."""
    for i, trial in enumerate(hidden_tests_of(chapter).trials):
        if trial.exercise == exercise and behaviour in (None, trial.behaviour.name):
            yield place(chapter, i)


def place(chapter: str, i: int) -> str:
    """Case `i` of the chapter as "test_ratio, case 2 (ch02_numbers.py: P, Q)".

    The 2 counts from 0 within the test. Without a file of numbers its arguments follow.
    """
    trials = hidden_tests_of(chapter).trials
    trial = trials[i]
    number = sum(each.function is trial.function for each in trials[:i])
    module = numbers_of(chapter)
    given = ", ".join(f"{name}={value!r}" for name, value in trial.arguments.items())
    if module is not None:
        names = used_numbers(trial, number, module)
        given = f"{Chapter(chapter).numbers.name}: {', '.join(names)}" if names else ""
    return f"{trial.name}, case {number}" + (f" ({given})" if given else "")


def used_numbers(trial: Trial, case: int, module: ModuleType) -> list[str]:
    """The names in `module` of what a test is called with, and of what it and its helpers read."""
    marks = getattr(trial.function, "pytestmark", [])
    given = [mark.args[1] for mark in marks if len(mark.args) > 1]
    known = {name: value for name, value in vars(module).items() if name.isupper()}
    lists = [name for name, value in known.items() if any(value is each for each in given)]
    index = f"[{case}]" if len(given) == 1 else ""
    named = [name + index for name in lists]
    return named + [n for n in sorted(read_by(trial.function)) if n in known]


def read_by(function: Callable, seen: frozenset[str] = frozenset()) -> set[str]:
    """All names in a test's code and in the functions of its own file that it calls."""
    names = set(function.__code__.co_names)
    helpers = (function.__globals__.get(name) for name in sorted(names - seen))
    mine = [f for f in helpers if isfunction(f) and f.__globals__ is function.__globals__]
    return names.union(*(read_by(helper, seen | names) for helper in mine))
