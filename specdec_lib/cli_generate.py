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
from specdec_lib.drafters.pair import drafter_of
from specdec_lib.models.pair import Pair
from specdec_lib.sampling import Warp, random_source_for

ACCEPTED_STYLE = "green underline"  # not by its colour alone


def write_generation(
    pair: Pair, prompt: str, k: int, tokens: int, warp: Warp, seed: int, chat: bool
) -> None:
    """Write the text as it comes, and a line of counts. SpecdecError if it would be too long.

    With `chat`, the prompt is a question in the pair's chat template, and the text the answer.
    """
    use_half_the_cores()  # with all of them, any other program would slow every pass
    console = Console(highlight=False)
    prompt_ids = pair.start(pair.chat(prompt) if chat else prompt)
    writer = ConsoleWriter(pair, console, prompt + "\n\n" * chat, prompt_ids)
    settings = Settings(tokens, warp, pair.eos_id, writer.add)
    random_source = random_source_for(warp, [np.random.default_rng(seed)])
    generation = speculative_generate(
        pair.target, drafter_of(pair), [prompt_ids], k, settings, random_source
    )
    writer.show(writer.stream.flush() + "\n\n")
    console.print(counts_line(generation), soft_wrap=True)


class ConsoleWriter:
    """Writes the prompt as it was given, then block by block what the models write after it."""

    def __init__(self, pair: Pair, console: Console, prompt: str, prompt_ids: list[int]) -> None:
        self.console, self.eos_id = console, pair.eos_id
        self.prompt = prompt + "\n" if pair.has_source else prompt
        self.stream = pair.stream(prompt_ids)

    def add(self, row: int, tokens: list[int]) -> None:
        """Write a block: draft tokens, and one of the target's own. An end of text is not shown.

        The prompt comes with the first block, when all checks have passed.
        """
        self.show(self.prompt)
        self.prompt = ""
        *drafted, next_token = tokens
        for ids, style in ((drafted, ACCEPTED_STYLE), ([next_token], "none")):
            pieces = [self.stream.add(token) for token in ids if token not in self.eos_id]
            self.show("".join(pieces), style)

    def show(self, text: str, style: str = "none") -> None:
        """Write `text` as it is, tabs too; on a terminal without other control characters.

        Indentation is not underlined.
        """
        text = strip_control_codes(text) if self.console.is_terminal else text
        for part in re.split(r"(\n[ \t]*)", text):
            part_style = self.console.get_style("none" if part.isspace() else style)
            self.console.print(Segments([Segment(part, part_style)]), end="", soft_wrap=True)


def counts_line(generation: Generation) -> Text:
    """Tokens, target passes and seconds in a line, which also explains the colour."""
    tokens, passes = len(generation.tokens[0]), generation.target_passes
    accepted = sum(block.n_accepted for block in generation.blocks[0])
    return Text.assemble(
        f"{tokens} tokens (",
        (f"{accepted} drafted and accepted", ACCEPTED_STYLE),
        f"), {passes} target passes, {tokens / passes:.2f} tokens per pass, "
        f"{generation.seconds:.2f} s",
    )
