"""The visible side of a chapter: examples, messages, hints, predictions, figures."""

import copy
import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from autograde.chapters import ch02_wrong
from autograde.grading.misconceptions import misconceptions_of
from autograde.paths import SOLUTIONS
from autograde.submissions import solutions_of
from specdec_lib.lessons import ch02, ch02_figures
from specdec_lib.lessons.answers import answered, committed, reveal
from specdec_lib.lessons.drawing import drawn_from
from specdec_lib.lessons.examples import Different, Unwritten, describe, difference, expect
from specdec_lib.lessons.hints import has_own_line, open_hints

CHAPTERS = sorted(path.stem for path in SOLUTIONS.glob("[0-9][0-9]_*.py"))


def functions_of(chapter: str) -> dict:
    """The solution's functions, run in one namespace as in the notebook."""
    namespace: dict = {"np": np}
    exec("from specdec_lib.sampling import sample_from", namespace)
    for source in solutions_of(chapter).values():
        if source.startswith("def "):
            exec(source, namespace)
    return namespace


FUNCTIONS = functions_of("02_rejection_sampling")


@pytest.mark.parametrize("name", ch02.HINTS)
def test_visible_checks_pass_on_the_solution_and_print_no_mark(name: str, capsys):
    assert getattr(ch02, f"check_{name}")(FUNCTIONS[name]) is None
    captured = capsys.readouterr()
    assert captured.err == "" and name in captured.out


@pytest.mark.parametrize("name", ch02.HINTS)
def test_visible_checks_pass_a_stub_through(name: str):
    def stub(*args):
        raise NotImplementedError(f"{name}: not written yet")

    with pytest.raises(NotImplementedError, match=name):
        getattr(ch02, f"check_{name}")(stub)


@pytest.mark.parametrize("name", ch02.HINTS)
@pytest.mark.parametrize("value", [None, [], 0, np.zeros(4)])
def test_visible_checks_say_call_got_and_expected(name: str, value: object):
    with pytest.raises(Different, match=r".*\(.*\) returned .*, expected .*"):
        getattr(ch02, f"check_{name}")(lambda *args: value)


@pytest.mark.parametrize(
    "got, expected, remark",
    [
        (np.float64(1), 1.0, None),
        (1, 1.0, None),
        (np.int64(2), 2, None),
        (np.bool_(True), True, None),
        (True, 1, "not a bool"),
        (1, True, "True or False"),
        (1.5, 1.0, ""),
        (float("nan"), 1.0, ""),
        ("1", 1.0, "not a str"),
        (None, [1], "not None"),
        (np.array(0.5), 0.5, None),
        ([1, 2], (1, 2), "should be a tuple"),
        ([1, np.int64(2)], [1, 2], None),
        ([1], [1, 2], ""),
        ([1.0], [1], "a whole number"),
        (np.ones(2), np.ones(2), None),
        (np.ones(2) + 1e-10, np.ones(2), None),
        (np.array([np.nan, 1]), np.ones(2), ""),
        (np.array([True, False]), np.array([True, True]), ""),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), ""),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]), None),
        (np.ones(2), torch.ones(2), "should be a Tensor, not an array"),
        (np.array([True, False]), np.array([True, False]), None),
        ([1.0, 1.0], np.ones(2), "NumPy array"),
        (np.ones(3), np.ones(2), "shape"),
        (np.array(["a", "b"]), np.ones(2), "dtype"),
    ],
)
def test_difference(got: object, expected: object, remark: str | None):
    found = difference(got, expected)
    assert found == remark if not remark else remark in found


