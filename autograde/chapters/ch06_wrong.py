"""Known wrong answers of chapter 06, refuted. Several are in published simulators."""

import numpy as np

from autograde.chapters.parametrized import Misconceptions

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


@simulate_block.form_of(bonus_counted)
def bonus_counted_after_a_whole_block(alpha, k, r):
    accepted = _run_length(alpha, r)
    return accepted + (accepted == k)


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


@simulate_block.wrong(
    think="the longest run of coins that pass is the accepted part.",
    because="a block is kept from its first token on; what follows the first rejection is dropped.",
)
def longest_run(alpha, k, r):
    best = run = 0
    for coin in r:
        run = run + 1 if coin < alpha else 0
        best = max(best, run)
    return best


@simulate_block.wrong(
    think="the last coin need not be looked at.",
    because="each of the k draft tokens has a coin, and the last one can fail too.",
)
def last_coin_unread(alpha, k, r):
    return k if all(coin < alpha for coin in r[:-1]) else _run_length(alpha, r)


@simulate_block.wrong(
    think="the rejected draft tokens are counted.",
    because="asked for are the accepted ones: those before the first coin that fails.",
)
def rejections_counted(alpha, k, r):
    return int(np.sum(np.asarray(r) >= alpha))


@simulate_block.wrong(
    think="a block reaches to its last coin that passes.",
    because="it ends at the first coin that fails; what passes after that one is dropped.",
)
def up_to_the_last_pass(alpha, k, r):
    return max((i + 1 for i, coin in enumerate(r) if coin < alpha), default=0)


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


