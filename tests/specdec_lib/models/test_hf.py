"""Hugging Face models by the protocol, on tiny random ones in float64.

The expected logits come from one pass of transformers over the whole sequence, without a cache.
"""

from copy import deepcopy
from functools import partial

import pytest
import torch
import transformers
from decoders.greedy import first_tokens, greedy_text, require_identical, with_noise
from decoders.random_models import ENDLESS, MODELS, VOCAB, gpt2, llama, t5
from torch import Tensor

from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.errors import SpecdecError
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Greedy, Warp

SOURCE = [7, 3, 9, 9, 1]
ADAPTERS = MODELS["adapters"]


def causal(config: str, **fields: object) -> transformers.PreTrainedModel:
    """A model of that configuration, whose fields are copied: a configuration changes them."""
    torch.manual_seed(5)
    fields = ADAPTERS["sizes"] | ENDLESS | {"vocab_size": VOCAB} | deepcopy(fields)
    made = getattr(transformers, config)(**fields)
    return transformers.AutoModelForCausalLM.from_config(made).double().eval()


KINDS_OF = {name: partial(causal, **row) for name, row in ADAPTERS["kinds"].items()}
SLIDING = ("mistral", "gemma3")
MAKERS = {"gpt2": gpt2, "llama": partial(llama, kv_heads=1), **KINDS_OF, "t5": t5}
KINDS = pytest.mark.parametrize("kind", MAKERS)


def adapter(kind: str) -> Causal | EncoderDecoder:
    model = MAKERS[kind]()
    return EncoderDecoder(model, SOURCE) if kind == "t5" else Causal(model)


def whole(model: Causal | EncoderDecoder, tokens: Tensor) -> Tensor:
    """The logits (T, V) of one pass of transformers over `tokens` (T,), without a cache."""
    inputs = {"input_ids": tokens[None]}
    if isinstance(model, EncoderDecoder):
        inputs = {"input_ids": torch.tensor([SOURCE]), "decoder_input_ids": tokens[None]}
    with torch.no_grad():
        return model.model(**inputs, use_cache=False).logits[0]


def text(length: int, seed: int = 0) -> Tensor:
    return torch.randint(VOCAB, (length,), generator=torch.Generator().manual_seed(seed))


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)


@KINDS
def test_chunks_with_rollback_equal_one_whole_pass(kind: str):
    model, tokens, junk = adapter(kind), text(12), text(4, seed=1)
    cache = model.new_cache()
    model.forward(junk[None], cache)
    cache.truncate(0)
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


@pytest.mark.parametrize("row", ADAPTERS["limited"].values(), ids=ADAPTERS["limited"])
def test_a_text_ends_before_rotary_factors_change(row: dict):
    limit = row["limit"]
    model = Causal(causal(**{name: value for name, value in row.items() if name != "limit"}))
    for prompt, more in ((20, limit - 20), (limit, 0)):
        made = plain_generate(model, [text(prompt).tolist()], Settings(more, Warp(0)), Greedy())
        expected = greedy_text(model.model, [text(prompt).tolist()], more) if more else [[]]
        assert made.tokens == expected
        with pytest.raises(SpecdecError, match=f"max_length is {limit}, where its rotary factors"):
            plain_generate(model, [text(prompt).tolist()], Settings(more + 1, Warp(0)), Greedy())


@KINDS
def test_rows_of_unequal_length_equal_the_rows_alone(kind: str):
    model, rows = adapter(kind), torch.stack([text(8, seed=2), text(8, seed=3)])
    cache = model.new_cache(2)
    model.forward(rows, cache)
    cache.truncate([3, 6])
    new = torch.stack([text(3, seed=4), text(3, seed=5)])
    found = model.forward(new, cache)
    for row, kept in enumerate([3, 6]):
        close(found[row], whole(model, torch.cat([rows[row, :kept], new[row]]))[kept:])


@KINDS
def test_only_the_new_tokens_are_fed(kind: str):
    model, fed = adapter(kind), []
    model.model.get_decoder().get_input_embeddings().register_forward_hook(
        lambda module, inputs, output: fed.append(inputs[0].numel())
    )
    cache = model.new_cache()
    for count in (6, 1, 3):
        model.forward(text(count)[None], cache)
    assert fed == [6, 1, 3]


@pytest.mark.parametrize("kind", ["our llama", "gpt2", *SLIDING, "t5"])
def test_the_tokens_are_those_of_greedy_generate(kind: str, models: list[Llama]):
    """In float64, in which rounding decides no argmax, alone and in a batch."""
    prompts = [text(length, seed=length).tolist() for length in (1, 20, 7, 12)]
    if kind == "our llama":
        theirs, (target, draft) = llama(), models
    else:
        theirs, target, draft = MAKERS[kind](), adapter(kind), adapter(kind)
        with_noise(draft.model)
    expected = greedy_text(theirs, prompts, 14)
    plain = plain_generate(target, first_tokens(prompts, target), Settings(14, Warp(0)), Greedy())
    assert plain.tokens == expected
    accepted = require_identical(target, draft, prompts, expected, ks=[4])
    assert len(set(accepted)) > 2  # the draft is neither useless nor perfect


def test_encoder_runs_once_for_each_source_and_only_when_needed():
    model, runs = t5(), []
    model.get_encoder().register_forward_hook(lambda *_: runs.append(1))
    pair = EncoderDecoder(model, SOURCE)
    assert not runs
    for _ in range(2):
        pair.forward(text(3).expand(2, 3), pair.new_cache(2))
    assert len(runs) == 1
    pair.set_source([4, 4, 8])
    pair.new_cache(), pair.new_cache()
    assert len(runs) == 2


def test_cache_keeps_the_source_that_it_was_made_for():
    model, tokens = EncoderDecoder(t5(), [4, 4, 8]), text(3)
    other = model.new_cache()
    model.set_source(SOURCE)
    close(model.forward(tokens[None], model.new_cache())[0], whole(model, tokens))
    assert (model.forward(tokens[None], other)[0] - whole(model, tokens)).abs().max() > 1e-3


def test_model_that_ignores_its_cache_is_refused():
    config = transformers.OpenAIGPTConfig(vocab_size=VOCAB, n_embd=16, n_layer=1, n_head=2)
    model = Causal(transformers.AutoModelForCausalLM.from_config(config).double().eval())
    with pytest.raises(ValueError, match="type openai-gpt does not use a DynamicCache"):
        model.forward(text(3)[None], model.new_cache())
