# %% [markdown]
# # 05 Results: read a table of speed-ups, and find the row that cannot be true
#
# 75 minutes · difficulty 3 of 5 · you need: chapter 02 (how a block is judged), chapter 04 (tokens
# per block, `c` and `v`), the mean
#
# - **Intuition**: one pair of models on three machines.
# - **Mathematics**: the most likely `alpha`, a limit that nothing beats, and the right mean of ratios.
# - **Code**: four short functions.
# - **Demo**: published rows, from 2022 to 2026, and rows of your own.
#
# **You come with** a formula: the tokens of a block, divided by its time.
# **You build** an audit: it says what can explain a printed row, and what cannot.
# **You leave with** the five questions behind "2.5 times as fast": which tokens, which text, which
# machine, against what, and timed how?

# %%
import numpy as np

from specdec_lib.lessons.ch05 import lesson
from specdec_lib.theory import expected_tokens

# %% tags=["demo"]
from specdec_lib.lessons.ch05 import figures, charts
from specdec_lib.lessons.drawing.series import show_table
from specdec_lib.measure import papers

# %% [markdown]
# ## The smallest example: the same tokens, three speeds
#
# Take one pair of models and `K = 1`. Every second draft token is accepted, so a block writes 1.5
# tokens on average. On three machines a draft step takes a different time:
#
# | draft step, in target passes | one block | times as fast |
# | --- | --- | --- |
# | 0.1 | 1 + 0.1 = 1.1 | 1.5/1.1 = 1.36 |
# | 0.5 | 1 + 0.5 = 1.5 | 1.5/1.5 = 1.00 |
# | 1 | 1 + 1 = 2 | 1.5/2 = 0.75 |
#
# All three write the same tokens. So a speed-up has two parts. **How many tokens** a block writes
# depends on the models, the text, `K` and the sampling. **How long** a block takes depends on the
# machine.
#
# ## What is an acceptance rate?
#
# A decoder recorded six blocks of `K = 4`. Some draft tokens were never judged, because an earlier
# token of their block was rejected.

# %% tags=["demo"]
figures.six_blocks(lesson.BLOCKS, lesson.K)

# %% [markdown]
# ### Commit first
#
# Suppose that every judged draft token is accepted with the same probability `alpha`. Estimate
# `alpha` from these six blocks. Write a number from 0 to 1.

# %% solution="prediction_05"
### BEGIN SOLUTION
prediction_05 = 0.6
### END SOLUTION

# %% test="prediction_05" points=1
lesson.committed("prediction_05", prediction_05, 0, 1)

# %% [markdown]
# ### Exercise: alpha_from_blocks
#
# **Task.** The most likely `alpha`.
#
# **Arguments.** `accepted` is a list with the number of accepted tokens of each block. All blocks
# have the length `k`, at least 1. The function returns a float. It raises ValueError if there is no
# block, and if a number isn't from 0 to `k`.
#
# **Example.** `[4, 0, 2, 4, 1, 3]` with `k = 4` give 0.778. A block that was accepted whole judged 4
# tokens. How many did a block with 2 accepted tokens judge?


# %% solution="alpha_from_blocks"
def alpha_from_blocks(accepted: list[int], k: int) -> float:
    """The maximum-likelihood acceptance rate from the accepted counts of blocks of `k`."""
    ### BEGIN SOLUTION
    if not accepted or min(accepted) < 0 or max(accepted) > k:
        raise ValueError(f"there are no {len(accepted)} blocks of {k} with these counts")
    return sum(accepted) / sum(min(n + 1, k) for n in accepted)
    ### END SOLUTION


# %% [markdown] hints="alpha_from_blocks"
# 1. Two counts are enough: how many tokens were accepted, and how many were judged at all.
# 2. After n accepted tokens one more was judged, unless the block was over: min(n + 1, k).
# 3. Raise ValueError if there is no block, or a count below 0 or above k. Else return the sum of
#    the counts, divided by the sum of min(n + 1, k).

