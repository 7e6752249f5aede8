"""Hidden tests of chapter 08: test groups and known bugs; see autograde/hidden/exercise.py.

Models and caches are lent to the student's functions: what is read, and how often, is seen here. No
GPU is needed. Most of the bugs are in published code.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from autograde.hidden.exercise import untouched, with_cause
from autograde.hidden_tests.common import Exercise, prediction, quiz
from autograde.sandbox.remote import RemoteObject
from autograde.sandbox.session import StudentError
from autograde.sandbox.student import Student
from specdec_lib.lessons.ch08 import models
from specdec_lib.lessons.ch08.diagnosis import TextRequest
from specdec_lib.lessons.ch08.lesson import FAULT_ADVICE, expect_text, expect_verdict
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, expect, expect_value_error
from specdec_lib.lessons.checking.pasting import format_call
from specdec_lib.lessons.data.distributions import LARGEST_UNIFORM

test_prediction_08 = prediction("prediction_08", 0, 14)
test_prediction_08_b = prediction("prediction_08_b", 0, 3)
test_prediction_08_c = prediction("prediction_08_c", 0, 10)
test_quiz_08 = quiz("quiz_08")
test_quiz_08_b = quiz("quiz_08_b")


class RemoteCache(models.WatchedCache, RemoteObject):
    """A cache as an argument: lent to the student, and usable here, for known bugs."""

    def __init__(self, held: int = 0) -> None:
        models.WatchedCache.__init__(self, range(held))
        RemoteObject.__init__(self, self, "length", "truncate()")


rollback = Exercise("rollback")


def require_cuts(student: Student, solution: Student, held: int, length: int) -> None:
    """Raise Different unless rollback calls truncate as it should, or refuses before any call."""
    cache, right = RemoteCache(held), RemoteCache(held)
    call = format_call(student.rollback, (cache, length))
    try:
        solution.rollback(right, length)
    except StudentError:
        why = f"it cannot go back to {length} of {held} positions"
        expect_value_error(student.rollback, cache, length, why=why)
        if cache.cuts:
            raise Different(
                f"{call} raised ValueError, but only after truncate({cache.cuts[0]}). Check the "
                "length before any call: another cache may not."
            ) from None
    else:
        student.rollback(cache, length)
    if cache.cuts != right.cuts:
        cuts = describe(cache.cuts), describe(right.cuts)
        raise Different(f"{call} called truncate with {cuts[0]}, expected {cuts[1]}.")


@rollback.group("back to the length")
def test_rollback_shorter(student, solution, rng):
    for length in (2, 3, 4, 5):
        require_cuts(student, solution, int(rng.integers(2 * length + 1, 30)), length)


@rollback.group("no call where there is nothing to forget, and nothing is returned")
def test_rollback_nothing_to_forget(student, solution, rng):
    held = int(rng.integers(5, 20))
    for length in (held, 1, 0):
        require_cuts(student, solution, length, length)
    require_cuts(student, solution, held, held - 1)
    expect(student.rollback, RemoteCache(held), held - 1, gives=None, hint="Return nothing.")


@rollback.group("ValueError for an impossible length, and for no other")
def test_rollback_refused(student, solution):
    for held, length in ((5, -1), (7, -7), (5, 6), (5, 12), (0, 1), (5, 0)):
        require_cuts(student, solution, held, length)


verification = Exercise("verify_block", expect_verdict)


def block(
    rng: np.random.Generator, rows: int, k: int, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, ...]:
    """Arguments of few digits: p and q in 16ths and 32nds, drafted (drawn from its q), r and u.

    r and u are odd thousandths, which no ratio and no sum is. A row of it fits into a message.
    """
    size = min(5, 36 // (k + 1))
    p = sixteenths(rng, rows, k + 1, size)
    q = (sixteenths(rng, rows, k, size) + p[:, :k]) / 2
    drafted = [[int(rng.choice(size, p=each)) for each in row] for row in q]
    r, u = (
        rng.integers(0, 100, shape) * 10 + rng.choice((1, 3, 7, 9), shape)
        for shape in ((rows, k), rows)
    )
    p, q, r, u = map(torch.tensor, (p, q, r / 1000, u / 1000))
    return p.to(dtype), q.to(dtype), torch.tensor(drafted).reshape(rows, k).long(), r, u


def sixteenths(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random distributions; `shape` ends with the size of the vocabulary."""
    return rng.multinomial(16, rng.dirichlet(np.ones(shape[-1]), shape[:-1])) / 16


def require_part(student: Student, solution: Student, rng: np.random.Generator, part: int, hint):
    """Compare the first (0) or the second (1) of the two tensors with the solution's."""

    @functools.wraps(student.verify_block)
    def one(*args):
        out = student.verify_block(*args)
        return tuple(out[part : part + 1]) if isinstance(out, list | tuple) else out

    for rows, k in ((12, 2), (30, 4), (3, 1), (1, 4)):  # many rows first: they tell bugs apart
        args = block(rng, rows, k)
        gives = solution.verify_block(*args)[part : part + 1]
        expect_verdict(one, *args, gives=gives, hint=hint, form=False)


