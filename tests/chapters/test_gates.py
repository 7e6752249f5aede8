"""Three gates for every exercise of every chapter: the stub, the solution, the misconceptions.

Each gate is shown to be able to fail. A worker starts for every notebook that is graded, so one
notebook holds a wrong answer to each of several exercises (`wrong_rounds.py`). A gate that fails
names the cases and their numbers (`named_numbers.py`).
"""

from collections.abc import Iterator

import pytest
from classes.named_numbers import gave_away, lost_cases, uncaught
from classes.regrading import grade_with
from classes.submitting import CHAPTER
from classes.wrong_rounds import answers_beside
from tqdm import tqdm

from autograde.chapter import chapter_names
from autograde.grade import grade
from autograde.result import Exercise, Result
from autograde.submission import release_of
from autograde.wrong import Misconception, Misconceptions, misconceptions_of

# A wrong loop of chapter 08 takes as long as twenty other wrong answers: most are slow tests.
LOOP, FEW = "speculative_generate", 3


def wrong_answers(chapter: str) -> Iterator:
    """Every known wrong answer of the chapter as a case of a test."""
    loops = [wrong for wrong in misconceptions_of(chapter).all if wrong.exercise == LOOP]
    for wrong in misconceptions_of(chapter).all:
        marks = [pytest.mark.slow] if wrong in loops[FEW:] else []
        yield pytest.param(chapter, wrong, marks=marks)


WRONG = [case for chapter in chapter_names() for case in wrong_answers(chapter)]
# What somebody might return without reading the question: constants, and copies of arguments.
EMPTY_ANSWERS = [
    *("[]", "{}", "True", "0", "1", "1.0", "None", "np.eye(3)", "int('x')"),
    *(f"args[{i}]" for i in range(5)),
    *("(args[0], True)", "(args[2], True)", "max(args)", "args[1] + 1", "args[0].mean()"),
    "args[0][-args[1]:]",
]
# And for simulate_decode, which returns a dict.
EMPTY_RUNS = [
    '{"tokens": 0, "target_passes": 0, "time": 0.0}',
    '{"tokens": args[3], "target_passes": args[3], "time": float(args[3])}',
    '{"tokens": 9, "target_passes": 3, "time": 4.5}',
]
EMPTY = [(chapter, value) for chapter in chapter_names() for value in EMPTY_ANSWERS]
EMPTY += [("06_simulator", run) for run in EMPTY_RUNS]


def stub_problems(result: Result) -> list[str]:
    """What is wrong with the result of a blank release: points, or anything but one plain note."""
    return [
        name
        for name, exercise in result.exercises.items()
        if exercise.passed or not exercise.note or not _is_unwritten(name, exercise.note)
    ]


def _is_unwritten(name: str, note: str) -> bool:
    words = ("not written yet", "no answer yet", "no guess yet")
    return note.startswith(f"{name}: ") and note.endswith(words)


def unearned(result: Result) -> list[str]:
    """Exercises without full marks."""
    return [name for name, e in result.exercises.items() if e.score != e.max_score]


def is_caught(wrong: Misconception, exercise: Exercise) -> bool:
    """Whether a misconception loses points, and its own words say why."""
    told = any(wrong.think in m and wrong.because in m for m in exercise.messages)
    return exercise.score < exercise.max_score and told


@pytest.mark.parametrize("chapter", chapter_names())
def test_stub_earns_nothing_and_says_one_thing(chapter: str):
    assert stub_problems(grade(release_of(chapter), chapter)) == []


@pytest.mark.parametrize("chapter", chapter_names())
def test_the_releases_own_cells_run_where_it_is_graded(chapter: str):
    """An import that fails there, as of a function that is closed, would be seen by nobody."""
    cells = grade(release_of(chapter), chapter).cells
    assert cells and [name for name, report in cells.items() if report["error"]] == []


@pytest.mark.parametrize("chapter", chapter_names())
def test_solution_earns_everything(chapter: str):
    assert unearned(grade_with(chapter)) == [], lost_cases(chapter)


@pytest.mark.parametrize("chapter, wrong", WRONG, ids=lambda x: getattr(x, "name", x))
def test_misconception_is_caught(chapter: str, wrong: Misconception):
    result = grade_with(chapter, **answers_beside(chapter, wrong))
    assert is_caught(wrong, result.exercises[wrong.exercise]), uncaught(chapter, wrong, result)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapter_names())
def test_a_misconception_is_graded_beside_others_as_it_is_alone(chapter: str):
    for wrong in tqdm(misconceptions_of(chapter).all, desc=chapter):
        alone = grade_with(chapter, **{wrong.exercise: wrong.code})
        beside = grade_with(chapter, **answers_beside(chapter, wrong))
        assert beside.exercises[wrong.exercise] == alone.exercises[wrong.exercise], wrong.name


@pytest.mark.parametrize("chapter, value", EMPTY)
def test_constants_and_copies_earn_nothing(chapter: str, value: str):
    names = list(dict.fromkeys(wrong.exercise for wrong in misconceptions_of(chapter).all))
    answers = {name: f"def {name}(*args):\n    return {value}" for name in names}
    result = grade_with(chapter, **answers)
    passed = {name: result.exercises[name].passed for name in names}
    assert passed == dict.fromkeys(names, 0), gave_away(chapter, result, names)


@pytest.mark.parametrize("chapter", chapter_names())
def test_functions_have_two_to_five_behaviours_and_three_misconceptions(chapter: str):
    names = [w.exercise for w in misconceptions_of(chapter).all]
    for name, exercise in grade_with(chapter).exercises.items():
        if not name.startswith(("quiz_", "prediction_")):
            assert 2 <= len(exercise.behaviours) <= 5
            assert names.count(name) >= 3


@pytest.mark.parametrize("chapter", chapter_names())
def test_misconceptions_have_phrases_of_their_own(chapter: str):
    """The forms of one misconception share its name, its words and nothing else."""
    known = misconceptions_of(chapter).all
    phrases = {(w.exercise, w.name): w.think for w in known}
    assert len({(e, think) for (e, _), think in phrases.items()}) == len(phrases)
    assert len({w.code for w in known}) == len(known)


def test_stub_gate_can_fail():
    assert stub_problems(grade_with(CHAPTER)) != []
    spoilt = grade_with(CHAPTER, correct_token="correct_token = None")
    assert "correct_token" in stub_problems(spoilt)


def test_solution_gate_can_fail():
    assert "quiz_02" in unearned(grade_with(CHAPTER, quiz_02='quiz_02 = "a"'))


def test_misconception_gate_can_fail():
    registry = Misconceptions()

    @registry.exercise("residual_distribution").wrong(think="this is right.", because="it is.")
    def not_wrong_at_all(p, q):
        missing = (p - q).clip(0)
        return missing / missing.sum() if missing.sum() > 0 else p.copy()

    (wrong,) = registry.all
    result = grade_with(CHAPTER, residual_distribution=wrong.code)
    assert not is_caught(wrong, result.exercises["residual_distribution"])
