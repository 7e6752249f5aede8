"""decoder.py, the algorithm on one screen: exact, and token by token what the engine writes."""

import re
from pathlib import Path

import numpy as np
import pytest
from decoders.decoding_cases import COUNTING, DRAFT, TARGET, Counted
from decoders.exact_drafters import DRAFT as SMALL_DRAFT
from decoders.exact_drafters import EXACT, PROMPT, autoregressive
from decoders.exact_drafters import TARGET as SMALL_TARGET

from specdec_lib import decoder
from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.exact import Tape, distance, distribution
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Warp, choices_for

TEMPERATURES = pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])


def require_same(
    target: Model, draft: Model, prompt: list[int], k: int, settings: Settings, seed: int = 0
) -> None:
    """The tokens, the blocks and the numbers that were drawn are those of the engine."""
    count, warp, eos_id = settings.max_new_tokens, settings.warp, settings.eos_id
    one, other = np.random.default_rng(seed), np.random.default_rng(seed)
    found = decoder.generate(
        target, draft, prompt, k, count, warp, choices_for(warp, [one]), eos_id
    )
    expected = speculative_generate(
        target, ModelDrafter(draft), [prompt], k, settings, choices_for(warp, [other])
    )
    assert found.tokens == expected.tokens[0]
    if eos_id is None:  # the engine forgets the draft tokens that stood after the end
        assert found.accepted == [block.accepted for block in expected.blocks[0]]
    assert one.bit_generator.state == other.bit_generator.state


@TEMPERATURES
@pytest.mark.parametrize("k", [1, 5])
def test_on_the_built_in_pair_the_tokens_are_those_of_the_engine(k: int, temperature: float):
    pair = load_pair()
    prompt = pair.tokenizer.encode("def add(a, b):\n    return a")
    require_same(pair.target, pair.draft, prompt, k, Settings(40, Warp(temperature)))


def test_without_draft_tokens_it_is_plain_decoding():
    for seed in range(8):
        one, other = (choices_for(Warp(), [np.random.default_rng(seed)]) for _ in range(2))
        found = decoder.generate(TARGET, DRAFT, [1, 2], 0, 8, Warp(), one)
        assert found.tokens == plain_generate(TARGET, [[1, 2]], Settings(8), other).tokens[0]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_distribution_is_the_targets(k: int):
    def run(tape: Tape) -> list[int]:
        return decoder.generate(SMALL_TARGET, SMALL_DRAFT, PROMPT, k, 4, Warp(), tape).tokens

    assert distance(distribution(run), autoregressive(SMALL_TARGET, PROMPT, 4)) < EXACT


def test_each_pass_reads_only_what_is_new():
    target, draft = Counted(COUNTING), Counted(COUNTING)
    decoder.generate(target, draft, [1, 2, 3], 2, 7, Warp(0), choices_for(Warp(0), []))
    assert target.positions == [[0, 1, 2, 3, 4], [5, 6, 7], [8]]
    # All is accepted, so the draft has not read its own last token when the next block begins.
    assert draft.positions == [[0, 1, 2], [3], [4, 5], [6]]


ROOT = Path(__file__).resolve().parents[3]


def test_the_list_names_four_files_of_450_lines_at_most():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("meant to be read, in this order:")[1].strip().split("\n\n")[0]
    files = re.findall(r"^\| \[.*?\]\((.*?)\)", table, re.M)
    assert files[0] == "specdec_lib/decoder.py" and len(files) <= 4
    lines = [len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in files]
    assert sum(lines) <= 450
