"""The figures of chapter 07 that show measurements, and what formulas make of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from specdec_lib.lessons.drawing.series import series_figure

if TYPE_CHECKING:
    from specdec_lib.models.llama import Llama


def states_of(target: "Llama", text: Sequence[int]) -> tuple[Tensor, int]:
    """The hidden states (T, width) after each token of a text, and the token chosen after them."""
    passes, cache = [], target.new_cache(1, len(text))
    logits = target.forward(torch.tensor([text]), cache, observe=passes.append)
    return passes[0].states[0], int(logits[0, -1].argmax())


def heads(measured: dict[tuple[str, float], float], k: int) -> None:
    """Tokens per pass in blocks of `k` draft tokens, by (drafter, temperature)."""
    names = list(dict.fromkeys(name for name, _ in measured))
    tokens = {f"temperature {t}": [measured[name, t] for name in names] for t in (0, 1)}
    title = f"Tokens per pass on the built-in target, K = {k}"
    roles = ("target", "residual")
    series_figure(title, names, tokens, kind="bars", roles=roles, text=".2f", ylabel="tokens")
