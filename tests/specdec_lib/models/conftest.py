"""A hub of our own making, for tests that may not ask for the network."""

import socket
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from decoders.fake_hub import Hub, write_gpt2
from huggingface_hub import constants

from specdec_lib.models import hub
from specdec_lib.models.catalogue import PUBLISHED


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_, **__) -> None:
        raise AssertionError("asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


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
    commits = {"org/big": "1" * 40, "org/small": "2" * 40}
    for name in ("org/big", "org/small", "org/x", "org/t5", "org/t5-s"):
        add(PUBLISHED["repositories"], name, {"revision": commits.get(name), "gigabytes": 0.1})
    write_gpt2(served.root / "org/big", 16, columns=9)
    write_gpt2(served.root / "org/small", 8, columns=7)
    return served


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal in which somebody says yes; what was asked."""
    asked: list[str] = []
    monkeypatch.setattr(hub.sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "y")
    return asked
