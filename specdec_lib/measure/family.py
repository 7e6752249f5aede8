"""Every drafter on the built-in target, as a table: `python -m specdec_lib.measure.family`.

Each runs with the K that was fastest on a trial, by turns with plain decoding on the same held-out
prompts, at temperature 1. A drafter that loses is in the table too.
"""

import argparse
import inspect
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import NamedTuple

import torch
from tqdm import tqdm

from specdec_lib.decoding.block_verification import verify_whole_block
from specdec_lib.decoding.progress import Block, Generation, Settings
from specdec_lib.decoding.speculative import speculative_generate
from specdec_lib.decoding.tree import tree_generate
from specdec_lib.decoding.verify import Verifier, verify
from specdec_lib.drafters.early_exit import EarlyExit
from specdec_lib.drafters.jacobi import Jacobi
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.drafters.tree import Candidates, TreeDrafter
from specdec_lib.measure.held_out import prompts
from specdec_lib.measure.runs import SAMPLED, Decoder, choices, compare, plain
from specdec_lib.measure.timing import Spread, interleaved
from specdec_lib.measure.workbench import draft, target
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import ASSETS
from specdec_lib.theory import acceptance_from_counts

TRIED_K = (1, 2, 3, 5)
SHAPES = ((2,), (2, 1), (2, 2), (3, 1, 1))  # of trees: candidates a level


class Variant(NamedTuple):
    """A drafter with one K, or with one shape of tree."""

    setting: str
    depth: int  # draft steps a block
    decode: Decoder


class Member(NamedTuple):
    """A way to decode: the object whose file is counted, and the variants that are tried."""

    made_of: object
    variants: list[Variant]
    tree: bool = False


class Row(NamedTuple):
    """A line of the table."""

    name: str
    setting: str
    alpha: float | None  # None for trees, where several candidates share a position
    tokens_a_block: float
    c: float  # seconds of a draft step over those of a plain token
    speed: Spread
    lines: int


def chain(model: Llama, drafter: Drafter, tokens: int, verifier: Verifier = verify) -> Member:
    """Speculative decoding with every K that is tried."""
    settings, seeds = Settings(tokens, SAMPLED), count()

    def run(prompt: list[int], k: int) -> Generation:
        made = choices(SAMPLED, next(seeds))
        return speculative_generate(model, drafter, [prompt], k, settings, made, verifier)

    made_of = drafter if verifier is verify else verifier
    return Member(made_of, [Variant(f"K = {k}", k, partial(run, k=k)) for k in TRIED_K])


def tree(model: Llama, make: Callable[[Sequence[int]], TreeDrafter], tokens: int) -> Member:
    """Speculative decoding with every shape of tree that is tried."""
    settings, seeds = Settings(tokens, SAMPLED), count()

    def run(prompt: list[int], drafter: TreeDrafter, depth: int) -> Generation:
        return tree_generate(model, drafter, prompt, depth, settings, choices(SAMPLED, next(seeds)))

    variants = []
    for widths in SHAPES:
        decode = partial(run, drafter=make(widths), depth=len(widths))
        variants.append(Variant("x".join(map(str, widths)), len(widths), decode))
    return Member(make(SHAPES[0]), variants, tree=True)


def family(model: Llama, tokens: int) -> dict[str, Member]:
    """All of them."""
    counts, small = Counts.load(ASSETS / "ngrams.npz"), draft("small")
    of_model = partial(chain, model, tokens=tokens)
    members = {
        f"{name} draft model": of_model(ModelDrafter(draft(name)))
        for name in ("small", "base", "large")
    }
    members["large draft, block verification"] = of_model(
        ModelDrafter(draft("large")), verifier=verify_whole_block
    )
    for order, name in enumerate(("unigram", "bigram", "trigram"), start=1):
        members[name] = of_model(NgramDrafter(counts, order))
    members["prompt lookup"] = of_model(PromptLookup(model.vocab_size))
    for layers in range(1, model.shape.layers):
        members[f"early exit after {layers}"] = of_model(EarlyExit(model, layers))
    members["Jacobi"] = of_model(Jacobi(model))
    members["Jacobi with a pool of n-grams"] = of_model(Jacobi(model, pool=True))
    for how in ("independent", "without replacement", "top"):
        members[f"tree of the small draft, {how}"] = tree(
            model, partial(Candidates, small, how=how), tokens
        )
    return members


def measured(name: str, member: Member, baseline: Decoder, texts: Sequence[list[int]]) -> Row:
    """Choose the variant on the first prompt, compare on the others."""
    trials = {variant: partial(variant.decode, texts[0]) for variant in member.variants}
    seconds = interleaved(trials, rounds=3)
    best = min(seconds, key=lambda variant: statistics.median(seconds[variant]))
    made: list[Generation] = []

    def remembered(prompt: list[int]) -> Generation:
        made.append(best.decode(prompt))
        return made[-1]

    speed = compare(baseline, remembered, texts[1:])
    blocks = [block for generation in made for block in generation.blocks[0]]
    alone = baseline(texts[0])
    c = mean_draft_seconds(blocks, best.depth) / (alone.seconds / len(alone.tokens[0]))
    tokens = sum(len(generation.tokens[0]) for generation in made) / len(blocks)
    alpha = None if member.tree else alpha_of(blocks)
    return Row(name, best.setting, alpha, tokens, c, speed, lines_of(member.made_of))


def mean_draft_seconds(blocks: Sequence[Block], depth: int) -> float:
    """Of one draft step, in blocks of `depth` steps."""
    return sum(block.draft_seconds for block in blocks) / len(blocks) / depth


def alpha_of(blocks: Sequence[Block]) -> float:
    """Accepted draft tokens over judged ones."""
    counts = [(block.accepted, len(block.drafted)) for block in blocks]
    accepted, judged = acceptance_from_counts(counts)
    return accepted / max(judged, 1)


def lines_of(thing: object) -> int:
    """The lines of the file that it is written in."""
    file = inspect.getfile(thing if inspect.isfunction(thing) else type(thing))
    with open(file, encoding="utf-8") as text:
        return sum(1 for line in text if line.strip())


def table(rows: Sequence[Row]) -> str:
    """Markdown, the fastest first."""
    lines = [
        "| drafter | setting | alpha | tokens a block | c | speed over plain | lines of code |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in sorted(rows, key=lambda row: -row.speed.median):
        alpha = "" if row.alpha is None else f"{row.alpha:.2f}"
        lines.append(
            f"| {row.name} | {row.setting} | {alpha} | {row.tokens_a_block:.2f} | {row.c:.2f} | "
            f"{row.speed} | {row.lines} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m specdec_lib.measure.family", description=__doc__
    )
    parser.add_argument("--prompts", type=int, default=8, help="prompts a drafter (8)")
    parser.add_argument("--tokens", type=int, default=64, help="new tokens a prompt (64)")
    options = parser.parse_args(arguments)
    model, texts = target(None, torch.float32), prompts(options.prompts + 1)
    baseline = plain(model, SAMPLED, options.tokens)
    members = family(model, options.tokens)
    with tqdm(members.items()) as bar:
        rows = [measured(name, member, baseline, texts) for name, member in bar]
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
