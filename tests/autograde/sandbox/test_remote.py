"""Remote objects: a student's function uses them from the worker, the grader sees each use."""

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
import torch
from classes.sessions import call, session, value_of

from autograde.chapters.ch03_tests import Bounded
from autograde.sandbox.inside import wire
from autograde.sandbox.remote import ObjectTable, RemoteObject
from autograde.sandbox.session import CallTimedOut, ProcessEnded, StudentError
from autograde.sandbox.student import Student
from autograde.sandbox.workers import Limits
from autograde.tools.proof import grade_with
from specdec_lib.lessons.ch03.rules import right_rule
from specdec_lib.models.table import TableModel

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
    table = torch.full((3, 3), 1 / 3, dtype=torch.float64)
    model = TableModel(table)
    new_cache = model.new_cache
    model.new_cache = lambda batch=1: RemoteObject(new_cache(batch), "length", "truncate()")
    return RemoteObject(model, "vocab_size", "new_cache()", "forward()")


def test_a_model_and_its_cache_are_used_by_their_names():
    code = (
        "import torch\n"
        "def f(model):\n"
        "    cache = model.new_cache()\n"
        "    logits = model.forward(torch.tensor([[0, 1, 2]]), cache)\n"
        "    cache.truncate(2)\n"
        "    return logits, cache.length, model.vocab_size, model.new_cache(batch=2).length\n"
    )
    logits, length, vocabulary, two = value_of(code, remote_model(), limits=WITH_TORCH)
    assert logits.shape == (1, 3, 3) and logits.dtype == torch.float64
    assert (length.tolist(), vocabulary, two.tolist()) == ([2], 3, [0, 0])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("model.table", "there is no table here; there are vocab_size, new_cache"),
        ("model(1)", "this object cannot be called"),
        ("model.forward(1, 2)", "AttributeError"),
        ("model._ask('new_cache.__func__', (), {})", "new_cache.__func__ is not among"),
        ("model._ask('logits', (), {})", "logits is not among what may be used here"),
        ("model.new_cache(10**9)", "may ask for"),
    ],
)
def test_nothing_else_can_be_asked_for(body: str, message: str):
    with pytest.raises(StudentError) as caught:
        value_of(f"def f(model):\n    return {body}", remote_model())
    assert message in caught.value.what_happened


