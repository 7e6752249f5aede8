"""Every drafter in one table: how it is made, and a mistake that would bias what comes out.

test_exactness.py walks every branch of each, and compares the table with the files of drafters/:
no drafter can be added without a row.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from decoders.random_models import eagle_weights
from decoders.tables import TableModel
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lib.decoding.generate import plain_generate, speculative_generate, tree_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.drafters.eagle import Eagle
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.drafters.tree import ModelTreeDrafter
from specdec_lib.exact import Tape, distribution
from specdec_lib.models.cut_vocabulary import CutVocabulary
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Model

V, PROMPT, EXACT = 3, [1, 2, 1], 1e-12
COUNTS = Counts(
    unigram=np.array([4, 2, 1]),
    bigram=np.array([[0, 1, 3], [0, 2, 1], [1, 0, 2], [2, 2, 5]]),
    trigram=np.array([[1, 2, 1, 2], [1, 2, 0, 1], [2, 1, 1, 1]]),
)


def random_table(seed: int, dtype: torch.dtype = torch.float64, size: int = V) -> TableModel:
    """A model that looks at two tokens; some of its probabilities are 0."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.rand(size, size, size, generator=generator, dtype=dtype)
    weights[weights < 0.15] = 0
    return TableModel(weights / weights.sum(-1, keepdim=True))


def tiny_llama(folder: Path, seed: int) -> Llama:
    """A Llama of two layers over three tokens."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=V, hidden_size=8, intermediate_size=16, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=64, initializer_range=1.0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return Llama.from_folder(folder, dtype=torch.float64)


def cut_table(seed: int, d2t: Sequence[int]) -> CutVocabulary:
    """A model of the tokens `d2t` alone."""
    table = random_table(seed, size=len(d2t))
    table.shape, table.dtype = None, torch.float64
    return CutVocabulary(table, torch.tensor(d2t), V)


TARGET, DRAFT, CUT_DRAFT = random_table(1), random_table(2), cut_table(3, [0, 2])


class Llamas(NamedTuple):
    """What a drafter that needs a Llama is made from."""

    target: Llama
    draft: Llama


def autoregressive(model: TableModel, prompt: Sequence[int], count: int) -> dict:
    """Of `count` tokens after `prompt`: the product of the model's distributions."""

    def plain(tape: Tape) -> tuple[int, ...]:
        text = list(prompt)
        for _ in range(count):
            probs = model.forward(torch.tensor([text]), model.new_cache())[0, -1].exp()
            text.append(tape.choose(probs.tolist()))
        return tuple(text[len(prompt) :])

    return distribution(plain)


def plain_distribution(target: Model, prompt: Sequence[int], count: int) -> dict:
    """Of the `count` tokens of plain decoding after `prompt`."""
    settings = Settings(count)
    return distribution(lambda tape: plain_generate(target, [prompt], settings, tape).tokens[0])


class Row(NamedTuple):
    """A drafter: its file, how it is made, and what a mistake in it does to its proposals."""

    file: str
    make: Callable[..., Drafter | ModelTreeDrafter]  # from Llamas; for trees from their widths too
    mistake: Callable
    sizes: tuple  # the K that are walked, or the widths of trees
    count: int  # new tokens
    target: TableModel | None = None  # None: the Llama

    @property
    def is_tree(self) -> bool:
        """Whether it drafts trees."""
        return isinstance(self.sizes[0], tuple)

    def target_of(self, llamas: Llamas) -> Model:
        """Whose distribution it is to keep."""
        return self.target or llamas.target

    def decoder(self, llamas: Llamas, size, wrong: bool = False) -> Callable[[Tape], list[int]]:
        """A function from a random source to the new tokens."""
        drafter = self.make(llamas, size) if self.is_tree else self.make(llamas)
        if wrong:
            right = drafter.propose
            drafter.propose = lambda *args: self.mistake(right(*args))
        return lambda tape: self.written(llamas, drafter, size, Settings(self.count), tape).tokens[
            0
        ]

    def written(self, llamas: Llamas, drafter, size, settings: Settings, source) -> Generation:
        """What the drafter's decoder writes after PROMPT."""
        target = self.target_of(llamas)
        if self.is_tree:
            return tree_generate(target, drafter, PROMPT, len(size), settings, source)
        return speculative_generate(target, drafter, [PROMPT], size, settings, source)


def uniform_q(proposal):
    """Where the tokens come from is forgotten."""
    return proposal._replace(q=torch.full_like(proposal.q, 1 / V))


def neighbours_q(proposal):
    """A token is reported with the distribution of the token beside it."""
    return proposal._replace(q=proposal.q.roll(1, dims=-2))


def on_table(file: str, make: Callable[[], Drafter]) -> Row:
    """A row whose target is a table."""
    return Row(file, lambda llamas=None: make(), uniform_q, (2,), 3, TARGET)


def random_eagle(target: Llama, d2t: torch.Tensor | None = None) -> Eagle:
    """EAGLE with a random head, the same one in every call."""
    return Eagle(target, eagle_weights(target), d2t)


def on_llama(d2t: torch.Tensor | None = None) -> Row:
    """A row of EAGLE, which works with what a Llama computes."""
    return Row("eagle.py", lambda llamas: random_eagle(llamas.target, d2t), neighbours_q, (2,), 3)


def tree(file: str, make: Callable[..., ModelTreeDrafter], how: str, mistake: Callable) -> Row:
    """A row of trees whose candidates are picked in the way `how`."""
    return Row(file, partial(make, how=how), mistake, ((3,), (2, 1)), 2)


def draft_tree(llamas: Llamas, widths: Sequence[int], how: str) -> ModelTreeDrafter:
    return ModelTreeDrafter(llamas.draft, widths, how)


ROWS = {
    "model": on_table("model.py", lambda: ModelDrafter(DRAFT))._replace(sizes=(1, 2, 3), count=4),
    "model, cut vocabulary": on_table("model.py", lambda: ModelDrafter(CUT_DRAFT)),
    "unigram": on_table("ngram.py", lambda: NgramDrafter(COUNTS, 1)),
    "bigram": on_table("ngram.py", lambda: NgramDrafter(COUNTS, 2)),
    "trigram": on_table("ngram.py", lambda: NgramDrafter(COUNTS, 3)),
    "prompt lookup": on_table("lookup.py", lambda: PromptLookup(V)),
    "EAGLE": on_llama(),
    "EAGLE, cut vocabulary": on_llama(torch.tensor([0, 2])),
    "candidates, independent": tree("tree.py", draft_tree, "independent", uniform_q),
    "candidates, top": tree("tree.py", draft_tree, "top", uniform_q),
}
NO_DRAFTERS = {"__init__.py", "protocol.py", "hidden.py", "pair.py"}
