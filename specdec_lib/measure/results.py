"""A table of results as a JSON file, and two of them side by side.

Nothing here needs torch, so that `specdec compare` answers at once.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from specdec_lib.errors import SpecdecError
from specdec_lib.files import write_whole

_KEYS = ["target", "draft", "task", "temperature"]  # what a row is about
_FIGURES = ["alpha", "c", "K", "measured v", "clock"]


def write_results(frame: pd.DataFrame, about: Mapping[str, Any], path: Path | str) -> Path:
    """Write `frame`, and `about` what machine it is; returns the path."""
    table = json.loads(frame.to_json(orient="split", index=False))
    content = json.dumps({"about": dict(about), "table": table}, indent=1)
    write_whole(Path(path), content + "\n")
    return Path(path)


def read_results(path: Path | str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table of a file, and what machine it is about. SpecdecError if the file is no such.

    The message names the file and says what to do.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        about, table = dict(content["about"]), content["table"]
        frame = pd.DataFrame(table["data"], columns=table["columns"])
        frame[_KEYS + _FIGURES]  # KeyError where one is missing
    except OSError as error:
        raise SpecdecError(f"{path}: {error.strerror}. Give a file that chapter 08 wrote") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SpecdecError(
            f"{path} is no table of results: give a file that chapter 08 wrote, as it was written"
        ) from None
    return frame, about


def side_by_side(first: Path | str, second: Path | str) -> str:
    """Two tables row by row, A and B, below a line about the machine of each."""
    lines, frames = [], []
    for side, path in (("A", first), ("B", second)):
        frame, about = read_results(path)
        machine = ", ".join(f"{name} {value}" for name, value in about.items())
        lines.append(f"{side}  {path}: {machine}")
        frames.append(frame[_KEYS + _FIGURES])
    both = frames[0].merge(frames[1], on=_KEYS, how="outer", suffixes=(" A", " B"))
    columns = [f"{name} {side}" for name in _FIGURES for side in "AB"]
    table = both[_KEYS + columns].to_string(index=False, float_format="{:.3g}".format, na_rep="-")
    return "\n".join([*lines, "", table])
