"""Folders with tiny pairs, and a hub that serves them without a network."""

import socket
from pathlib import Path

import pytest
from decoders.fake_hub import Hub, write_model
from decoders.greedy import worse
from decoders.random_models import gpt2, t5

from specdec_lib.models import hub


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_, **__) -> None:
        raise AssertionError("asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def fake_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> Hub:
    """A pair of GPT-2s of org, and one of T5s."""
    served = Hub(tmp_path)
    monkeypatch.setattr(hub, "snapshot_download", served)
    write_model(tmp_path / "org/target", gpt2())
    write_model(tmp_path / "org/draft", worse(gpt2()))
    write_model(tmp_path / "org/t5", t5(1, 3))
    write_model(tmp_path / "org/t5-small", t5(2, 1))
    return served
