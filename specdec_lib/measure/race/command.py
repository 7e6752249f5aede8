"""Record races: `python -m specdec_lib.measure.race`, or some of them by their names.

Run it with nothing else on the machine; all of them take about three minutes. It writes
race/recorded.json, which is shown where a race cannot run or was disturbed. A race that was itself
disturbed is not written: the one recorded before it stays.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from tqdm import tqdm

from specdec_lib.device import processor_class, processor_name
from specdec_lib.files import write_whole
from specdec_lib.measure.race.chapters import RACES
from specdec_lib.measure.race.limits import TooSlow
from specdec_lib.measure.race.race import disturbed, run
from specdec_lib.measure.race.record import PATH, Race, as_data

PROGRAM = "python -m specdec_lib.measure.race"
TRIES = 3
PATIENCE = 60.0  # seconds for each race, so that none is stopped or has a smaller target


def main(arguments: list[str] | None = None) -> int:
    """Race, write, and return the exit code: 1 where a race could not be run in quiet."""
    lines_kept = argparse.RawDescriptionHelpFormatter
    command = argparse.ArgumentParser(PROGRAM, description=__doc__, formatter_class=lines_kept)
    some = f"which races: {', '.join(RACES)} (default: all)"
    command.add_argument("names", nargs="*", metavar="NAME", help=some)
    command.add_argument("--out", type=Path, default=PATH, help="the file to write")
    options = command.parse_args(arguments)
    if unknown := set(options.names) - set(RACES):
        command.error(
            f"there is no race {', '.join(sorted(unknown))}; there are {', '.join(RACES)}"
        )
    found = record(options.names or list(RACES))
    before = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    write_whole(options.out, as_text(before.get("races", {}) | to_write(found)))
    return 0 if len(found) == len(options.names or RACES) else 1


def record(names: Sequence[str]) -> dict[str, Race]:
    """The races of these names that could be run in quiet."""
    found = {name: undisturbed(name, RACES[name]) for name in tqdm(names, desc="races")}
    return {name: race for name, race in found.items() if race}


def undisturbed(name: str, how: Mapping[str, Any]) -> Race | None:
    """A race that was neither disturbed nor stopped; None, and why, if none of TRIES was one."""
    for _ in range(TRIES):
        try:
            race = run(**how | {"seconds": PATIENCE})
        except TooSlow as error:
            why = str(error)
            continue
        why = disturbed(race) or " ".join(race.remarks)
        if not why:
            return race
    print(f"{name}: not written, since this machine is not quiet: {why}")
    return None


def to_write(found: Mapping[str, Race]) -> dict[str, dict[str, Any]]:
    """Each race with the day and the processor."""
    where = {
        "date": f"{date.today()}", "processor": processor_name(), "class": processor_class()
    }  # fmt: skip
    return {name: where | as_data(race) for name, race in found.items()}


def as_text(races: Mapping[str, Any]) -> str:
    """The file."""
    data = {"made_by": PROGRAM, "races": races}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n"
