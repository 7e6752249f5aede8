"""The memory plan of published pairs, against models of those shapes."""

import pytest
import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PretrainedConfig,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from specdec_lib.models.catalogue import PUBLISHED
from specdec_lib.models.plan import Plan, plan, plan_of_rows

GIGA = 1e9
MODELS = {name: each for name, each in PUBLISHED["repositories"].items() if "shape" in each}
HEADS = {  # queries; where not named as many as keys
    "Qwen/Qwen3-0.6B": 16,
    "Qwen/Qwen3-4B": 32,
    "Qwen/Qwen3-14B": 40,
    "Qwen/Qwen3-32B": 64,
    "HuggingFaceTB/SmolLM2-135M": 9,
    "HuggingFaceTB/SmolLM2-360M": 15,
}
UNTIED = ("Qwen/Qwen3-14B", "Qwen/Qwen3-32B", "lmsys/vicuna-7b-v1.3", "double7/vicuna-68m")


def empty_model(name: str) -> PreTrainedModel:
    """A model of the sizes that the table gives, without memory."""
    sizes = MODELS[name]["shape"]
    with torch.device("meta"):
        if "t5" in name:
            return T5ForConditionalGeneration(t5_config(sizes))
        kinds = (
            (Qwen3Config, Qwen3ForCausalLM) if "Qwen3" in name else (LlamaConfig, LlamaForCausalLM)
        )
        return kinds[1](llama_config(kinds[0], name, sizes))


def t5_config(sizes: dict) -> T5Config:
    return T5Config(
        vocab_size=sizes["vocabulary"],
        d_model=sizes["width"],
        d_kv=sizes["head_width"],
        d_ff=sizes["mlp"],
        num_layers=sizes["layers"],
        num_heads=sizes["kv_heads"],
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
    )


def llama_config(kind: type[PretrainedConfig], name: str, sizes: dict) -> PretrainedConfig:
    return kind(
        vocab_size=sizes["vocabulary"],
        hidden_size=sizes["width"],
        intermediate_size=sizes["mlp"],
        num_hidden_layers=sizes["layers"],
        num_attention_heads=HEADS.get(name, sizes["kv_heads"]),
        num_key_value_heads=sizes["kv_heads"],
        head_dim=sizes["head_width"],
        tie_word_embeddings=name not in UNTIED,
    )


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_table_s_sizes_are_those_of_models(name: str):
    count = sum(weight.numel() for weight in empty_model(name).parameters())
    if "t5" in name:  # transformers ties the head, and lets go where the files hold another one
        count += MODELS[name]["shape"]["vocabulary"] * MODELS[name]["shape"]["width"]
    assert count == MODELS[name]["shape"]["parameters"]
    # A file holds two bytes a parameter or four, and sometimes a tied head once more.
    assert 1.9 < MODELS[name]["gigabytes"] * GIGA / count < 4.1


def test_every_card_has_a_pair_that_fits_it_and_none_smaller():
    cards = (8, 16, 24, 40, 80)
    assert {pair["card"] for pair in PUBLISHED["pairs"].values()} == set(cards)
    for name, pair in PUBLISHED["pairs"].items():
        fits = [card for card in cards if plan(name, card * GIGA).bytes <= card * GIGA]
        assert fits[0] == pair["card"], name


def test_a_plan_is_the_sum_of_its_parts():
    found = plan_of_rows("vicuna", rows=2)
    numbers = 2 * 32 * 32 * 128 + 2 * 2 * 12 * 64  # of a position in both caches
    assert found.weights == 2 * (6_738_415_616 + 68_030_208)
    assert found.caches == 3 * 640 * 2 * numbers  # two rows, and transformers' own
    assert found.making == 2 * 2 * 11008 * 4096
    parts = found.weights + found.making + found.caches + found.workspace
    assert found.bytes == parts
    assert plan_of_rows("vicuna", 2, itemsize=4).weights == 2 * found.weights


def test_fewer_rows_are_taken_before_a_pair_is_given_up():
    eight, one = plan_of_rows("smollm2", 8), plan_of_rows("smollm2", 1)
    assert plan("smollm2", eight.bytes) == eight
    assert plan("smollm2", eight.bytes - 1).rows == 4
    assert plan("smollm2", one.bytes) == one == plan("smollm2", 0)
    assert plan("smollm2", None) == eight


def test_the_answer_has_both_numbers():
    needed = Plan(1, 29_000_000_000, 0, 0, 500_000_000)
    assert needed.answer(24e9) == "does not fit: 29.5 of 24.0 GB"
    assert needed.answer(40e9) == "fits: 29.5 of 40.0 GB"
    assert "not known" in needed.answer(None)
