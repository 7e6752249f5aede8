"""The gates of a chapter: its hidden tests tell the solution from stubs and from wrong answers.

`faults` is what `autograde gates` prints. Each fault names the file, the cases and their numbers.
All of these answers are the course's own, so they run in this process.
"""

from collections.abc import Iterator

from autograde.course import Chapter
from autograde.grading.grade import grade, known_of
from autograde.grading.judge import judge
from autograde.grading.result import Exercise, Result
from autograde.hidden.causes import KnownBug, bugs_of
from autograde.hidden.collected import HiddenTests, with_hidden_tests
from autograde.hidden.material import material_of
from autograde.intake.submission import is_answer, release_of
from autograde.tools.samples import fill_answers, functions_of

# What somebody might return without reading the question: constants, and copies of arguments.
EMPTY_ANSWERS = (
    *("[]", "{}", "True", "0", "1", "1.0", "None", "np.eye(3)", "int('x')"),
    *(f"args[{i}]" for i in range(5)),
    *("(args[0], True)", "(args[2], True)", "max(args)", "args[1] + 1", "args[0].mean()"),
    "args[0][-args[1]:]",
)


def faults(chapter: str) -> list[str]:
    """What does not hold in a built chapter, each with the file, the test and the case.

    All answers are judged in one session of pytest.
    """
    known_of(chapter)  # it has a session of its own
    return with_hidden_tests(chapter, lambda tests: list(_faults(tests)))


def _faults(tests: HiddenTests) -> Iterator[str]:
    yield from of_solution(tests)
    yield from of_stub(tests)
    for wrong in bugs_of(tests.chapter):
        yield from of_wrong_answer(tests, wrong)
    for value in EMPTY_ANSWERS if functions_of(tests.chapter) else ():
        yield from of_empty_answer(tests, value)


def grade_with(chapter: str, **answers: str) -> Result:
    """The solution's result with other `answers` in it, from a sandbox as a student's."""
    return grade(fill_answers(release_of(chapter), material_of(chapter).answers | answers), chapter)


def judge_answers(chapter: str, **answers: str) -> dict[str, Exercise]:
    """What these answers get in the solution's place, judged in this process without a sandbox."""
    known_of(chapter)
    return with_hidden_tests(chapter, lambda tests: judged(tests, **answers))


def judged(tests: HiddenTests, **answers: str) -> dict[str, Exercise]:
    """What these answers get in the solution's place, each by its exercise."""
    points = material_of(tests.chapter).points
    chosen = {name: maximum for name, maximum in points.items() if name in answers}
    return judge(tests.run_with(answers), chosen, known_of(tests.chapter), {})


def of_solution(tests: HiddenTests) -> Iterator[str]:
    """The cases that the chapter's own solution fails."""
    for case in tests.run_with({}):
        if case.error is not None:
            where = f"{_file(tests)}: {case.exercise}, {case.group.name!r}"
            yield f"{where}: the solution fails a case: {case.error}"


def of_stub(tests: HiddenTests) -> Iterator[str]:
    """The test groups that nobody's work passes, and what a stub says beside that it is one."""
    cells, points = release_of(tests.chapter).cells, material_of(tests.chapter).points
    stubs = {c.metadata.nbgrader.grade_id: c.source for c in cells if is_answer(c)}
    answers = {name: source for name, source in stubs.items() if name in points}
    for name, exercise in judged(tests, **answers).items():
        for group in exercise.groups:
            if group.passed:
                yield _given_away(tests, name, group.name, "stubs")
        if not (exercise.note or "").startswith(f"{name}: "):
            yield f"{tests.chapter}: the stub of {name} does not say its name, but: {exercise.note}"


def of_wrong_answer(tests: HiddenTests, wrong: KnownBug) -> Iterator[str]:
    """That a wrong answer loses nothing, or that its author does not read why."""
    (exercise,) = judged(tests, **{wrong.exercise: wrong.code}).values()
    where = f"{_file(tests)}: the bug of {wrong.exercise} that thinks {wrong.think!r}"
    if exercise.score == exercise.max_score:
        yield f"{where} loses no point: write a case that it fails"
    elif not _is_told(tests, exercise, wrong):
        yield f"{where} is shown a different explanation: {' '.join(exercise.messages)}"


def _is_told(tests: HiddenTests, exercise: Exercise, wrong: KnownBug) -> bool:
    """Whether its author reads the words of this bug, and those of no other."""
    text = " ".join(exercise.messages)
    others = {bug.think for bug in bugs_of(tests.chapter)} - {wrong.think}
    return f"{wrong.think} But {wrong.because}" in text and not any(o in text for o in others)


def of_empty_answer(tests: HiddenTests, value: str) -> Iterator[str]:
    """The test groups that functions which return `value` pass, whatever their arguments `args`."""
    names = functions_of(tests.chapter)
    answers = {name: f"def {name}(*args):\n    return {value}" for name in names}
    for group in tests.groups_passed_by(answers):
        yield _given_away(tests, group.exercise.name, group.name, f"functions that return {value}")


def _given_away(tests: HiddenTests, exercise: str, group: str, what: str) -> str:
    """That `what` passes a group, of which one case should fail."""
    return f"{_file(tests)}: {exercise}: {what} pass {group!r}"


def _file(tests: HiddenTests) -> str:
    return Chapter(tests.chapter).tests.name
