"""Hidden tests of chapter 00. Points attach to behaviours; see autograde/check.py."""

import pytest

from autograde.chapters.common import expect, expect_form, prediction, quiz
from autograde.check import Exercise
from specdec_lib.lessons.ch00 import quizzes

A100 = (2.039e12, 312e12)
H100 = (3.35e12, 989.5e12)
TPU_V4 = (1.2e12, 275e12)
LAPTOP = (5e10, 4e11)

test_prediction_race = prediction("prediction_00_race", 0.5, 5)
test_prediction = prediction("prediction_00", 1, 5)
test_prediction_b = prediction("prediction_00_b", 1, 8)
test_prediction_c = prediction("prediction_00_c", 0.01, 100)
test_quiz = quiz(quizzes.quiz_00)
test_quiz_b = quiz(quizzes.quiz_00_b)


arithmetic_intensity = Exercise("arithmetic_intensity")


def check_intensity(student, n_tokens, bytes_per_param, gives, hint, expect=expect):
    expect(student.arithmetic_intensity, n_tokens, bytes_per_param, gives=gives, hint=hint)


@arithmetic_intensity.behaviour("two FLOP for the bytes of a parameter")
@pytest.mark.parametrize("size, gives", [(2, 1.0), (4, 0.5), (1, 2.0), (0.5, 4.0), (8, 0.25)])
def test_intensity_of_one_token(student, size, gives):
    hint = f"One token: 2 FLOP with each parameter, {size:g} bytes read for it."
    check_intensity(student, 1, size, gives, hint)


@arithmetic_intensity.behaviour("grows with the tokens, as the weights are read once")
@pytest.mark.parametrize(
    "n_tokens, size, gives",
    [(2, 4, 1.0), (5, 2, 5.0), (7, 4, 3.5), (64, 2, 64.0), (1000, 4, 500.0), (3, 0.5, 12.0)],
)
def test_intensity_of_longer_passes(student, n_tokens, size, gives):
    hint = f"{n_tokens} tokens: {2 * n_tokens} FLOP with each parameter, which is read once."
    check_intensity(student, n_tokens, size, gives, hint)


@arithmetic_intensity.behaviour("a fraction stays a fraction")
@pytest.mark.parametrize("n_tokens, size, gives", [(1, 3, 2 / 3), (5, 4, 2.5), (1, 16, 0.125)])
def test_intensity_fractions(student, n_tokens, size, gives):
    hint = "Divide with /, which keeps the fraction."
    check_intensity(student, n_tokens, size, gives, hint, expect_form)


forward_time = Exercise("forward_time")
short_passes = forward_time.behaviour("a short pass takes the time of reading")
long_passes = forward_time.behaviour("a long pass takes the time of calculating")


@short_passes
@pytest.mark.parametrize(
    "n_tokens, n_params, size, limits, gives",
    [
        (1, 7e9, 2, H100, 14e9 / 3.35e12),
        (5, 7e9, 2, H100, 14e9 / 3.35e12),
        (150, 7e9, 2, A100, 14e9 / 2.039e12),
        (1, 175e9, 2, A100, 350e9 / 2.039e12),
        (1, 70e9, 0.5, TPU_V4, 35e9 / 1.2e12),
        (2, 4e7, 4, LAPTOP, 1.6e8 / 5e10),
        (3, 100, 1, (100, 1000), 1.0),
    ],
)
def test_short_passes(student, n_tokens, n_params, size, limits, gives):
    hint = "Here reading takes longer: every weight once, whatever the number of tokens."
    args = (n_tokens, n_params, size, *limits)
    expect(student.forward_time, *args, gives=gives, hint=hint)


@long_passes
@pytest.mark.parametrize(
    "n_tokens, n_params, size, limits, gives",
    [
        (512, 7e9, 2, H100, 2 * 512 * 7e9 / 989.5e12),
        (4096, 7e9, 2, A100, 2 * 4096 * 7e9 / 312e12),
        (2048, 70e9, 4, TPU_V4, 2 * 2048 * 70e9 / 275e12),
        (64, 4e7, 4, LAPTOP, 2 * 64 * 4e7 / 4e11),
        (20, 100, 1, (100, 1000), 4.0),
        (1, 100, 1, (100, 50), 4.0),
        (7, 3, 0.5, (1000, 1), 42.0),
    ],
)
def test_long_passes(student, n_tokens, n_params, size, limits, gives):
    hint = "Here calculating takes longer: two FLOP per parameter and token."
    args = (n_tokens, n_params, size, *limits)
    expect(student.forward_time, *args, gives=gives, hint=hint)


