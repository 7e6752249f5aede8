"""Values in messages: short, the same in every run, and told apart."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from specdec_lib.lessons.checking.describing import MAX_SHOWN, describe, distinct_texts
from specdec_lib.lessons.checking.examples import Different, expect
from specdec_lib.lessons.checking.pasting import as_code, format_call


def test_a_text_is_the_same_in_every_run():
    class Model:
        def forward(self) -> None: ...

    model = Model()
    assert describe([describe, model.forward]) == "[describe, forward]"
    assert describe(model).startswith("<") and " at 0x" not in describe([model])
    assert describe(np.random.default_rng(0)) == "Generator(PCG64)"  # its address is in capitals


LONG = "x" * 10**6
DEEP: list = [0.5]
for _ in range(12):
    DEEP = [DEEP] * 40  # 40 ** 12 numbers


@pytest.mark.parametrize(
    "value", [LONG, {"a": {LONG: {LONG: 2}}}, [LONG] * 40, DEEP, np.full(12, LONG)], ids=type
)
def test_a_value_of_any_size_is_told_shortly(value: object):
    with pytest.raises(Different) as caught:
        expect(lambda: value, gives=3)
    assert len(str(caught.value)) < MAX_SHOWN + 200


@pytest.mark.parametrize(
    "value",
    [
        *(0.1, 1 / 3, 7, True, None, "a", [0.1, 2], (1,), np.float64(1 / 3), np.int64(3)),
        *(np.array([[1 / 3, 0.5]]), np.zeros((0, 3)), np.array([]), np.array([1, 2])),
        *(np.float32([0.1]), np.array([True]), torch.tensor([[0.1, 1 / 3]])),
        *(torch.tensor([1 / 3]).double(), torch.tensor([1, 2]), torch.tensor([True])),
        *(np.array([np.nan, -np.inf]), torch.tensor([[np.inf]]), np.nan, np.float64(np.inf)),
        *(torch.zeros(0, 3), torch.zeros(0).long(), np.zeros((2, 0), int)),
        *(np.tile([0.45, 0.3, 0.15, 0.1], (7, 1)), torch.tensor([[[0.1, 0.2, 0.3]] * 3] * 5)),
        *(np.float32([1 / 3, 1e-9]), np.arange(4, dtype="u1")),
    ],
    ids=repr,
)
def test_the_call_of_a_message_can_be_pasted_and_gives_the_same_values(value):
    again = eval(as_code(value), {"np": np, "torch": torch})
    np.testing.assert_array_equal(again, value)
    assert np.shape(again) == np.shape(value)
    assert getattr(again, "dtype", None) == getattr(value, "dtype", None) or np.isscalar(again)


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        (0.1, 0.2, ("0.1", "0.2")),
        (0.1, 0.1 + 1e-9, ("0.1", "0.100000001")),
        ([0.5, 1 / 3], [0.5, 1 / 3 + 1e-15], None),
        (np.full(2, 0.5), np.full(2, 0.5) + 1e-7, ("[0.5, 0.5]", "[0.5000001, 0.5000001]")),
    ],
)
def test_numbers_get_as_many_digits_as_tell_them_apart(one, other, texts):
    told = distinct_texts(one, other)
    assert told == texts if texts else told[0] != told[1]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (np.log([0.45, 0.3, 0.25]), "np.log([0.45, 0.3, 0.25])"),
        (torch.tensor([[0.45, 0.55]]).log(), "torch.log(torch.tensor([[0.45, 0.55]]))"),
        (np.log(2) * np.ones((2, 2)), "np.log([[2.0, 2.0], [2.0, 2.0]])"),
        (torch.tensor([0.1, 0.2]), "torch.tensor([0.1, 0.2])"),
        (torch.ones(2).bfloat16(), "torch.tensor([1.0, 1.0], dtype=torch.bfloat16)"),
        ([np.array([0.5]), (1,)], "[np.array([0.5]), (1,)]"),
        (np.tile([0.25, 0.75], (9, 1)), "np.array([[0.25, 0.75]])[[0, 0, 0, 0, 0, 0, 0, 0, 0]]"),
        (list(range(1000)), "<a list of length 1000>"),
        ("x" * 1000, "<a str of length 1000>"),
        (np.full((9, 9), 0.5) + np.eye(9) / 3, "<an array of shape (9, 9)>"),
        ([1, np.random.default_rng(0)], "[1, <Generator(PCG64)>]"),
        (len, "<built-in function len>"),
        (SimpleNamespace(obj=SimpleNamespace(code="exact.Tape()")), "exact.Tape()"),
    ],
)
def test_an_argument_is_short_code_or_stands_in_angle_brackets(value, code):
    assert as_code(value) == code


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (lambda p, n=2: 0, "<lambda>(p=1, n=2)"),
        (lambda *args: 0, "<lambda>(1, 2)"),
        (lambda p, /, n: 0, "<lambda>(1, 2)"),
        (lambda p, *more: 0, "<lambda>(1, 2)"),
        (lambda p, n, *, quiet=True: 0, "<lambda>(p=1, n=2)"),
    ],
)
def test_a_call_names_the_arguments_that_may_be_named(function, call):
    assert format_call(function, (1, 2)) == call


@pytest.mark.parametrize(
    ("got", "gives"),
    [(np.ones((4, 8)), np.ones((5, 8))), (np.ones(2), np.ones(3)), (np.ones(2), np.ones(20))],
)
def test_a_shape_is_said_once(got, gives):
    with pytest.raises(Different) as caught:
        expect(lambda: got, gives=gives)
    for each in (got, gives):
        assert str(caught.value).count(str(each.shape)) == 1
