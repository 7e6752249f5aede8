"""A chat model's answer, as recorded logits: a right decoder writes it, without the models.

The file (measure/recording/answer.py) has logits for the texts that the right decoder hands to its
models. A decoder that asks for another one has gone wrong; the error says where. V counts the
tokens that occur in the file, which have numbers of their own.
"""

import json
import os.path
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from specdec_lib.lessons.checking.lending import CallLimitExceeded, token_list
from specdec_lib.sampling import softmax

ANSWER_FILE = Path(__file__).with_name("answer.npz")
_IMPOSSIBLE = -10_000.0  # the logit of a token outside the most probable ones: its softmax is 0
_QUOTED = 40  # characters of a text that a message quotes


class LeftThePath(CallLimitExceeded):
    """A decoder asked for a text that the right one never reads; the message says where it left."""


class Place(NamedTuple):
    """A token of the answer, and what both models say where it stands."""

    piece: str
    accepted: float  # sum min(p, q), the probability that a draft token is accepted there
    p: float  # of the token itself
    q: float


class RecordedAnswer:
    """One recording. `figures.real_text` takes `models`, then `settings` by their names."""

    def __init__(self, path: Path = ANSWER_FILE) -> None:
        with np.load(path) as file:
            self._arrays = dict(file)
        self.about: dict[str, Any] = json.loads(self._arrays["about"].tobytes())
        names = ("prompt", "answer", "drafted", "accepted")
        self.prompt, self.answer, drafted, accepted = (self._arrays[x].tolist() for x in names)
        self.tokens_per_pass, k = len(self.answer) / len(drafted), self.about["k"]
        whole = [*self.prompt, *self.answer]
        self._kinds = ["prompt token"] * len(self.prompt)  # of each token of the text
        self._blocks = []  # of each: how much was written, and that with the draft tokens
        for block, n in zip(drafted, accepted, strict=True):
            n_written = len(self._kinds)
            self._blocks.append((n_written, whole[:n_written] + block))
            self._kinds += ["draft token"] * n + ["bonus token" if n == k else "correction"]
        self._places = {  # of every text that there are logits for: the block, and the row in it
            tuple(text[: n_written + i]): (block, i)
            for block, (n_written, text) in enumerate(self._blocks)
            for i in range(k + 1)
        }
        self._blocks.append((len(whole), whole))
        self._n_blocks = 0  # calls of the target so far
        self.models = self.target_logits, self.draft_logits, self.prompt, self.read, self.answer[-1]
        self.settings = {name: self.about[name] for name in ("k", "temperature", "seed", "count")}

    def target_logits(self, tokens: Sequence[int]) -> np.ndarray:
        """The target's logits (len(tokens), V). LeftThePath where the right decoder never asks."""
        rows = self._rows("target", tokens)
        self._n_blocks += 1
        return rows

    def draft_logits(self, tokens: Sequence[int]) -> np.ndarray:
        """The draft's logits (len(tokens), V). LeftThePath where the right decoder never asks."""
        if len(tokens) == len(self.prompt):
            self._n_blocks = 0  # only the first block begins with the bare prompt
        return self._rows("draft", tokens)

    def read(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return "".join(self.about["pieces"][token] for token in tokens)

    def logits(self) -> np.ndarray:
        """The logits (tokens, 2, V) of target and draft before each token of the answer."""
        texts = ([*self.prompt, *self.answer[:i]] for i in range(len(self.answer)))
        return np.array([[self._rows(m, text)[-1] for m in ("target", "draft")] for text in texts])

    def places(self) -> list[Place]:
        """Each token of the answer, with the distributions of the two models before it."""
        p, q = softmax(self.logits() / self.about["temperature"]).swapaxes(0, 1)
        at = np.arange(len(p)), self.answer
        numbers = np.array([np.minimum(p, q).sum(axis=1), p[at], q[at]]).T.tolist()
        pieces = (self.read([token]) for token in self.answer)
        return [Place(piece, *row) for piece, row in zip(pieces, numbers, strict=True)]

    def _rows(self, model: str, tokens: Sequence[int]) -> np.ndarray:
        """The rows (len(tokens), V); those inside the prompt, which no decoder needs, are 0."""
        text = tuple(token_list(tokens))
        if text not in self._places:
            raise LeftThePath(self._departure(text))
        rows = np.zeros((len(text), len(self.about["pieces"])))
        for i in range(len(self.prompt), len(text) + 1):
            place, row = self._places[text[:i]], rows[i - 1]
            row[:] = _IMPOSSIBLE
            row[self._arrays[f"{model}_tokens"][place]] = self._arrays[f"{model}_logits"][place]
        return rows

    def _departure(self, text: Sequence[int]) -> str:
        """Where a text leaves those of the right decoder in this block, and what is right there."""
        n_written, right = self._blocks[min(self._n_blocks, len(self._blocks) - 1)]
        same = len(os.path.commonprefix([list(text), right]))
        if same == 0:
            return "your decoder handed over a text without the prompt: every call has all of it"
        after = f"after {f'...{self.read(right[:same])[-_QUOTED:]}'!r}"
        if same == len(right):
            return f"your decoder goes on {after}, where the right one does not"
        mine, wanted = (repr(self.read(tokens[same : same + 1])) for tokens in (text, right))
        kind = self._kinds[same] if same < n_written else "draft token"
        verb = "wrote" if same < n_written else "drafted"
        return f"your decoder {verb} {mine} {after}, and the right one the {kind} {wanted}"
