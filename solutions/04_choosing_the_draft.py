# %% [markdown]
# # 04 Choosing the draft: fast or accurate, and how many tokens
#
# 80 minutes · difficulty 3 of 5 · you need: chapter 02 (a draft token is accepted with probability
# min(1, p/q)), how to index a NumPy array, and for the last exercise PyTorch's softmax and what a
# gradient is
#
# - **Intuition**: one block in milliseconds, in the first picture.
# - **Mathematics**: tokens a block, the price of a block, the best `K`; you find all three yourself.
# - **Code**: seven short functions. Four choose `K`, two draft without a model, one trains a draft.
# - **Demo**: a target slowed down to the cost of 234 million parameters; what your formula
#   promises, what the clock shows, and where the difference goes.
#
# **You come with** a block: the draft proposes `K` tokens, the target judges them in one pass, and
# the distribution of the text stays the target's. **You build** a calculator for the speed-up.
# **You leave with** a way to choose a draft and `K` from numbers that you measure in a minute.
#
# Close other programs before a cell measures: a busy machine gives other times, and wider ranges.

# %%
import numpy as np

from specdec_lib.lessons.ch04 import checks as lesson

# %% tags=["demo"]
from specdec_lib.lessons.ch04 import figures, measured as charts

# %% [markdown]
# ## The smallest example: one block
#
# The target needs 50 ms for a pass, the draft 5 ms for a step. The draft proposes `K = 5` tokens,
# and in this block 3 of them are accepted.

# %% tags=["demo"]
figures.one_block(target_ms=50, draft_ms=5, k=5, accepted=3)

# %% [markdown]
# The block takes `5 x 5 + 50 = 75` ms. It writes 4 tokens: the 3 accepted ones and a correction. A
# token costs 18.75 ms in place of 50 ms, so this block is 2.67 times as fast. Two numbers decide:
#
# - **`alpha`**, how accurate the draft is. At one position the target accepts a draft token with
#   probability `sum_x min(p(x), q(x))`. `alpha` is the mean of this probability over the positions
#   of a text.
# - **`c`**, how slow the draft is: the time of a draft step over the time of a target pass over one
#   token. Here `c = 5/50 = 0.1`.
#
# A smaller draft usually has a smaller `c` and a smaller `alpha`: fast or accurate. Drafting gains
# most if the two models agree, the draft is much cheaper, and the text is predictable.
#
# A processor makes the same bet when it guesses which way a branch of the program will go:
#
# | a processor | speculative decoding | the price |
# | --- | --- | --- |
# | the branch predictor guesses | the draft proposes `K` tokens | `K` draft steps |
# | commit: the guess was right, the work counts | the target accepts the token | none |
# | flush: all work after a wrong guess is thrown away | all tokens after a rejection are dropped | their draft steps were paid for |
# | misprediction penalty | a block whose first token is rejected | all `K` draft steps, for nothing |
#
# The formulas below need one assumption: **each draft token that is judged is accepted with the
# same probability `alpha`.** Real text does not keep to this assumption. Chapters 05 and 06 measure
# how much this matters.
#
# ## How many tokens a block brings
#
# ### Commit first
#
# Let `alpha = 0.7` and `K = 5`. How many tokens does a block write on average? Count the correction
# or the bonus token too. Write a number from 0 to 6, without a calculation.

# %% solution="prediction_04"
### BEGIN SOLUTION
prediction_04 = 3.5
### END SOLUTION

# %% test="prediction_04" points=1
lesson.committed("prediction_04", prediction_04, 0, 6)

# %% [markdown]
# Before any formula, try 10,000 blocks. The function below is given. A coin decides about each
# draft token, and a block keeps the tokens before its first rejection.

# %% tags=["demo"]
def accepted_in_blocks(alpha, k, blocks=10_000):
    """The number of accepted draft tokens in each of `blocks` blocks."""
    coins = np.random.default_rng(4).random((blocks, k)) < alpha
    alive = coins.cumprod(axis=1)  # 1 up to the first rejection, 0 from there on
    return alive.sum(axis=1)


means = {
    alpha: [accepted_in_blocks(alpha, k).mean() for k in range(1, 9)] for alpha in (0.5, 0.7, 0.9)
}
for alpha, row in means.items():
    print(f"alpha = {alpha}, K = 1, 2, 3, 4:", "  ".join(f"{mean:.2f}" for mean in row[:4]))

