"""`specdec generate`: a text as it is written, and what it cost."""

import re

import numpy as np
from rich.console import Console
from rich.text import Text

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.device import leave_cores
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.pairs import Pair
from specdec_lib.sampling import Warp, choices_for

UNFINISHED = "\ufffd"  # what a tokenizer shows for bytes that are no character
ACCEPTED = "green underline"  # not by its colour alone


def write(pair: Pair, prompt: str, k: int, tokens: int, warp: Warp, seed: int) -> None:
    """Write the text as it comes, and a line of counts. ValueError if it would be too long."""
    leave_cores()  # with all of them, any other program would slow every pass
    console = Console(highlight=False)
    page = Page(pair, console, prompt)
    settings = Settings(tokens, warp, pair.eos_id, page.add)
    choices = choices_for(warp, [np.random.default_rng(seed)])
    prompts, drafter = [pair.prompt(prompt)], ModelDrafter(pair.draft)
    made = speculative_generate(pair.target, drafter, prompts, k, settings, choices)
    page.show(pair.tokenizer.decode(page.ids))  # the rest, if it was cut within a character
    console.out("\n")
    console.print(counts(made), soft_wrap=True)


class Page:
    """A text that grows. A character is written as soon as all of its bytes are there."""

    def __init__(self, pair: Pair, console: Console, prompt: str) -> None:
        self.pair, self.console, self.prompt = pair, console, prompt
        self.ids: list[int] = []
        self.shown = 0  # characters

    def add(self, row: int, tokens: list[int]) -> None:
        """Write a block: drafted tokens, and one of the target's own. An end of text is not shown.

        The prompt comes with the first block, when all checks have passed.
        """
        if not self.ids:
            self.console.out(self.prompt, end="")
        *drafted, own = tokens
        for ids, style in ((drafted, ACCEPTED), ([own], None)):
            self.ids += [each for each in ids if each != self.pair.eos_id]
            self.show(self.pair.tokenizer.decode(self.ids).rstrip(UNFINISHED), style)

    def show(self, text: str, style: str | None = None) -> None:
        """Write what `text` has beyond what is shown; indentation is not underlined."""
        for part in re.split(r"(\n *)", text[self.shown :]):
            self.console.out(part, style=None if part.isspace() else style, end="")
        self.shown = len(text)


def counts(made: Generation) -> Text:
    """Tokens, target passes and seconds in a line, which also explains the colour."""
    tokens, passes = len(made.tokens[0]), made.target_passes
    accepted = sum(block.accepted for block in made.blocks[0])
    return Text.assemble(
        f"{tokens} tokens (",
        (f"{accepted} drafted and accepted", ACCEPTED),
        f"), {passes} target passes, {tokens / passes:.2f} tokens per pass, {made.seconds:.2f} s",
    )
