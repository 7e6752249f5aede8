"""Write the field guide's tables from field.toml: `python docs/field_tables.py`.

A table stands between two comments of docs/field_guide.md, which name it. Chapter 07 shows the
engines of the same file, so the two cannot disagree.
"""

import re
from pathlib import Path

from specdec_lib.lessons.checking.answers import read_tables

GUIDE = Path(__file__).with_name("field_guide.md")
_TABLE = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_FIELD = read_tables("specdec_lib.lessons.ch07", "field.toml")
_HEADS = {
    "method": ("date", "method", "kind", "published figure", "who ships it"),
    "server": ("engine", "shape", "judges a draft token by", "lossy, if asked", "read in"),
    "home": ("engine", "shape", "judges a draft token by", "read in"),
}


def with_tables(page: str) -> str:
    """The page with every table between its comments made anew."""
    return _TABLE.sub(lambda found: f"{found[1]}\n{_table(found[2])}\n{found[3]}", page)


def _table(kind: str) -> str:
    head = _HEADS[kind]
    cells = _method if kind == "method" else _engine
    rows = [head, ["---"] * len(head), *(cells(row) for row in _FIELD[kind])]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _method(row: dict[str, str]) -> list[str]:
    """A method's cells; who ships it stands in the engines' lists of drafters."""
    engines = [*_FIELD["server"], *_FIELD["home"]]
    ships = [each["name"] for each in engines if row.get("ships_as") in each["drafts"]]
    who = "; ".join(filter(None, [", ".join(ships), row.get("note", "")])) or "–"
    name = ": ".join(filter(None, [f"[{row['name']}]({row['url']})", row.get("what")]))
    return [row["date"], name, row["kind"], row["figure"], who]


def _engine(row: dict) -> list[str]:
    lossy = [row["lossy"]] if "lossy" in row else []
    named = f"{row['name']} {row['release']}, {row['date']}"
    return [named, row["shape"], row["judges"], *lossy, row["source"]]


if __name__ == "__main__":
    GUIDE.write_text(with_tables(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
