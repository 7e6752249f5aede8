"""Three gates for every exercise of every chapter: the stub, the solution, the known bugs.

They are those of `autograde gates` (`autograde/tools/gates.py`). Each is shown to be able to fail.
"""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from classes.submitting import CHAPTER

from autograde.course import AuthorError, chapter_names
from autograde.grading import grade
from autograde.hidden import plugin
from autograde.hidden.causes import KnownBug, bugs_of, patched
from autograde.hidden.collected import with_hidden_tests
from autograde.hidden.material import material_of
from autograde.intake.submission import release_of
from autograde.tools import gates
from autograde.tools.gates import faults, judge_answers
from autograde.tools.samples import functions_of


@pytest.mark.parametrize("chapter", chapter_names())
def test_a_blank_release_earns_nothing_and_its_own_cells_run(chapter: str):
    result = grade.grade(release_of(chapter), chapter)
    assert {e.score for e in result.exercises.values()} == {0}
    assert result.cells
    assert [name for name, report in result.cells.items() if report["error"]] == []


@pytest.mark.parametrize("chapter", chapter_names())
def test_the_gates_hold(chapter: str):
    assert faults(chapter) == []


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapter_names())
def test_the_gates_hold_for_the_seed_of_a_private_fork(
    chapter: str, monkeypatch: pytest.MonkeyPatch
):
    for module in (plugin, grade):
        monkeypatch.setattr(module, "course_seed", lambda: 7)
    assert faults(chapter) == []


def faults_of(chapter: str, gate: Callable, *more: object) -> list[str]:
    """The faults that one gate finds in a chapter."""
    grade.known_of(chapter)
    return with_hidden_tests(chapter, lambda tests: list(gate(tests, *more)))


@pytest.mark.parametrize("chapter", chapter_names())
def test_functions_have_two_to_five_groups_and_four_bugs_or_more(chapter: str):
    answers = material_of(chapter).answers
    exercises = judge_answers(chapter, **{name: answers[name] for name in functions_of(chapter)})
    assert all(2 <= len(exercise.groups) <= 5 for exercise in exercises.values())
    known = [(bug.exercise, bug.think) for bug in bugs_of(chapter)]
    few = [n for n in exercises if len({think for name, think in known if name == n}) < 4]
    assert few == []


def test_stub_gate_can_fail(monkeypatch: pytest.MonkeyPatch):
    solved = release_of(CHAPTER).copy()
    solved.cells = [cell.copy() for cell in solved.cells]
    (answer,) = (c for c in solved.cells if c.id == "speculative_step")
    answer.source = material_of(CHAPTER).answers["speculative_step"]
    monkeypatch.setattr(gates, "release_of", lambda chapter: solved)
    assert any("speculative_step" in fault for fault in faults_of(CHAPTER, gates.of_stub))


def test_solution_gate_can_fail():
    def gate(tests):
        with material_of(CHAPTER).solved.with_answers({"quiz_02": 'quiz_02 = "a"'}):
            yield from gates.of_solution(tests)

    assert any("the solution fails a case" in fault for fault in faults_of(CHAPTER, gate))


def fault_of(old: str, new: str, think: str) -> str:
    """The one fault that the gate of known bugs finds in a bug of acceptance_probability."""
    code = patched(material_of(CHAPTER), "acceptance_probability", old, new)
    bug = KnownBug("acceptance_probability", think, "it is not.", code)
    (fault,) = faults_of(CHAPTER, gates.of_wrong_answer, bug)
    return fault


def test_gate_of_bugs_can_fail():
    """A bug that changes nothing, and one that is told something else."""
    nothing = fault_of("min(1.0,", "min(1,", "1 is a float.")
    assert "acceptance_probability" in nothing and "loses no point" in nothing
    assert "is shown a different explanation" in fault_of("/ q[token]", "/ 2", "q is 2.")


def test_gate_of_empty_answers_can_fail():
    """What is returned without a look at the arguments may be an answer all the same."""
    p, q = "args[0][args[2]]", "args[1][args[2]]"
    given = faults_of(CHAPTER, gates.of_empty_answer, f"float(min(1, {p} / {q}))")
    start = f"test_{CHAPTER}.py: acceptance_probability: functions that return float(min(1, "
    assert len(given) == 3 and all(each.startswith(start) for each in given)


def test_a_known_bug_of_no_exercise_is_told_those_that_there_are():
    config = SimpleNamespace(getoption=lambda option: "speculative_stop-1")
    with pytest.raises(pytest.UsageError, match="speculative_stop-1: these tests have acceptance_"):
        with_hidden_tests(
            CHAPTER, lambda tests: plugin.pytest_collection_modifyitems(config, tests.items)
        )


def test_a_bug_must_stand_in_the_solution_exactly_once():
    with pytest.raises(AuthorError, match="stands 3 times in the solution"):
        patched(material_of(CHAPTER), "acceptance_probability", "[token]", "[0]")
