# %% [markdown]
# # 06 Simulator: from one block to a service
#
# 60 minutes · difficulty 3 of 5 · you need: the rule of chapter 02 (accept draft tokens up to the
# first rejection, then write one token more), mean and standard deviation
#
# **Carry in.** A block of `K` draft tokens costs `K` draft steps and one target pass. It writes the
# accepted tokens and one more, the correction or the bonus.
#
# **Work here.** You simulate with coins in place of models: one block, one request, a batch. Then
# recorded text shows where coins are a good model and where they are not.
#
# **Carry out.** Tokens a pass is not speed, the mean is not the tail, and a mean acceptance rate
# fixes neither: it matters how the acceptance is spread over the text.
#
# Run the cells from top to bottom. Nothing here needs your answers from another chapter.

# %% [markdown]
# ## A block is a row of coins
#
# Here are blocks that were really drafted and judged: the built-in draft wrote five tokens at a
# time, and the built-in target accepted a part of each five. The text is Python source. A `·` is a
# space, `·8` eight of them, `↵` the end of a line.

# %%
import numpy as np

from specdec_lib.lessons.ch06 import checks as lesson
from specdec_lib.lessons.common import recorded
from specdec_lib.lessons.ch06.checks import hints

# %% tags=["demo"]
from specdec_lib.lessons.ch06 import figures, measured as charts

charts.blocks_as_recorded(k=5, rows=8)

# %% [markdown]
# Leave the words out, and a row is a run of successes that ends with the first failure. The
# simplest model of it has one number, the acceptance rate `alpha`: **every draft token is accepted
# with probability `alpha`, whatever happened to the others.** That is a row of coins. The formulas
# of chapters 04 and 05 rest on this assumption; further down it is put to the test.
#
# With coins, the `n` accepted tokens of a block have the law
#
# $$ P(n = i) = \alpha^i (1 - \alpha) \;\text{ for } i < K, \qquad P(n = K) = \alpha^K, $$
#
# and it writes $n + 1$ tokens, on average
# $1 + \alpha + \cdots + \alpha^K = (1 - \alpha^{K+1})/(1 - \alpha)$. Equation 1 of Leviathan et al.

# %% [markdown]
# ### Exercise: simulate_block
#
# **What.** How many draft tokens of one block are accepted. **Shapes.** `r` is `(k,)`, one uniform
# number in [0, 1) for each draft token; an int from 0 to `k` comes back. Token `i` passes exactly
# if `r[i] < alpha`, so that a coin of 0 does not pass at `alpha = 0`. The first that does not pass
# ends the block. Count draft tokens only.
#
# **One worked number.** `alpha = 0.7` and `r = [0.2, 0.6, 0.9, 0.1, 0.3]`: two coins pass, the third does
# not, and the last two are not looked at. The answer is 2.
#
# **In production.** `transformers.generation.utils._speculative_sampling` has this count as
# `n_matches`; its coins are compared with a ratio that differs from token to token. vLLM adds the
# counts up, position by position, in `vllm/v1/spec_decode/metrics.py`.


# %% solution="simulate_block"
def simulate_block(alpha: float, k: int, r: np.ndarray) -> int:
    """Accepted draft tokens of a block of `k`, up to the first r[i] >= alpha; r (k,) in [0, 1)."""
    ### BEGIN SOLUTION
    for i in range(k):
        if r[i] >= alpha:
            return i
    return k
    ### END SOLUTION


# %% tags=["demo"]
hints(simulate_block)

# %% tags=["demo"]
figures.rows_of_coins(simulate_block, alpha=0.7, k=5)

# %% test="simulate_block" points=3
lesson.check_simulate_block(simulate_block)

# %% [markdown]
# ## Theory against Monte Carlo
#
# A simulation that is right gives the formula's number and some noise, and it can tell how much:
# the mean of `N` blocks is off by about one **standard error**, the standard deviation of a block
# over the square root of `N`. Without it a difference of 0.02 may be luck or a bug.

