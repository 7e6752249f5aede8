"""Remote objects: a student's function uses them from the worker, the grader sees each use."""

import numpy as np
import pytest
import torch
from classes.sessions import value_of
from decoders.tables import TableModel

from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.session import CallTimedOut, StudentError
from autograde.sandbox.workers import Limits

WITH_TORCH = Limits(preload=(("torch", ()),))  # its import can outlast the limit of a call


def test_a_function_is_called_with_fresh_data_and_its_calls_are_seen():
    seen = []

    def model(tokens: list[int]) -> np.ndarray:
        seen.append(list(tokens))
        tokens.append(99)  # changes nothing over there
        return np.array([0.25, 0.75])

    code = "def f(model, text):\n    a = model(text)\n    return text, a + model(text + [1])"
    text, total = value_of(code, model, [5, 6])
    assert seen == [[5, 6], [5, 6, 1]] and text == [5, 6]
    assert total.tolist() == [0.5, 1.5]


def remote_model() -> RemoteObject:
    """A lookup-table model as chapter 08 gives it: its caches stay in the grader too."""
    model = TableModel(torch.full((3, 3), 1 / 3, dtype=torch.float64))
    new_cache = model.new_cache
    model.new_cache = lambda batch=1: RemoteObject(new_cache(batch), "length", "truncate()")
    return RemoteObject(model, "vocab_size", "new_cache()", "forward()")


def test_a_model_and_its_cache_are_used_by_their_names():
    code = (
        "import torch\n"
        "def f(model):\n"
        "    cache = model.new_cache(batch=2)\n"
        "    logits = model.forward(torch.tensor([[0, 1, 2]] * 2), cache)\n"
        "    cache.truncate(2)\n"
        "    return logits, cache.length, model.vocab_size, model\n"
    )
    model = remote_model()
    logits, length, vocabulary, same = value_of(code, model, limits=WITH_TORCH)
    assert logits.shape == (2, 3, 3) and logits.dtype == torch.float64
    assert (length.tolist(), vocabulary) == ([2, 2], 3)
    assert same is model.obj


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("model.table", "there is no table here; there are vocab_size, new_cache"),
        ("model(1)", "this object cannot be called"),
        ("model._ask('new_cache.__func__', (), {})", "new_cache.__func__ is not among"),
        ("model._ask('logits', (), {})", "logits is not among what may be used here"),
    ],
)
def test_nothing_else_can_be_asked_for(body: str, message: str):
    with pytest.raises(StudentError, match=message):
        value_of(f"def f(model):\n    return {body}", remote_model())


def test_an_error_of_a_remote_object_is_the_students_to_see():
    """One that would say that there is no answer comes under another name."""

    def refuse(tokens: list[int]) -> None:
        raise NotImplementedError("an empty prefix")

    with pytest.raises(StudentError, match="an empty prefix") as caught:
        value_of("def f(model):\n    return model([])", refuse)
    assert caught.value.name == "RuntimeError"


def test_a_function_that_never_stops_asking_is_stopped():
    code = "def f(model):\n    while True:\n        model(1)"
    with pytest.raises(CallTimedOut, match="longer than"):
        value_of(code, lambda x: x, limits=Limits(call_seconds=0.3))