@pytest.mark.parametrize(
    ("got", "remark"),
    [
        ({"a": 1 / 3, "b": 2}, None),
        ({"b": 2, "a": 1 / 3 + 1e-12}, None),
        ({"a": 0.3, "b": 2}, ""),
        ({"a": 1 / 3}, " (its keys are ['a'], they should be ['a', 'b'])"),
        ({"a": "x", "b": 2}, " (it should be a number, not a str)"),
        ([1 / 3, 2], " (it should be a dict, not a list)"),
    ],
)
def test_dictionaries_are_compared_by_their_entries(got: object, remark: str | None):
    assert difference(got, {"a": 1 / 3, "b": 2}) == remark
    assert describe({"a": 1 / 3}) == "{'a': 0.33333}"


def test_a_text_is_the_same_in_every_run():
    class Model:
        def forward(self) -> None: ...

    model = Model()
    assert describe([describe, model.forward]) == "[describe, forward]"
    assert describe(model).startswith("<") and " at 0x" not in describe([model])


def test_message_names_parameters_and_shortens_large_arrays():
    def f(p, token):
        return token

    with pytest.raises(Different) as caught:
        expect(f, np.zeros((10, 10)), 3, gives=4, hint="Did you add one?")
    text = str(caught.value)
    assert (
        text == "f(p=an array of shape (10, 10), token=3) returned 3, expected 4. Did you add one?"
    )
    assert describe(np.array([0.1, 2 / 3])) == "[0.1, 0.66667]"


def test_exceptions_become_messages():
    def inverse(x):
        return 1 / x

    with pytest.raises(Different) as caught:
        expect(inverse, 0, gives=1)
    text = "inverse(x=0) raised ZeroDivisionError: division by zero, at `return 1 / x`; expected 1."
    assert str(caught.value) == text


def test_notebook_shows_wrapped_messages_and_no_frames_of_a_check():
    lines = Different("a word " * 40)._render_traceback_()
    assert len(lines) > 1 and all(len(line) <= 88 for line in lines)
    with pytest.raises(Unwritten) as caught:
        ch02.check_correct_token(unwritten_by_any_name)
    assert caught.value._render_traceback_() == ["NotImplementedError: not written yet"]


def unwritten(p):
    """A docstring is no line of one's own."""
    raise NotImplementedError("unwritten: not written yet")


def begun(p):
    x = 1
    raise NotImplementedError(f"unwritten: {x}")


def test_later_hints_open_after_a_first_own_line():
    assert not has_own_line(unwritten) and has_own_line(begun)
    texts = ("first", "second", "third & last")
    closed, opened = open_hints(unwritten, texts), open_hints(begun, texts)
    assert closed._repr_html_().count("<details>") == 1 and "second" not in repr(closed)
    assert (
        opened._repr_html_().count("<details>") == 3 and "third &amp; last" in opened._repr_html_()
    )


def test_predictions_are_committed_before_anything_is_revealed(capsys):
    with pytest.raises(NotImplementedError, match="no guess yet"):
        committed("prediction_02", None, 0, 1)
    with pytest.raises(Different, match="from 0 to 1"):
        committed("prediction_02", 3, 0, 1)
    reveal("prediction_02", None, 0.8, "Because.")
    assert "0.8" not in capsys.readouterr().out
    reveal("prediction_02", 0.5, 0.8, "Because.")
    assert capsys.readouterr().out == "You said 0.5. It is 0.8. Because.\n"
    reveal("prediction_02", 0.8, 0.8, "Because.")
    assert capsys.readouterr().out == "You said 0.8, and it is. Because.\n"


def test_quiz_answers_are_letters():
    with pytest.raises(NotImplementedError, match="no answer yet"):
        answered("quiz_02", "")
    with pytest.raises(Different, match="one letter"):
        answered("quiz_02", "e")
    assert answered("quiz_02", " B ") is None


def test_figures_wait_for_their_function(capsys):
    @drawn_from("f")
    def figure(function):
        function()

    figure(lambda: unwritten(0))
    figure(lambda: 1 / 0)
    out = capsys.readouterr().out
    assert "Write it first" in out and "cannot be drawn yet: ZeroDivisionError" in out


