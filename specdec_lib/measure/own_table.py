"""A table of results for the built-in models: readers, recorded blocks, and times by turns."""

from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from functools import cache, partial
from io import StringIO

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.measure.core.acceptance import (
    Acceptance,
    Reader,
    acceptance,
    model_reader,
    ngram_reader,
)
from specdec_lib.measure.core.held_out import Tokens
from specdec_lib.measure.core.runs import Decoder, choices
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import Pair
from specdec_lib.sampling import Warp

NGRAMS = {"bigram": 2, "unigram": 1}


def readers() -> tuple[Reader, dict[str, Reader]]:
    """The built-in target, and by name its drafts and the n-grams; the target reads a text once."""
    drafts = {name: model_reader(Llama.from_folder(ASSETS / name)) for name in BUILT_IN_DRAFTS}
    counts = Counts.load(ASSETS / "ngrams.npz")
    drafts |= {name: ngram_reader(NgramDrafter(counts, order)) for name, order in NGRAMS.items()}
    return remembered(model_reader(Llama.from_folder(ASSETS / "target"))), drafts


def remembered(reader: Reader) -> Reader:
    """`reader`, with everything that it has read kept in memory."""
    kept = cache(lambda ids: reader(list(ids)))
    return lambda ids: kept(tuple(ids))


def acceptances(
    target: Reader, drafts: Mapping[str, Reader], texts: Sequence[Tokens], most: int
) -> dict[str, Acceptance]:
    """The acceptance of every draft on the first `most` novel positions of `texts`, by name.

    Its progress bars are left out: a few seconds, and they would stay on an exported page.
    """
    with redirect_stderr(StringIO()):
        return {name: acceptance(target, draft, texts, most) for name, draft in drafts.items()}


def accepted_counts(
    pair: Pair, prompts: Sequence[Sequence[int]], k: int, tokens: int, warp: Warp
) -> list[int]:
    """How many tokens were accepted in every whole block of `k`, over all prompts.

    Blocks at the end of a text, which draft fewer, are left out.
    """
    settings, made = Settings(tokens, warp), choices(warp, 0, len(prompts))
    drafter = ModelDrafter(pair.draft)
    run = speculative_generate(pair.target, drafter, prompts, k, settings, made)
    return [b.accepted for blocks in run.blocks for b in blocks if len(b.drafted) == k]


def seconds_by_turns(
    slower: Decoder, faster: Decoder, prompts: Sequence[list[int]], rounds: int = 2
) -> tuple[list[float], list[float]]:
    """The seconds of both decoders, a pair for every prompt and round, after one round uncounted.

    In a round the two run one after the other, on the same prompt.
    """
    seconds: tuple[list[float], list[float]] = ([], [])
    for prompt in prompts:
        tasks = {0: partial(slower, prompt), 1: partial(faster, prompt)}
        for side, taken in interleaved(tasks, rounds).items():
            seconds[side].extend(taken)
    return seconds
