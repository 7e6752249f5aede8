"""A draft with other tokens: its cache follows texts that are cut up anew.

That it is exact: test_exactness.py.
"""

import numpy as np
import torch
from decoders.exact_drafters import (
    TARGET,
    TO_TARGET,
    V,
    own_table,
    require_rows_as_alone,
    translate,
)
from decoders.tables import TableModel
from tokenizers import Tokenizer, models, pre_tokenizers

from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.vocabulary import OtherVocabulary
from specdec_lib.sampling import Uniforms, Warp


def test_every_row_gets_what_it_gets_alone_and_the_cache_holds_its_text():
    used: list[OtherVocabulary] = []

    def make() -> OtherVocabulary:
        used.append(OtherVocabulary(own_table(1), TO_TARGET, V, translate))
        return used[-1]

    require_rows_as_alone(TARGET, make, [[1], [1, 1, 0, 2], [2, 1]], 3, Settings(20))
    for drafter in used:
        for row, read in enumerate(drafter.read):
            assert drafter.cache.tokens[row, : len(read)].tolist() == read


def test_a_row_without_shared_mass_ends_there_and_the_others_draft_on():
    only_own = torch.tensor([0.5, 0, 0.5, 0, 0], dtype=torch.float64)
    usual = torch.tensor([0, 0.25, 0, 0.25, 0.5], dtype=torch.float64)
    # Behind its 3, the target's 0, the draft wants tokens of its own only.
    draft = TableModel(torch.stack([usual, usual, usual, only_own, usual]))
    drafter = OtherVocabulary(draft, TO_TARGET, V, translate)
    prompts = [[1, 0], [1, 2]]
    drafter.start(prompts, Warp(), 9)
    numbers = Uniforms([np.random.default_rng(row) for row in range(2)])
    numbers.begin([3, 3], [True, True])
    proposal = drafter.propose(prompts, [3, 3], numbers)
    assert proposal.limits[0] == 0 < proposal.limits[1]
    for row, limit in enumerate(proposal.limits):  # what counts is drawn from shared mass
        for index in range(limit):
            assert proposal.q[row, index, proposal.tokens[row, index]] > 0
    assert proposal.tokens.max() < V


def words(*names: str) -> Tokenizer:
    """A tokenizer that cuts a text at spaces."""
    tokenizer = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, names[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def test_tokens_that_are_spelt_alike_are_the_same():
    drafter = OtherVocabulary.between(
        own_table(2), words("?", "def", "x", "y", "("), words("y", "(", "def", "z")
    )
    assert drafter.to_target.tolist() == [-1, 2, -1, 0, 1] and drafter.vocab_size == 4
    assert drafter.translate([2, 0, 3]) == [1, 3, 0]
