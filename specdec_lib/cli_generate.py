"""`specdec generate`: a text as it is written, and what it cost."""

import re

import numpy as np
from rich.console import Console
from rich.control import strip_control_codes
from rich.segment import Segment, Segments
from rich.text import Text

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.device import use_half_the_cores
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.pair import Pair
from specdec_lib.sampling import Warp, choices_for

ACCEPTED = "green underline"  # not by its colour alone


def write(pair: Pair, prompt: str, k: int, tokens: int, warp: Warp, seed: int) -> None:
    """Write the text as it comes, and a line of counts. UsageError if it would be too long."""
    use_half_the_cores()  # with all of them, any other program would slow every pass
    console, prompt_ids = Console(highlight=False), pair.start(prompt)
    page = Page(pair, console, prompt, prompt_ids)
    settings = Settings(tokens, warp, pair.eos_id, page.add)
    choices = choices_for(warp, [np.random.default_rng(seed)])
    drafter = ModelDrafter(pair.draft)
    made = speculative_generate(pair.target, drafter, [prompt_ids], k, settings, choices)
    page.show(page.stream.rest() + "\n\n")
    console.print(counts(made), soft_wrap=True)


class Page:
    """A text that grows: the prompt as it was given, then what the models write after it."""

    def __init__(self, pair: Pair, console: Console, prompt: str, prompt_ids: list[int]) -> None:
        self.console, self.eos_id = console, pair.eos_id
        self.prompt = prompt + "\n" if pair.has_source else prompt
        self.stream = pair.stream(prompt_ids)

    def add(self, row: int, tokens: list[int]) -> None:
        """Write a block: drafted tokens, and one of the target's own. An end of text is not shown.

        The prompt comes with the first block, when all checks have passed.
        """
        self.show(self.prompt)
        self.prompt = ""
        *drafted, own = tokens
        for ids, style in ((drafted, ACCEPTED), ([own], "none")):
            pieces = [self.stream.add(each) for each in ids if each not in self.eos_id]
            self.show("".join(pieces), style)

    def show(self, text: str, style: str = "none") -> None:
        """Write `text` as it is, tabs too; on a terminal without other control characters.

        Indentation is not underlined.
        """
        text = strip_control_codes(text) if self.console.is_terminal else text
        for part in re.split(r"(\n[ \t]*)", text):
            look = self.console.get_style("none" if part.isspace() else style)
            self.console.print(Segments([Segment(part, look)]), end="", soft_wrap=True)


def counts(made: Generation) -> Text:
    """Tokens, target passes and seconds in a line, which also explains the colour."""
    tokens, passes = len(made.tokens[0]), made.target_passes
    accepted = sum(block.accepted for block in made.blocks[0])
    return Text.assemble(
        f"{tokens} tokens (",
        (f"{accepted} drafted and accepted", ACCEPTED),
        f"), {passes} target passes, {tokens / passes:.2f} tokens per pass, {made.seconds:.2f} s",
    )
