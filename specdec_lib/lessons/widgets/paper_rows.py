"""Chapter 05: a row of the paper's Tables 2 and 4 over all block lengths, with its rounding."""

from collections.abc import Iterable
from typing import Any

from specdec_lib.lessons.widgets.parts.fields import probability, unchecked, whole
from specdec_lib.lessons.widgets.simulator import Simulator

K_MAX = 12
WORDS = ("task", "draft")
NUMBERS = ("temperature", "k", "alpha", "c", "expected", "measured")


def _rows(name: str, rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Rows with the attributes of the paper's table, as plain data; ValueError for none."""
    plain = [
        {each: getattr(row, each) for each in WORDS}
        | {each: float(getattr(row, each)) for each in NUMBERS}
        for row in rows
    ]
    if not plain:
        raise ValueError(f"{name} is empty: give at least one row of the paper's table")
    return plain


def paper_rows_simulator(rows: Iterable[Any], row: int = 0) -> Simulator:
    """The simulator of chapter 05 on `rows` (named tuples of the paper's table), at row `row`.

    Its curve is E / (c K + 1) over K, its band the values that round to the printed alpha, c and
    speed-up. The reset button goes back to the chosen row's numbers. ValueError if there is no
    such row.
    """
    rows = _rows("rows", rows)
    row = whole(0, len(rows) - 1)("row", row)
    chosen = {key: rows[row][key] for key in ("alpha", "c", "k")}
    return Simulator(
        "paper_rows",
        title="A row of the paper",
        fields={
            "rows": unchecked,
            "row": whole(0, len(rows) - 1),
            "alpha": probability,
            "c": probability,
            "k": whole(0, K_MAX),
        },
        state={"rows": rows, "row": row, **chosen},
        reset={"row": row},
        height=1020,
    )
