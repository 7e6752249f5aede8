"""The visible checks see the known bugs: all but one, which stands here with its reason.

`pytest -s` prints the share that each chapter's checks see.
"""

import pytest
from classes.chapter_cases import CHAPTERS, visible_message

from autograde.bugs import KnownBug, bugs_of

# Hidden tests alone count the uses of torch's functions, which show what a loop costs.
UNSEEN = {
    "08_full_generation": ["verify_block: a loop over the rows is clearer and costs nothing."]
}


def is_seen(chapter: str, bug: KnownBug) -> bool:
    """Whether the cell that checks the exercise refuses a known bug."""
    return visible_message(chapter, bug.exercise, bug.code) != ""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_visible_check_sees_every_known_bug_but_those_with_a_reason(chapter: str):
    known = bugs_of(chapter)
    unseen = [f"{each.exercise}: {each.think}" for each in known if not is_seen(chapter, each)]
    print(f"{chapter}: {len(known) - len(unseen)} of {len(known)} are seen by the visible checks")
    assert unseen == UNSEEN.get(chapter, [])