@verification.group("how many draft tokens are kept, row by row", weight=3)
def test_verification_counts(student, solution, rng):
    hint = "That is the first of the two: tokens with r q < p, up to the first that is rejected."
    require_part(student, solution, rng, 0, hint)


@verification.group("the token after them", weight=3)
def test_verification_next_tokens(student, solution, rng):
    hint = (
        "That is the second of the two, drawn with u from row `count` of p, less row `count` of "
        "q, clamped at 0 and divided by its sum; after a whole block from row K of p."
    )
    require_part(student, solution, rng, 1, hint)


EVEN = [0.5, 0.25, 0.25]


def block_edges(rng):
    yield edge([[0.25, 0.5, 0.25], EVEN], [EVEN], [0], [0.5], 0.5)  # both sides equal: rejected
    yield edge([[0.0, 0.5, 0.5], EVEN], [EVEN], [0], [0.0], 0.75)  # as at temperature 0
    yield edge([[0.0, 1.0, 0.0], EVEN], [[1.0, 0.0, 0.0]], [0], [0.0], 0.0)
    yield edge([EVEN, [0.25, 0.25, 0.5]], [EVEN], [0], [0.99], 0.6)  # p is q
    yield edge([[0.75, 0.25, 0.0], EVEN], [EVEN], [2], [0.0], LARGEST_UNIFORM)
    yield edge([[0.25, 0.25, 0.5]], [], [], [], 0.6)  # no draft token
    yield edge([EVEN, EVEN[::-1], [0, 1, 0]], [EVEN, [0, 0, 1]], [0, 2], [0.9, 0.9], 0.2)
    # Half precision rounds p, r and q r to the other verdict, and p[1] to the other token.
    x, bound = 65 / 128, 0.25 + 2**-14
    p = [[x * x, 1 - x * x], [bound, 1 - bound]]
    yield edge(p, [[x, 1 - x]], [0], [x - 2**-14], 0.25 + 2**-15)


@verification.group(
    "the edges: tokens that the target never writes, equal models, no draft token, close calls",
    weight=3,
    cases=block_edges,
)
def test_verification_block_edges(student, solution, args):
    hint = "Accept if and only if r q < p. Then draw from the residual, or from the last row of p."
    verification.assert_same(student, solution, args, hint)


def edge(p: list, q: list, drafted: list, r: list, u: float) -> tuple[Tensor, ...]:
    """One row from lists."""
    p, q, r, u = (torch.tensor([each], dtype=torch.float64) for each in (p, q, r, u))
    return p, q.reshape(1, len(drafted), p.shape[-1]), torch.tensor([drafted]).long(), r, u


@verification.group("float32: two tensors of torch.long, nothing changed, no loop over rows")
def test_verification_form_and_work(student, solution, rng):
    counted, replies = student.profile("verify_block"), []
    for rows in (2, 64):
        args = block(rng, rows, 3, torch.float32)
        expect_verdict(counted, *args, gives=solution.verify_block(*args), hint="")
        untouched(student)
        replies.append(student.calls[-1].reply)
    few, many = replies
    if many.host_syncs:
        used = ", ".join(dict.fromkeys(many.host_syncs)).replace(
            "__bool__", "a tensor as a condition"
        )
        raise Different(
            f"With 64 rows verify_block used {used}. On a GPU each use waits for the device. Keep "
            "every value in tensors."
        )
    if few.torch_calls != many.torch_calls:
        more = Different(
            f"verify_block used {few.torch_calls} functions of torch for 2 rows and "
            f"{many.torch_calls} for 64. Is there a loop over rows?"
        )
        raise with_cause(more, "a loop over the rows is clearer and costs nothing.")


generation = Exercise("speculative_generate")

LONGEST = 200  # tokens in a text: of each that is read, the models keep every beginning


class RemoteModel(models.WatchedModel, RemoteObject):
    """A model as an argument; its caches are lent as well."""

    def __init__(self, *args) -> None:
        models.WatchedModel.__init__(self, *args)
        RemoteObject.__init__(self, self, "vocab_size", "new_cache()", "forward()")

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> RemoteCache:
        """An empty cache of one row. ValueError for more rows."""
        super().new_cache(batch)
        return RemoteCache()

    def forward(self, tokens: Tensor, cache: RemoteCache) -> Tensor:
        """The logits, as of every WatchedModel. ValueError for too long a text."""
        if len(cache.tokens) + len(tokens[0]) > LONGEST:
            raise ValueError(f"the text gets longer than the {LONGEST} tokens that the model takes")
        return super().forward(tokens, cache)

    @property
    def trace(self) -> list:
        """As of every WatchedModel, and the number of passes: it tells errors apart."""
        return [*super().trace, len(self.passes)]


def pair_of(request: TextRequest, most: float = math.inf) -> tuple[RemoteModel, RemoteModel]:
    """A new target of at most `most` passes, and its draft; they share their list of passes."""
    (target, draft), passes = models.model_tables(request.models), []
    lent = RemoteModel(target, "target", passes, most)
    lent.code = f"*lesson.example_models({request.models})"  # both of them
    return lent, RemoteModel(draft, "draft", passes)