@simulate_decode.wrong(
    think="the token on top is drafted too.",
    because="the correction or bonus comes from the target's pass; the draft takes k steps.",
)
def one_step_too_many(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        passes += 1
    return _result(tokens, passes, passes * (c * (k + 1) + 1))


@simulate_decode.wrong(
    think="the last block drafts only what is still missing.",
    because="here every block drafts k tokens and draws rng.random(k), and the last is not cut.",
)
def shorter_last_block(alpha, c, k, n_tokens, rng):
    tokens = passes = steps = 0
    while tokens < n_tokens:
        short = min(k, n_tokens - tokens - 1)
        tokens += _run_length(alpha, rng.random(short)) + 1
        passes, steps = passes + 1, steps + short
    return _result(tokens, passes, c * steps + passes)


@simulate_decode.wrong(
    think="the correction takes a target pass of its own.",
    because="the pass that judges the block also gives what the correction is drawn from.",
)
def correction_takes_a_pass(alpha, c, k, n_tokens, rng):
    tokens = passes = blocks = 0
    while tokens < n_tokens:
        n = _run_length(alpha, rng.random(k))
        tokens, blocks, passes = tokens + n + 1, blocks + 1, passes + 1 + (n < k)
    return _result(tokens, passes, c * k * blocks + passes)


@simulate_decode.wrong(
    think="each draft step is a target pass too.",
    because="target_passes counts one pass a block; the draft's steps are in the time, c each.",
)
def draft_steps_counted(alpha, c, k, n_tokens, rng):
    tokens = blocks = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        blocks += 1
    return _result(tokens, blocks * (k + 1), blocks * (c * k + 1))


@simulate_decode.wrong(
    think="the draft is paid for every token that is written.",
    because="it takes k steps in each block, however many of its tokens are written.",
)
def written_ones_paid(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        passes += 1
    return _result(tokens, passes, c * tokens + passes)


@simulate_decode.wrong(
    think="draft and target work at the same time.",
    because="the target checks tokens that are drafted already, so the times add up: c k + 1.",
)
def side_by_side(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += _run_length(alpha, rng.random(k)) + 1
        passes += 1
    return _result(tokens, passes, passes * max(c * k, 1))


mixture_quantile = WRONG.exercise("mixture_quantile")


def _first_above(law, share):
    """The smallest n that `share` of a law do not exceed."""
    return int(np.argmax(np.cumsum(law) >= share - 1e-12))


def _added(laws, weights):
    mixed = np.zeros(max(len(law) for law in laws))
    for law, weight in zip(laws, weights, strict=True):
        mixed[: len(law)] += weight * np.asarray(law)
    return mixed


@mixture_quantile.wrong(
    think="the quantile of the mixture is the mean of the kinds' quantiles.",
    because="a slow request is of one kind. Add the laws by their weights first, then look.",
)
def mean_of_quantiles(laws, weights, share):
    each = [_first_above(law, share) for law in laws]
    return round(float(np.dot(weights, each)))


@mixture_quantile.wrong(
    think="the slowest kind decides alone.",
    because="a kind makes only its weight of all requests, so its tail counts in part.",
)
def slowest_kind(laws, weights, share):
    return max(_first_above(law, share) for law in laws)


@mixture_quantile.wrong(
    think="the kinds are equally frequent.",
    because="the weights say how many of all requests are of each kind.",
)
def weights_ignored(laws, weights, share):
    return _first_above(_added(laws, [1 / len(laws)] * len(laws)), share)


@mixture_quantile.wrong(
    think="more than the share must be finished.",
    because="exactly the share is enough: the quantile is the smallest n that it does not exceed.",
)
def strictly_more(laws, weights, share):
    return int(np.argmax(np.cumsum(_added(laws, weights)) > share + 1e-12))


@mixture_quantile.wrong(
    think="the request takes the blocks of all kinds, one after another.",
    because="each request is of one kind. Their probabilities add up, not their blocks.",
)
def blocks_added(laws, weights, share):
    law = np.ones(1)
    for each in laws:
        law = np.convolve(law, each)
    return _first_above(law, share)


@mixture_quantile.wrong(
    think="the laws are equally long.",
    because="the longest law has the slow requests; cut to the shortest, they are lost.",
)
def cut_to_the_shortest(laws, weights, share):
    least = min(len(law) for law in laws)
    mixed = sum(w * np.asarray(law)[:least] for w, law in zip(weights, laws, strict=True))
    return _first_above(mixed, share)


@mixture_quantile.wrong(
    think="the quantile is the mean number of blocks.",
    because="the mean says nothing of the slow requests; count from the fast ones up to the share.",
)
def mean_blocks(laws, weights, share):
    mixed = _added(laws, weights)
    return int(np.ceil(mixed @ np.arange(len(mixed))))


@mixture_quantile.wrong(
    think="the first entry of a law stands for 1 block.",
    because="laws[i][n] is the probability of n blocks, and n begins at 0.",
)
def counts_from_one(laws, weights, share):
    return _first_above(_added(laws, weights), share) + 1


@mixture_quantile.wrong(
    think="the share is counted from the slow requests.",
    because="p99 is what 99 in a hundred do not exceed: count from the fewest blocks up.",
)
def counted_from_the_slow(laws, weights, share):
    return _first_above(_added(laws, weights), 1 - share)


@mixture_quantile.wrong(
    think="one request of every kind must be finished.",
    because="each request is of one kind: add the kinds by their weights, do not multiply them.",
)
def all_kinds_done(laws, weights, share):
    done = np.ones(max(len(law) for law in laws))
    for law in laws:
        done *= np.cumsum(np.pad(law, (0, len(done) - len(law))))
    return int(np.argmax(done >= share - 1e-12))


@mixture_quantile.wrong(
    think="the most frequent kind stands for all requests.",
    because="the slowest requests may all be of a rare kind; add every kind by its weight.",
)
def most_frequent_kind(laws, weights, share):
    return _first_above(laws[int(np.argmax(weights))], share)


@mixture_quantile.wrong(
    think="the most frequent number of blocks is asked for.",
    because="the share decides: add the probabilities from the fewest blocks up to it.",
)
def most_frequent_number(laws, weights, share):
    return int(np.argmax(_added(laws, weights)))


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


@lockstep_tokens.wrong(
    think="the sum over positions ends before k.",
    because="it runs from 0 to k: the last term is the block that all rows accept whole.",
)
def last_position_missing(alpha, k, batch_size):
    return float(sum(alpha ** (batch_size * i) for i in range(max(k, 1))))


@lockstep_tokens.wrong(
    think="the rows share the accepted tokens.",
    because="every row writes tokens of its own; it loses those that the slowest row lacks.",
)
def accepted_shared(alpha, k, batch_size):
    return float(1 + sum(alpha**i for i in range(1, k + 1)) / batch_size)


@lockstep_tokens.wrong(
    think="with B rows the coin of a position passes with alpha / B.",
    because="all rows must pass: the probabilities of B rows multiply to alpha^B.",
)
def coin_divided(alpha, k, batch_size):
    return float(sum((alpha / batch_size) ** i for i in range(k + 1)))


@lockstep_tokens.wrong(
    think="a position passes if some row passes it.",
    because="every row must pass it; one row that fails stops the whole batch there.",
)
def any_row_passes(alpha, k, batch_size):
    return float(sum((1 - (1 - alpha) ** batch_size) ** i for i in range(k + 1)))


@lockstep_tokens.wrong(
    think="each position adds alpha^B, whatever happened before it.",
    because="the step ends where some row first fails: position i needs alpha^(i B).",
)
def no_stop_at_a_failure(alpha, k, batch_size):
    return float(1 + k * alpha**batch_size)


choose_k = WRONG.exercise("choose_k")


def _best_for(rows, alpha, costs):
    """The K of the most tokens in a millisecond for so many rows."""
    rates = [sum(alpha**i for i in range(k + 1)) / costs[rows, k] for k in range(costs.shape[1])]
    return int(np.argmax(rates))


@choose_k.wrong(
    think="what is best for one row is best for every load.",
    because="more rows share the free tokens, so a step with drafts takes longer on a full server.",
)
def best_alone(queue_length, running, alpha, costs):
    return _best_for(1, alpha, costs)


@choose_k.wrong(
    think="only running requests count.",
    because="waiting requests are taken in before the step, so they are rows of it too.",
)
def queue_ignored(queue_length, running, alpha, costs):
    return _best_for(max(running, 1), alpha, costs)


@choose_k.wrong(
    think="the more tokens a step writes, the better.",
    because="the time of a step grows too; what counts is tokens in a millisecond.",
)
def time_forgotten(queue_length, running, alpha, costs):
    return costs.shape[1] - 1 if alpha > 0 else 0


@choose_k.wrong(
    think="a long queue calls for more draft tokens.",
    because="a full server has no free tokens; then each draft token makes everybody wait.",
)
def more_when_full(queue_length, running, alpha, costs):
    return min(queue_length + running - 1, costs.shape[1] - 1) if alpha > 0 else 0


@choose_k.wrong(
    think="a step with drafts is never worth its time.",
    because="with few rows a step with drafts takes little longer and writes more.",
)
def never_drafts(queue_length, running, alpha, costs):
    return 0


@choose_k.wrong(
    think="the shortest step is the best.",
    because="a step with drafts takes a little longer and writes more: compare ms a token, not ms.",
)
def shortest_step(queue_length, running, alpha, costs):
    return int(np.argmin(costs[min(queue_length + running, len(costs) - 1)]))


@choose_k.wrong(
    think="one K is right for every load.",
    because="what a draft token costs depends on the rows of the step; read costs for these rows.",
)
def always_four(queue_length, running, alpha, costs):
    return 4


@choose_k.form_of(always_four)
def always_one(queue_length, running, alpha, costs):
    return 1


@choose_k.form_of(always_four)
def always_two(queue_length, running, alpha, costs):
    return 2


@choose_k.form_of(always_four)
def always_three(queue_length, running, alpha, costs):
    return 3


@choose_k.form_of(always_four)
def always_two_but_at_0(queue_length, running, alpha, costs):
    return 2 if alpha > 0 else 0


@choose_k.form_of(always_four)
def always_three_but_at_0(queue_length, running, alpha, costs):
    return 3 if alpha > 0 else 0


@choose_k.form_of(always_four)
def always_four_but_at_0(queue_length, running, alpha, costs):
    return 4 if alpha > 0 else 0


@choose_k.form_of(always_four)
def always_five(queue_length, running, alpha, costs):
    return 5


@choose_k.form_of(always_four)
def always_six(queue_length, running, alpha, costs):
    return 6


@choose_k.wrong(
    think="all waiting requests join the next step.",
    because="the server has room for len(costs) - 1 rows; the others go on waiting.",
)
def room_forgotten(queue_length, running, alpha, costs):
    return _best_for(queue_length + running, alpha, costs)


@choose_k.wrong(
    think="a full server never drafts.",
    because="the costs decide: with long texts the caches are read anyway; drafts add little.",
)
def rule_of_thumb(queue_length, running, alpha, costs):
    rows = min(queue_length + running, len(costs) - 1)
    return _best_for(1, alpha, costs) if 2 * rows < len(costs) else 0


@choose_k.wrong(
    think="a step writes its accepted draft tokens.",
    because="the target writes one token more, also at K = 0, where this count would be 0.",
)
def correction_forgotten(queue_length, running, alpha, costs):
    rows = min(queue_length + running, len(costs) - 1)
    ks = range(costs.shape[1])
    return int(np.argmax([sum(alpha**i for i in range(1, k + 1)) / costs[rows, k] for k in ks]))


@choose_k.wrong(
    think="every draft token passes with alpha.",
    because="a draft token counts only if all tokens before it passed too: 1 + alpha + alpha^2 ...",
)
def no_stop_in_a_block(queue_length, running, alpha, costs):
    rows = min(queue_length + running, len(costs) - 1)
    return int(np.argmax([(1 + k * alpha) / costs[rows, k] for k in range(costs.shape[1])]))


@choose_k.wrong(
    think="all draft tokens pass.",
    because="token i passes with alpha^i only, so a row writes 1 + alpha + ... + alpha^k tokens.",
)
def all_pass(queue_length, running, alpha, costs):
    rows = min(queue_length + running, len(costs) - 1)
    each = costs[rows] / np.arange(1, costs.shape[1] + 1)
    return int(np.argmin(each)) if alpha > 0 else 0


@choose_k.wrong(
    think="a block is accepted whole or not at all.",
    because="the tokens before the first rejection are kept too: 1 + alpha + ... + alpha^k.",
)
def whole_blocks_only(queue_length, running, alpha, costs):
    rows = min(queue_length + running, len(costs) - 1)
    ks = range(costs.shape[1])
    return int(np.argmax([(1 + k * alpha**k) / costs[rows, k] for k in ks]))


@choose_k.wrong(
    think="nothing should be drafted while somebody waits.",
    because="more tokens in a millisecond shorten the queue too; read costs for the rows.",
)
def no_drafts_while_one_waits(queue_length, running, alpha, costs):
    return 0 if queue_length else _best_for(running, alpha, costs)


@choose_k.wrong(
    think="the rows of costs begin with one row.",
    because="costs[0] is a step without rows, so costs[b] is the step of b rows.",
)
def one_row_less(queue_length, running, alpha, costs):
    return _best_for(max(min(queue_length + running, len(costs) - 1) - 1, 1), alpha, costs)


@choose_k.wrong(
    think="the requests that wait are all the rows of the step.",
    because="the rows that run are in the step too: add both, up to the room.",
)
def queue_alone(queue_length, running, alpha, costs):
    return _best_for(min(max(queue_length, 1), len(costs) - 1), alpha, costs)


@choose_k.wrong(
    think="alpha alone says how much to draft.",
    because="alpha says how far a block gets; costs says what a longer step takes.",
)
def costs_unread(queue_length, running, alpha, costs):
    return int(min(1 / max(1 - alpha, 1e-9), costs.shape[1] - 1)) if alpha > 0 else 0
