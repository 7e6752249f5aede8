"""Chapter 00, why generation is slow: its examples and the visible checks on them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, expect, visible_check
from specdec_lib.lessons.checking.pasting import format_call

__all__ = ["committed"]


class Machine(NamedTuple):
    """A chip by its data sheet: bytes/s, FLOP/s in bfloat16 without sparsity, bytes of memory."""

    bandwidth: float
    peak_flops: float
    memory: float


class Model(NamedTuple):
    """A model's parameters, and what its KV cache is made of."""

    n_params: float
    n_layers: int
    n_kv_heads: int
    head_dim: int

    @property
    def kv_bytes(self) -> int:
        """Bytes that one token of text keeps in the cache: keys and values in bfloat16."""
        return 2 * self.n_layers * self.n_kv_heads * self.head_dim * 2


# Data sheets. The 1,979 TFLOP/s of the H100 are with sparsity, and half of them without.
MACHINES = {
    "A100": Machine(2.039e12, 312e12, 80e9),
    "H100": Machine(3.35e12, 1979e12 / 2, 80e9),
    "TPU v4": Machine(1.2e12, 275e12, 32 * 2**30),
}

# Llama 3.1 8B by its published config.json; rounded parameters.
LLAMA = Model(8e9, 32, 8, 128)


# The true values that predictions.toml does not hold; None is measured in the chapter.
TRUTHS = truths_of(
    __package__, prediction_00=None, prediction_00_b=2 * LLAMA.n_params / LLAMA.kv_bytes
)

PER_NUMBER = "A FLOP works on one number, however many bytes hold it."
TWO_FLOP = "Each weight takes 2 FLOP for every token: a product and a sum."
UNREAD = "never called clock(), its argument."
answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


def reveal_timed(name: str, guess: object, seconds: Mapping[int, float], tokens: int) -> None:
    """Set a guess beside the student's own times, by tokens; nothing where there are none yet."""
    if seconds:
        reveal(name, guess, seconds[tokens] / seconds[1])


class Passes:
    """A forward whose calls take given seconds, one after the other, on a clock of its own.

    `trace` notes the tokens of each call. A call too many is a ValueError, so no loop is endless.
    """

    def __init__(self, seconds: Sequence[float]) -> None:
        self.seconds, self.trace = list(seconds), list[object]()
        self.now, self.readings, self.__name__ = 64.0, 0, repr(self)
        self.code = (
            f"(forward := lesson.Passes({self.seconds}))"  # its clock is an argument as well
        )

    def __call__(self, n_tokens: int) -> None:
        """One pass."""
        if len(self.trace) == len(self.seconds):
            raise ValueError(f"forward was called more than {len(self.seconds)} times")
        self.now += self.seconds[len(self.trace)]
        self.trace.append(n_tokens if isinstance(n_tokens, int) else type(n_tokens).__name__)

    __call__.__qualname__ = "forward"  # as Python names it where the argument is missing

    def clock(self) -> float:
        """The present time in seconds; `readings` counts these."""
        self.readings += 1
        return self.now

    clock.code = "forward.clock"

    @property
    def unread(self) -> bool:
        """Whether all passes ran and nobody read the clock."""
        return len(self.trace) == len(self.seconds) and not self.readings

    def __repr__(self) -> str:
        return f"passes of {', '.join(f'{each:g}' for each in self.seconds)} s"


@visible_check
def check_time_pass(function: Callable) -> None:
    """Counted passes, an odd and an even number, two slow ones before them, and the calls."""

    def timed(seconds: Sequence[float], *counts: int, gives: float, hint: str, **how) -> Passes:
        forward = Passes(seconds)
        try:
            expect(function, forward, 4, forward.clock, *counts, gives=gives, hint=hint, **how)
        except Different as error:
            unread = Different(f"time_pass {UNREAD} A time by another clock is no answer.")
            raise unread if forward.unread else error from None
        return forward

    asks = [(9.6, "That is the mean: one slow pass decides it."), (2, "That is the fastest.")]
    asks += [(30, "That is the slowest."), (3, "Are the times sorted before you take the middle?")]
    asks += [(1, "That is a token's share, and not the time of the pass.")]
    asks += [(78, "clock() says what time it is. Two readings differ by the seconds of a call.")]
    hint = "By `clock` the passes take 9, 2, 3, 4 and 30 s, and the median of these is 4."
    timed((9, 2, 3, 4, 30), 0, 5, gives=4.0, hint=hint, asks=asks)
    hint = "The two in the middle are 3 and 4, and their mean is the median."
    asks = [(4, "Is that the upper one of the two in the middle? Take their mean.")]
    timed((9, 3, 2, 4), 0, 4, gives=3.5, hint=hint, asks=asks)
    hint = "The passes of 30 and 20 s warm up, and 2, 9 and 3 count."
    timed((30, 20, 2, 9, 3), 2, 3, gives=3.0, hint=hint)
    hint = "Without further arguments, two passes warm up and five count."
    forward = timed((30, 20, 2, 9, 3, 5, 4), gives=4.0, hint=hint)
    call = format_call(function, (forward, 4, forward.clock))
    require_calls(call, forward.trace, [4] * 7)


