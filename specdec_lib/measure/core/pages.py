"""Tables in Markdown, and the places in a page where a command writes its own.

In the page the table stands between two comments: `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from specdec_lib.files import write_whole


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells of `rows` are text."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("".join(f"| {cell} " if cell else "| " for cell in row) + "|" for row in lines)


def write_table(page: Path, name: str, table: str) -> None:
    """Write `table` in the place of `name`; a page that is not there yet holds nothing else.

    Raises ValueError if the page has no such place.
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    text = page.read_text(encoding="utf-8") if page.exists() else begin + end
    before, place, rest = text.partition(begin)
    after = rest.partition(end)[2]
    if not place or end not in rest:
        raise ValueError(f"{page} has no place for a table: add the lines\n{begin}{end}")
    write_whole(page, f"{before}{begin}\n{table}\n\n{end}{after}")


def table_in(page: Path, name: str) -> str:
    """The table that stands in the place of `name`."""
    text = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")[2]
    return text.partition(f"<!-- end of {name} -->\n")[0].strip()
