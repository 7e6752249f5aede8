# %% [markdown]
# # 05 Results: read a table of speed-ups, and find the row that cannot be true
#
# 90 minutes · difficulty 3 of 5 · you need: chapter 02 (how a block is judged), chapter 04 (`c` and `v`), and what a
# mean is
#
# - **Intuition**: one pair of models on three machines.
# - **Mathematics**: the most likely `alpha`, and a limit that no order of the tokens beats.
# - **Code**: five short functions.
# - **Demo**: published rows, logs and complaints, from 2022 to 2026, and rows of your own.
#
# **You come with** a formula: the tokens of a block, divided by its time. **You build** an audit of printed rows,
# and a diagnosis for "no speed-up". **You leave with** the five questions behind "2.5 times as fast": which tokens,
# which text, which machine, against what, and timed how?

# %%
import numpy as np

from specdec_lib.lessons.ch05 import lesson
from specdec_lib.theory import expected_tokens

# %% tags=["demo"]
print("Loading the drawing code, once. This takes some seconds.")
from specdec_lib.lessons.ch05 import figures
from specdec_lib.lessons.drawing.series import series_figure, show_table
from specdec_lib.lessons.widgets import paper_rows_simulator
from specdec_lib.measure import papers

# %% [markdown]
# ## The smallest example: the same tokens, three speeds
#
# Take one pair of models and `K = 1`. Every second draft token is accepted, so a block writes 1.5 tokens on
# average. A draft step takes a different time on each of three machines:
#
# | draft step, in target passes | one block | times as fast |
# | --- | --- | --- |
# | 0.1 | 1 + 0.1 = 1.1 | 1.5/1.1 = 1.36 |
# | 0.5 | 1 + 0.5 = 1.5 | 1.5/1.5 = 1.00 |
# | 1 | 1 + 1 = 2 | 1.5/2 = 0.75 |
#
# All three write the same tokens. So a speed-up has two parts. **How many tokens** a block writes depends on the
# models, the text, `K` and the sampling. **How long** a block takes depends on the machine.
#
# ## What is an acceptance rate?
#
# Here are six blocks of `K = 4`. Some draft tokens were never judged: a token before them was rejected.

# %% tags=["demo"]
figures.six_blocks(lesson.BLOCKS, lesson.EXAMPLE_K)

# %% [markdown]
# ### Exercise: alpha_from_blocks
#
# **Task.** Return the most likely `alpha`, if every judged token is accepted with this probability.
#
# **Arguments.** `accepted` is a list with the number of accepted tokens of each block. All blocks have the length `k`,
# at least 1. The function returns a float. It raises ValueError if the list is empty or a count lies outside 0 to `k`.
#
# **Example.** `[4, 0, 2, 4, 1, 3]` with `k = 4` gives 0.778. In a block that was accepted whole, 4 tokens were
# judged. How many were judged in a block with 2 accepted?


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
# 3. Raise ValueError for what cannot be. Else divide the sum of the counts by the sum of min(n + 1, k).

# %% tags=["demo"]
figures.estimated_alphas(alpha_from_blocks, k=5)

# %% test="alpha_from_blocks" points=3
lesson.check_alpha_from_blocks(alpha_from_blocks)

# %% [markdown]
# The six blocks hold 14 accepted and 4 rejected tokens. Their probability $\alpha^{14} (1 - \alpha)^{4}$ is largest
# where $14/\alpha = 4/(1 - \alpha)$, so at $\alpha = 14/18$.
#
# ## A promise and a clock
#
# T5-XXL (11 billion parameters) translates English to German (EnDe) and summarises news (CNNDM). Three smaller T5
# models draft for it. Leviathan et al. print `alpha`, `c` and two speed-ups: the one that their formula promises,
# `E/(cK + 1)` with `E` tokens per block, and the measured one.
#
# ### Commit first
#
# For translation at temperature 0, T5-large has the highest acceptance of the three drafts (`alpha = 0.82`) and is
# the largest (`c = 0.11`). With `K = 7` the formula promises 2.5. What was measured? Write a number from 0 to 8.

# %% solution="prediction_05"
### BEGIN SOLUTION
prediction_05 = 2.5
### END SOLUTION

