"""Published pairs end to end on a processor, tiny random models in the place of the hub's."""

import sys
from pathlib import Path

import pytest
from decoders import random_models
from decoders.fake_hub import write_model

from specdec_lib.measure.experiment import published
from specdec_lib.measure.experiment.loops import LIBRARY
from specdec_lib.models.pairs import load_pair


def folders(root: Path, make, name: str, draft: str) -> tuple[str, str]:
    """Folders of a target and a draft, made by `make(seed, layers)`."""
    for folder, seed, layers in ((name, 1, 2), (draft, 2, 1)):
        write_model(root / folder, make(seed, layers))
    return str(root / name), str(root / draft)


@pytest.mark.parametrize(
    ("make", "name", "draft", "tasks", "printed"),
    [
        (random_models.gpt2, "vicuna", "68m", ["translation", "summary"], [1.13, 1.62]),
        (random_models.t5, "flan-t5-xl", "t5-small", ["EnDe", "CNNDM"], [3.4, 3.1]),
        (random_models.gpt2, "qwen", "0.6b", ["HumanEval", "XSum"], [None, 2.01]),
    ],
)
def test_a_pair_is_run_beside_hugging_face_and_the_papers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, make, name, draft, tasks, printed
):
    monkeypatch.setitem(sys.modules, "datasets", None)  # built-in texts stand in
    pair = folders(tmp_path, make, name, draft)
    rows = published.rows(LIBRARY, *pair, prompts=2, tokens=8)
    assert rows.task.tolist() == tasks and (rows.temperature == 0).all()
    assert rows.printed.astype(object).where(rows.printed.notna(), None).tolist() == printed
    assert rows["tokens a pass"].between(0.8, published.K + 1).all()
    assert (rows[["measured", "over generate", "over assisted"]] > 0).all(axis=None)


@pytest.mark.parametrize("make", [random_models.gpt2, random_models.t5])
def test_all_four_decoders_write_the_same_text(tmp_path: Path, make):
    pair = load_pair(*folders(tmp_path, make, "target", "draft"), device="cpu")
    decoders = published.decoders_of(pair, LIBRARY, tokens=12)
    texts = {name: decode("a b c d e") for name, decode in decoders.items()}
    assert len({tuple(each.tokens[0]) for each in texts.values()}) == 1
    passes = {name: each.target_passes for name, each in texts.items()}
    assert passes["generate"] == 12 and passes["plain"] in (12, 13)  # ours reads a prompt apart
    assert passes["loop"] <= passes["plain"] and passes["assisted"] <= passes["generate"]
