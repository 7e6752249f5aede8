# %% [markdown]
# # 05 Results: read a table of speed-ups, then measure your own
#
# 85 minutes · difficulty 3 of 5 · you need: chapter 02 (how a block is judged), chapter 04 (tokens
# a block, `c` and `v`), mean and standard deviation
#
# - **Intuition**: one pair of models on three machines, in the first table.
# - **Mathematics**: the most likely `alpha`, the `alpha` behind a measured time, the right mean of
#   ratios, and how many blocks prove a difference.
# - **Code**: five short functions. Three read published tables. Two evaluate your own runs.
# - **Demo**: twelve published rows, read one by one, then a table of this course's own models.
#
# **You come with** a formula: the tokens of a block over its time. **You build** five functions
# that hold the formula against measured times. **You leave with** five questions for every claim
# such as "2.5 times as fast": which tokens, which text, which machine, against what, and timed how?
#
# The cells that measure take about two minutes together. Close other programs before you run them: a
# busy machine gives other times, and wider quartiles.

# %%
import numpy as np

from specdec_lib.lessons.ch05 import checks as lesson
from specdec_lib.theory import expected_tokens

# %% tags=["demo"]
from specdec_lib.lessons.ch05 import figures, measured as charts
from specdec_lib.lessons.common.series import table
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
# All three machines write the same tokens. So a speed-up has two parts:
#
# - **How many tokens** a block brings depends on the models, the text, `K` and the sampling
#   settings.
# - **What a block costs** depends on the machine.
#
# ## Six blocks
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
# The next picture shows for each `alpha` how probable these six blocks are. Where is the top? Which
# two counts of the first picture give this `alpha`?

# %% tags=["demo"]
figures.how_likely(lesson.BLOCKS, lesson.K)

# %% [markdown]
# ### Exercise: alpha_from_blocks
#
# **Task.** The most likely `alpha`. **Arguments.** `accepted` is a list with the number of accepted
# tokens of each block. All blocks have the length `k`, at least 1. Return a float. Raise ValueError
# if a number is not from 0 to `k`, and if there is no block.
#
# **Example.** `[4, 0, 2, 4, 1, 3]` with `k = 4` give 0.778. A block that was accepted
# whole judged 4 tokens. How many did a block with 2 accepted tokens judge?
#
# <details><summary>How a library keeps this record</summary>
#
# `transformers.generation.candidate_generator.AssistedCandidateGenerator` of version 5.23.0 keeps a
# record, if scikit-learn is installed and a confidence threshold is set. A 1 stands for every
# accepted token and a 0 for the first rejected one. The draft tokens after it get no entry:
#
# ```python
# self.matches.extend([1] * num_matches)
# if len(self.probs) > len(self.matches):
#     self.matches.append(0)
# ```
#
# </details>


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
#    the counts over the sum of min(n + 1, k).

# %% tags=["demo"]
figures.alpha_found_again(alpha_from_blocks, k=5)

# %% test="alpha_from_blocks" points=4
lesson.check_alpha_from_blocks(alpha_from_blocks)

# %% tags=["demo"]
lesson.reveal("prediction_05", prediction_05)

