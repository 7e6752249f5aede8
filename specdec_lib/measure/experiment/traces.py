"""What happened token by token: several texts of the built-in pair, one of them as a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec_lib import assets
from specdec_lib.decoding.state import Block
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.classes import CLASSES, judged
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.measure.core.runs import SAMPLED, speculative
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.survey import BUILT_IN, Machine
from specdec_lib.models.llama import Llama

DRAFT = "base"
TEXTS, TOKENS, SHOWN = 12, 96, 48  # texts, tokens of each, tokens of the picture
CLASS_POSITIONS = 2000
PROMPT_SHOWN = 24  # its last tokens


@dataclass(frozen=True)
class Traces:
    """The blocks of every text, and the means to read them.

    `classes` has, by class of token, acceptance at temperature 0 and 1 and how many there were.
    """

    texts: list[list[Block]]
    prompt: list[int]  # of the first text
    decode: Callable[[list[int]], str]
    classes: dict[str, tuple[float, float, int]]

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
        starts = np.cumsum([0, *(block.kept for block in self.blocks)])
        blocks = [
            {
                "drafted": [self.decode([token]) for token in block.drafted],
                "p": block.p,
                "q": block.q,
                "accepted": block.accepted,
                "token": self.decode([block.token]),
            }
            for start, block in zip(starts, self.blocks, strict=False)
            if start < SHOWN
        ]
        return {"prompt": self.decode(self.prompt[-PROMPT_SHOWN:]), "blocks": blocks}


def of_built_in(loop: Loop, machine: Machine, k: int) -> Traces:
    """Texts of the built-in target and its base draft at temperature 1, by the loop's verifier."""
    target, draft = machine.targets[BUILT_IN], machine.drafts[DRAFT]
    prompts = held_out.prompts(TEXTS)
    run = speculative(target, ModelDrafter(draft), k, SAMPLED, TOKENS, loop.verifier, batch=True)
    decode = assets.tokenizer().decode
    return Traces(run(prompts).blocks, prompts[0], decode, by_class(target, draft))


def by_class(target: Llama, draft: Llama) -> dict[str, tuple[float, float, int]]:
    """By class of token: acceptance at temperature 0 and 1, and how many, on held-out code."""
    code = [each for each in assets.documents() if each.name.endswith(".py")]
    readers = map(model_reader, (target, draft))
    found = judged(*readers, code, assets.tokenizer(), CLASS_POSITIONS)
    labels, rows = np.array(found.classes), {}
    for kind in CLASSES:
        at = labels == kind
        if at.any():
            means = float(found.agreed[at].mean()), float(found.overlap[at].mean())
            rows[kind] = (*means, int(at.sum()))
    return rows
