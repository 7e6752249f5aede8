"""What the lessons are made of: examples, messages, hints, predictions, figures that wait."""

import warnings

import numpy as np
import pytest
import torch
from classes.chapter_cases import LESSONS, draw
from classes.chapter_cases import unwritten as unwritten_by_any_name

from autograde.chapters import ch02_wrong
from specdec_lib.lessons.ch01 import checks as ch01
from specdec_lib.lessons.ch02 import checks as ch02
from specdec_lib.lessons.ch03 import checks as ch03
from specdec_lib.lessons.common.answers import Quiz, Truth, answered, answering, committed, reveal
from specdec_lib.lessons.common.comparing import difference
from specdec_lib.lessons.common.describing import (
    MOST_SHOWN,
    as_code,
    brief_call,
    describe,
    told_apart,
)
from specdec_lib.lessons.common.drawing import drawn_from
from specdec_lib.lessons.common.examples import (
    Different,
    Unwritten,
    expect,
    expect_value_error,
    visible_check,
)
from specdec_lib.lessons.common.hints import has_own_line, open_hints
from specdec_lib.lessons.common.lending import at_most, copied, fixed


@pytest.mark.parametrize(
    "got, expected, remark",
    [
        (np.float64(1), 1.0, None),
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
        (np.ones(2) + 1e-10, np.ones(2), None),
        (np.array([np.nan, 1]), np.ones(2), ""),
        (np.array([True, False]), np.array([True, True]), ""),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), ""),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]), None),
        (np.ones(2), torch.ones(2), "should be a Tensor, not an array"),
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
    assert describe(np.random.default_rng(0)) == "Generator(PCG64)"  # its address is in capitals


def nested(depth: int, width: int = 10) -> list:
    """Lists in lists: width ** depth numbers."""
    return [nested(depth - 1, width) if depth > 1 else 0.5] * width


LONG = "x" * 10**6
MANY = [
    LONG,
    {LONG: 1},
    {"a": {LONG: {LONG: 2}}},
    [LONG] * 40,
    {f"{i}{LONG}": i for i in range(40)},
    nested(6),
    [[{"key": nested(6)}]],
    [list(range(10**5))] * 12,
    np.full(12, LONG),
]


@pytest.mark.parametrize("value", MANY, ids=lambda value: type(value).__name__)
def test_a_value_of_any_size_is_told_shortly(value: object):
    text = describe(value)
    assert len(text) <= MOST_SHOWN + 4 and text.endswith((" ...", "]", "}"))
    with pytest.raises(Different) as caught:
        expect(lambda: value, gives=3)
    assert len(str(caught.value)) < MOST_SHOWN + 200


def test_a_long_value_is_not_written_out_before_it_is_cut():
    """Forty in forty in forty: most of it would be written for nothing."""
    value: list = [0.5]
    for _ in range(12):
        value = [value] * 40  # 40 ** 12 numbers
    assert describe(value).startswith("[" * 13 + "0.5], [0.5], ")


def test_a_value_of_ordinary_size_is_whole():
    value = [[0.5 + i] * 12 for i in range(25)]
    assert describe(value) == repr(value)


@pytest.mark.parametrize("got", [{LONG: 1}, {f"{i}{LONG}": i for i in range(40)}, [1, [2, LONG]]])
def test_a_remark_on_a_value_of_any_size_is_short(got: object):
    with pytest.raises(Different) as caught:
        expect(lambda: got, gives={"a": 1} if isinstance(got, dict) else [1, [2, LONG + "y"]])
    assert len(str(caught.value)) < 4 * MOST_SHOWN


def test_long_answers_are_told_shortly():
    with pytest.raises(Different, match=r"quiz_02 is 'x{199} \.\.\.; write one letter of a, b"):
        answered("quiz_02", LONG)
    with pytest.raises(Different, match=r"^p is 'x{199} \.\.\.; write a number from 0 to 1\. Any"):
        committed("p", LONG, 0, 1)
    with pytest.raises(Different, match=r"^p is \[2.0\]; write a number"):
        committed("p", [2.0], 0, 1)


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


@pytest.mark.parametrize(
    ("got", "gives"),
    [
        (np.eye(3), np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]])),
        (([5], np.eye(3)), ([5], np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]]))),
    ],
)
def test_the_first_wrong_row_is_named(got, gives):
    with pytest.raises(Different) as caught:
        expect(lambda: got, gives=gives, hint="Why?")
    row = "an array whose row 1 is [0, 1, 0], expected [0, 1, 1]"
    assert str(caught.value) == f"<lambda>() returned {row}. Why?"


@pytest.mark.parametrize(
    ("got", "gives"),
    [
        (([5], np.eye(2)), ([6],)),
        (([5],), ([6], np.eye(2))),
        (np.eye(2) > 0, np.ones((2, 2), bool)),
    ],
)
def test_a_wrong_pair_or_mask_of_any_make_gets_a_message(got, gives):
    with pytest.raises(Different, match="expected"):
        expect(lambda: got, gives=gives)


