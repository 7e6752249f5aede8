"""Chapter 06, the simulator: its examples, the visible checks on them, and the hints."""

import contextlib
import io
from collections.abc import Callable, Sequence

import numpy as np

from specdec_lib.lessons.common import answers, recorded
from specdec_lib.lessons.common.answers import Truth, answering, committed, revealing
from specdec_lib.lessons.common.examples import Different, expect, visible_check
from specdec_lib.lessons.common.hints import hints_from
from specdec_lib.theory import expected_tokens

__all__ = ["committed"]

# The setting that most of the chapter works in.
ALPHA, C, K = 0.7, 0.1, 5
# Easy and hard text, half of each: the mean is ALPHA.
EASY, HARD = 0.95, 0.45

# The block of the first card, and the three blocks of the second.
COINS = [0.2, 0.6, 0.9, 0.1, 0.3]
MOST_CALLS = 100  # of a generator of written-down numbers; the runs of all tests need fewer
THREE_BLOCKS = [0.2, 0.6, 0.9, 0.1, 0.8, 0.1, 0.2, 0.3, 0.5, 0.1, 0.6, 0.4]


# What the predictions are held against, and why it is so.
TRUTHS = {
    "prediction_06": Truth(
        expected_tokens(0.8**8, 5),
        "All eight rows pass their first coin with 0.8^8 = 0.17 only; one row alone writes 3.69.",
        {
            3.69: "is one row by itself. In lock-step the first rejection stops all eight.",
        },
    ),
    "prediction_06_b": Truth(
        (expected_tokens(EASY, K) + expected_tokens(HARD, K)) / 2,
        "Easy blocks bring 5.30 tokens and hard ones 1.80. The long ones win more than the short "
        "ones lose.",
        {
            2.94: "is the block of the mean coin. The mean of two blocks is another number.",
        },
    ),
    "prediction_06_c": Truth(
        recorded.speeds(lambda k: C * k + 1)[16][0],
        "That is the mean of all recorded blocks at K = 16. They write few tokens more than at "
        "K = 5, and the draft is paid for sixteen.",
        {
            1.73: "is what the best K gives.",
        },
    ),
}

answered = answering(__package__)
reveal = revealing(TRUTHS)