# %% tags=["demo"]
figures.alpha_found_again(alpha_from_blocks, k=5)

# %% test="alpha_from_blocks" points=3
lesson.check_alpha_from_blocks(alpha_from_blocks)

# %% tags=["demo"]
lesson.reveal("prediction_05", prediction_05)

# %% [markdown]
# The six blocks hold 14 accepted and 4 rejected tokens. Their probability is
#
# $$ \alpha^{14} (1 - \alpha)^{4}, \qquad\text{largest if}\qquad
# \frac{14}{\alpha} = \frac{4}{1 - \alpha}, \qquad\text{so}\qquad \alpha = \frac{14}{14 + 4}. $$
#
# ### Five numbers with one name
#
# | what is divided | here | who prints it |
# | --- | --- | --- |
# | accepted / judged tokens | 14/18 = 0.78 | this course, as `alpha` |
# | accepted / drafted tokens | 14/24 = 0.58 | vLLM's log, as "draft acceptance rate" |
# | written tokens / verified positions | 20/30 = 0.67 | SGLang's log, as "accept rate" |
# | written tokens / blocks | 20/6 = 3.33 | benchmarks, as "acceptance length" |
# | the mean of `sum_x min(p, q)` over a text that the target wrote | needs both models | Leviathan et al., as `alpha` |
#
# (vLLM and SGLang are programs that serve models.) The second number falls if `K` grows, because more
# tokens stand after a rejection. The third one counts the correction or the bonus, so it isn't 0 even
# if every draft token is rejected! The first and the last agree if acceptance doesn't depend on what
# was accepted before.
#
# ## A promise and a clock
#
# T5-XXL has 11 billion parameters. It translates English to German (EnDe) and summarises news
# (CNNDM). Three smaller T5 models draft for it. Leviathan et al. print `alpha`, `c` and two
# speed-ups: the one that their formula promises, `E/(cK + 1)` with `E` tokens per block, and the
# measured one.
#
# ### Commit first
#
# For translation at temperature 0, T5-large has the highest acceptance of the three drafts:
# `alpha = 0.82`. It is also the largest draft, `c = 0.11`. With `K = 7` the formula promises 2.5.
# What was measured? Write a number from 0 to 8.

# %% solution="prediction_05_b"
### BEGIN SOLUTION
prediction_05_b = 2.5
### END SOLUTION

# %% test="prediction_05_b" points=1
lesson.committed("prediction_05_b", prediction_05_b, 0, 8)

# %% tags=["demo"]
lesson.reveal("prediction_05_b", prediction_05_b)
settings = papers.table("leviathan_2_4")
figures.expected_and_measured(settings)

# %% [markdown]
# The paper rounds `alpha` and `c`. A grey bar holds every speed-up that the rounded values allow.
# All twelve promises lie inside their bars. Only one measured speed-up does!
#
# ### Simulator: a row of the paper
#
# At which `c` does the curve of T5-large come down to the measured 1.7? Decide first, then move the
# slider. After that choose T5-small, CNNDM, temperature 0, measured 3.1. Can any `c` explain it?

# %% tags=["demo"]
from specdec_lib.lessons.widgets import paper_rows_simulator

paper_rows_simulator(settings, row=2)

# %% [markdown]
# For T5-large a `c` of 0.23 would do, twice the printed one: a block took longer than `cK + 1`. But
# for T5-small even a free draft gives only 2.64. No cost can explain a clock that is too fast.
#
# ## A limit that no order can beat
#
# Can blocks write more than `E` tokens at the same `alpha`? The formula tosses a coin for every
# token. Real acceptances have an order, and the order matters.
#
# ### Commit first
#
# A greedy decoder with `K = 5` writes 24 tokens. At 18 of these positions, a share of 0.75, the draft
# is right, or would be if it drafted there. You may choose which 6 are wrong. How many tokens does a block write at most, on
# average? Write a number from 1 to 6. The formula says 3.29.

