"""The frozen held-out text: what the built-in models never saw, the same on every machine."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

from specdec_lib.assets import ASSETS, HeldOutDocument, held_out_documents, tokenizer


class Tokens(NamedTuple):
    """A document as tokens, the end-of-text token before it.

    `novel` says for each token whether its line is new to the models; `sizes` is its bytes.
    """

    name: str
    ids: list[int]
    novel: list[bool]
    sizes: list[int]


def encoded(document: HeldOutDocument, tokenizer: Tokenizer) -> Tokens:
    """`document` in tokens; one that spans two lines counts with the line that it ends in."""
    encoding = tokenizer.encode(document.text)
    ends = [max(end - 1, 0) for _, end in encoding.offsets]
    lines = line_numbers(document.text)
    novel = [lines[end] not in document.seen for end in ends]
    sizes = [len(token) for token in encoding.tokens]  # a character of these is a byte
    return Tokens(document.name, [0, *encoding.ids], [False, *novel], [0, *sizes])


@cache
def all_tokens(assets: Path = ASSETS) -> tuple[Tokens, ...]:
    """All of the frozen text in tokens, encoded once."""
    shared = tokenizer(assets)
    return tuple(encoded(document, shared) for document in held_out_documents(assets))


def line_numbers(text: str) -> list[int]:
    """The number of the line that every character stands in."""
    numbers, line = [], 0
    for character in text:
        numbers.append(line)
        line += character == "\n"
    return numbers


def prompts(count: int, length: int = 64, ending: str = "") -> list[list[int]]:
    """`count` prompts of `length` tokens in a fixed order, from documents with this `ending`.

    They begin at the middle of every document that is long enough, then at its first and third
    quarters, at the odd eighths, at the odd sixteenths.

    Raises ValueError if there are not so many.
    """
    texts = [each for each in all_tokens() if each.name.endswith(ending)]
    documents = [each.ids for each in texts if len(each.ids) >= 4 * length]
    shares = [(odd, parts) for parts in (2, 4, 8, 16) for odd in range(1, parts, 2)]
    starts = [(ids, len(ids) * odd // parts) for odd, parts in shares for ids in documents]
    starts = [(ids, start) for ids, start in starts if start + length <= len(ids)]
    chosen = [ids[start : start + length] for ids, start in starts]
    if len(chosen) < count:
        raise ValueError(f"the held-out text has {len(chosen)} prompts, not {count}")
    return chosen[:count]


def repeated_share(tokens: list[int], size: int = 8) -> float:
    """The share of repeated n-grams of `size` tokens; repetitive text inflates acceptance."""
    runs = [tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0
