"""What happened token by token: several texts of the built-in pair, one of them as a picture."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specdec_lib import assets
from specdec_lib.decoding.state import Block
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.classes import CLASSES, Judged, judged
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.measure.core.runs import SAMPLED, speculative
from specdec_lib.measure.experiment.budget import TRACES, Part
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.llama import Llama

DRAFT = "base"
TEXTS, TOKENS, SHOWN = 12, 96, 48  # texts, tokens of each, tokens of the picture
TOGETHER = 6  # texts in one batch
CLASS_POSITIONS = 2000
PROMPT_SHOWN = 24  # its last tokens


@dataclass(frozen=True)
class Traces:
    """The blocks of every text, and the means to read them."""

    texts: list[list[Block]]
    prompts: list[list[int]]
    decode: Callable[[list[int]], str]
    classes: dict[str, tuple[float, float, int]]  # see by_class

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


def of_built_in(loop: Loop, machine: Machine, k: int) -> Traces:
    """Texts of the built-in target and its base draft at temperature 1, by the loop's verifier."""
    target, draft = machine.targets["built-in"], machine.drafts[DRAFT]
    prompts, texts = held_out.prompts(TEXTS), []
    groups = [prompts[start : start + TOGETHER] for start in range(0, TEXTS, TOGETHER)]
    run = speculative(target, ModelDrafter(draft), k, SAMPLED, TOKENS, loop.verifier, batch=True)
    with machine.budget.part(TRACES) as part:
        for group in part.each(groups, "groups of texts"):
            texts += run(group).blocks
        classes = by_class(target, draft, part)
    return Traces(texts, prompts, assets.tokenizer().decode, classes)


def by_class(target: Llama, draft: Llama, part: Part) -> dict[str, tuple[float, float, int]]:
    """By class of token: acceptance at temperature 0 and 1, and how many, on held-out code."""
    code = [each for each in assets.documents() if each.name.endswith(".py")]
    readers, tokenizer = [model_reader(model) for model in (target, draft)], assets.tokenizer()
    found: list[Judged] = []
    for document in part.each(code, "sources whose tokens are judged by class"):
        missing = CLASS_POSITIONS - sum(len(each.classes) for each in found)
        if missing <= 0:
            break
        found.append(judged(*readers, [document], tokenizer, missing))
    return means_by_class(found)


def means_by_class(found: Sequence[Judged]) -> dict[str, tuple[float, float, int]]:
    """The means of what was judged, and how many there were, by class."""
    kinds = [kind for each in found for kind in each.classes]
    agreed, overlap = (np.concatenate(parts) for parts in list(zip(*found, strict=True))[:2])
    rows = {}
    for kind in CLASSES:
        at = [i for i, each in enumerate(kinds) if each == kind]
        if at:
            rows[kind] = (float(agreed[at].mean()), float(overlap[at].mean()), len(at))
    return rows