# %% solution="prediction_05_c"
### BEGIN SOLUTION
prediction_05_c = 3.29
### END SOLUTION

# %% test="prediction_05_c" points=1
lesson.committed("prediction_05_c", prediction_05_c, 1, 6)

# %% tags=["demo"]
lesson.reveal("prediction_05_c", prediction_05_c)
figures.three_orders(k=5)

# %% [markdown]
# **Every wrong position ends a block.** A share of `1 - alpha` of the positions is wrong, so a text
# has at least `1 - alpha` blocks per token. And no block is longer than `K + 1`. So in any order
#
# $$ \text{tokens per block} \le \min\left(K + 1,\; \frac{1}{1 - \alpha}\right). $$
#
# At temperature 1 a position ends its block with probability `1 - sum_x min(p, q)`, so the limit
# holds on average.
#
# Now audit the row that no cost explains. A block takes at least `0.02 x 5 + 1 = 1.1` passes. To be
# 3.1 times as fast, the row needs 3.41 tokens per block. With `alpha = 0.65` the formula gives 2.64,
# and no order gives more than 2.86. A famous paper prints a row that nothing in it explains!
#
# ### Exercise: audit
#
# **Task.** A row needs at least `tokens` tokens per block. Say what can explain it:
#
# - `"formula"`: the formula gives that many, or more.
# - `"order"`: the formula gives fewer, but the best order of the acceptances gives that many.
# - `"nothing"`: no order does.
#
# **Arguments.** `alpha` and `tokens` may have been rounded: the true values lie within `alpha_error`
# and `tokens_error` of them. Judge in the row's favour, with the values that are easiest to explain.
# `alpha + alpha_error` is at most 1, and `k` is at least 1. The function returns one of the three
# strings. `expected_tokens(alpha, k)` is given.
#
# **Example.** With `alpha = 0.75`, `k = 5` and no rounding, 3.1 tokens are `"formula"`, 3.8 are
# `"order"` and 4.2 are `"nothing"`.
#
# **The tests also check.** A block has at most `k + 1` tokens, however large `alpha` is.


# %% solution="audit"
def audit(alpha: float, k: int, tokens: float, alpha_error: float, tokens_error: float) -> str:
    """What explains that many tokens per block: "formula", "order" or "nothing"."""
    ### BEGIN SOLUTION
    highest, fewest = alpha + alpha_error, tokens - tokens_error
    if fewest <= expected_tokens(highest, k):
        return "formula"
    if fewest <= 1 / max(1 - highest, 1 / (k + 1)):
        return "order"
    return "nothing"
    ### END SOLUTION


# %% [markdown] hints="audit"
# 1. Which alpha within the rounding allows the most tokens? Which number of tokens is easiest to
#    reach?
# 2. Take alpha + alpha_error and tokens - tokens_error. Compare with the formula first, then with
#    the limit.
# 3. The blocks per token are at least 1 - alpha and at least 1/(k + 1). So the limit is
#    1 / max(1 - alpha, 1 / (k + 1)), which never divides by 0.

# %% tags=["demo"]
figures.verdicts(audit, settings)

# %% test="audit" points=6
lesson.check_audit(audit)

# %% [markdown]
# Of the twelve rows, the formula explains four, an order could explain another four, and nothing
# explains the last four. Nobody needs to have lied: each number can be right even if the columns
# don't fit together. `alpha` may come from other texts than the clock, or the plain decoder was
# slower than a bare pass. The paper itself says that the two decoders weren't optimised alike, and
# that acceptances aren't independent.
#
# ## Four rows of today
#
# Three logs and a model card print an acceptance beside the tokens per block:
#
# | row | `K` | "acceptance" | tokens per block |
# | --- | --- | --- | --- |
# | vLLM: EAGLE-3, Llama 3.1 8B | 7 | 0.362 | 3.53 |
# | llama.cpp: EAGLE-3 | 3 | 0.645 | 2.92 |
# | model card: DSpark, Muse Spark | 7 | 0.285 | 2.99 |
# | SGLang: EAGLE-3, Qwen3 8B | 3 | 0.54 | 2.17 |
#
# (EAGLE-3 and DSpark are small networks that draft from the target's states, as chapter 07 shows.)
#
# ### Commit first
#
# Take each "acceptance" for `alpha`. How many of the four rows can the formula or an order explain?
# Write a whole number from 0 to 4.