# %% test="prediction_05" points=1
lesson.committed("prediction_05", prediction_05, 0, 8)

# %% tags=["demo"]
lesson.reveal("prediction_05", prediction_05)

# %% tags=["demo"]
settings = papers.paper_table("leviathan_2_4")
show_table(settings)
figures.expected_and_measured(settings)

# %% [markdown]
# A grey bar spans every speed-up that the paper's rounded `alpha` and `c` allow. All twelve promises lie inside
# their bars. Only one measured speed-up does!
#
# <details><summary>A question: is the speed free?</summary>
#
# It costs arithmetic. With `alpha = 0.6` and `K = 2` the target computes 3 positions for a block, and the block
# writes 1.96 tokens: 3/1.96 = 1.53 times the arithmetic of plain decoding, the draft's not counted. Table 1 of the
# paper has 1.11 to 1.63. It is free only where arithmetic would be idle.
#
# </details>
#
# ### Simulator: a row of the paper
#
# At which `c` does the curve of T5-large come down to the measured 1.7? Decide first, then move the slider. Then
# choose T5-small, CNNDM, temperature 0. Can any `c` explain its 3.1?

# %% tags=["demo"]
paper_rows_simulator(settings, row=2)

# %% [markdown]
# For T5-large a `c` of 0.23 would do, twice the printed one: if `alpha` holds, a block must have taken over
# `cK + 1`. For T5-small even a free draft gives only 2.64. No cost can explain a clock that is too fast.
#
# ## A limit that no order can beat
#
# Can blocks write more than `E` tokens at the same `alpha`? The formula tosses a coin for every token. Real
# acceptances have an order, and it matters.
#
# ### Commit first
#
# A greedy decoder with `K = 5` writes 24 tokens. At 18 of the 24 positions (a share of 0.75) the draft is right, or
# would have been, had it drafted there. You may choose which 6 are wrong. What is the largest possible average
# number of tokens per block? Write a number from 1 to 6. The formula says 3.29.

# %% solution="prediction_05_b"
### BEGIN SOLUTION
prediction_05_b = 3.29
### END SOLUTION

# %% test="prediction_05_b" points=1
lesson.committed("prediction_05_b", prediction_05_b, 1, 6)

# %% tags=["demo"]
lesson.reveal("prediction_05_b", prediction_05_b)

# %% tags=["demo"]
figures.three_orders(k=5)

# %% [markdown]
# **Every wrong position ends a block**, also one in the bonus place. A share of `1 - alpha` of the positions is
# wrong, so a text has at least `1 - alpha` blocks per token. And no block is longer than `K + 1`. So in any order
#
# $$ \text{tokens per block} \le \min\left(K + 1,\; \frac{1}{1 - \alpha}\right). $$
#
# At temperature 1 a position ends its block with probability `1 - sum_x min(p, q)`, so the limit holds on average.
#
# Now audit the row that no cost explains. A block takes at least `0.02 x 5 + 1 = 1.1` passes. To be 3.1 times as fast,
# the row needs 3.41 tokens per block. With `alpha = 0.65` the formula gives 2.64, and no order gives more than 2.86.
#
# ### Exercise: audit
#
# **Task.** Return what can explain a row that needs at least `tokens` tokens per block:
#
# - `"formula"`: the formula gives that many, or more.
# - `"order"`: the formula gives fewer, but the best order of the acceptances gives that many.
# - `"nothing"`: no order does.
#
# **Arguments.** `alpha` and `tokens` may have been rounded: the true values lie within `alpha_error` and `tokens_error`
# of them. Judge in the row's favour, with the values that are easiest to explain. `alpha + alpha_error` is at most 1,
# and `k` is at least 1. The function returns one of the three strings. `expected_tokens(alpha, k)` is given.
#
# **Example.** With `alpha = 0.75`, `k = 5` and no rounding, 3.1 tokens are `"formula"`, 3.8 are `"order"` and 4.2
# are `"nothing"`.
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
# 1. Which alpha within the rounding allows the most tokens? Which number of tokens is easiest to reach?
# 2. Take alpha + alpha_error and tokens - tokens_error. Compare with the formula first, then with the limit.
# 3. Any order writes 1 / max(1 - alpha, 1 / (k + 1)) tokens per block at most; this never divides by 0.

