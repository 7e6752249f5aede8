"""What happened token by token: one text of a pair, its blocks as a picture shows them."""

from collections.abc import Sequence
from typing import Any

from specdec_lib.decoding.state import VerifiedBlock
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.experiment.decoders import StudentDecoder, as_verifier
from specdec_lib.measure.experiment.survey import ExperimentMachine, pair_prompts
from specdec_lib.measure.library_decoders import SAMPLED, speculative
from specdec_lib.models.pair import Pair
from specdec_lib.sampling import Warp
from specdec_lib.text_stream import TextStream

TRACE_TOKENS = 48
_SHOWN_TOKENS = 24  # of the prompt, its last ones


def machine_trace(student: StudentDecoder, machine: ExperimentMachine) -> dict[str, Any]:
    """A text of the machine's pair at temperature 1, for the widget."""
    (prompt,), words = pair_prompts(machine.pair, 1), machine.pair.tokenizer
    return trace(student, machine.pair, prompt, SAMPLED, words.decode(prompt[-_SHOWN_TOKENS:]))


def trace(
    student: StudentDecoder, pair: Pair, prompt: Sequence[int], warp: Warp, shown: str
) -> dict[str, Any]:
    """TRACE_TOKENS tokens of a pair below `shown`; the student's verifier judges the blocks."""
    decoder = speculative(
        pair.target, ModelDrafter(pair.draft), pair.k, warp, TRACE_TOKENS,
        as_verifier(student.verify_block), eos_id=pair.eos_id,
    )  # fmt: skip
    stream = pair.stream(prompt)
    blocks = [block_pieces(block, stream) for block in decoder(prompt).blocks[0]]
    return {"prompt": shown, "blocks": blocks}


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
