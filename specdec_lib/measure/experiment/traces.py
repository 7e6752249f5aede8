"""What happened token by token: one text of a pair, its blocks as a picture shows them."""

from collections.abc import Sequence
from typing import Any

from specdec_lib.assets import tokenizer
from specdec_lib.decoding.state import VerifiedBlock
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.experiment.decoders import Loop
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.runs import SAMPLED, speculative
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import BuiltInTokenizer
from specdec_lib.sampling import Warp
from specdec_lib.text_stream import TextStream

DRAFT, K = "base", 4
TOKENS = 48
PROMPT_SHOWN = 24  # its last tokens


def of_built_in(loop: Loop, machine: Machine) -> dict[str, Any]:
    """A text of the built-in target and its base draft at temperature 1, for the widget."""
    (prompt,), words = prompts(1), BuiltInTokenizer(tokenizer())
    pair = Pair("", machine.built_in, machine.drafts[DRAFT], words, "", frozenset())
    return picture(loop, pair, prompt, SAMPLED, words.decode(prompt[-PROMPT_SHOWN:]))


def picture(
    loop: Loop, pair: Pair, prompt: Sequence[int], warp: Warp, shown: str
) -> dict[str, Any]:
    """TOKENS tokens of a pair for the widget, below `shown`; the loop's verifier judges them."""
    drafter = ModelDrafter(pair.draft)
    run = speculative(pair.target, drafter, K, warp, TOKENS, loop.verifier, eos_id=pair.eos_id)
    stream = pair.stream(prompt)
    blocks = [as_shown(block, stream) for block in run(prompt).blocks[0]]
    return {"prompt": shown, "blocks": blocks}


def as_shown(block: VerifiedBlock, stream: TextStream) -> dict[str, Any]:
    """A block, each token as the letters that it adds in its place; `stream` goes past the block.

    A letter of several tokens stands at the last of them.
    """
    draft = stream.fork()
    drafted = [draft.add(token) for token in block.drafted]
    for token in block.accepted_tokens:
        stream.add(token)
    return {
        "drafted": drafted,
        "token": stream.add(block.next_token),
        "accepted": block.n_accepted,
        "p": block.p,
        "q": block.q,
    }
