"""At temperature 0 speculative decoding gives the tokens of transformers' own greedy `generate`.

In float64, in which rounding decides no argmax, on models of three families with a worse draft of
the same family, alone and in a batch of four.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from decoders.greedy import begin, greedy_text, require_identical, worse
from decoders.random_models import VOCAB, gpt2, llama, t5
from transformers import PreTrainedModel

from specdec_lib.decoding.generate import plain_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.models.hf import Causal, EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Greedy, Warp

TOKENS, K = 12, 4


def texts() -> list[list[int]]:
    """Four prompts of random tokens."""
    random = torch.Generator().manual_seed(11)
    return [torch.randint(1, VOCAB, (n,), generator=random).tolist() for n in (1, 20, 7, 12)]


def our_llama(model: PreTrainedModel, folder: Path) -> Llama:
    """Our own forward pass over the model's weights."""
    model.save_pretrained(folder)
    return Llama.from_folder(folder, dtype=torch.float64)


ADAPTERS: dict[str, tuple[Callable, Callable]] = {
    "llama": (llama, our_llama),
    "gpt2": (gpt2, lambda model, _: Causal(model)),
    "t5": (t5, lambda model, _: EncoderDecoder(model)),
}


@pytest.mark.parametrize("family", ADAPTERS)
def test_the_tokens_are_those_of_greedy_generate(family: str, tmp_path: Path):
    make, adapt = ADAPTERS[family]
    target, draft = adapt(make(), tmp_path / "target"), adapt(worse(make()), tmp_path / "draft")
    expected = greedy_text(make(), texts(), TOKENS)
    plain = plain_generate(target, begin(texts(), target), Settings(TOKENS, Warp(0)), Greedy())
    assert plain.tokens == expected
    accepted = require_identical(target, draft, texts(), expected, [K])
    assert len(set(accepted)) > 2  # the draft is neither useless nor perfect
