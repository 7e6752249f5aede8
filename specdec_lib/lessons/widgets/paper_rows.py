"""Chapter 05: a row of the paper's Tables 2 and 4 over all block lengths, with its rounding."""

from collections.abc import Iterable
from typing import Any

from specdec_lib.lessons.widgets.simulator import Simulator

K_MAX = 12
SHOWN = ("task", "draft", "temperature", "k", "alpha", "c", "expected", "measured")


def paper_rows_simulator(rows: Iterable[Any], row: int = 0) -> Simulator:
    """The simulator of chapter 05 on `rows` (named tuples of the paper's table), at row `row`.

    Its curve is E / (c K + 1) over K, its band the values that round to the printed alpha, c and
    speed-up.
    """
    plain = [{name: getattr(each, name) for name in SHOWN} for each in rows]
    chosen = {key: plain[row][key] for key in ("alpha", "c", "k")}
    state = {"rows": plain, "row": row, **chosen}
    return Simulator("paper_rows", "A row of the paper", state, height=1020)
