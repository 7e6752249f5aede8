"""Published pairs in the experiment of chapter 08, on a GPU with the hub in reach.

What cannot be had (the hub gone in the middle of a download, too little memory, tokenizers that
differ) is said, and the next pair is taken.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from specdec_lib.assets import documents
from specdec_lib.decoding.state import Generation
from specdec_lib.device import name_of
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure import hugging
from specdec_lib.measure.core.costs import costs_of
from specdec_lib.measure.core.interval import Rate, rate
from specdec_lib.measure.core.runs import Decoder, speculative
from specdec_lib.measure.experiment.budget import Part
from specdec_lib.measure.experiment.contest import (
    SIDES,
    Outcome,
    Side,
    contestants,
    hugging_sides,
    outcome_of,
)
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.catalogue import PUBLISHED, PairError
from specdec_lib.models.hf import EncoderDecoder, HuggingFace
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs, acceptance_from_counts

CHARACTERS = 400  # of a document, as a prompt or a source
TASKS = {
    "translation": "translate English to German: ",
    "summarisation": "summarize: ",
}  # the prefixes that T5 models were trained with
PROBE_K = 4  # of the blocks that alpha is counted on


@dataclass(frozen=True)
class PublishedContest:
    """One published pair, and everything that can decode it."""

    machine: Machine
    pair: Pair
    loop: Loop

    def tasks(self) -> dict[str, list[str]]:
        """Texts by task: two for an encoder-decoder, else the documentation to go on with."""
        texts = [each.text for each in documents() if each.name.endswith(".txt")]
        chosen = [text[:CHARACTERS] for text in texts if len(text) > CHARACTERS]
        chosen = chosen[: self.machine.effort.prompts]
        if isinstance(self.pair.target, EncoderDecoder):
            return {task: [prefix + text for text in chosen] for task, prefix in TASKS.items()}
        return {"prose": chosen}

    def costs(self, text: str) -> Costs:
        """c and v from bare passes; an encoder-decoder reads `text` as its source."""
        self.pair.prompt(text)
        rounds = self.machine.effort.passes
        return costs_of(self.pair.target, self.pair.draft, rounds=rounds)[0]

    def alpha(self, texts: Sequence[str], warp: Warp) -> Rate:
        """Accepted over judged draft tokens, over blocks of PROBE_K."""
        found = []
        for text in texts:
            decode = speculative(
                self.pair.target, ModelDrafter(self.pair.draft), PROBE_K, warp,
                self.machine.effort.tokens, self.loop.verifier,
            )  # fmt: skip
            run = decode(self.pair.prompt(text))
            counts = [(block.accepted, len(block.drafted)) for block in run.blocks[0]]
            found.append(acceptance_from_counts(counts))
        return rate(*zip(*found, strict=True))

    def outcome(self, texts: Sequence[str], k: int, warp: Warp) -> Outcome:
        """The loop over plain decoding and over Hugging Face's two, interleaved."""
        pair, tokens = self.pair, self.machine.effort.tokens
        ours = contestants(pair.target, pair.target, pair.draft, self.loop, k, warp, tokens)
        target, draft = self.hugging
        named = {name_of(self.machine.dtype): target}
        found = hugging_sides(named, draft, {f"K = {k}": k}, warp, tokens)
        # An encoder reads a text first, and `generate` counts that, too.
        ours = {name: _after(pair.prompt, decode) for name, decode in ours.items()}
        theirs = {
            side: Side(settings, _after(pair.tokenizer.encode, decode))
            for side, ((settings, decode),) in zip(SIDES, map(dict.items, found), strict=True)
        }
        return outcome_of(ours, theirs, texts, self.machine.effort.rounds)

    @cached_property
    def hugging(self) -> tuple[hugging.Counted, hugging.Counted]:
        """Target and draft in transformers: once, since each adds a hook to its model."""
        return counted(self.pair.target), counted(self.pair.draft)


def counted(model: Llama | HuggingFace) -> hugging.Counted:
    """A model of a pair in transformers, on the same tensors."""
    return (
        hugging.Counted.of_llama(model)
        if isinstance(model, Llama)
        else hugging.Counted(model.model)
    )


def _after(prompt: Callable[[str], list[int]], decode: Decoder) -> Callable[[str], Generation]:
    """`decode` after a text, which `prompt` makes token ids of."""
    return lambda text: decode(prompt(text))


def contests(
    machine: Machine, loop: Loop, part: Part, say: Callable[[str], None] = print
) -> Iterator[tuple[str, str, PublishedContest]]:
    """Target, draft and contest of every published pair that can be had; what cannot is said."""
    names = [(n, draft) for n in machine.published for draft in PUBLISHED["pairs"][n]["drafts"]]
    for name, draft in part.each(names, "published pairs"):
        try:
            pair = load_pair(name, draft, device=machine.device, dtype=machine.dtype)
        except (PairError, torch.OutOfMemoryError) as error:
            say(f"{name} with its {draft} draft is left out: {error}")
            continue
        yield name, draft, PublishedContest(machine, pair, loop)
