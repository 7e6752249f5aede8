"""What lessons lend to notebooks."""

import pytest

from specdec_lib.lessons.ch01 import checks as ch01
from specdec_lib.lessons.ch02 import checks as ch02
from specdec_lib.lessons.ch03 import checks as ch03
from specdec_lib.lessons.common.lending import fixed


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
