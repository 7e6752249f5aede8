"""Values in messages: short, the same in every run, and told apart."""

import numpy as np
import pytest
import torch

from specdec_lib.lessons.common.describing import (
    MOST_SHOWN,
    as_code,
    describe,
    told_apart,
)
from specdec_lib.lessons.common.examples import (
    Different,
    expect,
)


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
    assert len(str(caught.value)) < MOST_SHOWN + 200


@pytest.mark.parametrize(
    "value",
    [
        *(0.1, 1 / 3, 7, True, None, "a", [0.1, 2], (1,), np.float64(1 / 3), np.int64(3)),
        *(np.array([[1 / 3, 0.5]]), np.zeros((0, 3)), np.array([]), np.array([1, 2])),
        *(np.float32([0.1]), np.array([True]), torch.tensor([[0.1, 1 / 3]])),
        *(torch.tensor([1 / 3]).double(), torch.tensor([1, 2]), torch.tensor([True])),
        *(np.array([np.nan, -np.inf]), torch.tensor([[np.inf]]), np.nan, np.float64(np.inf)),
        *(torch.zeros(0, 3), torch.zeros(0).long(), np.zeros((2, 0), int)),
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
    told = told_apart(one, other)
    assert told == texts if texts else told[0] != told[1]
