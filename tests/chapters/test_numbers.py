"""The numbers of the hidden tests: what is expected follows them, and a gate names a bad one."""

import ast
from pathlib import Path

import numpy as np
import pytest
from classes.submitting import CHAPTER
from classes.typed_numbers import typed_in

from autograde import grade
from autograde.chapter import TESTS, Chapter, chapter_names
from autograde.chapters.expected import (
    ch00_expected,
    ch01_expected,
    ch02_expected,
    ch05_expected,
    rejection,
)
from autograde.chapters.distributions import LARGEST
from autograde.chapters.numbers import (
    ch00_numbers,
    ch01_numbers,
    ch02_numbers,
    ch05_numbers,
)
from autograde.tools import named_numbers
from autograde.tools.named_numbers import numbers_of, place
from autograde.tools.proof import of_solution, of_wrong_answer
from autograde.wrong import misconceptions_of

P, Q = ch02_numbers.P, ch02_numbers.Q


@pytest.mark.parametrize("chapter", chapter_names())
def test_hidden_tests_type_no_argument_and_no_expected_value(chapter: str):
    assert Chapter(chapter).numbers.is_file()
    assert typed_in(Chapter(chapter).tests) == []


@pytest.mark.parametrize("kind", ["numbers", "expected"])
def test_expected_values_are_computed_without_tests_and_solutions(kind: str):
    """Of the grader these files read the shared laws, and one another."""
    for file in sorted((TESTS / kind).glob("ch*.py")):
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        read = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        read |= {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
        allowed = ("laws", "expected", "numbers")
        graders = {name for name in read if name.startswith("autograde")}
        assert {n for n in graders if n.split(".")[2:3] not in [[a] for a in allowed]} == set()


TYPED = '''"""Tests, whose K is the length of a block."""
K = 4
MANY, K = [5], 6
@pytest.mark.parametrize("n, gives", [(1, 2)])
def test_some(student, n, gives):
    tokens = [3, *numbers.MORE]
    low = -0.5
    expect(student.answer, 7, tokens[0], n + 1, gives=8)
    expect(student.answer, numbers.N, gives=gives, hint=f"{n:.2f}")
    assert np.abs(in_form_of([0], n)).sum(axis=0) <= 1e-12
'''


def test_typed_numbers_are_seen(tmp_path: Path):
    (tmp_path / "typed.py").write_text(TYPED, encoding="utf-8")
    seen = ["3: MANY, K = ([5], 6)", "4: 1", "4: 2", "6: 3", "7: -0.5", "8: 7", "8: 8"]
    assert typed_in(tmp_path / "typed.py") == seen


def test_what_is_expected_is_what_chapter_00_says():
    a100 = ch00_numbers.A100
    assert ch00_expected.intensity(5, 4) == 2.5
    assert ch00_expected.time(1, 7e9, 2, a100) == pytest.approx(14e9 / 2.039e12)
    assert ch00_expected.time(4096, 7e9, 2, a100) == pytest.approx(2 * 4096 * 7e9 / 312e12)
    assert [ch00_expected.free_tokens(size, a100) for size in (2, 4, 1, 0.5)] == [153, 306, 76, 38]
    assert ch00_expected.free_tokens(2, (1, 8)) == 8 and ch00_expected.free_tokens(2, (3, 2)) == 1
    assert ch00_expected.cache_bytes(1, 80, 8, 128, 2, 64) == 20_971_520
    assert ch00_expected.pass_time(2, 3, 50, (100, 0.5, 4), (50, 4000)) == 13.0
    assert ch00_expected.pass_time(9, 4, 10, (100, 2, 3), (100, 500)) == 14.4


def test_what_is_expected_is_what_chapter_01_says():
    row = ch01_expected.zero_after(4)
    assert ch01_expected.alone(row, [1, 2], 8, 0) == [1, 1, 0]
    assert ch01_expected.alone(row, [2, 0], 8, 2) == [1, 1, 0, 1, 1, 1, 1, 1]
    assert ch01_expected.agreeing([2, 3, 0, 1], np.eye(6)[[2, 4, 0, 1, 5]]) == 1
    assert [ch01_expected.agreeing(t, ch01_numbers.TIE) for t in ([1, 0], [2, 0], [1, 3])] == [
        2,
        0,
        1,
    ]
    assert ch01_expected.picked(np.array([0.0, 0.5, 0.5]), 0.0) == 1
    assert ch01_expected.picked(np.array([0.25, 0.25, 0.5]), 0.5) == 2
    assert ch01_expected.picked(np.array([0.5, 0.5 - 2**-40, 0.0]), LARGEST) == 1


def test_the_passes_of_a_text_are_counted_by_its_draft():
    """Five tokens: a draft that is always right gives k + 1 a pass, one that is never right 1."""
    row = ch01_expected.hashed(5, 4)
    never = ch01_expected.off_at(row, range(100))
    passes = [ch01_expected.blocks_needed(row, draft, [0], 3, 5) for draft in (row, never)]
    assert passes == [2, 5]


def test_eos_stands_where_it_is_wanted():
    seed, eos = ch01_expected.with_eos_at(31, 6, [1, 3], 2)
    assert ch01_expected.alone(ch01_expected.hashed(seed, 6), [1, 3], 9, eos)[2:] == [eos]
    with pytest.raises(ValueError, match="take an earlier place"):
        ch01_expected.with_eos_at(31, 2, [1], 30)


def test_what_is_expected_is_what_chapter_02_says():
    np.testing.assert_allclose(rejection.residual(P, Q), [0.75, 0, 0, 0.25])
    assert ch02_expected.corrected(P, Q, 1, 0.6, 0.9) == (1, True)
    assert ch02_expected.corrected(P, Q, 1, 0.7, 0.9) == (3, False)
    rows = np.array([P, P, ch02_numbers.FLAT]), np.array([Q, Q])
    assert ch02_expected.step([0, 1], *rows, np.array([0.5, 0.9]), 0.8) == [0, 3]
    assert ch02_expected.step([0, 1], *rows, np.array([0.5, 0.5]), 0.3) == [0, 1, 1]


def test_what_is_expected_is_what_chapter_05_says():
    blocks, k = ch05_numbers.BLOCKS[0]
    assert ch05_expected.rate(blocks, k) == 14 / 18
    assert ch05_expected.verdicts([2, 0, 3], 3) == [1, 1, 0, 0, 1, 1, 1]
    assert ch05_expected.operations(0.6, 0, 2) == pytest.approx(3 / 1.96)
    assert ch05_expected.operations(1.0, 0.25, 4) == 1.2
    assert ch05_expected.seconds_a_token(0.5, 5.0, 1.0, 2) == 4.0
    assert ch05_expected.root(4.0, 5.0, 1.0, 2) == pytest.approx(0.5, abs=1e-12)
    assert ch05_expected.root(7.52, 14.1, 1.8, 4) == pytest.approx(0.711, abs=5e-4)
    assert ch05_expected.share_of_each([1, 1, 0], ["x", "y", "x"]) == {"x": 0.5, "y": 1.0}
    assert ch05_expected.geometric([2, 8], [1, 1]) == pytest.approx(4)
    many = ch05_expected.runs_of_one_ratio(8.0, 2000)
    assert ch05_expected.geometric(*many) == pytest.approx(8, rel=1e-12)


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
    where = "ch02_tests.py: test_step_corrects, case 2 (ch02_numbers.py: STEP_CORRECTS[2]): "
    (line,) = (each for each in of_solution(CHAPTER) if each.startswith(where))
    assert "the solution fails this case: speculative_step(draft_tokens=[0, 2, 1]" in line


def first_case_of(test: str) -> int:
    """Its place among the cases of the chapter."""
    trials = grade.hidden_tests_of(CHAPTER).trials
    return next(i for i, trial in enumerate(trials) if trial.name == test)


def test_a_case_names_what_its_helpers_read():
    where = "test_correct_replaces, case 1 (ch02_numbers.py: REPLACING[1], P, Q, REJECTING)"
    assert place(CHAPTER, first_case_of("test_correct_replaces") + 1) == where


@pytest.fixture
def not_tiny(monkeypatch: pytest.MonkeyPatch):
    """Chapter 02 with numbers that let a small number in a denominator pass."""
    caches = (grade.hidden_tests_of, grade.right_cases_of, grade.known_of)
    forget = [cache.cache_clear for cache in caches]
    monkeypatch.setattr(grade.result_cache, "load", lambda key: None)
    monkeypatch.setattr(grade.result_cache, "store", lambda key, result: None)
    monkeypatch.setattr(ch02_numbers, "TINY", 3)
    exponents = (ch02_numbers.TINY_BELOW_1, ch02_numbers.TINY_AROUND_1)
    before = [each[:] for each in exponents]
    for each, new in zip(exponents, ([1, 2], [4, 2]), strict=True):
        each[:] = new
    [each() for each in forget]
    yield
    for each, old in zip(exponents, before, strict=True):
        each[:] = old
    [each() for each in forget]


def test_the_gate_of_a_wrong_answer_names_the_number_that_lets_it_pass(not_tiny: None):
    known = misconceptions_of(CHAPTER).of("acceptance_probability")
    wrong = next(each for each in known if each.function.__name__ == "epsilon_of_ten_digits")
    (told,) = of_wrong_answer(CHAPTER, wrong)
    where = "ch02_wrong.py: epsilon_of_ten_digits, a wrong answer to acceptance_probability, "
    assert told.startswith(f"{where}loses no point")
    case = "test_ratio_of_tiny_probabilities, case 1 (ch02_numbers.py: TINY_BELOW_1[1], TINY)"
    assert f"\n  {case}\n" in told


def test_a_chapter_without_a_file_of_numbers_names_the_arguments(monkeypatch: pytest.MonkeyPatch):
    assert numbers_of("09_example") is None
    monkeypatch.setattr(named_numbers, "numbers_of", lambda chapter: None)
    where = "test_correct_replaces, case 1 (u=0.3)"
    assert place(CHAPTER, first_case_of("test_correct_replaces") + 1) == where
    assert place(CHAPTER, first_case_of("test_ratio")) == "test_ratio, case 0"
