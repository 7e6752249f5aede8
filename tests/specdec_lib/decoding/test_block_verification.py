"""Block verification accepts no fewer tokens. That it is exact: test_exactness.py."""

import pytest
from decoders.exact_drafters import DRAFT, PROMPT, TARGET, V, require_rows_as_alone

from specdec_lib.decoding.block_verification import verify_whole_block
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.decoding.verify import Verifier, verify
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.exact import Tape, branches


def expected_accepted(verifier: Verifier, k: int) -> float:
    """The mean number of accepted tokens of the first block, every branch walked."""
    drafter, total = ModelDrafter(DRAFT), 0.0

    def run(choices: Tape):
        settings = Settings(k + 1)
        made = speculative_generate(
            TARGET, drafter, [PROMPT], k, settings, choices, verifier=verifier
        )
        return [made.blocks[0][0].accepted]

    for (accepted,), weight in branches(run):
        total += accepted * weight
    return total


def test_no_fewer_tokens_are_accepted_and_with_two_drafts_more():
    assert expected_accepted(verify_whole_block, 1) == pytest.approx(expected_accepted(verify, 1))
    assert expected_accepted(verify_whole_block, 2) > expected_accepted(verify, 2) + 1e-3


@pytest.mark.parametrize("k", [1, 3])
def test_every_row_of_a_ragged_batch_gets_what_it_gets_alone(k: int):
    prompts = [[1], [2, 0, 1, 2, 0], [0, 1]]  # what is looked up is of other lengths in each
    for make in (lambda: ModelDrafter(DRAFT), lambda: PromptLookup(V)):
        require_rows_as_alone(TARGET, make, prompts, k, Settings(9), verify_whole_block)
