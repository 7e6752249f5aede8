"""Three gates for every exercise of every chapter: the stub, the solution, the known wrong answers.

They are those of `autograde gates` (`autograde/tools/proof.py`). Each is shown to be able to fail.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from classes.submitting import CHAPTER

from autograde.chapter import chapter_names
from autograde.grade import grade
from autograde.submission import release_of
from autograde.tools import proof
from autograde.tools.proof import (
    EMPTY_ANSWERS,
    grade_with,
    judged,
    of_empty_answer,
    of_solution,
    of_stub,
    of_wrong_answer,
)
from autograde.tools.samples import functions_of, solutions_of
from autograde.wrong import Misconception, misconceptions_of

# A wrong loop of chapter 08 takes as long as twenty other wrong answers: most are slow tests.
LOOP, FEW = "speculative_generate", 3


def known_wrong_answers() -> Iterator:
    """Those of every exercise as a case of a test."""
    for chapter in chapter_names():
        known = misconceptions_of(chapter)
        for name in functions_of(chapter):
            those = known.of(name)
            if name == LOOP:
                yield pytest.param(chapter, those[FEW:], id=f"{name}-all", marks=pytest.mark.slow)
            yield pytest.param(chapter, those[:FEW] if name == LOOP else those, id=name)


# What somebody might return for simulate_decode, which returns a dict.
EMPTY_RUNS = [
    '{"tokens": 0, "target_passes": 0, "time": 0.0}',
    '{"tokens": args[3], "target_passes": args[3], "time": float(args[3])}',
    '{"tokens": 9, "target_passes": 3, "time": 4.5}',
]


@pytest.mark.parametrize("chapter", chapter_names())
def test_a_blank_release_earns_nothing_and_its_own_cells_run(chapter: str):
    result = grade(release_of(chapter), chapter)
    assert {e.score for e in result.exercises.values()} == {0} and list(of_stub(chapter)) == []
    assert result.cells
    assert [name for name, report in result.cells.items() if report["error"]] == []


@pytest.mark.parametrize("chapter", chapter_names())
def test_the_solution_earns_everything(chapter: str):
    exercises = grade_with(chapter).exercises
    assert [n for n, e in exercises.items() if e.score != e.max_score] == []
    assert list(of_solution(chapter)) == []


@pytest.mark.parametrize("chapter, known", list(known_wrong_answers()))
def test_known_wrong_answers_lose_points_and_are_told_why(chapter: str, known: list[Misconception]):
    assert len(known) >= FEW
    assert [fault for wrong in known for fault in of_wrong_answer(chapter, wrong)] == []


@pytest.mark.parametrize("chapter", chapter_names())
def test_constants_and_copies_earn_nothing(chapter: str):
    values = [*EMPTY_ANSWERS, *(EMPTY_RUNS if chapter.startswith("06") else ())]
    assert [fault for value in values for fault in of_empty_answer(chapter, value)] == []


@pytest.mark.parametrize("chapter", chapter_names())
def test_functions_have_two_to_five_behaviours(chapter: str):
    answers = solutions_of(chapter)
    exercises = judged(chapter, **{name: answers[name] for name in functions_of(chapter)})
    assert all(2 <= len(exercise.behaviours) <= 5 for exercise in exercises.values())


def test_stub_gate_can_fail(monkeypatch: pytest.MonkeyPatch):
    solved = release_of(CHAPTER).copy()
    solved.cells = [cell.copy() for cell in solved.cells]
    (answer,) = (c for c in solved.cells if c.id == "correct_token")
    answer.source = solutions_of(CHAPTER)["correct_token"]
    monkeypatch.setattr(proof, "release_of", lambda chapter: solved)
    assert any("correct_token" in fault for fault in of_stub(CHAPTER))


def test_solution_gate_can_fail(monkeypatch: pytest.MonkeyPatch):
    wrong = proof.cases_with(CHAPTER, {"quiz_02": 'quiz_02 = "a"'})
    monkeypatch.setattr(proof, "right_cases_of", lambda chapter: wrong)
    assert any("the solution fails this case" in fault for fault in of_solution(CHAPTER))


def test_gate_of_wrong_answers_can_fail():
    """A right answer among the wrong ones, and a wrong one that is told something else."""
    known = {wrong.name: wrong for wrong in misconceptions_of(CHAPTER).all}
    right = replace(known["inverted"], code=solutions_of(CHAPTER)["acceptance_probability"])
    (lost,) = of_wrong_answer(CHAPTER, right)
    assert "inverted, a wrong answer to acceptance_probability, loses no point" in lost
    assert "  test_ratio_of_random_pairs, case 2 (ch02_numbers.py: RATIO_PAIRS[2])\n" in lost
    (untold,) = of_wrong_answer(CHAPTER, replace(known["inverted"], think="something else."))
    assert "is shown a different explanation" in untold


def test_gate_of_empty_answers_can_fail():
    """What is returned without a look at the arguments may be an answer all the same."""
    p, q = "args[0][args[2]]", "args[1][args[2]]"
    given = list(of_empty_answer(CHAPTER, f"float(min(1, {p} / {q}))"))
    start = "ch02_tests.py: acceptance_probability: functions that return float(min(1, "
    assert len(given) == 2 and all(each.startswith(start) for each in given)
