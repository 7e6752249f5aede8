# %% [markdown]
# # 04 Choosing the draft: fast or accurate, and how many tokens
#
# 70 minutes, and an optional second sitting of 35 · difficulty 3 of 5 · you need: chapter 02 (a
# draft token is accepted with probability min(1, p/q)); for the second sitting PyTorch's softmax
#
# - **Intuition**: one block in milliseconds, on the back of an envelope.
# - **Mathematics**: tokens per block, the price of a block, the best `K`; you find all three.
# - **Code**: three short functions that choose `K`, and later two that make a draft.
# - **Demo**: what your formula promises, what the clock shows, and where the difference goes.
#
# **You come with** a decoder that keeps the target's distribution, and a guess for its `K`.
# **You build** a calculator for the speed-up.
# **You leave with** a draft and a `K` chosen from numbers that you measure in a minute.

# %%
import numpy as np

from specdec_lib.lessons.ch04 import lesson

# %% tags=["demo"]
from specdec_lib.lessons.ch04 import figures, charts

# %% [markdown]
# ## The smallest example: one block
#
# The target needs 50 ms for a pass, the draft 5 ms for a step. The draft proposes `K = 5` tokens,
# and the target accepts 3 of them. The block takes `5 x 5 + 50 = 75` ms and writes 4 tokens: the
# three accepted ones and a correction. A token costs 18.75 ms instead of 50, so this block is 2.67
# times as fast. Two numbers describe a draft:
#
# - **`alpha`**, how accurate it is: the acceptance probability `sum_x min(p(x), q(x))`, averaged
#   over the positions of a text.
# - **`c`**, how slow it is: the time of a draft step, divided by the time of a target pass over one
#   token. Here `c = 5/50 = 0.1`.
#
# A smaller draft usually has a smaller `c` and a smaller `alpha`: you can have it fast or accurate.
# Drafting gains most if the two models agree, the draft is much cheaper, and the text is
# predictable.
#
# The formulas below assume that **each judged draft token is accepted with the same probability
# `alpha`.** Real text doesn't obey this, and chapters 05 and 06 measure how much that matters.
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
# Before any formula, simulate 10,000 blocks. A coin decides about each draft token.

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
# In the first row, how much does the first draft token add to the mean? The second? The third? Do
# the same in the second row. Then say in one sentence what draft token number `i` adds. This
# sentence is the formula.
#
# ### Exercise: expected_tokens
#
# **Task.** The mean number of tokens that a block writes, the target's own token included.
#
# **Arguments.** `alpha` is a float from 0 to 1, and both ends count. `k` is an int of at least 0;
# `k = 0` is plain decoding. The function returns a float.
#
# **Example.** `alpha = 0.5` and `k = 2` give 1.75, near the third number of the first row.


# %% solution="expected_tokens"
def expected_tokens(alpha: float, k: int) -> float:
    """The mean number of tokens that a block of k draft tokens writes, from 1 to k + 1."""
    ### BEGIN SOLUTION
    return sum(alpha**i for i in range(k + 1))
    ### END SOLUTION


# %% [markdown] hints="expected_tokens"
# 1. With which probability is the first draft token accepted? The second only counts after it.
# 2. Draft token i counts only if it and all before it are accepted: alpha to the power i. The
#    target adds one token to every block, whatever happened.
# 3. Sum `alpha**i` over i from 0 to k. A sum needs no special case; the fraction does, at 1.

# %% tags=["demo"]
figures.found_formula(expected_tokens, means)

# %% test="expected_tokens" points=2
lesson.check_expected_tokens(expected_tokens)

# %% tags=["demo"]
lesson.reveal("prediction_04", prediction_04)