def test_exceptions_become_messages():
    def inverse(x):
        return 1 / x

    with pytest.raises(Different) as caught:
        expect(inverse, 0, gives=1)
    text = "inverse(x=0) raised ZeroDivisionError: division by zero, at `return 1 / x`; expected 1."
    assert str(caught.value) == text


def test_an_error_within_what_a_lesson_lends_is_told_by_the_students_own_line():
    def scored(model):
        return model("no list")

    with pytest.raises(Different) as caught:
        expect(scored, ch01.TARGET, gives=1)
    assert str(caught.value).endswith("not 'no list', at `return model(\"no list\")`; expected 1.")


def test_notebook_shows_wrapped_messages_and_no_frames_of_a_check():
    lines = Different("a word " * 40)._render_traceback_()
    assert len(lines) > 1 and all(len(line) <= 88 for line in lines)
    with pytest.raises(Unwritten) as caught:
        ch02.check_correct_token(unwritten_by_any_name)
    assert caught.value._render_traceback_() == ["NotImplementedError: not written yet"]


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


def test_calls_are_shown_as_they_were_made_and_only_by_a_check_that_agrees(capfd):
    expect(ch02.P.tolist, gives=[0.45, 0.3, 0.15, 0.1])  # a hidden test prints nothing

    @visible_check
    def check_summed(function):
        expect(function, [3, 5], gives=8)

    check_summed(sum)
    assert capfd.readouterr().out.startswith("sum([3, 5]) -> 8\nsummed: the example agrees.")
    with pytest.raises(Different):
        check_summed(max)
    assert capfd.readouterr().out == ""


P = np.array([0.5, 0.5])


@visible_check
def check_halved(function):
    expect(function, P.copy(), gives=P / 2)


def refused(check, function) -> str:
    """What a check says to a function that it does not let pass."""
    with pytest.raises(Different) as caught:
        check(function)
    return str(caught.value)


def halved_in_place(p):
    p /= 2
    return p.copy()


def halved_by_log(p):
    np.log(np.zeros(2))
    return p / 2


CALL = "(p=np.array([0.5, 0.5]))"
FORBIDDEN = [
    (halved_in_place, f"halved_in_place{CALL} changed its argument p. Work on a copy: the caller "),
    (
        halved_by_log,
        f'halved_by_log{CALL} gave a warning: "divide by zero encountered in log". Did you divide '
        "before you looked for a zero?",
    ),
]


@pytest.mark.parametrize("wrong, said", FORBIDDEN, ids=["changed", "warned"])
def test_a_check_refuses_what_no_answer_may_do(wrong, said):
    assert refused(check_halved, wrong).startswith(said)


def test_a_check_refuses_an_array_that_is_an_argument():
    @visible_check
    def check_same(function):
        expect(function, P, gives=P)

    said = "(p=np.array([0.5, 0.5])) returned an array that shares its memory with an argument."
    assert said in refused(check_same, lambda p: p)
    check_same(lambda p: p.copy())


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

    kept = copied(value)

    @visible_check
    def check_spoilt(function):
        expect(function, value, gives=None)

    assert "changed its argument x" in refused(check_spoilt, spoilt)
    assert difference(value, kept) is None


def test_a_warning_is_said_with_the_question_that_fits_it():
    def deprecated(p):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return p / 2

    assert refused(check_halved, deprecated).endswith('gave a warning: "old".')


def test_a_loop_that_cannot_end_is_stopped_by_what_it_calls_and_told_why(capsys):
    @visible_check
    def check_settled(function):
        step = at_most(3, lambda x: x, "the target", "each pass settles one place")
        expect(function, step, gives=0)

    def settled(step):
        while True:
            step(0)

    said = "called the target more than 3 times: each pass settles one place"
    message = refused(check_settled, settled)
    assert message == f"settled(step=<lambda>) {said}; expected 0."
    figure = drawn_from("settled")(lambda function: function(at_most(3, len, "it", "why")))
    figure(lambda step: [step("") for _ in range(9)])
    assert "cannot be drawn yet: called it more than 3 times: why" in capsys.readouterr().out


def test_what_a_notebook_shares_with_its_lesson_cannot_be_changed():
    for array in (ch02.P, ch02.Q, ch02.BLOCK_P, ch03.GRID_P, ch03.LOGITS, fixed([1.0])):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_list_of_a_lesson_is_a_new_one_at_every_use():
    for lesson, name in ((ch01, "PREFIX"), (ch01, "BLOCK"), (ch02, "BLOCK")):
        given = getattr(lesson, name)
        given.append(99)
        assert 99 not in getattr(lesson, name)
    with pytest.raises(AttributeError, match="no name NOTHING"):
        _ = ch01.NOTHING


