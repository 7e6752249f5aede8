# %% [markdown]
# # 04 Choosing the draft: fast or accurate, and how many tokens
#
# 60 minutes, and an optional second sitting of 30 · difficulty 3 of 5 · you need: chapter 02; for
# the second sitting PyTorch's softmax
#
# - **Intuition**: one block in milliseconds, on the back of an envelope.
# - **Mathematics**: tokens per block, its price, and the best `K`; you find all three.
# - **Code**: three short functions that choose `K`, and later two that make a draft.
# - **Demo**: two choices of `K`, their promises, and the clock.
#
# **You come with** a decoder that keeps the target's distribution, and a guess for its `K`.
# **You build** a calculator for the speed-up.
# **You leave with** a draft and a `K` chosen from numbers that you measure in a minute.

# %%
import numpy as np

from specdec_lib.lessons.ch04 import lesson

# %% tags=["demo"]
print("Loading the drawing code. This takes a moment.")
from specdec_lib.lessons.ch04 import figures, charts

# %% [markdown]
# ## The smallest example: one block
#
# A target pass takes 50 ms, a draft step 5 ms. The draft proposes `K = 5` tokens, and the target accepts 3 of them.
# The block takes `5 x 5 + 50 = 75` ms and writes 4 tokens: the three accepted ones and a correction. That is 18.75 ms
# per token instead of 50, so this block is 2.67 times as fast. Two numbers describe a draft:
#
# - **`alpha`**, how accurate it is: the acceptance probability `sum_x min(p(x), q(x))`, averaged
#   over the positions of a text.
# - **`c`**, how slow it is: the time of a draft step, divided by the time of a target pass over one
#   token. Here `c = 5/50 = 0.1`.
#
# A smaller draft usually has a smaller `c` and a smaller `alpha`: you can have it fast or accurate.
# Drafting gains most if the models agree, the draft is much cheaper, and the text is predictable.
#
# The formulas below assume that **each judged draft token is accepted with the same probability
# `alpha`.** Real text doesn't; chapters 05 and 06 measure how much that matters.
#
# ## How many tokens a block writes
#
# ### Commit first
#
# Let `alpha = 0.7` and `K = 5`. How many tokens does a block write on average, the target's own
# included? Write a number from 0 to 6, without calculating.

# %% solution="prediction_04"
### BEGIN SOLUTION
prediction_04 = 3.5
### END SOLUTION

# %% test="prediction_04" points=1
lesson.committed("prediction_04", prediction_04, 0, 6)

# %% [markdown]
# First simulate 10,000 blocks. A coin decides the fate of each draft token.

# %% tags=["demo", "shown"]
coins = np.random.default_rng(4).random((10_000, 8))  # thrown once: every K sees the same coins


def tokens_written(alpha, k):
    """The tokens that each of the 10,000 blocks writes."""
    alive = (coins[:, :k] < alpha).cumprod(axis=1)  # 1 up to the first rejection, 0 from there on
    return alive.sum(axis=1) + 1  # the accepted ones, and the target's own


means = {alpha: [tokens_written(alpha, k).mean() for k in range(9)] for alpha in (0.5, 0.7, 0.9)}
for alpha, row in means.items():
    print(f"alpha = {alpha}, K = 0 to 5:", "  ".join(f"{mean:.3f}" for mean in row[:6]))

# %% [markdown]
# In the first row, how much does the first draft token add to the mean? The second? The third? Say
# in one sentence what draft token number `i` adds. That sentence is the formula.
#
# ### Exercise: expected_tokens
#
# **Task.** Return the mean number of tokens that a block writes, the target's own token included.
#
# **Arguments.** `alpha` is a float from 0 to 1, both ends included. `k` is an int of at least 0;
# `k = 0` is plain decoding. The function returns a float.
#
# **Example.** `expected_tokens(0.5, 2)` returns 1.75, near the third number of the first row.


# %% solution="expected_tokens"
def expected_tokens(alpha: float, k: int) -> float:
    """The mean number of tokens that a block of k draft tokens writes, from 1 to k + 1."""
    ### BEGIN SOLUTION
    return sum(alpha**i for i in range(k + 1))
    ### END SOLUTION


