"""Two result files of chapter 08 side by side. The module of helper "experiment" replaces this."""

from pathlib import Path

from specdec_lib.measure.experiment import results_file


def side_by_side(first: Path, second: Path) -> str:
    """The two tables side by side. ValueError, with a line why, if one of them is no table."""
    return "\n".join(results_file.side_by_side(first, second))
