"""Chapter 08: why a text is not the expected one, from what was returned, drawn and read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, takewhile

from specdec_lib.lessons.ch08.models import Pass


@dataclass(frozen=True)
class Request:
    """What was asked for, and `blocks`: the tokens that each block of a right loop adds.

    `models` is the seed of target and draft, as the chapter makes them with `lesson.models(seed)`.
    """

    models: int
    prompt: list[int]
    k: int
    most: int
    temperature: float
    eos_id: int | None
    blocks: list[list[int]]

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
    def bounds(self) -> tuple[dict[str, int], dict[str, int]]:
        """How often target and draft may pass: one pass more of each may read the prompt."""
        if not self.most:
            return {"most": 0}, {"most": 0}
        return {"most": len(self.blocks) + 1}, {"in_a_block": self.k}

    def is_begun_by(self, got: list[int]) -> bool:
        """Whether `got`, with the prompt or without, is right up to the blocks of fewer than k."""
        short = [start for start, n in zip(self.starts, self.drafts, strict=True) if n < self.k]
        begun = self.text[: short[0]] if short else self.text
        prompted = got[: len(self.prompt)] == self.prompt
        texts = [got, got[len(self.prompt) :]] if prompted else [got]
        return any(text[: len(begun)] == begun for text in texts)


def cause(
    request: Request, got: Sequence[int], sizes: Sequence[int], passes: Sequence[Pass]
) -> str:
    """The first reason why `got` is not the text of `request`, in words; something is always said.

    `sizes` is how many numbers each use of the generator took, `passes` are those of both models.
    """
    got = list(got)
    return (
        _in_ends(request, got)
        or _in_bonus(request, passes)
        or _in_draws(request, got, sizes)
        or _in_length(request, got)
        or _in_reading(request, got, passes)
        or _in_verdict(request, got)
    )


def astray(request: Request, passes: Sequence[Pass]) -> str:
    """What `cause` says of the passes of a loop that raised an error.

    If all are right, what the draft's cache holds after a block without a rejection; else empty.
    """
    return _in_reading(request, request.text, passes) or _after_a_whole_block(request, passes)


def _after_a_whole_block(request: Request, passes: Sequence[Pass]) -> str:
    """What the draft's cache holds, if the last pass is the target's and nothing was rejected."""
    for number, _, read in _whole_blocks(request):
        if passes and passes[-1].name == "target" and passes[-1].held == read:
            return (
                f"The error came after block {number}, in which no draft token was rejected. There "
                "the draft's cache holds fewer than len(text) - 1 positions: it has nothing to "
                "forget."
            )
    return ""


def _whole_blocks(request: Request) -> Iterator[tuple[int, int, list[int]]]:
    """The number and n of each block without a rejection, and all tokens up to its last draft."""
    parts = zip(request.starts, request.drafts, request.blocks, strict=True)
    for number, (start, n, block) in enumerate(parts, 1):
        if len(block) == n + 1:
            yield number, n, request.prompt + request.text[: start + n]


def _in_bonus(request: Request, passes: Sequence[Pass]) -> str | None:
    """The first whole block after which a loop goes on without the bonus token."""
    for number, n, read in _whole_blocks(request):
        for one, after in pairwise(passes):
            if n and one.name == "target" and one.held == after.held == read:
                return (
                    f"Block {number} was accepted whole, so the bonus token follows it: row n of p "
                    "gives it, and it is a part of the text. Yours went on without it."
                )
    return None


def _in_ends(request: Request, got: list[int]) -> str | None:
    """The prompt in the text, or an end in the wrong place."""
    right, eos = request.text, request.eos_id
    if got == request.prompt + right:
        return "The prompt came back too. Return the new tokens only."
    ended = eos is not None and eos in right
    if ended and got == right[:-1]:
        return f"The new token {eos} is eos_id: the text ends with it, and keeps it."
    if ended and got[: len(right)] == right:
        return f"The new token {eos} is eos_id: the text ends with it, inside a block as well."
    if eos in request.prompt and got in ([], right[: len(request.blocks[0])]) and got != right:
        return "eos_id stands in the prompt. Only a new token ends the text."
    return None


def _in_length(request: Request, got: list[int]) -> str | None:
    if len(got) > request.most:
        return (
            f"{len(got)} tokens came back, and max_new_tokens is {request.most}. Near the end a "
            "block drafts n = min(k, tokens left - 1)."
        )
    if len(got) < len(request.text) and got == request.text[: len(got)]:
        return f"The text is right so far, but ends after {len(got)} of {request.most} tokens."
    return None


def _in_draws(request: Request, got: list[int], sizes: Sequence[int]) -> str | None:
    """The first block that took other numbers, as long as the texts are alike."""
    if request.temperature == 0 or not request.blocks:
        return "Random numbers were drawn for nothing." if any(sizes) else None
    uses = [size for size in sizes if size]
    apart = uses[:3] == _wanted(request.drafts[0])  # else one use may take the numbers of several
    for number, (start, n) in enumerate(_shared_blocks(request, got), 1):
        part = uses[: len(_wanted(n))] if apart else _until(uses, 2 * n + 1)
        uses = uses[len(part) :]
        same = sum(part) == 2 * n + 1 and not apart and len(part) != len(_wanted(n))
        if part != _wanted(n) and not same:
            return _drawn(request, number, start, n, part)
    return None


def _wanted(n: int) -> list[int]:
    """The numbers that the uses of a block of n take, without those that take none."""
    return [n, n, 1] if n else [1]


def _until(uses: list[int], total: int) -> list[int]:
    """The first uses, as many as take `total` numbers or more."""
    return uses[: 1 + sum(taken < total for taken in accumulate(uses))]


def _drawn(request: Request, number: int, start: int, n: int, part: list[int]) -> str:
    left = request.most - start
    return (
        f"Block {number} has {left} tokens left to write, so it drafts n = min({request.k}, {left} "
        f"- 1) = {n} and draws rng.random({n}) for the draft tokens, rng.random({n}) for r and "
        f"rng.random() for u, in this order. Yours took "
        f"{' and '.join(map(str, part)) or 'no'} numbers there."
    )


def _shared_blocks(request: Request, got: list[int]) -> Iterator[tuple[int, int]]:
    """(start, n) of the blocks that begin before the two texts part."""
    same = _shared(request.text, got)
    pairs = zip(request.starts, request.drafts, strict=True)
    return takewhile(lambda pair: pair[0] <= same, pairs)


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two texts share from the first on."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_reading(request: Request, got: list[int], passes: Sequence[Pass]) -> str | None:
    """The first pass that stands behind another text than the one written so far."""
    blocks = _shared_blocks(request, got)
    start, n = next(blocks, (0, 0))
    for number, each in enumerate(passes, 1):
        text = request.prompt + request.text[:start]
        if _shared(each.held, text) < min(len(each.held), len(text)):
            return f"Pass {number} is the {each.name}'s. {_astray(each, text)}"
        if each.name == "target" and len(each.held) >= len(text) + n:
            start, n = next(blocks, (None, 0))
        if start is None:
            return None
    return None


def _astray(each: Pass, text: list[int]) -> str:
    """What is wrong with a pass that does not stand behind `text`."""
    before = each.held[: each.start]
    if before == text[: each.start]:
        return (
            f"Its cache held the first {each.start} of {len(text)} tokens, so it had to read "
            f"{text[each.start :]} next, and it read {each.tokens}."
        )
    place = _shared(before, text)
    instead = f"the text has {text[place]}" if place < len(text) else "the text has ended"
    return (
        f"Its cache held {before[place]} at position {place}, where {instead}: what was rejected "
        "must be forgotten, and what was accepted must be read."
    )


def _in_verdict(request: Request, got: list[int]) -> str:
    """What is left if passes are right, and numbers as many as there should be."""
    place = _shared(request.text, got)
    drawn = (
        "As many numbers were drawn as there should be; their order is first those of the draft "
        "tokens, then r, then u. "
    )
    return (
        f"The texts part at new token {place}; up to there the right tokens were read. "
        f"{drawn if request.temperature else ''}p and q are softmax(logits / temperature), p the "
        "last n + 1 rows of the target's pass, and "
        "q judges what was drawn from it."
    )