def test_a_figure_gives_copies():
    row = np.array([1.0, 2.0])
    drawn_from("f")(lambda function, given: function(given))(halved_in_place, row)
    assert row.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "value",
    [
        *(0.1, 1 / 3, 7, True, None, "a", [0.1, 2], (1,), np.float64(1 / 3), np.int64(3)),
        *(np.array([[1 / 3, 0.5]]), np.zeros((0, 3)), np.array([]), np.array([1, 2])),
        *(np.float32([0.1]), np.array([True]), torch.tensor([[0.1, 1 / 3]])),
        *(torch.tensor([1 / 3]).double(), torch.tensor([1, 2]), torch.tensor([True])),
    ],
    ids=repr,
)
def test_the_call_of_a_message_can_be_pasted_and_gives_the_same_values(value):
    again = eval(as_code(value), {"np": np, "torch": torch})
    assert difference(again, value) is None
    assert getattr(again, "dtype", None) == getattr(value, "dtype", None) or np.isscalar(again)


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        (0.1, 0.2, ("0.1", "0.2")),
        (0.1, 0.1 + 1e-9, ("0.1", "0.100000001")),
        ([0.5, 1 / 3], [0.5, 1 / 3 + 1e-15], None),
        (P, P + 1e-7, ("[0.5, 0.5]", "[0.5000001, 0.5000001]")),
    ],
)
def test_numbers_get_as_many_digits_as_tell_them_apart(one, other, texts):
    told = told_apart(one, other)
    assert told == texts if texts else told[0] != told[1]


def test_a_call_is_told_with_digits_that_show_where_its_arrays_differ():
    """Else a check prints residual_distribution([0.5, 0.5], [0.5, 0.5]) -> [1, 0]."""
    nearly, half = np.array([0.5 + 2**-20, 0.5 - 2**-20]), np.array([0.5, 0.5])
    told = "([0.50000095, 0.49999905], [0.5, 0.5])"
    assert brief_call(draw, (nearly, half)).endswith(told)
    assert brief_call(draw, (half, half)).endswith("([0.5, 0.5], [0.5, 0.5])")


LONG_ROW = np.arange(40) / 40
TABLE = torch.arange(80).reshape(20, 2, 2)


@pytest.mark.parametrize(
    ("got", "gives", "said"),
    [
        (LONG_ROW + 1e-7 * (LONG_ROW == 0.5), LONG_ROW, "entry 20 is 0.5000001, expected 0.5"),
        (TABLE + (TABLE == 7), TABLE, "a tensor whose row (1, 1) is [6, 8], expected [6, 7]"),
        (torch.arange(64) // 2, torch.arange(64), "a tensor whose entry 1 is 0, expected 1"),
    ],
)
def test_of_many_numbers_the_first_wrong_row_or_entry_is_told(got, gives, said):
    with pytest.raises(Different) as caught:
        expect(lambda: got, gives=gives)
    assert str(caught.value).endswith(f"{said}.")


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ((1, 2), [1, 2]),
        (np.array([1, 2]), [1, 2]),
        (torch.tensor([1.0, 2.0]), [1, 2]),
        ([3, 1], (3, True)),
        (np.array([3.0]), 3),
        (torch.tensor(0.5), 0.5),
        ([0.1, 1 / 3], np.array([0.1, 1 / 3])),
        (np.float32([0.1, 1 / 3]), np.array([0.1, 1 / 3])),
        (float(np.float32(1 / 3)), 1 / 3),
        ([[1, 2], [3, 4]], np.array([[1.0, 2.0], [3.0, 4.0]])),
        (torch.tensor([1, 2]).int(), torch.tensor([1, 2])),
        ([1, 2], torch.tensor([1, 2])),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (([1], [[0.5]]), ([1], np.array([[0.5]]))),
    ],
)
def test_without_their_form_values_are_as_good_and_with_it_they_are_told(got, expected):
    assert difference(got, expected, form=False) is None
    assert difference(got, expected) is not None or isinstance(got, np.ndarray) and got.size == 1


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        *(([1, 2, 3], [1, 2]), ([1.5, 2], [1, 2]), (None, [1]), ("ab", ["a", "b"]), (0.34, 1 / 3)),
        *((2, True), ([[1], [2, 3]], np.ones((2, 2))), ([1, 2], torch.ones(3)), (np.inf, 1)),
        *((np.nan, 1), (10**6 + 1, 10**6), ({"b": 1}, {"a": 1}), (5, [5])),
    ],
    ids=repr,
)
def test_without_their_form_other_values_are_as_wrong(got, expected):
    assert difference(got, expected, form=False) is not None


