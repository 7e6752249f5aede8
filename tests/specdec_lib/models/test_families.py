"""Every family that llama.py runs, against transformers on the same weights."""

import gc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from decoders.families import FAMILIES, LENGTH, VOCAB, Family, make, save
from decoders.greedy import greedy_text, worse
from decoders.live_memory import Live
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes
from transformers import PreTrainedModel

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure import hugging
from specdec_lib.models import linear
from specdec_lib.models.llama import Llama
from specdec_lib.models.published import load_model
from specdec_lib.models.saved import tensors
from specdec_lib.models.scale import parameters
from specdec_lib.sampling import Greedy, Warp

TEXT = 100  # positions: three times the length that a stretched rotation was trained on
PIECES = (60, 1, 6, 1, 1, 5, 26)
PROMPTS = [[5, 9, 2, 7, 1] * 8, [7, 1, 2], [3, 4] * 9]  # of 40, 3 and 18 tokens
NEW, K = 20, 3
GREEDY = Settings(NEW, Warp(0))


class Saved(NamedTuple):
    """A model in transformers, in float64, and the folder that it was saved to."""

    theirs: PreTrainedModel
    folder: Path
    family: Family

    def ours(self, dtype: torch.dtype = torch.float64) -> Llama:
        return Llama.from_folder(self.folder, dtype=dtype)


@pytest.fixture(scope="module", params=FAMILIES)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    family, folder = FAMILIES[request.param], tmp_path_factory.mktemp("family")
    model = make(family)
    save(model, folder, family.form)
    return Saved(model, folder, family)


@pytest.fixture(scope="module")
def pair(saved: Saved, tmp_path_factory: pytest.TempPathFactory) -> tuple[Llama, Llama]:
    """The target, and a draft of its family that is right often and not always."""
    folder = tmp_path_factory.mktemp("draft")
    worse(make(saved.family)).save_pretrained(folder)
    return saved.ours(), Llama.from_folder(folder, dtype=torch.float64)


def text(rows: int = 2) -> Tensor:
    return torch.randint(VOCAB, (rows, TEXT), generator=torch.Generator().manual_seed(3))


def logits(model: Llama, tokens: Tensor) -> Tensor:
    """The logits of a prefill, of passes over one token and over K + 1, joined."""
    cache = model.new_cache(len(tokens))
    return torch.cat([model.forward(part, cache) for part in tokens.split(PIECES, 1)], 1)


@torch.no_grad()
def expected(saved: Saved, tokens: Tensor) -> Tensor:
    return saved.theirs(tokens).logits


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_logits_of_every_position_are_those_of_transformers(saved, dtype):
    found = logits(saved.ours(dtype), text())
    # transformers computes the angles of the rotation in float32, whatever the dtype
    torch.testing.assert_close(found.double(), expected(saved, text()), rtol=0, atol=2e-5)


def test_in_bfloat16_the_logits_are_as_close_to_the_exact_ones_as_those_of_transformers(saved):
    exact = expected(saved, text())
    theirs = type(saved.theirs).from_pretrained(saved.folder, dtype=torch.bfloat16)
    with torch.no_grad():
        allowed = error(theirs(text()).logits, exact)
    assert error(logits(saved.ours(torch.bfloat16), text()), exact) < 1.2 * allowed < 0.05


def error(found: Tensor, exact: Tensor) -> float:
    """The root mean square of the difference."""
    return float((found.double() - exact).square().mean().sqrt())


def test_greedy_texts_are_those_of_transformers(saved, pair):
    texts = greedy_text(saved.theirs, PROMPTS, NEW)
    assert eager(pair, 0, GREEDY) == eager(pair, K, GREEDY) == texts  # a ragged batch
    assert eager(pair, K, GREEDY, PROMPTS[:1]) == texts[:1]


def eager(pair, k: int, settings: Settings, prompts: list[list[int]] = PROMPTS):
    choices = Greedy()
    if not k:
        return plain_generate(pair[0], prompts, settings, choices).tokens
    drafter = ModelDrafter(pair[1])
    return speculative_generate(pair[0], drafter, prompts, k, settings, choices).tokens


def test_transformers_stands_on_the_tensors_of_our_model(saved):
    ours = saved.ours()
    theirs = hugging.Counted.of_llama(ours).model
    assert theirs.config.model_type == saved.theirs.config.model_type
    with torch.no_grad():
        torch.testing.assert_close(theirs(text()).logits, expected(saved, text()))
    own = {layer.out.weight.data_ptr() for layer in ours.layers}
    held = {layer.self_attn.o_proj.weight.data_ptr() for layer in theirs.model.layers}
    assert own == held and len(held) == len(ours.layers)


def test_a_published_folder_of_these_families_runs_in_our_llama(saved):
    model = load_model(saved.folder, torch.device("cpu"), torch.float32)
    assert isinstance(model, Llama) and model.vocab_size == VOCAB
    window = getattr(saved.theirs.config, "sliding_window", None)
    assert model.max_length == (window or LENGTH)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("form", ["parts", "bin parts"])
@pytest.mark.parametrize("family", ["Qwen2", "Qwen3 with biases"])
def test_loading_takes_the_weights_and_two_matrices_at_most(
    family: str, form: str, dtype: torch.dtype, tmp_path: Path, monkeypatch
):
    """What the memory plan adds as *making*. As on a card: what is read there takes memory."""
    monkeypatch.setattr(linear, "half_scale", lambda weight: None)
    fields = FAMILIES[family].fields | {"max_position_embeddings": 8, "intermediate_size": 512}
    save(make(replace(FAMILIES[family], fields=fields), layers=4).float(), tmp_path, form)
    parts = [*tmp_path.glob("*.safetensors"), *tmp_path.glob("*.bin")]
    mapped = {path: tensors.opened(path, "cpu") for path in parts}

    def opened(path: Path, device: str) -> tuple[list[str], Callable[[str], Tensor]]:
        names, read = mapped[path]

        def copied(name: str) -> Tensor:
            with _disable_current_modes():  # what is mapped takes none
                found = read(name)
            return found.clone()

        return names, copied

    monkeypatch.setattr(tensors, "opened", opened)
    gc.collect()
    with Live() as live:
        shape = Llama.from_folder(tmp_path, dtype=dtype).shape
    making, whole, size = 2 * shape.mlp * shape.width, parameters(shape), dtype.itemsize
    small = 4096  # norms, biases, and the rotation's tables
    assert size * whole < live.most < size * (whole + making) + small


def test_logits_are_cut_to_the_columns_that_a_pair_shares(saved):
    model = saved.ours()
    whole = model.forward(text(), model.new_cache(2))
    model.cut_vocabulary(VOCAB - 5)
    cut = model.forward(text(), model.new_cache(2))
    assert model.vocab_size == VOCAB - 5 and torch.equal(cut, whole[..., :-5])
    with pytest.raises(ValueError, match="43 outputs and cannot keep 48"):
        model.cut_vocabulary(VOCAB)