# %% [markdown]
# Draft token `i` counts only if it and all before it are accepted, with probability `alpha^i`:
#
# $$ E[\text{tokens}] = 1 + \alpha + \alpha^2 + \cdots + \alpha^K = \frac{1 - \alpha^{K+1}}{1 - \alpha} $$
#
# The 1 is the target's own token: the correction after a rejection, else the bonus token. This is
# Equation 1 of Leviathan et al., and you found it by subtracting neighbours.
#
# ## What a block costs
#
# From here on, the unit of time is a target pass over one token. A draft step takes `c`. The
# target's pass over `K + 1` tokens takes `v(K+1)`, the **cost of verification**. It stays close to
# 1 as long as reading the weights takes longer than the arithmetic (chapter 00).
#
# In the first example, `c = 0.1`, `K = 5` and 4 tokens gave 2.67. How?
#
# ### Exercise: walltime_speedup
#
# **Task.** How many times as fast as plain decoding, which takes one pass for each token.
#
# **Arguments.** `alpha`, `c` and `verify_cost` are floats, `k` is an int of at least 0.
# `verify_cost` is `v(k + 1)`. The function returns a float, below 1 for a slow-down.
#
# **Example.** `alpha = 0.5`, `c = 0.1` and `k = 2`: 1.75 tokens in 1.2 passes are 1.458 times as
# fast. With `verify_cost = 1.3` it's 1.167.


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

# %% test="walltime_speedup" points=3
lesson.check_walltime_speedup(walltime_speedup)

# %% [markdown]
# $$ \text{speed-up} = \frac{E[\text{tokens}]}{c\,K + v(K+1)} $$
#
# With `v = 1` this is Theorem 3.8 of Leviathan et al. At `c = 0.1` and `K = 4` a perfect draft
# gives 3.57, `alpha = 0.7` gives 1.98, and 0.3 only 1.02. A useless draft gives 0.71: it wastes
# your time, but it never spoils the text. Chen et al. report 14.1 ms for a token of their target
# and 1.8 ms for one of their draft, so `c = 0.128`, and were 1.9 to 2.5 times as fast.
#
# ## The best K: when to stop drafting
#
# Each curve above with `c` above 0 has a top. Why? Look at one more draft token. It costs `c` and
# adds, on average, a fraction of a token. Divide that by `c`, and you have its **yield**: the tokens
# that it adds in the time of one target pass. Plain decoding writes 1 token in this time. For `alpha = 0.5` and `c = 0.1`:
#
# | draft token | it adds | its yield | speed-up so far | speed-up with it |
# | --- | --- | --- | --- | --- |
# | 1 | 0.5 | 5 | 1 | 1.364 |
# | 2 | 0.25 | 2.5 | 1.364 | 1.458 |
# | 3 | 0.125 | 1.25 | 1.458 | 1.442 |
#
# Draft token 3 yields more than plain decoding, and still it slows you down! Here is the same for
# `alpha = 0.7`:

# %% tags=["demo"]
figures.next_draft_token(expected_tokens, walltime_speedup, alpha=0.7, c=0.1)

# %% [markdown]
# Where is the top of the line, and what do the bars do there? Complete the sentence: "Draft one
# more token as long as ..."
#
# ### Exercise: best_k
#
# **Task.** The `K` with the largest speed-up at `v = 1`.
#
# **Arguments.** `alpha` and `c` are floats, and `c` may be 0. `k_max` is an int from 1 to 20. The
# function returns an int from 0 to `k_max`: 0 if no `K` is faster than plain decoding.
#
# **Example.** `alpha = 0.5` and `c = 0.1` give 2, by the table above. `alpha = 0.5` and
# `c = 0` give `k_max`, since a free token always pays.


# %% solution="best_k"
def best_k(alpha: float, c: float, k_max: int) -> int:
    """The best K in 0..k_max with v = 1; 0 where none is faster than plain decoding."""
    ### BEGIN SOLUTION
    return max(range(k_max + 1), key=lambda k: walltime_speedup(alpha, c, k))
    ### END SOLUTION


