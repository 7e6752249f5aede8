"""Record the races that end the chapters: `python -m specdec_lib.measure.race`.

Run it with nothing else on the machine; it takes about two minutes. It writes race/recorded.json,
which is shown where a race cannot run or was disturbed, and refuses to where this one was.
"""

import argparse
import json
from collections.abc import Mapping
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
    command = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    command.add_argument("--out", type=Path, default=PATH, help="the file to write")
    out, found = command.parse_args(arguments).out, {}
    for name, how in tqdm(RACES.items(), desc="races"):
        found[name] = undisturbed(name, how)
        if found[name] is None:
            return 1
    write_whole(out, json.dumps(to_write(found), separators=(",", ":"), ensure_ascii=False) + "\n")
    return 0


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


def to_write(found: Mapping[str, Race]) -> dict[str, object]:
    """What is written."""
    return {
        "made_by": PROGRAM,
        "date": f"{date.today()}",
        "processor": processor_name(),
        "class": processor_class(),
        "races": {name: as_data(race) for name, race in found.items()},
    }
