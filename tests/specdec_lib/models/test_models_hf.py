"""Hugging Face models after the protocol, on tiny random ones in float64.

What they must give is one pass of transformers itself over the whole sequence, without a cache.
"""

from functools import partial
from pathlib import Path

import pytest
import torch
from decoders.greedy import greedy_text, require_identical, worse
from decoders.random_models import VOCAB as V
from decoders.random_models import gpt2, llama
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    Lfm2Config,
    MambaConfig,
    MistralConfig,
    OpenAIGPTConfig,
    Phi3Config,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3NextConfig,
    T5Config,
    T5ForConditionalGeneration,
)

from specdec_lib.models import hf
from specdec_lib.models.hf import Causal, EncoderDecoder, load

SIZES = {"vocab_size": V, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
SOURCE = [7, 3, 9, 9, 1]
NO_EOS = {"pad_token_id": 0, "bos_token_id": None, "eos_token_id": None}
# Layers that see 4 positions at most, beside such that see all; of lfm2 2, through a convolution.
NARROW = SIZES | NO_EOS | {
    "num_key_value_heads": 1, "head_dim": 8, "intermediate_size": 24, "initializer_range": 0.3,
}  # fmt: skip
WINDOW = NARROW | {"sliding_window": 4}
MIXED = {"layer_types": ["sliding_attention", "full_attention"]}


def causal(config: PreTrainedConfig) -> PreTrainedModel:
    torch.manual_seed(5)
    return AutoModelForCausalLM.from_config(config).double().eval()


NOT_ALL_SEEN = {
    "gemma2": Gemma2Config(**WINDOW, query_pre_attn_scalar=8),
    "gemma3": Gemma3TextConfig(**WINDOW, query_pre_attn_scalar=8, **MIXED),
    "mistral": MistralConfig(**WINDOW),
    "qwen2": Qwen2Config(**WINDOW, use_sliding_window=True, max_window_layers=1),
    "lfm2": Lfm2Config(**NARROW, conv_L_cache=3, layer_types=["conv", "full_attention"]),
}
CAUSAL = {"gpt2": gpt2, "llama": partial(llama, kv_heads=1)} | {
    kind: partial(causal, config) for kind, config in NOT_ALL_SEEN.items()
}


def t5() -> T5ForConditionalGeneration:
    """A T5 v1.1 shape: gated MLP, more layers in the decoder than in the encoder."""
    torch.manual_seed(5)
    sizes = {"vocab_size": V, "d_model": 16, "d_kv": 8, "d_ff": 24, "num_heads": 2}
    layers = {"num_layers": 2, "num_decoder_layers": 3}
    config = T5Config(
        **sizes,
        **layers,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
    )
    return T5ForConditionalGeneration(config).double()


def adapter(kind: str) -> Causal | EncoderDecoder:
    if kind == "t5":
        return EncoderDecoder(t5(), SOURCE)
    return Causal(CAUSAL[kind]())


def whole(model: Causal | EncoderDecoder, tokens: Tensor) -> Tensor:
    """The logits (T, V) of one pass of transformers over `tokens` (T,), without a cache."""
    inputs = {"input_ids": tokens[None]}
    if isinstance(model, EncoderDecoder):
        inputs = {"input_ids": torch.tensor([SOURCE]), "decoder_input_ids": tokens[None]}
    with torch.no_grad():
        return model.model(**inputs, use_cache=False).logits[0]


def text(length: int, seed: int = 0) -> Tensor:
    return torch.randint(V, (length,), generator=torch.Generator().manual_seed(seed))


# Not Gemma 2, which computes the softmax of its attention in float32, whatever the dtype.
KINDS = pytest.mark.parametrize("kind", [*(kind for kind in CAUSAL if kind != "gemma2"), "t5"])


def close(got: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-10)


@KINDS
def test_chunks_with_rollback_equal_one_whole_pass(kind: str):
    model, tokens, junk = adapter(kind), text(12), text(4, seed=1)
    cache = model.new_cache()
    parts = [model.forward(tokens[None, :5], cache)]
    model.forward(junk[None], cache)
    cache.truncate(7)
    cache.truncate(5)  # two cuts without a pass between them
    parts.append(model.forward(tokens[None, 5:6], cache))
    model.forward(junk[None, :1], cache)
    cache.truncate(torch.tensor([6]))
    parts.append(model.forward(tokens[None, 6:], cache))
    close(torch.cat(parts, 1)[0], whole(model, tokens))
    assert cache.length.tolist() == [12]


@KINDS
def test_back_to_nothing_and_a_cut_of_nothing(kind: str):
    model, tokens = adapter(kind), text(6)
    cache = model.new_cache()
    model.forward(text(9, seed=1)[None], cache)
    cache.truncate(0)
    model.forward(tokens[None, :4], cache)
    cache.truncate(4)
    close(model.forward(tokens[None, 4:], cache)[0], whole(model, tokens)[4:])


@KINDS
def test_rows_of_unequal_length_equal_the_rows_alone(kind: str):
    model, rows = adapter(kind), torch.stack([text(8, seed=2), text(8, seed=3)])
    cache = model.new_cache(2)
    model.forward(rows, cache)
    cache.truncate([3, 6])
    new = torch.stack([text(3, seed=4), text(3, seed=5)])
    got = model.forward(new, cache)
    for row, kept in enumerate([3, 6]):
        close(got[row], whole(model, torch.cat([rows[row, :kept], new[row]]))[kept:])


@KINDS
def test_only_the_new_tokens_are_fed(kind: str):
    model = adapter(kind)
    fed: list[int] = []
    model.model.get_decoder().get_input_embeddings().register_forward_hook(
        lambda module, inputs, output: fed.append(inputs[0].numel())
    )
    cache = model.new_cache()
    for count in (6, 1, 3):
        model.forward(text(count)[None], cache)
    assert fed == [6, 1, 3]


def test_the_encoder_runs_once_for_each_source_and_when_it_is_needed():
    model, runs = t5(), []
    model.get_encoder().register_forward_hook(lambda *_: runs.append(1))
    pair = EncoderDecoder(model, SOURCE)
    assert not runs
    for _ in range(2):
        cache = pair.new_cache(2)
        pair.forward(text(3).expand(2, 3), cache)
        cache.truncate(1)
        pair.forward(text(2).expand(2, 2), cache)
    assert len(runs) == 1
    pair.set_source([4, 4, 8])
    pair.new_cache(), pair.new_cache()
    assert len(runs) == 2


def test_a_cache_keeps_the_source_that_it_was_made_for():
    model, tokens = EncoderDecoder(t5(), [4, 4, 8]), text(3)
    other = model.new_cache()
    model.set_source(SOURCE)
    cache = model.new_cache()
    close(model.forward(tokens[None], cache)[0], whole(model, tokens))
    assert (model.forward(tokens[None], other)[0] - whole(model, tokens)).abs().max() > 1e-3


def test_decoding_starts_from_one_token_and_needs_a_source():
    model = EncoderDecoder(t5())
    assert model.prompt == [0]
    with pytest.raises(ValueError, match="call set_source"):
        model.new_cache()


@pytest.mark.parametrize("kind, longest", [("gpt2", 128), ("llama", 128), ("t5", None)])
def test_sizes(kind: str, longest: int | None):
    model = adapter(kind)
    assert (model.vocab_size, model.max_length) == (V, longest)
    assert model.device == torch.device("cpu")


def test_texts_end_where_longrope_would_turn_the_keys_another_way():
    factors = {"short_factor": [1.0] * 4, "long_factor": [4.0] * 4}
    rope = {"rope_type": "longrope", "rope_theta": 1e4, "original_max_position_embeddings": 8}
    config = Phi3Config(
        **NARROW, max_position_embeddings=64, original_max_position_embeddings=8,
        rope_parameters=rope | factors,
    )  # fmt: skip
    model, tokens = Causal(causal(config)), text(8)
    cache = model.new_cache()
    parts = [model.forward(part[None], cache) for part in tokens.split((3, 1, 4))]
    close(torch.cat(parts, 1)[0], whole(model, tokens))
    assert model.max_length == 8
    with pytest.raises(ValueError, match="room for 8 positions"):
        model.forward(text(1)[None], cache)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
@pytest.mark.parametrize("capacity, room", [(None, 128), (10, 10), (999, 128)])
def test_the_room_ends_at_the_capacity_and_at_the_last_position(
    kind: str, capacity: int | None, room: int
):
    model = adapter(kind)
    cache = model.new_cache(capacity=capacity)
    model.forward(text(room)[None], cache)
    with pytest.raises(ValueError, match=f"room for {room} positions"):
        model.forward(text(1)[None], cache)


@KINDS
def test_a_cut_vocabulary_is_the_first_columns(kind: str):
    model, tokens = adapter(kind), text(4)
    model.cut_vocabulary(30)
    assert model.vocab_size == 30
    close(model.forward(tokens[None], model.new_cache())[0], whole(model, tokens)[:, :30])
    for size in (0, 31):
        with pytest.raises(ValueError, match="30 columns"):
            model.cut_vocabulary(size)


def test_no_dropout():
    config = GPT2Config(**SIZES, n_positions=32, resid_pdrop=0.5, embd_pdrop=0.5)
    model = Causal(causal(config).train())
    first, second = (model.forward(text(4)[None], model.new_cache()) for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.parametrize("kind", NOT_ALL_SEEN)
def test_speculative_text_is_that_of_transformers_with_its_own_cache(kind: str):
    model, draft = (CAUSAL[kind]() for _ in range(2))
    prompts = [text(9).tolist(), text(3, seed=1).tolist()]
    expected = greedy_text(model, prompts, 14)
    accepted = require_identical(Causal(model), Causal(worse(draft)), prompts, expected, ks=[3])
    assert 0 < sum(accepted) < 3 * len(accepted)


def test_a_running_state_is_refused():
    config = MambaConfig(vocab_size=V, hidden_size=16, num_hidden_layers=1)
    with pytest.raises(ValueError, match="type mamba keeps a running state"):
        Causal(causal(config))


def test_a_running_state_that_shows_in_the_first_pass_is_refused(monkeypatch):
    config = Qwen3NextConfig(
        **NARROW, num_experts=2, num_experts_per_tok=1, linear_num_key_heads=2,
        linear_num_value_heads=2, linear_key_head_dim=8, linear_value_head_dim=8,
        moe_intermediate_size=8, shared_expert_intermediate_size=8,
        layer_types=["linear_attention", "full_attention"],
    )  # fmt: skip
    model = causal(config).float()
    monkeypatch.setattr(type(model), "_is_stateful", False)
    hidden = Causal(model)
    with pytest.raises(ValueError, match="type qwen3_next keeps a running state"):
        hidden.forward(text(3)[None], hidden.new_cache())


def test_layers_of_an_unknown_kind_are_refused(monkeypatch):
    monkeypatch.setattr(hf, "KEPT", set())
    with pytest.raises(ValueError, match="type gpt2 has layers whose cache is a DynamicLayer"):
        Causal(gpt2())


def test_a_model_that_ignores_its_cache_is_refused():
    model = Causal(causal(OpenAIGPTConfig(vocab_size=V, n_embd=16, n_layer=1, n_head=2)))
    with pytest.raises(ValueError, match="type openai-gpt did not add to its cache"):
        model.forward(text(3)[None], model.new_cache())


@pytest.mark.parametrize("make", [gpt2, t5], ids=["gpt2", "t5"])
def test_load_picks_the_kind_from_the_folder(make, tmp_path: Path):
    saved = make()
    saved.float().save_pretrained(tmp_path)
    model = load(tmp_path, dtype=torch.float64)
    assert type(model) is (
        EncoderDecoder if isinstance(saved, T5ForConditionalGeneration) else Causal
    )
    assert model.dtype == torch.float64
    if isinstance(model, EncoderDecoder):
        model.set_source(SOURCE)
    tokens = text(5)
    close(model.forward(tokens[None], model.new_cache())[0], whole(model, tokens))
