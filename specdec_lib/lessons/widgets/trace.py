"""Chapter 08: a text of one's own decoder, every token with its fate, p, q and ratio."""

from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib.lessons.widgets.fields import blocks as recorded_blocks
from specdec_lib.lessons.widgets.simulator import Simulator


def trace_picture(prompt: str, blocks: Sequence[Mapping[str, Any]]) -> Simulator:
    """The picture of a text, whose first token is chosen when it opens.

    `blocks` have `drafted` (pieces of text), `p` and `q` of each, how many were `accepted`, and the
    `token` after them. ValueError for what is no block.
    """
    state = {"prompt": prompt, "blocks": blocks, "chosen": 0}
    fields = {"blocks": recorded_blocks}
    return Simulator("trace", "A text, token by token", fields, state, height=560)
