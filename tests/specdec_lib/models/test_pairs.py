"""Pairs by name: built-in folders, a hub of our own making, and everything that is refused."""

import json
import shutil
import socket
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from decoders.published_eagle3 import write_head
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RevisionNotFoundError
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from specdec_lib import device
from specdec_lib.cli import main
from specdec_lib.device import default_dtype, free_memory
from specdec_lib.models import hub, pairs, published
from specdec_lib.models.catalogue import PUBLISHED, PairError
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import in_words, require_memory
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.published import common_columns, parameters_of

ORGS = ("org/big", "org/small")
WORDS = ["</s>", "a", "b", "c", "d", "e"]
CPU = torch.device("cpu")


def write_tokenizer(folder: Path, words: list[str] = WORDS) -> None:
    """A tokenizer that gives each of `words` its place as id and ends every text with </s>."""
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=words[-1]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 0)]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    fast.save_pretrained(folder)


def write_llama(folder: Path, width: int, layers: int = 2, heads: int = 2, mlp: int = 24) -> None:
    """A tiny Llama without a tokenizer, its embedding the output matrix too."""
    torch.manual_seed(width)
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=width,
        intermediate_size=mlp,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=32,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def write_gpt2(folder: Path, width: int, columns: int, words: list[str] = WORDS) -> None:
    """A tiny GPT-2 with its tokenizer; `columns` is the width of the logits."""
    torch.manual_seed(width)
    sizes = {"vocab_size": columns, "n_embd": width, "n_layer": 1, "n_head": 2, "n_positions": 16}
    GPT2LMHeadModel(GPT2Config(**sizes)).save_pretrained(folder)
    write_tokenizer(folder, words)


