"""Chapter 01: recorded blocks, token by token, from the draft to the text."""

from collections.abc import Iterable, Mapping
from typing import Any

from specdec_lib.lessons.widgets.parts.fields import probability, text, whole
from specdec_lib.lessons.widgets.simulator import Simulator


def _blocks(name: str, value: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Blocks with a p, a q and a coin r for every draft token; ValueError otherwise."""
    return [_block(f"{name}[{i}]", block) for i, block in enumerate(value)]


def _block(name: str, block: Mapping[str, Any]) -> dict[str, Any]:
    drafted = [text(f"{name}.drafted", token) for token in block["drafted"]]
    checked = {"drafted": drafted, "token": text(f"{name}.token", block["token"])}
    for part in ("p", "q", "r"):
        checked[part] = [probability(f"{name}.{part}", number) for number in block[part]]
        if len(checked[part]) != len(drafted):
            raise ValueError(
                f"{name} has {len(drafted)} draft tokens and {len(block[part])} {part}"
            )
    return checked


# The module holds the frame to those that there are.
_FIELDS = {"prompt": text, "blocks": _blocks, "frame": whole(0, 10**6)}


def pipeline_animation(record: Mapping[str, Any], frame: int = 0) -> Simulator:
    """The animation of chapter 01 over a record, `frame` steps into it.

    `record` has a `prompt` and `blocks`, each with its draft tokens as text (`drafted`), their
    probabilities `p` by the target and `q` by the draft, the coins `r`, and the `token` that ended
    it. The verdicts are worked out from p, q and r where it is shown. ValueError, naming the part,
    for what is no such record.
    """
    state = {"prompt": record["prompt"], "blocks": record["blocks"], "frame": frame}
    return Simulator(
        "pipeline",
        title="Draft, score, accept, correct",
        fields=_FIELDS,
        state=state,
        reset={"frame": 0},
        height=640,
    )