# %% [markdown]
# The six blocks hold 14 accepted and 4 rejected tokens. Their probability is
#
# $$ \alpha^{14} (1 - \alpha)^{4}, \qquad\text{largest if}\qquad
# \frac{14}{\alpha} = \frac{4}{1 - \alpha}, \qquad\text{so}\qquad \alpha = \frac{14}{14 + 4}. $$
#
# ### Four numbers called the acceptance rate
#
# | what is divided | here | who reports it |
# | --- | --- | --- |
# | accepted by drafted tokens | 14/24 = 0.58 | vLLM's log, as "draft acceptance rate" |
# | all tokens by blocks, with the correction or bonus | 20/6 = 3.33 | benchmarks, as "acceptance length" |
# | accepted by judged tokens | 14/18 = 0.78 | this course |
# | the mean of `sum_x min(p, q)` over a text that the target wrote | needs both models | Leviathan et al., as alpha |
#
# The first number falls if `K` grows, because more tokens stand after a rejection. The last two
# agree only if acceptance does not depend on the earlier positions.
#
# ## The price in arithmetic: Table 1
#
# Count the arithmetic of one block by hand: `alpha = 0.6`, `K = 2`, and a draft that costs nothing.
# For how many positions does the target compute? How many tokens does the block bring, on average?
# The ratio is 1.53. If a draft token costs a quarter of a target token, the ratio is 1.79. Why?
#
# ### Exercise: operations_factor
#
# **Task.** The operations of target and draft for one token, over those of plain decoding. The
# target computes all positions of its pass, also those whose tokens are dropped. **Arguments.** Three
# numbers in, a float out. `alpha` is from 0 to 1 and `k` at least 0. `c_hat`, at least 0, is the
# draft's operations for a token over the target's. `expected_tokens(alpha, k)` is given.
#
# **Example.** `alpha = 0.8`, `c_hat = 0`, `k = 5`: 1.63.


# %% solution="operations_factor"
def operations_factor(alpha: float, c_hat: float, k: int) -> float:
    """Operations a token over those of plain decoding: Leviathan et al., Theorem 3.11."""
    ### BEGIN SOLUTION
    return (c_hat * k + k + 1) / expected_tokens(alpha, k)
    ### END SOLUTION


# %% [markdown] hints="operations_factor"
# 1. Count the operations of one block, in units of one target token; divide by its tokens.
# 2. The target works on k + 1 positions, the draft on k of them at c_hat each.
# 3. Return `(c_hat * k + k + 1) / expected_tokens(alpha, k)`.

# %% tags=["demo"]
figures.operations_against_speed(operations_factor, papers.table("leviathan_1"))

# %% test="operations_factor" points=3
lesson.check_operations_factor(operations_factor)

# %% [markdown]
# Let `E` be the mean number of tokens of a block. Then this is Theorem 3.11 of Leviathan et al.:
#
# $$ \frac{\hat c K + K + 1}{E}, \qquad E = 1 + \alpha + \cdots + \alpha^K. $$
#
# Speculative decoding saves time and needs more arithmetic: 1.11 to 1.63 times as much in Table 1.
#
# ## What the clock said: Tables 2 and 4
#
# T5-XXL has 11 billion parameters. It translates English to German (EnDe) and summarises news
# (CNNDM). Three smaller T5 models are its drafts. Table 4 prints the measured `alpha` and `c`, and
# the speed-up `E/(cK + 1)` that they promise. Table 2 prints the speed-up that was measured.
#
# ### Commit first
#
# For translation at temperature 0, T5-large has the highest acceptance of the three drafts:
# `alpha = 0.82`. It is also the largest draft, `c = 0.11`. With `K = 7` the formula says 2.5. What
# was measured? Write a number from 0 to 8.

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
# All twelve printed expectations lie inside their bars, but only one measured value lies inside.
#
# ## Simulator: a row of the paper
#
# The square is the printed expectation, the diamond is the measured speed-up. At which `c` does the
# curve of T5-large, EnDe, temperature 0 come down to the measured 1.7? Then choose T5-small, CNNDM,
# temperature 0, measured 3.1. Can any `c` explain this value?

# %% tags=["demo"]
from specdec_lib.lessons.widgets.paper_rows import paper_rows_simulator

paper_rows_simulator(settings, row=2)

# %% [markdown]
# For T5-large a `c` of 0.23 would do, twice the printed one. For T5-small even `c = 0` gives only
# 2.64. The next cell prints the `c` that each row needs. The column "reading" compares it with the
# printed `c`: a difference that rounding can explain "agrees". The column "limit" is explained
# below.

# %% tags=["demo"]
table(lesson.readings(settings))

