"""Chapter 08: what was asked of a loop, and facts about a text that is not the expected one.

A fact may lack the cause. But nothing is guessed: a wrong cause is worse than none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from specdec_lib.lessons.ch08.models import ModelPass
from specdec_lib.text_stream import common_prefix_length


@dataclass(frozen=True)
class TextRequest:
    """What was asked for, and `blocks`: the tokens that each block of a right loop adds.

    `models` is the seed of target and draft, which the chapter makes with
    `lesson.example_models(seed)`. `slips` are texts of wrong loops, each with its question.
    """

    models: int
    prompt: list[int]
    k: int
    most: int
    temperature: float
    blocks: list[list[int]]
    slips: Sequence[tuple[list[int], str]] = ()
    eos_id: int | None = None

    @property
    def text(self) -> list[int]:
        """The new tokens."""
        return [token for block in self.blocks for token in block]

    @property
    def starts(self) -> list[int]:
        """How many new tokens stand before each block."""
        return [0, *accumulate(map(len, self.blocks))][: len(self.blocks)]

    @property
    def drafts(self) -> list[int]:
        """How many tokens each block drafts: n = min(k, tokens left - 1)."""
        return [min(self.k, self.most - start - 1) for start in self.starts]

    @property
    def passes(self) -> int:
        """How often the target may pass: once a block, and once more to read the prompt."""
        return len(self.blocks) + 1 if self.most else 0

    def is_begun_by(self, got: list[int]) -> bool:
        """Whether `got`, with the prompt or without, is right up to the blocks of fewer than k."""
        short = [start for start, n in zip(self.starts, self.drafts, strict=True) if n < self.k]
        begun = self.text[: short[0]] if short else self.text
        prompted = got[: len(self.prompt)] == self.prompt
        texts = [got, got[len(self.prompt) :]] if prompted else [got]
        return any(text[: len(begun)] == begun for text in texts)


def diagnose(request: TextRequest, got: list[int], passes: Sequence[ModelPass]) -> str:
    """What is said of `got`, which is not the text of `request`; `passes` are both models'."""
    question = next((ask for text, ask in request.slips if text == got), "")
    known = question or _at_the_ends(request, got, passes) or _in_a_cache(request, got, passes)
    return known or _parted(request, got)


def diagnose_error(request: TextRequest, message: str, passes: Sequence[ModelPass]) -> str:
    """What is added to `message`, which reports an exception that a loop raised, if anything is."""
    if "a non-empty " in message:  # of torch.cat and torch.stack
        read = sum(model_pass.name == "target" for model_pass in passes)
        is_last = request.drafts[-1:] == [0] and read >= len(request.blocks) - 1
        return "The last block drafts n = 0 tokens: there is no q to join." if is_last else ""
    if not passes:
        return ""
    if not passes[-1].tokens:
        return _of_a_pass_without_a_token(passes)
    last = passes[-1]
    held = {model_pass.name: len(model_pass.held) for model_pass in passes}
    if "raised ValueError:" in message and held.get("target", 0) - held.get("draft", 0) == 1:
        return (
            f"The target's cache held {held['target']} positions, and the draft's {held['draft']}: "
            "the draft has not read the last token that it drafted."
        )
    if re.search("raised (Runtime|Index)Error:", message) and last.name == "target":
        return (
            f"The target's last pass began at position {last.start} and gave a row for each token "
            f"that it read, {len(last.tokens)} in all. For n draft tokens p is the "
            "last n + 1 rows, and q has n rows. Was everything rejected forgotten?"
        )
    return ""


def _of_a_pass_without_a_token(passes: Sequence[ModelPass]) -> str:
    """What is said of a last pass that was given nothing to read."""
    last, before = passes[-1], passes[-2].name if passes[1:] else ""
    if last.name == before == "draft":
        why = "The tokens that this block has drafted belong to what the draft reads."
    else:
        why = "Does it forget what was rejected, and the text's last token, which is unread?"
    return (
        f"The last pass was the {last.name}'s, and it was given no token to read: its cache holds "
        f"{len(last.held)} positions already. {why}"
    )


def _at_the_ends(request: TextRequest, got: list[int], passes: Sequence[ModelPass]) -> str:
    """The prompt in the text, or an end in the wrong place; empty if it is neither."""
    right, eos = request.text, request.eos_id
    if got == request.prompt + right:
        return "The prompt came back too. Return the new tokens only."
    before = request.prompt + right[: -len(got)]
    if got in request.blocks[1:][-1:] and before in [each.held[: len(before)] for each in passes]:
        return "These are the last block's tokens only."
    if common_prefix_length(right, got) < min(len(right), len(got)):
        return ""
    if eos in right:
        return f"The new token {eos} is eos_id: the text ends with it, inside a block as well."
    return f"{len(got)} tokens came back, and max_new_tokens is {request.most}."


def _in_a_cache(request: TextRequest, got: list[int], passes: Sequence[ModelPass]) -> str:
    """The first block in which a model read on after another text than the student's own.

    The draft reads its own draft tokens as well, so only its first pass of a block is looked at.
    """
    text, before = request.prompt + got, None
    if got[: len(request.prompt)] == request.prompt:  # the prompt came back, it seems
        return ""
    for number, model_pass in enumerate(passes, 1):
        name, held = model_pass.name, model_pass.held
        first = held if name == "draft" else held[: model_pass.start + 1]
        place = common_prefix_length(first, text)
        starts_block = name == "target" or before != "draft"
        if starts_block and place < min(len(first), len(text)):
            return (
                f"In pass {number} the {name} had {first[place]} at position {place}, where "
                f"your text has {text[place]}. Between two blocks a cache holds a prefix of the "
                "text, and the next pass reads all that it lacks."
            )
        before = name
    return ""


def _parted(request: TextRequest, got: list[int]) -> str:
    """Where the texts part, and what a right loop does in that block."""
    place = common_prefix_length(request.text, got)
    block = max(i for i, start in enumerate(request.starts) if start <= place)
    left, n = request.most - request.starts[block], request.drafts[block]
    drawn = f" and draws rng.random({n}), rng.random({n}) and rng.random()"
    return (
        f"The texts part at new token {place}. A right loop writes it in block {block + 1}: with "
        f"{left} tokens left to write, it drafts n = {n}{drawn if request.temperature else ''}."
    )