# %% tags=["demo"]
figures.audit_rows(audit, settings)

# %% test="audit" points=6
lesson.check_audit(audit)

# %% [markdown]
# Of the twelve rows, the formula explains four, an order could explain another four, and nothing explains the other
# four. (T5-large on EnDe counts as explained: `audit` only asks whether the tokens suffice.) Nobody need have lied:
# `alpha` may come from other texts than the clock, or the plain decoder was slower than a bare pass. The paper
# itself says that acceptances aren't independent.
#
# ## Four rows of today
#
# Three logs of programs that serve models, and a model card, print an acceptance beside the tokens per block
# (EAGLE-3 and DSpark are drafters of chapter 07):
#
# | row | `K` | "acceptance" | tokens per block |
# | --- | --- | --- | --- |
# | vLLM: EAGLE-3, Llama 3.1 8B | 7 | 0.362 | 3.53 |
# | llama.cpp: EAGLE-3 | 3 | 0.645 | 2.92 |
# | model card: DSpark, Muse Spark | 7 | 0.285 | 2.99 |
# | SGLang, October 2025: EAGLE-3, Qwen3 8B | 3 | 0.54 | 2.17 |
#
# ### Commit first
#
# Take each "acceptance" for `alpha`. How many rows can the formula or an order explain? Write a number from 0 to 4.

# %% solution="prediction_05_c"
### BEGIN SOLUTION
prediction_05_c = 4
### END SOLUTION

# %% test="prediction_05_c" points=1
lesson.committed("prediction_05_c", prediction_05_c, 0, 4)

# %% tags=["demo"]
lesson.reveal("prediction_05_c", prediction_05_c)

# %% tags=["demo"]
figures.judged_logs(audit, papers.paper_table("logs"))

# %% [markdown]
# Three rows are convicted, yet nobody miscounted: the column isn't `alpha`. By the ratios beside it, three
# rows print accepted / drafted tokens; the last one counts the bonus, too, and slipped through only because that
# makes it large. **An audit can convict a row, but it can't acquit one.**
#
# ### Five numbers, all called acceptance
#
# | what is divided | in the six blocks | who prints it |
# | --- | --- | --- |
# | accepted / judged tokens | 14/18 = 0.78 | this course, as `alpha` |
# | accepted / drafted tokens | 14/24 = 0.58 | vLLM and llama.cpp; SGLang since April 2026 |
# | written tokens / verified positions | 20/30 = 0.67 | SGLang's "accept rate" before |
# | written tokens / blocks | 20/6 = 3.33 | benchmarks, as "acceptance length" |
# | the mean of `sum_x min(p, q)` over a text that the target wrote | needs both models | Leviathan et al., as `alpha` |
#
# The second number falls as `K` grows, because more tokens come after a rejection.
#
# ## What a log prints
#
# ```
# vLLM       acceptance at token 0: 0.74   1: 0.54   2: 0.41   3: 0.31   4: 0.23   5: 0.17   6: 0.13
# llama.cpp  #gen drafts = 87, acceptance rate per position = (0.805, 0.632, 0.483)
# SGLang     "spec_verify_ct": 43, "spec_correct_drafts_histogram": [11, 14, 11, 4, 0, 3]
# ```
#
# vLLM and llama.cpp divide by *all* blocks. So 0.54 isn't how often the second token passes: a quarter of the
# blocks never got to it. SGLang counts blocks: 11 of 43 accepted no token and 14 just one, so 32 accepted at
# position 1, and 18 at position 2.
#
# ### Exercise: read_log
#
# **Task.** Return the tokens per block, and for each position the acceptance rate among the blocks that got there.
#
# **Arguments.** `accepted_at` is a list of `K` numbers that never rise: how many of the `blocks` blocks accepted
# their draft token at position 1, 2, ..., `K`. The function returns a float and an array `(K,)`. Where no block got
# to a position, its rate is 0.
#
# **Example.** llama.cpp's line is `[70, 55, 42]` with `blocks = 87`. It gives 2.92 tokens and the rates 0.805,
# 0.786 and 0.764.
#
# **The tests also check.** Shares are a log of one block: `[0.74, 0.54]` with `blocks = 1`.


