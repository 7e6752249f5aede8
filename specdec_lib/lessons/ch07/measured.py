"""The figures of chapter 07 that show measurements, and what formulas make of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from specdec_lib.lessons.ch07 import computed
from specdec_lib.lessons.common.distributions import overlap
from specdec_lib.lessons.common.drawing import picture
from specdec_lib.lessons.common.series import draw, series_figure
from specdec_lib.lessons.common.style import show
from specdec_lib.theory import expected_tokens


def states_of(target: Any, text: Sequence[int]) -> tuple[Tensor, int]:
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


def blocks_compared(p: np.ndarray, q: np.ndarray, most: int) -> None:
    """Accepted draft tokens of token and block verification, and how far what comes out is off."""
    counts, beta = range(1, most + 1), overlap(p, q)
    token = [expected_tokens(beta, k) - 1 for k in counts]
    laws, block = zip(*(computed.block_law(p, q, k) for k in counts), strict=True)
    off = float(np.abs(laws[2] - computed.outer([p] * 4)).max())
    title = "Accepted draft tokens per block, by verifier"
    ax, places = picture(title, "accepted"), [f"K = {k}" for k in counts]
    values, roles = {"token by token": token, "the block as a whole": block}, ("target", "residual")
    told = draw(ax, places, values, kind="bars", roles=roles, text=".2f")
    ax.set_xlabel(f"exact at K = 3: no text's probability is off by more than {off:.0e}")
    ax.set_ylim(0, 1.2 * max(block))
    ax.legend(loc="upper left")
    show(ax.figure, f"{title}. {told}. For K = 3 the distribution is off by {off:.0e} at most.")
