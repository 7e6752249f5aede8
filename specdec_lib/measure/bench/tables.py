"""The figures of a run as a table, on the terminal and in a page."""

from pathlib import Path

from specdec_lib.measure.bench.figures import FIGURES
from specdec_lib.measure.bench.record import Record
from specdec_lib.measure.core.pages import markdown, write_table

TABLE = "the figures of the bench"  # its name in a page


def table(record: Record) -> str:
    """Figure, value and goal of one run, a line each."""
    lines = [f"{'figure':32} {'measured':24} {'goal':12} "]
    for key, value in record.values.items():
        figure = FIGURES[key]
        cells = f"{figure.shown(value):24} {figure.wanted:12} {figure.verdict(value):7}"
        lines.append(f"{key:32} {cells} {figure.what}")
    return "\n".join(lines)


def in_page(record: Record) -> str:
    """The machine, and every figure with its goal."""
    rows = [(each.what, each.wanted, cell(key, record)) for key, each in FIGURES.items()]
    machine = f"On {record.machine} (class: {record.processor})."
    return f"{machine}\n\n{markdown(('figure', 'goal', 'measured'), rows)}"


def cell(key: str, record: Record) -> str:
    """What was measured and the verdict."""
    if key not in record.values:
        return "not measured"
    figure, value = FIGURES[key], record.values[key]
    verdict = figure.verdict(value)
    return figure.shown(value) + (f", {verdict}" if verdict else "")


def write_page(page: Path, record: Record) -> None:
    """Write the table into `page`."""
    write_table(page, TABLE, in_page(record))
