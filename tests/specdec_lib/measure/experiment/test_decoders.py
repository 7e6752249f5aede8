"""A student's verdict and decoder in the library's, the library's in the chapter's place."""

import pytest

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.decoding.verify import verify_rows
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure import prompts
from specdec_lib.measure.experiment import identity
from specdec_lib.measure.experiment.decoders import LIBRARY_DECODER, as_verifier
from specdec_lib.measure.library_decoders import GREEDY, SAMPLED, seeded_generators
from specdec_lib.sampling import Warp, random_source_for


@pytest.mark.parametrize("warp, rows", [(SAMPLED, 1), (GREEDY, 3), (Warp(0.7, top_k=20), 3)])
def test_a_students_verdict_in_the_librarys_decoder_is_the_librarys(machine, warp, rows):
    target, draft = machine.target, machine.drafts["small"]
    held_out = prompts.prompts(rows)
    for drafter in (ModelDrafter(draft), PromptLookup(target.vocab_size)):
        texts = []
        for verifier in (verify_rows, as_verifier(LIBRARY_DECODER.verify_block)):
            arguments = (
                4,
                Settings(13, warp),
                random_source_for(warp, seeded_generators(1, rows)),
                verifier,
            )
            texts.append(speculative_generate(target, drafter, held_out, *arguments).tokens)
        assert texts[0] == texts[1]


def test_a_loop_draws_the_same_again_and_all_its_passes_are_counted(machine):
    target, draft = machine.target, machine.drafts["small"]
    (prompt,) = prompts.prompts(1)
    runs = [LIBRARY_DECODER.decoder(target, draft, 3, SAMPLED, 8)(prompt) for _ in range(2)]
    assert runs[0].tokens == runs[1].tokens and len(runs[0].tokens[0]) == 8
    found = LIBRARY_DECODER.decoder(target, draft, 3, GREEDY, 8)(prompt)
    # The second one reads a prompt, and one token.
    plain = LIBRARY_DECODER.decoder(target, draft, 1, GREEDY, 1)(prompt)
    assert plain.target_passes == 2 and 4 <= found.target_passes <= 9


def test_another_text_is_different_and_a_near_tie_is_told_apart(machine, monkeypatch):
    prompt, right = [5, 6, 7], [1, 2, 3]

    def verdict(mine: list[int]) -> dict[str, int]:
        return identity.count_identical_texts(machine.target, [(prompt, mine, right)])

    assert verdict(right) == {"the same": 1, "near-tie": 0, "different": 0}
    assert verdict([1, 2, 4])["different"] == verdict([1, 2])["different"] == 1
    monkeypatch.setattr(identity, "near_tie", lambda target: 1e6)
    assert verdict([1, 2, 4])["near-tie"] == 1
