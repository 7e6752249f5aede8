"""Chapter 08, full generation: its examples and the visible checks on them."""

import contextlib
import functools
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate

import torch

from specdec_lib.lessons.ch08 import models
from specdec_lib.lessons.ch08.diagnosis import TextRequest, diagnose, diagnose_error
from specdec_lib.lessons.ch08.models import WatchedCache, WatchedGenerator, WatchedModel
from specdec_lib.lessons.checking import answers, examples
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, expect, visible_check
from specdec_lib.lessons.checking.pasting import format_call
from specdec_lib.lessons.checking.tables import check_of

__all__ = ["committed"]

# What the first prediction is held against: 10 tokens of text, a block of four, one accepted.
READ_TOKENS, BLOCK_SIZE, N_ACCEPTED = 9, 4, 1

TRUTHS = truths_of(__package__, prediction_08=BLOCK_SIZE - N_ACCEPTED, prediction_08_c=None)

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)

# One block of two in three rows, with the same p and q in each: rejected at once, after one
# accepted token, and not at all.
_P = torch.tensor([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25], [0.125, 0.25, 0.625]]).double()
_Q = torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]).double()
_DRAFTED = torch.tensor([[0, 1], [1, 2], [1, 0]])
R = torch.tensor([[0.75, 0.1], [0.9, 0.5], [0.9, 0.6]], dtype=torch.float64)
U = torch.tensor([0.5, 0.5, 0.5]).double()
_BLOCK = (_P.expand(3, 3, 3), _Q.expand(3, 2, 3), _DRAFTED, R, U)

# Texts of the example models, each with the generator's seed, and what is said of wrong passes.
_DATA = answers.read_tables(__package__, "examples.toml")
EXAMPLES = [(text.pop("seed"), TextRequest(**text)) for text in _DATA["text"]]
FAULT_ADVICE = _DATA["advice"]


def example_models(seed: int = 1, most: float = math.inf) -> tuple[WatchedModel, WatchedModel]:
    """A target of at most `most` passes and its draft, which note their passes in one list."""
    target, draft = models.model_tables(seed)
    passes = []  # of both, in their order
    first = WatchedModel(target, "target", passes, most)
    first.code = f"*lesson.example_models({seed})"  # both of them
    return first, WatchedModel(draft, "draft", passes)


@visible_check
def check_rollback(function: Callable) -> None:
    """A cut, a cut to nothing, a length that is there already, and two that cannot be."""
    for held, length, cuts in ((14, 11, [11]), (6, 6, []), (5, 0, [0])):
        cache = WatchedCache(range(held))
        expect(function, cache, length, gives=None, hint="Nothing is returned.")
        if cache.cuts != cuts:
            called = f"{format_call(function, (cache, length))} called truncate"
            raise Different(f"{called} with {describe(cache.cuts)}, expected {describe(cuts)}.")
    for held, length in ((3, 4), (3, -1)):
        why = f"it cannot go back to {length} of {held} positions"
        cache = WatchedCache(range(held))
        examples.expect_value_error(function, cache, length, why=why)
        if cache.cuts:
            called = f"{format_call(function, (cache, length))} called truncate"
            raise Different(
                f"{called}({cache.cuts[0]}) first. Find the mistake yourself, before any call: "
                "another cache may not notice it."
            )


check_verify_block = check_of(globals(), "verify_block")


SWAPPED = "The counts come first, then the tokens."


def expect_verdict(
    function: Callable,
    *block: torch.Tensor,
    gives: tuple,
    hint: str | Sequence[str],
    form: bool = True,
) -> None:
    """Raise Different unless `function(*block)` returns the two tensors `gives`, both long.

    The message is about one row that is wrong by itself, if there is one. `hint` is for the block,
    or one for each of its rows.
    """
    rows = len(block[0])
    hints = [hint] * rows if isinstance(hint, str) else hint
    try:
        whole = hint if isinstance(hint, str) else ""
        asks = [(gives[::-1], SWAPPED)] if rows > 1 else []
        expect(function, *block, gives=gives, hint=whole, asks=asks, form=form)
    except Different as wrong:
        if rows == 1 or SWAPPED in wrong.hint:
            raise
        for row in range(rows):
            alone, right = _alone(block, row), _alone(gives, row)
            expect(function, *alone, gives=right, hint=hints[row], form=form)
        raise Different(
            f"{wrong} Alone, every row is judged right: is something of another row used for it?"
        ) from None


def _record_returns(function: Callable, returned: list) -> Callable:
    """`function`, which notes what it returns."""

    @functools.wraps(function)
    def call(*args: object) -> object:
        returned.append(function(*args))
        return returned[-1]

    return call


def _alone(parts: tuple[torch.Tensor, ...], row: int) -> tuple[torch.Tensor, ...]:
    """One row of each tensor."""
    return tuple(part[row : row + 1] for part in parts)


@visible_check
def check_speculative_generate(function: Callable) -> None:
    """Texts of the example models, what was drawn and read for them, and 0 tokens."""
    faults: list[tuple[int, str]] = []  # said only if all texts are right: these tell more
    for seed, request in EXAMPLES:
        pair = example_models(request.models, request.passes)
        expect_text(function, request, pair, WatchedGenerator(seed))
        faults += [(request.k, fault) for fault in pair[0].faults]
    for k, fault in faults:
        raise Different(f"With k={k} the target {fault}. {FAULT_ADVICE[fault]}")
    pair, nothing = example_models(), replace(EXAMPLES[-1][1], most=0, blocks=[])
    expect_text(function, nothing, pair, WatchedGenerator(0))
    if pair[0].count:
        raise Different("0 tokens are asked for, and the target was called. Read nothing for them.")


def closes(text: str) -> bool:
    """Whether no bracket of `text` closes that was not open."""
    depths = accumulate((letter == "(") - (letter == ")") for letter in text)
    return min(depths, default=0) >= 0


def require_right(rollback: Callable, verify_block: Callable, generate: Callable) -> None:
    """Check the three functions again, in silence: a wrong decoder's times would tell nothing."""
    with contextlib.redirect_stdout(io.StringIO()):
        check_rollback(rollback)
        check_verify_block(verify_block)
        check_speculative_generate(generate)


def expect_text(
    function: Callable,
    request: TextRequest,
    pair: Sequence[WatchedModel],
    rng: WatchedGenerator,
    strict: bool = True,
) -> None:
    """Raise Different unless `function` writes the text of `request`, and say why it does not.

    `pair` are target and draft, which share one list of passes. If not `strict`, what is wrong with
    the text's form and its end counts for nothing.
    """
    returned: list = []
    settings = request.k, request.most, request.temperature, rng, request.eos_id
    args = (*pair, list(request.prompt), *settings)
    try:
        expect(_record_returns(function, returned), *args, gives=request.text, form=strict)
    except Different as wrong:
        got = returned[0] if returned else None
        written = list(got) if isinstance(got, list | tuple) else None
        if not strict and written is not None and request.is_begun_by(written):
            return
        why = ""
        if not returned:
            why = diagnose_error(request, str(wrong), pair[0].passes)
        elif written is not None and written != request.text:  # else its form is wrong
            why = diagnose(request, written, pair[0].passes)
        raise Different(f"{wrong} {why}".strip()) from None
    if request.temperature == 0 and rng.drew:
        raise Different(f"{format_call(function, args)} drew random numbers at temperature 0.")
