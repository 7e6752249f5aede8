"""What a student's process tells of itself gives no points: it is looked into from outside."""

import copy

import nbformat
import numpy as np
import pytest
import torch
from attacks.forging import FORGED, spoilt
from classes.sessions import session

from autograde.chapter import chapter_names
from autograde.chapters.common import no_warning, own_array
from autograde.check import untouched
from autograde.grade import grade_now
from autograde.sandbox.student import Student
from autograde.sandbox.workers import Limits
from autograde.submission import release_of
from autograde.tools.proof import grade_with
from autograde.tools.samples import filled, solutions_of
from autograde.tools.wrong_rounds import answers_beside, without_others
from autograde.wrong import Misconception, misconceptions_of

LEFT_OUT = ("changed its argument", "shares its memory", "gave a warning")


def points(chapter: str, forged: bool, **answers: str) -> dict[str, float]:
    """What these answers earn, with or without the cell that forges."""
    others = solutions_of(chapter) | without_others(chapter, answers)
    notebook = copy.deepcopy(filled(release_of(chapter), others))
    if forged:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(FORGED, id="extra-own"))
    result = grade_now(notebook, chapter)
    assert not forged or result.cells["extra-own"]["error"] is None
    return {name: result.exercises[name].score for name in answers}


CASES = [
    ("02_rejection_sampling", "residual_distribution", "an array changed"),
    ("02_rejection_sampling", "residual_distribution", "an argument returned"),
    ("02_rejection_sampling", "acceptance_probability", "a warning given"),
    ("01_draft_then_verify", "greedy_speculative_decode", "a list changed"),
]


@pytest.mark.parametrize("chapter, name, what", CASES)
def test_a_forged_report_earns_nothing(chapter: str, name: str, what: str):
    code = f"{solutions_of(chapter)[name]}\n{spoilt(name, what)}"
    honest = points(chapter, False, **{name: code})
    assert honest[name] < points(chapter, False, **{name: solutions_of(chapter)[name]})[name]
    assert points(chapter, True, **{name: code}) == honest


CODE = """
import numpy as np, warnings
def changes(p): p *= 2; return p.sum()
def empties(p): p[:] = 0; return 1.0
def sets(flag): flag[0] = not flag[0]; flag[0] = not flag[0]; flag[1] = True; return 1
def extends(text): text.append(1); return len(text)
def gives(p): return p[1:]
def warns(p): warnings.warn("careful", RuntimeWarning); return 1
def quiet(p): return p.copy()
def passes(model): return [model(), model()]
count = []
def differs(p): count.append(1); return len(count)
"""


@pytest.mark.parametrize(
    "name, arg, check, message",
    [
        ("changes", np.ones(3), untouched, "changes changed its argument p"),
        ("empties", np.ones(3), untouched, "empties changed its argument p"),
        ("empties", torch.ones(3), untouched, "empties changed its argument p"),
        ("sets", np.zeros(2, bool), untouched, "sets changed its argument flag"),
        ("gives", np.array([True, False]), own_array, "shares its memory"),
        ("extends", [1, 2], untouched, "extends changed an argument: called again"),
        ("gives", np.ones(3), own_array, "shares its memory with an argument"),
        ("warns", 1, no_warning, r'warns\(1\) gave a warning: "careful"'),
        ("differs", 1, untouched, "differs gave something else for the same arguments"),
    ],
)
def test_each_check_looks_for_itself(name: str, arg: object, check, message: str):
    with session(FORGED, CODE, limits=Limits(preload=(("torch", ()),))) as s:
        student = Student(s, {"changes": ["p"], "empties": ["p"], "sets": ["flag"]})
        getattr(student, name)(arg)
        (call,) = student.calls
        assert (call.reply.changed, call.reply.shares, call.reply.warnings) == ([], False, [])
        with pytest.raises(AssertionError, match=message):
            check(student)


def test_an_argument_that_is_kept_stays_what_it_was():
    """No place in the shared memory is used twice: a cache of the last arguments is no mistake."""
    code = "last = []\ndef f(p):\n    last.append(p)\n    return [each.tolist() for each in last]"
    with session(code) as s:
        for value in (1.0, 2.0, 3.0):
            again = s.again("f", *[(np.array([value]),)] * 2, strict=False)
    assert again.second == [[1.0], [1.0], [2.0], [2.0], [3.0], [3.0]]


def test_more_than_the_shared_memory_holds_is_sent_all_the_same():
    with session("def f(p):\n    return p.sum()") as s:
        sums = [s.again("f", *[(np.ones(400_000),)] * 2, strict=False).first for _ in range(4)]
    assert sums == [400_000.0] * 4


def test_what_is_lent_is_as_it_was_before_the_call():
    """Else a generator, or a model that counts its passes, would give something else."""
    rng = np.random.default_rng(3)
    with session(CODE, "def draws(rng, n): return rng.random(n)") as s:
        student = Student(s, {})
        student.draws(rng, 3)
        for check in (untouched, own_array, no_warning):
            check(student)
        assert len(student.calls) == 1
    assert rng.random() == np.random.default_rng(3).random(4)[3]


def loses_by_report(chapter: str) -> list[Misconception]:
    """The known wrong answers of a chapter that what the process tells of itself shows."""
    found = []
    for wrong in misconceptions_of(chapter).all:
        result = grade_with(chapter, **answers_beside(chapter, wrong))
        messages = result.exercises[wrong.exercise].messages
        found += [wrong] if any(text in m for m in messages for text in LEFT_OUT) else []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapter_names())
def test_no_known_wrong_answer_earns_by_a_forged_report(chapter: str):
    for wrong in loses_by_report(chapter):
        answer = {wrong.exercise: wrong.code}
        assert points(chapter, True, **answer) == points(chapter, False, **answer), wrong.name
