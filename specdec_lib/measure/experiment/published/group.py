"""A published target, loaded once, with all its drafts, and everything that can decode them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.device import name_of
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure import hugging
from specdec_lib.measure.core.costs import Measured, costs_by_draft, pass_tasks
from specdec_lib.measure.core.interval import Rate, rate
from specdec_lib.measure.core.runs import (
    Decoder,
    Recorded,
    choices,
    speculative,
)
from specdec_lib.measure.experiment.budget import Part
from specdec_lib.measure.experiment.contest import (
    SIDES,
    TURNS,
    Outcome,
    Side,
    contestants,
    hugging_sides,
    outcome_of,
)
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.hf import EncoderDecoder, HuggingFace
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.protocol import Model, prefill
from specdec_lib.models.published import load_all
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs

ENOUGH = 4000  # judged positions of a setting: about 0.01 of alpha, where texts are alike
PASSES = 10  # rounds of bare passes
SOURCE = "The house is wonderful. " * 20  # what an encoder-decoder reads before them
LONGEST = 480  # tokens of a prompt or a source
POSITIONS = 640  # of a text at most: source, prompt and what is written
WRITTEN = 96  # of them, whose distributions are compared
ROWS = 4  # texts that are written in one pass

# A text of the hub's and what the target wrote after it.
Written = tuple[str, list[int]]


@dataclass(frozen=True)
class Group:
    """The pairs of one target by draft."""

    machine: Machine
    name: str
    pairs: dict[str, Pair]
    loop: Loop

    @property
    def first(self) -> Pair:
        """The pair of the first draft."""
        return next(iter(self.pairs.values()))

    @property
    def target(self) -> Model:
        """The model that all pairs share."""
        return self.first.target

    def short(self, texts: Sequence[str]) -> list[str]:
        """The texts of at most LONGEST tokens: longer ones have no room beside what is written."""
        return [text for text in texts if len(self.first.tokenizer.encode(text)) <= LONGEST]

    def rates(self, texts: Sequence[str], warp: Warp, part: Part) -> dict[str, Rate]:
        """alpha of every draft on the target's own texts, which it writes after `texts`.

        Each position counts with sum_x min(p(x), q(x)), as in Leviathan et al. (2023), section 4.2.
        Ends after ENOUGH positions, or with the part's time.
        """
        overlaps: dict[str, list[float]] = {draft: [] for draft in self.pairs}
        counts: list[int] = []
        starts = range(0, len(texts), ROWS)
        for start in part.each(starts, "batches of texts to judge"):
            some = texts[start : start + ROWS]
            for text, ids in self.written(some, warp, seed=len(counts)):
                counts.append(len(ids))
                for draft, overlap in self.overlaps(text, ids, warp):
                    overlaps[draft].append(overlap)
            if sum(counts) >= ENOUGH:
                break
        return {draft: rate(sums, counts) for draft, sums in overlaps.items()}

    def written(self, texts: Sequence[str], warp: Warp, seed: int) -> Iterator[Written]:
        """What the target writes after each of `texts`, as one batch; nothing empty."""
        if isinstance(self.target, EncoderDecoder):
            sources = [self.first.tokenizer.encode(text) for text in texts]
            model, tokens = self.target.model, WRITTEN
            found = hugging.translations(model, sources, tokens, warp.temperature > 0, seed)
        else:
            prompts = [self.first.prompt(text) for text in texts]
            settings = Settings(WRITTEN, warp, self.first.eos_id)
            drawn = choices(warp, seed, len(prompts))
            found = plain_generate(self.target, prompts, settings, drawn).tokens
        yield from ((text, ids) for text, ids in zip(texts, found, strict=True) if ids)

    def overlaps(self, text: str, ids: list[int], warp: Warp) -> Iterator[tuple[str, float]]:
        """By draft the sum over the positions of `ids`, which were written after `text`."""
        p = None
        for draft, pair in self.pairs.items():
            prompt = pair.prompt(text)
            p = distributions(pair.target, prompt, ids, warp) if p is None else p
            q = distributions(pair.draft, prompt, ids, warp)
            yield draft, torch.minimum(p, q).sum().item()

    def costs(self) -> dict[str, Costs]:
        """c and v of every draft from bare passes, interleaved, measured once."""
        return self._measured[0]

    @cached_property
    def _measured(self) -> Measured:
        for pair in self.pairs.values():
            pair.prompt(SOURCE)
        steps = {draft: pass_tasks(pair.draft, [1])[1] for draft, pair in self.pairs.items()}
        return costs_by_draft(self.target, steps, rounds=min(PASSES, self.machine.effort.passes))

    def tokens_a_pass(self, draft: str, texts: Sequence[str], k: int, warp: Warp) -> float:
        """Tokens for every pass of the target, counted over blocks of `k`, the bonus with them."""
        pair, tokens = self.pairs[draft], self.machine.effort.tokens
        drafter, judge = ModelDrafter(pair.draft), self.loop.verifier
        kept = Recorded(speculative(pair.target, drafter, k, warp, tokens, judge))
        for text in texts:
            kept(pair.prompt(text))
        return kept.tokens_a_block

    def outcome(self, draft: str, texts: Sequence[str], k: int, warp: Warp, part: Part) -> Outcome:
        """The loop over plain decoding and over Hugging Face's two, interleaved."""
        pair, tokens = self.pairs[draft], self.machine.effort.tokens
        ours = contestants(pair.target, pair.target, pair.draft, self.loop, k, warp, tokens)
        named = {name_of(self.machine.dtype): self.hugging["target"]}
        found = hugging_sides(named, self.hugging[draft], {f"K = {k}": k}, warp, tokens)
        # An encoder reads a text first, and `generate` counts that, too.
        ours = {name: _after(pair.prompt, decode) for name, decode in ours.items()}
        theirs = {
            side: Side(settings, _after(pair.tokenizer.encode, decode))
            for side, ((settings, decode),) in zip(SIDES, map(dict.items, found), strict=True)
        }
        turns = list(texts) * self.machine.effort.rounds
        return outcome_of(ours, theirs, part.each(turns, TURNS, first=2))

    @cached_property
    def hugging(self) -> dict[str, hugging.Counted]:
        """Target and drafts in transformers: once, since each adds a hook to its model."""
        drafts = {draft: counted(pair.draft) for draft, pair in self.pairs.items()}
        return {"target": counted(self.target)} | drafts


