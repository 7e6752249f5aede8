"""One whole exercise by keyboard alone: from opening the chapter to the check that passes."""

import pytest
from classes.submitting import CHAPTER
from pages.jupyter_lab import RUN, Lab

from autograde.tools.samples import solutions_of

pytestmark = pytest.mark.browser

EXERCISE = "acceptance_probability"


def test_an_exercise_is_solved_by_keyboard_alone(lab: Lab):
    lab.open(f"{CHAPTER}/{CHAPTER}.ipynb")
    stub, check = f"def {EXERCISE}(", f"lesson.check_{EXERCISE}("
    lab.go_to(RUN, check)
    lab.press(RUN)
    lab.wait_for_output(check, f"{EXERCISE}: not written yet")
    lab.go_to("ArrowUp", stub)
    lab.write(solutions_of(CHAPTER)[EXERCISE])
    lab.press(RUN)
    lab.go_to(RUN, check)
    lab.press(RUN)
    lab.wait_for_output(check, f"{EXERCISE}: all ")