# %% [markdown] hints="expected_tokens"
# 1. What is the probability that the first draft token is accepted? The second only counts after it.
# 2. Draft token `i` counts only if it and all before it are accepted: `alpha` to the power `i`. The
#    target adds one token to every block, whatever happened.
# 3. Sum `alpha**i` over `i` from 0 to `k`. A sum needs no special case; the fraction does, at 1.

# %% tags=["demo"]
figures.simulated_means(expected_tokens, means)

# %% test="expected_tokens" points=2
lesson.check_expected_tokens(expected_tokens)

# %% tags=["demo"]
lesson.reveal("prediction_04", prediction_04)

# %% [markdown]
# Draft token `i` counts only if it and all before it are accepted, with probability `alpha^i`:
#
# $$ E[\text{tokens}] = 1 + \alpha + \alpha^2 + \cdots + \alpha^K = \frac{1 - \alpha^{K+1}}{1 - \alpha} $$
#
# The 1 is the target's own token: the correction after a rejection, else the bonus token. You found
# Equation 1 of Leviathan et al. by subtracting neighbours.
#
# ## What a block costs
#
# From here on, the unit of time is a target pass over one token. A draft step takes `c`. A target
# pass over `K + 1` tokens takes `v(K+1)`, the **cost of verification**. It stays close to 1 as long
# as reading the weights takes longer than the arithmetic (chapter 00).
#
# How did `c = 0.1`, `K = 5` and 4 tokens give 2.67 in the first example?
#
# ### Exercise: walltime_speedup
#
# **Task.** Return how many times as fast as plain decoding (one pass per token) the decoder is.
#
# **Arguments.** `alpha`, `c` and `verify_cost` are floats, `k` is an int of at least 0.
# `verify_cost` is `v(k + 1)`. The function returns a float, below 1 for a slow-down.
#
# **Example.** `walltime_speedup(0.5, 0.1, 2)` returns 1.458: 1.75 tokens in the time of 1.2 passes.
# With `verify_cost = 1.3` it returns 1.167.


# %% solution="walltime_speedup"
def walltime_speedup(alpha: float, c: float, k: int, verify_cost: float = 1.0) -> float:
    """How many times as fast as plain decoding a block of k draft tokens is."""
    ### BEGIN SOLUTION
    return expected_tokens(alpha, k) / (c * k + verify_cost)
    ### END SOLUTION


# %% [markdown] hints="walltime_speedup"
# 1. Write down the time of plain decoding per token, and the time of a block for its tokens.
# 2. A block takes `k` draft steps of `c` each, and one verification of `verify_cost`.
# 3. Divide `expected_tokens(alpha, k)` by `c * k + verify_cost`.

# %% tags=["demo"]
figures.speed_by_k(walltime_speedup, alpha=0.7, costs=(0.0, 0.02, 0.1, 0.3))

# %% test="walltime_speedup" points=3
lesson.check_walltime_speedup(walltime_speedup)

# %% [markdown]
# $$ \text{speed-up} = \frac{E[\text{tokens}]}{c\,K + v(K+1)} $$
#
# With `v = 1` this is Theorem 3.8 of Leviathan et al. For `c = 0.1` and `K = 4` it says:
#
# | draft | `alpha` | times as fast | the text has |
# | --- | --- | --- | --- |
# | perfect | 1 | 3.57 | the target's distribution |
# | good | 0.7 | 1.98 | the target's distribution |
# | poor | 0.3 | 1.02 | the target's distribution |
# | useless | 0 | 0.71 | the target's distribution |
#
# A useless draft wastes your time, but it never spoils the text. Chen et al. report 14.1 ms per token
# of their target and 1.8 ms of their draft, so `c = 0.128`; they measured speed-ups of 1.9 to 2.5.
#
# ## The best K: when to stop drafting
#
# Each curve above with `c` above 0 has a top. Why? Look at one more draft token. It costs `c` and
# adds, on average, a fraction of a token. Divide that by `c`, and you have its **yield**: the tokens
# that it adds per target pass's worth of time. Plain decoding writes 1. For `alpha = 0.5` and `c = 0.1`:
#
# | draft token | it adds | its yield | speed-up so far | speed-up with it |
# | --- | --- | --- | --- | --- |
# | 1 | 0.5 | 5 | 1 | 1.364 |
# | 2 | 0.25 | 2.5 | 1.364 | 1.458 |
# | 3 | 0.125 | 1.25 | 1.458 | 1.442 |
#
# Draft token 3 yields more than plain decoding, and still it slows you down! Here is the same for `alpha = 0.7`:

# %% tags=["demo"]
figures.next_draft_token(expected_tokens, walltime_speedup, alpha=0.7, c=0.1)

# %% [markdown]
# Where is the top of the line, and what do the bars do there? Complete the sentence: "Draft one
# more token as long as ..."
#
# ### Exercise: best_k
#
# **Task.** Return the `K` with the largest speed-up, the smallest of equals.
#
# **Arguments.** `alpha` and `c` are floats, and `c` may be 0. `v` is a list of floats: `v[K]` holds `v(K+1)`, the
# cost of verification for `K` draft tokens: no further + 1. So `v[0]` is 1. It is measured and may jump, so compare
# every `K` from 0 to `len(v) - 1`. The function returns an int: 0 if no `K` is faster than plain decoding.
#
# **Example.** `best_k(0.5, 0.1, [1.0, 1.0, 1.0, 1.0])` returns 2, by the table above. With
# `v = [1.0, 1.05, 1.3, 1.35]` it returns 1.


# %% solution="best_k"
def best_k(alpha: float, c: float, v: list[float]) -> int:
    """The K from 0 to len(v) - 1 with the largest speed-up, the smallest of equals."""
    ### BEGIN SOLUTION
    return max(range(len(v)), key=lambda k: walltime_speedup(alpha, c, k, v[k]))
    ### END SOLUTION


# %% [markdown] hints="best_k"
# 1. Plain decoding is the one to beat: `K = 0`, with a speed-up of 1.
# 2. Which argument of `walltime_speedup` is waiting for `v[K]`?
# 3. Find the `k` in `range(len(v))` with the largest `walltime_speedup(alpha, c, k, v[k])`. Python's
#    `max` accepts a `key`, and of equals it keeps the first.

# %% tags=["demo"]
figures.best_k_map(best_k, lesson.MAP_ALPHAS, lesson.MAP_COSTS, k_max=20)

# %% test="best_k" points=5
lesson.check_best_k(best_k)

# %% [markdown]
# The rule in symbols, at `v = 1`: draft one more token as long as
#
# $$ \alpha^{K+1} > c \cdot \text{the speed-up so far}. $$
#
# Only a yield above the average raises an average. Plain decoding has the speed-up 1, so at `v = 1` **some `K` pays
# exactly if `alpha > c`**, and then the speed-up is at least `(1 + alpha)/(1 + c)` (Corollary 3.9 of Leviathan et al.).
#
# In the map, for `alpha` from 0.6 to 0.8 and `c` from 0.02 to 0.1, the best `K` is between 3
# and 11. The earlier curves are flat near their tops, so being off by one costs little.
#
# ## Simulator: tokens and time over K
#
# Let every further token of a pass cost `s`, so `v(n) = 1 + s (n - 1)`. A ring marks the best `K`, a square yours.
#
# ### Commit first
#
# Here `alpha = 0.8`. With `c = 0.05` and `s = 0` the best `K` is 8. What is it with `s = 0.1`?
# Write a number from 0 to 20, then move the slider `s`.

# %% solution="prediction_04_b"
### BEGIN SOLUTION
prediction_04_b = 6
### END SOLUTION

# %% test="prediction_04_b" points=1
lesson.committed("prediction_04_b", prediction_04_b, 0, 20)

# %% tags=["demo"]
from specdec_lib.lessons.widgets import linked_simulator

linked_simulator("speed", c=0.05)

# %% tags=["demo"]
lesson.reveal("prediction_04_b", prediction_04_b)

# %% [markdown]
# So **a draft token costs `c + s` in all, and some `K` pays exactly if `alpha > c + s`.**
#
# ## The promise and the clock
#
# Now a real pair. As in chapter 00, a pass of the target costs as much as one of a model with 234
# million parameters. Its three drafts share its tokenizer and were trained on the same text. The next
# cell takes about 25 s. It measures `alpha` at temperature 1 on 3,000 positions of held-out text, `c` on
# draft steps in a row, and `v` on passes over 1 to 9 tokens, so `K` is at most 8. Close other programs first. Your own
# functions choose `K` at `v = 1` and with the measured `v`, and predict both speed-ups, the **promises**.