# %% tags=["demo"]
N, rng = 4000, np.random.default_rng(6)
print("alpha   K   theory   simulated   standard error   off by")
for alpha in (0.3, 0.6, 0.85):
    for k in (2, 4, 8):
        tokens = [simulate_block(alpha, k, rng.random(k)) + 1 for _ in range(N)]
        theory = (1 - alpha ** (k + 1)) / (1 - alpha)
        error = np.std(tokens, ddof=1) / np.sqrt(N)
        off = (np.mean(tokens) - theory) / error
        row = f"{alpha:5.2f} {k:3d} {theory:8.3f} {np.mean(tokens):11.3f} {error:16.3f}"
        print(f"{row} {off:+8.1f} standard errors")

# %% [markdown]
# About two rows in three should lie within one standard error, and hardly any beyond three. Nine
# rows that were all off by 0.0 would be as suspicious as one that is off by 6. Forget the `+ 1` and
# run the cell again: every row is off by twenty or more.
#
# The noise grows with `alpha` and `K`: long blocks vary more, which will come back as slow
# requests.
#
# ## From blocks to a request
#
# A user waits for an answer of, say, 128 tokens. The clock of this chapter counts in **target
# passes**: a draft step takes `c` of them and a verification 1; plain decoding takes 1 a token.
#
# $$ \text{speed} = \frac{\text{tokens written}}{\text{blocks} \times (cK + 1)} $$
#
# What a verification really takes, `v(K+1)`, is measured at the end of the chapter.

# %% [markdown]
# ### Exercise: simulate_decode
#
# **What.** One request: whole blocks until at least `n_tokens` tokens are written. It may call
# `simulate_block`. **Shapes.** `rng` is a `numpy.random.Generator`; each block takes one
# `rng.random(k)`. A dict comes back: `"tokens"`, an int with every correction and bonus token in it
# and nothing cut off at the end; `"target_passes"`, an int; `"time"`, in target passes. `k` may be
# 0, which is plain decoding, and `n_tokens` may be 0.
#
# **One worked number.** `alpha = 0.7`, `c = 0.1`, `k = 4`, `n_tokens = 8`:
#
# | block | the coins of `rng.random(4)` | writes | so far |
# | --- | --- | --- | --- |
# | 1 | 0.2 0.6 0.9 0.1 | 2 + 1 | 3 |
# | 2 | 0.8 0.1 0.2 0.3 | 0 + 1 | 4 |
# | 3 | 0.5 0.1 0.6 0.4 | 4 + 1 | 9 |
#
# The answer is `{"tokens": 9, "target_passes": 3, "time": 4.2}`.
#
# **In production.** `transformers.generation.utils.GenerationMixin` runs this loop with models, in
# its method `_assisted_decoding`. vLLM's `vllm/v1/spec_decode/metrics.py` logs
# `tokens / target_passes` of a running server as its mean acceptance length.


# %% solution="simulate_decode"
def simulate_decode(
    alpha: float, c: float, k: int, n_tokens: int, rng: np.random.Generator
) -> dict:
    """Whole blocks until n_tokens are written: tokens, target_passes, time in target passes."""
    ### BEGIN SOLUTION
    tokens = passes = 0
    while tokens < n_tokens:
        tokens += simulate_block(alpha, k, rng.random(k)) + 1
        passes += 1
    return {"tokens": tokens, "target_passes": passes, "time": passes * (c * k + 1)}
    ### END SOLUTION


# %% tags=["demo"]
hints(simulate_decode)

# %% tags=["demo"]
figures.speed_against_k(simulate_decode, alpha=0.7, c=0.1)

# %% test="simulate_decode" points=4
lesson.check_simulate_decode(simulate_decode)

# %% [markdown]
# ## The slow requests
#
# Of a hundred users, one waits longest. **p50** is the time that half of the requests do not
# exceed, **p95** and **p99** the times that 95 and 99 in a hundred do not exceed. A service
# promises p99.

# %% tags=["demo"]
figures.tails(simulate_decode, alpha=0.7, c=0.1, n_tokens=128)