def write_t5(folder: Path, width: int) -> None:
    """A tiny T5 without a tokenizer."""
    torch.manual_seed(width)
    sizes = {"d_model": width, "d_kv": 4, "d_ff": 8, "num_heads": 2, "num_layers": 1}
    config = T5Config(vocab_size=len(WORDS), **sizes, decoder_start_token_id=0)
    T5ForConditionalGeneration(config).save_pretrained(folder)
    (folder / "spiece.model").write_bytes(b"pieces")


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tiny built-in models in a folder of their own."""
    folder = tmp_path / "assets"
    for name, width in {"target": 32, "large": 16, "base": 8, "small": 4}.items():
        write_llama(folder / name, width)
    write_tokenizer(folder / "target")
    monkeypatch.setattr(pairs, "ASSETS", folder)
    return folder


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_, **__) -> None:
        raise AssertionError("asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@dataclass
class Hub:
    """A hub whose repositories are folders below `root`; `log` tells what was asked of it."""

    root: Path
    cache: Path
    commit: str = "a" * 40
    unit: int = 1  # what a byte of a file counts
    failing: Exception | None = None
    log: list[str] = field(default_factory=list)

    def model_info(self, repository: str, revision: str | None, files_metadata: bool):
        self.log.append(f"info {repository} {revision}")
        if self.failing:
            raise self.failing
        files = [
            SimpleNamespace(rfilename=path.name, size=path.stat().st_size * self.unit)
            for path in (self.root / repository).iterdir()
        ]
        tags = ["pytorch", "license:mit"]
        return SimpleNamespace(sha=revision or self.commit, siblings=files, tags=tags)

    def snapshot_download(self, repository: str, revision: str, allow_patterns: list[str]) -> str:
        self.log.append(f"download {repository} {revision} {' '.join(sorted(allow_patterns))}")
        folder = self.cache / f"models--{repository.replace('/', '--')}/snapshots/{revision}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in allow_patterns:
            shutil.copy(self.root / repository / name, folder)
        return str(folder)

    def weights_fetched(self) -> list[str]:
        return [line.split()[1] for line in self.log if "model.safetensors" in line]


@pytest.fixture
def fake_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> Hub:
    """Two pairs, "tiny" and "tiny-t5"; org/big and org/small are pinned, the others are not."""
    served = Hub(tmp_path / "hub", tmp_path / "cache" / "hub")
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(served.cache))
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: served)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", served.snapshot_download)
    add = monkeypatch.setitem
    add(
        PUBLISHED["pairs"],
        "tiny",
        {"target": "org/big", "drafts": {"s": "org/small", "x": "org/x"}},
    )
    add(
        PUBLISHED["pairs"],
        "tiny-t5",
        {"target": "org/t5", "drafts": {"s": "org/t5-s"}, "tokenizer": "org/small"},
    )
    headed = {"target": "org/llama", "drafts": {"s": "org/llama"}, "heads": {"eagle3": "org/head"}}
    add(PUBLISHED["pairs"], "tiny-headed", headed)
    add(PUBLISHED["repositories"], "org/llama", {"revision": None, "gigabytes": 0.1})
    add(
        PUBLISHED["repositories"],
        "org/head",
        {"revision": "3" * 40, "gigabytes": 0.1, "parameters": 2000},
    )
    commits = {"org/big": "1" * 40, "org/small": "2" * 40}
    for name in ("org/big", "org/small", "org/x", "org/t5", "org/t5-s"):
        add(PUBLISHED["repositories"], name, {"revision": commits.get(name), "gigabytes": 0.1})
    write_gpt2(served.root / "org/big", 16, columns=9)
    write_gpt2(served.root / "org/small", 8, columns=7)
    return served


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
        f"acceptance of {before} pair, cost of {after} pair: the built-in target was slowed down, "
        "so its acceptance stays what it was"
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
        named |= {entry["target"], *entry["drafts"].values(), *entry.get("heads", {}).values()}
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
    assert any("eagle3 (3.12 GB, Apache-2.0)" in line for line in said)


def test_a_published_pair_is_fetched_once_and_loaded(fake_hub: Hub, capsys):
    pair = load_pair("tiny", device="cpu", dtype=torch.float64, yes=True)
    assert isinstance(pair.target, Causal) and isinstance(pair.draft, Causal)
    assert (pair.eos_id, pair.prompt("b a")) == (0, [2, 1, 0])
    assert pair.label.startswith("org/big with org/small: a ")
    assert fake_hub.weights_fetched() == ["org/big", "org/small"]
    assert all("1" * 40 in line for line in fake_hub.log if "org/big" in line)
    fake_hub.log.clear()
    load_pair("tiny", device="cpu", yes=True)
    assert fake_hub.log == []


def test_the_sizes_are_printed_before_any_weights_come(fake_hub: Hub, capsys, monkeypatch):
    printed: list[str] = []

    def watch(repository: str, revision: str, allow_patterns: list[str]) -> str:
        if "model.safetensors" in allow_patterns:
            printed.append(capsys.readouterr().out)
        return fake_hub.snapshot_download(repository, revision, allow_patterns)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", watch)
    fake_hub.unit = 10**6
    load_pair("tiny", device="cpu", yes=True)
    for name, commit in {"org/big": "1" * 40, "org/small": "2" * 40}.items():
        kilobytes = (fake_hub.root / name / "model.safetensors").stat().st_size / 1000
        assert f"{name} at {commit}: {kilobytes:.2f} GB to download" in printed[0]


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal in which somebody says yes; what was asked."""
    asked: list[str] = []
    monkeypatch.setattr(hub.sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "y")
    return asked


def test_the_student_is_asked_once_with_the_sum_and_the_licences(
    fake_hub: Hub, questions: list[str], capsys
):
    fake_hub.unit = 10**6
    pair = load_pair("tiny", device="cpu")
    sizes = [(fake_hub.root / name / "model.safetensors").stat().st_size for name in ORGS]
    assert questions == [f"Fetch {sum(sizes) / 1000:.1f} GB in all? [y/N] "]
    assert capsys.readouterr().out.count("licence: mit") == 2
    assert pair.target.vocab_size == 7
    load_pair("tiny", device="cpu")  # what is there is not asked for
    assert len(questions) == 1


@pytest.mark.parametrize("answer", ["", "n", "what?"])
def test_without_a_yes_nothing_is_fetched(fake_hub: Hub, questions, monkeypatch, answer: str):
    monkeypatch.setattr("builtins.input", lambda question: answer)
    with pytest.raises(PairError, match="GB were not fetched: you did not agree"):
        load_pair("tiny", device="cpu")
    assert fake_hub.weights_fetched() == []


@pytest.mark.parametrize("error", [EOFError, NotImplementedError], ids=["closed", "nbconvert"])
def test_where_nobody_can_be_asked_the_way_to_agree_is_said(
    fake_hub: Hub, questions, monkeypatch, error: type[Exception]
):
    def nobody(question: str) -> str:
        raise error

    monkeypatch.setattr("builtins.input", nobody)
    with pytest.raises(PairError, match="give --yes on the command line or yes=True in Python"):
        load_pair("tiny", device="cpu")
    monkeypatch.setattr(hub.sys, "stdin", None)
    monkeypatch.setitem(hub.sys.modules, "ipykernel", object())  # imported, and no kernel runs
    with pytest.raises(PairError, match="nobody is here to agree"):
        load_pair("tiny", device="cpu")


