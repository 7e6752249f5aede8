"""Prompts from the frozen held-out text, which the built-in models never saw."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

from specdec_lib.assets import HeldOutDocument, held_out_documents, tokenizer
from specdec_lib.measure.compare import Decoder
from specdec_lib.progress import progress

Prompts = Sequence[Sequence[int]]

MAX_REPEATED_SHARE = 0.2  # greedy text that repeats more of its 8-grams is left out


class EncodedDocument(NamedTuple):
    """A document as tokens, the end-of-text token before it.

    `novel` says for each token whether its line is new to the models.
    """

    name: str
    ids: list[int]
    novel: list[bool]


def encode_document(document: HeldOutDocument, tokenizer: Tokenizer) -> EncodedDocument:
    """`document` in tokens; one that spans two lines counts with the line that it ends in."""
    encoding = tokenizer.encode(document.text)
    ends = [max(end - 1, 0) for _, end in encoding.offsets]
    lines = list(accumulate((letter == "\n" for letter in document.text), initial=0))
    novel = [lines[end] not in document.training_lines for end in ends]
    return EncodedDocument(document.name, [0, *encoding.ids], [False, *novel])


@cache
def encoded_documents() -> tuple[EncodedDocument, ...]:
    """All of the frozen text in tokens, encoded once."""
    shared = tokenizer()
    return tuple(encode_document(document, shared) for document in held_out_documents())


def prompts(count: int, length: int = 64, ending: str = "") -> list[list[int]]:
    """`count` prompts of `length` tokens in a fixed order, from documents with this `ending`.

    They begin at the middle of every document that is long enough, then at its first and third
    quarters, at the odd eighths, at the odd sixteenths.

    Raises ValueError if there are not so many.
    """
    texts = [document.ids for document in encoded_documents() if document.name.endswith(ending)]
    long_texts = [ids for ids in texts if len(ids) >= 4 * length]
    shares = [(odd, parts) for parts in (2, 4, 8, 16) for odd in range(1, parts, 2)]
    starts = [(ids, len(ids) * odd // parts) for odd, parts in shares for ids in long_texts]
    chosen = [ids[start : start + length] for ids, start in starts if start + length <= len(ids)]
    if len(chosen) < count:
        raise ValueError(f"the held-out text has {len(chosen)} prompts, not {count}")
    return chosen[:count]


def chat_questions() -> list[str]:
    """Questions for a chat model, which no draft has learned from."""
    path = Path(__file__).with_name("chat_prompts.json")
    return json.loads(path.read_text(encoding="utf-8"))


def repeated_share(tokens: list[int], size: int = 8) -> float:
    """The share of repeated n-grams of `size` tokens; repetitive text inflates acceptance."""
    ngrams = [tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)]
    return 1 - len(set(ngrams)) / len(ngrams) if ngrams else 0.0


def without_repetition(decoder: Decoder, prompts: Prompts, count: int) -> list[list[int]]:
    """The first `count` of `prompts` after which `decoder` writes text without repetition.

    Raises ValueError if there is none.
    """

    def repeats_little(prompt: list[int]) -> bool:
        return repeated_share(decoder(prompt).tokens[0]) <= MAX_REPEATED_SHARE

    tried = progress(prompts, "prompts tried for text that does not repeat itself")
    chosen = list(islice(filter(repeats_little, tried), count))
    if not chosen:
        raise ValueError("every prompt's text runs in circles; use more prompts or fewer tokens")
    return chosen