# %% [markdown]
# Each row has the mean number of accepted draft tokens for one `alpha`. In the first row, how much
# does the second draft token add? The third? The fourth? Do the same in the second row. Then say in
# one sentence what draft token number `i` adds. This sentence is the formula.
#
# ### Exercise: expected_accepted
#
# **Task.** The mean number of accepted draft tokens in a block. **Arguments.** `alpha` is a float from
# 0 to 1, `k` an int of at least 0. The function returns a float, also at `alpha = 0` and `alpha = 1`.
# Without a draft token (`k = 0`) it returns 0.
#
# **Example.** `alpha = 0.5` and `k = 2` give 0.75, as in the first row above.


# %% solution="expected_accepted"
def expected_accepted(alpha: float, k: int) -> float:
    """The mean number of accepted draft tokens in a block of k, from 0 to k."""
    ### BEGIN SOLUTION
    return float(sum(alpha**i for i in range(1, k + 1)))
    ### END SOLUTION


# %% [markdown] hints="expected_accepted"
# 1. With which probability is the first draft token accepted? And the second?
# 2. Token i counts only if all tokens before it were accepted too: alpha to the power i.
# 3. Sum `alpha**i` over i from 1 to k. A sum needs no special case; the fraction does, at 1.

# %% tags=["demo"]
figures.found_formula(expected_accepted, means)

# %% test="expected_accepted" points=2
lesson.check_expected_accepted(expected_accepted)

# %% [markdown]
# ### Exercise: expected_tokens
#
# **Task.** The mean number of tokens that a block writes. Which token does the target add, and in
# which blocks? **Arguments.** As above; `k = 0` is plain decoding.
#
# **Example.** `alpha = 0.5` and `k = 2` give 1.75.


# %% solution="expected_tokens"
def expected_tokens(alpha: float, k: int) -> float:
    """The mean number of tokens that a block of k draft tokens writes, from 1 to k + 1."""
    ### BEGIN SOLUTION
    return expected_accepted(alpha, k) + 1.0
    ### END SOLUTION


# %% [markdown] hints="expected_tokens"
# 1. A block writes its accepted tokens, and then exactly one token more. From whom?
# 2. After a rejection the correction, after none the bonus: one more in either case.
# 3. Call expected_accepted and add 1.

# %% tags=["demo"]
figures.tokens_of_a_block(expected_accepted, expected_tokens)

# %% test="expected_tokens" points=2
lesson.check_expected_tokens(expected_tokens)

# %% tags=["demo"]
lesson.reveal("prediction_04", prediction_04)

# %% [markdown]
# This is what you found. Draft token `i` counts only if it and all draft tokens before it are
# accepted. The probability of this is `alpha^i`:
#
# $$ E[\text{accepted}] = \alpha + \alpha^2 + \cdots + \alpha^K $$
#
# $$ E[\text{tokens}] = E[\text{accepted}] + 1 = \frac{1 - \alpha^{K+1}}{1 - \alpha} $$
#
# The 1 is the target's own token: the correction after a rejection, else the bonus token. The
# second formula is Equation 1 of Leviathan et al. At `alpha = 1` its fraction is 0/0, and the sum
# is `K + 1`.
#
# ## What a block costs
#
# All times are now in target passes over one token. One draft step takes `c`. The target's pass
# over the last token and `K` draft tokens takes `v(K+1)`, the **cost of verification**. Chapter 00
# showed that this is close to 1 as long as reading the weights takes longer than the arithmetic.
#
# Take the first picture again: `c = 0.1`, `K = 5`, 4 tokens. How do you get 2.67 from these three
# numbers? What changes if the target's pass over 6 tokens takes 60 ms?
#
# ### Commit first
#
# The target accepts nothing of a hopeless draft: `alpha = 0`. The draft is cheap, `c = 0.05`, and
# `K = 8`. A pass over 9 tokens takes as long as a pass over one. How many times as fast as plain
# decoding is this? Write a number from 0 to 2.

# %% solution="prediction_04_b"
### BEGIN SOLUTION
prediction_04_b = 1.0
### END SOLUTION

