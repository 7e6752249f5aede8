"""Published pairs end to end on a processor, tiny random models in the place of the hub's."""

import sys

import pytest
from decoders import random_models
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from specdec_lib.measure.experiment import published
from specdec_lib.measure.experiment.loops import LIBRARY
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.pair import Pair
from specdec_lib.models.published import SourcePair


def tokenizer() -> PreTrainedTokenizerFast:
    """Letters to ids below random_models.VOCAB; every other character is 1, and spaces are none."""
    words = {"<pad>": 0, "<unk>": 1} | {chr(ord("a") + i): i + 2 for i in range(26)}
    plain = Tokenizer(models.WordLevel(words, "<unk>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=plain)


def pair(make, wrap, kind: type[Pair]) -> Pair:
    target, draft = (wrap(make(seed, layers)) for seed, layers in ((1, 2), (2, 1)))
    return kind("a pair", target, draft, tokenizer(), "a label", None)


GPT2 = pair(random_models.gpt2, Causal, Pair)
T5 = pair(random_models.t5, EncoderDecoder, SourcePair)


@pytest.mark.parametrize(
    ("name", "draft", "given", "tasks", "printed"),
    [
        ("vicuna", "68m", GPT2, ["translation", "summary"], [1.13, 1.62]),
        ("flan-t5-xl", "small", T5, ["EnDe", "CNNDM"], [3.4, 3.1]),
        ("qwen3-4b", "0.6b", GPT2, ["HumanEval", "XSum"], [None, 2.01]),
    ],
)
def test_a_pair_is_run_beside_hugging_face_and_the_papers(
    monkeypatch: pytest.MonkeyPatch, name: str, draft: str, given: Pair, tasks: list, printed: list
):
    monkeypatch.setattr(published, "load_pair", lambda *names: given)
    monkeypatch.setitem(sys.modules, "datasets", None)  # built-in texts stand in
    rows = published.rows(LIBRARY, name, draft, prompts=2, tokens=8)
    assert rows.task.tolist() == tasks and (rows.temperature == 0).all()
    assert rows.printed.astype(object).where(rows.printed.notna(), None).tolist() == printed
    assert rows["tokens a pass"].between(0.8, published.K + 1).all()
    assert (rows[["measured", "over generate", "over assisted"]] > 0).all(axis=None)


@pytest.mark.parametrize("given", [GPT2, T5], ids=["decoder", "encoder-decoder"])
def test_all_four_decoders_write_the_same_text(given: Pair):
    decoders = published.decoders_of(given, LIBRARY, tokens=12)
    texts = {name: decode("a b c d e") for name, decode in decoders.items()}
    assert len({tuple(each.tokens[0]) for each in texts.values()}) == 1
    passes = {name: each.target_passes for name, each in texts.items()}
    assert passes["generate"] == 12 and passes["plain"] in (12, 13)  # ours reads a prompt apart
    assert passes["loop"] <= passes["plain"] and passes["assisted"] <= passes["generate"]


def test_texts_of_the_hub_are_cut_and_stand_in_their_place(monkeypatch: pytest.MonkeyPatch):
    class Sets:
        @staticmethod
        def load_dataset(*where, split, revision, streaming):
            assert where == ("abisee/cnn_dailymail", "3.0.0") and split == "test" and streaming
            return iter([{"article": letter * 2000} for letter in "xyz"])

    monkeypatch.setitem(sys.modules, "datasets", Sets)
    _, summary = published.TASKS["flan-t5"]
    assert published.texts_of(summary, 2) == [f"summarize: {c * 1500}" for c in "xy"]
