"""Chapter 08: a text of one's own decoder, every token with its fate, p, q and ratio."""

from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib.lessons.widgets.simulator import Simulator


def trace_picture(prompt: str, blocks: Sequence[Mapping[str, Any]]) -> Simulator:
    """The picture of a text, whose first token is chosen when it opens.

    `blocks` have `drafted` (pieces of text), `p` and `q` of each, how many were `accepted`, and the
    `token` after them.
    """
    state = {"prompt": prompt, "blocks": blocks, "chosen": 0}
    return Simulator("trace", "A text, token by token", state, height=560)
