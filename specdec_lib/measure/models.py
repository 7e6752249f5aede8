"""The built-in models and their costlier versions, loaded once for all that is measured."""

from functools import cache

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.measure.acceptance import TokenAcceptance, model_reader, token_acceptances
from specdec_lib.measure.prompts import encoded_documents
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import target_weights

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
    """The built-in target, or it at the cost of a larger `size`."""
    return Llama(target_weights(size, dtype))


@cache
def load_draft(name: str, dtype: torch.dtype = torch.float32) -> Llama:
    """A built-in draft."""
    return Llama.from_folder(ASSETS / name, CPU, dtype)


def two_functions(name: str) -> list[TokenAcceptance]:
    """Two functions of held-out code (modulefinder.py), token by token, with this draft.

    The models have read the 300 tokens above them.
    """
    (ids,) = (text.ids for text in encoded_documents() if text.name == "modulefinder.py")
    p, q = model_reader(load_target(None, torch.float32)), model_reader(load_draft(name))
    first, *rest = token_acceptances(p, q, ids[1246:1723], start=300)
    return [first._replace(piece=first.piece.lstrip("\n")), *rest]
