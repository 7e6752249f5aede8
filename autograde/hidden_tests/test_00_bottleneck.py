"""Hidden tests of chapter 00: test groups and known bugs; see autograde/hidden/exercise.py."""

import numpy as np

from autograde.hidden.exercise import with_cause
from autograde.hidden_tests.common import Exercise, Lent, prediction, quiz
from specdec_lib.lessons.ch00.lesson import Passes, require_calls
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.pasting import format_call

A100, H100 = (2.039e12, 312e12), (3.35e12, 989.5e12)  # bytes/s, FLOP/s

test_prediction_00 = prediction("prediction_00", 1, 8)
test_prediction_00_b = prediction("prediction_00_b", 1, 100_000_000)
test_quiz_00 = quiz("quiz_00")
test_quiz_00_b = quiz("quiz_00_b")


def passing(n_tokens: int, batch: int, share: float, rng, text: bool = True) -> tuple:
    """Arguments of pass_time: it calculates `share` times as long as it reads.

    With `text` its weights have from half to all of the bytes of its caches.
    """
    size, context = (0.5, 1, 2, 4)[rng.integers(4)], int(rng.integers(20, 60))
    kv_size, bandwidth = int(rng.integers(3, 9)), 100 * int(rng.integers(1, 10))
    n_params = round(batch * context * kv_size * rng.uniform(0.5, 1) / size)
    reading = (n_params * size + batch * context * kv_size * text) / bandwidth
    peak = round(2 * n_tokens * batch * n_params / (reading * share))
    return n_tokens, batch, context * text, n_params, size, kv_size, bandwidth, peak


class Timed(Exercise):
    """Whoever never read the clock is told so: no other advice would help."""

    def compare(self, function, args: tuple, *more) -> None:
        try:
            super().compare(function, args, *more)
        except Different as error:
            if args[0].obj.unread:
                error = with_cause(error, OTHER_CLOCK)
            raise error from None


OTHER_CLOCK = "any clock will do."
time_pass = Timed("time_pass")


def timing(warmup: int, repeats: int, rng: np.random.Generator) -> tuple:
    """Arguments of time_pass: each pass has a time of its own, slow ones first and one later."""
    seconds = (1 + rng.choice(40, size=repeats, replace=False)) / 8
    seconds[rng.integers(repeats)] *= 20
    forward = Lent(Passes([*(40 + 2 * np.arange(warmup)[::-1]).tolist(), *seconds.tolist()]))
    forward.code = forward.obj.code
    return forward, int(rng.integers(5, 100)), forward.obj.clock, warmup, repeats


def no_warm_up(rng):
    for repeats in (3, 5, 7, 9):
        yield timing(0, repeats, rng)


@time_pass.group("the median of the counted calls", cases=no_warm_up)
def test_time_pass_no_warm_up(student, solution, args):
    hint = "Without a call to warm up, every one counts: sort their times and take the middle one."
    time_pass.assert_same(student, solution, args, hint)


def slow_at_first(rng):
    for warmup, repeats in ((1, 3), (2, 3), (4, 5)):
        yield timing(warmup, repeats, rng)
    yield timing(2, 5, rng)[:3]


@time_pass.group("calls that warm up come first and do not count", cases=slow_at_first)
def test_time_pass_slow_at_first(student, solution, args):
    hint = "The first `warmup` calls, 2 unless told otherwise, leave no trace in the answer."
    time_pass.assert_same(student, solution, args, hint)


def even(rng):
    for warmup, repeats in ((0, 2), (0, 4), (1, 6), (0, 1), (2, 1)):
        yield timing(warmup, repeats, rng)


@time_pass.group("an even number of calls, and a single one", cases=even)
def test_time_pass_even(student, solution, args):
    hint = "Of an even number the median is the mean of the two in the middle."
    time_pass.assert_same(student, solution, args, hint, form=True)


@time_pass.group("warmup + repeats calls, each with n_tokens")
def test_time_pass_calls(student, rng):
    for warmup, repeats in ((2, 5), (0, 1), (3, 2)):
        args = timing(warmup, repeats, rng)
        call = format_call(student.time_pass, args)
        student.time_pass(*args)
        require_calls(call, args[0].obj.trace, [args[1]] * (warmup + repeats))


forward_time = Exercise("forward_time")


def alone(n_tokens: int, share: float, rng: np.random.Generator) -> tuple:
    """Arguments of forward_time: `passing` for one row without text."""
    _, _, _, n_params, size, _, *limits = passing(n_tokens, 1, share, rng, text=False)
    return n_tokens, n_params, size, *limits


def short_passes(rng):
    for n_tokens, share in ((1, 0.3), (5, 0.2), (2, 0.4), (150, 0.1)):
        yield alone(n_tokens, share, rng)
    yield 1, 8e9, 2, *H100