# %% solution="prediction_05_d"
### BEGIN SOLUTION
prediction_05_d = 4
### END SOLUTION

# %% test="prediction_05_d" points=1
lesson.committed("prediction_05_d", prediction_05_d, 0, 4)

# %% tags=["demo"]
logs = papers.table("logs")
lesson.reveal("prediction_05_d", prediction_05_d)
figures.judged_logs(audit, logs)

# %% [markdown]
# Three rows are convicted, and yet nobody miscounted: the column just isn't `alpha`. Which of the
# five numbers is it? Compare it with two quotients of the tokens.

# %% tags=["demo"]
show_table(lesson.meanings(logs))

# %% [markdown]
# Three rows print accepted / drafted tokens, the fourth one written tokens / verified positions. That
# fourth number is no `alpha` either. It slipped through, since it is large enough. **An audit can
# convict a row, but it can't acquit one.**
#
# ## Backwards: the acceptance rate that a clock implies
#
# Chen et al. print times and no `alpha`. A token takes 14.1 ms with their target of 70 billion
# parameters, 1.8 ms with the draft, and 7.52 ms with speculative decoding at `K = 4`. A block takes
# `4 x 1.8 + 14.1 = 21.3` ms, so it writes `21.3/7.52 = 2.83` tokens. The sum
# `1 + alpha + ... + alpha^4` is 2.77 for `alpha = 0.7` and 3.05 for 0.75. How do you go on?
#
# ### Exercise: implied_alpha
#
# **Task.** The `alpha` for which `seconds_per_token x E = k draft_seconds + target_seconds`, where
# `E` is `expected_tokens(alpha, k)`.
#
# **Arguments.** Three times in the same unit, and `k`. The function returns a float. Halve the
# interval from 0 to 1 sixty times; a grid is too coarse. The function raises ValueError if a block
# would have to write fewer than 1 or more than `k + 1` tokens.
#
# **Example.** 7.52, 14.1, 1.8 and `k = 4` give 0.711.


# %% solution="implied_alpha"
def implied_alpha(
    seconds_per_token: float, target_seconds: float, draft_seconds: float, k: int
) -> float:
    """The acceptance rate that explains a measured time per token; ValueError if none does."""
    ### BEGIN SOLUTION
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if not 1 <= wanted <= k + 1:
        raise ValueError(f"a block of {k} writes 1 to {k + 1} tokens, not {wanted:.3g}")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected_tokens(middle, k) < wanted else (low, middle)
    return low
    ### END SOLUTION


# %% [markdown] hints="implied_alpha"
# 1. First: how many tokens must a block write to make the time per token what it is?
# 2. That number grows with alpha, from 1 to k + 1: halve the interval from 0 to 1.
# 3. Compute `wanted = (k * draft_seconds + target_seconds) / seconds_per_token`. Raise ValueError if
#    it is below 1 or above k + 1. Else keep low and high, and 60 times move one of them to the
#    middle.

# %% tags=["demo"]
figures.implied_rates(implied_alpha, settings, papers.table("chen_1"))

# %% test="implied_alpha" points=4
lesson.check_implied_alpha(implied_alpha)

