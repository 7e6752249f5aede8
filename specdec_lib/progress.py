"""A bar for those who wait, in a terminal and in a notebook; nowhere else, and gone at the end."""

import sys
from collections.abc import Iterable
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")


def progress(items: Iterable[Item], what: str) -> Iterable[Item]:
    """`items`, one by one, with a bar that says `what` they are."""
    # A kernel's output is no terminal. What goes to its stderr would look like an error.
    in_notebook = "ipykernel" in sys.modules
    where = {"file": sys.stdout, "disable": False} if in_notebook else {"disable": None}
    return tqdm(items, desc=what, leave=False, **where)
