"""`python -m specdec_lib.measure.doctor.plans`: the memory plans of all published pairs, by card.

The same arithmetic as `specdec doctor` and chapter 08 use on a machine (models/plan.py).
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from specdec_lib.measure.core.pages import markdown, write_table
from specdec_lib.models.catalogue import PUBLISHED, gigabytes
from specdec_lib.models.plan import GIGA, Plan, plan

TABLE = "memory plans"  # its name in a page
CARDS = (8, 16, 24, 40, 80)  # GB
PARTS = ("weights", "making", "caches", "graphs", "workspace")
HEAD = ("pair", "to fetch", *PARTS, "rows", "sum", *(f"{card} GB card" for card in CARDS))


def page_table() -> str:
    """A row for every pair, on the smallest card that it fits; GB of a billion bytes."""
    return markdown(HEAD, map(list, map(cells, PUBLISHED["pairs"])))


def cells(name: str) -> Iterator[str]:
    """What the columns of HEAD show of a pair."""
    card = PUBLISHED["pairs"][name]["card"]
    needed = plan(name, card * GIGA)
    yield name
    yield f"{gigabytes(name):.1f}"
    yield from (f"{getattr(needed, part) / GIGA:.1f}" for part in PARTS)
    yield str(needed.rows)
    yield f"{needed.bytes / GIGA:.1f}"
    yield from (verdict(plan(name, card * GIGA), card) for card in CARDS)


def verdict(needed: Plan, card: int) -> str:
    """Whether a plan fits a card of so many GB, and if not what it would need at least."""
    return "fits" if needed.fits(card * GIGA) else f"no: {needed.bytes / GIGA:.1f}"


def main(arguments: list[str] | None = None) -> None:
    """Print the table, or write it into a page."""
    command = argparse.ArgumentParser(
        prog="python -m specdec_lib.measure.doctor.plans", description=__doc__
    )
    command.add_argument("--markdown", type=Path, metavar="FILE", help="write it into this page")
    page = command.parse_args(arguments).markdown
    if page:
        write_table(page, TABLE, page_table())
    else:
        print(page_table())


if __name__ == "__main__":
    main()
