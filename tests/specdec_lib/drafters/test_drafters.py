"""Where draft tokens come from: what is proposed, alone and in a batch."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from data_files import table
from decoders.decoding_cases import COUNTS, V
from decoders.exact_drafters import NO_DRAFTERS, random_eagle

from specdec_lib import drafters
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.lookup import PromptLookup, lookup
from specdec_lib.drafters.ngram import NgramDrafter
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp, random_source_for

PAGE = Path(__file__).parents[3] / "docs" / "drafters.md"


def test_the_page_describes_every_drafter():
    files = {path.name for path in Path(drafters.__file__).parent.glob("*.py")} - NO_DRAFTERS
    links = re.findall(r"^\| \[(\w+\.py)\]\(\.\./specdec_lib/drafters/\1\)", PAGE.read_text(), re.M)
    assert set(links) == files


def lookup_by_trying_all(tokens: list[int], k: int, max_ngram: int) -> list[int]:
    """The longest n-gram first, then the latest place, of all (n, place) that fit."""
    fits = [
        (n, place)
        for n in range(1, max_ngram + 1)
        for place in range(len(tokens) - n)
        if tokens[place : place + n] == tokens[-n:]
    ]
    if not fits:
        return []
    n, place = max(fits)
    return tokens[place + n :][:k]


@pytest.mark.parametrize("max_ngram", [1, 2, 3])
def test_lookup_is_right_for_every_text_of_up_to_six_tokens(max_ngram: int):
    for length in range(7):
        for text in product(range(3), repeat=length):
            tokens = list(text)
            for k in (0, 1, 3):
                assert lookup(tokens, k, max_ngram) == lookup_by_trying_all(tokens, k, max_ngram)


def test_prompt_lookup_is_certain_of_what_it_found_row_by_row():
    drafter = PromptLookup(V)
    texts = [[1, 2, 3, 1, 2], [0, 1, 2], [3, 0, 3], [1, 1, 1], [2, 2]]
    limits = [2, 2, 3, 0, 1]
    drafter.start(texts, Warp(0.5, top_k=1), 20)
    found = drafter.propose(texts, limits, None)
    assert found.limits == [2, 0, 2, 0, 1]
    assert [row[:n] for row, n in zip(found.tokens.tolist(), found.limits, strict=True)] == [
        [3, 1],
        [],
        [0, 3],
        [],
        [2],
    ]
    assert torch.equal(found.q, torch.nn.functional.one_hot(found.tokens, V).float())


@pytest.mark.parametrize("order, rows", table("sampling.toml")["ngrams"].items())
def test_the_longest_context_that_was_seen_gives_the_distribution(order: str, rows: list):
    for tokens, expected in rows:
        drafter = NgramDrafter(COUNTS, int(order))
        drafter.start([tokens], Warp(), 10)
        for _ in range(2):  # what was found is kept
            found = drafter.distribution(tokens).tolist()
            assert found == pytest.approx(expected, abs=1e-12), tokens


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_row_of_a_ragged_batch_gets_what_it_gets_alone(target: Llama, temperature: float):
    settings, prompts = Settings(12, Warp(temperature)), [[1], [2, 0, 1, 1, 2], [0, 1]]

    def made(rows: list[int]) -> list[list[int]]:
        texts, drafter = [prompts[row] for row in rows], random_eagle(target)
        random_source = random_source_for(
            settings.warp, [np.random.default_rng(row) for row in rows]
        )
        return speculative_generate(target, drafter, texts, 3, settings, random_source).tokens

    assert made([0, 1, 2]) == made([0]) + made([1]) + made([2])