def require_calls(call: str, trace: Sequence[object], calls: Sequence[int]) -> None:
    """Raise Different unless forward was called as often as asked, always with the tokens."""
    if list(trace) != list(calls):
        counts = f"{describe(list(trace))}, expected {describe(list(calls))}"
        raise Different(f"{call} called forward with {counts}.")


@visible_check
def check_forward_time(function: Callable) -> None:
    """The machine of the smallest example (100 bytes/s, 1,000 FLOP/s), and the H100."""
    hint = "Reading 100 bytes takes 1 s, 200 FLOP take 0.2 s, and both happen at once."
    expect(function, 1, 100, 1, 100, 1000, gives=1.0, hint=hint)
    hint = "Five tokens: 1,000 FLOP take 1 s, and the weights are read once, in 1 s."
    expect(function, 5, 100, 1, 100, 1000, gives=1.0, hint=hint)
    hint = "60 tokens: 12,000 FLOP take 12 s, longer than reading 400 bytes."
    asks = [(6.0, TWO_FLOP), (24.0, PER_NUMBER), (48.0, PER_NUMBER)]
    expect(function, 60, 100, 4, 100, 1000, gives=12.0, hint=hint, asks=asks)
    hint = "16 GB at 3.35 TB/s, in seconds."
    expect(function, 1, 8e9, 2, *MACHINES["H100"][:2], gives=16 / 3350, hint=hint)


@visible_check
def check_free_tokens(function: Callable) -> None:
    """The smallest example, the A100, weights of 8 and 4 bits on it, and an endless reading."""
    a100 = MACHINES["A100"][:2]
    hint = "Five tokens take exactly as long as one, so they are free. The sixth takes longer."
    no_format = "A weight of two bytes takes twice as long to read as a weight of one."
    asks = [(10, TWO_FLOP, ((2, *a100), 306)), (10, no_format, ((2, *a100), 153))]
    asks += [(6, "That is the first token that is not free.", ((2, *a100), 154))]
    asks += [(4, "A token that takes exactly as long is free.", ((2, *a100), 153))]
    expect(function, 1, 100, 1000, gives=5, hint=hint, asks=asks)
    asks = [(154, "Did you round down?"), (38, "Longer reading: does it leave less room, or more?")]
    asks += [(76, no_format), (152, "Did you round before you multiplied? Round down once, last.")]
    hint = "b F / (2 B) is 153.02, and part of a token is not free."
    expect(function, 2, *a100, gives=153, hint=hint, asks=asks)
    hint = "Fewer bytes are read sooner: b F / (2 B) is 76.5, and half a token is not free."
    expect(function, 1, *a100, gives=76, hint=hint, asks=[(77, "Did you round down?")])
    half = "Did bytes_per_param stay 0.5? It is no whole number: round down once, last."
    asks = [(1, half), (76, half)]
    hint = "Half a byte is read twice as fast as one: b F / (2 B) is 38.25."
    expect(function, 0.5, *a100, gives=38, hint=hint, asks=asks)
    hint = "One token never takes longer than one token."
    expect(function, 1, 100, 50, gives=1, hint=hint)


@visible_check
def check_pass_time(function: Callable) -> None:
    """The small machine with caches of 2 bytes a token."""
    small = (100, 1, 2, 100, 1000)
    hint = "No text yet: 100 bytes of weights take 1 s, as in forward_time."
    expect(function, 1, 1, 0, *small, gives=1.0, hint=hint)
    hint = "5 rows with 10 tokens of text each: 100 bytes of weights and 100 of caches."
    expect(function, 1, 5, 10, *small, gives=2.0, hint=hint)
    small = (100, 2, 2, 100, 1000)
    hint = "100 weights of 2 bytes; and the caches are read once for all new tokens of a row."
    expect(function, 2, 5, 10, *small, gives=3.0, hint=hint)
    hint = "4 tokens in each of 5 rows are 20 tokens: 4,000 FLOP, longer than the reading."
    expect(function, 4, 5, 10, *small, gives=4.0, hint=hint, asks=[(8.0, PER_NUMBER)])
