"""Chapter 00, why generation is slow: its examples and the visible checks on them."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from specdec_lib.lessons.common.answers import answering, committed, revealing, truths_of
from specdec_lib.lessons.common.examples import expect, visible_check

__all__ = ["committed"]


class Machine(NamedTuple):
    """A chip by its data sheet: bytes/s, FLOP/s in bfloat16 without sparsity, bytes of memory."""

    bandwidth: float
    peak_flops: float
    memory: float

    @property
    def limits(self) -> dict[str, float]:
        """The two limits of the roofline, by name."""
        return {"bandwidth": self.bandwidth, "peak_flops": self.peak_flops}


class Model(NamedTuple):
    """A model's parameters, and what its KV cache is made of."""

    n_params: float
    n_layers: int
    n_kv_heads: int
    head_dim: int


# The data sheets of NVIDIA (A100 80GB SXM, H100 SXM: half of the 1,979 TFLOP/s that it has with
# sparsity) and Google Cloud's page on TPU v4.
MACHINES = {
    "A100": Machine(2.039e12, 312e12, 80e9),
    "H100": Machine(3.35e12, 1979e12 / 2, 80e9),
    "TPU v4": Machine(1.2e12, 275e12, 32 * 2**30),
}

# Brown et al., Table 2.1, and the published config.json of the two Llamas; rounded parameters.
MODELS = {
    "Llama 2 7B": Model(7e9, 32, 32, 128),
    "Llama 2 70B": Model(70e9, 80, 8, 128),
    "GPT-3 175B": Model(175e9, 96, 96, 128),
}

# Bytes that one token of text keeps in a model's KV cache, keys and values in bfloat16.
KV_BYTES = {"Llama 2 7B": 524_288, "Llama 2 70B": 327_680}

BYTES = {"float32": 4, "bfloat16": 2}  # a parameter
_BALANCE = MACHINES["H100"].peak_flops / MACHINES["H100"].bandwidth  # FLOP/s for each byte/s

# The true values that predictions.toml does not hold; None is measured in the chapter.
TRUTHS = truths_of(
    __package__,
    prediction_00=max(1.0, 5 / _BALANCE),
    prediction_00_b=None,
    prediction_00_c=64 * 2000 * KV_BYTES["Llama 2 7B"] / 14e9,
)

answered = answering(__package__)
reveal = revealing(TRUTHS)


def times_as_long(seconds: Mapping[int, Sequence[float]], tokens: int) -> float:
    """How many times as long a pass over `tokens` takes as one over a single token, by medians."""
    return median(seconds[tokens]) / median(seconds[1])


def look() -> None:
    """Print the numbers of "What you may read elsewhere", worked out."""
    a100, weight_bytes, flop = MACHINES["A100"], 175e9 * 2, 175e9 * 2
    for chips in (1, 18):
        read, product = weight_bytes / (chips * a100.bandwidth), flop / (chips * a100.peak_flops)
        print(f"{chips} x A100: read {1e3 * read:.1f} ms, product {1e3 * product:.2f} ms")
    for context in (0, 1000):
        read = 14e9 + 64 * context * KV_BYTES["Llama 2 7B"]
        longer = 6 * 64 * 14e9 / _BALANCE / read
        print(f"64 rows of 6 tokens, {context} of text: {max(1, longer):.2f} times as long as 1")


@visible_check
def check_arithmetic_intensity(function: Callable) -> None:
    """One token in three formats, and a longer pass."""
    expect(function, 1, 2, gives=1.0, hint="Two FLOP over two bytes.")
    expect(function, 1, 4, gives=0.5, hint="More bytes a parameter, fewer FLOP per byte.")
    expect(function, 1, 0.5, gives=4.0, hint="Bytes may be a fraction: no whole-number division.")
    hint = "The FLOP grow with the tokens, but the weights are read once."
    expect(function, 5, 2, gives=5.0, hint=hint)


@visible_check
def check_forward_time(function: Callable) -> None:
    """The machine of the smallest example (100 bytes/s, 1,000 FLOP/s), and the H100."""
    hint = "Reading 100 bytes takes 1 s, 200 FLOP take 0.2 s, and both happen at once."
    expect(function, 1, 100, 1, 100, 1000, gives=1.0, hint=hint)
    hint = "Five tokens: 1,000 FLOP take 1 s, and the weights are read once, in 1 s."
    expect(function, 5, 100, 1, 100, 1000, gives=1.0, hint=hint)
    hint = "Twenty tokens: 4,000 FLOP take 4 s, longer than the reading."
    expect(function, 20, 100, 1, 100, 1000, gives=4.0, hint=hint)
    hint = "14 GB at 3.35 TB/s, in seconds."
    expect(function, 1, 7e9, 2, *MACHINES["H100"][:2], gives=14 / 3350, hint=hint)


@visible_check
def check_free_tokens(function: Callable) -> None:
    """The smallest example, the A100, 8-bit weights on it, and a machine that is never idle."""
    hint, sixth = "Where is b N / B equal to 2 n N / F?", "The sixth takes longer: is it free?"
    expect(function, 1, 100, 1000, gives=5, hint=hint, asks=[(6, sixth)])
    expect(function, 2, *MACHINES["A100"][:2], gives=153, asks=[(154, "Did you round down?")])
    hint = "Fewer bytes are read sooner: b F / (2 B) is 76.5, and half a token is not free."
    expect(function, 1, *MACHINES["A100"][:2], gives=76, hint=hint)
    hint = "One token never takes longer than one token."
    expect(function, 1, 100, 50, gives=1, hint=hint)


@visible_check
def check_kv_cache_bytes(function: Callable) -> None:
    """A cache that can be counted by hand, one token of Llama 2 70B, and several rows."""
    hint = "3 tokens in 2 layers, 1 head of width 4: 24 numbers of keys, 24 of values."
    expect(function, 3, 2, 1, 4, 2, gives=96, hint=hint)
    expect(function, 1, 80, 8, 128, 2, gives=327680, hint="Keys and values, in every layer.")
    hint = "Every row of the batch has a cache of its own."
    expect(function, 3, 2, 1, 4, 2, 5, gives=480, hint=hint)


@visible_check
def check_pass_time(function: Callable) -> None:
    """The small machine with caches of 2 bytes a token, and the H100."""
    small = (100, 1, 2, 100, 1000)
    hint = "No text yet: 100 bytes of weights take 1 s, as in forward_time."
    expect(function, 1, 1, 0, *small, gives=1.0, hint=hint)
    hint = "5 rows with 10 tokens of text each: 100 bytes of weights and 100 of caches."
    expect(function, 1, 5, 10, *small, gives=2.0, hint=hint)
    hint = "The caches are read once a pass, for all new tokens of a row together."
    expect(function, 2, 5, 10, *small, gives=2.0, hint=hint)
    hint = "4 tokens in each of 5 rows are 20 tokens: 4,000 FLOP, longer than the reading."
    expect(function, 4, 5, 10, *small, gives=4.0, hint=hint)
    hint = "14 GB of weights in bfloat16, and 8 times 1,000 times 524,288 bytes of caches."
    llama = (7e9, 2, KV_BYTES["Llama 2 7B"], *MACHINES["H100"][:2])
    expect(function, 1, 8, 1000, *llama, gives=(14e9 + 8000 * 524_288) / 3.35e12, hint=hint)