USUAL = {"k": 3, "most": 10, "temperature": 1.0, "eos_id": None}


@functools.cache
def written(solution: Student, seed: int, prompt: tuple[int, ...], **parts) -> TextRequest:
    """A request with the blocks that the solution writes, read off the passes of its target."""
    request = TextRequest(seed, list(prompt), blocks=[], **USUAL | parts)
    pair, rng = pair_of(request), models.WatchedGenerator(seed)
    asked = request.k, request.most, request.temperature, rng, request.eos_id
    text = solution.speculative_generate(*pair, request.prompt, *asked)
    passes = [each for each in pair[0].passes if each.name == "target"]
    starts = [max(each.start + 1 - len(prompt), 0) for each in passes]
    blocks = [text[start:end] for start, end in pairwise([*starts, len(text)])]
    return dataclasses.replace(request, blocks=blocks)


def asked(solution: Student, rng: np.random.Generator, wanted: Callable, **parts) -> TextRequest:
    """What is asked of the student: at random but for `parts`, until the blocks are as `wanted`."""
    while True:
        seed, length = int(rng.integers(1000)), int(rng.integers(1, 5))
        prompt = tuple(rng.integers(models.VOCAB, size=length).tolist())
        request = written(solution, seed, **{"prompt": prompt} | parts)
        if wanted(request):
            return request


def verdicts(request: TextRequest) -> list[bool]:
    """Whether each block was accepted whole."""
    return [len(block) > n for block, n in zip(request.blocks, request.drafts, strict=True)]


def is_mixed(request: TextRequest) -> bool:
    """Whether a block is rejected early, then one accepted whole, and each drafts a token."""
    early = len(request.blocks[0]) < request.drafts[0]
    return early and True in verdicts(request)[1:-1] and all(request.drafts)


def is_late(request: TextRequest) -> bool:
    """Whether blocks are rejected at no token but the last, which the draft has not read yet."""
    late = all(0 < n <= len(b) for b, n in zip(request.blocks, request.drafts, strict=True))
    return late and set(verdicts(request)[:-1]) == {True, False}


def is_whole(request: TextRequest) -> bool:
    """Whether all blocks are accepted whole: a missing rollback costs nothing then."""
    return all(verdicts(request))


def may_end_inside(request: TextRequest) -> bool:
    """The same, and with its first token as eos_id the text would end inside the first block."""
    first, *others = request.blocks[0]
    return is_whole(request) and first not in (*request.prompt, *others[-1:]) and bool(others)


def ends_later(request: TextRequest) -> bool:
    """Whether eos_id ends the text, after one block or more that were accepted whole."""
    whole = verdicts(request)[:-1]
    return bool(whole) and all(whole) and request.text[-1] == request.eos_id


def generated(student: Student, request: TextRequest, strict: bool = False) -> RemoteModel:
    """Let the student write, and compare the text with the solution's; returns the target."""
    pair = pair_of(request, request.passes)
    rng = models.WatchedGenerator(request.models)
    expect_text(student.speculative_generate, request, pair, rng, strict)
    return pair[0]


@generation.group("the sampled text while every draft token is accepted", weight=2)
def test_generation_accepted_text(student, solution, rng):
    for k in (2, 3, 4, 1):
        generated(student, asked(solution, rng, is_whole, k=k, most=3 * (k + 1)))


@generation.group("the sampled text after a rejection, at any temperature", weight=3)
def test_generation_rejected_text(student, solution, rng):
    for k, temperature in ((3, 1.0), (2, 1.0), (4, 1.0), (3, 0.5), (2, 1.5)):
        generated(student, asked(solution, rng, is_mixed, k=k, most=12, temperature=temperature))


@generation.group("the greedy text", weight=2)
def test_generation_greedy_text(student, solution, rng):
    for k in (2, 3):
        generated(student, asked(solution, rng, is_late, k=k, temperature=0.0))


@generation.group("where the text ends, a list of the new tokens alone", weight=2)
def test_generation_ends(student, solution, rng):
    inside = asked(solution, rng, may_end_inside)
    seed, prompt, first = inside.models, tuple(inside.prompt), inside.text[0]
    for request in (
        asked(solution, rng, is_whole, most=2, k=4),
        asked(solution, rng, is_whole, most=1),
        asked(solution, rng, is_whole, most=6, k=12),
        asked(solution, rng, is_whole, prompt=(2, 0), most=6, eos_id=2),
        written(solution, seed, prompt, eos_id=first),
        asked(solution, rng, ends_later, eos_id=3),
        asked(solution, rng, is_whole, most=0),
    ):
        target = generated(student, request, strict=True)
        untouched(student)
    if target.count:
        raise Different("speculative_generate called the target although 0 tokens were asked for.")


@generation.group("one pass of the target per block, and nothing read twice by it", weight=3)
def test_generation_reading(student, solution, rng):
    for k in (2, 3):
        target = generated(student, asked(solution, rng, is_late, k=k, most=14))
        for fault in target.faults:
            before = f" It had read {describe(target.again[0])} before." if target.again else ""
            raise Different(f"With k={k} the target {fault}. {FAULT_ADVICE[fault]}{before}")
