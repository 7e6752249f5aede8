"""Chapter 00, why generation is slow: its examples and the visible checks on them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, expect, visible_check
from specdec_lib.lessons.checking.pasting import format_call
from specdec_lib.lessons.checking.tables import check_of, expect_tables

__all__ = ["committed"]


class Chip(NamedTuple):
    """A chip by its data sheet: bytes/s, FLOP/s in bfloat16 without sparsity, bytes of memory."""

    bandwidth: float
    peak_flops: float
    memory: float


class ModelShape(NamedTuple):
    """Parameters, and for each token of text its bytes of cache and its FLOP of attention."""

    n_params: float
    kv_bytes: int
    attention_flops: int


# Data sheets. The 1,979 and 4,500 TFLOP/s are with sparsity, and half of them without.
MACHINES = {
    "A100": Chip(2.039e12, 312e12, 80e9),
    "H100": Chip(3.35e12, 1979e12 / 2, 80e9),
    "B200": Chip(8e12, 4500e12 / 2, 180e9),
    "TPU v4": Chip(1.2e12, 275e12, 32 * 2**30),
}

# Llama 3.1 8B by its published config.json; rounded parameters, in bfloat16.
LLAMA = ModelShape(8e9, 32 * (8 + 8) * 128 * 2, 4 * 32 * 32 * 128)

TRUTHS = truths_of(__package__, prediction_00=None, prediction_00_b=16e9 / LLAMA.kv_bytes)
answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


def reveal_timed(name: str, guess: object, seconds: Mapping[int, float], tokens: int) -> None:
    """Set a guess beside the student's own times, by tokens, or ask for these."""
    if {1, tokens} <= seconds.keys():
        reveal(name, guess, seconds[tokens] / seconds[1])
    else:
        print(
            f"There are no times over 1 and {tokens} tokens: run the cell with the stopwatch first."
        )


class Passes:
    """A forward whose calls take given seconds, one after the other, on a clock of its own.

    `trace` notes the tokens of each call. A call too many is a ValueError, so no loop is endless.
    """

    def __init__(self, seconds: Sequence[float]) -> None:
        self.seconds = list(seconds)
        self.trace: list[object] = []
        self.now = 64.0
        self.readings = 0
        self.__name__ = repr(self)
        # The clock of `forward` is an argument as well.
        self.code = f"(fake := lesson.Passes({self.seconds}))"

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

    clock.code = "fake.clock"

    @property
    def unread(self) -> bool:
        """Whether all passes ran and nobody read the clock."""
        return len(self.trace) == len(self.seconds) and not self.readings

    def __repr__(self) -> str:
        return f"passes of {', '.join(f'{time:g}' for time in self.seconds)} s"


def expect_time(
    function: Callable, seconds: Sequence[float], *counts: int, gives: float, **options: Any
) -> Passes:
    """`expect` for passes that take these seconds; the error names a clock that nobody read."""
    forward = Passes(seconds)
    try:
        expect(function, forward, 4, forward.clock, *counts, gives=gives, **options)
    except Different as error:
        unread = "Read the time from `clock`, the argument, not from another clock."
        raise Different(unread) if forward.unread else error from None
    return forward


@visible_check
def check_time_pass(function: Callable) -> None:
    """The calls in checks.toml, then one without counts, and its calls of forward."""
    expect_tables(function, globals(), "time_pass")
    hint = "Without further arguments, two passes warm up and five count."
    forward = expect_time(function, (30, 20, 2, 9, 3, 5, 4), gives=4.0, hint=hint)
    call = format_call(function, (forward, 4, forward.clock))
    require_calls(call, forward.trace, [4] * 7)


def require_calls(call: str, trace: Sequence[object], calls: Sequence[int]) -> None:
    """Raise Different unless forward was called as often as asked, always with the tokens."""
    if list(trace) != list(calls):
        counts = f"{describe(list(trace))}, expected {describe(list(calls))}"
        raise Different(f"{call} called forward with {counts}.")


check_forward_time = check_of(globals(), "forward_time")
check_free_tokens = check_of(globals(), "free_tokens")
check_pass_time = check_of(globals(), "pass_time")
