"""Record a quiet run of all that the chapters time: `python -m specdec_lib.measure.quiet`.

Run it with nothing else on the machine; it takes about a minute. It writes quiet/recorded.json,
and refuses to do so where its own times say that the machine was disturbed.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

from tqdm import tqdm

from specdec_lib.device import leave_cores, processor_class, processor_name
from specdec_lib.files import write_whole
from specdec_lib.measure.quiet.chapters import RUNS, limits
from specdec_lib.measure.quiet.runs import PATH, Runs, judged, plain_data

PROGRAM = "python -m specdec_lib.measure.quiet"
TRIES = 3


def main(arguments: list[str] | None = None) -> int:
    """Measure, write, and return the exit code: 1 where a run was disturbed each time."""
    command = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    command.add_argument("--out", type=Path, default=PATH, help="the file to write")
    out, threads = command.parse_args(arguments).out, leave_cores()
    found = {}
    for name, measure in tqdm(RUNS.items(), desc="quiet runs"):
        found[name] = undisturbed(name, measure)
        if found[name] is None:
            return 1
    write_whole(out, json.dumps(as_data(found, threads), separators=(",", ":")) + "\n")
    return 0


def undisturbed(name: str, measure: Callable[[], Runs]) -> Runs | None:
    """The times of a run that was not disturbed; None, and why, if none of TRIES was."""
    for _ in range(TRIES):
        times = measure()
        why = judged(name, times)
        if why is None:
            return times
    print(f"{name}: not written, since this machine is not quiet: {why}")
    return None


def as_data(found: Mapping[str, Runs], threads: int) -> dict[str, object]:
    """What is written."""
    return {
        "made_by": PROGRAM,
        "date": f"{date.today()}",
        "processor": processor_name(),
        "class": processor_class(),
        "threads": threads,
        "limits": {name: float(f"{rate:.4g}") for name, rate in limits().items()},
        "runs": {name: plain_data(times) for name, times in found.items()},
    }