@forward_time.group("a short pass takes the time of reading", cases=short_passes)
def test_forward_time_short_passes(student, solution, args):
    forward_time.assert_same(student, solution, args)


def long_passes(rng):
    for n_tokens, share in ((1, 2.5), (20, 3), (64, 6), (7, 4)):
        yield alone(n_tokens, share, rng)
    yield from ((4096, 8e9, 2, *A100), (7, 3, 0.5, 1000, 1))


@forward_time.group("a long pass takes the time of calculating", cases=long_passes)
def test_forward_time_long_passes(student, solution, args):
    forward_time.assert_same(student, solution, args)


def ridge(rng):
    n_params = 64 * int(rng.integers(1, 10))
    for n_tokens in (1, 3, 4, 5, 6, 8):
        yield n_tokens, n_params, 2, 128, 512


@forward_time.group("the larger of the two, at the kink and next to it", cases=ridge)
def test_forward_time_ridge(student, solution, args):
    hint = "Both go on at the same time: with these limits 4 tokens take as long as reading."
    forward_time.assert_same(student, solution, args, hint, form=True)


free_tokens = Exercise("free_tokens")


def room(rng):
    for size, part in ((2, 0.75), (2, 0.25), (4, 0.5), (1, 0.25), (0.5, 0.75)):
        bandwidth = 1000 * int(rng.integers(1, 10))
        yield size, bandwidth, int(2 * bandwidth * (int(rng.integers(2, 300)) + part) / size)
    yield 2, *A100


@free_tokens.group("as many as the time of reading has room for, rounded down", cases=room)
def test_free_tokens_room(student, solution, args):
    hint = (
        "Up to the n where b W / R equals 2 n W / F: a token that takes exactly as long is free, "
        "and part of one is not."
    )
    free_tokens.assert_same(student, solution, args, hint)


def exactly_as_long(rng):
    for size, bandwidth in ((2, 1), (4, 128), (1, 4), (0.5, 2**40)):
        yield size, bandwidth, int(2 * bandwidth * int(rng.integers(3, 60)) / size)
    yield 2, 64, 511


@free_tokens.group("exactly as long is free, one more is not", cases=exactly_as_long)
def test_free_tokens_exactly_as_long(student, solution, args):
    free_tokens.assert_same(student, solution, args)


def at_least_one(rng):
    yield from ((1, 100, 50), (2, 1e12, 1e9), (0.5, 4, 15), (2, 3, 2))
    yield 0.5, 4.0, 16.0 * int(rng.integers(2, 10))


@free_tokens.group("at least one, as a whole number", cases=at_least_one)
def test_free_tokens_at_least_one(student, solution, args):
    hint = "One token is always free, and a token that takes exactly as long as one is, too."
    free_tokens.assert_same(student, solution, args, hint, form=True)


pass_time = Exercise("pass_time")


def no_text(rng):
    for n_tokens, batch, share in ((1, 1, 0.2), (4, 32, 0.3), (3, 20, 2), (1, 5, 5), (6, 2, 3)):
        yield passing(n_tokens, batch, share, rng, text=False)


@pass_time.group("without text, all rows' tokens share one reading of the weights", cases=no_text)
def test_pass_time_no_text(student, solution, args):
    pass_time.assert_same(student, solution, args)


def reading_decides(rng):
    for n_tokens, batch, share in ((1, 1, 0.15), (1, 64, 0.15), (4, 8, 0.15), (7, 2, 0.7)):
        yield passing(n_tokens, batch, share, rng)


@pass_time.group("the weights once, and the cache of every row once", cases=reading_decides)
def test_pass_time_reading_decides(student, solution, args):
    hint = "Reading decides: the weights and batch x context tokens of cache, once a pass."
    pass_time.assert_same(student, solution, args, hint)


def calculating_decides(rng):
    for n_tokens, batch in ((64, 3), (2, 10), (9, 4), (1, 16)):
        yield passing(n_tokens, batch, 2, rng)


@pass_time.group("the arithmetic of every new token of every row", cases=calculating_decides)
def test_pass_time_calculating_decides(student, solution, args):
    hint = "Calculating decides: two FLOP per parameter for batch x n_tokens tokens."
    pass_time.assert_same(student, solution, args, hint)


def pass_ridge(rng):
    times = int(rng.integers(1, 10))
    for n_tokens, context in ((1, 0), (1, 32), (2, 32), (3, 32), (4, 32), (6, 96)):
        yield n_tokens, 2, context * times, 64 * times, 2, 1, 128, 512


@pass_time.group("the larger of the two, at the kink and next to it", cases=pass_ridge)
def test_pass_time_pass_ridge(student, solution, args):
    hint = "Reading and calculating go on at the same time, and the longer of the two counts."
    pass_time.assert_same(student, solution, args, hint, form=True)
