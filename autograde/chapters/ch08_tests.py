"""Hidden tests of chapter 08. Points attach to behaviours; see autograde/check.py.

Models and caches are lent to the student's functions: what is read, and how often, is seen here. No
GPU is needed. LONGEST and MANY only end a loop that would not end by itself, so no fork has to
change them.
"""

import functools

import numpy as np
import pytest
import torch
from torch import Tensor

from autograde.chapters.ch08_wrong import WRONG  # noqa: F401  known to the grader by this name
from autograde.chapters.common import prediction, quiz
from autograde.chapters.expected import ch08_expected as expected
from autograde.chapters.numbers import ch08_numbers as numbers
from autograde.chapters.parametrized import Exercise
from autograde.check import RemoteObject, by_cause, untouched
from specdec_lib.lessons.ch08 import quizzes
from specdec_lib.lessons.ch08.checks import FAULTS, expect_text, expect_verdict
from specdec_lib.lessons.ch08.diagnosis import Request
from specdec_lib.lessons.ch08.models import (
    Pass,
    WatchedCache,
    WatchedGenerator,
    WatchedModel,
    tables,
)
from specdec_lib.lessons.common.describing import PASTED, describe, format_call
from specdec_lib.lessons.common.examples import Different, expect, expect_value_error

LONGEST = 200  # tokens in a text: of each that is read, the models keep every beginning
MANY = 500  # passes of a model in one call


class RemoteCache(WatchedCache, RemoteObject):
    """A cache as an argument: lent to the student, and usable here, for wrong answers."""

    def __init__(self, held: int = 0) -> None:
        WatchedCache.__init__(self, range(held))
        RemoteObject.__init__(self, self, "length", "truncate()")


class RemoteModel(WatchedModel, RemoteObject):
    """A model as an argument; its caches are lent as well."""

    def __init__(
        self, table: np.ndarray, name: str, prompt: int, passes: list[Pass], **bounds: int
    ) -> None:
        WatchedModel.__init__(self, table, name, prompt, passes, **bounds)
        names = ("vocab_size", "new_cache()", "forward()")
        RemoteObject.__init__(self, self, *names)

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> RemoteCache:
        """An empty cache of one row. ValueError for more rows."""
        if batch != 1:
            raise ValueError(f"this model takes one row, not {batch}")
        return RemoteCache()

    def forward(self, tokens: Tensor, cache: RemoteCache) -> Tensor:
        """The logits, as of every WatchedModel. ValueError for too long a text, too many passes."""
        if len(self.passes) >= MANY:
            raise ValueError(f"no answer needs more than {MANY} passes of a model")
        if len(cache.tokens) + len(tokens[0]) > LONGEST:
            raise ValueError(f"the text gets longer than the {LONGEST} tokens that the model takes")
        return super().forward(tokens, cache)


test_prediction = prediction("prediction_08", 0, 14)
test_prediction_b = prediction("prediction_08_b", 0, 3)
test_prediction_c = prediction("prediction_08_c", 0, 10)
test_quiz = quiz(quizzes.quiz_08)
test_quiz_b = quiz(quizzes.quiz_08_b)


rollback = Exercise("rollback")


def require_cuts(student, held: int, length: int) -> None:
    """Raise Different unless rollback returns None and calls truncate as it should, if at all."""
    cache, cuts = RemoteCache(held), expected.cuts(held, length)
    call = format_call(student.rollback, (cache, length))
    try:
        expect(student.rollback, cache, length, gives=None, hint="Nothing is returned.")
    except Different as wrong:  # its call shows the cache as it is now
        now = format_call(student.rollback, (cache, length))
        raise Different(str(wrong).replace(now, call, 1)) from None
    if cache.cuts != cuts:
        raise Different(
            f"{call} called truncate with {describe(cache.cuts)}, expected {describe(cuts)}."
        )


def require_refusal(student, held: int, length: int) -> None:
    """Raise Different unless rollback raises ValueError and leaves the cache alone."""
    cache = RemoteCache(held)
    call = format_call(student.rollback, (cache, length))
    why = f"it cannot go back to {length} of {held} positions"
    expect_value_error(student.rollback, cache, length, why=why)
    if cache.cuts:
        raise Different(
            f"{call} raised ValueError, but only after truncate({cache.cuts[0]}). Find the mistake "
            "before any call: another cache may not notice it."
        )


@rollback.behaviour("back to the length")
@pytest.mark.parametrize("held, length", numbers.CUTS)
def test_rollback_cuts(student, held, length):
    require_cuts(student, held, length)


