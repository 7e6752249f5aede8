"""What the course has recorded: a fresh computation gives it again."""

import io
import json

import numpy as np
import pytest
from decoders.fetched import needs_smollm2

from specdec_lib.measure.race.record import recorded_race
from specdec_lib.measure.recording import __main__ as recording
from specdec_lib.measure.recording import answer, blocks, race
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.smollm2 import DRAFT_MODEL


@pytest.mark.parametrize("k", [4, 16])
def test_a_sample_of_the_recorded_blocks_is_what_the_built_in_pair_gives(k: int):
    recorded = json.loads(blocks.BLOCKS_FILE.read_text(encoding="utf-8"))
    run = next(run for run in recorded["runs"] if run["k"] == k)
    pair = load_pair(draft=blocks.RECORDED_DRAFT)
    found = blocks.recorded_run(pair, run["passage"], run["seed"], k)
    for new_block, block in zip(found["blocks"], run["blocks"], strict=True):
        drafted, *numbers, accepted, token = new_block
        assert [drafted, accepted, token] == [block[0], *block[-2:]]
        for one, other in zip(numbers, block[1:-2], strict=True):
            assert one == pytest.approx(other, rel=1e-3, abs=1e-6)


@pytest.mark.slow
@needs_smollm2
def test_the_recorded_race_is_what_the_fetched_pair_writes():
    pair, recorded = load_pair(SMOLLM2, DRAFT_MODEL), recorded_race()
    found = race.answer_race(pair, race.QUESTION, race.K)
    assert found.prompts == recorded.prompts
    for now, then in zip(found.lanes, recorded.lanes, strict=True):
        assert [each.pieces for each in now.passes] == [each.pieces for each in then.passes]


def _pieces(file, name: str) -> list:
    return np.array(json.loads(file["about"].tobytes())["pieces"])[file[name]].tolist()


@pytest.mark.slow
@needs_smollm2
def test_the_answer_is_recorded_again_from_the_fetched_weights():
    with np.load(io.BytesIO(answer.answer_npz())) as new, np.load(answer.ANSWER_FILE) as old:
        for name in ("prompt", "answer", "drafted"):
            assert _pieces(new, name) == _pieces(old, name)
        assert new["accepted"].tolist() == old["accepted"].tolist()
        for name in ("target_logits", "draft_logits"):
            np.testing.assert_allclose(new[name], old[name], rtol=0, atol=2e-2)


def test_every_recording_is_a_file_that_lessons_read_and_a_name_of_the_command(monkeypatch):
    written = {}
    monkeypatch.setattr(recording, "write_whole", lambda path, text: written.update({path: text}))
    for name, (path, *_) in recording.RECORDINGS.items():
        assert path.is_file()
        monkeypatch.setitem(recording.RECORDINGS, name, (path, lambda name=name: name))
        recording.main([name])
        assert written[path] == f"{name}\n"