# %% [markdown]
# The lines are exact: under coins the law of the number of blocks can be computed. Read off two
# things:
#
# - The tail runs away from the middle as `K` grows. At `K = 1` the request at p99 takes 8% longer
#   than the one at p50, at `K = 12` it takes 31% longer. Chen et al. say so of their system too.
# - The `K` that is best for the mean need not be best for p99: here 4 and 3. Where two settings are
#   equally fast, the smaller `K` is the calmer one.
#
# ## A batch: in lock-step, or each row for itself
#
# A server decodes many requests at once, one in each row of a batch. After a block, row 1 may have
# four accepted tokens and row 2 none. A **ragged** batch lets every row keep its own: rows differ
# in length from then on, and positions and caches must know it. A batch in **lock-step** has
# one length. It advances by its slowest row, and the surplus of the others is thrown away. The law
# of the text does not suffer, the clock does.
#
# ### Commit first
#
# One row with `alpha = 0.8` and `K = 5` writes 3.69 tokens a step. How many does each row write a
# step, on average, when eight such rows go in lock-step? Write a number from 1 to 6.

# %% solution="prediction_06"
### BEGIN SOLUTION
prediction_06 = 1.2
### END SOLUTION

# %% test="prediction_06" points=1
lesson.committed("prediction_06", prediction_06, 1, 6)

# %% tags=["demo"]
lesson.reveal("prediction_06", prediction_06)

# %% [markdown]
# ### Exercise: lockstep_tokens
#
# **What.** The expected number of tokens that each row writes in a step, when `batch_size` rows of
# independent coins advance by the slowest one. The correction or bonus token counts. **Shapes.**
# Three numbers in, a float out: a formula. `alpha` may be 0 or 1, `k` may be 0.
#
# **One worked number.** `alpha = 0.5`, `k = 1`, `batch_size = 2`: both rows pass with probability
# 0.25, and then each writes 2 tokens. Else each writes 1. The answer is 1.25.
#
# **In production.** `transformers.generation.utils.GenerationMixin` refuses: its assisted decoding
# takes one row and raises a ValueError for more. vLLM is ragged:
# `vllm/v1/sample/rejection_sampler.py` walks each request's block on its own.


# %% solution="lockstep_tokens"
def lockstep_tokens(alpha: float, k: int, batch_size: int) -> float:
    """Expected tokens a step and row, bonus included, of a batch that waits for its slowest row."""
    ### BEGIN SOLUTION
    pass_all = alpha**batch_size
    return float(sum(pass_all**i for i in range(k + 1)))
    ### END SOLUTION


# %% tags=["demo"]
hints(lockstep_tokens)

# %% tags=["demo"]
figures.lockstep_against_rows(lockstep_tokens, alpha=0.8, k=5)

# %% test="lockstep_tokens" points=3
lesson.check_lockstep_tokens(lockstep_tokens)

# %% [markdown]
# ### Simulator: a batch
#
# The same coins, twice: above in lock-step, below ragged. Every box is one row in one target pass.
# Before you move anything, say which of the two has idle rows at the end, and why. Then take
# `alpha` to 0.95 with eight rows. Does lock-step recover?

# %% tags=["demo"]
from specdec_lib.lessons.widgets.batch import batch_simulator

batch_simulator(alpha=0.8, k=5, rows=4)

# %% [markdown]
# The same as a still picture, from your own `simulate_block`:

# %% tags=["demo"]
figures.two_batches(simulate_block, alpha=0.8, k=5, rows=4)

# %% [markdown]
# ## What the coins assume
#
# Real text is not equally hard everywhere. Say that half of the blocks stand in easy text and pass
# each coin with 0.95, and half in hard text, with 0.45. A first draft token then passes with 0.70.
#
# ### Commit first
#
# Coins of 0.7 write 2.94 tokens a block of five. How many do these blocks write? Write a number from
# 1 to 6.

# %% solution="prediction_06_b"
### BEGIN SOLUTION
prediction_06_b = 3.55
### END SOLUTION

# %% test="prediction_06_b" points=1
lesson.committed("prediction_06_b", prediction_06_b, 1, 6)