@rollback.behaviour("no call where there is nothing to forget")
@pytest.mark.parametrize("held, length", numbers.QUIET)
def test_rollback_is_quiet(student, held, length):
    require_cuts(student, held, length)


@rollback.behaviour("ValueError for what cannot be, and only for that")
@pytest.mark.parametrize("held, length", numbers.REFUSED)
def test_rollback_refuses(student, held, length):
    required = require_refusal if expected.cuts(held, length) is None else require_cuts
    required(student, held, length)


verification = Exercise("verify_block")
next_tokens = verification.behaviour("the token behind them", weight=3)
block_edges = verification.behaviour("the edges, nothing modified", weight=2)


def block(seed: int, rows: int, k: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    """Arguments of few digits: p and q in 16ths and 32nds, drafted (drawn from its q), r and u.

    r and u are odd thousandths, which no ratio and no sum is. A row of it fits into a message.
    """
    rng, vocab_size = np.random.default_rng(seed), min(5, PASTED // (k + 1))
    p = dyadic(rng, rows, k + 1, vocab_size)
    q = (dyadic(rng, rows, k, vocab_size) + p[:, :k]) / 2
    drafted = [[int(rng.choice(vocab_size, p=law)) for law in row] for row in q]
    chosen = torch.tensor(drafted).reshape(rows, k)
    r, u = (
        rng.integers(0, 100, shape) * 10 + rng.choice((1, 3, 7, 9), shape)
        for shape in ((rows, k), rows)
    )
    p, q, r, u = map(torch.tensor, (p, q, r / 1000, u / 1000))
    return p.to(dtype), q.to(dtype), chosen.long(), r, u


def dyadic(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Distributions in sixteenths; `shape` ends with the size of the vocabulary."""
    weights = rng.dirichlet(np.ones(shape[-1]), shape[:-1])
    return rng.multinomial(16, weights) / 16


def check_block(student, args: tuple, hint: str, form: bool = False, **other) -> None:
    """Raise Different unless the student's verdict is ours.

    `other` may have another `function`, and what it `gives`. The call of one row alone is for the
    message: what is made of the function hangs on the block.
    """
    calls = len(student.calls)
    function = other.get("function", student.verify_block)
    gives = other.get("gives", expected.verdict(*args))
    try:
        expect_verdict(function, *args, gives=gives, hint=hint, form=form)
    finally:
        del student.calls[calls + 1 :]


def first_part(function):
    """`function` with nothing but the first of the two tensors that it returns, in a tuple."""

    @functools.wraps(function)
    def part(*args):
        out = function(*args)
        return (out[0],) if isinstance(out, list | tuple) and len(out) == 2 else out

    return part


@verification.behaviour("how many draft tokens stand, row by row", weight=3)
@pytest.mark.parametrize("seed, rows, k", numbers.BLOCKS)
def test_counts(student, seed, rows, k):
    args = block(seed, rows, k)
    hint = (
        "That is the first of the two. Each draft token has its own r, p and q, and passes iff "
        "r q < p; count each row's verdicts up to its first rejection."
    )
    function = first_part(student.verify_block)
    check_block(student, args, hint, function=function, gives=expected.verdict(*args)[:1])


@next_tokens
@pytest.mark.parametrize("seed, rows, k", numbers.TOKEN_BLOCKS)
def test_tokens(student, seed, rows, k):
    hint = (
        "It is drawn with u from row `count` of p, less row `count` of q, clamped at 0 and divided "
        "by its sum; after a whole block from row K of p."
    )
    check_block(student, block(seed, rows, k), hint)


def edge(p: list, q: list, drafted: list, r: list, u: float) -> tuple[Tensor, ...]:
    """One row from lists."""
    as_float = (torch.tensor([each], dtype=torch.float64) for each in (p, q, r, u))
    p, q, r, u = as_float
    return p, q.reshape(1, len(drafted), p.shape[-1]), torch.tensor([drafted]).long(), r, u


@block_edges
@pytest.mark.parametrize("p, q, drafted, r, u", numbers.EDGES)
def test_block_edges(student, p, q, drafted, r, u):
    hint = (
        "Accept iff r q < p, strictly. Keep the dtype, add nothing, and take p only where the "
        "residual is exactly 0."
    )
    check_block(student, edge(p, q, drafted, r, u), hint)
    untouched(student)


@verification.behaviour("a tuple of two tensors of torch.long, from float32 too")
def test_block_form(student):
    args = block(*numbers.FLOAT32, torch.float32)
    hint = "p and q are float32 here. Counts and tokens are torch.long all the same."
    check_block(student, args, hint, form=True)


@verification.behaviour("as much work for 64 rows as for 2")
def test_block_work(student):
    counted, replies = student.counted("verify_block"), []
    for rows in numbers.WORK_ROWS:
        args = block(numbers.WORK_SEED, rows, numbers.WORK_K)
        check_block(student, args, "Is each row judged by itself?", function=counted)
        replies.append(student.calls[-1].reply)
    if replies[1].waits:
        raise Different(
            f"With {rows} rows verify_block used {', '.join(dict.fromkeys(replies[1].waits))}. "
            "On a GPU each use waits for the device. Keep every value in tensors."
        )
    if replies[0].operators != replies[1].operators:
        more = Different(
            f"verify_block used {replies[0].operators} functions of torch for "
            f"{numbers.WORK_ROWS[0]} rows and {replies[1].operators} for {rows}. Is there a loop "
            "over rows?"
        )
        raise by_cause(more, "a loop over the rows is clearer and costs nothing.")


generation = Exercise("speculative_generate")
greedy_text = generation.behaviour("greedy text and other temperatures", weight=2)


def setting(seed: int, **changes) -> dict:
    """A request; `changes` replace its parts."""
    prompt = [int(t) for t in np.random.default_rng([seed, 1]).integers(0, 4, 1 + seed % 4)]
    usual = {"prompt": prompt, "k": 1 + seed % 5, "tokens": numbers.TOKENS, "temperature": 1.0}
    return {"seed": seed, **usual, "eos": None, **changes}


@functools.cache
def tables_of(seed):
    """Those of the lesson, which nobody changes."""
    return tables(seed)


@functools.cache
def blocks_of(seed, prompt, k, tokens, temperature, eos) -> list[list[int]]:
    """The tokens that each block of a right loop adds: the same for every submission."""
    return expected.blocks(*tables_of(seed), prompt, k, tokens, temperature, eos, seed)


def asked(seed, prompt, k, tokens, temperature, eos) -> Request:
    """What is asked of the student, and what is to be written."""
    blocks = blocks_of(seed, tuple(prompt), k, tokens, temperature, eos)
    return Request(seed, prompt, k, tokens, temperature, eos, blocks)


def generated(student, strict=False, **request):
    """Let the student write, and hold the text against ours; the request and the two models."""
    seed, right = request["seed"], asked(**request)
    passes: list[Pass] = []
    lent = zip(tables_of(seed), ("target", "draft"), right.bounds, strict=True)
    models = [RemoteModel(t, name, len(right.prompt), passes, **most) for t, name, most in lent]
    expect_text(student.speculative_generate, right, models, WatchedGenerator(seed), strict)
    return right, models


@generation.behaviour("the sampled text, number for number", weight=3)
@pytest.mark.parametrize("seed", numbers.SAMPLED)
def test_sampled_text(student, seed):
    generated(student, **setting(seed))


@generation.behaviour("the whole decoder, with your own parts", composed=True)
@pytest.mark.parametrize("seed", numbers.WHOLE)
def test_whole_decoder(student, seed):
    generated(student, **setting(seed))


@greedy_text
@pytest.mark.parametrize("seed", numbers.GREEDY)
def test_greedy_text(student, seed):
    generated(student, **setting(seed, temperature=0.0))


@greedy_text
@pytest.mark.parametrize("seed, temperature", numbers.TEMPERATURES)
def test_other_temperatures(student, seed, temperature):
    generated(student, **setting(seed, temperature=temperature))


@generation.behaviour("where the text ends, a list of the new tokens alone", weight=2)
@pytest.mark.parametrize("changes", numbers.ENDS)
def test_ends(student, changes):
    right, models = generated(student, strict=True, **setting(**changes))
    if right.most == 0 and models[0].passes:
        raise Different("speculative_generate called a model although 0 tokens were asked for.")
    untouched(student)


@generation.behaviour("nothing is read twice", weight=3)
@pytest.mark.parametrize("seed", numbers.READING)
def test_reading(student, seed):
    right, models = generated(student, **setting(seed, tokens=numbers.READING_TOKENS))
    for model in models:
        for fault in model.faults:
            before = f" It had read {describe(model.again[0])} before." if model.again else ""
            raise Different(
                f"speculative_generate with k={right.k} had this in the {model.name}: {fault}."
                f"{before} {FAULTS[fault]}"
            )
