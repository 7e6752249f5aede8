"""`python -m specdec_lib.regimes` prints the tables, or writes tables and pictures into a page."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from specdec_lib.measure.core.pages import write_table
from specdec_lib.regimes.pictures import PICTURES, write
from specdec_lib.regimes.tables import TABLES


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m specdec_lib.regimes",
        description="Today's uses of speculative decoding in numbers, computed in a second.",
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE",
                        help="write tables and pictures into this page; pictures go into "
                        "_static beside it")  # fmt: skip
    page = parser.parse_args(arguments).markdown
    for name, table in TABLES.items():
        if page:
            write_table(page, name, table())
        else:
            print(f"{name}\n\n{table()}\n")
    for name, (file, _) in PICTURES.items() if page else ():
        words = write(page.parent / "_static", name)
        write_table(page, name, f"![{words}](_static/{file})")


if __name__ == "__main__":
    main()