# %% [markdown]
# - **above**, three rows: a block cost more than `cK + 1`. The formula assumes that a pass over
#   many tokens takes as long as a plain pass, and that the loop takes no time.
# - **agrees**, one row.
# - **below**, five rows: a block cost less than printed, or it brought more than `E` tokens.
# - **no cost**, three rows: even with a free draft the formula promises less than was measured.
#
# Can blocks bring more than `E` tokens at the same `alpha`? The formula tosses a coin for every
# token.
#
# ### Commit first
#
# A greedy decoder with `K = 5` writes 24 tokens. The draft is right at 18 of these positions, a
# share of 0.75. You may choose which 6 are wrong. How many tokens does a block bring at most, on
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
# Spread evenly, the wrong positions need the fewest blocks. If they all stand together, each costs
# a block that writes one token. **Every wrong position ends a block, so a block brings at most
# `1/(1 - alpha)` tokens, in any order.** At temperature 1 the limit holds on average.
#
# This is the column "limit". Read the table again. For T5-small on CNNDM the printed rates 0.65 and
# 0.53 allow 2.86 and 2.13 tokens a block, but 3.1 and 2.3 times as fast was measured. No order
# explains these two rows. Either `alpha` and the time belong to different texts, or the baseline
# was slower than a bare pass. The paper does not say which texts were timed. Each number of a table
# can be right although its columns do not fit together.
#
# ## Backwards: the acceptance rate that a clock implies
#
# Chen et al. print times and no `alpha`. A token takes 14.1 ms with their target of 70 billion
# parameters, 1.8 ms with the draft, and 7.52 ms with speculative decoding at `K = 4`. A block took
# `4 x 1.8 + 14.1 = 21.3` ms, so it brought `21.3/7.52 = 2.83` tokens. The sum
# `1 + alpha + ... + alpha^4` is 2.77 for `alpha = 0.7` and 3.05 for 0.75. How do you go on?
#
# ### Exercise: implied_alpha
#
# **Task.** The `alpha` for which `seconds_per_token x E = k draft_seconds + target_seconds`.
# **Arguments.** Three times in the same unit and `k`. Return a float, right to 1e-9: halve an
# interval, a grid is too coarse. If `E` is within 1e-9 of 1, return 0.0; if `E` is within 1e-9 of
# `k + 1`, return 1.0. Raise ValueError if no `alpha` from 0 to 1 fits.
#
# **Example.** 7.52, 14.1, 1.8 and `k = 4` give 0.711.


# %% solution="implied_alpha"
def implied_alpha(
    seconds_per_token: float, target_seconds: float, draft_seconds: float, k: int
) -> float:
    """The acceptance rate that explains a measured time a token; ValueError where none does."""
    ### BEGIN SOLUTION
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if abs(wanted - 1) <= 1e-9:
        return 0.0
    if abs(wanted - (k + 1)) <= 1e-9:
        return 1.0
    if not 1 < wanted < k + 1:
        raise ValueError(f"a block of {k} brings 1 to {k + 1} tokens, not {wanted:.3g}")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected_tokens(middle, k) < wanted else (low, middle)
    return low
    ### END SOLUTION


# %% [markdown] hints="implied_alpha"
# 1. First: how many tokens must a block have brought, to make the time a token what it is?
# 2. That number grows with alpha, from 1 to k + 1: halve the interval from 0 to 1 until it is
#    small enough. The two ends are answers of their own.
# 3. Compute `wanted = (k * draft_seconds + target_seconds) / seconds_per_token`. Return 0.0 or
#    1.0 if it is within 1e-9 of 1 or of k + 1; raise ValueError if it is outside them; else keep
#    low and high, and 60 times move one of them to the middle.

# %% tags=["demo"]
figures.implied_rates(implied_alpha, settings, papers.table("chen_1"))

# %% test="implied_alpha" points=4
lesson.check_implied_alpha(implied_alpha)

