"""Record the passes of a small service: `python -m specdec_lib.measure.served`.

Chapter 06 simulates a service with them: passes of the pair by batch, by new tokens in every row,
and by the length of the text in each row's cache. Run it with nothing else on the machine. It takes
about two minutes and writes specdec_lib/lessons/ch06/passes.json.
"""

import json
import statistics
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from specdec_lib.device import processor, use_half_the_cores
from specdec_lib.files import write_whole
from specdec_lib.measure.costs import Task, pass_tasks
from specdec_lib.measure.timing import interleaved
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair

PATH = Path(__file__).resolve().parents[1] / "lessons" / "ch06" / "passes.json"
BATCHES = range(1, 9)
WIDTHS = range(1, 8)  # new tokens in every row: K = 0 to 6, and one more
CONTEXTS = (64, 448)  # tokens in each row's cache; the pair can hold 512
ROUNDS = 12


def record(path: Path = PATH) -> None:
    """Measure both contexts, and write the file."""
    threads, pair = use_half_the_cores(), load_pair(draft="base", target_cost="234m")
    made = {"made_by": "python -m specdec_lib.measure.served", "date": f"{date.today()}"}
    made |= {"processor": processor(), "threads": threads, "pair": pair.label}
    made["contexts"] = {context: of_context(pair, context) for context in CONTEXTS}
    write_whole(path, json.dumps(made, separators=(",", ":")) + "\n")


def of_context(
    pair: Pair, context: int, batches: Sequence[int] = BATCHES, widths: Sequence[int] = WIDTHS
) -> dict[str, list]:
    """Milliseconds of passes: the target's by batch and new tokens, a draft step's by batch."""
    tasks: dict[tuple, Task] = {}
    for batch in batches:
        for width, task in pass_tasks(pair.target, widths, batch, context).items():
            tasks[batch, width] = task
        # As in a block, a draft step follows a target pass.
        tasks[batch, "draft"] = pass_tasks(pair.draft, [1], batch, context)[1]
    times = interleaved(tasks, ROUNDS)
    ms = {key: round(1000 * statistics.median(each), 3) for key, each in times.items()}
    target = [[ms[batch, width] for width in widths] for batch in batches]
    return {"target": target, "draft": [ms[batch, "draft"] for batch in batches]}


if __name__ == "__main__":
    record()