# %% test="prediction_04_b" points=1
lesson.committed("prediction_04_b", prediction_04_b, 0, 2)

# %% tags=["demo"]
lesson.reveal("prediction_04_b", prediction_04_b)

# %% [markdown]
# ### Exercise: walltime_speedup
#
# **Task.** How many times as fast as plain decoding, which takes one pass for each token.
# **Arguments.** `alpha`, `c` and `verify_cost` are floats, `k` an int of at least 0; `verify_cost` is
# `v(k + 1)`, the time of the whole pass. The function returns a float, below 1 for a slow-down.
#
# **Example.** `alpha = 0.5`, `c = 0.1`, `k = 2`: 1.75 tokens in 1.2 passes are 1.458
# times as fast. With `verify_cost = 1.3` it is 1.167.


# %% solution="walltime_speedup"
def walltime_speedup(alpha: float, c: float, k: int, verify_cost: float = 1.0) -> float:
    """How many times as fast as plain decoding a block of k draft tokens is."""
    ### BEGIN SOLUTION
    return expected_tokens(alpha, k) / (c * k + verify_cost)
    ### END SOLUTION


# %% [markdown] hints="walltime_speedup"
# 1. Write down what plain decoding takes for a token, and what a block takes for its tokens.
# 2. A block takes k draft steps of c each, and one verification of verify_cost.
# 3. Divide expected_tokens(alpha, k) by `c * k + verify_cost`.

# %% tags=["demo"]
figures.speed_by_k(walltime_speedup, alpha=0.7, costs=(0.0, 0.02, 0.1, 0.3))
figures.perfect_to_useless(walltime_speedup, costs=(0.0, 0.02, 0.1), k=4)

# %% test="walltime_speedup" points=2
lesson.check_walltime_speedup(walltime_speedup)

# %% [markdown]
# $$ \text{speed-up} = \frac{E[\text{tokens}]}{c\,K + v(K+1)} $$
#
# With `v = 1` this is Theorem 3.8 of Leviathan et al. The table goes from a perfect draft to a
# useless one, which only costs time. A draft is seldom free: Chen et al. report 14.1 ms for a token
# of their target and 1.8 ms for one of their draft, so `c = 0.128`. They were still 1.9 to 2.5 times
# as fast.
#
# ## The best K: when to stop drafting
#
# Each curve above has a top. Why there? Look at one more draft token by itself. This token costs
# `c`, and it brings a part of a token. A bar shows this part divided by `c`: the tokens that the
# draft token brings in the time of a target pass. The line is the speed-up of the block without it.

# %% tags=["demo"]
figures.next_draft_token(expected_tokens, walltime_speedup, alpha=0.7, c=0.1)

# %% [markdown]
# Where is the top of the line, and what do the bars do there? Complete the sentence before you go
# on: "Draft one more token as long as ..." Then test your rule on `alpha = 0.5`, `c = 0.1`:
#
# | draft token | it brings | for each unit of time | speed-up without it | speed-up with it |
# | --- | --- | --- | --- | --- |
# | 1 | 0.5 | 5 | 1 | 1.364 |
# | 2 | 0.25 | 2.5 | 1.364 | 1.458 |
# | 3 | 0.125 | 1.25 | 1.458 | 1.442 |

# %% [markdown]
# ### Exercise: best_k
#
# **Task.** The best `K` with `v = 1`. **Arguments.** `alpha` and `c` are floats, `k_max` an int of at
# least 1. The function returns an int from 0 to `k_max`: 0 if no `K` is faster than plain decoding.
# Speed-ups within 1e-12 of each other are equal, and of equal ones the smallest `K` wins.
#
# **Example.** `alpha = 0.5`, `c = 0.1`: 2, by the table above.
#
# **In production.** `transformers.generation.configuration_utils.GenerationConfig` knows neither
# `alpha` nor `c`. Version 5.23.0 has these defaults for drafting:
#
# ```python
# "num_assistant_tokens": 20,
# "num_assistant_tokens_schedule": "constant",
# "assistant_confidence_threshold": 0.4,
# ```
#
# So a block has up to 20 draft tokens, and it ends early after a token to which the draft gave a
# probability below 0.4: a stopping rule that asks the draft.


