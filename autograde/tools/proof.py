"""The gates of a chapter: its hidden tests tell the solution from a stub and from wrong answers."""

from collections.abc import Iterator

from autograde.chapter import Chapter
from autograde.grade import grade, hidden_tests_of, right_cases_of
from autograde.result import Exercise
from autograde.submission import release_of
from autograde.tools.samples import filled, solutions_of
from autograde.wrong import Misconception, misconceptions_of


def faults(chapter: str) -> Iterator[str]:
    """What does not hold in a built chapter, each with the file, the test and the case."""
    yield from _of_solution(chapter)
    yield from _of_stub(chapter)
    for wrong in misconceptions_of(chapter).all:
        yield from _of_wrong_answer(chapter, wrong)


def _of_solution(chapter: str) -> Iterator[str]:
    """The cases that the chapter's own solution fails."""
    trials = hidden_tests_of(chapter).trials
    for trial, case in zip(trials, right_cases_of(chapter), strict=True):
        if case.error is not None:
            given = ", ".join(f"{name}={value!r}" for name, value in trial.arguments.items())
            where = f"{Chapter(chapter).tests.name}: {trial.name}({given})"
            yield f"{where}: the solution fails this case: {case.error}"


def _of_stub(chapter: str) -> Iterator[str]:
    """The behaviours that nobody's work shows."""
    for name, exercise in grade(release_of(chapter), chapter).exercises.items():
        for behaviour in exercise.behaviours:
            if behaviour.passed:
                where = f"{Chapter(chapter).tests.name}: {name}"
                yield f"{where}: the release as it is passes {behaviour.name!r}"


def _of_wrong_answer(chapter: str, wrong: Misconception) -> Iterator[str]:
    """A wrong answer that loses nothing, or whose author does not read why."""
    answers = solutions_of(chapter) | {wrong.exercise: wrong.code}
    exercise = grade(filled(release_of(chapter), answers), chapter).exercises[wrong.exercise]
    where = f"{Chapter(chapter).wrong.name}: {wrong.name}, a wrong answer to {wrong.exercise},"
    if exercise.score == exercise.max_score:
        yield f"{where} loses no point: write a case that it fails"
    elif not _is_told(exercise, wrong):
        yield f"{where} does not read its words, but: {' '.join(exercise.messages)}"


def _is_told(exercise: Exercise, wrong: Misconception) -> bool:
    return any(wrong.think in text and wrong.because in text for text in exercise.messages)
