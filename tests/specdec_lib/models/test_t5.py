"""T5 in fixed shapes: the logits of transformers, and the texts of the eager decoder, captured."""

import numpy as np
import pytest
import torch
from decoders.card import Card, card_for
from decoders.random_models import VOCAB, llama, t5
from transformers import T5Config, T5ForConditionalGeneration

from specdec_lib.decoding.fixed_shape.graph import GraphDecoder
from specdec_lib.decoding.fixed_shape.step import BUCKET
from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.t5 import T5Decoder
from specdec_lib.sampling import Warp, choices_for

LONG, SHORT = [7, 3, 9, 9, 1, 4, 4, 8, 2], [5, 6]
ROOM, NEW = 16, 12
PIECES = (5, 1, 120, 1, 3, 30)  # beyond the distance from which on all are alike
SETTINGS = [
    (0, Warp(0)),
    (4, Warp(0)),
    (3, Warp(0.8, top_k=7)),
]
CARDS = ("stand-in", pytest.param("cuda", marks=pytest.mark.cuda))


def text(length: int) -> torch.Tensor:
    return torch.randint(1, VOCAB, (length,), generator=torch.Generator().manual_seed(0))


def tied() -> T5ForConditionalGeneration:
    """A T5 as it was before version 1.1: no gate, and the logits are scaled."""
    torch.manual_seed(3)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_heads": 2, "num_layers": 1}
    layers = {"num_decoder_layers": 3, "decoder_start_token_id": 0, "initializer_factor": 3.0}
    return T5ForConditionalGeneration(T5Config(vocab_size=VOCAB, **sizes, **layers)).double()


@pytest.mark.parametrize("make", [t5, tied])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_logits_are_those_of_transformers(make, rows: int):
    whole, tokens = EncoderDecoder(make()), text(sum(PIECES))
    model = T5Decoder(whole, ROOM)
    for source in (LONG, SHORT):  # the second in the room of a longer one
        model.read(source)
        cache = model.new_fixed_cache(rows, 2 * BUCKET)
        model.forward(torch.zeros(rows, 1, dtype=torch.long), cache)
        parts = [model.forward(p.expand(rows, -1), cache) for p in tokens.split(PIECES)]
        with torch.no_grad():
            expected = whole.model(
                input_ids=torch.tensor([source]), decoder_input_ids=tokens[None], use_cache=False
            ).logits
        torch.testing.assert_close(
            torch.cat(parts, 1), expected.expand(rows, -1, -1), rtol=0, atol=1e-9
        )


@pytest.fixture(params=CARDS)
def card(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Card:
    return card_for(request.param, monkeypatch)


def both(device: torch.device) -> list[EncoderDecoder]:
    """A target, and a draft that is it with a layer less and so agrees with it often."""
    target, draft = t5(layers=3), t5(layers=3)
    draft.decoder.block = draft.decoder.block[:2]
    return [EncoderDecoder(each.to(device)) for each in (target, draft)]


def eager(models: list[EncoderDecoder], k: int, warp: Warp, source: list[int], tokens: int):
    target, draft = models
    for each in models:
        each.set_source(source)
    drawn = choices_for(warp, [np.random.default_rng(1)])
    if not k:
        return plain_generate(target, [target.prompt], Settings(tokens, warp), drawn)
    drafter, settings = ModelDrafter(draft), Settings(tokens, warp)
    return speculative_generate(target, drafter, [target.prompt], k, settings, drawn)


@pytest.mark.parametrize(("k", "warp"), SETTINGS)
def test_captured_texts_are_those_of_the_eager_decoder(card: Card, k: int, warp: Warp):
    """Of two sources in turn, by the same graphs."""
    models = [T5Decoder(each, ROOM) for each in both(card.device)]
    target, draft = models
    decoder = GraphDecoder(target, draft if k else None, 1, BUCKET, k, warp)
    for source in (LONG, SHORT):
        for model in models:
            model.read(source)
        drawn = [np.random.default_rng(1)]
        made = decoder.generate([target.prompt], Settings(NEW, warp), drawn)
        # With k more to write, the eager path drafts k tokens in every block that counts here.
        expected = eager(both(torch.device("cpu")), k, warp, source, NEW + k)
        assert made.tokens == [expected.tokens[0][:NEW]]
    assert list(decoder.graphs) == [BUCKET]
    assert not k or any(block.accepted for block in made.blocks[0])


def test_the_tensors_are_those_of_transformers():
    whole = EncoderDecoder(t5())
    before = {each.data_ptr() for each in whole.model.parameters()}
    model = T5Decoder(whole, ROOM)
    own = [each for each in vars(model).values() if isinstance(each, torch.Tensor)]
    assert [each.shape for each in own] == [(129, 4)]  # of 4 heads, by distance
    assert {each.data_ptr() for each in model.stack.parameters()} <= before


def test_what_cannot_be_captured_is_refused():
    model = T5Decoder(EncoderDecoder(t5()), ROOM)
    with pytest.raises(ValueError, match=r"needs a text: call read\(ids\) first"):
        model.forward(torch.zeros(1, 1, dtype=torch.long), model.new_fixed_cache(1, BUCKET))
    with pytest.raises(ValueError, match="a source of 17 tokens, and there is room for 16"):
        model.read([1] * 17)
    with pytest.raises(ValueError, match="type t5 in torch.float16 is not captured"):
        T5Decoder(EncoderDecoder(t5().half()), ROOM)
    with pytest.raises(ValueError, match="type llama in torch.float64 is not captured"):
        T5Decoder(Causal(llama()), ROOM)


def test_bfloat16_is_as_close_as_transformers_is_to_itself():
    """Against float64, whose weights are those of bfloat16."""
    narrow = t5().bfloat16()
    exact = t5()
    exact.load_state_dict({name: each.double() for name, each in narrow.state_dict().items()})
    tokens, ids = text(40)[None], torch.tensor([LONG])
    model = T5Decoder(EncoderDecoder(narrow), ROOM)
    model.read(LONG)
    cache = model.new_fixed_cache(1, BUCKET)
    model.forward(torch.zeros(1, 1, dtype=torch.long), cache)
    with torch.no_grad():
        wanted, theirs = (
            each(input_ids=ids, decoder_input_ids=tokens).logits for each in (exact, narrow)
        )
    errors = [(found - wanted).square().mean() for found in (model.forward(tokens, cache), theirs)]
    assert 0 < errors[0] < 1.5 * errors[1]