# %% solution="best_k"
def best_k(alpha: float, c: float, k_max: int) -> int:
    """The smallest best K in 1..k_max with v = 1; 0 where none is faster than plain decoding."""
    ### BEGIN SOLUTION
    best, fastest = 0, 1.0
    for k in range(1, k_max + 1):
        speed = walltime_speedup(alpha, c, k)
        if speed > fastest + 1e-12:
            best, fastest = k, speed
    return best
    ### END SOLUTION


# %% [markdown] hints="best_k"
# 1. Plain decoding is the one to beat: K = 0 with a speed-up of 1.
# 2. Go through K from 1 to k_max and remember the best so far; start with 0 and 1.0.
# 3. Replace the best only if the new speed-up is above it by more than 1e-12.

# %% tags=["demo"]
figures.best_k_map(best_k, lesson.ALPHAS, lesson.COSTS, k_max=30)

# %% test="best_k" points=4
lesson.check_best_k(best_k)

# %% [markdown]
# The rule in symbols, with both sides times `c`: draft one more token as long as
#
# $$ \alpha^{K+1} > c \cdot \text{the speed-up so far}. $$
#
# The first draft token brings `alpha` for `c`, and plain decoding has the speed-up 1. So with
# `v = 1`, **some `K` pays exactly if `alpha > c`**. The gain is then at least
# `(1 + alpha)/(1 + c)`: Corollary 3.9 of Leviathan et al. For any other draft the best `K` is 0.
#
# In the map, at `alpha = 0.7`, the best `K` falls from 9 at `c = 0.01` to 2 at `c = 0.4`: a rule
# that knows only `alpha` cannot choose `K`. For `alpha` from 0.6 to 0.8 and `c` from 0.02 to 0.1,
# the best `K` is between 3 and 11. With a smaller `K` each target pass writes too little. With a
# larger `K` you pay for tokens after a rejection. Near the top an error of one costs little.
#
# ## Simulator: tokens and time over K
#
# This is the picture of chapters 02 and 03 with one more view. Let every token of a pass after the
# first cost `s`, so that `v(n) = 1 + s (n - 1)`. A ring marks the best `K`, a square marks yours.
#
# ### Commit first
#
# The pair of chapters 02 and 03 has the accepted share 0.8. Here this pair stands at every position,
# so `alpha = 0.8`. With `c = 0.05` and `s = 0` the best `K` is 8. Now let each further token of a
# pass cost a tenth of the first, `s = 0.1`. What is the best `K`? Write a whole number from 0 to 20,
# then move the slider `s`.

# %% solution="prediction_04_c"
### BEGIN SOLUTION
prediction_04_c = 6
### END SOLUTION

# %% test="prediction_04_c" points=1
lesson.committed("prediction_04_c", prediction_04_c, 0, 20)

# %% tags=["demo"]
from specdec_lib.lessons.widgets.linked import linked_simulator

linked_simulator("speed", c=0.05)

# %% tags=["demo"]
lesson.reveal("prediction_04_c", prediction_04_c)

# %% [markdown]
# Try to bring the best `K` to 0 without touching `p` and `q`. Then put the sliders back and drag `q`
# away from `p`: where does the ring go on each of the two curves?
#
# ## The promise and the clock
#
# Now a real pair. The built-in target has 7.9 million parameters and three drafts of its family. We
# slow the target down until a pass costs what a model of 234 million parameters costs. Its
# distribution stays the same. So the cost is that of a large target, and the acceptance is that of
# the built-in pair.
#
# The next cell takes about 20 s. It measures `alpha` at temperature 1 on 3,000 positions of held-out
# text, and times `c` and `v` on half of your machine's cores. The table's `c` is of a draft step
# after a target pass; the `c` below the table is of draft steps in a row, usually smaller.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure import gap, strategies
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.models.pairs import load_pair

# %% tags=["demo"]
leave_cores()  # as in chapter 00
lab, speedup = strategies.Laboratory(), gap.usable(walltime_speedup)
family = strategies.built_in("large", "base", "small")
accepted = lab.alphas(family)
print("Making the costly target: some seconds ...")
target = load_pair(target_cost="234m", device="cpu").target
times = lab.times(family, target)
costlier = strategies.rows(family, accepted, times)
charts.table_of_drafts(walltime_speedup, costlier)
draft, k = gap.best(costlier, speedup)
charts.promise(speedup, draft, costlier[draft], k)