@forward_time.behaviour(
    "the larger of the two, at the ridge and beside it", after=[short_passes, long_passes]
)
@pytest.mark.parametrize(
    "n_tokens, gives", [(1, 1.0), (3, 1.0), (4, 1.0), (5, 1.25), (6, 1.5), (8, 2.0)]
)
def test_ridge(student, n_tokens, gives):
    hint = "Both go on at the same time: with these limits four tokens take as long as reading."
    expect_form(student.forward_time, n_tokens, 64, 2, 128, 512, gives=gives, hint=hint)


free_tokens = Exercise("free_tokens")


@free_tokens.behaviour("the ratio of the two limits, rounded down")
@pytest.mark.parametrize(
    "limits, gives", [(A100, 153), (H100, 295), (TPU_V4, 229), ((1.0, 3.75), 3), ((8, 15), 1)]
)
def test_free_of_machines(student, limits, gives):
    bandwidth, peak = limits
    hint = f"In bfloat16 the limit is 2 F / (2 B) = {peak / bandwidth:.2f}; round it down."
    expect(student.free_tokens, 2, bandwidth, peak, gives=gives, hint=hint)


@free_tokens.behaviour("fewer bytes, fewer free tokens")
@pytest.mark.parametrize(
    "size, limits, gives",
    [
        (4, A100, 306),
        (1, A100, 76),
        (0.5, A100, 38),
        (4, LAPTOP, 16),
        (1, (100, 1000), 5),
        (0.5, H100, 73),
    ],
)
def test_free_of_formats(student, size, limits, gives):
    hint = "The reading takes b N / B, the arithmetic 2 n N / F; where are they equal?"
    expect(student.free_tokens, size, *limits, gives=gives, hint=hint)


@free_tokens.behaviour("exactly as long is free, one more is not")
@pytest.mark.parametrize(
    "size, limits, gives",
    [
        (2, (1, 8), 8),
        (4, (128, 512), 8),
        (1, (4, 128), 16),
        (0.5, (1, 64), 16),
        (2, (2**40, 2**47), 128),
        (2, (64, 511), 7),
    ],
)
def test_free_at_the_ridge(student, size, limits, gives):
    hint = f"The limit is {size * limits[1] / (2 * limits[0]):g}: that many take no longer."
    expect(student.free_tokens, size, *limits, gives=gives, hint=hint)


@free_tokens.behaviour("at least one, as a whole number")
@pytest.mark.parametrize(
    "size, limits, gives",
    [(1, (100, 50), 1), (2, (1e12, 1e9), 1), (0.5, (4, 15), 1), (0.5, (4, 32), 2), (2, (3, 2), 1)],
)
def test_free_is_at_least_one(student, size, limits, gives):
    hint = "One token takes no longer than one token, also where the pass is compute-bound."
    expect_form(student.free_tokens, size, *limits, gives=gives, hint=hint)


kv_cache_bytes = Exercise("kv_cache_bytes")


def check_cache(student, args, gives, hint, expect=expect):
    expect(student.kv_cache_bytes, *args, gives=gives, hint=hint)


@kv_cache_bytes.behaviour("keys and values of every layer and head")
@pytest.mark.parametrize(
    "args, gives",
    [
        ((1, 80, 8, 128, 2), 327_680),
        ((1, 32, 32, 128, 2), 524_288),
        ((1, 96, 96, 128, 2), 4_718_592),
        ((1, 1, 1, 1, 1), 2),
        ((1, 3, 1, 1, 1), 6),
        ((1, 1, 5, 1, 1), 10),
        ((1, 1, 1, 7, 1), 14),
        ((1, 1, 1, 1, 4), 8),
    ],
)
def test_cache_of_one_token(student, args, gives):
    _, layers, heads, width, size = args
    hint = f"Keys and values: 2 x {layers} layers x {heads} heads x {width} numbers x {size} bytes."
    check_cache(student, args, gives, hint)


@kv_cache_bytes.behaviour("grows with the text")
@pytest.mark.parametrize(
    "args, gives",
    [
        ((0, 4, 6, 64, 4), 0),
        ((3, 2, 1, 4, 2), 96),
        ((7, 2, 3, 4, 1), 336),
        ((4096, 80, 8, 128, 2), 1_342_177_280),
        ((131_072, 96, 96, 128, 2), 618_475_290_624),
    ],
)
def test_cache_of_a_text(student, args, gives):
    hint = "Every token leaves its own keys and values; twice the text is twice the bytes."
    check_cache(student, args, gives, hint)


