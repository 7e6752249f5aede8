"""What happened token by token: one text of a pair, its blocks as a picture shows them."""

from typing import Any

from specdec_lib.decoding.state import VerifiedBlock
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.experiment.contest import Contestants
from specdec_lib.measure.library_decoders import SAMPLED, speculative
from specdec_lib.text_stream import TextStream

TRACE_TOKENS = 48


def first_trace(models: Contestants) -> dict[str, Any]:
    """TRACE_TOKENS tokens after the first prompt of a contest at temperature 1, for the widget."""
    pair, subject = models.pair, models.subject
    prompt = subject.prompts[0]
    drafter = ModelDrafter(pair.draft)
    decoder = speculative(pair.target, drafter, pair.k, SAMPLED, TRACE_TOKENS, eos_id=pair.eos_id)
    stream = pair.stream(prompt)
    blocks = [block_pieces(block, stream) for block in decoder(prompt).blocks[0]]
    return {"prompt": subject.shown[0], "blocks": blocks}


def block_pieces(block: VerifiedBlock, stream: TextStream) -> dict[str, Any]:
    """A block, each token as the letters that it adds in its place; `stream` goes past the block.

    A letter of several tokens stands at the last of them.
    """
    draft_stream = stream.fork()
    drafted = [draft_stream.add(token) for token in block.drafted]
    for token in block.accepted_tokens:
        stream.add(token)
    return {
        "drafted": drafted,
        "token": stream.add(block.next_token),
        "accepted": block.n_accepted,
        "p": block.p,
        "q": block.q,
    }