# %% [markdown]
# For Chen et al. the figure assumes `v = 1`. A slower verification would imply higher rates, so
# these rates are lower limits. Code has the highest one.
#
# ## Which of these rows can be true?
#
# This table is passed around without a source. One pass of its target takes 10 ms.
#
# | draft | draft tokens a second | acceptance | speed-up |
# | --- | --- | --- | --- |
# | small | 5,000 | 0.50 | 1.8 |
# | medium | 2,000 | 0.65 | 2.3 |
# | large | 1,000 | 0.75 | 2.5 |
# | 1 billion parameters | 800 | 0.80 | 2.8 |
#
# ### Commit first
#
# Work out `c` for each row. `K` is not given, so take the best one, with `v = 1`. How many of the
# four speed-ups are within reach? Write a whole number from 0 to 4.

# %% solution="prediction_05_d"
### BEGIN SOLUTION
prediction_05_d = 4
### END SOLUTION

# %% test="prediction_05_d" points=1
lesson.committed("prediction_05_d", prediction_05_d, 0, 4)

# %% tags=["demo"]
lesson.reveal("prediction_05_d", prediction_05_d)
table(lesson.circulating(target_ms=10))

# %% [markdown]
# With a target pass of 20 ms all four rows would be possible. So somebody mixed two machines, or
# nothing was measured. This test needs no model: the columns of a table must fit each other.
#
# ## Your own table
#
# Now the built-in models: a target of 7.9 million parameters that writes Python, and three drafts
# of 1.9, 1.0 and 0.5 million. Two more drafts only count: the **unigram** counts single tokens, the
# **bigram** counts pairs. All read held-out text. Acceptance at temperature 1 is the mean over the
# positions of `sum_x min(p, q)`. At temperature 0 it is the share of positions where both models
# have the same most probable token. The cell takes 20 s.

# %% tags=["demo"]
from specdec_lib import assets
from specdec_lib.device import leave_cores
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.acceptance import acceptances, readers

# %% tags=["demo"]
leave_cores()  # as in chapter 00
(target, drafts), tokenizer = readers(), assets.tokenizer()
ends = {"code": ".py", "prose": ".txt"}
texts = {kind: [d for d in assets.documents() if d.name.endswith(ends[kind])] for kind in ends}
measured = {}
for kind, documents in texts.items():
    tokens = [held_out.encoded(each, tokenizer) for each in documents]
    measured |= {(kind, name): a for name, a in acceptances(target, drafts, tokens, 2000).items()}
charts.acceptance_table(measured, papers.table("leviathan_3"))

# %% [markdown]
# Acceptance falls far more slowly than the size of the draft. The bigram costs next to nothing and
# is accepted about as often as the bigrams in the paper's T5 rows. One thing is the other way round:
# the paper's T5 drafts are accepted more often at temperature 0, the drafts here at temperature 1.
# A likely reason: small models spread their probability, and spread distributions overlap even if
# their most probable tokens differ.
#
# ## Acceptance by kind of token
#
# Python's own `tokenize` tells keywords, identifiers, literals, operators and comments (with
# docstrings) apart. The rest is whitespace: line ends and indentation.
#
# ### Commit first
#
# At temperature 0, with the largest draft: what share of the whitespace is accepted? The figure
# above has the mean over all tokens of code. Write a number from 0 to 1.

# %% solution="prediction_05_e"
### BEGIN SOLUTION
prediction_05_e = 0.9
### END SOLUTION

# %% test="prediction_05_e" points=1
lesson.committed("prediction_05_e", prediction_05_e, 0, 1)

# %% [markdown]
# ### Exercise: acceptance_by_class
#
# **Task.** The share of accepted tokens for each label. **Arguments.** `accepted` holds a 0 or a 1 for
# every judged token, and `classes` holds its label, any string. Return a dictionary. A label of
# which nothing was accepted is in it, with 0. Two empty lists give an empty dictionary. Raise
# ValueError if the lengths differ.
#
# **Example.** `[1, 1, 0]`, `["name", "space", "name"]`: `{"name": 0.5, "space": 1.0}`.


