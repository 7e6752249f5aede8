"""The text that SmolLM2's drafts learn from: the target writes it, in numbered pieces.

A piece depends on its number, and on the interpreter's library. A third of its rows answer a
question, and an eighth continue a source file of that library. In the others the user of the
dialogue has not spoken yet: the target writes the question too (as in Magpie, Xu et al., 2024).
"""

import json
import os
import random
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import trange

from specdec_lib.models.cache import HiddenStates
from specdec_lib.models.llama import Llama
from specdec_lib.models.tokenizer import FileTokenizer, chat_prompt
from specdec_lib.training import recipes
from specdec_lib.training.corpus import library_documents

_TEMPERATURES = (1.0, 1.0, 1.0, 0.7, 0.3)  # of which each row draws one


class Rows(NamedTuple):
    """Rows of text, and what the target says after each token; the arrays of a piece's file."""

    tokens: np.ndarray  # (rows, ROW_LENGTH) uint16
    top_tokens: np.ndarray  # (rows, ROW_LENGTH, TOP) uint16, the most probable first
    top_logprobs: np.ndarray  # as top_tokens, float16: natural logarithms, at temperature 1
    states: np.ndarray  # (rows, ROW_LENGTH, width), float16: what the target's head reads
    written_from: np.ndarray  # (rows,), the number of the prompt's tokens

    def take(self, rows: np.ndarray) -> "Rows":
        """The rows with these numbers, or where a mask is true."""
        return Rows(*(column[rows] for column in self))


class Prompts:
    """What the rows begin with."""

    def __init__(self, tokenizer: FileTokenizer) -> None:
        self.encode = tokenizer.encode
        self.before, self.after = chat_prompt(tokenizer, "QUESTION").split("QUESTION")
        words = json.loads(Path(__file__).with_name("smollm2.json").read_text(encoding="utf-8"))
        self.topics, self.forms = words["topics"], words["forms"]
        sources = [each for each in library_documents() if not (each.held_out or each.is_test)]
        lines = [source.text.splitlines() for source in sources]
        self.sources = [each for each in lines if len(each) > 40]

    def draw(self, rng: random.Random) -> list[int]:
        """The tokens of a prompt."""
        share = rng.random()
        if share < 0.33:
            topics = rng.choice(self.topics), rng.choice(self.topics)
            question = rng.choice(self.forms).format(*topics)
            return self.encode(self.before + question + self.after)
        if share < 0.88:
            return self.encode(self.before)
        lines = rng.choice(self.sources)
        first = rng.randrange(len(lines) - 30)
        text = "\n".join(lines[first : first + 12])
        return self.encode(text)[:48] or [0]


def write_pieces(target: Llama, tokenizer: FileTokenizer, folder: Path, count: int) -> None:
    """Write the first `count` pieces to `folder`; those that are there stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [piece_path(folder, number) for number in range(count)]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    prompts = Prompts(tokenizer) if missing else None
    for number in missing:
        piece = written_piece(target, prompts, number, f"piece {number + 1} of {count}")
        half = paths[number].with_name(f".{number}.half.npz")
        np.savez(half, **piece._asdict())
        os.replace(half, paths[number])


def piece_path(folder: Path, number: int) -> Path:
    """The file of a piece."""
    return folder / f"{number:03d}.npz"


def read_pieces(folder: Path, count: int) -> Rows:
    """The rows of the first `count` pieces."""
    pieces = [np.load(piece_path(folder, number)) for number in range(count)]
    return Rows(*(np.concatenate([piece[name] for piece in pieces]) for name in Rows._fields))


def written_piece(target: Llama, prompts: Prompts, number: int, label: str) -> Rows:
    """Piece `number`: all rows grow together, one token a pass."""
    rng, generator = random.Random(1000 + number), torch.Generator().manual_seed(number)
    starts = [prompts.draw(rng) for _ in range(recipes.PIECE_ROWS)]
    temperatures = torch.tensor([rng.choice(_TEMPERATURES) for _ in starts])[:, None]
    tokens = forced_tokens(starts)
    tops, logprobs, hidden = [], [], list[HiddenStates]()
    cache = target.new_cache(recipes.PIECE_ROWS, recipes.ROW_LENGTH)
    for i in trange(recipes.ROW_LENGTH, desc=label):
        logits = target.forward(tokens[:, i : i + 1], cache, observe=hidden.append)[:, 0]
        top = logits.topk(recipes.TOP)
        tops.append(top.indices.numpy().astype(np.uint16))
        logprobs.append((top.values - logits.logsumexp(-1, keepdim=True)).half().numpy())
        cumulative = (logits / temperatures).softmax(-1).cumsum(-1)
        u = torch.rand(len(starts), 1, generator=generator) * cumulative[:, -1:]
        following = tokens[:, i + 1 : i + 2]  # none at the end
        following.copy_(torch.where(following < 0, torch.searchsorted(cumulative, u), following))
    lengths = np.array([len(start) for start in starts])
    states = torch.cat([each.states.half() for each in hidden], 1)
    columns = tokens.numpy().astype(np.uint16), np.stack(tops, 1), np.stack(logprobs, 1)
    return Rows(*columns, states.numpy(), lengths)


def forced_tokens(starts: list[list[int]]) -> Tensor:
    """The prompts as the beginnings of rows (rows, ROW_LENGTH); -1 is still to be written."""
    tokens = torch.full((len(starts), recipes.ROW_LENGTH), -1)
    for row, start in zip(tokens, starts, strict=True):
        row[: len(start)] = torch.tensor(start[: recipes.ROW_LENGTH])
    return tokens
