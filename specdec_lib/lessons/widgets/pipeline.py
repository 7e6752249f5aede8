"""Recorded blocks, token by token, from the draft to the text."""

from collections.abc import Mapping
from typing import Any

from specdec_lib.lessons.widgets.fields import blocks, whole
from specdec_lib.lessons.widgets.simulator import Simulator


def pipeline_animation(record: Mapping[str, Any], frame: int | None = None) -> Simulator:
    """The animation over a record, `frame` steps into it; without one, its first block is drafted.

    `record` has a `prompt` and `blocks`, each with its draft tokens as text (`drafted`), their
    probabilities `p` by the target and `q` by the draft, the coins `r`, and the `token` that ended
    it. The verdicts are worked out from p, q and r where it is shown. ValueError, naming the part,
    for what is no such record.
    """
    if frame is None:
        frame = len(record["blocks"][0]["drafted"])  # a step for each draft token
    # The module holds the frame to those that there are.
    fields = {"blocks": blocks, "frame": whole(0, 10**6)}
    state = {"prompt": record["prompt"], "blocks": record["blocks"], "frame": frame}
    return Simulator("pipeline", "Draft, score, accept, correct", fields, state, height=640)