# %% [markdown] hints="best_k"
# 1. Plain decoding is the one to beat: K = 0 with a speed-up of 1.
# 2. Either compare the speed-ups of all K from 0 to k_max, or start at 0 and apply your sentence.
# 3. In a loop: while k is below k_max and `alpha**(k + 1)` is above c times
#    walltime_speedup(alpha, c, k), add 1 to k. Multiply by c instead of dividing: c may be 0.

# %% tags=["demo"]
figures.best_k_map(best_k, lesson.ALPHAS, lesson.COSTS, k_max=20)

# %% test="best_k" points=5
lesson.check_best_k(best_k)

# %% [markdown]
# The rule in symbols: draft one more token as long as
#
# $$ \alpha^{K+1} > c \cdot \text{the speed-up so far}. $$
#
# It works like any average: only a yield above the average raises it. Plain decoding has the
# speed-up 1, so with `v = 1` **some `K` pays exactly if `alpha > c`**, and then the speed-up is at
# least `(1 + alpha)/(1 + c)` (Corollary 3.9 of Leviathan et al.).
#
# In the map, for `alpha` from 0.6 to 0.8 and `c` from 0.02 to 0.1, the best `K` is between 3 and
# 11. With a smaller `K` each target pass writes too little; with a larger one you pay for tokens
# after a rejection. The curves before it are flat near their tops: an error of one costs little.
#
# ## Simulator: tokens and time over K
#
# The simulator of chapter 02 has one more view. Let every token of a pass after the first cost `s`,
# so `v(n) = 1 + s (n - 1)`. A ring marks the best `K`, a square marks yours.
#
# ### Commit first
#
# Here `alpha = 0.8`. With `c = 0.05` and `s = 0` the best `K` is 8. What is it with `s = 0.1`?
# Write a whole number from 0 to 20, then move the slider `s`.

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
# ## The promise and the clock
#
# Now a real pair. The built-in target is padded with layers that change nothing, until a pass costs
# what a model of 234 million parameters costs. Its three drafts are of its own family: they share
# its tokenizer and have read the same text. The next cell takes about 20 s. It measures `alpha` at
# temperature 1 on 3,000 positions of held-out text, `c` on draft steps in a row, and `v` on passes
# over 1 to 9 tokens. Close other programs first.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure import gap, strategies
from specdec_lib.measure.prompts import prompts
from specdec_lib.models.pairs import load_pair

# %% tags=["demo"]
leave_cores()  # as in chapter 00
lab, family = strategies.Laboratory(), strategies.built_in("large", "base", "small")
target = load_pair(target_cost="234m", device="cpu").target
measured = strategies.rows(family, lab.alphas(family), lab.times(family, target))
promised = gap.choices(measured, best_k, walltime_speedup)
charts.table_of_drafts(measured, promised, "v = 1")

# %% [markdown]
# Don't be surprised if `large` and `base` have nearly the same `c`: both have two layers, and at this
# size starting an operation costs more than its arithmetic. `K` and its speed-up by formula, the
# **promise**, come from your own functions. Next, the decoder itself runs with the draft and the `K` of the largest promise, taking
# turns with plain decoding on three prompts.
#
# ### Commit first
#
# What share of the promised speed-up will the clock show? Write a number from 0.2 to 1.2; 1 means
# all of it.

# %% solution="prediction_04_c"
### BEGIN SOLUTION
prediction_04_c = 0.9
### END SOLUTION

# %% test="prediction_04_c" points=1
lesson.committed("prediction_04_c", prediction_04_c, 0.2, 1.2)

# %% tags=["demo"]
draft, k = gap.best(promised)
runs = gap.texts(target, family[draft], k, prompts(3))
account = gap.account(measured[draft], runs, k)
charts.promise_and_clock(walltime_speedup, account)
lesson.reveal("prediction_04_c", prediction_04_c, account.measured / promised[draft].speedup)

