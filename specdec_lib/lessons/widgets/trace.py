"""Chapter 08: a text of one's own decoder, every token with its fate, p, q and ratio."""

from collections.abc import Mapping, Sequence
from typing import Any

from specdec_lib.lessons.common.recorded import visible
from specdec_lib.lessons.widgets.parts.fields import probability, whole
from specdec_lib.lessons.widgets.simulator import Simulator


def _block(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """One block, its numbers checked and its pieces made visible."""
    drafted = [visible(piece) for piece in value["drafted"]]
    numbers = {
        key: [probability(f"{name}.{key}[{i}]", each) for i, each in enumerate(value[key])]
        for key in ("p", "q")
    }
    accepted = int(value["accepted"])
    if not len(drafted) == len(numbers["p"]) == len(numbers["q"]) >= accepted >= 0:
        raise ValueError(f"{name}: every draft token needs a p and a q, and no more are accepted")
    return {"drafted": drafted, **numbers, "accepted": accepted, "token": visible(value["token"])}


def _blocks(name: str, value: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if not value:
        raise ValueError(f"{name} is empty: give the blocks of a text")
    return [_block(f"{name}[{i}]", each) for i, each in enumerate(value)]


def _prompt(name: str, value: str) -> str:
    return visible(value)


def trace_picture(prompt: str, blocks: Sequence[Mapping[str, Any]], chosen: int = 0) -> Simulator:
    """The picture of a text.

    `blocks` have `drafted` (pieces of text), `p` and `q` of each, how many were `accepted`, and the
    `token` after them; `chosen` is the token that is looked at first. ValueError for what is no
    block.
    """
    tokens = sum(int(block["accepted"]) + 1 for block in blocks)
    return Simulator(
        "trace",
        title="A text, token by token",
        fields={"prompt": _prompt, "blocks": _blocks, "chosen": whole(0, max(tokens, 1) - 1)},
        state={"prompt": prompt, "blocks": blocks, "chosen": chosen},
        reset={"chosen": chosen},
        height=560,
    )
