"""Hidden tests of chapter 00. Points attach to behaviours; see autograde/check.py.

Their numbers stand in numbers/ch00_numbers.py, but for two that their behaviours name: ONE token,
and NO_CONTEXT.
"""

import pytest

from autograde.chapters.ch00_wrong import WRONG  # noqa: F401  known to the grader by this name
from autograde.chapters.common import expect, expect_form, prediction, quiz
from autograde.chapters.expected import ch00_expected as expected
from autograde.chapters.numbers import ch00_numbers as numbers
from autograde.chapters.parametrized import Exercise
from specdec_lib.lessons.ch00 import quizzes

test_prediction = prediction("prediction_00", 1, 5)
test_prediction_b = prediction("prediction_00_b", 1, 8)
test_prediction_c = prediction("prediction_00_c", 0.01, 100)
test_quiz = quiz(quizzes.quiz_00)
test_quiz_b = quiz(quizzes.quiz_00_b)


ONE, NO_CONTEXT = 1, 0

arithmetic_intensity = Exercise("arithmetic_intensity")


def check_intensity(student, n_tokens, size, hint, expect=expect):
    gives = expected.intensity(n_tokens, size)
    expect(student.arithmetic_intensity, n_tokens, size, gives=gives, hint=hint)


@arithmetic_intensity.behaviour("two FLOP for the bytes of a parameter")
@pytest.mark.parametrize("size", numbers.ONE_TOKEN_BYTES)
def test_intensity_of_one_token(student, size):
    hint = f"One token: 2 FLOP with each parameter, {size:g} bytes read for it."
    check_intensity(student, ONE, size, hint)


@arithmetic_intensity.behaviour("grows with the tokens, as the weights are read once")
@pytest.mark.parametrize("n_tokens, size", numbers.LONGER_INTENSITY)
def test_intensity_of_longer_passes(student, n_tokens, size):
    hint = f"{n_tokens} tokens: {2 * n_tokens} FLOP with each parameter, which is read once."
    check_intensity(student, n_tokens, size, hint)


@arithmetic_intensity.behaviour("a fraction stays a fraction")
@pytest.mark.parametrize("n_tokens, size", numbers.FRACTIONS)
def test_intensity_fractions(student, n_tokens, size):
    hint = "Divide with /, which keeps the fraction."
    check_intensity(student, n_tokens, size, hint, expect_form)


forward_time = Exercise("forward_time")
short_passes = forward_time.behaviour("a short pass takes the time of reading")
long_passes = forward_time.behaviour("a long pass takes the time of calculating")


def check_time(student, n_tokens, n_params, size, machine, hint, expect=expect):
    args = (n_tokens, n_params, size, *machine)
    gives = expected.time(n_tokens, n_params, size, machine)
    expect(student.forward_time, *args, gives=gives, hint=hint)


@short_passes
@pytest.mark.parametrize("n_tokens, n_params, size, machine", numbers.SHORT_PASSES)
def test_short_passes(student, n_tokens, n_params, size, machine):
    hint = "Here reading takes longer: every weight once, whatever the number of tokens."
    check_time(student, n_tokens, n_params, size, machine, hint)


@long_passes
@pytest.mark.parametrize("n_tokens, n_params, size, machine", numbers.LONG_PASSES)
def test_long_passes(student, n_tokens, n_params, size, machine):
    hint = "Here calculating takes longer: two FLOP per parameter and token."
    check_time(student, n_tokens, n_params, size, machine, hint)


@forward_time.behaviour("the larger of the two, at the ridge and beside it")
@pytest.mark.parametrize("n_tokens", numbers.RIDGE_TOKENS)
def test_ridge(student, n_tokens):
    n_params, size, machine = numbers.RIDGE
    free = expected.free_tokens(size, machine)
    hint = f"Both go on at the same time: with these limits {free} tokens take as long as reading."
    check_time(student, n_tokens, n_params, size, machine, hint, expect_form)


free_tokens = Exercise("free_tokens")


def check_free(student, size, machine, hint, expect=expect):
    gives = expected.free_tokens(size, machine)
    expect(student.free_tokens, size, *machine, gives=gives, hint=hint)


@free_tokens.behaviour("the ratio of the two limits, rounded down")
@pytest.mark.parametrize("machine", numbers.MACHINES)
def test_free_of_machines(student, machine):
    bandwidth, peak = machine
    hint = f"In bfloat16 the limit is 2 F / (2 B) = {peak / bandwidth:.2f}; round it down."
    check_free(student, numbers.BFLOAT16, machine, hint)


