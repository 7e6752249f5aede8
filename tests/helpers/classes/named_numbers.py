"""Which case of a gate failed, and by which numbers: what a private fork reads after a change."""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from inspect import isfunction
from types import ModuleType

from autograde.chapter import Chapter
from autograde.grade import hidden_tests_of, right_cases_of
from autograde.result import Result
from autograde.runner import Trial
from autograde.wrong import Misconception


def numbers_of(chapter: str) -> ModuleType | None:
    """The file of the chapter's numbers, or None while its tests have their own."""
    name = f"autograde.chapters.numbers.ch{Chapter(chapter).number}_numbers"
    return import_module(name) if find_spec(name) else None


def lost_cases(chapter: str) -> str:
    """The cases that the solution loses: the test, the numbers, and what a student would read."""
    tests, cases = hidden_tests_of(chapter), right_cases_of(chapter)
    lost = [(i, case) for i, case in enumerate(cases) if case.error is not None]
    return "\n".join(f"{place(chapter, tests.trials, i)}: {case.error}" for i, case in lost)


def uncaught(chapter: str, wrong: Misconception, result: Result) -> str:
    """Which cases should have told a misconception from a right answer, and did not."""
    exercise = result.exercises[wrong.exercise]
    if exercise.score < exercise.max_score:
        said = "\n".join(exercise.messages)
        return f"{wrong.exercise}: {wrong.name} loses points, but it is not told why: {said}"
    lines = "\n".join(places(chapter, wrong.exercise))
    return f"{wrong.exercise}: no case tells {wrong.name} from a right answer. Cases:\n{lines}"


def gave_away(chapter: str, result: Result, names: list[str]) -> str:
    """The behaviours of `names` that passed, and the cases that each consists of."""
    passed = [(n, b.name) for n in names for b in result.exercises[n].behaviours if b.passed]
    return "\n".join(
        f"{name}, {behaviour}: passes. Cases:\n" + "\n".join(places(chapter, name, behaviour))
        for name, behaviour in passed
    )


def places(chapter: str, exercise: str, behaviour: str | None = None) -> Iterator[str]:
    """The cases of an exercise, or of one behaviour, each with its numbers."""
    trials = hidden_tests_of(chapter).trials
    for i, trial in enumerate(trials):
        if trial.exercise == exercise and behaviour in (None, trial.behaviour.name):
            yield place(chapter, trials, i)


def place(chapter: str, trials: list[Trial], i: int) -> str:
    """Case `i` as "test_ratio, case 2 (ch02_numbers.py: P, Q)", counted from 0 in its test."""
    trial = trials[i]
    number = sum(each.function is trial.function for each in trials[:i])
    module = numbers_of(chapter)
    named = ", ".join(used_numbers(trial.function, number, module)) if module else ""
    where = f" (ch{Chapter(chapter).number}_numbers.py: {named})" if named else ""
    return f"{trial.name}, case {number}{where}"


def used_numbers(function: Callable, case: int, module: ModuleType) -> list[str]:
    """The names in `module` of what a test is called with, and of what it and its helpers read."""
    given = [mark.args[1] for mark in getattr(function, "pytestmark", []) if len(mark.args) > 1]
    known = {name: value for name, value in vars(module).items() if name.isupper()}
    lists = [name for name, value in known.items() if any(value is each for each in given)]
    index = f"[{case}]" if len(given) == 1 else ""
    return [name + index for name in lists] + [n for n in sorted(read_by(function)) if n in known]


def read_by(function: Callable, seen: frozenset[str] = frozenset()) -> set[str]:
    """All names in a test's code and in the functions of its own file that it calls."""
    names = set(function.__code__.co_names)
    helpers = (function.__globals__.get(name) for name in sorted(names - seen))
    mine = [f for f in helpers if isfunction(f) and f.__globals__ is function.__globals__]
    return names.union(*(read_by(helper, seen | names) for helper in mine))
