"""A table of results as a JSON file: written row by row, read again, two of them side by side.

Nothing here needs torch, so that `specdec compare` answers at once.
"""

import json
import platform
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from specdec_lib.files import write_whole

PACKAGES = ("torch", "transformers", "numpy", "specdec-course")
KEYS = ("target", "draft", "task", "temperature")  # what a row is about
SHOWN = ("alpha", "c", "k", "expected", "empirical")
LAYOUT = 1


class ResultsError(ValueError):
    """A file that is no table of results, or cannot become one; the message says why."""


class Results:
    """The table that a run makes. The file is whole after every row, so a stop loses nothing."""

    def __init__(self, path: Path | str, whose: str, machine: Mapping[str, Any]) -> None:
        """Begin a new file.

        Raises FileExistsError rather than overwrite one, ResultsError where none can be written.
        """
        self.path = Path(path)
        if self.path.exists():
            raise FileExistsError(f"{self.path} is there already: choose another name")
        self.content: dict[str, Any] = {
            "layout": LAYOUT,
            "decoder": whose,
            "begun": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": dict(machine),
            "versions": versions(),
            "commit": commit(),
            "rows": [],
        }
        self._write()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows so far."""
        return self.content["rows"]

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row and write the file. ResultsError where that fails; `rows` has it still."""
        self.rows.append(dict(row))
        self._write()

    def _write(self) -> None:
        try:
            write_whole(self.path, json.dumps(self.content, indent=1) + "\n")
        except OSError as error:
            raise ResultsError(
                f"{self.path} cannot be written: {error.strerror or error}. Make room there, or "
                "begin the results in another folder"
            ) from None


def fresh_path(folder: Path | str = ".") -> Path:
    """A name with the present time, for a file that is not there yet."""
    return Path(folder) / f"chapter08_{datetime.now():%Y-%m-%d_%H%M%S}.json"


def versions() -> dict[str, str]:
    """Python's version and those of the packages that the figures depend on."""
    numbers = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            numbers[name] = "not installed"
    return numbers


def commit(folder: Path = Path(__file__).parent) -> str | None:
    """The commit of this code, with "+" if it was changed since; None outside git."""
    try:
        head = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", ".")
    except (OSError, subprocess.SubprocessError):
        return None
    return head + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=20
    ).stdout.strip()


def read(path: Path | str) -> dict[str, Any]:
    """The content of a file. OSError if it cannot be read, ResultsError if it is no table."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path} is not JSON: {error}") from None
    needed = {"layout", "machine", "versions", "rows"}
    if not isinstance(content, dict) or not needed <= content.keys():
        raise ResultsError(f"{path} is no table of results: give a file that chapter 08 wrote")
    if content["layout"] != LAYOUT:
        raise ResultsError(
            f"{path} has layout {content['layout']}, and this version reads {LAYOUT}: "
            "make both files with the same version"
        )
    if broken := _broken_part(content):
        raise ResultsError(f"{path} is no table of results: {broken}. Take an unchanged file")
    return content


def _broken_part(content: Mapping[str, Any]) -> str | None:
    """The first part of a table that is not as `Results` writes it; None where all are."""
    for name, kind in (("machine", dict), ("versions", dict), ("rows", list)):
        if not isinstance(content[name], kind):
            return f'its "{name}" should be {kind.__name__}, not {type(content[name]).__name__}'
    for number, row in enumerate(content["rows"], 1):
        if not isinstance(row, dict):
            return f"row {number} should be dict, not {type(row).__name__}"
        wrong = [name for name in KEYS if isinstance(row.get(name), dict | list)]
        wrong += [name for name in SHOWN if not _is_figure(row.get(name))]
        if wrong:
            return f'row {number} has {row[wrong[0]]!r} for "{wrong[0]}"'
    return None


def _is_figure(value: object) -> bool:
    """Whether a cell holds what can be shown: a number, nothing, or a spread with a median."""
    number = value["median"] if isinstance(value, dict) and "median" in value else value
    return value is None or isinstance(number, int | float)


def side_by_side(first: Path | str, second: Path | str) -> Iterator[str]:
    """Two tables side by side, row by row, and what differs in machine and versions."""
    one, other = read(first), read(second)
    yield f"A  {first}: {_headline(one)}"
    yield f"B  {second}: {_headline(other)}"
    yield from _differences(one, other)
    yield ""
    pairs = {_key(row): (row, None) for row in one["rows"]}
    for row in other["rows"]:
        pairs[_key(row)] = (pairs.get(_key(row), (None, None))[0], row)
    if not pairs:
        yield "Neither file has a row."
        return
    yield _line("target, draft, task, T", [f"{name} A | B" for name in SHOWN])
    for key, (a, b) in pairs.items():
        cells = [f"{_cell(a, name)} | {_cell(b, name)}" for name in SHOWN]
        yield _line(", ".join(map(str, key)), cells)


def _headline(content: Mapping[str, Any]) -> str:
    machine = content["machine"]
    where = f"{machine.get('device', 'unknown device')} in {machine.get('dtype', 'unknown dtype')}"
    return f"{content.get('decoder', 'unknown')} decoder on {where}, {len(content['rows'])} rows"


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    for part in ("machine", "versions"):
        names = dict.fromkeys([*one[part], *other[part]])
        for name in names:
            a, b = one[part].get(name), other[part].get(name)
            if a != b:
                yield f"   {name} differs: {a} in A, {b} in B"
    if one.get("commit") != other.get("commit"):
        yield f"   commit differs: {one.get('commit')} in A, {other.get('commit')} in B"


def _key(row: Mapping[str, Any]) -> tuple:
    return tuple(row.get(name) for name in KEYS)


def _cell(row: Mapping[str, Any] | None, name: str) -> str:
    value = None if row is None else row.get(name)
    if isinstance(value, Mapping):
        return f"{value['median']:.2f}"
    return "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def _line(name: str, cells: list[str]) -> str:
    return f"{name:34}" + "".join(f"{cell:>16}" for cell in cells)