# %% [markdown]
# Each bar adds one cost that the promise left out. The bars are an estimate and need not end at the
# clock.
#
# - **Verification.** A pass over `K + 1` tokens takes longer than a pass over one.
# - **The cold cache.** A target pass pushes the draft's weights out of the processor's own cache.
# - **The host.** Between the passes Python draws and compares tokens.
# - **The text.** The decoder met other positions than those on which `alpha` was measured.
#
# On a CPU the largest step is nearly always verification, and this is the lesson: `v = 1` made your
# own formula choose a `K` that is too large.
#
# You know the repair from the simulator: a draft token costs `c + s` in all, so call `best_k` with
# `c + s` instead of `c`. The next cell does, with the mean `s` of your passes.

# %% tags=["demo"]
chosen = gap.choices(measured, best_k, walltime_speedup, verified=True)
charts.table_of_drafts(measured, chosen, "v measured")

# %% [markdown]
# That's why `K` is small here: on a CPU every token of a pass costs. Compare `s` with `c`! On a
# graphics card, where further tokens of a pass are almost free, `s` is almost 0, and the first
# table's `K` fits.
#
# And for your numbers? Give `alpha` and the times of a draft `step` and of target passes
# over `one` token and over `nine`:

# %% tags=["demo", "shown"]
figures.your_numbers(best_k, walltime_speedup, alpha=0.7, step=1.5, one=30.0, nine=33.0)

# %% [markdown]
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
# Use `best_k` and `walltime_speedup` in a new cell. Which one do you take? Write three to five
# sentences with numbers. This answer is marked by hand.

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
#
# ## The race again
#
# The race of chapter 00 at temperature 1, with the draft and the `K` that your `best_k` chose.

# %% tags=["demo"]
from specdec_lib.lessons.drawing.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

# %% tags=["demo"]
draft, k = gap.best(chosen)
print(f"{draft}, K = {k}: your formula promises {chosen[draft].speedup:.2f}.")
lane = "your draft and K"
show_race(race("04", {lane: drafting(draft, k)}, temperature=1), yours=lane)

# %% [markdown]
# One text is a small sample, so the race may land on either side of the promise. But now
# promise and race have the same `K`, and the largest cost is no longer left out. **This is a good
# place to stop.**
#
# ## Second sitting (optional, 35 minutes): where a draft comes from
#
# So far the draft was given. You can get one in five ways:
#
# | strategy | what it is | `alpha` | `c` | take it if |
# | --- | --- | --- | --- | --- |
# | same family | a smaller model by the same maker, with the same tokenizer | high | depends on its size | there is one |
# | distilled | a small model trained on the target's distributions | higher at that size | depends on its size | you can train for hours |
# | early exit | the target's first layers, with its norm and LM head | low unless trained | their share of the layers, and the head | memory is short |
# | n-gram | counts of a corpus: what followed the last token or two | low | nearly 0 | there is no small model |
# | prompt lookup | whatever followed the last time these tokens appeared in this text | depends on the text | nearly 0 | the answer repeats the prompt |
#
# (The norm and the LM head turn a layer's numbers into logits.) Every draft needs the target's
# vocabulary, since `min(p(x), q(x))` compares the same token `x`. An equal size isn't enough: every
# string must have the same id. `specdec pairs` lists published pairs that fit.
#
# The last strategy needs no model at all. Write it.
#
# ### Exercise: prompt_lookup
#
# **Task.** Take the longest suffix of `tokens`, of at most `max_ngram` tokens, that also occurs
# earlier. Return what followed its **latest** earlier occurrence: up to `k` tokens, fewer if fewer
# follow. The occurrence may overlap the suffix, but it must not be the suffix itself. If nothing is
# found, return `[]`.
#
# **Arguments.** `tokens` is a list of ints, which you don't change. The function returns a new list.
#
# **Example.** `tokens = [4, 5, 6, 9, 5, 6]` and `k = 3`: the text ends with `[5, 6]`, which also
# stands at position 1. After it came `[9, 5, 6]`.
#
# **In production.** `transformers.generation.candidate_generator.PromptLookupCandidateGenerator`
# (version 5.23.0) takes the *first* occurrence from the left.


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
# Now compare all kinds of draft. The target is the built-in one at its own small size, so a draft
# must be cheap indeed. The early exit is this target, cut after the first of its four layers. Where
# your lookup finds nothing, its `alpha` counts as 0.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure import strategies

