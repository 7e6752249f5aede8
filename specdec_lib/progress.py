"""How far a long loop is, for those who wait: in a terminal a bar, in a notebook a line that goes.

Elsewhere, as in a log, there is neither.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")

SOON = 1.0  # seconds after which a notebook says how far a loop is
NOTHING = {"text/plain": "", "text/html": ""}


def progress(items: Iterable[Item], what: str) -> Iterable[Item]:
    """`items`, one by one; whoever waits reads `what` they are, and how many are done."""
    if "ipykernel" in sys.modules:
        return _in_notebook(items, what)
    return tqdm(items, desc=what, leave=False, disable=None)


def _in_notebook(items: Iterable[Item], what: str) -> Iterator[Item]:
    """A line under the cell. At the end it is empty, and a page shows nothing in its place."""
    from IPython.display import display

    begun, line = time.monotonic(), None
    many = f" of {len(items)}" if isinstance(items, Sized) else ""
    try:
        for done, item in enumerate(items):
            if time.monotonic() - begun > SOON:
                line = line or display(NOTHING, raw=True, display_id=True)
                line.update({"text/plain": f"{what}: {done}{many} done"}, raw=True)
            yield item
    finally:
        if line:
            line.update(NOTHING, raw=True)
