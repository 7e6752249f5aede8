"""Chapter 01: recorded blocks, token by token, from the draft to the text."""

from collections.abc import Mapping
from typing import Any

from specdec_lib.lessons.widgets.fields import blocks, whole
from specdec_lib.lessons.widgets.simulator import Simulator


def pipeline_animation(record: Mapping[str, Any], frame: int = 0) -> Simulator:
    """The animation of chapter 01 over a record, `frame` steps into it.

    `record` has a `prompt` and `blocks`, each with its draft tokens as text (`drafted`), their
    probabilities `p` by the target and `q` by the draft, the coins `r`, and the `token` that ended
    it. The verdicts are worked out from p, q and r where it is shown. ValueError, naming the part,
    for what is no such record.
    """
    # The module holds the frame to those that there are.
    fields = {"blocks": blocks, "frame": whole(0, 10**6)}
    state = {"prompt": record["prompt"], "blocks": record["blocks"], "frame": frame}
    return Simulator("pipeline", "Draft, score, accept, correct", fields, state, height=640)
