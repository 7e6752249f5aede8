"""Models as chapter 01 sees them: functions of a list of tokens, small enough to read.

The draft looks at the last word alone, the target at the last two. So they part in places that
one can see coming.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.lending import token_list

WORDS = ("the", "cat", "sat", "on", "mat", ".", "dog", "ran")

_TABLES = read_tables(__package__, "words.toml")


def tokenize(text: str) -> list[int]:
    """The tokens of a text of known words: "the cat" is [0, 1]. Different for another word."""
    if other := [word for word in text.split() if word not in WORDS]:
        raise Different(f"No word {other[0]!r}: use {' '.join(WORDS)}, with spaces between them.")
    return [WORDS.index(word) for word in text.split()]


def text(tokens: Sequence[int]) -> str:
    """The words of `tokens`, spaces between them."""
    return " ".join(WORDS[token] for token in tokens)


def row_in_words(row: np.ndarray) -> str:
    """A distribution (V,) in words, without the impossible ones: "cat 0.50, dog 0.30"."""
    return ", ".join(f"{WORDS[i]} {row[i]:.2f}" for i in np.flatnonzero(row))


def by_words(table: Mapping[str, Mapping[str, float]]) -> Callable[[list[int]], np.ndarray]:
    """The distribution (V,) after a list of tokens: by its last two words, else by its last."""

    def row(tokens: list[int]) -> np.ndarray:
        known = table.get(text(tokens[-2:])) or table[text(tokens[-1:])]
        return np.array([known.get(word, 0.0) for word in WORDS])

    return row


@dataclass
class Calls:
    """Counts the calls of a target and its draft, and refuses more than are allowed.

    `targets` in all, `in_a_block` of the draft between two calls of the target. For each call of
    the target `blocks` keeps how many of the draft came before it, and the tokens that the target
    read. `which` is said of the target's calls: why so many are enough.
    """

    targets: int = 10**6
    in_a_block: int = 10**6
    which: str = ""
    drafted: int = field(default=0, init=False)
    waiting: int = field(default=0, init=False)  # calls of the draft since the last of the target
    blocks: list[tuple[int, list[int]]] = field(default_factory=list, init=False)

    def __deepcopy__(self, memo: dict) -> "Calls":
        return replace(self)  # a copy starts counting at 0

    def of_target(self, read: list[int]) -> None:
        """Count a call of the target that reads these tokens. ValueError: it is one too many."""
        self.blocks.append((self.waiting, read))
        self.waiting = 0
        _refuse("target", len(self.blocks), self.targets, self.which)

    def of_draft(self) -> None:
        """Count a call of the draft. ValueError: it is one too many."""
        self.drafted, self.waiting = self.drafted + 1, self.waiting + 1
        _refuse("draft", self.waiting, self.in_a_block, "for one block")


def _refuse(name: str, calls: int, allowed: int, where: str = "") -> None:
    if calls > allowed:
        message = f"the {name} was called {calls} times instead of at most {allowed} {where}"
        raise ValueError(message.strip())


class TargetModel:
    """`model(tokens)` gives (len(tokens), V): row i is the distribution after tokens[: i + 1].

    `row(tokens)` gives one of them.
    """

    name = "the target"

    def __init__(self, row: Callable[[list[int]], np.ndarray], calls: Calls | None = None) -> None:
        self.row, self.calls = row, calls or Calls()

    def __call__(self, tokens: list[int]) -> np.ndarray:
        tokens = token_list(tokens)
        self.calls.of_target(tokens)
        return np.array([self.row(tokens[: i + 1]) for i in range(len(tokens))])

    def __repr__(self) -> str:
        return f"<{self.name}>"


class DraftModel(TargetModel):
    """`model(tokens)` gives (V,): the distribution after them, which is `row(tokens)`."""

    name = "the draft"

    def __call__(self, tokens: list[int]) -> np.ndarray:
        tokens = token_list(tokens)
        self.calls.of_draft()
        return np.array(self.row(tokens))


TARGET = TargetModel(by_words(_TABLES["target"]))
DRAFT = DraftModel(by_words(_TABLES["draft"]))


def greedy_decode(target_model: Callable, prompt: list[int], max_new_tokens: int) -> list[int]:
    """Plain greedy decoding, one pass a token: the new tokens."""
    written: list[int] = []
    for _ in range(max_new_tokens):
        written.append(int(np.argmax(target_model([*prompt, *written])[-1])))
    return written
