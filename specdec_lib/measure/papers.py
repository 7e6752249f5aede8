"""The figures that papers and leaderboards print, as tables of named rows.

`paper_table("leviathan_2_4")[0].alpha` is a number. papers.json holds them: every table there has
its columns, its source, and a note of what to know before using it.
"""

import json
from collections import namedtuple
from pathlib import Path
from typing import Any

_TABLES = json.loads(Path(__file__).with_name("papers.json").read_text(encoding="utf-8"))


def paper_table(name: str) -> list[Any]:
    """The rows of a table, named tuples of its columns. KeyError, with the names, for another."""
    if name not in _TABLES:
        raise KeyError(f"there is no table {name!r}; there are {', '.join(_TABLES)}")
    row = namedtuple("Row", _TABLES[name]["columns"])
    return [row(*values) for values in _TABLES[name]["rows"]]
