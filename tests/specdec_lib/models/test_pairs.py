"""Pairs by name: which models they are, and what is refused."""

from pathlib import Path

import pytest
import torch
from decoders.fake_hub import Hub, write_gpt2, write_llama, write_t5, write_tokenizer
from transformers import (
    PreTrainedTokenizerFast,
)

from specdec_lib import device
from specdec_lib.cli import main
from specdec_lib.device import free_memory
from specdec_lib.models import pairs, published
from specdec_lib.models.catalogue import PUBLISHED, PairError
from specdec_lib.models.hf import EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import in_words, require_memory
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.published import common_columns, parameters_of

CPU = torch.device("cpu")


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tiny built-in models in a folder of their own."""
    folder = tmp_path / "assets"
    for name, width in {"target": 32, "large": 16, "base": 8, "small": 4}.items():
        write_llama(folder / name, width)
    write_tokenizer(folder / "target")
    monkeypatch.setattr(pairs, "ASSETS", folder)
    return folder


def test_the_built_in_pair_without_network(assets: Path, no_network: None):
    pair = load_pair(device="cpu")
    assert (pair.name, pair.eos_id) == ("stdlib", 0)
    assert isinstance(pair.target, Llama) and isinstance(pair.draft, Llama)
    assert (pair.target.shape.width, pair.draft.shape.width) == (32, 16)
    assert pair.target.dtype == torch.float32
    assert pair.prompt("c a b") == [3, 1, 2, 0]
    assert pair.tokenizer.decode([3, 1]) == "c a"


def test_a_draft_and_a_dtype_are_chosen(assets: Path):
    pair = load_pair(draft="small", device="cpu", dtype=torch.float64)
    assert pair.draft.shape.width == 4
    assert pair.draft.dtype == pair.target.dtype == torch.float64


def test_on_a_cpu_a_built_in_draft_runs_in_nothing_narrower_than_float32(assets: Path):
    pair = load_pair(device="cpu", dtype=torch.bfloat16)
    assert (pair.target.dtype, pair.draft.dtype) == (torch.bfloat16, torch.float32)


def test_a_scaled_target_says_what_it_is(assets: Path):
    plain, pair = load_pair(device="cpu"), load_pair(target_cost="40m", device="cpu")
    write_llama(assets / "grown", 64, layers=5, heads=4, mlp=48)
    counts = {name: parameters_of(assets / name) for name in ("target", "grown", "large")}
    before, after = (in_words(counts[name] / counts["large"]) for name in ("target", "grown"))
    assert before != after
    assert pair.label == (
        f"acceptance of {before} pair, cost of {after} pair (target to draft, by parameters): the "
        "built-in target was slowed down, so its acceptance stays what it was"
    )
    tokens = torch.tensor([[1, 2, 3]])
    logits = [each.target.forward(tokens, each.target.new_cache()) for each in (plain, pair)]
    torch.testing.assert_close(*logits, rtol=0, atol=1e-4)


def test_a_plain_pair_is_named_by_its_parameters(assets: Path):
    pair = load_pair(draft="small", device="cpu")
    words = in_words(parameters_of(assets / "target") / parameters_of(assets / "small"))
    assert pair.label == f"the built-in pair with its small draft: {words} pair by parameters"


@pytest.mark.parametrize(
    "value, words",
    [(3.9, "a 4:1"), (8.1, "an 8:1"), (11.2, "an 11:1"), (18, "an 18:1"), (110, "a 110:1")],
)
def test_ratios_in_words(value: float, words: str):
    assert in_words(value) == words


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"name": "gpt5"}, "no pair 'gpt5'; choose one of stdlib, smollm2, qwen3-4b"),
        ({"draft": "tiny"}, "no built-in draft 'tiny'; choose one of large, base, small"),
        ({"target_cost": "9t"}, "no target_cost '9t'; choose one of "),
        (
            {"name": "smollm2", "draft": "large"},
            "no draft of smollm2 called 'large'; choose one of 135m, 360m",
        ),
        ({"name": "smollm2", "target_cost": "7b"}, "target_cost is for the built-in pair"),
    ],
)
def test_unknown_names(arguments: dict[str, str], message: str, no_network: None):
    with pytest.raises(PairError, match=message):
        load_pair(**arguments, device="cpu")


def test_the_published_table_is_whole():
    repositories = PUBLISHED["repositories"]
    named = {entry.get("tokenizer") for entry in PUBLISHED["pairs"].values()} - {None}
    for entry in PUBLISHED["pairs"].values():
        named |= {entry["target"], *entry["drafts"].values()}
    assert named == set(repositories)
    for entry in repositories.values():
        revision = entry["revision"]
        assert revision is None or (len(revision) == 40 and int(revision, 16))
        assert entry["gigabytes"] > 0 or "shape" not in entry


def test_the_command_lists_pairs_and_sizes(capsys: pytest.CaptureFixture):
    assert main(["pairs"]) == 0
    said = capsys.readouterr().out.splitlines()
    line = (
        "vicuna, for 24 GB cards: lmsys/vicuna-7b-v1.3 (13.48 GB, non-commercial (Llama 1)); "
        "drafts 68m (0.27 GB, Apache-2.0)"
    )
    assert line in said and said[0].startswith("stdlib: built in")


def test_a_target_is_loaded_once_for_all_its_drafts(fake_hub: Hub, questions, monkeypatch):
    write_gpt2(fake_hub.root / "org/x", 4, columns=8)
    pairs_of_all = published.load_all("tiny", CPU, torch.float64)
    assert list(pairs_of_all) == ["s", "x"] and len(questions) == 1
    first, second = pairs_of_all.values()
    assert first.target is second.target and first.draft is not second.draft
    assert {m.vocab_size for m in (first.target, first.draft, second.draft)} == {7}
    assert "org/big with org/x" in second.label


def test_a_vocabulary_in_sentencepiece_s_file_alone_is_compared_byte_by_byte(fake_hub: Hub):
    for name in ("org/t5", "org/t5-s"):
        write_t5(fake_hub.root / name, 8)
    (fake_hub.root / "org/small/spiece.model").write_bytes(b"pieces")
    (fake_hub.root / "org/t5-s/spiece.model").write_bytes(b"other pieces")
    write_tokenizer(fake_hub.root / "org/t5")
    write_tokenizer(fake_hub.root / "org/t5-s", ["</s>", "b", "a", "c", "d", "e"])
    with pytest.raises(PairError, match="org/t5 and org/t5-s have different vocabularies"):
        load_pair("tiny-t5", device="cpu", yes=True)
    assert fake_hub.weights_fetched() == []


def test_a_published_pair_generates_at_the_command_line(fake_hub: Hub, capsys):
    command = ["generate", "c a b", "--pair", "tiny", "--tokens", "5", "--k", "2"]
    assert main(command) == 2  # nobody agreed
    assert "give --yes" in capsys.readouterr().err and fake_hub.weights_fetched() == []
    assert main([*command, "--yes"]) == 0
    told = capsys.readouterr().out
    assert "\nc a b" in told and "target passes" in told


def test_an_encoder_decoder_writes_at_the_command_line_too(fake_hub: Hub, capsys):
    write_t5(fake_hub.root / "org/t5", 12)
    write_t5(fake_hub.root / "org/t5-s", 8)
    (fake_hub.root / "org/small/spiece.model").write_bytes(b"pieces")
    asked = ["generate", "c b", "--pair", "tiny-t5", "--tokens", "4", "--yes"]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert "\nc b" in told and "target passes" in told


def test_what_transformers_loads_must_fit_the_processor_s_memory_too(fake_hub: Hub, monkeypatch):
    free = {"cpu": 1000, "meta": 10**9}
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: free[device.type])
    with pytest.raises(PairError, match="0.0 GB are free on cpu"):
        load_pair("tiny", device="meta", yes=True)
    assert fake_hub.weights_fetched() == []


def test_logits_are_cut_to_the_columns_that_both_models_have(fake_hub: Hub):
    pair = load_pair("tiny", device="cpu", dtype=torch.float64, yes=True)
    tokens = torch.tensor([[1, 2, 3]])
    for model in (pair.target, pair.draft):
        assert model.vocab_size == 7
        with torch.no_grad():
            expected = model.model(tokens).logits[..., :7]
        torch.testing.assert_close(model.forward(tokens, model.new_cache()), expected)


def test_other_tokenizers_are_refused_before_the_weights(fake_hub: Hub):
    write_gpt2(fake_hub.root / "org/x", 4, columns=9, words=["</s>", "a", "b", "d", "c", "f"])
    with pytest.raises(PairError, match="4 of 7 entries differ, such as 'c' .ids 3 and 4."):
        load_pair("tiny", "x", device="cpu", yes=True)
    assert fake_hub.weights_fetched() == []


def test_too_few_logits_for_the_tokenizer_are_refused(tmp_path: Path):
    write_tokenizer(tmp_path)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert common_columns((9, 6), tokenizer) == 6
    with pytest.raises(PairError, match="9 and 5 logits, too few for the tokenizer's token 5"):
        common_columns((9, 5), tokenizer)


def test_an_encoder_decoder_pair_reads_the_text_as_its_source(fake_hub: Hub):
    write_t5(fake_hub.root / "org/t5", 12)
    write_t5(fake_hub.root / "org/t5-s", 8)
    (fake_hub.root / "org/small/spiece.model").write_bytes(b"pieces")
    pair = load_pair("tiny-t5", device="cpu", dtype=torch.float64, yes=True)
    assert isinstance(pair.target, EncoderDecoder) and isinstance(pair.draft, EncoderDecoder)
    assert pair.prompt("c b") == [0]
    source = torch.tensor([[3, 2, 0]])
    for model in (pair.target, pair.draft):
        start = torch.tensor([pair.prompt("c b")])
        with torch.no_grad():
            expected = model.model(input_ids=source, decoder_input_ids=start).logits
        torch.testing.assert_close(model.forward(start, model.new_cache()), expected)


@pytest.mark.parametrize("cost, enough", [(None, 10**5), ("40m", 10**6)])
def test_the_built_in_pair_needs_memory_too(assets: Path, monkeypatch, cost: str, enough: int):
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: enough)
    load_pair(target_cost=cost, device="cpu")
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: enough // 10)
    with pytest.raises(PairError, match="are free on cpu"):
        load_pair(target_cost=cost, device="cpu")


@pytest.mark.parametrize("dtype, enough", [(torch.float32, 400), (torch.bfloat16, 200)])
def test_the_bytes_of_the_weights(monkeypatch, dtype: torch.dtype, enough: int):
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: enough)
    require_memory(100, dtype, CPU)
    with pytest.raises(PairError):
        require_memory(101, dtype, CPU)


def test_unknown_memory_refuses_nothing(tmp_path: Path, monkeypatch):
    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(device, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(device.os, "sysconf", unknown, raising=False)
    assert free_memory(CPU) is None
    require_memory(10**18, torch.float32, CPU)
