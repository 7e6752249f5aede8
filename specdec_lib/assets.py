"""The files that the course ships: the built-in models, their tokenizer and n-grams, held-out text.

All of them are in `ASSETS`, the same on every machine. Nothing here needs torch.
"""

import json
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

ASSETS = Path(__file__).parent / "models" / "assets"
HELD_OUT = "held_out.jsonl"
BUILT_IN_DRAFTS = ("large", "base", "small")  # the first one is the default


class HeldOutDocument(NamedTuple):
    """A held-out document; `training_lines` are the numbers of lines that training text has too."""

    name: str
    text: str
    training_lines: frozenset[int]


def held_out_documents() -> list[HeldOutDocument]:
    """The held-out text, which the built-in models never saw."""
    lines = (ASSETS / HELD_OUT).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [HeldOutDocument(row["name"], row["text"], frozenset(row["seen"])) for row in rows]


def tokenizer() -> Tokenizer:
    """The tokenizer of the built-in models."""
    return Tokenizer.from_file(str(ASSETS / "target" / "tokenizer.json"))
