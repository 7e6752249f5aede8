"""Models that several tests of the decoder run on."""

from pathlib import Path

import pytest
import torch
from decoders.exact_drafters import Llamas, tiny_llama
from decoders.greedy import worse
from decoders.random_models import llama

from specdec_lib.models.llama import Llama


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A target, and a draft that agrees with it often."""
    folder = tmp_path_factory.mktemp("models")
    llama().save_pretrained(folder / "target")
    worse(llama()).save_pretrained(folder / "draft")
    return [folder / "target", folder / "draft"]


@pytest.fixture(scope="session")
def models(folders: list[Path]) -> list[Llama]:
    return [Llama.from_folder(folder, dtype=torch.float64) for folder in folders]


@pytest.fixture(scope="session")
def llamas(tmp_path_factory: pytest.TempPathFactory) -> Llamas:
    """A target and a draft over three tokens, of other weights."""
    return Llamas(*(tiny_llama(tmp_path_factory.mktemp("tiny"), seed) for seed in (1, 2)))