# %% tags=["demo"]
lesson.reveal("prediction_06_b", prediction_06_b)

# %% [markdown]
# As a function of `alpha` the mean block bends upwards. So a mixture of rates writes more than the
# mean rate, as long as a block is of one kind throughout:

# %% tags=["demo"]
easy, hard, coins = ((1 - alpha**6) / (1 - alpha) for alpha in (0.95, 0.45, 0.7))
print(
    f"easy {easy:.2f}, hard {hard:.2f}: {(easy + hard) / 2:.2f} on average; coins of 0.7: {coins:.2f}"
)

# %% [markdown]
# It matters where the rates differ:
#
# - **From block to block**, as here: more tokens than the formula says, and a longer tail.
# - **From token to token**, independently of the tokens before: no gain, 2.94 again.
# - **With the position**, where a draft gets worse the further it looks ahead: fewer tokens than
#   its first position promises, more than its mean rate does. Chapter 05 has one published drafter
#   that rises along the block and one that falls.
#
# Now the recorded blocks, counted over 192 requests of 128 tokens:

# %% tags=["demo"]
charts.acceptance_by_position(k=8)

# %% [markdown]
# The first position is the worst: a block that gets to the second one is likely to stand in easy
# text. So it depends on **which acceptance rate** you put into the formula:

# %% tags=["demo"]
seen = recorded.requests()[8]
first = 1 - seen.accepted[0] / seen.accepted.sum()  # of all blocks, those whose first token passed
for name, alpha in {"first position": first, "accepted over judged": seen.alpha}.items():
    print(f"{name}: alpha = {alpha:.3f}, the formula gives {(1 - alpha**9) / (1 - alpha):.2f}")
print("recorded: {:.2f} tokens a block, standard error {:.2f}".format(*seen.tokens))

# %% [markdown]
# Accepted over judged, the estimate of chapter 05, gives the mean nearly right: it weighs the
# positions as often as blocks reach them. It does not save the tail. The same requests, one by one:

# %% tags=["demo"]
charts.requests_against_coins(k=8)

# %% [markdown]
# The middle agrees. The slow requests are slower than coins would have it: a request in text that
# the draft is bad at stays slow to its end.
#
# ## The oracle
#
# Suppose that you are told before each block how many draft tokens the target is going to accept,
# and draft just these. No draft step is wasted, and no block ends too early. With coins such a
# block writes $1/(1 - \alpha)$ tokens on average and drafts $\alpha/(1 - \alpha)$, so that
#
# $$ \text{speed of the oracle} = \frac{1}{1 - \alpha (1 - c)}. $$
#
# With this draft no choice of `K`, fixed or adapted, beats it (for `c` up to 1).

# %% tags=["demo"]
charts.oracle(c=0.1)

# %% [markdown]
# What lies between is all that a clever schedule can win. Hugging Face's
# `AssistedCandidateGenerator` can let `K` grow by 2 after a block that was accepted whole and
# shrink by 1 after any other, or stop where the draft is unsure. Both guess what the oracle knows.
#
# ## Simulator: real text, and a clock
#
# First the two costs, measured on this machine: bare passes of the built-in pair, its target made
# as slow as a model five times its size.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure.core.costs import in_turn, pass_task, relative
from specdec_lib.measure.core.timing import spread, within
from specdec_lib.measure.quiet.runs import beside
from specdec_lib.models.pairs import load_pair

leave_cores()  # as in chapter 00
pair = load_pair(draft=recorded.record()["draft"], target_cost="40m")
print(pair.label)
passes = in_turn(pair.target, {"draft": pass_task(pair.draft, 1)}, k_max=16)
for run in beside("06 costs", {"40M cost": within(passes, seconds=4, most=20)}):
    times = run["40M cost"]
    costs = relative(times)[0]["draft"]
    in_ms = spread([1000 * seconds for seconds in times[1]])
    print(f"a target pass: {in_ms} ms (median and quartiles); c = {costs.c:.3f}")
    print("v(K+1):", ", ".join(f"K = {k}: {costs.v[k + 1]:.2f}" for k in (1, 2, 4, 8, 16)))

