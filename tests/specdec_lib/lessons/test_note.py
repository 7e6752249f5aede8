"""The note under a failed check says what the check knows, and stands below the error."""

import sys
from types import SimpleNamespace

import pytest

from specdec_lib.lessons.common.examples import Different, expect, visible_check
from specdec_lib.lessons.common.note import Note


@visible_check
def check_double(function) -> None:
    """Three numbers."""
    expect(function, 1, gives=2, hint="Twice one.")
    expect(function, 2, gives=4, hint="Twice two.")
    expect(function, 3, gives=6, hint="Did you square it?")


class Shell:
    """A kernel's shell, of which the note needs the events."""

    def __init__(self) -> None:
        self.kernel, self.events, self.calls = object(), self, []

    def register(self, name: str, call) -> None:
        assert name == "post_run_cell"
        self.calls.append(call)

    def unregister(self, name: str, call) -> None:
        self.calls.remove(call)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> tuple[Shell, list[Note]]:
    shell, notes = Shell(), []
    display = SimpleNamespace(display=notes.append)
    here = SimpleNamespace(get_ipython=lambda: shell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", here)
    return shell, notes


def wrong(x):
    return x * x if x == 3 else 2 * x


def test_the_note_is_filled_in_and_shown_once_below_the_error(notebook):
    shell, notes = notebook
    with pytest.raises(Different, match=r"expected 6\. Did you square it\?$"):
        check_double(wrong)
    (show,) = shell.calls
    assert notes == []  # the error comes first
    show(None)
    assert shell.calls == []
    assert notes[0].text.splitlines() == [
        "About: the exercise double. wrong(x=3) returned 9, expected 6.",
        "I have verified: wrong(1) -> 2; wrong(2) -> 4. These agree.",
        "I only assume: that everything else in my function is right; the check stopped at this "
        "example.",
        'Next I will: follow the hint, "Did you square it?", and run this call in a cell of my '
        "own, and look at each step of it.",
    ]


def test_what_is_not_known_is_not_said(notebook):
    shell, notes = notebook
    with pytest.raises(Different):
        check_double(lambda x: "two")
    shell.calls[0](None)
    text = notes[0].text
    assert "nothing yet" in text and "hint" not in text  # of another type the hint says nothing


def test_a_stub_and_a_right_answer_have_no_note(notebook, capsys):
    def unwritten(x):
        raise NotImplementedError("double: not written yet")

    with pytest.raises(NotImplementedError):
        check_double(unwritten)
    check_double(lambda x: 2 * x)
    assert notebook[0].calls == []


def test_the_note_is_plain_text_too_and_its_html_is_escaped():
    note = Note("f", "f(x) returned <b>", "", [f"f({i}) -> {i}" for i in range(5)])
    assert "returned <b>" in repr(note) and "&lt;b&gt;" in note._repr_html_()
    assert "f(2) -> 2; and 2 more." in note.text and "<details>" in note._repr_html_()
