"""Known wrong answers of chapter 06, refuted. Several are in published simulators."""

import numpy as np

from autograde.wrong import Misconceptions

WRONG = Misconceptions()


def _run_length(alpha, r):
    """The right count, for wrong answers that err elsewhere."""
    passed = [bool(coin < alpha) for coin in r]
    return [*passed, False].index(False)


def _result(tokens, passes, time):
    return {"tokens": int(tokens), "target_passes": int(passes), "time": float(time)}


simulate_block = WRONG.exercise("simulate_block")


@simulate_block.wrong(
    think="every coin that passes is an accepted token.",
    because="a draft token behind the first rejection is dropped, whatever its own coin says.",
)
def no_stop(alpha, k, r):
    return int(np.sum(r < alpha))


@simulate_block.wrong(
    think="what a block writes is what it has accepted.",
    because="the correction or bonus token comes on top; here only draft tokens count.",
)
def bonus_counted(alpha, k, r):
    return _run_length(alpha, r) + 1


@simulate_block.wrong(
    think="a coin passes where it is above alpha.",
    because="a uniform number is below alpha with probability alpha, and above it with 1 - alpha.",
)
def coin_reversed(alpha, k, r):
    return _run_length(1 - alpha, 1 - np.asarray(r))


@simulate_block.wrong(
    think="a coin equal to alpha passes.",
    because="with <= a coin of 0 would pass at alpha = 0, where nothing is accepted.",
)
def boundary_accepted(alpha, k, r):
    passed = [bool(coin <= alpha) for coin in r]
    return [*passed, False].index(False)


@simulate_block.wrong(
    think="one coin decides the block.",
    because="each draft token has a coin of its own; a block is rarely all or nothing.",
)
def one_coin(alpha, k, r):
    return k if k and r[0] < alpha else 0


@simulate_block.wrong(
    think="the rejected token is in the count.",
    because="the token at which the walk ends is not accepted, so it is not counted.",
)
def rejected_counted(alpha, k, r):
    return min(_run_length(alpha, r) + 1, k)


@simulate_block.wrong(
    think="np.argmax finds the first rejection.",
    because="where no coin fails it gives 0 as well, and the block was accepted whole.",
)
def argmax_of_nothing(alpha, k, r):
    return int(np.argmax(np.asarray(r) >= alpha)) if k else 0


@simulate_block.wrong(
    think="the coin is compared with alpha^i, as later tokens pass less often.",
    because="given that the earlier ones passed, each passes with alpha; the walk does the rest.",
)
def power_counted_twice(alpha, k, r):
    passed = [bool(coin < alpha ** (i + 1)) for i, coin in enumerate(r)]
    return [*passed, False].index(False)


simulate_decode = WRONG.exercise("simulate_decode")