@free_tokens.behaviour("fewer bytes, fewer free tokens")
@pytest.mark.parametrize("size, machine", numbers.FORMATS)
def test_free_of_formats(student, size, machine):
    hint = "The reading takes b N / B, the arithmetic 2 n N / F; where are they equal?"
    check_free(student, size, machine, hint)


@free_tokens.behaviour("exactly as long is free, one more is not")
@pytest.mark.parametrize("size, machine", numbers.FREE_AT_THE_RIDGE)
def test_free_at_the_ridge(student, size, machine):
    bandwidth, peak = machine
    hint = f"The limit is {size * peak / (2 * bandwidth):g}: that many take no longer."
    check_free(student, size, machine, hint)


@free_tokens.behaviour("at least one, as a whole number")
@pytest.mark.parametrize("size, machine", numbers.FREE_AT_LEAST_ONE)
def test_free_is_at_least_one(student, size, machine):
    hint = "One token takes no longer than one token, also where the pass is compute-bound."
    check_free(student, size, machine, hint, expect_form)


kv_cache_bytes = Exercise("kv_cache_bytes")


def check_cache(student, args, hint, expect=expect):
    expect(student.kv_cache_bytes, *args, gives=expected.cache_bytes(*args), hint=hint)


@kv_cache_bytes.behaviour("keys and values of every layer and head")
@pytest.mark.parametrize("args", numbers.CACHE_OF_ONE_TOKEN)
def test_cache_of_one_token(student, args):
    _, layers, heads, width, size = args
    hint = f"Keys and values: 2 x {layers} layers x {heads} heads x {width} numbers x {size} bytes."
    check_cache(student, args, hint)


@kv_cache_bytes.behaviour("grows with the text")
@pytest.mark.parametrize("args", numbers.CACHE_OF_A_TEXT)
def test_cache_of_a_text(student, args):
    hint = "Every token leaves its own keys and values; twice the text is twice the bytes."
    check_cache(student, args, hint)


@kv_cache_bytes.behaviour("once for every row, as a whole number")
@pytest.mark.parametrize("args", numbers.CACHE_OF_A_BATCH)
def test_cache_of_a_batch(student, args):
    hint = "The rows of a batch share the weights; each has a cache of its own."
    check_cache(student, args, hint, expect_form)


pass_time = Exercise("pass_time")
reads = pass_time.behaviour("the weights once, and the cache of every row once")
calculates = pass_time.behaviour("the arithmetic of every new token of every row")


def check_pass(student, n_tokens, batch, context, model, machine, hint, expect=expect):
    args = (n_tokens, batch, context, *model, *machine)
    gives = expected.pass_time(n_tokens, batch, context, model, machine)
    expect(student.pass_time, *args, gives=gives, hint=hint)


@pass_time.behaviour("without text, all rows' tokens share one reading of the weights")
@pytest.mark.parametrize("n_tokens, batch, model, machine", numbers.NO_TEXT)
def test_no_text(student, n_tokens, batch, model, machine):
    hint = f"No text: {batch} x {n_tokens} tokens in a pass that reads the weights once."
    check_pass(student, n_tokens, batch, NO_CONTEXT, model, machine, hint)


@reads
@pytest.mark.parametrize("n_tokens, batch, context, model, machine", numbers.READING)
def test_reading(student, n_tokens, batch, context, model, machine):
    hint = f"Reading decides: the weights, and {batch} x {context} tokens of cache, once a pass."
    check_pass(student, n_tokens, batch, context, model, machine, hint)


@calculates
@pytest.mark.parametrize("n_tokens, batch, context, model, machine", numbers.CALCULATING)
def test_calculating(student, n_tokens, batch, context, model, machine):
    hint = f"Calculating decides: two FLOP per parameter for {batch} x {n_tokens} tokens."
    check_pass(student, n_tokens, batch, context, model, machine, hint)


@pass_time.behaviour("the larger of the two, at the ridge and beside it")
@pytest.mark.parametrize("n_tokens, context", numbers.PASS_RIDGE_CASES)
def test_pass_ridge(student, n_tokens, context):
    batch, model, machine = numbers.PASS_RIDGE
    hint = "Reading and calculating go on at the same time, and the longer of the two counts."
    check_pass(student, n_tokens, batch, context, model, machine, hint, expect_form)