# %% solution="acceptance_by_class"
def acceptance_by_class(accepted: list[int], classes: list[str]) -> dict[str, float]:
    """The mean of `accepted`, 0 or 1 a judged token, for every label in `classes`."""
    ### BEGIN SOLUTION
    verdicts = {}
    for verdict, label in zip(accepted, classes, strict=True):  # ValueError on unequal lengths
        verdicts.setdefault(label, []).append(verdict)
    return {label: sum(each) / len(each) for label, each in verdicts.items()}
    ### END SOLUTION


# %% [markdown] hints="acceptance_by_class"
# 1. Collect what belongs to each label, then take each mean.
# 2. A dictionary of lists does it; the labels are whatever stands in `classes`.
# 3. Raise ValueError on unequal lengths. For each pair append the verdict to its label's list;
#    return {label: sum(list) / len(list)}.

# %% tags=["demo"]
from specdec_lib.measure.classes import CLASSES, judged

# %% tags=["demo"]
verdicts = judged(target, drafts["large"], texts["code"], tokenizer, most=3000)
charts.by_class(acceptance_by_class, verdicts, CLASSES)
white = [kind == "whitespace" for kind in verdicts.classes]
lesson.reveal("prediction_05_e", prediction_05_e, verdicts.agreed[white].mean())

# %% test="acceptance_by_class" points=3
lesson.check_acceptance_by_class(acceptance_by_class)

# %% [markdown]
# ## Acceptance by position in the block
#
# The formula says that the fifth token of a block, *if it is reached*, is accepted as often as the
# first. Are later positions accepted more often? A share counted in `n` trials is off by chance.
# The typical size of this error is the **standard error**, `sqrt(share (1 - share)/n)`. It falls
# with the root of `n`. A difference within two standard errors is no evidence.
#
# ### Commit first
#
# In 400 blocks the later positions are accepted more often by 0.02. The standard error of this
# difference is 0.04. Suppose that the difference is real. How many blocks make it two standard
# errors? Write a number from 0 to 100,000.

# %% solution="prediction_05_f"
### BEGIN SOLUTION
prediction_05_f = 1600
### END SOLUTION

# %% test="prediction_05_f" points=1
lesson.committed("prediction_05_f", prediction_05_f, 0, 100_000)

# %% tags=["demo"]
lesson.reveal("prediction_05_f", prediction_05_f)

# %% [markdown]
# Now a decoder runs, and you count. The crosses are what vLLM's log shows. It divides by all
# blocks, so its numbers must fall from position to position, whatever the draft is.

# %% tags=["demo"]
from specdec_lib.measure.core.runs import GREEDY, SAMPLED, accepted_counts, speculative
from specdec_lib.models.pairs import load_pair

# %% tags=["demo"]
pair = load_pair(draft="large")
prompts = {"held-out text": held_out.prompts(32)}
prompts["random tokens"] = np.random.default_rng(0).integers(1, 2048, (32, 64)).tolist()
blocks = {name: accepted_counts(pair, each, 5, 64, SAMPLED) for name, each in prompts.items()}
charts.by_position(alpha_from_blocks, blocks, k=5)

# %% [markdown]
# Read the last two lines before you say what you see.
#
# <details><summary>What others report</summary>
#
# Published drafters differ: on chat, one study reports that acceptance rises from 0.53 to 0.74
# for EAGLE-3, a one-layer drafter that reads the target's states, and falls from 0.72 to 0.63 for
# DFlash, which drafts a whole block at once (both in chapter 07). SPEED-Bench reports that random
# tokens overestimate throughput by about 23%. The label of the figure has your own `alpha` after
# random tokens. Use text of your own task.
#
# </details>
#
# ## Acceptance by kind of text
#
# Spec-Bench runs seven methods on six tasks. The diamond is a draft model, the square is prompt
# lookup. The section on two machines below names the other five.

