"""Published pairs in the experiment, and encoder-decoders beside transformers."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from decoders import random_models
from decoders.built_in_machine import CPU, SMALL
from decoders.families import FAMILIES, make
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.runs import GREEDY, plain, speculative
from specdec_lib.measure.experiment import grid, published, seq2seq
from specdec_lib.measure.experiment.budget import ON_GPU, PUBLISHED, Budget
from specdec_lib.measure.experiment.loops import LIBRARY
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.measure.hugging import Counted, generate
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.pair import Pair
from specdec_lib.models.published import SourcePair, load_model


def tokenizer() -> PreTrainedTokenizerFast:
    """Words to ids below random_models.VOCAB; every unknown word is 1."""
    words = {"<pad>": 0, "<unk>": 1} | {f"w{i}": i for i in range(2, random_models.VOCAB)}
    plain = Tokenizer(models.WordLevel(words, "<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=plain)


def fake_pair(kind: str, folder: Path | None = None) -> Pair:
    """A pair as load_pair gives it, of tiny random models; our own are saved to `folder`."""
    if kind == "t5":
        sides = [
            EncoderDecoder(random_models.t5(seed, layers)) for seed, layers in ((1, 2), (2, 1))
        ]
    elif kind == "qwen":
        for side in ("target", "draft"):
            make(FAMILIES["Qwen2"]).save_pretrained(folder / side)
        sides = [load_model(folder / side, CPU, torch.float32) for side in ("target", "draft")]
    else:
        sides = [Causal(random_models.gpt2(seed, layers)) for seed, layers in ((1, 2), (2, 1))]
    return (SourcePair if kind == "t5" else Pair)(kind, *sides, tokenizer(), "a label", None)


@pytest.mark.parametrize("kind", ["gpt2", "qwen", "t5"])
def test_a_published_pair_gives_rows(machine, monkeypatch, kind: str, tmp_path: Path):
    monkeypatch.setattr(published, "CHARACTERS", 60)
    monkeypatch.setattr("specdec_lib.measure.core.costs.CONTEXT", 8)
    pair = fake_pair(kind, tmp_path)
    contest = published.PublishedContest(machine, pair, LIBRARY)
    monkeypatch.setattr(published, "contests", lambda *args: [(kind, "small", contest)])
    gpu = replace(machine, published=(kind,), budget=Budget(ON_GPU))
    rows = list(grid.run_published(gpu, LIBRARY))
    tasks = ["translation", "summarisation"] if kind == "t5" else ["prose"]
    assert [(row.task, row.temperature) for row in rows] == [(t, w) for t in tasks for w in (0, 1)]
    assert all(row.empirical["median"] > 0 and 0 <= row.alpha <= 1 for row in rows)
    assert {row.hugging for row in rows} == {"float32"}
    for side in contest.hugging:  # all that is timed runs the counting once a pass
        assert len(side.model._forward_pre_hooks) == 1


def test_plain_decoding_does_not_pay_for_the_encoder_of_the_draft():
    pair, runs = fake_pair("t5"), []
    for name, side in (("target", pair.target), ("draft", pair.draft)):
        encoder = side.model.get_encoder()
        encoder.register_forward_hook(lambda *_, name=name: runs.append(name))
    decoders = (
        plain(pair.target, GREEDY, tokens=3),
        speculative(pair.target, ModelDrafter(pair.draft), 2, GREEDY, tokens=3),
    )
    texts = [decode(pair.prompt("w3 w4 w5")).tokens for decode in decoders]
    assert texts[0] == texts[1] and runs == ["target", "target", "draft"]


@pytest.mark.parametrize("draft", [None, random_models.t5(2, 1)], ids=["plain", "assisted"])
def test_transformers_tokens_of_an_encoder_decoder_are_all_counted(draft):
    model, source = random_models.t5(1, 2), [3, 4, 5, 6, 7]
    ours = plain(EncoderDecoder(model, source), GREEDY, tokens=12)([0]).tokens
    helper = Counted(draft) if draft else None
    assert generate(Counted(model), source, 12, draft=helper, k=2 if draft else None).tokens == ours


@pytest.mark.parametrize(
    "error",
    [
        PairError("smollm2 is not on this machine and cannot be fetched (ConnectionError: reset)"),
        torch.OutOfMemoryError("CUDA out of memory"),
    ],
    ids=["the hub goes in a download", "too little memory"],
)
def test_a_pair_that_cannot_be_had_is_said_and_the_next_taken(machine, monkeypatch, error):
    def load(name: str, draft: str, **place) -> Pair:
        if draft == "135m":
            raise error
        return fake_pair("gpt2")

    monkeypatch.setattr(published, "load_pair", load)
    wanted = Machine(CPU, torch.float32, {}, {}, ("smollm2",), SMALL, 1e9)
    said: list[str] = []
    with Budget(ON_GPU).part(PUBLISHED) as part:
        contests = list(published.contests(wanted, LIBRARY, part, said.append))
    assert [draft for _, draft, _ in contests] == ["360m"]
    assert said == [f"smollm2 with its 135m draft is left out: {error}"]


def test_hugging_face_models_that_are_loaded_are_counted_too():
    counted = Counted(random_models.t5())
    counted.model.generate(torch.tensor([[3, 4]]), max_new_tokens=3, do_sample=False)
    assert counted.passes == 3


def test_random_t5_is_the_same_in_transformers():
    assert "4 of 4 greedy texts" in seq2seq.compare_random_t5(LIBRARY)
    wrong = LIBRARY._replace(generate=lambda *args: [1] * seq2seq.TOKENS)
    assert "0 of 4 greedy texts" in seq2seq.compare_random_t5(wrong)
