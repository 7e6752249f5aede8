"""What is said of a wrong answer, in the notebook and after grading: its true cause, or none."""

import contextlib
import io

import numpy as np
import pytest
from attempts import chapter_of, with_slips
from classes.chapter_cases import check_of, judge_each
from data_files import table

from autograde.grading.result import Exercise
from autograde.hidden.material import material_of
from specdec_lib.lessons.checking import examples
from specdec_lib.lessons.checking.examples import RERUN_LIMITS, UNSTEADY, Different

# What is said where no cause is named.
NO_CAUSE = (
    "",
    "returned",
    "raised",
    "Draw with choices.choose",
    "np.exp overflows above 709: use softmax",
)
WRONG = table("wrong_answers.toml")
NAMED = "You may have assumed that"


def visible(exercise: str, code: str) -> str:
    """What the check of an exercise says of a wrong answer."""
    chapter = chapter_of(exercise)
    with pytest.raises(Different) as caught, contextlib.redirect_stdout(io.StringIO()):
        check_of(chapter, exercise)(material_of(chapter).solved.defined(exercise, code))
    return str(caught.value)


@pytest.mark.parametrize("exercise", WRONG)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_wrong_answer_is_told_its_cause_or_none(exercise: str, monkeypatch):
    np.random.seed(0)  # two of the answers draw numbers of their own
    rows = WRONG[exercise]
    codes = [with_slips(exercise, (row["old"], row["new"])) for row in rows]
    results = judge_each(chapter_of(exercise), *({exercise: code} for code in codes))
    for row, code, result in zip(rows, codes, results, strict=True):
        # What is steady is so when it is run once more.
        limits = RERUN_LIMITS if row["check"] == UNSTEADY else (1, 0.0)
        monkeypatch.setattr(examples, "RERUN_LIMITS", limits)
        said = visible(exercise, code)
        assert_words(row, said, result[exercise])
        others = [each["check"] for each in rows if each["check"][:9] != row["check"][:9]]
        assert not any(words in said for words in others if words), row


def assert_words(row: dict, said: str, got: Exercise) -> None:
    """A wrong answer's check and its grading say what the row of the table asks for."""
    checked, graded = row["check"], row["graded"]
    assert checked in said, row
    named = [each for each in got.messages if NAMED in each]
    assert all(graded in each for each in named) and bool(named) is (graded not in NO_CAUSE), row
    assert got.score < got.max_score and graded in " ".join(got.messages), row
    assert not any(w in text for w in row.get("never", []) for text in (said, *got.messages)), row