def loaded(machine: Machine, name: str, loop: Loop) -> Group:
    """A published pair with all its drafts; its texts have at most POSITIONS positions.

    Raises PairError if it cannot be had, torch.OutOfMemoryError if it does not fit after all.
    """
    pairs = load_all(name, machine.device, machine.dtype, yes=True)
    for pair in pairs.values():
        for model in (pair.target, pair.draft):  # a cache is as long as the longest text
            model.max_length = min(filter(None, (model.max_length, POSITIONS)))
    return Group(machine, name, pairs, loop)


def distributions(model: Model, prompt: Sequence[int], ids: Sequence[int], warp: Warp) -> Tensor:
    """The distributions (T, V) of each of the T `ids`, which stand behind `prompt`."""
    text = [*prompt, *ids[:-1]]
    cache = model.new_cache(1, len(text))
    prefill(model, cache, [prompt])
    unread = torch.tensor([text[len(prompt) - 1 :]], device=model.device)
    return warp(model.forward(unread, cache)[0])


def counted(model: Llama | HuggingFace) -> hugging.Counted:
    """A model in transformers: on the same tensors, unless a CPU has packed them."""
    if not isinstance(model, Llama):
        return hugging.Counted(model.model)
    return hugging.Counted.of_llama(model)


def _after(prompt: Callable[[str], list[int]], decode: Decoder) -> Callable[[str], Generation]:
    """`decode` after a text, which `prompt` makes token ids of."""
    return lambda text: decode(prompt(text))