# %% [markdown]
# The figure assumes `v = 1`. A slower verification would imply higher rates, so these are lower
# limits. Code (HumanEval) has the highest.
#
# ## One drafter, two baselines
#
# The paper on EAGLE-3 prints a speed-up of 4.40 for Llama 3.1 8B and the questions of MT-bench.
# SGLang has the same target, drafter and questions: 158.34 tokens a second without EAGLE-3, and
# 373.25 with it, so 2.36 times as fast. Who is wrong?
#
# The vLLM row above is this drafter as a single chain of draft tokens. `implied_alpha` takes
# tokens per block, too: with a free draft and a pass of one second, `implied_alpha(1/3.53, 1, 0, 7)` is
# the `alpha` behind 3.53 tokens. What can such a chain do?

# %% tags=["demo", "shown"]
alpha = round(implied_alpha(1 / 3.53, 1.0, 0.0, 7), 2)
for row in papers.table("eagle_3"):
    verdict = audit(alpha, 7, row.speedup, alpha_error=0.005, tokens_error=0.005)
    print(f"{row.who}: a chain with alpha = {alpha} that is {row.speedup} times as fast: {verdict}")

# %% [markdown]
# No chain with this `alpha`, which takes acceptances for coins, can be 4.40 times as fast. The paper drafts a *tree*, with several
# candidates for each place (chapter 07), and a block writes 6.13 tokens. In SGLang, which drafts a
# tree as well, a run by its authors wrote 5.39. So the tokens differ a little, and the time differs
# a lot: a block takes 6.13/4.40 = 1.39 plain passes in the paper, and about 2.3 in SGLang. A fast
# engine makes the plain pass cheap, and then drafting weighs more. Both numbers can be right. **A
# speed-up says as much about the baseline as about the drafter.** Spec-Bench ran the same code on
# two cards:
#
# | method | tokens per block | times as fast, RTX 3090 | A100 |
# | --- | --- | --- | --- |
# | draft model | 2.29 and 2.28 | 1.83 | 1.49 |
# | Medusa (chapter 07) | 2.32 and 2.32 | 1.44 | 1.78 |
#
# The two methods change places! `c` and `v` have changed, `alpha` hasn't.
#
# ## Your own row
#
# The built-in pair now continues four kinds of prompts: code, prose, a copy of code with one name
# changed, and lists of names. Your functions find `alpha` and judge each row, rounded as a paper
# would round it.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure.prompt_kinds import KINDS
from specdec_lib.measure.runs import SAMPLED, accepted_counts
from specdec_lib.models.pairs import load_pair

# %% tags=["demo"]
leave_cores()  # as in chapter 00
pair = load_pair(draft="large")
prompts = {kind: make(16) for kind, make in KINDS.items()}
blocks = {kind: accepted_counts(pair, each, 5, 64, SAMPLED) for kind, each in prompts.items()}
charts.own_rows(alpha_from_blocks, audit, blocks, k=5)

# %% [markdown]
# Now suppose that the third column were called "acceptance". What would a stranger's audit say of you?
#
# Spec-Bench compares kinds of text, too. There prompt lookup, which copies from the text so far, is 2.43
# times as fast at summaries and 1.04 at translation. A "typical speed-up" is the speed-up of somebody
# else's text.
#
# ## Taking turns, and ratios
#
# A processor gets warm and slows down; another program starts. So let two decoders **take turns**,
# and divide **pair by pair**. Which mean of the ratios is fair? Take two pairs of runs, with the
# ratios 2 and 1/2. Average plain over speculative, and average speculative over plain: a fair mean
# gives answers whose product is 1.
#
# | mean | plain over speculative | speculative over plain | product |
# | --- | --- | --- | --- |
# | arithmetic | 1.25 | 1.25 | 1.56 |
# | harmonic | 0.80 | 0.80 | 0.64 |
# | geometric | 1 | 1 | 1 |
#
# ### Exercise: paired_speedup
#
# **Task.** The fair mean of baseline over speculative, pair by pair.
#
# **Arguments.** Two lists of times, equally long. The function returns a float, also for thousands of
# pairs. It raises ValueError if the lists are empty or differ in length.
#
# **Example.** `[2, 8]` and `[1, 1]`: the ratios are 2 and 8, the answer is 4.


