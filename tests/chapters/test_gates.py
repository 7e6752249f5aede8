"""Three gates for every exercise of every chapter: the stub, the solution, the misconceptions.

They are those of `autograde gates` (`autograde/tools/proof.py`). Each is shown to be able to fail.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from classes.submitting import CHAPTER
from tqdm import tqdm

from autograde.chapter import chapter_names
from autograde.grade import grade
from autograde.result import Result
from autograde.submission import release_of
from autograde.tools import proof
from autograde.tools.proof import (
    EMPTY_ANSWERS,
    grade_with,
    of_empty_answer,
    of_solution,
    of_wrong_answer,
)
from autograde.tools.samples import solutions_of
from autograde.tools.wrong_rounds import answers_beside
from autograde.wrong import Misconception, misconceptions_of

# A wrong loop of chapter 08 takes as long as twenty other wrong answers: most are slow tests.
LOOP, FEW = "speculative_generate", 3


def wrong_answers(chapter: str) -> Iterator:
    """Every known wrong answer of the chapter as a case of a test."""
    loops = [wrong for wrong in misconceptions_of(chapter).all if wrong.exercise == LOOP]
    for wrong in misconceptions_of(chapter).all:
        marks = [pytest.mark.slow] if wrong in loops[FEW:] else []
        yield pytest.param(chapter, wrong, marks=marks)


WRONG = [case for chapter in chapter_names() for case in wrong_answers(chapter)]
# What somebody might return for simulate_decode, which returns a dict.
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
    assert unearned(grade_with(chapter)) == [], "\n".join(of_solution(chapter))


@pytest.mark.parametrize("chapter, wrong", WRONG, ids=lambda x: getattr(x, "name", x))
def test_misconception_is_caught(chapter: str, wrong: Misconception):
    assert list(of_wrong_answer(chapter, wrong)) == []


def _few_of_each_exercise(chapter: str) -> list[Misconception]:
    known = misconceptions_of(chapter).all
    names = sorted({wrong.exercise for wrong in known})
    by_exercise = [[wrong for wrong in known if wrong.exercise == name] for name in names]
    return [wrong for those in by_exercise for wrong in those[:FEW]]


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapter_names())
def test_a_misconception_is_graded_beside_others_as_it_is_alone(chapter: str):
    """A few of every exercise: whether others stand beside it is the same question for all."""
    for wrong in tqdm(_few_of_each_exercise(chapter), desc=chapter):
        alone = grade_with(chapter, **{wrong.exercise: wrong.code})
        beside = grade_with(chapter, **answers_beside(chapter, wrong))
        assert beside.exercises[wrong.exercise] == alone.exercises[wrong.exercise], wrong.name


@pytest.mark.parametrize("chapter, value", EMPTY)
def test_constants_and_copies_earn_nothing(chapter: str, value: str):
    assert list(of_empty_answer(chapter, value)) == []


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


def test_misconception_gate_can_fail(monkeypatch: pytest.MonkeyPatch):
    """A right answer among the wrong ones, and a wrong one that is told something else."""
    known = {wrong.name: wrong for wrong in misconceptions_of(CHAPTER).all}
    right = replace(known["inverted"], code=solutions_of(CHAPTER)["acceptance_probability"])
    other = replace(known["inverted"], think="something else.")
    answers = {right: {right.exercise: right.code}, other: {other.exercise: other.code}}
    monkeypatch.setattr(proof, "answers_beside", lambda chapter, wrong: answers[wrong])
    (lost,) = of_wrong_answer(CHAPTER, right)
    start = "ch02_wrong.py: inverted, a wrong answer to acceptance_probability, "
    assert lost.startswith(f"{start}loses no point: write a case that it fails. Its cases:\n  ")
    assert "  test_ratio_of_random_pairs, case 2 (ch02_numbers.py: RATIO_PAIRS[2])\n" in lost
    (untold,) = of_wrong_answer(CHAPTER, other)
    assert untold.startswith(f"{start}does not read its words, but: ")


def test_empty_answer_gate_can_fail():
    """What is returned without a look at the arguments may be an answer all the same."""
    p, q = "args[0][args[2]]", "args[1][args[2]]"
    given = list(of_empty_answer(CHAPTER, f"float(min(1, {p} / {q}))"))
    start = "ch02_tests.py: acceptance_probability: functions that return float(min(1, "
    assert len(given) == 2 and all(each.startswith(start) for each in given)
    case = "test_cap, case 0 (ch02_numbers.py: P, Q)"
    assert f" show 'never above 1'. Its cases:\n  {case}\n" in given[0]