# %% solution="read_log"
def read_log(accepted_at: list[float], blocks: float) -> tuple[float, np.ndarray]:
    """Tokens per block, and the acceptance rate at each position of the blocks that got there, (K,)."""
    ### BEGIN SOLUTION
    rates, reached = [], blocks
    for accepted in accepted_at:
        rates.append(accepted / reached if reached else 0.0)
        reached = accepted
    return 1 + sum(accepted_at) / blocks, np.array(rates)
    ### END SOLUTION


# %% [markdown] hints="read_log"
# 1. What does a block write in which nothing was accepted? Which blocks get to position 2?
# 2. A block writes one token more than it accepts. It gets to position 2 if it accepted at position 1.
# 3. Return `1 + sum(accepted_at) / blocks`, and each number over the one before it; the first is over `blocks`.

# %% tags=["demo"]
figures.read_logs(read_log, papers.paper_table("log_lines"))

# %% test="read_log" points=4
lesson.check_read_log(read_log)

# %% [markdown]
# The left lines must fall. The right ones needn't: vLLM's drafter is right three times in four at any position. In
# SPEED-Bench, a benchmark that prints the right side itself, it even rises. (SGLang's last rate of 1 rests on
# three blocks.) Chapter 07 needs this side: if a log has only the left one, divide each number by the one before it.
#
# ## Backwards: the acceptance rate that a clock implies
#
# Chen et al. print times and no `alpha`. A token takes 14.1 ms with their target of 70 billion parameters, 1.8 ms
# with the draft, and 7.52 ms with speculative decoding at `K = 4`. A block takes `4 x 1.8 + 14.1 = 21.3` ms, so it
# writes `21.3/7.52 = 2.83` tokens. The sum `1 + alpha + ... + alpha^4` is 2.77 for `alpha = 0.7` and 3.05 for 0.75.
#
# ### Exercise: implied_alpha
#
# **Task.** Return the `alpha` for which `seconds_per_token x E = k draft_seconds + target_seconds`, where `E` is
# `expected_tokens(alpha, k)`.
#
# **Arguments.** Three times in the same unit, and `k`. The function returns a float. Halve the interval from 0 to 1
# sixty times; a grid is too coarse. The function raises ValueError if a block would have to write fewer than 1 or
# more than `k + 1` tokens.
#
# **Example.** 7.52, 14.1, 1.8 and `k = 4` give 0.711.


# %% solution="implied_alpha"
def implied_alpha(seconds_per_token: float, target_seconds: float, draft_seconds: float, k: int) -> float:
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
# 1. How many tokens must a block write (`wanted`) to make the time per token what it is?
# 2. That number grows with alpha, from 1 to k + 1: halve the interval from 0 to 1.
# 3. Unless 1 <= wanted <= k + 1, raise ValueError. Else keep low and high, and 60 times move one to the middle.

# %% tags=["demo"]
figures.implied_rates(implied_alpha, settings, papers.paper_table("chen_1"))

# %% test="implied_alpha" points=3
lesson.check_implied_alpha(implied_alpha)

# %% [markdown]
# The figure assumes `v = 1`. A slower verification would imply higher rates, so these are lower bounds.
#
# ## One drafter, two baselines
#
# The paper on EAGLE-3 prints a speed-up of 4.40 for Llama 3.1 8B and the questions of MT-bench. SGLang's own page,
# with the same target, drafter and questions, reports 158.34 tokens a second without EAGLE-3 and 373.25 with it, so
# 2.36 times as fast.
#
# The vLLM line above is this drafter as a chain. A chain that writes 3.53 tokens per block can't be 4.40 times as
# fast, since a block takes at least a pass. But both drafted a *tree*, with several candidates for each place
# (chapter 07): a block writes 6.13 tokens in the paper, and wrote 5.39 in a run of SGLang. Where does the rest go?