@simulate_decode.wrong(
    think="a block writes what it has accepted.",
    because="every block writes one token more, the correction or the bonus.",
    same_as=bonus_counted,
)
def no_last_token(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens and passes < 200:  # at alpha = 0 it would never end
        tokens += _run_length(alpha, rng.random(k))
        passes += 1
    return _result(tokens, passes, passes * (c * k + 1))


@simulate_decode.wrong(
    think="only a block accepted whole brings a token more.",
    because="after a rejection the correction is written, so each block brings one.",
)
def bonus_alone(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens and passes < 200:
        n = _run_length(alpha, rng.random(k))
        tokens += n + (n == k)
        passes += 1
    return _result(tokens, passes, passes * (c * k + 1))


@simulate_decode.wrong(
    think="a request of n tokens reports n tokens.",
    because="the last block is counted whole here; cutting it would make speed too low for short "
    "requests.",
)
def cut_to_length(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        passes += 1
    return _result(min(tokens, n_tokens), passes, passes * (c * k + 1))


@simulate_decode.wrong(
    think="time is the number of target passes.",
    because="the draft takes c for each of its k tokens, and that is what makes a large K slow.",
)
def free_draft(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        passes += 1
    return _result(tokens, passes, passes)


@simulate_decode.wrong(
    think="a block costs one draft step.",
    because="its k tokens are drafted one after the other, c each.",
)
def one_draft_step(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        passes += 1
    return _result(tokens, passes, passes * (c + 1))


@simulate_decode.wrong(
    think="only accepted draft tokens are paid for.",
    because="the rejected and dropped ones were drafted too, before anybody could know.",
)
def accepted_ones_paid(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    time = 0.0
    while tokens < n_tokens:
        n = _run_length(alpha, rng.random(k))
        tokens, passes, time = tokens + n + 1, passes + 1, time + c * n + 1
    return _result(tokens, passes, time)


@simulate_decode.wrong(
    think="one more block is needed when the number is met exactly.",
    because="n_tokens tokens are enough; the loop ends as soon as there are at least so many.",
)
def one_block_too_many(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens <= n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        passes += 1
    return _result(tokens, passes, passes * (c * k + 1))


@simulate_decode.wrong(
    think="the coins can be drawn once, before the loop.",
    because="then every block does the same as the first, and the run has no luck in it at all.",
)
def same_coins_again(alpha, c, k, n_tokens, rng):
    r = rng.random(k) if n_tokens else []
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, r) + 1
        passes += 1
    return _result(tokens, passes, passes * (c * k + 1))


@simulate_decode.wrong(
    think="any generator will do.",
    because="with one of its own the function cannot be repeated by whoever holds the seed.",
)
def own_generator(alpha, c, k, n_tokens, rng):
    rng = np.random.default_rng(0)
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        passes += 1
    return _result(tokens, passes, passes * (c * k + 1))


@simulate_decode.wrong(
    think="the coins behind a rejection need not be drawn.",
    because="each block takes k numbers, so that the next one begins at a fixed place.",
)
def coins_drawn_as_needed(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens:
        n = 0
        while n < k and rng.random() < alpha:
            n += 1
        tokens += n + 1
        passes += 1
    return _result(tokens, passes, passes * (c * k + 1))


@simulate_decode.wrong(
    think="verifying k + 1 tokens costs k + 1 passes.",
    because="one pass reads the weights once for all of them; that is the point of verifying "
    "in parallel.",
)
def pass_for_each_token(alpha, c, k, n_tokens, rng):
    tokens = blocks = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        blocks += 1
    return _result(tokens, blocks, blocks * (c * k + k + 1))


lockstep_tokens = WRONG.exercise("lockstep_tokens")


@lockstep_tokens.wrong(
    think="the mean of the slowest row is the mean of a row.",
    because="the slowest of several rows is slower than a row by itself, on average.",
)
def mean_of_one_row(alpha, k, batch_size):
    return float(sum(alpha**i for i in range(k + 1)))


@lockstep_tokens.wrong(
    think="the correction or bonus token is not written in lock-step.",
    because="every row writes one token a step, however little was accepted.",
)
def no_token_on_top(alpha, k, batch_size):
    return float(sum(alpha ** (batch_size * i) for i in range(1, k + 1)))


@lockstep_tokens.wrong(
    think="a batch of B rows counts B times.",
    because="the number is asked for one row; the whole batch writes batch_size times as many.",
)
def of_all_rows(alpha, k, batch_size):
    return float(batch_size * sum(alpha ** (batch_size * i) for i in range(k + 1)))


@lockstep_tokens.wrong(
    think="it is enough that one row gets further.",
    because="the batch advances by its slowest row, not by its fastest.",
)
def fastest_row(alpha, k, batch_size):
    return float(sum(1 - (1 - alpha**i) ** batch_size for i in range(k + 1)))


@lockstep_tokens.wrong(
    think="the rows pass all their coins or none.",
    because="a batch can stop anywhere; each position that all of its rows pass adds a token.",
)
def all_or_nothing(alpha, k, batch_size):
    return float(1 + k * alpha ** (batch_size * k))


@lockstep_tokens.wrong(
    think="the exponents of rows and positions add up.",
    because="i positions in each of B rows are i times B coins, so the exponent is the product.",
)
def exponents_added(alpha, k, batch_size):
    return float(1 + sum(alpha ** (batch_size + i - 1) for i in range(1, k + 1)))


@lockstep_tokens.wrong(
    think="the closed form needs no second look.",
    because="at alpha = 1 it divides zero by zero; there every row writes k + 1.",
)
def closed_form_alone(alpha, k, batch_size):
    a = np.float64(alpha) ** batch_size
    return float((1 - a ** (k + 1)) / (1 - a))


@lockstep_tokens.wrong(
    think="the slowest row ends after the mean block over the number of rows.",
    because="the smallest of B counts does not shrink like 1/B; it comes from alpha^(i B).",
)
def mean_over_rows(alpha, k, batch_size):
    return float(sum(alpha**i for i in range(k + 1)) / batch_size)