# %% [markdown]
# ### Commit first
#
# The last line is a promise. It assumes `v = 1`, and its `c` was timed on draft steps that follow
# each other. Now the decoder itself runs, plain and speculative by turns. What share of the
# promised speed-up will the clock show? Write a number from 0.2 to 1.2; 1 means all of it.

# %% solution="prediction_04_d"
### BEGIN SOLUTION
prediction_04_d = 0.9
### END SOLUTION

# %% test="prediction_04_d" points=1
lesson.committed("prediction_04_d", prediction_04_d, 0.2, 1.2)

# %% tags=["demo"]
texts = gap.texts(target, family[draft], k, prompts(6))
account = gap.account(costlier[draft], texts, k)
charts.promise_and_clock(walltime_speedup, account)
share = account.measured / speedup(account.alpha, costlier[draft].again, k)
lesson.reveal("prediction_04_d", prediction_04_d, share)

# %% [markdown]
# Each bar adds one cost that the promise left out:
#
# - **Verification.** A pass over `K + 1` tokens takes longer than a pass over one.
# - **The cold cache.** A target pass pushes the draft's weights out of the processor's cache. The
#   first draft step of a block must read them from memory again.
# - **The host.** Between the passes Python draws tokens, compares them and moves caches. A block has
#   more of this work than a plain token.
# - **The text.** `alpha` is a mean over held-out text. The decoder met other positions, and few of
#   them, in text that the target itself wrote.
#
# Which step is the largest on your machine? The texts differ by chance, so the range under the
# picture says how far to trust the last bar.
#
# Here is the picture again, with the pass, `c` and `v` of this draft. Drag `q` until the accepted
# share is the draft's `alpha`. Which `K` gets the ring, and does the last column of the table agree?

# %% tags=["demo"]
pass_ms, told = 1000 * np.median(times[1]), "Measured: see the table above."
linked_simulator("speed", k=k, costs=costlier[draft].costs, pass_ms=pass_ms, source=told)

# %% [markdown]
# Now the same drafts with the built-in target itself, whose pass is much shorter. A draft step and
# Python take as long as before. The fourth draft is an **early exit**: the target cut after the
# first of its four layers.

# %% tags=["demo"]
drafts = family | {"first layer": strategies.first_layers(1)}
accepted |= lab.alphas({"first layer": drafts["first layer"]})
measured = strategies.rows(drafts, accepted, lab.times(drafts))
charts.table_of_drafts(walltime_speedup, measured)
draft, k = gap.best(measured, speedup)
texts = gap.texts(lab.target, drafts[draft], k, prompts(4), seconds=3)
charts.promise_and_clock(walltime_speedup, gap.account(measured[draft], texts, k))

# %% [markdown]
# The acceptance is the same. How much of the gain is left? Look at `c` in both tables and at the
# host's step in both pictures: 1 ms of Python is little beside a pass of 30 ms, and much beside a
# pass of 2 ms.
#
# ## Where a draft comes from
#
# | strategy | what it is | `alpha` | `c` | take it if |
# | --- | --- | --- | --- | --- |
# | same family | a smaller model by the same maker, with the same tokenizer | high | by its size | there is one |
# | distilled | a small model trained on the target's distributions | higher at that size | by its size | you can train for hours |
# | early exit | the target's first layers, with its norm and head | low unless trained | their share of the layers | memory is short |
# | n-gram | counts of a corpus: what followed the last token or two | low | nearly 0 | there is no small model |
# | prompt lookup | whatever followed the last time these tokens appeared in this text | depends on the text | nearly 0 | the answer repeats the prompt |
#
# Here are published pairs that this library can run (`specdec pairs`). The ratio compares
# parameters. It is not `c`, and it says nothing of `alpha`. The last column is the GPU memory that
# the pair needs.

# %% tags=["demo"]
from specdec_lib.models.catalogue import PUBLISHED

charts.table_of_pairs(PUBLISHED)

# %% [markdown]
# Target and draft need the same vocabulary, because `min(p(x), q(x))` compares the same token `x`.
# An equal size is not enough: every string must have the same id.