# %% tags=["demo"]
figures.from_tokens_to_clock(papers.paper_table("eagle_3")[1])

# %% [markdown]
# A draft step reads a twentieth of a pass's weights, so SGLang's eight take 0.4 passes at least. The rest is the
# longer pass and what happens between passes. (In vLLM verification takes 42 to 95% of the time: *Performance or
# Illusion?*, 2026.)
#
# A block takes about 2.3 plain passes in SGLang, and 6.13/4.40 = 1.39 plain passes in the paper. Eight steps
# would leave nothing for the rest there, unless the plain pass carries overhead, too. A fast engine makes it cheap,
# and then all else weighs more. **A speed-up says as much about the baseline as about the drafter.** Spec-Bench ran
# the same code on two cards:
#
# | method | tokens per block | times as fast, RTX 3090 | A100 |
# | --- | --- | --- | --- |
# | draft model | 2.29 and 2.28 | 1.83 | 1.49 |
# | Medusa (chapter 07) | 2.32 and 2.32 | 1.44 | 1.78 |
#
# The two methods swap places! `c` and `v` have changed, `alpha` hasn't.
#
# ## No speed-up: what is to blame?
#
# "Most tokens are accepted, and it's slower than before. Why?" Make each part perfect in turn: what helps most?
#
# ### Exercise: diagnose
#
# **Task.** Return what holds a decoder back. Its speed-up is `tokens_per_block * target_ms / (k * draft_ms +
# verify_ms)`. From 1.5 on it is `"fine"`. Otherwise return the part whose ideal gives the largest speed-up, the
# first of equals:
#
# - `"acceptance"`: a block writes `k + 1` tokens.
# - `"draft"`: a draft step takes no time.
# - `"verification"`: the pass over a block takes `target_ms`.
#
# **Arguments.** The times are floats: `target_ms` of a pass over one token, `draft_ms` of one draft step,
# `verify_ms` of the pass over a block. `k` is at least 1. The function returns one of the four strings.
#
# **Example.** 3 tokens, `k = 4`, 30 ms, 2 ms and 40 ms give `"fine"`: 90/48 = 1.88. With draft steps of 10 ms the
# speed-up is 1.13, and the ideals give 1.88, 2.25 and 1.29: `"draft"`.


# %% solution="diagnose"
def diagnose(tokens_per_block: float, k: int, target_ms: float, draft_ms: float, verify_ms: float) -> str:
    """What holds a decoder back: "acceptance", "draft", "verification", or "fine"."""
    ### BEGIN SOLUTION
    def speedup(tokens, draft, verify):
        return tokens * target_ms / (k * draft + verify)

    if speedup(tokens_per_block, draft_ms, verify_ms) >= 1.5:
        return "fine"
    ideals = {
        "acceptance": speedup(k + 1, draft_ms, verify_ms),
        "draft": speedup(tokens_per_block, 0, verify_ms),
        "verification": speedup(tokens_per_block, draft_ms, target_ms),
    }
    return max(ideals, key=ideals.get)
    ### END SOLUTION


# %% [markdown] hints="diagnose"
# 1. You need the speed-up four times. What differs each time?
# 2. Write a helper `speedup(tokens, draft, verify)`, and call it with one part made ideal.
# 3. From 1.5 on return `"fine"`, else the key of the largest ideal: `max(ideals, key=ideals.get)` on a dict.

# %% tags=["demo"]
figures.diagnosed(diagnose, papers.paper_table("complaints"))

# %% test="diagnose" points=4
lesson.check_diagnose(diagnose)

# %% [markdown]
# The last column says what we assumed.
#
# - One Mac: with a 4-bit target the plain pass takes 0.43 of the time, the pass over six tokens 1.2 times as long.
# - SmolLM2's draft has more layers than its target: even with all tokens accepted it loses (chapter 08).
# - The report on Qwen3 prints no tokens per block. We assume 2.5 and 1.3; the draft's time then follows from
#   the measured speed-up. **Ask for the log first.**
# - DeepSeek ran on random tokens. On those, SPEED-Bench measured a throughput 23% too high.
#
# Other symptoms: `docs/your_log_says.md`.
#
# ## Your own row
#
# The built-in pair now continues four kinds of prompts. Your functions judge each row, rounded as in papers.

