"""What is said of a wrong answer, in the notebook and after grading: its true cause, or none."""

import contextlib
import io

import numpy as np
import pytest
from attempts import chapter_of, table, with_slips
from classes.chapter_cases import lesson_of

from autograde.hidden.material import material_of
from autograde.tools.gates import judge_answers
from specdec_lib.lessons.checking import examples
from specdec_lib.lessons.checking.examples import UNSTEADY, Different

# What is said where no cause is named.
NO_CAUSE = (
    "",
    "returned",
    "raised",
    "Draw with choices.choose",
    "np.exp overflows above 709: use softmax",
)
WRONG = table("wrong_answers.toml")
CASES = [(name, row) for name, rows in WRONG.items() for row in rows]
NAMED = "You may have assumed that"


def visible(exercise: str, code: str) -> str:
    """What the check of an exercise says of a wrong answer."""
    chapter = chapter_of(exercise)
    check = getattr(lesson_of(chapter), f"check_{exercise}")
    with pytest.raises(Different) as caught, contextlib.redirect_stdout(io.StringIO()):
        check(material_of(chapter).solved.defined(exercise, code))
    return str(caught.value)


@pytest.mark.parametrize("exercise, row", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_wrong_answer_is_told_its_cause_or_none(exercise: str, row: dict, monkeypatch):
    checked, graded = row["check"], row["graded"]
    np.random.seed(0)  # two of the answers draw numbers of their own
    if checked != UNSTEADY:  # what is steady is so when it is run once more
        monkeypatch.setattr(examples, "RERUN_LIMITS", (1, 0.0))
    code = with_slips(exercise, (row["old"], row["new"]))
    said = visible(exercise, code)
    others = [each["check"] for each in WRONG[exercise] if each["check"][:9] != checked[:9]]
    assert checked in said and not any(words in said for words in others if words)
    got = judge_answers(chapter_of(exercise), **{exercise: code})[exercise]
    named = [each for each in got.messages if NAMED in each]
    assert all(graded in each for each in named) and bool(named) is (graded not in NO_CAUSE)
    assert got.score < got.max_score and graded in " ".join(got.messages)
    assert not any(w in text for w in row.get("never", []) for text in (said, *got.messages))
