"""Predictions and quizzes: committed first, and answered with a reason."""

import pytest

from specdec_lib.lessons.checking.answers import Truth, committed, make_answered, make_reveal
from specdec_lib.lessons.checking.examples import Different


def test_who_has_not_answered_is_asked_and_a_quiz_takes_letters():
    with pytest.raises(NotImplementedError, match="no guess yet"):
        committed("prediction_02", None, 0, 1)
    answered = make_answered("specdec_lib.lessons.checking")  # which has no quizzes
    with pytest.raises(NotImplementedError, match="no answer yet"):
        answered("quiz_02", "")
    with pytest.raises(Different, match="one letter"):
        answered("quiz_02", "e")
    for letter in (" B ", "A)"):
        assert answered("quiz_02", letter) is None


@pytest.mark.parametrize("refused", [50, -0.1, float("nan"), True])
def test_a_refused_guess_is_told_nothing(refused: float, capsys):
    with pytest.raises(Different, match="from 0 to 1"):
        committed("a_guess", refused, 0, 1)
    reveal = make_reveal({"a_guess": Truth(0.8, "Because.")})
    reveal("a_guess", refused)
    assert "0.8" not in capsys.readouterr().out
    reveal("a_guess", 0.5)
    assert "It is 0.8" in capsys.readouterr().out


BLOCK = Truth((1 - 0.7**6) / 0.3, "Because.", {1 / 0.3: "has no end.", 2.77: "has no bonus."})


@pytest.mark.parametrize(
    ("guess", "truth", "said"),
    [
        (2.94, BLOCK, "You said 2.94, and it is 2.94. Because."),
        (3, BLOCK, "You said 3. That is close. It is 2.94. Because."),
        (3.33, BLOCK, "You said 3.33. It is 2.94. 3.33 has no end. Because."),
        (0, Truth(0.0, "Because.", {0.0001: "is more."}), "You said 0, and it is 0. Because."),
        (5e6, Truth(1234567.0, "Because."), "You said 5,000,000. It is 1,230,000. Because."),
    ],
)
def test_a_prediction_gets_the_reason_of_its_number(guess, truth: Truth, said: str, capsys):
    make_reveal({"prediction_02": truth})("prediction_02", guess)
    assert capsys.readouterr().out == said + "\n"
