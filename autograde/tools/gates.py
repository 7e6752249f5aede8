"""The gates of a chapter: its hidden tests tell the solution from stubs and from wrong answers.

`faults` is what `autograde gates` prints. Each fault names the file, the cases and their numbers.
All of these answers are the course's own, so they run in this process.
"""

from collections.abc import Iterator

from autograde.course import Chapter
from autograde.grading.grade import cases_with, exercises_of, grade, judge, known_of, right_cases_of
from autograde.grading.result import Exercise, Result
from autograde.hidden.known_bugs import KnownBug, answers_of, bugs_of
from autograde.intake.submission import is_answer, release_of
from autograde.tools.samples import fill_answers, functions_of

# What somebody might return without reading the question: constants, and copies of arguments.
EMPTY_ANSWERS = (
    *("[]", "{}", "True", "0", "1", "1.0", "None", "np.eye(3)", "int('x')"),
    *(f"args[{i}]" for i in range(5)),
    *("(args[0], True)", "(args[2], True)", "max(args)", "args[1] + 1", "args[0].mean()"),
    "args[0][-args[1]:]",
)


def faults(chapter: str) -> Iterator[str]:
    """What does not hold in a built chapter, each with the file, the test and the case."""
    yield from of_solution(chapter)
    yield from of_stub(chapter)
    for wrong in bugs_of(chapter):
        yield from of_wrong_answer(chapter, wrong)
    for value in EMPTY_ANSWERS if functions_of(chapter) else ():
        yield from of_empty_answer(chapter, value)


def grade_with(chapter: str, **answers: str) -> Result:
    """The solution's result with other `answers` in it, from a sandbox as a student's."""
    return grade(fill_answers(release_of(chapter), answers_of(chapter) | answers), chapter)


def judged(chapter: str, **answers: str) -> dict[str, Exercise]:
    """What these answers get in the solution's place, each by its exercise."""
    exercises = exercises_of(release_of(chapter))
    chosen = {name: each for name, each in exercises.items() if name in answers}
    judge(cases_with(chapter, answers), chosen, lambda name: known_of(chapter, name))
    return chosen


def of_solution(chapter: str) -> Iterator[str]:
    """The cases that the chapter's own solution fails."""
    for case in right_cases_of(chapter):
        if case.error is not None:
            where = f"{Chapter(chapter).tests.name}: {case.exercise}, {case.group.name!r}"
            yield f"{where}: the solution fails a case: {case.error}"


def of_stub(chapter: str) -> Iterator[str]:
    """The test groups that nobody's work passes, and what a stub says beside that it is one."""
    cells, graded = release_of(chapter).cells, exercises_of(release_of(chapter))
    stubs = {c.metadata.nbgrader.grade_id: c.source for c in cells if is_answer(c)}
    answers = {name: source for name, source in stubs.items() if name in graded}
    for name, exercise in judged(chapter, **answers).items():
        for group in exercise.groups:
            if group.passed:
                yield _given_away(chapter, name, group.name, "stubs")
        if not (exercise.note or "").startswith(f"{name}: "):
            yield f"{chapter}: the stub of {name} does not say its name, but: {exercise.note}"


def of_wrong_answer(chapter: str, wrong: KnownBug) -> Iterator[str]:
    """That a wrong answer loses nothing, or that its author does not read why."""
    (exercise,) = judged(chapter, **{wrong.exercise: wrong.code}).values()
    file = Chapter(chapter).tests.name
    where = f"{file}: the bug of {wrong.exercise} that thinks {wrong.think!r}"
    if exercise.score == exercise.max_score:
        yield f"{where} loses no point: write a case that it fails"
    elif not _is_told(chapter, exercise, wrong):
        yield f"{where} is shown a different explanation: {' '.join(exercise.messages)}"


def _is_told(chapter: str, exercise: Exercise, wrong: KnownBug) -> bool:
    """Whether its author reads the words of this bug, and those of no other."""
    told = " ".join(exercise.messages)
    others = {each.think for each in bugs_of(chapter)} - {wrong.think}
    return f"{wrong.think} But {wrong.because}" in told and not any(o in told for o in others)


def of_empty_answer(chapter: str, value: str) -> Iterator[str]:
    """The test groups that functions which return `value` pass, whatever their arguments `args`."""
    names = functions_of(chapter)
    answers = {name: f"def {name}(*args):\n    return {value}" for name in names}
    cases = cases_with(chapter, answers)
    failed = {case.group for case in cases if case.error is not None}
    for each in sorted({case.group for case in cases} - failed, key=lambda each: each.name):
        yield _given_away(chapter, each.exercise.name, each.name, f"functions that return {value}")


def _given_away(chapter: str, exercise: str, group: str, what: str) -> str:
    """That `what` passes a group, of which one case should fail."""
    return f"{Chapter(chapter).tests.name}: {exercise}: {what} pass {group!r}"
