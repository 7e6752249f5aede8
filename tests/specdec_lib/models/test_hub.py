"""Two models of the hub as a pair: one question, then the same text as transformers."""

import json
from unittest.mock import Mock

import pytest
import torch
from decoders.fake_hub import VOCABULARY, Hub, write_model
from decoders.random_models import gpt2, llama
from huggingface_hub import HfApi

from specdec_lib.cli import main
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.catalogue import PUBLISHED, PairError
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.protocol import eos_ids
from specdec_lib.models.published import hub
from specdec_lib.sampling import Greedy, Warp

NAMES = "org/target", "org/draft"
WEIGHTS = [f"{name}/model.safetensors" for name in NAMES]


def load(target: str, draft: str, **options) -> Pair:
    return load_pair(target, draft, device="cpu", dtype=torch.float64, **options)


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal in which somebody says yes; what was asked."""
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "y")
    return asked


def test_pair_is_asked_for_once_and_kept(fake_hub: Hub, questions: list[str]):
    pair = load(*NAMES)
    assert (pair.eos_id, pair.start("b a"), pair.tokenizer.decode([2])) == ({0}, [2, 1, 0], "b")
    assert pair.label == "org/target with org/draft, 1:1 by parameters"
    load(*NAMES)
    (question,) = questions
    assert "org/target and org/draft" in question and "4.0 GB" in question
    assert fake_hub.fetched == WEIGHTS
    fake_hub.online = False
    load(*NAMES)


@pytest.mark.parametrize("named", [None, 0, 5, [0], [5, 7], [5, 99]])
@pytest.mark.parametrize(
    "names", [NAMES, pytest.param(("org/t5", "org/t5-small"), marks=pytest.mark.slow)]
)
def test_a_text_ends_where_generate_ends_it_and_at_the_tokenizers_end(
    fake_hub: Hub, names: tuple[str, str], named: int | list[int] | None
):
    file = fake_hub.root / names[0] / "generation_config.json"
    content = json.loads(file.read_text()) | {"eos_token_id": named}
    file.write_text(json.dumps(content)) if named is not None else file.unlink()
    pair = load(*names, yes=True)
    assert pair.eos_id == {0} | eos_ids(named)
    drafter, model = ModelDrafter(pair.draft), pair.target.model
    for letter in "ab":
        prompt, ids = pair.start(letter), torch.tensor([pair.tokenizer.encode(letter)])
        theirs = model.generate(
            ids, max_new_tokens=12, do_sample=False, eos_token_id=list(pair.eos_id), pad_token_id=0
        )[0].tolist()
        settings = Settings(12, Warp(0), pair.eos_id)
        ours = speculative_generate(pair.target, drafter, [prompt], 4, settings, Greedy())
        assert prompt + ours.tokens[0] == theirs


@pytest.mark.parametrize("names", [NAMES, ("org/t5", "org/t5-small")])
def test_pair_generates_at_the_command_line(fake_hub: Hub, names: tuple[str, str], capsys):
    target, draft = names
    command = ["generate", "c a b", "--pair", target, "--draft", draft, "--tokens", "5"]
    assert main(command) == 2  # not interactive
    assert main([*command, "--yes", "--limit", "3"]) == 2
    refused = capsys.readouterr().err
    assert "pass --yes" in refused and "limit of 3 GB" in refused and fake_hub.fetched == []
    assert main([*command, "--yes", "--limit", "5"]) == 0
    assert "c a b" in capsys.readouterr().out


def test_published_pair_is_pinned(fake_hub: Hub, questions, monkeypatch: pytest.MonkeyPatch):
    pair = {"target": NAMES[0], "drafts": {"small": NAMES[1]}}
    monkeypatch.setitem(PUBLISHED["pairs"], "tiny", pair)
    monkeypatch.setitem(PUBLISHED["repositories"], NAMES[0], {"revision": "1" * 40})
    load_pair("tiny", device="cpu")
    assert fake_hub.revisions == {NAMES[0]: "1" * 40, NAMES[1]: None}


@pytest.mark.parametrize(
    "answer, message", [("", "did not agree"), (EOFError(), "asked here: pass --yes")]
)
def test_nothing_is_downloaded_without_a_yes(fake_hub: Hub, monkeypatch, answer, message: str):
    monkeypatch.setattr("builtins.input", Mock(side_effect=[answer]))
    with pytest.raises(PairError, match=message):
        load(*NAMES)
    assert fake_hub.fetched == []


def test_a_lost_connection_is_a_line(monkeypatch: pytest.MonkeyPatch):
    """That of huggingface_hub 2.4.0 is httpx2's ConnectError, which is no OSError."""
    monkeypatch.setattr(hub, "snapshot_download", HfApi("http://127.0.0.1:9").model_info)
    with pytest.raises(PairError, match="a/b cannot be downloaded"):
        hub.snapshot("a/b")