# %% tags=["demo"]
print("Loading PyTorch and the models' code takes a few seconds.")
from specdec_lib.device import use_half_the_cores
from specdec_lib.measure import gap, strategies
from specdec_lib.models.pairs import load_pair

# %% tags=["demo"]
use_half_the_cores()  # as in chapter 00
print("Measuring three drafts takes about 25 s.")
benchmark = strategies.DraftBenchmark()
family = strategies.built_in_models("large", "base", "small")
target = load_pair(target_cost="234m", device="cpu").target
alphas, times = benchmark.alphas(family), benchmark.times(family, target)
measured = strategies.draft_measurements(family, alphas, times)
promised = gap.draft_choices(measured, best_k, walltime_speedup)
chosen = gap.draft_choices(measured, best_k, walltime_speedup, verified=True)
charts.table_of_drafts(measured, promised, chosen)

# %% [markdown]
# `large` has twice the weights of `base`, but usually less than twice its `c`: both have two layers, and at this size
# starting an operation takes time too. `s` is the mean cost of a further token.
#
# Which promise will the clock keep? How many tokens a block writes depends much on the text, so they are counted on 24
# texts, by the target at its own small size: its distribution is the same. The time of a block hardly depends on the
# text, so three texts are clocked, both choices and plain decoding by turns.
#
# ### Commit first
#
# What share of the promise at `v = 1` will the clock show? Write a number from 0.2 to 1.2; 1 means all of it.

# %% solution="prediction_04_c"
### BEGIN SOLUTION
prediction_04_c = 0.9
### END SOLUTION

# %% test="prediction_04_c" points=1
lesson.committed("prediction_04_c", prediction_04_c, 0.2, 1.2)

# %% tags=["demo"]
print("Counting tokens and clocking takes about 20 s.")
LONGER = 1  # 8 clocks all 24 texts, and takes eight times as long
targets = target, benchmark.target
accounts = gap.clock_choices(targets, family, measured, (promised, chosen), LONGER)
charts.promise_and_clock(walltime_speedup, accounts)
share = next(iter(accounts.values())).measured / max(each.speedup for each in promised.values())
lesson.reveal("prediction_04_c", prediction_04_c, share)

# %% [markdown]
# Both begin with the formula at `v = 1`. Each step takes account of what it left out:
#
# - **Verification.** A pass over `K + 1` tokens takes longer than over one. For the second `K` this leaves its promise.
# - **In the loop.** Between the passes Python draws and compares tokens, and a target pass pushes the
#   draft's weights out of the processor's own cache.
# - **Text.** The formula takes acceptances as independent and blocks as whole. They aren't
#   independent, and the end of a text cuts its last block short.
#
# On a CPU verification is usually the largest step, and it grows with `K`. That is the lesson: `v = 1`
# made your own formula choose a `K` that is too large, and the measured `v` repairs it, on a busy machine by less
# than the noise. On a graphics card with one user, further tokens of a pass are almost free: `s` is almost 0, and both
# choices agree.
#
# And with your numbers? Enter `alpha` and the times of a draft `step` and of target passes over
# `one` token and over `nine`:

# %% tags=["demo", "shown"]
figures.your_numbers(best_k, walltime_speedup, alpha=0.7, step=1.5, one=30.0, nine=33.0)

# %% [markdown]
# > **When it is slower.** Drafting loses time if `alpha` is below `c + s`. In a full batch `s` is
# > large, since arithmetic takes the time (chapter 06). And for a short answer the draft has to read
# > the whole prompt too.
#
# ## Quiz
#
# **Question 1.** Why is a smaller model of the target's own family a good first draft?
#
# - a: it has a tenth of the target's size, and that is the best ratio
# - b: it has the same tokenizer, and its distributions are close to the target's
# - c: only then is the output still the target's distribution
# - d: it shares the target's weights, so it takes no memory

# %% solution="quiz_04"
### BEGIN SOLUTION
quiz_04 = "b"
### END SOLUTION

# %% test="quiz_04" points=1
lesson.answered("quiz_04", quiz_04)

# %% [markdown]
# **Question 2.** Your target moves to hardware that is ten times as fast, and the draft doesn't:
# `c` goes from 0.02 to 0.2. With `alpha = 0.7`, what happens to the best `K`?
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
# A, "because it is right more often". What is the best `K` for each draft, and how fast is it then?
# Use `best_k`, with `v = [1.0] * 21`, and `walltime_speedup` in a new cell. Which one do you take?
# Write three to five sentences with numbers. This answer is marked by hand.

