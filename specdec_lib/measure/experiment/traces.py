"""What happened token by token: one text of a pair, its blocks as a picture shows them."""

from collections.abc import Sequence
from typing import Any

from specdec_lib.assets import tokenizer
from specdec_lib.decoding.state import Block
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import SAMPLED, speculative
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.models.pairs import BuiltInTokenizer, Pair
from specdec_lib.sampling import Warp

DRAFT, K = "base", 4
TOKENS = 48
PROMPT_SHOWN = 24  # its last tokens


def of_built_in(loop: Loop, machine: Machine) -> dict[str, Any]:
    """A text of the built-in target and its base draft at temperature 1, for the widget."""
    (prompt,), words = prompts(1), BuiltInTokenizer(tokenizer())
    pair = Pair("", machine.built_in, machine.drafts[DRAFT], words, "", None)
    return picture(loop, pair, prompt, SAMPLED, words.decode(prompt[-PROMPT_SHOWN:]))


def picture(
    loop: Loop, pair: Pair, prompt: Sequence[int], warp: Warp, shown: str
) -> dict[str, Any]:
    """TOKENS tokens of a pair for the widget, below `shown`; the loop's verifier judges them."""
    drafter = ModelDrafter(pair.draft)
    run = speculative(pair.target, drafter, K, warp, TOKENS, loop.verifier)
    text, blocks = list(prompt), []
    for block in run(prompt).blocks[0]:
        blocks.append(as_shown(block, text, pair))
        text += [*block.path, block.token]
    return {"prompt": shown, "blocks": blocks}


def as_shown(block: Block, text: Sequence[int], pair: Pair) -> dict[str, Any]:
    """A block after `text`, each token as the letters that it adds in its place."""
    read = pair.tokenizer.decode

    def piece(i: int, token: int) -> str:
        before = [*text, *block.drafted[:i]]
        return read([*before, token])[len(read(before)) :]

    return {
        "drafted": [piece(i, token) for i, token in enumerate(block.drafted)],
        "token": piece(block.accepted, block.token),
        "accepted": block.accepted,
        "p": block.p,
        "q": block.q,
    }
