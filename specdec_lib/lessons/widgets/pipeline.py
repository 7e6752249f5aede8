"""Recorded blocks, token by token, from the draft to the text."""

from collections.abc import Mapping
from typing import Any

from specdec_lib.lessons.widgets.simulator import Simulator


def pipeline_animation(record: Mapping[str, Any]) -> Simulator:
    """The animation over a record, whose first block is drafted when it opens.

    `record` has a `prompt` and `blocks`, each with its draft tokens as text (`drafted`), their
    probabilities `p` by the target and `q` by the draft, the coins `r`, and the `token` that ended
    it. The verdicts are worked out from p, q and r where it is shown.
    """
    blocks = record["blocks"]
    frame = len(blocks[0]["drafted"])  # a step for each draft token
    state = {"prompt": record["prompt"], "blocks": blocks, "frame": frame}
    return Simulator("pipeline", "Draft, score, accept, correct", state, height=640)