# %% tags=["demo"]
# After a restart of the notebook, run the imports at its top and your prompt_lookup first.
leave_cores()
lab, models = strategies.Laboratory(), strategies.built_in("large", "base", "small")
models["first layer"] = strategies.first_layers(1)
drafts = strategies.compared(lab, models, prompt_lookup)
charts.strategies(drafts)

# %% [markdown]
# Counts and lookup are often wrong, but they cost next to nothing, so a low `alpha` is enough. The
# first layer costs far more than they do. But a layer can learn.
#
# ## Train a draft on alpha itself
#
# At one position, the share of draft tokens that is rejected is the total variation of the two
# distributions:
#
# $$ 1 - \sum_x \min(p(x), q(x)) = \frac{1}{2} \sum_x |p(x) - q(x)| $$
#
# So `1 - alpha` is a loss to train a draft on (Corollary 3.6 of Leviathan et al.). Training a small
# model on a large model's distributions is called **distillation**. The next cell is given; the
# grader calls your loss through it.

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
# **Task.** The mean over all positions of the total variation of the two softmaxes, in PyTorch.
#
# **Arguments.** Both are tensors of logits `(..., V)`: the last axis is the vocabulary, all others
# are positions. The function returns a floating-point tensor of shape `()`. A gradient must reach
# `draft_logits`.
# Logits may come in bfloat16: compute in float32 or better. The value may be off by 1e-6.
#
# **Example.** `log [0.45, 0.30, 0.15, 0.10]` and `log [0.30, 0.45, 0.20, 0.05]` give 0.20.


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

# %% test="distillation_loss" points=4
lesson.check_distillation_loss(distillation_loss)

# %% [markdown]
# Now the early exit learns with your loss on one half of the held-out documents, and `alpha` is
# measured on the other half. 40 steps take some seconds.

# %% tags=["demo"]
from specdec_lib.training.short import distil, trainable

# %% tags=["demo"]
exit_draft, (_, c) = trainable("target", layers=1), drafts["first layer"]
training = distil(distillation_loss, exit_draft, lab.target, lab.learn, steps=40)
curve = strategies.learning_curve(lab, exit_draft, training, every=10)
charts.learning_curve(curve, c)
charts.read_curve(curve, c)

# %% [markdown]
# The draft is as fast as before; only `alpha` moved. DistillSpec distils whole drafts on text that
# the draft itself writes, and finds that the best loss depends on the task and on how you decode.
#
# You now have two drafts that need no second model, a loss that raises the `alpha` of any
# other, and one question for the next draft that somebody offers you: is its `alpha` above its `c`?
#
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192. Equation 1, Theorem 3.8, Corollaries 3.6 and 3.9; Table 2 for
#   times. Its formula has `v = 1`; `v(K+1)` is this course's addition.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318: the times of a 70B target and its 4B draft, and Table 1 for its speed-ups.
# - Y. Zhou et al., *DistillSpec*, ICLR 2024, arXiv 2310.08461: distilled drafts, on text of their
#   own, with the divergence chosen by task and decoding. M. Elhoushi et al., *LayerSkip*, arXiv
#   2404.16710: early exit, with a target trained for it. A. Saxena, *Prompt Lookup Decoding*, 2023.
#   The project `speculators`, github.com/vllm-project, trains drafts for vLLM.
# - Hugging Face transformers 5.23.0, `generation/candidate_generator.py`: the first match from the
#   left in `PromptLookupCandidateGenerator.get_candidates`.
#
# **Next.** Chapter 05 goes the other way: from published and measured results back to `alpha`.
