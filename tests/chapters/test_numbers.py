"""The numbers of the hidden tests: what is expected follows them, and a gate names a bad one."""

import numpy as np
import pytest
from classes.named_numbers import gave_away, lost_cases, numbers_of, place, uncaught
from classes.regrading import grade_with
from classes.submitting import CHAPTER

from autograde import grade
from autograde.chapters.expected import ch02_expected
from autograde.chapters.laws import reference_residual
from autograde.chapters.numbers import ch02_numbers
from autograde.wrong import misconceptions_of

P, Q = ch02_numbers.P, ch02_numbers.Q


def test_what_is_expected_is_what_chapter_02_says():
    np.testing.assert_allclose(reference_residual(P, Q), [0.75, 0, 0, 0.25])
    assert ch02_expected.corrected(P, Q, 1, 0.6, 0.9) == (1, True)
    assert ch02_expected.corrected(P, Q, 1, 0.7, 0.9) == (3, False)
    rows = np.array([P, P, ch02_numbers.FLAT]), np.array([Q, Q])
    assert ch02_expected.step([0, 1], *rows, np.array([0.5, 0.9]), 0.8) == [0, 3]
    assert ch02_expected.step([0, 1], *rows, np.array([0.5, 0.5]), 0.3) == [0, 1, 1]


@pytest.mark.parametrize(
    "ratio, coins", [(2 / 3, (0.6, 0.7)), (0.75, (0.7, 0.8)), (0.6, (0.5, 0.7)), (0.03, (0, 0.1))]
)
def test_coins_lie_on_both_sides_of_a_ratio(ratio: float, coins: tuple[float, float]):
    assert ch02_expected.coins_around(ratio) == coins


@pytest.mark.parametrize("ratio", [0.95, 1.0, 1.0 - 2**-53])
def test_no_coin_is_1(ratio: float):
    below, above = ch02_expected.coins_around(ratio)
    assert 0 <= below < above < 1


@pytest.fixture
def spoilt(monkeypatch: pytest.MonkeyPatch):
    """Chapter 02 expecting something else of a step than its solution gives."""
    grade.right_cases_of.cache_clear()
    monkeypatch.setattr(ch02_expected, "step", lambda *args: [0, 0, 0])
    yield
    grade.right_cases_of.cache_clear()


def test_the_solution_gate_names_the_case_and_the_number(spoilt: None):
    lines = lost_cases(CHAPTER).split("\n")
    assert any(
        line.startswith("test_step_corrects, case 2 (ch02_numbers.py: STEP_CORRECTS[2]): ")
        and "speculative_step(draft_tokens=[0, 2, 1]" in line
        for line in lines
    )


def test_a_case_names_what_its_helpers_read():
    trials = grade.hidden_tests_of(CHAPTER).trials
    number = next(i for i, trial in enumerate(trials) if trial.name == "test_correct_replaces")
    where = "test_correct_replaces, case 1 (ch02_numbers.py: REPLACING[1], P, Q, REJECTING)"
    assert place(CHAPTER, trials, number + 1) == where


def test_the_gates_of_wrong_answers_name_the_cases_and_the_numbers():
    wrong, right = misconceptions_of(CHAPTER).all[0], grade_with(CHAPTER)
    told = uncaught(CHAPTER, wrong, right)
    assert told.startswith("acceptance_probability: no case tells inverted from a right answer.")
    assert "test_ratio_of_random_pairs, case 2 (ch02_numbers.py: RATIO_PAIRS[2])" in told
    passed = gave_away(CHAPTER, right, ["correct_token"])
    assert "correct_token, accepts by the coin: passes." in passed
    assert "test_correct_keeps, case 0 (ch02_numbers.py: P, Q)" in passed


def test_a_chapter_without_a_file_of_numbers_has_cases_all_the_same():
    assert numbers_of("08_full_generation") is None
    trials = grade.hidden_tests_of("08_full_generation").trials
    assert place("08_full_generation", trials, 0) == f"{trials[0].name}, case 0"
