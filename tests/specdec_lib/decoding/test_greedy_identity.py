"""At temperature 0 speculative decoding gives the tokens of transformers' own greedy `generate`.

In float64, in which rounding decides no argmax, on models of three families with a worse draft of
the same family: alone and in batches of four, for a few prompts and K, and in the slow test for 50
prompts and every K from 1 to 8, each prompt alone with one K. The built-in models have the same two
tests in `test_assets.py`.
"""

from collections.abc import Callable, Iterable
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

PROMPTS, TOKENS = 50, 12
GREEDY = Settings(TOKENS, Warp(temperature=0))


def texts() -> list[list[int]]:
    """Prompts of 1 to 20 random tokens."""
    random = torch.Generator().manual_seed(11)
    lengths = torch.randint(1, 21, (PROMPTS,), generator=random).tolist()
    return [torch.randint(1, VOCAB, (n,), generator=random).tolist() for n in lengths]


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
    identical(family, texts()[:14], (1, 4, 8), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("family", ADAPTERS)
def test_the_tokens_are_those_of_greedy_generate_for_50_prompts(family: str, tmp_path: Path):
    identical(family, texts(), range(1, 9), tmp_path, apart=8)


def identical(
    family: str, prompts: list[list[int]], ks: Iterable[int], folder: Path, apart: int = 1
) -> None:
    """Compare with `generate`, with a draft that is neither useless nor perfect."""
    make, adapt = ADAPTERS[family]
    target, draft = adapt(make(), folder / "target"), adapt(worse(make()), folder / "draft")
    expected = greedy_text(make(), prompts, TOKENS)
    accepted = require_identical(target, draft, prompts, expected, ks, apart)
    assert min(accepted) == 0 and max(accepted) == 8


@pytest.mark.parametrize("family", ADAPTERS)
def test_plain_decoding_gives_them_too(family: str, tmp_path: Path):
    make, adapt = ADAPTERS[family]
    prompts, target = texts()[:8], adapt(make(), tmp_path)
    made = plain_generate(target, begin(prompts, target), GREEDY, Greedy())
    assert made.tokens == greedy_text(make(), prompts, TOKENS)
