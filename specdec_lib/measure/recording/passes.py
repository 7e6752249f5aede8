"""The passes of a small service, with which chapter 06 simulates one.

Passes of the pair by batch, by new tokens in every row, and by the length of the text in each row's
cache. Record them with nothing else on the machine; it takes about two minutes.
"""

import json
import statistics
from datetime import date
from pathlib import Path

import specdec_lib
from specdec_lib.device import processor, use_half_the_cores
from specdec_lib.measure.costs import PassTask, pass_tasks
from specdec_lib.measure.timing import interleaved_times
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair

PASSES_FILE = Path(specdec_lib.__file__).with_name("lessons") / "ch06" / "passes.json"
_BATCHES = range(1, 9)
_WIDTHS = range(1, 8)  # new tokens in every row: K = 0 to 6, and one more
_CONTEXTS = (64, 448)  # tokens in each row's cache; the pair can hold 512
_ROUNDS = 12


def passes_json() -> str:
    """Both contexts, and what they were measured on."""
    threads, pair = use_half_the_cores(), load_pair(draft="base", target_cost="234m")
    content = {
        "made_by": "python -m specdec_lib.measure.recording passes",
        "date": f"{date.today()}",
        "processor": processor(),
        "threads": threads,
        "pair": pair.label,
        "contexts": {context: pass_times(pair, context) for context in _CONTEXTS},
    }
    return json.dumps(content, separators=(",", ":"))


def pass_times(pair: Pair, context: int) -> dict[str, list]:
    """Milliseconds of passes: the target's by batch and new tokens, a draft step's by batch."""
    tasks: dict[tuple, PassTask] = {}
    for batch in _BATCHES:
        for width, task in pass_tasks(pair.target, _WIDTHS, batch, context).items():
            tasks[batch, width] = task
        # As in a block, a draft step follows a target pass.
        tasks[batch, "draft"] = pass_tasks(pair.draft, [1], batch, context)[1]
    times = interleaved_times(tasks, _ROUNDS)
    ms = {key: round(1000 * statistics.median(rounds), 3) for key, rounds in times.items()}
    target = [[ms[batch, width] for width in _WIDTHS] for batch in _BATCHES]
    return {"target": target, "draft": [ms[batch, "draft"] for batch in _BATCHES]}