def picky(error: Exception) -> Callable:
    """A function that refuses every use."""

    def refuse(tokens: list[int]) -> None:
        raise error

    return refuse


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("the prefix is empty"), "raised ValueError: the prefix is empty (line 2"),
        (IndexError("row 3 of 3"), "raised IndexError: row 3 of 3 (line 2"),
        (KeyError("a"), "raised RuntimeError: KeyError: 'a' (line 2"),
        (NotImplementedError("no"), "raised RuntimeError: NotImplementedError: no (line 2"),
        (SystemError(), "raised RuntimeError: SystemError:  (line 2"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_an_error_of_a_remote_object_is_the_students_to_see(error: Exception, message: str):
    with pytest.raises(StudentError) as caught:
        value_of("def f(model):\n    return model([])", picky(error))
    assert caught.value.what_happened.startswith(message)


def test_a_function_may_catch_what_a_use_raises():
    code = "def f(model):\n    try:\n        model([])\n    except ValueError as error:\n"
    error = ValueError("the prefix is empty")
    assert value_of(f"{code}        return str(error)", picky(error)) == "the prefix is empty"


@pytest.mark.parametrize(
    "question",
    [
        None,
        {},
        {"of": 7, "name": "", "args": {"l": []}, "kwargs": {}},
        {"of": True, "name": "", "args": {"l": []}, "kwargs": {}},
        {"of": 0, "name": 3, "args": {"l": []}, "kwargs": {}},
        {"of": 0, "name": "", "args": {"t": []}, "kwargs": {}},
        {"of": 0, "name": "", "args": {"l": [{"h": [5, True, []]}]}, "kwargs": {}},
        {"of": 0, "name": "", "args": {"l": [{"h": [-1, True, []]}]}, "kwargs": {}},
        {"of": 0, "name": "", "args": {"l": []}, "kwargs": []},
    ],
)
def test_a_forged_question_breaks_the_protocol(question: object):
    table = ObjectTable()
    table.add(lambda: 1)
    with pytest.raises(wire.ProtocolError):
        table.answer(question)


def test_a_function_that_never_stops_asking_is_stopped():
    def slow(x: int) -> int:  # so that the time is over before the number of uses is
        time.sleep(0.01)
        return x

    code = "def f(model):\n    while True:\n        model(1)"
    begun = time.monotonic()
    with pytest.raises(CallTimedOut, match="longer than"):
        value_of(code, slow, limits=Limits(call_seconds=0.3))
    assert time.monotonic() - begun < 20  # five times the limit; it used to go on for a minute


def test_a_kept_call_has_the_generator_as_it_was_before():
    with session("def f(rng):\n    return rng.random()") as s:
        student = Student(s, {})
        value = student.f(np.random.default_rng(5))
    assert student.calls[0].args[0].random() == value


def test_uses_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("autograde.sandbox.remote.MAX_USES", 3)
    code = "def f(model):\n    return [model(i) for i in range(4)]"
    with pytest.raises(ProcessEnded, match="more than 3 uses"):
        value_of(code, lambda x: x)


@pytest.mark.parametrize(
    "size",
    [
        *("3 * 10**9", "-200_000", "(1000, 1000)", "[4, 5, 10_000]"),
        *("np.array([1000, 1000])", "size=200_000", "[10**9] * 10_000"),
    ],
)
def test_a_generator_gives_no_more_numbers_than_anybody_needs(size: str):
    """They are drawn in the grader's process: 24 GB for the first of these, for a whole class."""
    code = f"import numpy as np\ndef f(rng):\n    return rng.random({size})"
    with pytest.raises(StudentError, match="may ask for 100,000 numbers"):
        value_of(code, np.random.default_rng(3))


def test_a_generator_gives_as_many_numbers_as_an_answer_may_take():
    code = "def f(rng):\n    return rng.random(100_000), rng.random((4, 5)), rng.random(size=3)"
    rng = np.random.default_rng(3)
    many, table, three = value_of(code, np.random.default_rng(3))
    assert np.array_equal(many, rng.random(100_000)) and np.array_equal(table, rng.random((4, 5)))
    assert np.array_equal(three, rng.random(3))


@pytest.mark.parametrize("given", ["[1] * 11", "[[1, 1]] * 4", "np.ones((3, 4))", "'x' * 20"])
def test_what_a_use_may_be_given_is_bounded(given: str):
    length = RemoteObject(len, call=True, max_given=10)
    code = f"import numpy as np\ndef f(model):\n    return model([5] * 8), model({given})"
    with pytest.raises(StudentError, match="given 10 numbers"):
        value_of(code, length)


def messages_on(chapter: str, **answer: str) -> str:
    """The messages on one exercise, answered with this code."""
    (name,) = answer
    exercise = grade_with(chapter, **answer).exercises[name]
    assert exercise.score == 0
    return " ".join([exercise.note or "", *exercise.messages])


def test_a_rule_makes_no_table_of_all_coins_and_numbers():
    """16 bytes of a message made 10^10 numbers of it; a list times a number is as long a list."""
    rule = "def is_lossless(rule, p, q):\n    {}\n    return True"
    tables = "n = np.zeros((2000, 1)); rule(p, q, n.astype(int), n, n.T)"
    assert "takes 1,000,000 draft tokens" in messages_on(
        "03_lossless", is_lossless=rule.format(tables)
    )
    indexed = "rule(p[None], q[None], np.zeros(9, int), np.zeros(9), np.zeros(9))"
    assert "p and q of shape (V,)" in messages_on("03_lossless", is_lossless=rule.format(indexed))
    text = "rule(p, ['x'] * len(q), 0, 10**4, 0.5)"
    assert "arrays of numbers" in messages_on("03_lossless", is_lossless=rule.format(text))


def test_a_tuple_given_to_a_rule_is_never_multiplied_by_a_number():
    """As a list or a tuple it would be repeated so often: 6e7 numbers, in the grader's process."""
    many = np.full(2, np.int64(6e7))
    for given in ((0.1,), [0.1]):
        tracemalloc.start()
        Bounded(right_rule)(many, many, 0, given, 0.5)
        assert tracemalloc.get_traced_memory()[1] < 2**20
        tracemalloc.stop()


def test_models_read_no_text_longer_than_the_tests_need():
    long = "def score_block(target_model, prefix, drafted):\n    target_model([1] * 1001)"
    assert "given 1,000 numbers" in messages_on("01_draft_then_verify", score_block=long)
    long = (
        "def speculative_generate(target, *rest, **more):\n"
        "    cache = target.new_cache()\n"
        "    for _ in range(3):\n"
        "        target.forward(torch.zeros(1, 90, dtype=torch.long), cache)\n"
        "    return []\n"
    )
    messages = messages_on("08_full_generation", speculative_generate=long)
    assert "longer than the 200 tokens" in messages


def test_the_same_thing_is_the_same_handle_and_is_not_called_changed():
    def one(x: int) -> int:
        return x

    table = ObjectTable()
    assert table.add(one).number == table.add(one).number == 0
    with session("def f(a, b):\n    return a(1) + b(2)") as s:
        reply = call(s, "f", (one, one))
    assert reply.value == 3 and reply.changed == []


def test_tensors_cross_with_their_dtype_and_come_back():
    code = "def f(x):\n    return type(x).__name__, str(x.dtype), x * 2"
    with session(code, limits=WITH_TORCH) as s:
        for tensor in (torch.tensor([[1.5, 2.0]]), torch.tensor([1, 2]), torch.zeros(0, 3)):
            name, dtype, twice = call(s, "f", (tensor,)).value
            assert (name, dtype) == ("Tensor", str(tensor.dtype))
            assert torch.equal(twice, tensor * 2) and twice.dtype == tensor.dtype


def test_torch_finds_the_same_processor_as_in_the_grader():
    """Other instructions would give other last bits, and no misconception would be recognised."""
    code = "import torch\ndef f():\n    return torch.backends.cpu.get_cpu_capability()"
    assert value_of(code, limits=WITH_TORCH) == torch.backends.cpu.get_cpu_capability()


def test_a_remote_object_can_be_returned_and_is_then_the_graders_own():
    model = remote_model()
    code = "def f(model):\n    return [model, model.new_cache()]"
    same, cache = value_of(code, model, limits=WITH_TORCH)
    assert same is model.thing and cache.length.tolist() == [0]