def test_only_safetensors_are_downloaded_if_there_are_any(fake_hub: Hub):
    (fake_hub.root / "org/target/pytorch_model.bin").touch()
    (fake_hub.root / "org/draft/model.safetensors").unlink()
    torch.save(gpt2().state_dict(), fake_hub.root / "org/draft/pytorch_model.bin")
    load(*NAMES, yes=True)
    assert fake_hub.fetched == [WEIGHTS[0], "org/draft/pytorch_model.bin"]


@pytest.mark.parametrize("from_hub", [True, False], ids=["hub", "folder"])
@pytest.mark.parametrize(("dtype", "size"), [(torch.float64, 8), (torch.bfloat16, 2)])
def test_weights_that_do_not_fit_are_refused_before_they_are_downloaded(
    fake_hub: Hub, monkeypatch: pytest.MonkeyPatch, from_hub: bool, dtype: torch.dtype, size: int
):
    needed = size * (gpt2().num_parameters() + gpt2(layers=3).num_parameters())
    write_model(fake_hub.root / "org/larger", gpt2(layers=3))
    names = ["org/larger", "org/draft"]
    names = names if from_hub else [str(fake_hub.root / name) for name in names]
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: needed - 1)
    with pytest.raises(PairError, match="GB are free on cpu: choose a smaller pair"):
        load_pair(*names, device="cpu", dtype=dtype, yes=True)
    assert fake_hub.fetched == []
    monkeypatch.setattr("specdec_lib.models.pair.free_memory", lambda device: needed)
    load_pair(*names, device="cpu", dtype=dtype, yes=True)


@pytest.mark.parametrize("name", ["mine", "./mine", "a/b/mine"])
def test_a_folder_is_one_whatever_its_name_looks_like(fake_hub: Hub, monkeypatch, name: str):
    monkeypatch.chdir(fake_hub.root)
    with pytest.raises(PairError, match="there is no (pair|folder) '?" + name):
        load(name, NAMES[1])
    write_model(fake_hub.root / name, gpt2())
    assert load(name, name).name == name


def test_other_vocabulary_is_refused_before_the_weights(fake_hub: Hub):
    words = [*VOCABULARY[:2], *VOCABULARY[3:], VOCABULARY[2]]
    write_model(fake_hub.root / "org/other", gpt2(), words)
    with pytest.raises(PairError, match="different vocabularies, for example at 'A'"):
        load(NAMES[0], "org/other", yes=True)
    assert fake_hub.fetched == []


def test_padded_logits_are_cut_to_the_shared_columns(fake_hub: Hub):
    wide = llama()
    wide.resize_token_embeddings(50)
    write_model(fake_hub.root / "org/wide", wide)
    pair = load("org/wide", NAMES[1], yes=True)
    tokens = torch.tensor([[1, 2, 3]])
    found = pair.target.forward(tokens, pair.target.new_cache())
    assert pair.target.vocab_size == pair.draft.vocab_size == found.shape[-1] == 48
