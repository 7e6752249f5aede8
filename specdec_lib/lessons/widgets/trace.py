"""Chapter 08: a text of one's own decoder, every token with its fate, p, q and ratio."""

from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib.lessons.widgets import fields
from specdec_lib.lessons.widgets.simulator import Simulator


def trace_picture(prompt: str, blocks: Sequence[Mapping[str, Any]], chosen: int = 0) -> Simulator:
    """The picture of a text.

    `blocks` have `drafted` (pieces of text), `p` and `q` of each, how many were `accepted`, and the
    `token` after them; `chosen` is the token that is looked at first. ValueError for what is no
    block.
    """
    made = fields.blocks("blocks", blocks)
    tokens = sum(block["accepted"] + 1 for block in made)
    state = {"prompt": prompt, "blocks": made, "chosen": chosen}
    checks = {"chosen": fields.whole(0, tokens - 1)}
    return Simulator("trace", "A text, token by token", checks, state, height=560)