# %% tags=["demo"]
print("Loading, then four kinds of prompts: about 20 s.")
from specdec_lib.device import use_half_the_cores
from specdec_lib.measure.prompt_kinds import PROMPT_KINDS
from specdec_lib.measure.library_decoders import SAMPLED, accepted_counts
from specdec_lib.models.pairs import load_pair

use_half_the_cores()  # as in chapter 00
pair = load_pair(draft="large")
prompts = {kind: make(16) for kind, make in PROMPT_KINDS.items()}
blocks = {kind: accepted_counts(pair, each, 5, 64, SAMPLED) for kind, each in prompts.items()}
figures.own_rows(alpha_from_blocks, audit, blocks, k=5)

# %% [markdown]
# Were the third column called "acceptance", a stranger's audit would say `"nothing"` of each row. Other texts:

# %% tags=["demo"]
tasks = papers.paper_table("spec_bench_tasks")
speeds = {row.method: row[1:] for row in tasks if row.method in ("EAGLE", "Prompt lookup", "Draft model")}
series_figure("Spec-Bench, A100: times as fast by task", tasks[0]._fields[1:], speeds, kind="bars", text=".1f")

# %% [markdown]
# Prompt lookup, which copies from the text so far, makes summaries 2.43 times as fast and translation 1.04. A
# "typical speed-up" is the speed-up of somebody else's text.
#
# ## Quiz
#
# **Question 1.** In Spec-Bench one draft model makes conversation 1.66 times as fast and translation 1.13 times,
# all else equal. Is the draft worse at German, or does a block take longer? What tells you?
#
# - a: the acceptance rate in the translations
# - b: the tokens per block in both tasks: do they stand 1.47 to 1?
# - c: the time of a draft step, since German words are longer
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
# At temperature 0 T5-large on EnDe was promised 2.5 and measured 1.7, T5-small on CNNDM 2.4 and 3.1. For each, name
# an assumption whose failure would move the clock that way, and what to measure. Write three to five sentences.
# This answer is marked by hand.

# %% [markdown] written="why_they_part" points=2
# For T5-large the clock is below the formula, so a block costs more than `c K + 1`: draft steps take longer inside
# the loop than alone, or a verification takes longer than a pass. I would time draft steps, verification and the
# rest separately, inside the running decoder. For T5-small the clock is above the formula, which no cost can do, so
# the blocks write more tokens. At an alpha of 0.65 no order gives more than 2.86 tokens per block, so this alpha is
# not that of the timed text. I would measure alpha on the very texts that are timed, and the baseline too.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence?
#
# **You might read: "SD provides 1.18–1.30× speedup on MoE despite <4% acceptance rates."**
#
# <details><summary>Answer</summary>
#
# A study by AtomGradient (March 2026) explains it by verification: a pass over 16 draft tokens is cheaper than 16
# passes. But a rejected token writes nothing. *For example:* its best row has `K = 16`, accepted / drafted of 0.4%,
# and is 2.03 times as fast. A block writes at most `1 + 16 x 0.004 = 1.064` tokens then, and takes at least a pass.
# As an `alpha`, 0.4% explains no more: `audit(0.004, 16, 2.03, 0.0005, 0.005)` says `"nothing"`. So the acceptance
# or one of the times must be wrong.
#
# </details>
#
# **You might read: "Every accepted token is guaranteed to match what the main model would have generated on its own."**
#
# <details><summary>Answer</summary>
#
# So says the README of vLLM's library `speculators` 0.9.0. It holds for greedy decoding. With sampling, the main model
# would have drawn with other random numbers, so there is no single token to match. *For example:* the library's own
# documentation says it correctly: "guaranteed to come from the same distribution as using the main model on its own".
#
# </details>
#
# **You might read: "In healthcare applications, speculative decoding could enable faster clinical decision support
# while maintaining accuracy."**
#
# <details><summary>Answer</summary>
#
# It maintains the target's accuracy, whatever that is: lossless compares with the target, and not with the truth.
# *For example:* let A be the right token of chapter 02's `p = [0.45, 0.30, 0.15, 0.10]`. The target alone is wrong in
# 55 of 100 draws, and every lossless decoder with it is, too. Whether a model may advise a doctor, a lawyer or a bank
# has to be shown for the target. (blog.rockettools.io, as stored in November 2026.)
#
# </details>
#
# ## The race again, by turns
#
# A processor gets warm: after twenty runs a run takes 1.5 times as long. A method is 1.25 times as fast. Only the
# order of the runs differs between these two pictures.

