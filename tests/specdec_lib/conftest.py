"""Models that several tests of the decoder run on, and a hub that serves tiny pairs."""

import socket
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from decoders.exact_drafters import Llamas, tiny_llama
from decoders.fake_hub import Hub, write_model
from decoders.greedy import with_noise
from decoders.random_models import gpt2, llama, t5

from specdec_lib.models.llama import Llama
from specdec_lib.models.published import hub


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A target, and a draft that agrees with it often."""
    folder = tmp_path_factory.mktemp("models")
    llama().save_pretrained(folder / "target")
    with_noise(llama()).save_pretrained(folder / "draft")
    return [folder / "target", folder / "draft"]


@pytest.fixture(scope="session")
def models(folders: list[Path]) -> list[Llama]:
    return [Llama.from_folder(folder, dtype=torch.float64) for folder in folders]


@pytest.fixture(scope="session")
def llamas(tmp_path_factory: pytest.TempPathFactory) -> Llamas:
    """A target and a draft over three tokens, of other weights."""
    return Llamas(*(tiny_llama(tmp_path_factory.mktemp("tiny"), seed) for seed in (1, 2)))


@pytest.fixture
def target(llamas: Llamas) -> Llama:
    return llamas.target


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = Mock(side_effect=AssertionError("asked for the network"))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def fake_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> Hub:
    """A pair of GPT-2s of org, and one of T5s."""
    served = Hub(tmp_path)
    monkeypatch.setattr(hub, "snapshot_download", served)
    write_model(tmp_path / "org/target", gpt2())
    write_model(tmp_path / "org/draft", with_noise(gpt2()))
    write_model(tmp_path / "org/t5", t5(1, 3))
    write_model(tmp_path / "org/t5-small", t5(2, 1))
    return served
