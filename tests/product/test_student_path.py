"""A student's whole path through chapter 02 in JupyterLab, as `specdec start` opens it.

They read it, and then work by keyboard alone: prediction, a mistake in an exercise, its correction,
and at the end a click on Validate.
"""

import re

import pytest
from classes.submitting import CHAPTER
from pages.jupyter_lab import RUN, Lab

from autograde.bugs import answers_of
from autograde.submission import release_of

pytestmark = pytest.mark.browser

RELEASE = release_of(CHAPTER)
TABLE, FORMULA = r"^\| ---", r"\$\$.+?\$\$"
BOX = '<div class="alert'
BOXES = r"""boxes => boxes.map(box => {
  const [own, around] = [box, box.parentElement].map(each => getComputedStyle(each));
  return own.color === around.color && own.backgroundColor.startsWith("rgba(") })"""
REVEAL = 'lesson.reveal("prediction_02",'
EXERCISE = "acceptance_probability"
CHECK = f"lesson.check_{EXERCISE}("
SOLUTIONS = answers_of(CHAPTER)
OTHERS = {name for name, code in SOLUTIONS.items() if code.startswith("def ")} - {EXERCISE}
ALWAYS = f"def {EXERCISE}(p, q, token):\n    return 1.0"
MESSAGE = re.compile(rf"{EXERCISE}\(p=.+\sreturned\s1,\s+expected", re.DOTALL)


def in_release(pattern: str) -> int:
    """How often `pattern` occurs in the chapter."""
    flags = re.MULTILINE | re.DOTALL
    return sum(len(re.findall(pattern, cell.source, flags)) for cell in RELEASE.cells)


def read_the_chapter(lab: Lab) -> None:
    lab.read()
    tables, formulas = in_release(TABLE), in_release(FORMULA)
    assert lab.count(".jp-RenderedMarkdown table", tables) == tables > 0
    assert lab.count("mjx-container[display=true]", formulas) == formulas > 0
    assert lab.panel.locator("mjx-merror, [data-mjx-error]").count() == 0
    # JupyterLab keeps the boxes' tint, on which its own text can be read in the dark too.
    assert lab.panel.locator(".alert").evaluate_all(BOXES) == [True] * in_release(BOX) != []
    # No question about news, and none of nbgrader's tools for instructors.
    assert lab.page.locator(".Toastify__toast, .jp-Dialog").count() == 0
    assert lab.page.get_by_text("Create Assignment").count() == 0


def answer(lab: Lab, key: str, old: str, new: str, last: str) -> None:
    """Go to the cell that holds `old`, type `new` into it, and run on past the cell with `last`."""
    lab.go_to(key, old)
    lab.write(new)
    lab.go_to(RUN, last)
    lab.press(RUN)


def commit_a_prediction(lab: Lab) -> None:
    lab.go_to(RUN, REVEAL)
    lab.press(RUN)
    lab.wait_for_output(REVEAL, "Write your guess into prediction_02 first")
    answer(lab, "ArrowUp", "prediction_02 = None", "prediction_02 = 0.6", REVEAL)
    lab.wait_for_output('lesson.committed("prediction_02",', "prediction_02: 0.6 is written down.")
    lab.wait_for_output(REVEAL, "You said 0.6. It is ")


def err_and_correct(lab: Lab) -> None:
    answer(lab, "ArrowDown", f"def {EXERCISE}(", ALWAYS, CHECK)
    lab.wait_for_output(CHECK, MESSAGE)
    answer(lab, "ArrowUp", f"def {EXERCISE}(", SOLUTIONS[EXERCISE], CHECK)
    lab.wait_for_output(CHECK, re.compile(rf"{EXERCISE}: all \d+ examples agree\."))


def test_a_student_goes_from_a_prediction_to_validate(lab: Lab):
    lab.open(f"{CHAPTER}/{CHAPTER}.ipynb")
    read_the_chapter(lab)
    commit_a_prediction(lab)
    err_and_correct(lab)
    said = lab.validate()
    assert OTHERS and all(f"{name}: not written yet" in said for name in OTHERS)
    assert "The following cell failed" in said and "Success" not in said
    assert all(f"lesson.check_{name}({name})" in said for name in OTHERS)
    assert "quiz_02: no answer yet" in said and "prediction_02_b: no guess yet" in said
    assert CHECK not in said and f"{EXERCISE}: not written yet" not in said
    assert "prediction_02: no guess yet" not in said
