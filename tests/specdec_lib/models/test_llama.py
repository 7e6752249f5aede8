"""Our forward pass against transformers', its cache against a fresh pass, and the scaled models."""

import json
import weakref
from pathlib import Path

import pytest
import torch
from decoders.families import FAMILIES, make
from decoders.random_models import VOCAB, llama
from safetensors.torch import save_file
from torch import Tensor
from transformers import LlamaForCausalLM

from specdec_lib.decoding.checks import check_pair, check_request
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.cache import Tree
from specdec_lib.models.checkpoint import read_shape, read_weights
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS, Growth, grown, parameters, scaled
from specdec_lib.sampling import Greedy, Warp

CLOSE = {"rtol": 0, "atol": 1e-5}  # transformers computes rotary angles in float32
SAME = {"rtol": 0, "atol": 1e-11}


@pytest.fixture(params=[(4, True), (2, False)], ids=["tied", "grouped, untied"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    kv_heads, tied = request.param
    llama(kv_heads=kv_heads, tied=tied).save_pretrained(tmp_path)
    return tmp_path


def tokens(*shape: int) -> Tensor:
    return torch.randint(VOCAB, shape, generator=torch.Generator().manual_seed(3))


def test_the_logits_are_those_of_transformers(folder: Path):
    model, theirs = Llama.from_folder(folder, dtype=torch.float64), tokens(3, 20)
    expected = LlamaForCausalLM.from_pretrained(folder).double()(theirs).logits
    torch.testing.assert_close(model.forward(theirs, model.new_cache(3)), expected, **CLOSE)


def test_passes_over_pieces_give_what_one_pass_gives(folder: Path):
    model, text = Llama.from_folder(folder, dtype=torch.float64), tokens(2, 17)
    whole = model.forward(text, model.new_cache(2))
    cache = model.new_cache(2)
    pieces = [model.forward(piece, cache) for piece in text.split((1, 5, 1, 1, 9), dim=1)]
    torch.testing.assert_close(torch.cat(pieces, 1), whole, **SAME)


def test_a_tree_can_be_read_level_by_level(folder: Path):
    model, text = Llama.from_folder(folder, dtype=torch.float64), tokens(1, 15)
    parents = [0, 0, 1, 1, 2]
    whole, parts = model.new_cache(1, 20), model.new_cache(1, 20)
    model.forward(text[:, :9], whole)
    expected = model.forward(text[:, 9:], whole, tree=Tree.of(parents))
    found = [model.forward(text[:, :10], parts)[:, -1:]]  # the root ends the text
    for first, end in ((1, 3), (3, 6)):
        tree = Tree.of(parents[: end - 1], read=first)
        found.append(model.forward(text[:, 9 + first : 9 + end], parts, tree=tree))
    torch.testing.assert_close(torch.cat(found, 1), expected, **SAME)


def test_a_ragged_batch_gives_every_row_what_it_gives_alone(folder: Path):
    model, text = Llama.from_folder(folder, dtype=torch.float64), tokens(3, 12)
    cache, lengths = model.new_cache(3), [2, 9, 5]
    model.forward(text[:, :10], cache)
    cache.truncate(lengths)
    spoil(cache)
    found = model.forward(text[:, -3:], cache)
    for row, length in enumerate(lengths):
        alone = torch.cat((text[row, :length], text[row, -3:]))[None]
        expected = model.forward(alone, model.new_cache())[0, -3:]
        torch.testing.assert_close(found[row], expected, **SAME)


def spoil(cache) -> None:
    """Put huge numbers in what may not be read."""
    for row, length in enumerate(cache.length.tolist()):
        cache.keys[:, row, length:] = 1e30
        cache.values[:, row, length:] = -1e30


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model_type": "mixtral"}, "model_type is 'mixtral', and Llama runs 'llama' or 'mistral'"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu', and Llama runs 'silu' only"),
        ({"quantization_config": {"bits": 4}}, "quantization_config is {'bits': 4}"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5"),
        ({"rope_parameters": {"rope_type": "longrope"}}, "rope_type is 'longrope'"),
        ({"rope_scaling": {"type": "linear"}}, "rope_type 'linear' needs factor"),
    ],
)
def test_what_would_change_the_logits_and_is_not_there_is_refused(
    folder: Path, change: dict, named: str
):
    configure(folder, change)
    with pytest.raises(ValueError, match=named):
        Llama.from_folder(folder)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"attention_bias": True}, "lack model.layers.0.self_attn.k_proj.bias"),
        ({"num_hidden_layers": 1}, "have model.layers.1.input_layernorm.weight"),
        ({"intermediate_size": 40}, r"gate_proj.weight is \(48, 32\), and with .* be \(40, 32\)"),
    ],
)
def test_weights_of_another_model_are_refused(folder: Path, change: dict, named: str):
    configure(folder, change)
    with pytest.raises(ValueError, match=named):
        Llama.from_folder(folder)


@pytest.mark.parametrize(
    ("change", "length"),
    [
        ({"model_type": "llama", "sliding_window": 32}, 128),
        ({"model_type": "mistral", "sliding_window": 32, "use_sliding_window": False}, 32),
        ({"model_type": "mistral", "sliding_window": None}, 128),
        ({"model_type": "mistral", "max_position_embeddings": 5000}, 4096),  # if nothing is said
        ({"model_type": "qwen2", "sliding_window": 32}, 128),
        ({"model_type": "qwen3", "sliding_window": 32, "use_sliding_window": True}, 32),
    ],
)
def test_texts_end_where_a_window_would_begin_to_slide(folder: Path, change: dict, length: int):
    configure(folder, change)
    assert read_shape(folder).max_length == length


