"""How fast rotary embedding (Su et al., 2021) turns each pair of a head, in published models.

Pair i of a head of width D turns by theta^(-2i/D) radians a position. A model that was trained on
texts of `original_max_position_embeddings` reads longer ones if its slow pairs, which had not come
round once, turn slower still. `rope_type` in config.json says how:

    default  not at all
    linear   every pair `factor` times slower (Chen et al., 2023, arXiv:2306.15595)
    llama3   pairs that came round fewer than `low_freq_factor` times `factor` times slower, those
             of more than `high_freq_factor` times as before, those between by a share of both
    yarn     likewise, the share counted by pairs and not by rounds, and queries and keys made a
             little longer (Peng et al., 2023, arXiv:2309.00071)
    dynamic  theta grows with the text, from max_position_embeddings on: our models end there, so
             that nothing is stretched. Beyond it, a key would depend on when it was computed, and
             checking K tokens in one pass would differ from writing them one by one.
    longrope the same holds from original_max_position_embeddings on, and it is not supported

The formulas are those of transformers 5.23.0, modeling_rope_utils.py, there in float32.
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

Parameters = Mapping[str, float]  # by their names in config.json

ORIGINAL = "original_max_position_embeddings"
# What must be there for each rope_type that is supported.
NEEDED = {
    "default": (),
    "dynamic": (),
    "linear": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", ORIGINAL),
    "yarn": ("factor", ORIGINAL),
}


def frequencies(width: int, theta: float, rope: Parameters) -> Tensor:
    """Radians a position of each pair of a head of `width`: (width / 2,) float64."""
    plain = theta ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    stretch = STRETCH.get(rope.get("rope_type", "default"))
    return plain if stretch is None else stretch(plain, theta, rope)


def amplitude(rope: Parameters) -> float:
    """What cosines and sines are multiplied by: more than 1 with yarn only."""
    if rope.get("rope_type") != "yarn":
        return 1.0
    if rope.get("attention_factor") is not None:
        return rope["attention_factor"]
    long, all_pairs = rope.get("mscale"), rope.get("mscale_all_dim")
    if long and all_pairs:
        return growth(rope["factor"], long) / growth(rope["factor"], all_pairs)
    return growth(rope["factor"], 1.0)


def growth(factor: float, scale: float) -> float:
    """0.1 ln(factor) + 1, as in the paper of yarn; `scale` is DeepSeek's."""
    return 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0


def linear(plain: Tensor, theta: float, rope: Parameters) -> Tensor:
    """Every pair slower."""
    return plain / rope["factor"]


def llama3(plain: Tensor, theta: float, rope: Parameters) -> Tensor:
    """Slow pairs slower, by how often they come round in the original length."""
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    rounds = rope[ORIGINAL] * plain / (2 * math.pi)
    kept = ((rounds - low) / (high - low)).clamp(0, 1)
    return kept * plain + (1 - kept) * plain / rope["factor"]


def yarn(plain: Tensor, theta: float, rope: Parameters) -> Tensor:
    """Slow pairs slower, by their number between the two that come round fast and slow times."""
    fast, slow = rope.get("beta_fast") or 32, rope.get("beta_slow") or 1
    first, last = (pair_of(rounds, 2 * len(plain), theta, rope) for rounds in (fast, slow))
    if rope.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, 2 * len(plain) - 1)
    width = last - first or 0.001
    slower = ((torch.arange(len(plain), dtype=torch.float64) - first) / width).clamp(0, 1)
    return (1 - slower) * plain + slower * plain / rope["factor"]


def pair_of(rounds: float, width: int, theta: float, rope: Parameters) -> float:
    """The number of the pair, not a whole one, that comes round so often in the original length."""
    longest = rope[ORIGINAL] / (rounds * 2 * math.pi)
    return width * math.log(longest) / (2 * math.log(theta))


STRETCH: Mapping[str, Callable[[Tensor, float, Parameters], Tensor]] = {
    "linear": linear,
    "llama3": llama3,
    "yarn": yarn,
}
