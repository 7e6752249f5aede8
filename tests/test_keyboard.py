"""One whole exercise by keyboard alone: from opening the chapter to the check that passes."""

import pytest
from jupyter_lab import Lab
from submitting import CHAPTER

from autograde.submissions import solutions_of

pytestmark = pytest.mark.browser

EXERCISE = "acceptance_probability"
ACTIVE = ".jp-Notebook-cell.jp-mod-active"
RUN = "Shift+Enter"
MOST = 60  # cells before the exercise's check; a chapter has fewer


def press(lab: Lab, key: str) -> str:
    """Press a key that leads to another cell, wait until all is run, and return that cell's text.

    Shift+Enter runs the active cell and goes on to the next one; the arrows only go.
    """
    before = lab.panel.locator(ACTIVE).get_attribute("data-windowed-list-index")
    lab.page.keyboard.press(key)
    lab.panel.locator(f"{ACTIVE}:not([data-windowed-list-index='{before}'])").wait_for()
    lab.wait_until_idle()
    return lab.panel.locator(ACTIVE).inner_text()


def go_to(lab: Lab, key: str, words: str) -> None:
    """Press the key until the active cell holds these words."""
    assert any(words in press(lab, key) for _ in range(MOST)), words


def write(lab: Lab, code: str) -> None:
    """Put `code` in place of what stands in the active cell, as somebody who types it."""
    keys = lab.page.keyboard
    keys.press("Enter")
    keys.press("ControlOrMeta+a")
    for i, line in enumerate(code.splitlines()):
        if i:
            keys.press("Enter")
            keys.press("Shift+Home")  # the editor has indented the new line by itself
            keys.press("Delete")
        keys.insert_text(line)


def test_an_exercise_is_solved_by_keyboard_alone(lab: Lab):
    lab.open(f"{CHAPTER}/{CHAPTER}.ipynb")
    stub, check = f"def {EXERCISE}(", f"lesson.check_{EXERCISE}("
    go_to(lab, RUN, check)
    press(lab, RUN)
    lab.wait_for_output(check, f"{EXERCISE}: not written yet")
    go_to(lab, "ArrowUp", stub)
    write(lab, solutions_of(CHAPTER)[EXERCISE])
    press(lab, RUN)
    go_to(lab, RUN, check)
    press(lab, RUN)
    lab.wait_for_output(check, f"{EXERCISE}: all ")
