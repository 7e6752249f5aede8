"""Our forward pass against transformers, its pieces and products, and scaled models."""

import json
from pathlib import Path

import pytest
import torch
from decoders.random_models import MODELS, VOCAB, llama
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import LlamaForCausalLM

from specdec_lib.models.cache import Tree
from specdec_lib.models.catalogue import PairError
from specdec_lib.models.checkpoint import Shape, read_weights
from specdec_lib.models.linear import Linear
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import TARGET_COSTS, Growth, grow_shape, grow_weights, parameter_count

CLOSE = {"rtol": 0, "atol": 1e-5}  # transformers computes rotary angles in float32
SAME = {"rtol": 0, "atol": 1e-11}


@pytest.fixture(params=[(4, True), (2, False)], ids=["tied", "grouped, untied"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    kv_heads, tied = request.param
    llama(kv_heads=kv_heads, tied=tied).save_pretrained(tmp_path)
    return tmp_path


def tokens(*shape: int) -> Tensor:
    return torch.randint(VOCAB, shape, generator=torch.Generator().manual_seed(3))


def test_logits_equal_those_of_transformers(folder: Path):
    model, theirs = Llama.from_folder(folder, dtype=torch.float64), tokens(3, 20)
    expected = LlamaForCausalLM.from_pretrained(folder).double()(theirs).logits
    torch.testing.assert_close(model.forward(theirs, model.new_cache(3)), expected, **CLOSE)


def test_passes_over_pieces_equal_one_pass(folder: Path):
    model, text = Llama.from_folder(folder, dtype=torch.float64), tokens(2, 17)
    whole = model.forward(text, model.new_cache(2))
    cache = model.new_cache(2)
    pieces = [model.forward(piece, cache) for piece in text.split((1, 5, 1, 1, 9), dim=1)]
    torch.testing.assert_close(torch.cat(pieces, 1), whole, **SAME)


def test_tree_read_level_by_level_equals_one_pass(folder: Path):
    model, text = Llama.from_folder(folder, dtype=torch.float64), tokens(1, 15)
    parents = [0, 0, 1, 1, 2]
    whole, parts = model.new_cache(1, 20), model.new_cache(1, 20)
    model.forward(text[:, :9], whole)
    expected = model.forward(text[:, 9:], whole, tree=Tree.from_parents(parents))
    found = [model.forward(text[:, :10], parts)[:, -1:]]  # the root ends the text
    for first, end in ((1, 3), (3, 6)):
        tree = Tree.from_parents(parents[: end - 1], n_cached=first)
        found.append(model.forward(text[:, 9 + first : 9 + end], parts, tree=tree))
    torch.testing.assert_close(torch.cat(found, 1), expected, **SAME)


@pytest.mark.parametrize("row", MODELS["refused"], ids=lambda row: row["named"])
def test_other_models_are_refused(folder: Path, row: dict):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | row["fields"]))
    with pytest.raises(ValueError, match=row["named"]):
        Llama.from_folder(folder)


@pytest.mark.parametrize("growth", [Growth(2, 2), Growth(3, 4), Growth(1, 5)])
def test_grown_model_gives_the_same_logits(folder: Path, growth: Growth):
    weights = read_weights(folder, "cpu", torch.float64)
    small = Llama.from_folder(folder, dtype=torch.float64)
    large = Llama(grow_weights(weights, growth))
    text = tokens(2, 20)
    expected = small.forward(text, small.new_cache(2))
    torch.testing.assert_close(large.forward(text, large.new_cache(2)), expected, **SAME)
    assert (large.shape.width, large.shape.layers) == (32 * growth.width, growth.layers)


def test_names_of_costs_are_their_parameters():
    target = Shape(2048, 384, 4, 6, 6, 64, 1024, 512, 1e4, 1e-6)
    units = {"m": 1e6, "b": 1e9}
    for name, growth in TARGET_COSTS.items():
        said = float(name[:-1]) * units[name[-1]]
        assert parameter_count(grow_shape(target, growth)) == pytest.approx(said, rel=0.05)


def test_parameters_are_those_of_transformers(folder: Path):
    model, shape = LlamaForCausalLM.from_pretrained(folder), Llama.from_folder(folder).shape
    tied = model.config.tie_word_embeddings * shape.vocab_size * shape.width
    assert parameter_count(shape) == model.num_parameters() + tied


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 2)])
@pytest.mark.parametrize("size", [16, 1024])
@pytest.mark.parametrize("saved_in", [torch.float32, torch.float16])
def test_product_is_exact(dtype: torch.dtype, shape: tuple[int, int], size: int, saved_in):
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(size + 8, size, generator=generator).to(saved_in).to(dtype)
    x = torch.randn(*shape, size, generator=generator).to(dtype)
    expected, found = x.double() @ weight.double().T, Linear(weight)(x)
    assert found.shape == expected.shape and found.dtype == dtype
    error = (found.double() - expected).abs().max() / size
    assert error <= 4 * torch.finfo(dtype).eps


def test_a_folder_whose_files_are_not_whole_is_refused(tmp_path: Path):
    weights, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    for name in ("lm_head.weight", "model.norm.weight"):
        llama(tied=False).save_pretrained(tmp_path)
        tensors = load_file(weights)
        del tensors[name]
        save_file(tensors, weights)
        with pytest.raises(PairError, match=f"model.safetensors has no {name}: save or"):
            Llama.from_folder(tmp_path)
    for path in (weights, config):
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(PairError, match=f"{path.name} cannot be read"):
            Llama.from_folder(tmp_path)
