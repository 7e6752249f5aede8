"""The visible checks see the known bugs: all but one, which stands here with its reason.

`pytest -s` prints the share that each chapter's checks see.
"""

import contextlib
import io

import pytest
from classes.chapter_cases import CHAPTERS

from autograde.bugs import KnownBug, bugs_of
from autograde.grade import solved
from autograde.submission import release_of

# Hidden tests alone count the uses of torch's functions, which show what a loop costs.
UNSEEN = {
    "08_full_generation": ["verify_block: a loop over the rows is clearer and costs nothing."]
}


def is_seen(chapter: str, bug: KnownBug) -> bool:
    """Whether the cell that checks the exercise refuses a known bug."""
    own = solved(chapter)
    names = own.namespace | {bug.exercise: own.defined(bug.exercise, bug.code)}
    (check,) = (cell for cell in release_of(chapter).cells if cell.id == f"test_{bug.exercise}")
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(check.source, names)
        except Exception:
            return True
    return False


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_visible_check_sees_every_known_bug_but_those_with_a_reason(chapter: str):
    known = bugs_of(chapter)
    unseen = [f"{each.exercise}: {each.think}" for each in known if not is_seen(chapter, each)]
    print(f"{chapter}: {len(known) - len(unseen)} of {len(known)} are seen by the visible checks")
    assert unseen == UNSEEN.get(chapter, [])
