"""`specdec generate`: continue a prompt with a pair of models, and show which model wrote what."""

import argparse
from collections.abc import Callable, Iterator
from typing import TextIO

import numpy as np
import torch

from specdec_lib.cli_race import takes_colour
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Block, Generation, Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.pairs import load_pair
from specdec_lib.sampling import Warp, choices_for

UNFINISHED = "\ufffd"  # what a tokenizer shows for bytes that are no character
# How a token is marked: by shape, and on a terminal by colour too.
MARKS = {"accepted": ("", "", "32"), "corrected": ("⟦", "⟧", "31;1"), "bonus": ("⟪", "⟫", "34;1")}
LEGEND = (
    "plain: drafted and accepted   ⟦corrected⟧: the target's, after a rejected draft token   "
    "⟪bonus⟫: the target's, after a block that was accepted whole"
)


def run(options: argparse.Namespace, out: TextIO) -> None:
    """Generate and print. Raises ValueError if the options (cli.py) do not fit together."""
    warp = Warp(options.temperature, options.top_k, options.top_p)
    dtype = getattr(torch, options.dtype) if options.dtype else None
    pair = load_pair(options.pair, options.draft, options.target_cost, dtype=dtype, yes=options.yes)
    prompt = pair.prompt(options.prompt)
    stream = None if options.show else Stream(pair.tokenizer.decode, out)
    settings = Settings(options.tokens, warp, pair.eos_id, stream)
    choices = choices_for(warp, [np.random.default_rng(options.seed)])
    drafter = ModelDrafter(pair.draft)
    print(options.prompt, end="", file=out, flush=True)
    generation = speculative_generate(pair.target, drafter, [prompt], options.k, settings, choices)
    if stream:
        stream.finish()
    else:
        print(marked(generation.blocks[0], pair.tokenizer.decode, takes_colour(out)), file=out)
        print(f"\n{LEGEND}", end="", file=out)
    print(f"\n\n{pair.label}\n{summary(generation)}", file=out)


class Stream:
    """Prints tokens as they come, each character as soon as all of its bytes are there.

    `decode` gives the text of token ids, with UNFINISHED if bytes are no character (yet).
    """

    def __init__(self, decode: Callable[[list[int]], str], out: TextIO) -> None:
        self.decode, self.out = decode, out
        self.ids: list[int] = []
        self.printed = 0  # characters

    def __call__(self, row: int, tokens: list[int]) -> None:
        """Print what `tokens` complete."""
        self.ids.extend(tokens)
        self._print(self.decode(self.ids).rstrip(UNFINISHED))

    def finish(self) -> None:
        """Print the end of a text that was cut within a character: nothing completes it now."""
        self._print(self.decode(self.ids))

    def _print(self, text: str) -> None:
        print(text[self.printed :], end="", file=self.out, flush=True)
        self.printed = len(text)


def marked(blocks: list[Block], decode: Callable[[list[int]], str], colour: bool) -> str:
    """The text of `blocks` with every token marked as accepted, corrected or bonus."""
    pieces = []
    for kind, tokens in runs(blocks):
        before, after, code = MARKS[kind]
        text = decode(tokens)
        if before:
            text = before + text.replace("\n", "⏎\n") + after
        pieces.append(f"\033[{code}m{text}\033[0m" if colour else text)
    return "".join(pieces)


def runs(blocks: list[Block]) -> Iterator[tuple[str, list[int]]]:
    """The kept tokens of every block: the accepted ones together, and the one after them."""
    for block in blocks:
        if block.path:
            yield "accepted", block.path
        if block.kept > block.accepted:
            yield ("bonus" if block.bonus else "corrected"), [block.token]


def summary(generation: Generation) -> str:
    """Tokens, time and forwards in two lines."""
    blocks, count = generation.blocks[0], len(generation.tokens[0])
    if not count:
        return "no new tokens"
    drafted = sum(len(block.drafted) for block in blocks)
    accepted = sum(block.accepted for block in blocks)
    share = f"; {accepted / drafted:.0%} of the {drafted} drafted were accepted" if drafted else ""
    passes = generation.target_passes
    return (
        f"{count} tokens in {generation.seconds:.2f} s, {count / generation.seconds:.0f} a second\n"
        f"{passes} forwards of the target, {count / passes:.2f} tokens each{share}"
    )
