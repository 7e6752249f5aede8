"""A student's verdict and decoder in the library's, the library's in the chapter's place."""

import pytest

from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.runs import GREEDY, SAMPLED, choices
from specdec_lib.measure.experiment import identity, seq2seq
from specdec_lib.measure.experiment.loops import LIBRARY, as_verifier, yours
from specdec_lib.sampling import Warp


@pytest.mark.parametrize("warp", [SAMPLED, GREEDY, Warp(0.7, top_k=20)])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_students_verdict_in_the_librarys_decoder_is_the_librarys(machine, warp, rows):
    target, draft = machine.targets["built-in"], machine.drafts["small"]
    prompts = held_out.prompts(rows)
    for drafter in (ModelDrafter(draft), PromptLookup(target.vocab_size)):
        texts = [
            speculative_generate(
                target, drafter, prompts, 4, Settings(13, warp), choices(warp, 1, rows), **more
            ).tokens
            for more in ({}, {"verifier": as_verifier(LIBRARY.verify_block)})
        ]
        assert texts[0] == texts[1]


def test_the_library_keeps_the_signature_of_the_chapter(machine):
    target, draft = machine.targets["built-in"], machine.drafts["small"]
    (prompt,) = held_out.prompts(1)
    runs = [
        yours(LIBRARY.generate, LIBRARY.verify_block).decoder(target, draft, 3, SAMPLED, 8)(prompt)
        for _ in range(2)
    ]
    assert runs[0].tokens == runs[1].tokens and len(runs[0].tokens[0]) == 8


def test_greedy_texts_of_the_library_are_plain_decodings(machine):
    (row,) = identity.of_targets(LIBRARY, machine, "small", 3).to_dict("records")
    assert row == {"the same": 1, "near-tie": 0, "different": 0}


def test_another_text_is_different_and_a_near_tie_is_told_apart(machine, monkeypatch):
    def off(*args, **kwargs) -> list[int]:
        tokens = LIBRARY.generate(*args, **kwargs)
        return [*tokens[:-1], (tokens[-1] + 1) % 2048]

    wrong = yours(off, LIBRARY.verify_block)
    (row,) = identity.of_targets(wrong, machine, "small", 3).to_dict("records")
    assert row == {"the same": 0, "near-tie": 0, "different": 1}
    monkeypatch.setattr(identity, "near_tie", lambda target: 1e6)
    (row,) = identity.of_targets(wrong, machine, "small", 3).to_dict("records")
    assert row["near-tie"] == 1
    short = yours(lambda *args: LIBRARY.generate(*args)[:-1], LIBRARY.verify_block)
    (row,) = identity.of_targets(short, machine, "small", 3).to_dict("records")
    assert row["different"] == 1


def test_an_encoder_decoder_writes_the_text_of_transformers():
    assert "4 of 4 greedy texts of 24 tokens" in seq2seq.compare_random_t5(LIBRARY)
