"""What a visible check says of an answer, and what it refuses."""

import numpy as np
import pytest
import torch

from specdec_lib.lessons.ch02 import lesson
from specdec_lib.lessons.checking.comparing import difference
from specdec_lib.lessons.checking.examples import (
    Different,
    expect,
    expect_value_error,
    helpers_first,
    visible_check,
)
from specdec_lib.lessons.checking.lending import copy_plain, limit_calls, read_only, token_list


def test_a_check_prints_the_calls_that_agreed_and_nothing_that_is_read_as_a_mark(capfd):
    def double(x, rows=None):
        if x < 0:
            raise ValueError("negative")
        return 2 * x

    @visible_check
    def check_double(function):
        expect(function, 1 / 3, gives=2 / 3)
        expect(function, 2, np.zeros((2, 2)), gives=4)
        expect_value_error(function, -1, why="it is negative")

    assert check_double(double) is None
    out, err = capfd.readouterr()
    assert err == "" and out.splitlines() == [
        "double(0.33333) -> 0.66667",
        "double(2, rows) -> 4",
        "double(-1) -> ValueError",
        "double: all 3 examples agree. Grading looks at more cases than these.",
    ]


P = np.array([0.5, 0.5])


@visible_check
def check_halved(function):
    expect(function, P.copy(), gives=P / 2)


def refused(check, function) -> str:
    """What a check says to a function that it does not let pass."""
    with pytest.raises(Different) as caught:
        check(function)
    assert caught.value._render_traceback_()[-1].startswith("Stuck?")
    return str(caught.value)


@visible_check
def check_square(function):
    asks = [(4, "Is that twice?", ((3,), 6)), (4, "Is that two more?", ((3,), 5))]
    expect(function, 2, gives=4.5, hint="A general hint.", asks=asks)


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda x: 2 * x, "expected 4.5. Is that twice?"),
        (lambda x: np.float64(x + 2), "expected 4.5. Is that two more?"),
        (lambda x: x**2, "expected 4.5. A general hint."),
        (lambda x: x / 0, "expected 4.5. A general hint."),
        (lambda x: str(x), "(it should be a number, not a str), expected 4.5."),
    ],
)
def test_with_a_match_only_the_match_is_said(function, said: str):
    assert refused(check_square, function).endswith(said)


EARLIER: list[int] = []


def counts(x):
    EARLIER.append(x)
    return len(EARLIER)


def keeps(x, old=[]):  # noqa: B006
    old.append(x)
    return sum(old)


@pytest.mark.parametrize("function", [counts, keeps, lambda x: float(np.random.random())])
def test_whoever_answers_otherwise_each_time_is_told_so_and_nothing_else(function, capsys):
    said = refused(check_square, lambda x: print(x) or function(x))
    assert "Asked again, it gives another answer." in said and "Is that" not in said
    assert capsys.readouterr().out == "2\n"


def square(x):
    return x


@visible_check
@helpers_first(check_square)
def check_fourth(function):
    expect(function, 2, gives=16)


def fourth_alone(x):
    return 2 * x


def fourth_by_square(x):
    return sum(square(square(each)) for each in [x])


def test_a_helper_is_blamed_only_by_a_function_that_calls_it():
    assert "square" not in refused(check_fourth, fourth_alone)
    said = "Is square right? fourth_by_square calls it, and square(x=2) returned 2"
    assert refused(check_fourth, fourth_by_square).startswith(said)


def halved_by_log(p):
    np.log(np.zeros(2))
    return p / 2


def test_a_check_refuses_a_warning():
    call = "halved_by_log(p=np.array([0.5, 0.5]))"
    said = f'{call} gave a warning: "divide by zero encountered in log". Did you '
    assert refused(check_halved, halved_by_log).startswith(said)


def test_a_check_refuses_an_array_that_is_an_argument():
    @visible_check
    def check_same(function):
        expect(function, P, gives=P)

    said = "(p=np.array([0.5, 0.5])) returned an array that shares its memory with an argument."
    assert said in refused(check_same, lambda p: p)
    check_same(lambda p: p.copy())
    assert "expected" in refused(check_same, lambda p: p[:1])  # the values first


@pytest.mark.parametrize(
    "value",
    [P, [1, 2], [[1], [2]], {"a": [1]}, torch.ones(2), (P, [3])],
    ids=["array", "list", "nested", "dict", "tensor", "tuple"],
)
def test_a_changed_argument_of_any_kind_is_seen_and_the_checks_own_stays(value):
    def spoilt(x):
        first = x
        while not isinstance(first, list | np.ndarray | torch.Tensor):
            first = next(iter(first.values())) if isinstance(first, dict) else first[0]
        first[0] = 7

    kept = copy_plain(value)

    @visible_check
    def check_spoilt(function):
        expect(function, value, gives=None)

    said = "changed its argument x. Work on a copy: the caller still needs"
    assert said in refused(check_spoilt, spoilt)
    assert difference(value, kept) is None


def test_a_loop_that_cannot_end_is_stopped_by_what_it_calls_and_told_why():
    @visible_check
    def check_settled(function):
        step = limit_calls(3, lambda x: x, "the target", "each pass settles one place")
        expect(function, step, gives=0)

    def settled(step):
        while True:
            step(0)

    said = "called the target more than 3 times: each pass settles one place"
    message = refused(check_settled, settled)
    assert message == f"settled(step=<lambda>) {said}; expected 0."


def test_what_a_notebook_shares_with_its_lesson_cannot_be_changed():
    for array in (lesson.P, lesson.Q, lesson.BLOCK_P, read_only([1.0])):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_model_that_is_handed_fractions_says_what_it_reads():
    with pytest.raises(ValueError, match="a list of whole numbers, one or more, not .1.0, 2.0."):
        token_list([1.0, 2.0])
