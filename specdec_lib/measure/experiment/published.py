"""Published pairs in the experiment of chapter 08, on a GPU with the hub in reach.

What cannot be had (the hub gone in the middle of a download, too little memory, tokenizers that
differ) is said, and the next pair is taken.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import torch

from specdec_lib.assets import documents
from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure import hugging
from specdec_lib.measure.core.costs import costs_of
from specdec_lib.measure.core.runs import choices
from specdec_lib.measure.core.timing import ratios
from specdec_lib.measure.experiment.contest import CHEN_K, Outcome, by_turns
from specdec_lib.measure.experiment.ours import Ours
from specdec_lib.measure.experiment.survey import Machine, Say
from specdec_lib.models.catalogue import PUBLISHED, PairError
from specdec_lib.models.hf import EncoderDecoder
from specdec_lib.models.pairs import Pair, load_pair
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
    ours: Ours

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

    def alpha(self, texts: Sequence[str], warp: Warp) -> float:
        """Accepted over judged draft tokens, over blocks of PROBE_K."""
        counts = []
        for text in texts:
            settings = Settings(self.machine.effort.tokens, warp)
            run = speculative_generate(
                self.pair.target,
                ModelDrafter(self.pair.draft),
                [self.pair.prompt(text)],
                PROBE_K,
                settings,
                choices(warp, 0),
                self.ours.verifier,
            )
            counts += [(block.accepted, len(block.drafted)) for block in run.blocks[0]]
        accepted, judged = acceptance_from_counts(counts)
        return accepted / judged

    def outcome(self, texts: Sequence[str], k: int, warp: Warp) -> Outcome:
        """Ours over plain decoding and over Hugging Face's two, by turns."""
        target, draft, tokens = self.pair.target, self.pair.draft, self.machine.effort.tokens
        large, small = self.hugging_sides
        theirs = partial(hugging.generate, large, new_tokens=tokens, sample=warp.temperature > 0)
        decoders = {
            "plain": self._from_text(
                lambda prompt: plain_generate(
                    target, [prompt], Settings(tokens, warp), choices(warp, 0)
                )
            ),
            "ours": self._from_text(self.ours.decoder(target, draft, k, warp, tokens)),
            "ours at 4": self._from_text(self.ours.decoder(target, draft, CHEN_K, warp, tokens)),
            "hugging": lambda text: theirs(self.pair.tokenizer.encode(text)),
            "assisted": lambda text: theirs(self.pair.tokenizer.encode(text), draft=small, k=k),
        }
        seconds = by_turns(decoders, texts, self.machine.effort.rounds)
        over = {name: ratios(taken, seconds["ours"]) for name, taken in seconds.items()}
        at_4 = ratios(seconds["plain"], seconds["ours at 4"])
        return Outcome(over["plain"], at_4, over["hugging"], over["assisted"])

    @cached_property
    def hugging_sides(self) -> tuple[hugging.Counted, hugging.Counted]:
        """Target and draft in transformers: once, since each adds a hook to its model."""
        return hugging.Counted(self.pair.target.model), hugging.Counted(self.pair.draft.model)

    def _from_text(self, decode: Callable[[list[int]], Generation]) -> Callable[[str], Generation]:
        """`decode` behind a text, which an encoder reads first: `generate` counts that, too."""
        return lambda text: decode(self.pair.prompt(text))


def contests(
    machine: Machine, ours: Ours, say: Say = print
) -> Iterator[tuple[str, str, PublishedContest]]:
    """Target, draft and contest of every published pair that can be had; what cannot is said."""
    for name in machine.published:
        for draft in PUBLISHED["pairs"][name]["drafts"]:
            try:
                pair = load_pair(name, draft, device=machine.device, dtype=machine.dtype)
            except (PairError, torch.OutOfMemoryError) as error:
                say(f"{name} with its {draft} draft is left out: {error}")
                continue
            yield name, draft, PublishedContest(machine, pair, ours)