@kv_cache_bytes.behaviour("once for every row, as a whole number")
@pytest.mark.parametrize(
    "args, gives",
    [
        ((3, 2, 1, 4, 2, 1), 96),
        ((3, 2, 1, 4, 2, 5), 480),
        ((1, 80, 8, 128, 2, 64), 20_971_520),
        ((2048, 32, 32, 128, 2, 16), 17_179_869_184),
        ((3, 2, 1, 4, 2, 0), 0),
    ],
)
def test_cache_of_a_batch(student, args, gives):
    hint = "The rows of a batch share the weights; each has a cache of its own."
    check_cache(student, args, gives, hint, expect_form)


pass_time = Exercise("pass_time")
reads = pass_time.behaviour("the weights once, and the cache of every row once")
calculates = pass_time.behaviour("the arithmetic of every new token of every row")
LLAMA_7B = (7e9, 2, 524_288)
LLAMA_70B = (70e9, 2, 327_680)


@pass_time.behaviour("without text, all rows' tokens share one reading of the weights")
@pytest.mark.parametrize(
    "n_tokens, batch, model, limits, gives",
    [
        (1, 1, LLAMA_7B, H100, 14e9 / 3.35e12),
        (4, 32, LLAMA_7B, H100, 14e9 / 3.35e12),
        (1, 100, LLAMA_70B, A100, 140e9 / 2.039e12),
        (4, 128, LLAMA_7B, H100, 2 * 512 * 7e9 / 989.5e12),
        (6, 64, LLAMA_70B, H100, 2 * 384 * 70e9 / 989.5e12),
        (3, 20, (100, 1, 2), (100, 1000), 12.0),
    ],
)
def test_no_text(student, n_tokens, batch, model, limits, gives):
    hint = f"No text: {batch} x {n_tokens} tokens in a pass that reads the weights once."
    expect(student.pass_time, n_tokens, batch, 0, *model, *limits, gives=gives, hint=hint)


@reads
@pytest.mark.parametrize(
    "n_tokens, batch, context, model, limits, gives",
    [
        (1, 1, 2000, LLAMA_7B, H100, (14e9 + 2000 * 524_288) / 3.35e12),
        (1, 64, 1000, LLAMA_7B, H100, (14e9 + 64_000 * 524_288) / 3.35e12),
        (4, 128, 250, LLAMA_7B, H100, (14e9 + 32_000 * 524_288) / 3.35e12),
        (5, 32, 4000, LLAMA_70B, A100, (140e9 + 128_000 * 327_680) / 2.039e12),
        (2, 3, 50, (100, 0.5, 4), (50, 4000), 13.0),
        (7, 2, 600, (100, 4, 1), (100, 3000), 16.0),
    ],
)
def test_reading(student, n_tokens, batch, context, model, limits, gives):
    hint = f"Reading decides: the weights, and {batch} x {context} tokens of cache, once a pass."
    expect(student.pass_time, n_tokens, batch, context, *model, *limits, gives=gives, hint=hint)


@calculates
@pytest.mark.parametrize(
    "n_tokens, batch, context, model, limits, gives",
    [
        (64, 128, 100, LLAMA_7B, H100, 2 * 64 * 128 * 7e9 / 989.5e12),
        (16, 256, 200, LLAMA_70B, A100, 2 * 16 * 256 * 70e9 / 312e12),
        (512, 2, 1000, LLAMA_7B, A100, 2 * 1024 * 7e9 / 312e12),
        (9, 4, 10, (100, 2, 3), (100, 500), 14.4),
        (2, 10, 5, (10, 1, 1), (100, 20), 20.0),
    ],
)
def test_calculating(student, n_tokens, batch, context, model, limits, gives):
    hint = f"Calculating decides: two FLOP per parameter for {batch} x {n_tokens} tokens."
    expect(student.pass_time, n_tokens, batch, context, *model, *limits, gives=gives, hint=hint)


@pass_time.behaviour("the larger of the two, at the ridge and beside it", after=[reads, calculates])
@pytest.mark.parametrize(
    "n_tokens, context, gives",
    [(1, 0, 1.0), (1, 32, 1.5), (2, 32, 1.5), (3, 32, 1.5), (4, 32, 2.0), (6, 96, 3.0)],
)
def test_pass_ridge(student, n_tokens, context, gives):
    hint = "Reading and calculating go on at the same time, and the longer of the two counts."
    args = (n_tokens, 2, context, 64, 2, 1, 128, 512)
    expect_form(student.pass_time, *args, gives=gives, hint=hint)
