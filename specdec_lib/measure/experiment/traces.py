"""What happened token by token: several texts of the built-in pair, one of them as a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specdec_lib import assets
from specdec_lib.decoding.state import Block
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.classes import CLASSES, judged
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.measure.core.runs import SAMPLED, speculative
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.llama import Llama

DRAFT = "base"
TEXTS, TOKENS, SHOWN = 12, 96, 48  # texts, tokens of each, tokens of the picture
CLASS_POSITIONS = 2000
PROMPT_SHOWN = 24  # its last tokens


@dataclass(frozen=True)
class Traces:
    """The blocks of every text, and the means to read them."""

    texts: list[list[Block]]
    prompts: list[list[int]]
    decode: Callable[[list[int]], str]
    target: Llama
    draft: Llama

    @property
    def blocks(self) -> list[Block]:
        """The blocks of the first text."""
        return self.texts[0]

    @property
    def counts(self) -> list[tuple[int, int]]:
        """(accepted, drafted) of every block of every text."""
        return [(block.accepted, len(block.drafted)) for text in self.texts for block in text]

    def picture(self) -> dict[str, Any]:
        """The first text for the widget: its prompt's end, and the blocks of SHOWN tokens."""
        blocks, written = [], 0
        for block in self.blocks:
            if written >= SHOWN:
                break
            blocks.append(block)
            written += block.kept
        return {
            "prompt": self.decode(self.prompts[0][-PROMPT_SHOWN:]),
            "blocks": [self._plain(block) for block in blocks],
        }

    def _plain(self, block: Block) -> dict[str, Any]:
        pieces = [self.decode([token]) for token in block.drafted]
        return {
            "drafted": pieces,
            "p": block.p,
            "q": block.q,
            "accepted": block.accepted,
            "token": self.decode([block.token]),
        }

    def by_class(self) -> dict[str, tuple[float, float, int]]:
        """By class of token: acceptance at temperature 0 and 1, and how many, on held-out code."""
        code = [each for each in assets.documents() if each.name.endswith(".py")]
        readers = (model_reader(model) for model in (self.target, self.draft))
        positions = judged(*readers, code, assets.tokenizer(), CLASS_POSITIONS)
        rows = {}
        for kind in CLASSES:
            at = [i for i, each in enumerate(positions.classes) if each == kind]
            if at:
                means = (float(part[at].mean()) for part in (positions.agreed, positions.overlap))
                rows[kind] = (*means, len(at))
        return rows


def of_built_in(loop: Loop, machine: Machine, k: int) -> Traces:
    """Texts of the built-in target and its base draft at temperature 1, by the loop's verifier."""
    target, draft = machine.targets["built-in"], machine.drafts[DRAFT]
    prompts = held_out.prompts(TEXTS)
    drafter = ModelDrafter(draft)
    run = speculative(target, drafter, k, SAMPLED, TOKENS, loop.verifier, batch=True)(prompts)
    tokenizer = assets.tokenizer()
    return Traces(run.blocks, prompts, tokenizer.decode, target, draft)
