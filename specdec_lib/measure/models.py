"""The built-in models and their costlier versions, loaded once for all that is measured."""

from functools import cache
from typing import Any

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.models.catalogue import SMOLLM2, PairError
from specdec_lib.models.function import logits_of
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.scale import target_weights
from specdec_lib.models.smollm2 import CHAT_END, DRAFT_MODEL

CPU = torch.device("cpu")


def target_dtypes() -> tuple[torch.dtype, ...]:
    """What targets may run in on this CPU: without instructions for bfloat16 it is never fastest.

    float32 weights that float16 holds are read in 16 bits too (models/linear.py).
    """
    capabilities = torch.cpu.get_capabilities()
    names = ("avx512_bf16", "amx_bf16", "bf16")  # the last one is ARM's
    has_bfloat16 = any(capabilities.get(name) for name in names)
    return (torch.float32, torch.bfloat16) if has_bfloat16 else (torch.float32,)


@cache
def load_target(size: str | None, dtype: torch.dtype) -> Llama:
    """The built-in target, with `size` at the cost of a model of that size."""
    return Llama(target_weights(size, dtype))


@cache
def load_draft(name: str, dtype: torch.dtype = torch.float32) -> Llama:
    """A built-in draft."""
    return Llama.from_folder(ASSETS / name, CPU, dtype)


def fetched_chat(question: str, count: int) -> tuple[Any, ...] | None:
    """What chapter 02's `real_text` reads for an answer of up to `count` tokens.

    None, and a line that says how to fetch it, where the pair is not in the cache.
    """
    try:
        pair = load_pair(SMOLLM2, DRAFT_MODEL, device=CPU, dtype=torch.float32)
    except PairError as error:
        print(f"Left out: {error}.")
        return None
    prompt = pair.start(pair.chat(question))
    functions = (logits_of(model, len(prompt) + count) for model in (pair.target, pair.draft))
    return *functions, prompt, pair.tokenizer.decode, CHAT_END