# %% [markdown] written="which_draft" points=2
# B. A is fastest with K = 3: a block writes 2.95 tokens and takes 1.75 passes, 1.69 times as fast.
# B is fastest with K = 6: 2.43 tokens in 1.12 passes, 2.17 times as fast. A block of A writes more
# tokens, but three draft tokens of A cost three quarters of a target pass.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence?
#
# **You might read: "With `alpha = 0.7` the speed-up is 1/(1 - alpha) = 3.33."**
#
# <details><summary>Answer</summary>
#
# These are the tokens of an endless block from a draft that costs nothing. *For example:* with
# `c = 0.05` the speed-up is 2.35 at `K = 5`, 1.67 at 20 and 0.95 at 50.
#
# </details>
#
# **You might read: "Take a draft of a tenth of the target's size."**
#
# <details><summary>Answer</summary>
#
# A tenth of the size is about a tenth of the time, and a cheaper draft may win with less `alpha`.
# *For example:* `alpha = 0.8` with `c = 0.1` reaches 2.47 at best, 0.75 with 0.02 reaches 3.20. Of the
# three drafts of Leviathan et al. the smallest, 143 times smaller than the target, was always fastest.
#
# </details>
#
# **You might read: "The overhead of the draft is negligible."**
#
# <details><summary>Answer</summary>
#
# Each draft step is short, but a block has `K` of them, one after the other. *For example:* with the
# times of Chen et al. and their `K = 4`, drafting takes 4 x 1.8 = 7.2 of 21.3 ms: a third.
#
# </details>
#
# ## The race again
#
# Chapter 02's race, with your `speculative_sample` and the draft and `K` that your `best_k` chose.

# %% tags=["demo"]
from specdec_lib.lessons.checking.carried import carried
from specdec_lib.lessons.drawing.race import show_race
from specdec_lib.measure.race.lanes import draft_model_lane, sampled_function_lane
from specdec_lib.measure.race.race import race

speculative_sample = carried("02_rejection_sampling", "speculative_sample")
draft, k = gap.best_choice(chosen)
print(f"{draft}, K = {k}: your formula promises {chosen[draft].speedup:.2f}. The race: 20 s to a minute.")
own = {"your draft and K": sampled_function_lane(speculative_sample, draft, k)}
library = {"the library, your draft and K": draft_model_lane(draft, k)}  # where yours doesn't run
races = race("04", own, temperature=1) or race("04", library, temperature=1)
show_race(races, yours="your draft and K")

# %% [markdown]
# On five short texts the race may land on either side of the promise. **This is a good place to stop.**
#
# ## Second sitting (optional, 30 minutes): where a draft comes from
#
# You can get a draft in six ways:
#
# | strategy | what it is | `alpha` | `c` | take it if |
# | --- | --- | --- | --- | --- |
# | same family | a smaller model by the same maker, with the same tokenizer | high | depends on its size | there is one: `specdec pairs` lists published ones |
# | distilled | a small model trained on the target's distributions | higher at that size | depends on its size | you can train for hours |
# | trained head | one to five layers that read the target's own states: MTP (December 2024), EAGLE-3 (March 2025), DFlash (February 2026); the four servers of chapter 07 run all three | high | its layers and an LM head | one is published for your target |
# | early exit | the target's first layers, with its norm and LM head, which turn a layer's numbers into logits | low unless trained | their share of the layers, and the head | memory is tight |
# | n-gram | counts of a corpus: what followed the last token or two | low | nearly 0 | there is no small model |
# | prompt lookup | whatever followed the last time these tokens appeared in this text | depends on the text | nearly 0 | the answer repeats the prompt |
#
# With the rule of chapter 02 a draft needs the target's vocabulary, since `min(p(x), q(x))` compares
# the same token `x`: every string must have the same id, which GPT-2's and GPT-4's don't (chapter 01).
# Chapter 07 shows a way round it.
#
# A draft model also takes memory: weights, its own KV cache, and in both caches `K` slots per text for
# tokens that may be rejected. Here Llama 3.2 1B drafts for Llama 3.1 8B, in 64 texts of 4,000 tokens:

# %% tags=["demo", "shown"]
weights = 1.24e9 * 2  # bytes; two for each parameter
position = 16 * 2 * 8 * 64 * 2  # layers, keys and values, KV heads, numbers in each, bytes
cache, slots = 64 * 4_000 * position, 64 * 5 * (position + 32 * 2 * 8 * 128 * 2)  # K = 5
print(f"weights {weights / 1e9:.1f} GB, cache {cache / 1e9:.1f} GB, slots {slots / 1e9:.2f} GB")

# %% [markdown]
# The draft's cache is larger than its weights! Heads and lookups save most of this.
#
# <details><summary>A draft may know fewer tokens than its target</summary>
#
# Much of a small draft is the matrix that makes logits. So many drafts have a **cut vocabulary**, the
# tokens that the target writes most (FR-Spec, EAGLE-3). A token that is left out has a `q` of 0: it is
# never drafted, and a correction can still write it. Here is `alpha` for a chat model with 49,152 tokens,
# SmolLM2-135M-Instruct, and this course's own EAGLE head for it:
#
# | tokens that the draft knows | 256 | 1,024 | 2,048 | 12,288 | 49,152 |
# | --- | --- | --- | --- | --- | --- |
# | the target's probability of them | 0.54 | 0.67 | 0.73 | 0.91 | 1.00 |
# | `alpha` | 0.34 | 0.37 | 0.38 | 0.39 | 0.39 |
#
# The target's probability bounds `alpha`, and `alpha` stays far below it: this draft rarely has a rare
# token right. With 2,048 tokens a step takes about a third less time than with 12,288. (Measured on
# 28 November 2026: 24 answers, 2,113 tokens, temperature 1, AMD EPYC.)
#
# </details>
#
# The last strategy needs no model. Write it.
#
# ### Exercise: prompt_lookup
#
# **Task.** Find the longest suffix of `tokens`, of at most `max_ngram` tokens, that also occurs
# earlier. Return what followed its **latest** earlier occurrence: up to `k` tokens, fewer if fewer
# follow. The occurrence may overlap the suffix, but it must not be the suffix itself. If nothing is
# found, return `[]`.
#
# **Arguments.** `tokens` is a list of ints, which you don't change. The function returns a new list.
#
# **Example.** `prompt_lookup([4, 5, 6, 9, 5, 6], 3)` returns `[9, 5, 6]`: the text ends with `[5, 6]`,
# which also stands at position 1.


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
# 2. A suffix of `n` tokens may start anywhere before its own position, `len(tokens) - n`.
# 3. For `n` from `min(max_ngram, len(tokens) - 1)` down to 1, and for `start` from
#    `len(tokens) - n - 1` down to 0: if `tokens[start : start + n]` is the suffix, return the `k`
#    tokens after it.

# %% tags=["demo"]
figures.drafted_after_text(prompt_lookup, lesson.LOOKUP_WORDS, k=4)

# %% test="prompt_lookup" points=4
lesson.check_prompt_lookup(prompt_lookup)

# %% [markdown]
# Now compare drafts. The target is the built-in one at its own small size, so a draft must be cheap
# indeed. The early exit is this target, cut after the first of its four layers.

# %% tags=["demo"]
from specdec_lib.device import use_half_the_cores
from specdec_lib.measure import strategies

# %% tags=["demo"]
# After a restart of the notebook, run the imports at its top and your prompt_lookup first.
use_half_the_cores()
print("Measuring six drafts and your lookup takes about 10 s.")
benchmark = strategies.DraftBenchmark()
models = strategies.built_in_models("large", "base", "small")
models["first layer"] = strategies.first_layers(1)
drafts = strategies.compare_drafts(benchmark, models, prompt_lookup)  # alpha 0 if nothing is found
charts.strategies(drafts)