# %% [markdown]
# ### Commit first
#
# At `c = 0.1` and `v = 1` the recorded blocks are fastest at `K = 3`, 1.73 times plain decoding.
# What does `K = 16` give, on average? Write a number from 0 to 6.

# %% solution="prediction_06_c"
### BEGIN SOLUTION
prediction_06_c = 1.0
### END SOLUTION

# %% test="prediction_06_c" points=1
lesson.committed("prediction_06_c", prediction_06_c, 0, 6)

# %% tags=["demo"]
lesson.reveal("prediction_06_c", prediction_06_c)

# %% [markdown]
# **Generate** plays the next of twelve recorded runs at the `K` of the slider. The models drafted
# and judged every token in it; the page works out each verdict from `p`, `q` and the coin. The
# counter:
#
# 1. **Speed** is wall-clock: tokens over `blocks x (c K + v)`. It moves with `c` and `v`, although
#    the text does not.
# 2. **Tokens a pass** has no clock in it. On average it only grows with `K`, so it never says stop.
# 3. **Predicted** is the formula, with the acceptance rate of all recorded blocks. A run of forty
#    tokens is off by a good deal; the lower panel has the mean of all requests.
# 4. Past the best `K` the dashed boxes grow: tokens that were drafted, paid for, and never judged.

# %% tags=["demo"]
from specdec_lib.lessons.widgets.generation import generation_simulator

generation_simulator(k=5, c=0.1, v=1.0, costs=costs)

# %% [markdown]
# The lower panel as a still picture, for `c = 0.1`, `v = 1` and for the times measured above:

# %% tags=["demo"]
charts.past_the_optimum(c=0.1, costs=costs)

# %% [markdown]
# ## Evidence to inspect
#
# You need not believe this chapter. Four things to look at:
#
# 1. `specdec_lib/lessons/common/recorded.json`: `p`, `q` and coin of every judged token, for the next
#    cell.
# 2. `specdec_lib/training/recording.py`, which made the file. A test computes `p` and `q` of a
#    sample anew.
# 3. The table of theory and Monte Carlo above, with its standard errors. Change the seed.
# 4. `c` and `v`, measured in this notebook. Measure again, and see how much they move. If the run
#    was disturbed, they are those of the recorded machine.

# %% tags=["demo"]
blocks = [block for k in recorded.requests() for run in recorded.runs(k) for block in run]
differ = sum(recorded.verdict(block) != block.accepted for block in blocks)
print(
    f"{len(blocks)} blocks, {sum(len(b.p) for b in blocks)} judged tokens; verdicts that differ: {differ}"
)

# %% [markdown]
# ## The smallest example that makes it click
#
# Blocks of `K = 2`. In half of the text the draft is always right, in the other half always wrong.
#
# - Coins of 0.5, the mean, write 1 + 0.5 + 0.25 = 1.75 tokens a block.
# - The real blocks write 3 or 1, on average 2.
# - Two such rows in lock-step write 3 only where both are easy: (3 + 1 + 1 + 1)/4 = 1.5.

# %% [markdown]
# ## Quiz
#
# **Question 1.** A simulation runs at its best `K`. Somebody doubles `K` from there. What happens?
#
# - a: nothing changes, as the target stops at the first rejection anyway
# - b: tokens a pass fall, because longer blocks are rejected more often
# - c: tokens a pass rise a little, time a pass rises more, and the whole gets slower
# - d: the text gets worse, because more of it comes from the draft

# %% solution="quiz_06"
### BEGIN SOLUTION
quiz_06 = "c"
### END SOLUTION

# %% test="quiz_06" points=1
lesson.answered("quiz_06", quiz_06)

# %% [markdown]
# **Question 2.** A batch of 16 rows goes in lock-step at `alpha = 0.8` and `K = 5`. It writes 1.03
# tokens a step and row. What helps most?
#
# - a: a larger `K`, so that there is more to accept
# - b: letting each row keep its own length
# - c: more rows, so that the luck evens out
# - d: dropping the bonus token, which only some rows get