# %% tags=["demo"]
ours, theirs = {"cat": 0, "dog": 1}, {"dog": 0, "cat": 1}
print("sizes are equal:", len(ours) == len(theirs), " ids are equal:", ours == theirs)

# %% [markdown]
# Here token 0 means "cat" to one model and "dog" to the other. The library compares all strings
# before it loads a pair. Chapter 07 drafts across two vocabularies.
#
# You now write the two drafts without a model. A lookup knows this text, and counts know the average
# text.
#
# ### Exercise: prompt_lookup
#
# **Task.** Take the longest suffix of `tokens`, of at most `max_ngram` tokens, that also occurs
# earlier. Return what followed its **latest** earlier occurrence: up to `k` tokens, fewer if fewer
# follow. The occurrence may overlap the suffix, but it must not be the suffix itself. If nothing is
# found, return `[]`. **Arguments.** A list of ints, which you do not change, and a new list.
#
# **Example.** `tokens = [4, 5, 6, 9, 5, 6]`, `k = 3`: the text ends with `[5, 6]`, which
# also stands at position 1. After it came `[9, 5, 6]`.


# %% solution="prompt_lookup"
def prompt_lookup(tokens: list[int], k: int, max_ngram: int = 3) -> list[int]:
    """Up to k tokens that followed the latest earlier occurrence of the longest suffix; or []."""
    ### BEGIN SOLUTION
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        suffix = tokens[-size:]
        for start in range(len(tokens) - size - 1, -1, -1):
            if tokens[start : start + size] == suffix:
                return tokens[start + size : start + size + k]
    return []
    ### END SOLUTION


# %% [markdown] hints="prompt_lookup"
# 1. Two loops: the length of the suffix from long to short, the position from late to early.
# 2. A suffix of n tokens may start anywhere before its own position, len(tokens) - n.
# 3. For n from min(max_ngram, len(tokens) - 1) down to 1, and for start from len(tokens) - n - 1
#    down to 0: if tokens[start : start + n] is the suffix, return the k tokens after it.

# %% tags=["demo"]
figures.found_in_the_text(prompt_lookup, lesson.WORDS, k=4)

# %% test="prompt_lookup" points=4
lesson.check_prompt_lookup(prompt_lookup)

# %% [markdown]
# ### Exercise: bigram_probs
#
# **Task.** A draft from counts: row `i` is the distribution of the token after token `i`. Each cell
# starts at `smoothing`. Each pair of neighbours adds 1 to its cell, as often as the pair occurs.
# Each row is divided by its sum; a row whose sum is 0 is uniform. **Arguments.** `tokens` are ints
# below `vocab_size`; the list may be empty. An array `(V, V)` comes back.
#
# **Example.** `tokens = [0, 1, 0, 1, 1]`, two tokens in the vocabulary, `smoothing = 1`:
# after 0 came 1 twice and 0 never, so row 0 is `[1, 3]/4 = [0.25, 0.75]`. Row 1 is `[0.5, 0.5]`.


# %% solution="bigram_probs"
def bigram_probs(tokens: list[int], vocab_size: int, smoothing: float = 1.0) -> np.ndarray:
    """The table (V, V) whose row i is the distribution of the token after token i."""
    ### BEGIN SOLUTION
    ids = np.asarray(tokens, dtype=int)
    counts = np.full((vocab_size, vocab_size), float(smoothing))
    np.add.at(counts, (ids[:-1], ids[1:]), 1.0)
    counts[counts.sum(axis=1) == 0] = 1.0
    return counts / counts.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% [markdown] hints="bigram_probs"
# 1. Pair each token with the next one: tokens[:-1] and tokens[1:].
# 2. counts[a, b] += 1 with index arrays adds a pair that occurs twice only once; np.add.at does
#    not, and a loop does not.
# 3. Start from np.full((V, V), smoothing), add the pairs, set rows that sum to 0 to 1, and divide
#    each row by its sum (keepdims=True).

# %% tags=["demo"]
figures.bigram_table(bigram_probs, lesson.WORDS)

# %% test="bigram_probs" points=3
lesson.check_bigram_probs(bigram_probs)

# %% [markdown]
# The next picture compares all drafts on the same positions. A bar is `alpha`, a diamond is `c` with
# the built-in target. Your table counts one half of the held-out documents, 63 thousand tokens, and
# all drafts are measured on the other half. The corpus is the 9 million tokens on which the models
# were trained.

