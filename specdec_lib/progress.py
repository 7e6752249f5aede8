"""Progress: tqdm in a terminal, one transient line in a notebook, nothing elsewhere."""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")

NOTEBOOK_DELAY = 1.0  # seconds before a notebook shows progress
EMPTY_OUTPUT = {"text/plain": "", "text/html": ""}


def progress(items: Iterable[Item], label: str) -> Iterable[Item]:
    """`items`, one by one; `label` is shown with the count of those that are done."""
    if "ipykernel" in sys.modules:
        return _in_notebook(items, label)
    return tqdm(items, desc=label, leave=False, disable=None)


def _in_notebook(items: Iterable[Item], label: str) -> Iterator[Item]:
    """A line under the cell. At the end it is empty, and a page shows nothing in its place."""
    from IPython.display import display

    start, line = time.monotonic(), None
    total = f" of {len(items)}" if isinstance(items, Sized) else ""
    try:
        for done, item in enumerate(items):
            if time.monotonic() - start > NOTEBOOK_DELAY:
                line = line or display(EMPTY_OUTPUT, raw=True, display_id=True)
                line.update({"text/plain": f"{label}: {done}{total} done"}, raw=True)
            yield item
    finally:
        if line:
            line.update(EMPTY_OUTPUT, raw=True)