# %% solution="paired_speedup"
def paired_speedup(baseline_seconds: list[float], speculative_seconds: list[float]) -> float:
    """The geometric mean of baseline over speculative, pair by pair."""
    ### BEGIN SOLUTION
    if len(baseline_seconds) != len(speculative_seconds) or len(baseline_seconds) == 0:
        raise ValueError("every baseline run needs a speculative run, and there must be one")
    ratios = np.array(baseline_seconds) / np.array(speculative_seconds)
    return float(np.exp(np.mean(np.log(ratios))))
    ### END SOLUTION


# %% [markdown] hints="paired_speedup"
# 1. A speed-up is a ratio, and ratios multiply: which mean treats 2 and 1/2 alike?
# 2. Divide pair by pair, baseline over speculative, and average the logarithms.
# 3. Raise ValueError if the lists are empty or unequal. Else return
#    float(np.exp(np.mean(np.log(ratios)))).

# %% [markdown]
# Suppose that a machine slows down over twenty runs, until a run takes half as long again, and that a
# method is 1.25 times as fast. Only the order of the runs differs between the two pictures.

# %% tags=["demo"]
figures.two_orders(paired_speedup)

# %% test="paired_speedup" points=2
lesson.check_paired_speedup(paired_speedup)

# %% [markdown]
# Even with turns the answer is a little low: the speculative run always comes second. Your mean is
# the geometric one: the logarithm turns a product of ratios into a sum, which can't overflow.
#
# ## Quiz
#
# **Question 1.** In Spec-Bench one draft model makes conversation 1.66 times as fast and translation
# 1.13 times, with the same target, the same settings and the same card. What follows?
#
# - a: translation is less predictable to a reader than conversation
# - b: a block takes about as long in translation, so it must write fewer tokens there
# - c: a block takes longer in translation, since German words are longer
# - d: nothing, since speed-ups on two tasks can't be compared

# %% solution="quiz_05"
### BEGIN SOLUTION
quiz_05 = "b"
### END SOLUTION

# %% test="quiz_05" points=1
lesson.answered("quiz_05", quiz_05)

# %% [markdown]
# **Question 2.** A vendor reports "3.6 tokens per step, so 3.6 times as fast". What is missing?
#
# - a: nothing, since there are 3.6 times fewer passes of the target
# - b: the acceptance rate, which nobody can work out from the 3.6
# - c: the number of runs, since many runs turn tokens per step into speed
# - d: what a step costs, on a named machine

# %% solution="quiz_05_b"
### BEGIN SOLUTION
quiz_05_b = "d"
### END SOLUTION

# %% test="quiz_05_b" points=1
lesson.answered("quiz_05_b", quiz_05_b)

# %% [markdown]
# ### In your own words
#
# T5-large on EnDe at temperature 0: promised 2.5, measured 1.7. T5-small on CNNDM at temperature 0:
# promised 2.4, measured 3.1. For each, name an assumption whose failure would move the clock that
# way, and what to measure. Write three to five sentences. This answer is marked by hand.

