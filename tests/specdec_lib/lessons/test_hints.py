"""Hints open one after the other."""

from specdec_lib.lessons.common.hints import has_own_line, open_hints


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
