"""The class of each token by Python's own tokenizer, and how often each class is accepted."""

import io
import keyword
import re
import token as kinds
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer

from specdec_lib.assets import Document
from specdec_lib.measure.core.acceptance import WINDOW, Reader
from specdec_lib.measure.core.held_out import encoded

KEYWORD, IDENTIFIER, LITERAL = "keyword", "identifier", "literal"
OPERATOR, WHITESPACE, COMMENT = "operator", "whitespace", "comment"
CLASSES = (KEYWORD, IDENTIFIER, LITERAL, OPERATOR, WHITESPACE, COMMENT)

# From Python 3.12 an f-string is several tokens; all of it is one literal here, as it was before.
_OPENS = getattr(kinds, "FSTRING_START", None)
_CLOSES = getattr(kinds, "FSTRING_END", None)
_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


class Judged(NamedTuple):
    """The target's verdict on a draft, position by position (N,).

    `agreed` is 1 where the most probable token of both is the same, which is acceptance at
    temperature 0; `overlap` is sum min(p, q), the probability of acceptance at temperature 1.
    `classes` names the class of the token that stands there in the text.
    """

    agreed: np.ndarray
    overlap: np.ndarray
    classes: list[str]


def judged(
    p: Reader, q: Reader, documents: Sequence[Document], tokenizer: Tokenizer, most: int
) -> Judged:
    """The first `most` novel positions of Python sources, each with its class."""
    agreed, overlap, classes = [], [], []
    for document in documents:
        tokens, labels = encoded(document, tokenizer), token_classes(document.text, tokenizer)
        for start in range(0, len(tokens.ids) - 1, WINDOW):
            ids = tokens.ids[start : start + WINDOW]
            after = range(start + 1, min(start + WINDOW, len(tokens.ids) - 1) + 1)
            novel = [i for i in after if tokens.novel[i]][: most - len(classes)]
            if not novel:
                continue
            rows = torch.tensor(novel) - start - 1
            target, draft = p(ids)[rows], q(ids)[rows]
            agreed += (target.argmax(-1) == draft.argmax(-1)).int().tolist()
            overlap += torch.minimum(target, draft).sum(-1).tolist()
            classes += [labels[i] for i in novel]
    return Judged(np.array(agreed), np.array(overlap), classes)


def token_classes(source: str, tokenizer: Tokenizer) -> list[str]:
    """The class of each token of `held_out.encoded`; the end-of-text token before it has "".

    Of a token's characters the first that is not whitespace decides.
    """
    kind_at = [WHITESPACE] * len(source)
    for start, end, kind in spans(source):
        kind_at[start:end] = [kind] * (end - start)
    pieces = [kind_at[start:end] for start, end in tokenizer.encode(source).offsets]
    return ["", *(next((k for k in piece if k != WHITESPACE), WHITESPACE) for piece in pieces)]


def spans(source: str) -> Iterator[tuple[int, int, str]]:
    """The first character, the end and the class of the tokens of a Python source, without layout.

    Comments and docstrings are one class: text for people. Raises tokenize.TokenError if the text
    is no Python.
    """
    starts = np.cumsum([0, *(len(line) + 1 for line in source.split("\n"))]).tolist()
    opened, begun, first = 0, 0, True  # open f-strings; where it begins; a statement begins here
    for each in tokenize.generate_tokens(io.StringIO(source).readline):
        if not opened:
            begun = starts[each.start[0] - 1] + each.start[1]
        opened += (each.type == _OPENS) - (each.type == _CLOSES)
        if opened:
            continue
        if each.type in _LAYOUT:
            first = first or each.type != tokenize.NL
            continue
        kind = LITERAL if each.type == _CLOSES else _kind(each, first)
        yield begun, starts[each.end[0] - 1] + each.end[1], kind
        first = first and each.type == tokenize.COMMENT


def _kind(each: tokenize.TokenInfo, first: bool) -> str:
    """The class of a token; a string that begins a statement is a docstring, an f-string never."""
    if each.type == tokenize.STRING:
        prefix = re.match(r"\w*", each.string)[0].lower()
        return COMMENT if first and "f" not in prefix else LITERAL
    if each.type == tokenize.NAME:
        return KEYWORD if keyword.iskeyword(each.string) else IDENTIFIER
    return {tokenize.COMMENT: COMMENT, tokenize.NUMBER: LITERAL}.get(each.type, OPERATOR)