# %% solution="quiz_06_b"
### BEGIN SOLUTION
quiz_06_b = "b"
### END SOLUTION

# %% test="quiz_06_b" points=1
lesson.answered("quiz_06_b", quiz_06_b)

# %% [markdown]
# ### In your own words
#
# A server's log says: `K = 5`, 70% of the first draft tokens of a block accepted, 3.55 tokens a
# block. "The formula gives 2.94, so the counter is wrong." Is it? Say what else explains the
# numbers, how the accepted counts would show it, and what you expect of p99. Three to five
# sentences. A person marks this answer.

# %% [markdown] written="why_not_coins" points=2
# The counter may be right. The formula holds for coins, for one rate everywhere; if some blocks
# stand in easy text and some in hard text, the mean block is longer: with 0.95 and 0.45 in equal
# parts it is 3.55. From the accepted counts I would compute the acceptance of each position among
# the blocks that reached it: under coins it is 0.70 throughout, in a mixture it rises. I expect a
# p99 that is worse than the simulated one, because a request in hard text stays slow.

# %% [markdown]
# ## Are you ready?

# %% tags=["demo"]
lesson.readiness(simulate_block, simulate_decode, lockstep_tokens)

# %%
passes_guessed = None  # how many target passes? Write your number before you run the next cell.

# %% tags=["demo"]
lesson.predict_then_run(passes_guessed, simulate_decode)

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: a simulator's counter that says "3 to 4 times as fast".** It is not so where the
# counter shows tokens a target pass, because a block also takes its draft steps. *Look:* at
# `alpha = 0.7` and `K = 5` it is 2.94 tokens a pass, and with `c = 0.1` the speed is 1.96.
#
# **You might read: "Three accepted tokens make it nearly three times as fast."** It is not so,
# because the block also writes a fourth token and takes more than one pass. *Look:* with `K = 5`,
# three accepted tokens give 4.00 at `c = 0` and 2.67 at `c = 0.1`; none gives 0.67, not 0.
#
# **You might read: "Acceptance is 0.70, so a block of five brings 2.94 tokens."** It is not so
# simple, because that holds for coins. *Look:* with 0.95 in half of the blocks and 0.45 in the others
# it is 3.55.
#
# **You might read: "In a batch, every row gains the same as it would alone."** It is not so in
# lock-step, because the slowest of many rows is nearly always slow. *Look:* at `alpha = 0.8`,
# `K = 5` a row writes 3.69 tokens a step alone, 2.59 in a pair, 1.20 among eight.

# %% tags=["demo"]
print(f"tokens a pass {coins:.2f}; speed at c = 0.1: {coins / 1.5:.2f}")
for n in (3, 0):
    print(f"{n} of 5 accepted: {n + 1:.2f} at c = 0, {(n + 1) / 1.5:.2f} at c = 0.1")
print(f"half 0.95, half 0.45: {(easy + hard) / 2:.2f}")
print("in lock-step:", {rows: round(lockstep_tokens(0.8, 5, rows), 2) for rows in (1, 2, 8)})

# %% [markdown]
# ## The race again
#
# Now both sides write four texts at a time. A block of four rows holds four times as many tokens,
# and on a processor with few free tokens the gain shrinks or is gone.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

contestants = {"speculative decoding": drafting("large", k=3)}
show_race(race("06", contestants, tokens=32, rows=4))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192: Equation 1 and the cost `c K + 1` of a block. Independent
#   acceptances are a simplification there, and called one. It says nothing on batches or on p99.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318: a larger `K` makes the time of a request vary more, on one system at batch size 1.
# - Hugging Face transformers 5.23.0, `transformers.generation.candidate_generator`: the two rules
#   for `K` named beside the oracle. vLLM, `vllm/v1/spec_decode/metrics.py`: what a server counts.
# - The recorded blocks: the built-in pair with its base draft at temperature 1, on Python source.
#   They show that coins can fail in this way, and not how far they fail for your models.
#
# **Next.** Chapter 07: trees of draft tokens, drafts without a model, and decoding without a draft.