# %% tags=["demo"]
figures.by_task(papers.table("spec_bench_tasks"))

# %% [markdown]
# For the draft model translation is lowest, 1.13, and it is lowest on average over the methods. The
# order of the other tasks depends on the method. Prompt lookup copies: it gains most at summaries,
# 2.43, and little in translation, 1.04.
#
# The next cell measures four kinds of text, also greedy: code, prose, a copy of code with one name
# changed, and lists of names. A black line is the 95% interval, from drawing the texts many times
# with replacement. The cell takes about 20 s.

# %% tags=["demo"]
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.kinds import KINDS, tokens_a_block

# %% tags=["demo"]
drafters = {
    "draft model": ModelDrafter(pair.draft),
    "prompt lookup": PromptLookup(pair.target.vocab_size),
}
kinds = {kind: make(16) for kind, make in KINDS.items()}
found = {}
for name, drafter in drafters.items():
    decoder = speculative(pair.target, drafter, 5, GREEDY, 32, batch=True)
    found[name] = {kind: tokens_a_block(decoder, each) for kind, each in kinds.items()}
charts.by_kind(found)

# %% [markdown]
# Which of these differences are larger than their intervals? This small target hardly copies its
# prompt. But its greedy text often runs in circles, which a lookup can copy. What is easy to draft
# depends on the target as much as on the topic.
#
# ## Time: by turns, and as ratios
#
# A processor gets warm and slows down; another program starts. So run the two decoders **by
# turns**, divide **pair by pair**, and average the ratios. Which average? Say that one run was
# twice as fast and one half as fast. One side reports plain over speculative, the other speculative
# over plain. The cell shows three means of each. Where both sides agree, the product of their two
# means is 1.

# %% tags=["demo"]
table(lesson.three_means([2, 0.5]))

# %% [markdown]
# ### Exercise: paired_speedup
#
# **Task.** The mean of baseline over speculative, pair by pair, on which both sides agree.
# **Arguments.** Two lists of as many times. Return a float, also for thousands of pairs. Raise
# ValueError if the lists are empty or differ in length.
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
# Now a machine that gets slower by half over twenty runs, and a method that is 1.25 times as fast.
# Only the order of the runs differs between the two pictures.

# %% tags=["demo"]
figures.two_orders(paired_speedup)

# %% test="paired_speedup" points=4
lesson.check_paired_speedup(paired_speedup)

# %% [markdown]
# This is the geometric mean. The logarithm turns the product into a sum that cannot overflow:
#
# $$ \left(\prod_{i=1}^{n} \frac{\text{baseline}_i}{\text{speculative}_i}\right)^{1/n} =
# \exp\left(\frac{1}{n}\sum_{i=1}^{n} \log\frac{\text{baseline}_i}{\text{speculative}_i}\right). $$
#
# ## Expected and measured on your machine
#
# Now your clock. The built-in target is slowed down to the cost of 38 million parameters, without a
# change to its distribution. So the times are those of a larger pair, but the acceptance is that of
# the built-in pair. The cell takes about 20 s.

# %% tags=["demo"]
from specdec_lib.lessons.ch04.measured import promise_and_clock
from specdec_lib.measure import gap, strategies
from specdec_lib.theory import walltime_speedup

# %% tags=["demo"]
slow = load_pair(draft="small", target_cost="40m")
lab, small = strategies.Laboratory(1000), {"small": slow.draft}
print(slow.label)
alphas = {"small": measured["code", "small"].alpha}
rows = strategies.rows(small, alphas, lab.times(small, slow.target))
runs = gap.texts(slow.target, slow.draft, 2, held_out.prompts(8))
seconds = {name: each.tolist() for name, each in runs.groupby("decoder").seconds}
charts.pairs(paired_speedup, seconds["plain"], seconds["speculative"])
promise_and_clock(walltime_speedup, gap.account(rows["small"], runs, 2))

