"""Published pairs end to end on a processor, tiny random models in the place of the hub's."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from decoders import random_models
from decoders.fake_hub import write_model
from transformers import PreTrainedModel

from specdec_lib.measure.experiment import published
from specdec_lib.measure.experiment.decoders import LIBRARY_DECODER
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.pairs import load_pair


def folders(root: Path, make, name: str, draft: str) -> tuple[str, str]:
    """Folders of a target and a draft, made by `make(seed, layers)`."""
    for folder, seed, layers in ((name, 1, 2), (draft, 2, 1)):
        write_model(root / folder, make(seed, layers))
    return str(root / name), str(root / draft)


@pytest.mark.parametrize(
    ("make", "name", "draft", "printed"),
    [
        (random_models.gpt2, "vicuna", "68m", {"translation": 1.13, "summary": 1.62}),
        (random_models.t5, "flan-t5-xl", "t5-small", {"EnDe": 3.4, "CNNDM": 3.1}),
        pytest.param(
            *(random_models.gpt2, "qwen", "0.6b", {"HumanEval": None, "XSum": 2.01}),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_pair_is_run_beside_hugging_face_and_the_papers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, make, name, draft, printed
):
    monkeypatch.setattr(published, "task_texts", lambda task, count: (["a b c d"] * count, True))
    names = folders(tmp_path, make, name, draft)
    pair = replace(load_pair(*names, device="cpu"), eos_id=frozenset())
    rows = published.measure_tasks(LIBRARY_DECODER, *names, pair=pair, size=(1, 8))
    assert rows.task.tolist() == list(printed) and (rows.temperature == 0).all()
    found = rows.printed.astype(object).where(rows.printed.notna(), None)
    assert found.tolist() == list(printed.values())
    assert rows["tokens per pass"].between(0.8, published.PUBLISHED_K + 1).all()
    assert (rows[["clock", "over generate", "over assisted"]] > 0).all(axis=None)
    assert set(rows.assisted) == {"K = 4, constant, no early stop"}


def test_no_papers_figure_stands_beside_texts_that_stand_in(monkeypatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "datasets", None)
    names = folders(tmp_path, random_models.gpt2, "vicuna", "68m")
    pair = load_pair(*names, device="cpu")
    rows = published.measure_tasks(LIBRARY_DECODER, *names, pair=pair, size=(1, 4))
    assert rows.printed.isna().all()


def test_a_pair_that_is_too_large_for_the_card_is_refused_before_the_question(monkeypatch):
    monkeypatch.setattr(published, "default_device", lambda: torch.device("cuda"))
    monkeypatch.setattr(published, "free_memory", lambda device: 16e9)
    monkeypatch.setattr(published, "load_pair", lambda *args, **how: args)
    with pytest.raises(PairError, match="vicuna is for cards of 24 GB"):
        published.load_published_pair("vicuna", "68m")
    with pytest.raises(PairError, match="no pair of the hub 'stdlib'; choose one of smol"):
        published.load_published_pair("stdlib", "large")
    assert published.load_published_pair("flan-t5-xl", "small") == ("flan-t5-xl", "small")


@pytest.mark.parametrize(
    "make, widths", [(random_models.gpt2, (50, 48)), (random_models.t5, (48, 64))]
)
def test_all_four_decoders_write_the_same_text(tmp_path: Path, make, widths: tuple[int, int]):
    def padded(seed: int, layers: int) -> PreTrainedModel:
        model = make(seed, layers)
        model.resize_token_embeddings(widths[seed - 1])
        return model

    pair = load_pair(*folders(tmp_path, padded, "target", "draft"), device="cpu")
    decoders = published.decoders_of(pair, LIBRARY_DECODER, {"a b c d e": 12})
    texts = {name: decode("a b c d e") for name, decode in decoders.items()}
    assert len({tuple(each.tokens[0]) for each in texts.values()}) == 1
    passes = {name: each.target_passes for name, each in texts.items()}
    assert passes["theirs"] == 12 and passes["same pass"] in (12, 13)  # ours reads a prompt apart
    assert passes["same pass with drafts"] <= 13 and passes["theirs with drafts"] <= 12
    models = pair.target.model, pair.draft.model
    assert not any(model._forward_hooks or model._forward_pre_hooks for model in models)


@pytest.mark.parametrize("make", [random_models.gpt2, random_models.t5])
def test_all_four_write_to_the_first_end_of_plain_decodings_text(tmp_path: Path, make):
    pair = load_pair(*folders(tmp_path, make, "target", "draft"), device="cpu")
    whole = published.decoders_of(pair, LIBRARY_DECODER, {"a b": 12})["same pass"]("a b").tokens[0]
    pair = replace(pair, eos_id=frozenset([whole[5], whole[7], 99]))
    lengths = published.plain_lengths(pair, ["a b"], 12)
    assert lengths == {"a b": min(map(whole.index, [whole[5], whole[7]])) + 1}
    for decode in published.decoders_of(pair, LIBRARY_DECODER, lengths).values():
        assert decode("a b").tokens[0] == whole[: lengths["a b"]]


def test_texts_of_the_hub_are_cut_and_stand_in_their_place(monkeypatch: pytest.MonkeyPatch):
    class Sets:
        @staticmethod
        def load_dataset(*where, split, revision, streaming):
            assert where == ("abisee/cnn_dailymail", "3.0.0") and split == "test" and streaming
            return iter([{"article": letter * 2000} for letter in "xyz"])

    monkeypatch.setitem(sys.modules, "datasets", Sets)
    _, summary = published.TASKS["flan-t5"]
    assert published.task_texts(summary, 2) == ([f"summarize: {c * 1500}" for c in "xy"], True)
