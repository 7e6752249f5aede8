"""A Llama's layers as kernels that torch.compile makes, for passes of fixed shape on a GPU.

A layer is two norms, four products, a rotation, the writing of keys and values, attention, a gated
product and two sums. Each small one is a kernel that reads and writes memory and takes microseconds
to start; compiled, they become parts of few. One compilation serves all layers of one size.
"""

from typing import NamedTuple

import torch

from specdec_lib.models.llama import Layer, Llama, RunLayer

# None with CUDA graphs of its own: ours is of the whole step. The second chooses products by trial,
# which takes minutes for a shape; the first leaves them to cuBLAS.
MODES = ("default", "max-autotune-no-cudagraphs")
# Compilations at most: each width of pass, number of rows, size of model and length read is one.
MOST = 256
TRIED = 128  # positions of the cache that the trial pass reads


class Compiled(NamedTuple):
    """How layers are run: compiled, or with None as written, and why."""

    run: RunLayer | None
    reason: str


def compiled(model: Llama, mode: str | None = MODES[0], backend: str = "inductor") -> Compiled:
    """The layers of `model` compiled in a mode of MODES, if one pass can be compiled here.

    If it cannot (no Triton, no compiler, a construct that is not taken), layers run as they are
    written and `reason` says why. Every new shape is compiled at its first pass.
    """
    run = torch.compile(
        Layer.__call__,
        fullgraph=True,
        dynamic=False,
        backend=backend,
        mode=mode,
        recompile_limit=MOST,
    )
    try:
        cache = model.new_fixed_cache(1, TRIED)
        token = torch.zeros(1, 1, dtype=torch.long, device=model.device)
        with torch.inference_mode():  # as in decoding: a compilation holds for one or the other
            model.forward(token, cache, run=run)
    except Exception as error:  # what a compiler fails with is no one class
        return Compiled(None, f"not compiled: {first_line(error)}")
    return Compiled(run, f"layers compiled with {backend}" + (f", {mode}" if mode else ""))


def first_line(error: Exception) -> str:
    """The error's class and the first line that it says."""
    lines = str(error).strip().splitlines() or ["no message"]
    return f"{type(error).__name__}: {lines[0]}"