def test_a_wrong_dtype_is_named():
    long = torch.tensor([1, 2])
    assert "its dtype is torch.int32, it should be torch.int64" in difference(long.int(), long)
    third = np.array([1 / 3])
    assert "its dtype is float32; calculate in float64" in difference(np.float32(third), third)


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
    reveal("prediction_02", None, Truth(0.8, "Because."))
    assert "0.8" not in capsys.readouterr().out


BLOCK = Truth((1 - 0.7**6) / 0.3, "Because.", {1 / 0.3: "has no end.", 2.77: "has no bonus."})


@pytest.mark.parametrize(
    ("guess", "truth", "said"),
    [
        (2.94, BLOCK, "You said 2.94, and it is 2.94. Because."),
        (2.9, BLOCK, "You said 2.9, and it is 2.94. Because."),
        (3, BLOCK, "You said 3. That is close. It is 2.94. Because."),
        (1, BLOCK, "You said 1. It is 2.94. Because."),
        (3.33, BLOCK, "You said 3.33. It is 2.94. 3.33 has no end. Because."),
        (3.3, BLOCK, "You said 3.3. It is 2.94. 3.33 has no end. Because."),
        (2.77, BLOCK, "You said 2.77. It is 2.94. 2.77 has no bonus. Because."),
        (3.2, BLOCK, "You said 3.2. That is close. It is 2.94. Because."),
        (0.1, Truth(0.0, "Because."), "You said 0.1. It is 0. Because."),
        (0, Truth(0.0, "Because.", {0.0001: "is more."}), "You said 0, and it is 0. Because."),
        (41, Truth(41.39934, "Because."), "You said 41, and it is 41.4. Because."),
        (1.3, Truth(1.68032, "Because."), "You said 1.3. It is 1.68. Because."),
        (5e6, Truth(1234567.0, "Because."), "You said 5,000,000. It is 1,230,000. Because."),
        (1234.5, Truth(7.0, "Because."), "You said 1,234.5. It is 7. Because."),
    ],
)
def test_a_prediction_gets_the_reason_of_its_number(guess, truth: Truth, said: str, capsys):
    reveal("prediction_02", guess, truth)
    assert capsys.readouterr().out == said + "\n"


def test_a_measured_truth_takes_the_place_of_a_known_one(capsys):
    reveal("prediction_02", 8, Truth(None, "Because.", {8.0: "is eight passes."}), 1.68032)
    assert capsys.readouterr().out == "You said 8. It is 1.68. 8 is eight passes. Because.\n"


def test_quiz_answers_are_letters():
    with pytest.raises(NotImplementedError, match="no answer yet"):
        answered("quiz_02", "")
    with pytest.raises(Different, match="one letter"):
        answered("quiz_02", "e")
    assert answered("quiz_02", " B ") is None


def test_a_quiz_answers_at_once(capsys):
    quiz = Quiz(right="b", a="Not so.", b="It is so.", c="No.", d="Nor that.")
    answered("quiz_02", "b", quiz)
    assert capsys.readouterr().out == "quiz_02: b is right. It is so.\n"
    answered("quiz_02", "A)", quiz)
    out = capsys.readouterr().out
    assert out == "quiz_02: a is not right. Not so. Choose again if you like.\n"


def test_without_its_module_a_quiz_is_recorded_and_nothing_told(capsys):
    answering("specdec_lib.lessons.common")("quiz_02", "b")
    assert capsys.readouterr().out == "quiz_02: your answer b is recorded.\n"


def test_figures_wait_for_their_function(capsys):
    @drawn_from("f")
    def figure(function):
        function()

    figure(lambda: unwritten(0))
    figure(lambda: 1 / 0)
    out = capsys.readouterr().out
    assert "Write it first" in out and "cannot be drawn yet: ZeroDivisionError" in out


def test_figures_tell_what_a_wrong_function_returned(shown: list[str]):
    def no_stop(tokens, p, q, r):
        return [3, 2]

    draw("02_rejection_sampling", "walk_through_block", speculative_accept=no_stop)
    assert "token 2" in shown[0] and "in your list" in shown[0] and "returned [3, 2]" in shown[0]
    wrong = ch02_wrong.replaced_from_target
    draw("02_rejection_sampling", "two_masses", correct_token=wrong)
    assert "together A 0.39, B 0.36, C 0.18, D 0.07" in shown[1]


# What a chapter's folder may hold beside its checks and figures.
ROLES = {
    "checks",
    "computed",
    "diagnosis",
    "family",
    "figures",
    "forgery",
    "library",
    "measured",
    "models",
    "puzzle",
    "quizzes",
    "rules",
    "storyboard",
}


def test_every_chapter_has_the_same_file_names():
    for folder in sorted(LESSONS.glob("ch[0-9][0-9]")):
        names = {file.stem for file in folder.glob("*.py")} - {"__init__"}
        assert {"checks", "figures", "quizzes"} <= names <= ROLES, folder.name