def whose_text_ends_later(folder: Path) -> Llama:
    configure(folder, {"model_type": "llama"})
    return Llama.from_folder(folder)


def test_a_text_longer_than_a_window_is_refused_by_the_name_of_the_window(folder: Path):
    configure(folder, {"model_type": "mistral", "sliding_window": 32})
    model = Llama.from_folder(folder)
    with pytest.raises(
        ValueError, match="need 33 positions, and the model's sliding window has 32"
    ):
        check_request(model, [[1] * 30], Settings(3, Warp(0)), Greedy())
    wide, window = whose_text_ends_later(folder), "drafter's sliding window has 32"
    with pytest.raises(ValueError, match=f"need 33 positions, and the {window}"):
        check_pair(wide, ModelDrafter(model), 33)
    configure(folder, {"model_type": "llama"})
    with pytest.raises(ValueError, match="need 129 positions, and the model has 128"):
        check_request(Llama.from_folder(folder), [[1] * 120], Settings(9, Warp(0)), Greedy())


def configure(folder: Path, change: dict) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))


def test_the_head_is_tied_as_in_transformers(tmp_path: Path):
    """The configuration says so, and the file has both, equal or not."""
    model = llama(tied=True)
    for change in (0, 0.5):
        folder = tmp_path / str(change)
        tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        tensors["lm_head.weight"] += change
        model.config.save_pretrained(folder)
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        weights = read_weights(folder, "cpu", torch.float64)
        assert (weights.head is weights.embedding) == (change == 0)
        expected = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float64)(
            tokens(1, 9)
        ).logits
        ours = Llama(weights)
        torch.testing.assert_close(ours.forward(tokens(1, 9), ours.new_cache()), expected, **CLOSE)


def test_a_part_that_is_missing_is_named(tmp_path: Path):
    model = llama()
    model.save_pretrained(tmp_path, max_shard_size="30KB")
    part = sorted(tmp_path.glob("*.safetensors"))[0]
    part.unlink()
    with pytest.raises(ValueError, match=f"names {part.name}, which is not there"):
        Llama.from_folder(tmp_path)


def test_a_file_that_cannot_be_mapped_is_named(tmp_path: Path):
    model = llama()
    model.config.save_pretrained(tmp_path)
    path = tmp_path / "pytorch_model.bin"
    torch.save(model.state_dict(), path, _use_new_zipfile_serialization=False)
    with pytest.raises(ValueError, match="pytorch_model.bin cannot be mapped"):
        Llama.from_folder(tmp_path)


def test_a_relative_of_llama_is_not_grown(tmp_path: Path):
    make(FAMILIES["Qwen3"]).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="a model of type qwen3 has more than a plain Llama"):
        grown(read_weights(tmp_path, "cpu", torch.float64), Growth(2, 2))


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="no config.json here"):
        Llama.from_folder(tmp_path)
    llama().config.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="no model.safetensors here"):
        Llama.from_folder(tmp_path)


def test_integers_are_no_dtype_for_a_model(folder: Path):
    with pytest.raises(ValueError, match="floating-point dtype, not torch.int8"):
        Llama.from_folder(folder, dtype=torch.int8)


@pytest.mark.parametrize("growth", [Growth(2, 2), Growth(3, 4), Growth(1, 5)])
def test_a_grown_model_gives_the_same_logits(folder: Path, growth: Growth):
    weights = read_weights(folder, "cpu", torch.float64)
    small, large = Llama.from_folder(folder, dtype=torch.float64), Llama(grown(weights, growth))
    text = tokens(2, 20)
    expected = small.forward(text, small.new_cache(2))
    torch.testing.assert_close(large.forward(text, large.new_cache(2)), expected, **SAME)
    assert (large.shape.width, large.shape.layers) == (32 * growth.width, growth.layers)


def test_a_grown_layer_has_weights_of_its_own(folder: Path):
    weights = grown(read_weights(folder, "cpu", torch.float64), Growth(1, 4))
    matrices = [layer.qkv for layer in weights.layers]
    assert len({matrix.data_ptr() for matrix in matrices}) == 4


def test_a_grown_matrix_is_not_kept(folder: Path):
    weights = grown(read_weights(folder, "cpu", torch.float64), Growth(3, 4))
    for layer in weights.layers:
        for name in ("qkv", "out", "gate_up", "down"):
            made = weakref.ref(getattr(layer, name))
            assert made() is None


def test_a_model_cannot_lose_layers_or_get_an_unknown_cost(folder: Path):
    with pytest.raises(ValueError, match="has 2 layers, more than 1"):
        grown(read_weights(folder, "cpu", torch.float64), Growth(2, 1))
    with pytest.raises(ValueError, match="'2m'; there are 40m, 234m, 1b, 7b"):
        scaled(folder, "2m")


def test_the_names_of_costs_are_about_the_numbers_of_parameters():
    from specdec_lib.models.checkpoint import Shape
    from specdec_lib.models.scale import grown_shape

    target = Shape(2048, 384, 4, 6, 6, 64, 1024, 512, 1e4, 1e-6)
    units = {"m": 1e6, "b": 1e9}
    for name, growth in COSTS.items():
        said = float(name[:-1]) * units[name[-1]]
        assert parameters(grown_shape(target, growth)) == pytest.approx(said, rel=0.05)


@pytest.mark.parametrize("name", ["Llama 2", "Llama with biases", "Qwen2", "Qwen3 with biases"])
def test_parameters_are_counted_as_they_are(name: str, tmp_path: Path):
    model = make(FAMILIES[name])
    model.save_pretrained(tmp_path)
    shape = Llama.from_folder(tmp_path).shape
    assert parameters(shape) == sum(weights.numel() for weights in model.parameters())