# %% [markdown] written="why_they_part" points=2
# For T5-large the clock is below the formula, so a block costs more than `c K + 1`: the draft steps
# take longer inside the loop than alone, or a verification takes longer than one pass. I would time
# draft steps, the verification and the rest of the loop separately, inside the running decoder. For
# T5-small the clock is above the formula, which no cost can do, so the blocks write more tokens. At
# an alpha of 0.65 no order of the acceptances gives more than 2.86 tokens per block, so this alpha is
# not that of the timed text. I would measure alpha on the very texts that are timed, and the
# baseline's time per token beside a bare pass.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence? Decide first, then open the answer.
#
# **You might read: "SD provides 1.18–1.30× speedup on MoE despite <4% acceptance rates."**
#
# <details><summary>Answer</summary>
#
# A study by AtomGradient (March 2026) says so, and explains it by verification: a pass over 16 draft
# tokens is cheaper than 16 passes. But a rejected token writes nothing. Its best row has `K = 16`, an
# acceptance of 0.4%, defined as accepted / drafted, and is 2.03 times as fast. *Look:* a
# block writes at most `1 + 16 x 0.004 = 1.064` tokens then, and it takes at least a pass. As an `alpha`,
# 0.4% explains no more: `audit(0.004, 16, 2.03, 0.0005, 0.005)` says `"nothing"`. So the acceptance or
# one of the times must be wrong.
#
# </details>
#
# **You might read: "Every accepted token is guaranteed to match what the main model would have
# generated on its own."**
#
# <details><summary>Answer</summary>
#
# This is from the README of vLLM's library `speculators`, version 0.9.0. It holds for greedy
# decoding. With sampling, the main model would have drawn with other random numbers, so there is no
# single token to match. *Look:* the documentation of the same library says it correctly: "guaranteed to
# come from the same distribution as using the main model on its own".
#
# </details>
#
# ## The race again
#
# The race takes turns too, on up to sixteen texts in about 20 s. Close other programs first. The
# picture below it shows your `paired_speedup` of all pairs.

# %% tags=["demo"]
from specdec_lib.lessons.drawing.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

# %% tags=["demo"]
races = race("05", {"your decoder": drafting("large", k=2)}, texts=16, temperature=1, cost="40m")
show_race(races, yours="your decoder")
charts.pairs(paired_speedup, *(lane.by_text for lane in races[-1].lanes))

# %% [markdown]
# The line "Your decoder so far" divides total times, and your mean counts every text alike. Whichever
# you quote, quote the quartiles and the baseline with it: the built-in target, padded to the cost of
# 40 million parameters, on your machine, today.
#
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, [arXiv 2211.17192](https://arxiv.org/abs/2211.17192), Tables 2 to 4: rates and times
#   of T5 version 1.1 on one TPU v4 at batch 1. The drafts have 77, 250 and 800 million parameters.
#   Appendix A.3 has the two reasons. There is no PaLM, no code and no split by kind of token in it.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, [arXiv
#   2302.01318](https://arxiv.org/abs/2302.01318), Table 1: Chinchilla on 16 TPU v4. It prints no
#   alpha: ours is implied, with `v = 1`. For its 1.92 the times give 14.1/7.52 = 1.88.
# - Y. Li, F. Wei, C. Zhang, H. Zhang, *EAGLE-3*, [arXiv 2503.01840](https://arxiv.org/abs/2503.01840),
#   Tables 1 and 4: 4.40 times with 6.13 tokens, and SGLang's 158.34 and 373.25 tokens a second on one
#   H100, also in SGLang's `docs/advanced_features/speculative_decoding.md` at commit 067ad4d. The run
#   with 5.39 tokens is in SGLang's pull request 4247. Issue 5502 asks why the two differ.
# - The four rows: vLLM's issue 26191 (12,208 of 33,712 drafted tokens in 4,816 blocks), llama.cpp's
#   pull request 24536, the model card `Inferact/Muse-Spark-Open-DSpark`, SGLang's issue 11948.
# - What is divided: vLLM, `vllm/v1/spec_decode/metrics.py` at commit 016a858; SGLang,
#   `python/sglang/srt/managers/scheduler_metrics_mixin.py` at commit 01bb3c8.
# - Spec-Bench, [`hemingkx/Spec-Bench`](https://github.com/hemingkx/Spec-Bench), `Leaderboard.md` at
#   commit 09244ff: two machines and six tasks, Vicuna 7B, greedy, batch 1, PyTorch 2.0.1 on both.
# - Elsewhere: `AtomGradient/speculative-moe-research`, `docs/paper.tex` at commit 1f2df2b;
#   `speculators` 0.9.0 on PyPI, and docs.vllm.ai/projects/speculators.
#
# **Next.** Chapter 06 simulates the race block by block, so that you can see what the mean hides.