FIGURES = {
    "accepted_heights": ("acceptance_probability", (ch02.P, ch02.Q)),
    "walk_through_block": (
        "speculative_accept",
        (ch02.BLOCK, ch02.BLOCK_P, ch02.BLOCK_Q, ch02.BLOCK_R),
    ),
    "missing_part": ("residual_distribution", (ch02.P, ch02.Q)),
    "two_masses": ("correct_token", (ch02.P, ch02.Q)),
    "step_lengths": ("speculative_step", (ch02.P, ch02.Q, 4)),
    "before_and_after": ("acceptance_probability", (0.6, 0.4, 0.8)),
}


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The alternative texts of the figures that a test draws."""
    texts: list[str] = []
    monkeypatch.setattr(ch02_figures, "show", lambda figure, alt: texts.append(alt))
    return texts


@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_the_solution_and_wait_for_a_stub(name: str, shown: list[str], capsys):
    function, arguments = FIGURES[name]
    getattr(ch02_figures, name)(FUNCTIONS[function], *arguments)
    assert len(shown) == 1 and capsys.readouterr().out == ""
    getattr(ch02_figures, name)(unwritten_by_any_name, *arguments)
    assert len(shown) == 1 and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    "wrong", misconceptions_of("02_rejection_sampling").all, ids=lambda w: w.name
)
def test_figures_show_or_explain_a_wrong_function(wrong, shown: list[str], capsys):
    for name, (function, arguments) in FIGURES.items():
        if function == wrong.exercise:
            getattr(ch02_figures, name)(wrong.function, *copy.deepcopy(arguments))
    assert shown or "cannot be drawn yet" in capsys.readouterr().out


def test_figures_tell_what_a_wrong_function_returned(shown: list[str]):
    def no_stop(tokens, p, q, r):
        return [3, 2]

    function, arguments = FIGURES["walk_through_block"]
    ch02_figures.walk_through_block(no_stop, *arguments)
    assert "token 2" in shown[0] and "in your list" in shown[0] and "returned [3, 2]" in shown[0]
    ch02_figures.two_masses(ch02_wrong.replaced_from_target, ch02.P, ch02.Q)
    assert "together A 0.39, B 0.36, C 0.18, D 0.07" in shown[1]


def unwritten_by_any_name(*args):
    raise NotImplementedError("not written yet")


# --- what every chapter has -----------------------------------------------------------------


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_production_code_that_the_cards_name_exists(chapter: str):
    text = (SOLUTIONS / f"{chapter}.py").read_text()
    cards = text.count("**In production.**")
    names = re.findall(r"\*\*In production\.\*\* `(transformers\.[\w.]+)`", text)
    assert cards == len(names) == text.count("# ### Exercise: ")
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_has_all_its_parts(chapter: str):
    text = (SOLUTIONS / f"{chapter}.py").read_text()
    for part in ("**Carry in.**", "**Work here.**", "**Carry out.**", "## Quiz", "## Sources"):
        assert part in text
    assert "## What you may read elsewhere" in text and "## The smallest example" in text
    assert len(re.findall(r"# \*\*You might read: ", text)) == text.count("*Look:*") >= 3
    assert len(re.findall(r'solution="prediction_', text)) >= 2
    assert 3 <= text.count("# ### Exercise: ") <= 7


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_headings_are_in_order(chapter: str):
    text = (SOLUTIONS / f"{chapter}.py").read_text()
    levels = [len(marks) for marks in re.findall(r"^# (#+) ", text, re.MULTILINE)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


def test_every_figure_function_ends_in_show():
    figures = importlib.import_module("specdec_lib.lessons.ch02_figures")
    public = [f for n, f in vars(figures).items() if inspect.isfunction(f) and n[0] != "_"]
    own = [f for f in public if f.__module__ == figures.__name__ and f.__doc__]
    assert all("show(" in inspect.getsource(f) for f in own) and len(own) >= 7