class Coins:
    """Stands in for a NumPy Generator: hands out the numbers of a list, and counts them."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.numbers, self.used, self.calls = list(numbers), 0, 0

    def random(self, size: int | None = None) -> np.ndarray | float:
        """The next number, or the next `size` of them.

        Raises ValueError after the last one, and if it is called so often that no block can write
        a token.
        """
        self.calls += 1
        if self.calls > MOST_CALLS:
            raise ValueError(
                f"random was called {self.calls} times: does every block write a token?"
            )
        count = 1 if size is None else int(size)
        given = self.numbers[self.used : self.used + count]
        if len(given) < count:
            held = len(self.numbers)
            raise ValueError(f"after {self.used} of its {held} numbers {count} more were asked for")
        self.used += count
        return given[0] if size is None else np.array(given, dtype=float)

    def __repr__(self) -> str:
        return f"lesson.Coins({self.numbers})"


def run_of(tokens: int, target_passes: int, time: float) -> dict:
    """What simulate_decode returns."""
    return {"tokens": tokens, "target_passes": target_passes, "time": time}


@visible_check
def check_simulate_block(function: Callable) -> None:
    """The block of the card, one whose first coin fails, one accepted whole, a coin on alpha."""
    hint = "The first coin that is not below alpha ends the block."
    expect(function, ALPHA, 5, np.array(COINS), gives=2, hint=hint)
    hint = "A coin of 0.75 is not below 0.7, so nothing is accepted."
    expect(function, ALPHA, 3, np.array([0.75, 0.1, 0.2]), gives=0, hint=hint)
    hint = "All four pass: the accepted draft tokens are counted, not the bonus token."
    expect(function, ALPHA, 4, np.array([0.2, 0.69, 0.1, 0.0]), gives=4, hint=hint)
    hint = "A coin equal to alpha is not below it: with alpha = 0 a coin of 0 must not pass."
    expect(function, 0.5, 3, np.array([0.25, 0.5, 0.25]), gives=1, hint=hint)


@visible_check
def check_simulate_decode(function: Callable) -> None:
    """The run of the card, one that ends just on its number, and one that has nothing to do."""
    hint = "Blocks of 2 + 1, 0 + 1 and 4 + 1 tokens; each costs 4 x 0.1 + 1."
    gives = run_of(9, 3, 4.2)
    expect(function, ALPHA, C, 4, 8, Coins(THREE_BLOCKS), gives=gives, hint=hint)
    hint = "The first two blocks write 3 + 1 tokens, which is enough."
    gives = run_of(4, 2, 2.8)
    expect(function, ALPHA, C, 4, 4, Coins(THREE_BLOCKS), gives=gives, hint=hint)
    hint = "No token is wanted, so no block is needed."
    expect(function, ALPHA, C, 4, 0, Coins([]), gives=run_of(0, 0, 0.0), hint=hint)


@visible_check
def check_lockstep_tokens(function: Callable) -> None:
    """The number of the card, one row alone, four rows, and four that accept everything."""
    hint = "Both rows pass with 0.5 x 0.5, and one token is written in any case."
    expect(function, 0.5, 1, 2, gives=1.25, hint=hint)
    hint = "One row waits for nobody: 1 + 0.8 + 0.64."
    expect(function, 0.8, 2, 1, gives=2.44, hint=hint)
    hint = "The batch gets past position i only if all four rows do."
    expect(function, 0.8, 2, 4, gives=1 + 0.8**4 + 0.8**8, hint=hint)
    expect(function, 1.0, 3, 4, gives=4.0, hint="At alpha = 1 every row writes k + 1 tokens.")


HINTS = {
    "simulate_block": (
        "Walk along the coins. What ends the walk, and what is known at that moment?",
        "If coin i is the first that fails, exactly i tokens were accepted before it.",
        "Loop over range(k). If r[i] is not below alpha, return i. After the loop return k.",
    ),
    "simulate_decode": (
        "Count two things while blocks are written: tokens, and blocks. The time follows from one.",
        "A block writes its accepted tokens and one more, whatever happened in it.",
        "While tokens is below n_tokens: draw rng.random(k), add simulate_block(...) + 1 to tokens "
        "and 1 to the passes. The time is the passes times (c k + 1).",
    ),
    "lockstep_tokens": (
        "How likely is it that the batch gets past position i, with all of its rows?",
        "One row gets past i positions with alpha^i; independent rows multiply.",
        "Add up alpha ** (batch_size * i) for i from 0 to k. The term of i = 0 is the token that "
        "is written in any case.",
    ),
}

# After the exercises: a question to answer before the code does.
RUN = (0.9, 0.05, 12, 1000)
NEXT_PROMPT = (
    "Now predict, then run: how many target passes does this take? Write your number into the cell "
    "below.\nsimulate_decode(0.9, 0.05, 12, 1000, np.random.default_rng(1))"
)

hints = hints_from(HINTS)


def readiness(*functions: Callable) -> None:
    """Print how many of the exercises are ready, and one thing to do next. Never raises."""
    states = {f.__name__: _state(f) for f in functions}
    ready = sum(state == "ready" for state in states.values())
    print(f"ready: {ready} of {len(states)}")
    for name, state in states.items():
        print(f"  {name}: {state}")
    todo = next((name for name, state in states.items() if state != "ready"), None)
    print(NEXT_PROMPT if todo is None else f"Next: {todo}. Hint: {HINTS[todo][0]}")


def predict_then_run(passes_guessed: object, simulate_decode: Callable) -> None:
    """Set a guess beside the target passes of the student's run; nothing runs before there is one.

    Prints a line. Never raises.
    """
    truth = 0.0
    if passes_guessed is not None:
        state = _state(simulate_decode)
        if state != "ready":
            print(f"Your simulate_decode does not pass its check: {state}")
            return
        truth = simulate_decode(*RUN, np.random.default_rng(1))["target_passes"]
    why = "Coins of 0.9 write 7.46 tokens a block of 12, and 1000 / 7.46 is 134."
    answers.reveal("passes_guessed", passes_guessed, Truth(truth, why))


def _state(function: Callable) -> str:
    """Of an exercise: ready, not written yet, or what the first wrong example says."""
    check = globals()[f"check_{function.__name__}"]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            check(function)
    except NotImplementedError:
        return "not written yet"
    except Different as wrong:
        return str(wrong)
    return "ready"
