"""The figures as tables: of one run on the terminal, of several classes of processors in a page."""

from collections.abc import Sequence
from pathlib import Path

from specdec_lib.device import CLASSES
from specdec_lib.measure.bench.figures import ALL, FIGURES
from specdec_lib.measure.bench.record import Record
from specdec_lib.measure.core.pages import markdown, write_table

TABLE, MACHINES = "the figures of the bench", "the machines of the bench"  # names in a page


def table(record: Record) -> str:
    """Figure, value and goal of one run, a line each."""
    lines = [f"{'figure':32} {'measured':24} {'goal':12} "]
    for key, value in record.values.items():
        figure = ALL[key]
        size = record.smaller.get(figure.size, figure.size)
        cells = f"{figure.shown(value):24} {figure.wanted:12} {figure.verdict(value, size):7}"
        lines.append(f"{key:32} {cells} {figure.what}{figure.instead(size)}")
    return "\n".join(lines)


def by_class(records: Sequence[Record]) -> str:
    """Every figure with its goal, and a column for every record."""
    keys = [key for key in ALL if key in FIGURES or any(key in each.values for each in records)]
    head = ("figure", "goal", *(each.name for each in records))
    rows = [
        (ALL[key].what, ALL[key].wanted, *(cell(key, each) for each in records)) for key in keys
    ]
    return markdown(head, rows)


def cell(key: str, record: Record) -> str:
    """What was measured and the verdict."""
    if key not in record.values:
        return "not measured"
    figure, value = ALL[key], record.values[key]
    size = record.smaller.get(figure.size, figure.size)
    verdict = figure.verdict(value, size)
    return figure.shown(value) + figure.instead(size) + (f", {verdict}" if verdict else "")


def machines(records: Sequence[Record]) -> str:
    """What every column was measured on."""
    rows = [(each.processor, each.machine, "yes" if each.imitated else "no") for each in records]
    return markdown(("class", "machine", "imitated"), rows)


def write_tables(page: Path, records: Sequence[Record]) -> None:
    """Write both tables into `page`, the classes from the least."""
    order = ["other", *CLASSES, "ARM"]
    sorted_ = sorted(records, key=lambda each: order.index(each.processor))
    write_table(page, TABLE, by_class(sorted_))
    write_table(page, MACHINES, machines(sorted_))