# %% tags=["demo"]
figures.two_orders()

# %% [markdown]
# So let decoders **take turns**, and divide by pairs. (Turns give 1.22 and not 1.25, since the speculative run
# is always the later of its pair. The titles show geometric means, the race medians.) The race takes turns, with
# the library at `K = 2` in its second lane. Close other programs first.

# %% tags=["demo"]
print("Loading, then both lanes in turn: 10 s to half a minute.")
from specdec_lib.lessons.drawing.race import show_race
from specdec_lib.measure.race.lanes import draft_model_lane
from specdec_lib.measure.race.race import race

lanes = {"the library, K = 2": draft_model_lane("large", k=2)}
show_race(race("05", lanes, temperature=1))

# %% [markdown]
# Whichever ratio you quote, quote its spread and its baseline.
#
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023, [arXiv
#   2211.17192](https://arxiv.org/abs/2211.17192), Tables 2 to 4: rates and times of T5 version 1.1 on one TPU v4 at
#   batch 1. The drafts have 77, 250 and 800 million parameters. Appendix A.3 has the two reasons. There is no PaLM, no
#   code and no split by kind of token in it.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, [arXiv
#   2302.01318](https://arxiv.org/abs/2302.01318), Table 1: Chinchilla on 16 TPU v4. Its 1.92 is 14.1/7.52 = 1.88 by its
#   times.
# - Y. Li et al., *EAGLE-3*, [arXiv 2503.01840](https://arxiv.org/abs/2503.01840), Tables 1 and 4, and SGLang's
#   `docs/advanced_features/speculative_decoding.md` at commit 067ad4d: one H100. The run with 5.39 tokens is in
#   SGLang's pull request 4247; its issue 5502 asks why the two differ.
# - Rows and log lines: vLLM's issue 26191 (12,208 of 33,712 drafted tokens in 4,816 blocks), llama.cpp's pull request
#   24536, the model card `Inferact/Muse-Spark-Open-DSpark`, SGLang's issue 11948 and, for its line, a comment of August
#   2026 in pull request 33518 (DeepSeek-V4-Flash with DSpark, `K = 5`, one request).
# - What is divided: vLLM, `vllm/v1/spec_decode/metrics.py` at commit 016a858; SGLang, pull request
#   [23530](https://github.com/sgl-project/sglang/pull/23530) of 23 April 2026, and before it
#   `python/sglang/srt/managers/scheduler_metrics_mixin.py` at commit 01bb3c8.
# - T. Abramovich et al., *SPEED-Bench*, [arXiv 2604.09557](https://arxiv.org/abs/2604.09557), and NVIDIA's
#   [post](https://huggingface.co/blog/nvidia/speed-bench) of 19 March 2026: Llama 3.3 70B at `K = 3`, and the 23%.
# - X. Liu et al., *Speculative Decoding: Performance or Illusion?*, [arXiv
#   2601.11580](https://arxiv.org/abs/2601.11580), and [its page](https://specdecode-bench.github.io): vLLM, H100s.
# - Complaints: llama.cpp's issue 10594, vLLM's 15025, 21278 and 33497; `specdec_lib/measure/papers.json` says which
#   number stands in which. Looked up on 28 November 2026.
# - [Spec-Bench](https://github.com/hemingkx/Spec-Bench), `Leaderboard.md` at 09244ff: Vicuna 7B, greedy, batch 1,
#   PyTorch 2.0.1.
# - Elsewhere: `AtomGradient/speculative-moe-research`, `docs/paper.tex` at 1f2df2b; docs.vllm.ai/projects/speculators.
#
# **Next.** Chapter 06 serves many requests at once, and shows what the mean hides.