# %% [markdown]
# The first bar of the second picture is what a paper would expect, the last bar is your clock. The
# bars between add the measured costs of chapter 04, one by one, and the luck of the text. Which one
# is the largest?
#
# ## The same tokens, another machine
#
# Spec-Bench runs the same methods on the same prompts on two cards. Prompt lookup copies from the
# text so far, **REST** from a collection of texts. **Lookahead** collects short runs of tokens from
# the target's own guesses. **Medusa**, **Hydra** and **EAGLE** are small networks trained on the
# target's states (chapter 07).

# %% tags=["demo"]
figures.two_devices(papers.table("spec_bench_devices"))

# %% [markdown]
# Divide the tokens of a block by the speed-up: this is how long a block takes, in plain tokens. The
# draft model's block takes 1.25 of them on the RTX 3090 and 1.53 on the A100. Medusa (chapter 07)
# and the draft model even change places: 1.44 and 1.83 times as fast on the RTX 3090, 1.78 and 1.49
# times on the A100. Cards, processors and CUDA versions differ. `c` and `v` have changed, `alpha`
# has not.
#
# ## One request, or many
#
# A server answers several requests in one pass. The next picture was recorded on a quiet machine,
# with your pair and the four kinds of text. On the left, each mark is one size of batch: higher
# means more tokens a second for all requests, further left means that each request is served
# sooner. On the right are the speed-ups with their 95% intervals. From which batch on does drafting
# lose?

# %% tags=["demo"]
from specdec_lib.lessons.ch05.served import PAGE, WORDS
from specdec_lib.lessons.common.style import display_page

# %% tags=["demo"]
display_page(PAGE, WORDS)

# %% [markdown]
# A block brings the same tokens in every batch. But `B` requests with `K + 1` tokens each make a
# pass over `B(K + 1)` tokens, and the free tokens of chapter 00 are soon used up: on this processor
# early, on a GPU at larger batches. Chapter 06 chooses `K` by the load.

# %% [markdown]
# ## Quiz
#
# **Question 1.** "Translation is accepted more than creative writing, because it is more
# predictable." But Spec-Bench has translation lowest. In Table 3 a model that writes freely has an
# `alpha` of 0.88, translation with T5-small 0.75. What decides `alpha`?
#
# - a: how predictable the text is to a reader; one of the two tables is misprinted
# - b: how close the draft's distribution is to the target's
# - c: the size of the target: a smaller target accepts more of the draft
# - d: the length of the block, which was larger for translation

# %% solution="quiz_05"
### BEGIN SOLUTION
quiz_05 = "b"
### END SOLUTION

# %% test="quiz_05" points=1
lesson.answered("quiz_05", quiz_05)

# %% [markdown]
# **Question 2.** A vendor reports "3.6 tokens a step, so 3.6 times as fast". What is missing?
#
# - a: nothing, since there are 3.6 times fewer passes of the target
# - b: the acceptance rate, which nobody can work out from the 3.6
# - c: the number of runs, since many runs turn tokens a step into speed
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
# T5-large on EnDe at temperature 0: expected 2.5, measured 1.7. T5-small on CNNDM at temperature 0:
# expected 2.4, measured 3.1. For each, name an assumption whose failure would move the clock that
# way, and what to measure. Three to five sentences. A person marks this answer.