# %% [markdown]
# At the right is the best speed-up with the measured `v`. Counts and lookup are often wrong, but they
# cost little, so a low `alpha` is enough. The first layer costs far more. But a layer can learn.
#
# ## Train a draft on alpha itself
#
# At one position, the share of draft tokens that is rejected is the total variation of the two distributions:
#
# $$ 1 - \sum_x \min(p(x), q(x)) = \frac{1}{2} \sum_x |p(x) - q(x)| $$
#
# So `1 - alpha` is a loss to train a draft on (Corollary 3.6 of Leviathan et al.). Training a small model on a large
# one's distributions is **distillation**. The next cell is given; the grader calls your loss through it.

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
# **Task.** Return the mean over all positions of the total variation of the two softmaxes, in PyTorch.
#
# **Arguments.** Both are tensors of logits `(..., V)`: the last axis is the vocabulary, all others are positions. The
# function returns a floating-point tensor of shape `()`. A gradient must reach `draft_logits`. Logits may come in
# bfloat16: compute in float32 or better. The value may be off by 1e-6.
#
# **Example.** For `log [0.45, 0.30, 0.15, 0.10]` and `log [0.30, 0.45, 0.20, 0.05]` it returns 0.20.


# %% solution="distillation_loss"
def distillation_loss(target_logits: torch.Tensor, draft_logits: torch.Tensor) -> torch.Tensor:
    """1 - alpha: the mean over positions of the total variation of the softmaxes; (..., V)."""
    ### BEGIN SOLUTION
    p = target_logits.float().softmax(-1)
    q = draft_logits.float().softmax(-1)
    return 1 - torch.minimum(p, q).sum(-1).mean()
    ### END SOLUTION


# %% [markdown] hints="distillation_loss"
# 1. Softmax over the last axis turns logits into `p` and `q`. What do they share?
# 2. `torch.minimum` works entry by entry, and gradients flow through it.
# 3. One minus the mean of `torch.minimum(p, q).sum(-1)`, with `p` and `q` from `logits.float()`.

# %% test="distillation_loss" points=4
lesson.check_distillation_loss(distillation_loss)

# %% [markdown]
# Now the early exit learns with your loss on one half of the held-out documents, and `alpha` is
# measured on the other half. 40 steps take about 10 s.

# %% tags=["demo"]
print("Loading the code for training takes about 5 s.")
from specdec_lib.training.short import distil, trainable

# %% tags=["demo"]
exit_draft, (_, costs) = trainable("target", layers=1), drafts["first layer"]
training = distil(distillation_loss, exit_draft, benchmark.target, benchmark.learn, steps=40)
curve = strategies.training_curve(benchmark, exit_draft, training, every=10)
charts.show_learning_curve(curve, costs)

# %% [markdown]
# The draft is as fast as before; only `alpha` moved.
#
# You now have two drafts that need no second model (one may still not pay here), a loss that raises the `alpha` of any
# trainable draft, and one question for the next draft: is its `alpha` above its `c + s`?
#
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023, [arXiv
#   2211.17192](https://arxiv.org/abs/2211.17192). Equation 1, Theorem 3.8, Corollaries 3.6 and 3.9; Table 2 for times.
#   Its formula has `v = 1`; `v(K+1)` is this course's addition.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, [arXiv
#   2302.01318](https://arxiv.org/abs/2302.01318): the times of a 70B target and its 4B draft, and
#   Table 1 for its speed-ups.
# - Y. Zhou et al., *DistillSpec*, ICLR 2024, [arXiv 2310.08461](https://arxiv.org/abs/2310.08461): distilled drafts,
#   on text of their own, with the divergence chosen by task and decoding. M. Elhoushi et al., *LayerSkip*, [arXiv
#   2404.16710](https://arxiv.org/abs/2404.16710): early exit, with a target trained for it. A. Saxena, *Prompt Lookup
#   Decoding*, 2023.
# - Heads: DeepSeek-AI, *DeepSeek-V3*, [arXiv 2412.19437](https://arxiv.org/abs/2412.19437), for MTP;
#   Y. Li et al., *EAGLE-3*, [arXiv 2503.01840](https://arxiv.org/abs/2503.01840); *DFlash*, [arXiv
#   2602.06036](https://arxiv.org/abs/2602.06036).
# - Vocabularies: [openai/tiktoken](https://github.com/openai/tiktoken), `tiktoken_ext/openai_public.py`
#   at 1f098ca. Shapes: `config.json` of meta-llama/Llama-3.2-1B and Llama-3.1-8B on Hugging Face.
# - Hugging Face transformers 5.23.0, `generation/candidate_generator.py`: the first match from the
#   left in `PromptLookupCandidateGenerator.get_candidates`.
#
# **Next.** Chapter 05 goes the other way: from published and measured results back to `alpha`.