# %% tags=["demo"]
yours = strategies.own_drafts(lab, bigram_probs, prompt_lookup)
alphas = accepted | {name: alpha for name, (alpha, _) in yours.items()}
alphas |= {name: lab.alpha(reader) for name, reader in strategies.corpus_ngrams().items()}
costs = {name: row.costs.c for name, row in measured.items()}
costs |= {name: c for name, (_, c) in yours.items()}
charts.strategies(alphas, costs)

# %% [markdown]
# The smallest model, of half a million parameters, has a larger `alpha` than every table. Every
# table costs nearly nothing. A lookup is at its best if the answer repeats the prompt, as in editing
# code. This text repeats little, and a lookup that finds nothing counts as 0.
#
# ## Train a draft on alpha itself
#
# At one position, the share of draft tokens that is rejected is the total variation of the two
# distributions:
#
# $$ 1 - \sum_x \min(p(x), q(x)) = \frac{1}{2} \sum_x |p(x) - q(x)| $$
#
# So `1 - alpha` is a loss that a draft can be trained on (Corollary 3.6 of Leviathan et al.).
# Training a small model on a large model's distributions is called **distillation**. The next cell
# is given; the grader calls your loss through it.

# %%
import torch


def loss_and_gradient(target_logits, draft_logits, dtype="float32"):
    """Given: your loss with logits of this dtype, and its gradient in the draft's logits."""
    draft = draft_logits.to(getattr(torch, dtype)).requires_grad_()
    loss = distillation_loss(target_logits.to(draft.dtype), draft)
    loss.backward()
    return loss.item(), draft.grad.double()


# %% [markdown]
# ### Exercise: distillation_loss
#
# **Task.** The mean over all positions of the total variation of the two softmaxes, in PyTorch
# (`torch`, imported above). **Arguments.** Both arguments are logits `(..., V)`, tensors; a floating
# tensor of shape `()` comes back. A gradient must reach `draft_logits`. Logits may come in
# bfloat16: compute in float32 or better. The value may be off by 1e-6.
#
# **Example.** `log [0.45, 0.30, 0.15, 0.10]` and `log [0.30, 0.45, 0.20, 0.05]` give
# 0.20.


# %% solution="distillation_loss"
def distillation_loss(target_logits: torch.Tensor, draft_logits: torch.Tensor) -> torch.Tensor:
    """1 - alpha: the mean over positions of the total variation of the softmaxes; (..., V)."""
    ### BEGIN SOLUTION
    p = target_logits.float().softmax(-1)
    q = draft_logits.float().softmax(-1)
    return 1 - torch.minimum(p, q).sum(-1).mean()
    ### END SOLUTION


# %% [markdown] hints="distillation_loss"
# 1. Softmax over the last axis turns logits into p and q. What do they share?
# 2. torch.minimum works entry by entry, and gradients flow through it.
# 3. One minus the mean of torch.minimum(p, q).sum(-1), with p and q from logits.float().

# %% tags=["demo"]
figures.loss_of_a_coin(distillation_loss, p=0.6)

# %% test="distillation_loss" points=4
lesson.check_distillation_loss(distillation_loss)

# %% [markdown]
# Now teach the early exit. It learns on one half of the documents with your loss, and `alpha` is
# measured on the other half. 40 steps take some seconds.

# %% tags=["demo"]
from specdec_lib.training.short import distil, trainable