def test_a_full_disk_is_told_before_anybody_is_asked(fake_hub: Hub, questions, monkeypatch):
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(PairError, match="do not fit on the disk: 0.0 GB are free in .* HF_HOME"):
        load_pair("tiny", device="cpu")
    assert questions == [] and fake_hub.weights_fetched() == []


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
    assert main([*command, "--yes", "--show"]) == 0
    told = capsys.readouterr().out
    assert "c a b" in told and "org/big with org/small" in told
    assert "plain: drafted and accepted" in told and "forwards of the target" in told


def test_an_encoder_decoder_writes_at_the_command_line_too(fake_hub: Hub, capsys):
    write_t5(fake_hub.root / "org/t5", 12)
    write_t5(fake_hub.root / "org/t5-s", 8)
    (fake_hub.root / "org/small/spiece.model").write_bytes(b"pieces")
    asked = ["generate", "c b", "--pair", "tiny-t5", "--tokens", "4", "--yes", "--show"]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert "c b" in told and "org/t5 with org/t5-s" in told and "forwards of the target" in told


def test_what_transformers_loads_must_fit_the_processor_s_memory_too(fake_hub: Hub, monkeypatch):
    free = {"cpu": 1000, "meta": 10**9}
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: free[device.type])
    with pytest.raises(PairError, match="0.0 GB are free on cpu"):
        load_pair("tiny", device="meta", yes=True)
    assert fake_hub.weights_fetched() == []


def test_the_size_leaves_out_what_is_there(fake_hub: Hub):
    fake_hub.snapshot_download("org/big", "1" * 40, ["model.safetensors"])
    files = {"model.safetensors": 700, "config.json": 30}
    assert hub.Download("org/big", "1" * 40, files).bytes == 30
    assert hub.Download("org/small", "2" * 40, files).bytes == 730


def test_logits_are_cut_to_the_columns_that_both_models_have(fake_hub: Hub):
    pair = load_pair("tiny", device="cpu", dtype=torch.float64, yes=True)
    tokens = torch.tensor([[1, 2, 3]])
    for model in (pair.target, pair.draft):
        assert model.vocab_size == 7
        with torch.no_grad():
            expected = model.model(tokens).logits[..., :7]
        torch.testing.assert_close(model.forward(tokens, model.new_cache()), expected)


def test_an_unpinned_repository_is_pinned_at_first_use(fake_hub: Hub, capsys):
    write_gpt2(fake_hub.root / "org/x", 4, columns=7)
    load_pair("tiny", "x", device="cpu", yes=True)
    assert f"org/x is pinned at {'a' * 40} from now on" in capsys.readouterr().out
    kept = json.loads((Path(constants.HF_HOME) / hub.PINS).read_text())
    assert kept == {"org/x": "a" * 40}
    shutil.rmtree(fake_hub.cache)
    fake_hub.commit = "b" * 40  # the repository moves on, and we do not
    fake_hub.log.clear()
    load_pair("tiny", "x", device="cpu", yes=True)
    assert fake_hub.log and not [line for line in fake_hub.log if "b" * 40 in line]
    assert f"info org/x {'a' * 40}" in fake_hub.log


def test_the_table_s_commit_comes_before_one_kept_earlier(fake_hub: Hub):
    hub.pin("org/big", "c" * 40)
    assert hub.revision_of("org/big") == "1" * 40


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


@pytest.fixture
def headed(fake_hub: Hub) -> Hub:
    """A hub that has a Llama and a head for it, too."""
    folder = fake_hub.root / "org/llama"
    write_llama(folder, 8, layers=8)
    write_tokenizer(folder)
    write_head(fake_hub.root / "org/head", LlamaForCausalLM.from_pretrained(folder), [1, 3, 4])
    return fake_hub


def test_a_head_is_fetched_with_its_target(headed: Hub, capsys: pytest.CaptureFixture):
    pair = load_pair("tiny-headed", "eagle3", device="cpu", yes=True)
    assert isinstance(pair.target, Llama) and (pair.draft / "pytorch_model.bin").is_file()
    assert pair.label.startswith("org/llama with the head org/head: a ")
    assert f"org/head at {'3' * 40}: 0.00 GB to download" in capsys.readouterr().out
    headed.log.clear()
    load_pair("tiny-headed", "eagle3", device="cpu", yes=True)
    assert headed.log == []


