"""The chapter's own answers, lent to what calls wrong ones: what passes, and what does not."""

from collections.abc import Iterator

import numpy as np
import pytest
from classes.sessions import LIMITS, session

from autograde.sandbox.reference import Reference
from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.session import Cell, ProcessEnded, StudentError
from autograde.sandbox.student import Student

OURS = """
import numpy as np
def twice(x, plus=0):
    return 2 * x + plus
def picky(x):
    raise ValueError("no " + str(x))
def first_row(model, text):
    return model.row(text)[0]
def many(n):
    return [0] * n
def forever(x):
    while True:
        pass
"""
NAMES = ("twice", "picky", "first_row", "many", "forever")


@pytest.fixture
def reference() -> Iterator[Reference]:
    with Reference([Cell("ours", OURS, 5.0)], LIMITS) as each:
        yield each


def answer(reference: Reference, code: str, *args: object) -> object:
    """What `f(*args)` of the student's `code` gives with the reference underneath."""
    with session(code) as s:
        return Student(s, {}, reference.functions(NAMES)).f(*args)


def test_an_answer_is_lent_for_the_time_of_a_call(reference: Reference):
    code = "def twice(x):\n    return -1\ndef f(x):\n    return twice(x)"
    with session(code) as s:
        student = Student(s, {}, reference.functions(["twice"]))
        assert student.f(3) == 6
        assert Student(s, {}).f(3) == -1
        assert list(student.f.each([(1,), (2,)])) == [2, 4]
    assert reference.used == {"twice"}


def test_arguments_may_have_names_and_be_arrays(reference: Reference):
    code = "def f(x):\n    return twice(x=x, plus=1), twice(x, plus=x)"
    one, three = answer(reference, code, np.array([1.0, 2.0]))
    assert one.tolist() == [3.0, 5.0] and three.tolist() == [3.0, 6.0]


def test_an_exception_keeps_its_kind(reference: Reference):
    code = "def f(x):\n    try:\n        picky(x)\n    except ValueError as error:\n"
    assert answer(reference, f"{code}        return str(error)", 5) == "no 5"


def test_a_lent_object_goes_on_and_is_used_where_it_is(reference: Reference):
    seen = []

    class Model:
        def row(self, text: list[int]) -> np.ndarray:
            seen.append(text)
            return np.array([0.25, 0.75])

    code = "def f(model):\n    return first_row(model, [1, 2])"
    assert answer(reference, code, RemoteObject(Model(), "row()")) == 0.25
    assert seen == [[1, 2]]


def test_an_answer_is_no_argument_of_another(reference: Reference):
    code = (
        "def f(x):\n"
        "    try:\n"
        "        first_row(twice, [1])\n"
        "    except TypeError as error:\n"
        "        return str(error), twice(x)\n"
    )
    assert answer(reference, code, 4) == ("first_row was given a graded function as an argument", 8)


def test_an_answer_that_does_not_come_back_ends_the_call_and_not_the_others(reference: Reference):
    with pytest.raises((StudentError, ProcessEnded), match="took longer than 1.5 s"):
        answer(reference, "def f(x):\n    return forever(x)", 1)
    assert reference.session.limited
    assert answer(reference, "def f(x):\n    return twice(x)", 1) == 2


def test_arguments_of_any_size_meet_the_limits_of_a_worker(reference: Reference):
    with pytest.raises(StudentError, match="MemoryError"):
        answer(reference, "def f(x):\n    return many(10**12)", 1)


@pytest.mark.parametrize(
    "look",
    [
        *("twice.__code__", "twice.__globals__"),
        *("twice.thing", "twice.func", "twice.__wrapped__"),
        *(f"twice._ask('{name}', (), {{}})" for name in ("thing", "func()", "__class__")),
    ],
)
def test_a_handle_shows_nothing_of_the_answer(reference: Reference, look: str):
    with pytest.raises(StudentError, match="attribute|there is no|is not among"):
        answer(reference, f"def f(x):\n    return {look}", 1)


def test_a_handle_that_was_kept_is_worth_nothing_afterwards(reference: Reference):
    code = "kept = []\ndef f(x):\n    kept.append(twice)\n    return kept[0](x)\ndef twice(x): ..."
    with session(code) as s:
        assert Student(s, {}, reference.functions(["twice"])).f(2) == 4
        with pytest.raises(ProcessEnded, match="a handle that was never given out"):
            Student(s, {}).f(3)


def test_an_answer_is_asked_once_for_the_same_data_and_always_for_a_lent_object(
    reference: Reference,
):
    seen, calls = [], []
    model = RemoteObject(lambda: seen.append(1), call=True)
    code = "def f(model):\n    a = count([1])\n    a[0] = 9\n    count(model), count(model)\n"
    lent = reference.functions(["count"])
    lent["count"].thing = lambda x: calls.append(x) or [1]
    with session(f"{code}    return count([1]), count([1.0]), count([True])") as s:
        assert Student(s, {}, lent).f(model) == ([1], [1], [1])
    assert calls == [[1], model, model, [1.0], [True]] and seen == []


def test_an_answer_may_be_asked_for_only_so_often(
    reference: Reference, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("autograde.sandbox.remote.MAX_USES", 50)
    with pytest.raises(ProcessEnded, match="more than 50 uses"):
        answer(reference, "def f(x):\n    return [twice(i) for i in range(10**6)]", 1)


def test_the_reference_starts_only_if_it_is_asked_for(reference: Reference):
    assert answer(reference, "def f(x):\n    return x", 1) == 1
    assert reference.session.worker is None and reference.used == set()