STEPS = 40
exit_draft = trainable("target", layers=1)
training = distil(distillation_loss, exit_draft, lab.target, lab.learn, STEPS)
curve = strategies.learning_curve(lab, exit_draft, training, every=STEPS // 4)
charts.learning_curve(curve, c=measured["first layer"].costs.c)

# %% [markdown]
# The draft is as fast as before, and the target accepts more of it. DistillSpec trains whole drafts
# this way, on text that the draft itself writes, and the project `speculators` trains drafts for
# vLLM. LayerSkip trains the target so that its own first layers can draft.
#
# ## Quiz
#
# **Question 1.** Why is a smaller model of the target's own family a good first draft?
#
# - a: because it has a tenth of the target's size, and that is the best ratio
# - b: because it has the same tokenizer, and its distributions are close to the target's
# - c: because only then is the output still the target's distribution
# - d: because it shares the target's weights, so it takes no memory

# %% solution="quiz_04"
### BEGIN SOLUTION
quiz_04 = "b"
### END SOLUTION

# %% test="quiz_04" points=1
lesson.answered("quiz_04", quiz_04)

# %% [markdown]
# **Question 2.** Your target moves to hardware that is ten times as fast, and the draft takes as
# long as before: `c` goes from 0.02 to 0.2. With `alpha = 0.7`, what happens to the best `K`?
#
# - a: it stays at 3, since `1/(1 - 0.7)` has no `c` in it
# - b: it rises, since there is more time to draft in
# - c: it becomes 0, since the draft is too slow now
# - d: it falls from 8 to 3, since each draft token costs ten times as much

# %% solution="quiz_04_b"
### BEGIN SOLUTION
quiz_04_b = "d"
### END SOLUTION

# %% test="quiz_04_b" points=1
lesson.answered("quiz_04_b", quiz_04_b)

# %% [markdown]
# ### In your own words
#
# Draft A has `alpha = 0.8` and `c = 0.25`, draft B `alpha = 0.6` and `c = 0.02`. A colleague takes
# A, "because it is right more often". What is the best `K` for each draft, and how fast is each then?
# Which one do you take, and why? Write three to five sentences with numbers. A person marks this
# answer.

# %% [markdown] written="which_draft" points=2
# B. A is fastest with K = 3: a block brings 2.95 tokens and takes 1.75 passes, 1.69 times as fast.
# B is fastest with K = 6: 2.43 tokens in 1.12 passes, 2.17 times as fast. A block of A brings more
# tokens, but three draft tokens of A cost three quarters of a target pass.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence? Decide first, then open the answer.
#
# **You might read: "With `alpha = 0.7` the speed-up is 1/(1 - alpha) = 3.33."**
#
# <details><summary>Answer</summary>
#
# These are the tokens of an endless block from a draft that costs nothing. *Look:* with `c = 0.05`,
# `K = 5` gives 2.35, 20 gives 1.67 and 50 gives 0.95.
#
# </details>
#
# **You might read: "Take a draft of a tenth of the target's size."**
#
# <details><summary>Answer</summary>
#
# A tenth of the size is about a tenth of the time, and a cheaper draft may win with less `alpha`.
# *Look:* `alpha = 0.8` with `c = 0.1` gives 2.47 at best, 0.75 with 0.02 gives 3.20. Of the three
# drafts of Leviathan et al. the smallest, 143 times smaller than the target, was always fastest.
#
# </details>

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## The race again
#
# The race of chapter 00, at temperature 1. Your formula has chosen the draft and `K` for the
# costly target, with everything that you measured. Which ratio does it promise now?

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

# %% tags=["demo"]
draft, k = gap.best(costlier, speedup)
row = costlier[draft]
promised = speedup(row.alpha, row.costs.c, k, row.costs.v[k + 1])
target = None  # the race makes its own
print(f"Your formula takes {draft} with K = {k} and promises {promised:.2f} before Python's share.")
show_race(race("04", {"your draft and K": drafting(draft, k)}, temperature=1))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192. Equation 1, Theorem 3.8, Corollaries 3.6 and 3.9; Table 2 for
#   times. Its formula has `v = 1`; `v(K+1)` is our addition.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318: the times of a 70B target and its 4B draft, and Table 1 for its speed-ups.
# - Y. Zhou et al., *DistillSpec*, ICLR 2024, arXiv 2310.08461: distilled drafts, on text of their
#   own. M. Elhoushi et al., *LayerSkip*, arXiv 2404.16710: early exit, with a target trained for
#   it. A. Saxena, *Prompt Lookup Decoding*, 2023. The project `speculators`, github.com/vllm-project.
# - Hugging Face transformers 5.23.0, `generation/configuration_utils.py`, lines 638 to 640, and
#   `generation/candidate_generator.py`.
# - The published pairs: the model cards, by the revisions in `specdec_lib/models/published.json`.
#
# They support the formulas and their own tables, and no time on your machine.
#
# **Next.** Chapter 05 goes the other way: from published and measured results back to `alpha`.