def test_a_text_is_written_with_a_head(headed: Hub, capsys: pytest.CaptureFixture):
    asked = ["generate", "a b c", "--pair", "tiny-headed", "--tokens", "9", "--yes"]
    assert main([*asked, "--draft", "eagle3"]) == 0
    said = capsys.readouterr().out.split("\n\n")
    assert main([*asked, "--draft", "s"]) == 0
    assert capsys.readouterr().out.split("\n\n")[0].splitlines()[-1] == said[0].splitlines()[-1]
    assert said[1].startswith("org/llama with the head org/head") and "forwards" in said[1]


def test_a_head_of_another_target_is_refused(headed: Hub, capsys: pytest.CaptureFixture):
    write_llama(headed.root / "org/llama", 16, layers=8)
    asked = ["generate", "a", "--pair", "tiny-headed", "--draft", "eagle3", "--yes"]
    assert main(asked) == 2
    assert "hidden_size is 8, and for this target it must be 16" in capsys.readouterr().err


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


def test_which_files_are_weights():
    both = ["model.safetensors", "pytorch_model.bin", "config.json", "onnx/model.safetensors"]
    assert hub.weight_names(both) == ["model.safetensors"]
    old = ["pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json", "tf_model.h5"]
    assert hub.weight_names(old) == old[:2]
    names = [*both, "vocab.txt", "tokenizer.model", "original/params.json"]
    assert hub.text_names(names) == ["config.json", "vocab.txt", "tokenizer.model"]


def test_weights_are_whole_only_with_every_part(tmp_path: Path):
    parts = {"layer.0": "model-1.safetensors", "layer.1": "model-2.safetensors"}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": parts}))
    (tmp_path / "model-1.safetensors").touch()
    assert not hub.has_weights(tmp_path)
    (tmp_path / "model-2.safetensors").touch()
    assert hub.has_weights(tmp_path)


def http_error(kind: type[HfHubHTTPError]) -> HfHubHTTPError:
    return kind("403 or 404", response=SimpleNamespace(headers={}, request=None))


@pytest.mark.parametrize(
    "failure, message",
    [
        (http_error(GatedRepoError), "org/big is gated: accept the licence .* `hf auth login`"),
        (http_error(RevisionNotFoundError), "the hub has no org/big at 1111"),
        (ConnectionError("no route"), "cannot be fetched .ConnectionError: no route."),
    ],
    ids=["gated", "no such revision", "no connection"],
)
def test_what_the_hub_refuses_is_explained(fake_hub: Hub, failure: Exception, message: str):
    fake_hub.failing = failure
    with pytest.raises(PairError, match=message):
        load_pair("tiny", device="cpu", yes=True)


def test_a_gate_that_closes_at_the_download(fake_hub: Hub, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_, **__) -> None:
        raise http_error(GatedRepoError)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(PairError, match="org/big is gated"):
        load_pair("tiny", device="cpu", yes=True)


def test_offline_by_wish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        PairError, match="SmolLM2-1.7B is not on this machine .* .HF_HUB_OFFLINE is set"
    ):
        load_pair("smollm2", device="cpu")


def test_short_memory_is_told_before_the_weights_come(fake_hub: Hub, monkeypatch):
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: 1000)
    with pytest.raises(
        PairError, match="the weights take .* as float32, and 0.0 GB are free on cpu"
    ):
        load_pair("tiny", device="cpu", yes=True)
    assert fake_hub.weights_fetched() == []


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


def test_free_memory_is_what_linux_calls_available(tmp_path: Path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal:  900 kB\nMemAvailable:  321 kB\n")
    monkeypatch.setattr(device, "MEMINFO", tmp_path / "meminfo")
    assert free_memory(CPU) == 321 * 1024


def test_unknown_memory_refuses_nothing(tmp_path: Path, monkeypatch):
    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(device, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(device.os, "sysconf", unknown, raising=False)
    assert free_memory(CPU) is None
    require_memory(10**18, torch.float32, CPU)


@pytest.mark.parametrize(
    "capability, dtype",
    [((7, 5), torch.float16), ((8, 0), torch.bfloat16), ((9, 0), torch.bfloat16)],
)
def test_the_default_dtype_follows_the_device(monkeypatch, capability: tuple[int, int], dtype):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert default_dtype(torch.device("cuda")) == dtype
    assert default_dtype(CPU) == torch.float32