# %% [markdown] written="why_they_part" points=2
# For T5-large the clock is below the formula, so a block costs more than `c K + 1`: the draft steps
# take longer inside the loop than alone, or a verification takes longer than one pass. I would time
# draft steps, the verification and the rest of the loop separately, inside the running decoder. For
# T5-small the clock is above the formula, which no cost can do, so the blocks bring more tokens. At
# an alpha of 0.65 no order of the acceptances gives more than 2.86 tokens a block, so this alpha is
# not that of the timed text. I would measure alpha on the very texts that are timed, and the
# baseline's time a token beside a bare pass.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence? Decide first, then open the answer.
#
# **You might read: "T5-small, 60 million parameters, K = 4: 2.0x. T5-base, 220 million, K = 5:
# 2.5x. PaLM 540B on code: 2.3x."**
#
# <details><summary>Answer</summary>
#
# The paper has no such rows: no PaLM, no code, and T5-small is faster than T5-base in every
# setting. It uses T5 version 1.1, with 77 and 250 million parameters. *Look:* the next cell.
#
# </details>
#
# **You might read: "The paper finds that 90% of the function words and 30% of the rare words are
# accepted."**
#
# <details><summary>Answer</summary>
#
# Neither paper splits by kind of token. *Look:* your own figure does, for one small pair.
#
# </details>
#
# **You might read: "2 to 3 times faster for free, and right in every library within a year."**
#
# <details><summary>Answer</summary>
#
# The paper's own range is 1.4 to 3.4, and the arithmetic grows by 1.11 to 1.63 times in Table 1. In
# a large batch this arithmetic is not free: your own pair is slower there than plain decoding. And
# "right" took longer. In Hugging Face transformers the rule came in December 2023 (pull request
# 27979). A count accepted too much until January 2024 (28508). From May 2024 (30778) to September
# 2024 (33534) the draft was greedy while `q` was the full softmax, as issue 32867 showed. In 2026
# issue 47932 found further generators that hand over a `q` they did not draw from. One of them
# still stands in version 5.23.0: chapter 03 counts its law. *Look:* chapter 03, and the next cell.
#
# </details>

# %% tags=["demo"]
lesson.look(settings, papers.table("t5_sizes"))

# %% [markdown]
# ## The race again
#
# One race is one number. Sixteen texts are sixteen pairs of times: your `paired_speedup` gives
# their mean, and the spread says how far to trust it.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

# %% tags=["demo"]
contestants = {"speculative decoding": drafting("small", k=2)}
races = race("05", contestants, texts=16, cost="40m")
show_race(races)
charts.pairs(paired_speedup, *(lane.by_text for lane in races[-1].lanes))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, [arXiv 2211.17192](https://arxiv.org/abs/2211.17192), Tables 1 to 4: rates and times
#   of T5 on one TPU v4 at batch 1. Section 4.2: their alpha is a mean over 10,000 tokens that the
#   target wrote. Nothing on kinds of token, code or other machines.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, [arXiv
#   2302.01318](https://arxiv.org/abs/2302.01318): times and scores of Chinchilla on 16 TPU v4. It
#   prints no alpha: ours is implied, with `v = 1`. For its 1.92 the times give 14.1/7.52 = 1.88.
# - Spec-Bench, [`hemingkx/Spec-Bench`](https://github.com/hemingkx/Spec-Bench), `Leaderboard.md` at
#   commit 09244ff: two machines and six tasks, Vicuna 7B, greedy, batch 1, PyTorch 2.0.1 on both.
# - SPEED-Bench, [arXiv 2604.09557](https://arxiv.org/abs/2604.09557), and its article at
#   [huggingface.co/blog/nvidia/speed-bench](https://huggingface.co/blog/nvidia/speed-bench).
# - DSpark, [arXiv 2607.05147](https://arxiv.org/abs/2607.05147): acceptance by position of EAGLE-3
#   and DFlash, as its authors measured it.
# - Hugging Face transformers, by the numbers of its pull requests and issues; version 5.23.0,
#   `generation/candidate_generator.py`, lines 186 to 192 and 252 to 255, for the record of matches.
#   vLLM, `vllm/v1/spec_decode/metrics.py`: what is divided by what.
# - The table of four rows: it is found in teaching material without a source, and is here as an
#   example of what to check.
#
# **Next.** Chapter 06 simulates the race block by block, so that you can see what the mean hides.
