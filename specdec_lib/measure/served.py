"""Record the passes of a small service: `python -m specdec_lib.measure.served`.

Chapter 06 plays a service with them: passes of the pair by batch, by new tokens in every row, and
by the text that each row's cache holds. Run it with nothing else on the machine; it takes about two
minutes and writes specdec_lib/lessons/ch06/passes.json.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path

from specdec_lib.device import leave_cores, processor_class, processor_name
from specdec_lib.files import write_whole
from specdec_lib.measure.core.costs import Task, pass_tasks
from specdec_lib.measure.core.timing import within
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair

PROGRAM = "python -m specdec_lib.measure.served"
PATH = Path(__file__).resolve().parents[1] / "lessons" / "ch06" / "passes.json"
BATCHES = range(1, 9)
WIDTHS = range(1, 8)  # new tokens in every row: K = 0 to 6, and one more
CONTEXTS = (64, 448)  # tokens in each row's cache; the pair can hold 512
SECONDS, ROUNDS = 60, 12  # of each context

Measure = Callable[[dict[tuple, Task], float, int], dict[tuple, list[float]]]


def main(arguments: list[str] | None = None) -> int:
    """Measure, write, and return the exit code."""
    command = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    command.add_argument("--out", type=Path, default=PATH, help="the file to write")
    out, threads = command.parse_args(arguments).out, leave_cores()
    pair = load_pair(draft="base", target_cost="234m")
    made = {"made_by": PROGRAM, "date": f"{date.today()}", "processor": processor_name()}
    made |= {"class": processor_class(), "threads": threads, "pair": pair.label}
    made["contexts"] = {context: of_context(pair, context) for context in CONTEXTS}
    write_whole(out, json.dumps(made, separators=(",", ":")) + "\n")
    return 0


def of_context(
    pair: Pair,
    context: int,
    batches: Sequence[int] = BATCHES,
    widths: Sequence[int] = WIDTHS,
    measure: Measure = within,
) -> dict[str, list]:
    """Milliseconds of passes: the target's by batch and new tokens, a draft step's by batch."""
    times = measure(dict(_tasks(pair, context, batches, widths)), SECONDS, ROUNDS)
    ms = {key: round(1000 * statistics.median(each), 3) for key, each in times.items()}
    target = [[ms[batch, width] for width in widths] for batch in batches]
    return {"target": target, "draft": [ms[batch, "draft"] for batch in batches]}


def _tasks(
    pair: Pair, context: int, batches: Sequence[int], widths: Sequence[int]
) -> Iterator[tuple[tuple, Task]]:
    """Each pass by (batch, new tokens); a draft step stands after a target pass, as in a block."""
    for batch in batches:
        for width, task in pass_tasks(pair.target, widths, batch, context).items():
            yield (batch, width), task
        yield (batch, "draft"), pass_tasks(pair.draft, [1], batch, context)[1]


if __name__ == "__main__":
    raise SystemExit(main())
