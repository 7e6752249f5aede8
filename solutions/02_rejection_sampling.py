# %% [markdown]
# # 02 Rejection sampling: accept a draft token and keep the target's distribution
#
# 75 minutes · difficulty 4 of 5 · you need: what a probability distribution is, how to index a
# NumPy array, and the picture of chapter 01 (a small model drafts, a large model checks)
#
# - **Intuition**: 100 proposals, counted by hand, in "The smallest example".
# - **Mathematics**: what is accepted and what is replaced add up to `p`, in "One position".
# - **Code**: five short functions, from one token to a whole block.
# - **Demo**: break the rule yourself and watch the bars miss the target, in "Break the rule".
#
# **You come with** a block of draft tokens, and two distributions at every position of the block.
# **You build** the rule that keeps some draft tokens and replaces the first one that it refuses.
# **You leave with** text that follows the target's distribution, however poor the draft is.
#
# Later exercises call the earlier ones. Get each check right before you go on.

# %%
import numpy as np

from specdec_lib.lessons.ch02 import checks as lesson
from specdec_lib.lessons.ch02.checks import P, Q
from specdec_lib.sampling import sample_from

# %% tags=["demo"]
from specdec_lib.lessons.ch02 import figures

# %% [markdown]
# ## The smallest example: 100 proposals
#
# A vocabulary has two tokens. At one position of the text, the large target model gives both tokens
# the probability 0.5. The small draft model gives token 0 the probability 0.75 and token 1 the
# probability 0.25. We write `p = [0.5, 0.5]` for the target and `q = [0.75, 0.25]` for the draft.
#
# The draft proposes a token 100 times, and we count:
#
# | | token 0 | token 1 |
# | --- | --- | --- |
# | the draft proposes | 75 | 25 |
# | the target wants | 50 | 50 |
# | we keep | 50 of 75 | 25 of 25 |
#
# We keep as many proposals as we can, but never more of a token than the target wants. The other
# 25 proposals are dropped, so 25 of the 100 places are now empty.
#
# ### Commit first
#
# Each empty place must get one of the two tokens. At the end, the 100 places should hold what the
# target wants. With which probability should an empty place get token 0? Write a number from 0 to
# 1.

# %% solution="prediction_02"
### BEGIN SOLUTION
prediction_02 = 0.0
### END SOLUTION

# %% test="prediction_02" points=1
lesson.committed("prediction_02", prediction_02, 0, 1)

# %% tags=["demo"]
lesson.reveal("prediction_02", prediction_02)

# %% [markdown]
# The places now hold each token 50 times. The draft preferred token 0, and the text shows no trace
# of this preference. As in chapter 01, a draft token that stays is *accepted*, one that does not
# stay is *rejected*, and the token that fills the empty place is the *correction*.
#
# A program sees one proposal at a time and cannot count to 100, but it can throw a coin. This
# chapter finds the right coin and the right correction.

# %% [markdown]
# ## The rule: how often to accept
#
# From here on we work on one pair of distributions over four tokens, A to D, with the indices 0
# to 3:
#
# | token | A | B | C | D |
# | --- | --- | --- | --- | --- |
# | target `p` | 0.45 | 0.30 | 0.15 | 0.10 |
# | draft `q` | 0.30 | 0.45 | 0.20 | 0.05 |
#
# (A user can change a model's distribution before a token is drawn. A temperature makes the
# distribution sharper or flatter. **Top-k** keeps only the `k` most probable tokens. **Top-p** keeps
# as few of the most probable tokens as reach a given sum. Here `p` and `q` are the distributions
# after such changes.)

# %% tags=["demo"]
figures.two_distributions(P, Q)

# %% [markdown]
# ### Commit first
#
# The draft proposes 100 tokens in exactly these shares. Again we keep as many as we can, but never
# more of a token than the target wants. What share of the 100 proposals is accepted? Write a number
# from 0 to 1.

# %% solution="prediction_02_b"
### BEGIN SOLUTION
prediction_02_b = 0.8
### END SOLUTION

# %% test="prediction_02_b" points=1
lesson.committed("prediction_02_b", prediction_02_b, 0, 1)

# %% [markdown]
# The next cell keeps all 100 proposals, and the right panel shows the damage: some tokens come too
# often, some are missing. Change the four numbers of `keep` until no token comes too often and as
# few as possible are missing. Then write down how many of 30, 45, 20 and 5 you keep, and which
# tokens are still missing.

# %% tags=["demo", "shown"]
keep = [30, 45, 20, 5]
figures.kept_of_100(keep, P, Q)

# %% tags=["demo"]
lesson.reveal("prediction_02_b", prediction_02_b)

# %% [markdown]
# <details><summary>What you should find</summary>
#
# You keep 30 of 30 A, 30 of 45 B, 15 of 20 C and 5 of 5 D: 80 of 100. Still missing are 15 A and
# five D. No B and no C is missing. The 20 missing tokens are as many as the 20 empty places.
#
# </details>

# %% [markdown]
# ### Exercise: acceptance_probability
#
# **Task.** The probability that a draft token is accepted: the share of its proposals that you
# keep, if you keep as many as you can but never more than the target wants. **Arguments.** `p` and `q`
# are `(V,)`, where `V` is the size of the vocabulary; `token` is an index. The function returns a
# float.
#
# **Example.** You keep 30 of 45 proposals of token 1 (B): the answer is 0.667.
#
# **Zeros.** If `p[token]` is 0, the answer is 0, also if `q[token]` is 0. If only `q[token]` is 0,
# the answer is 1: the draft never proposes such a token, so 1 is a convention. No warning may
# appear. Tiny probabilities are not 0: add nothing to them.


# %% solution="acceptance_probability"
def acceptance_probability(p: np.ndarray, q: np.ndarray, token: int) -> float:
    """The probability that a draft token is accepted; p, q (V,), which may hold zeros."""
    ### BEGIN SOLUTION
    if p[token] == 0:
        return 0.0
    if q[token] == 0:
        return 1.0
    return min(1.0, float(p[token] / q[token]))
    ### END SOLUTION


# %% [markdown] hints="acceptance_probability"
# 1. Three questions in this order: is p zero, is q zero, and if neither, what is the ratio?
# 2. Ask about zero before you divide, so that no division by zero happens at all.
# 3. The last line returns the smaller of 1 and p[token] / q[token].

# %% tags=["demo"]
figures.accepted_heights(acceptance_probability, P, Q)

# %% test="acceptance_probability" points=3
lesson.check_acceptance_probability(acceptance_probability)

# %% [markdown]
# ### The rule in a formula
#
# Draw the draft token `x` from `q`. Accept `x` with probability
#
# $$ \min\left(1, \frac{p(x)}{q(x)}\right) $$
#
# and reject it otherwise (Leviathan et al., section 2.3). The figure above shows what the ratio
# means. The draft's bar has the height `q(x)`. The part of the bar below the target's line can
# stay. So the acceptance probability is **the accepted height over the whole height of the draft's
# bar**. A rare token can be accepted for certain, and a probable token can be rejected. What counts
# is how far the draft overstates the token.
#
# Why a coin? We want to keep two in three proposals of B. A program cannot keep two thirds of one
# proposal, but a coin that says yes two times in three keeps the right share in the long run.

# %% [markdown]
# ## A block: stop at the first rejection
#
# The draft proposes a block of `K` tokens. The target computed its distribution for each of them
# *after the draft tokens before it*. Suppose that the token at position 1 is rejected (positions
# count from 0). The token at position 2 was scored after a text that we will not write. So the
# block ends at the first rejection, and all later draft tokens are dropped, good or bad.
#
# The coin is a uniform number `r` in [0, 1). Such a number is at most 0.667 with probability 0.667.
# Position `i` has its own token `x_i`, its own rows `p[i]` and `q[i]`, and its own coin `r[i]`. The
# token is accepted exactly if
#
# $$ r_i \le \min\left(1, \frac{p_i(x_i)}{q_i(x_i)}\right) \quad\text{and}\quad p_i(x_i) > 0. $$
#
# The second half matters very seldom. A uniform number can be exactly 0, and `0 <= 0` would then
# accept a token that the target never writes.

# %% [markdown]
# ### Exercise: speculative_accept
#
# **Task.** The draft tokens that are accepted. **Arguments.** `draft_tokens` is a list of `K` indices,
# `p` and `q` are `(K, V)`, `r` is `(K,)`. The function returns a list: the accepted tokens before
# the first rejection, possibly none. No warning may appear. You may write `<=` or `<`: a coin
# equals a ratio with probability 0.
#
# **Example.** `draft_tokens = [3, 1, 2]` over a vocabulary of four:
#
# | position | token | `p` | `q` | ratio | `r` | verdict |
# | --- | --- | --- | --- | --- | --- | --- |
# | 0 | 3 | 0.5 | 0.4 | 1.25, so 1 | 0.7 | accepted |
# | 1 | 1 | 0.1 | 0.5 | 0.2 | 0.6 | rejected |
# | 2 | 2 | 0.6 | 0.3 | 2, so 1 | 0.1 | not looked at |
#
# The answer is `[3]`.


# %% solution="speculative_accept"
def speculative_accept(
    draft_tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray
) -> list[int]:
    """The longest accepted prefix of `draft_tokens` (K,); p, q (K, V), r (K,) in [0, 1)."""
    ### BEGIN SOLUTION
    accepted = []
    for i, token in enumerate(draft_tokens):
        if p[i, token] == 0 or r[i] > acceptance_probability(p[i], q[i], token):
            break
        accepted.append(token)
    return accepted
    ### END SOLUTION


# %% [markdown] hints="speculative_accept"
# 1. Walk through the block position by position. What ends the walk?
# 2. Position i has a token, a row of p, a row of q and a coin of its own.
# 3. Loop with an index. If r[i] is above the acceptance probability, or p[i] gives the token
#    nothing, leave the loop; else append the token. Return the list after the loop. Whether a
#    coin that equals the ratio accepts is the same here: it never does equal it.

# %% tags=["demo"]
figures.walk_through_block(
    speculative_accept, lesson.BLOCK, lesson.BLOCK_P, lesson.BLOCK_Q, lesson.BLOCK_R
)

# %% test="speculative_accept" points=4
lesson.check_speculative_accept(speculative_accept)

# %% [markdown]
# ## What to write instead: the residual
#
# After a rejection one place in the text is empty. Which token should fill it? To draw from `p`
# looks right and is wrong. Here is what each token has and lacks:
#
# - The draft proposes A with probability 0.30, and every such proposal is accepted. The target
#   wants 0.45. So A lacks 0.15. In the same way D lacks 0.05.
# - B and C lack nothing: their accepted proposals already give them their full share.
#
# So the correction must come from the missing part alone, `[0.15, 0, 0, 0.05]`. This part sums to
# 0.20, and a distribution sums to 1. How probable should each token be in an empty place? This
# distribution is called the **residual**. Work out its four numbers before you read the card.

# %% [markdown]
# ### Exercise: residual_distribution
#
# **Task.** The residual: the missing part, made into a distribution. **Arguments.** `p` and `q` are
# `(V,)`; the function returns a new `(V,)` array. Leave the arguments as they are. If `p` is
# exactly equal to `q` (not nearly), nothing is missing: return a copy of `p`.
#
# **Example.** For the pair: `[0.75, 0, 0, 0.25]`.


# %% solution="residual_distribution"
def residual_distribution(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The distribution (V,) of the correction after a rejection; a copy of p if p equals q."""
    ### BEGIN SOLUTION
    missing = np.maximum(p - q, 0)
    total = missing.sum()
    if total == 0:
        return p.copy()
    return missing / total
    ### END SOLUTION


# %% [markdown] hints="residual_distribution"
# 1. The residual is the part of p that sticks out above q.
# 2. np.maximum works entry by entry; Python's max compares whole arrays and raises.
# 3. Compute the positive part of p - q and its sum. If the sum is 0, return p.copy(); else return
#    the positive part over its sum.

# %% tags=["demo"]
figures.missing_part(residual_distribution, P, Q)

# %% test="residual_distribution" points=3
lesson.check_residual_distribution(residual_distribution)

# %% [markdown]
# ### The residual in a formula
#
# $$ \text{residual}(x) = \frac{\max(0,\; p(x) - q(x))}{\sum_y \max(0,\; p(y) - q(y))} $$
#
# For the pair, the sum below the line is 0.20. The share of rejected draft tokens is 0.20 too. This
# is no accident: both `p` and `q` sum to 1, so what `q` has above `p` equals what `p` has above `q`.
#
# If you drew the correction from `p`, B and C would be paid twice: in full by acceptance, and once
# more by the correction. "Break the rule" shows the damage.

# %% [markdown]
# ## One position, start to end
#
# Now both halves work together. The draft token is accepted, or a token from the residual takes its
# place. As in chapter 01, `sample_from(probs, u)` draws the token on whose piece of the line from 0
# to 1 the uniform number `u` lies.

# %% [markdown]
# ### Exercise: correct_token
#
# **Task.** One position: accept the draft token, or replace it. **Arguments.** `p` and `q` are `(V,)`,
# `token` was drawn from `q`, `r` and `u` are uniform numbers in [0, 1). The function returns a
# tuple: the token, and whether it is the draft's. Accept on the condition of `speculative_accept`;
# else take `sample_from(residual, u)`.
#
# **Example.** Token 1 of the pair with `r = 0.7`: the ratio is 0.667, so it is
# rejected. With `u = 0.1` the residual `[0.75, 0, 0, 0.25]` gives token 0: `(0, False)`.


# %% solution="correct_token"
def correct_token(p: np.ndarray, q: np.ndarray, token: int, r: float, u: float) -> tuple[int, bool]:
    """The token of one position (V,), and whether it is the draft's; r, u in [0, 1)."""
    ### BEGIN SOLUTION
    if p[token] > 0 and r <= acceptance_probability(p, q, token):
        return token, True
    return sample_from(residual_distribution(p, q), u), False
    ### END SOLUTION


# %% [markdown] hints="correct_token"
# 1. Two of your functions and sample_from do all the work.
# 2. Accept the token on exactly the condition of speculative_accept.
# 3. If accepted, return (token, True). Else return sample_from(residual, u) with False.

# %% [markdown]
# The next figure draws no random numbers. It cuts the square of all `(r, u)` into 60 by 60 cells,
# calls your function in the middle of each cell, and adds up the areas. The result is exact,
# because all borders of the pair, such as 2/3 and 0.75, are multiples of 1/60.

# %% tags=["demo"]
figures.two_masses(correct_token, P, Q)

# %% test="correct_token" points=4
lesson.check_correct_token(correct_token)

# %% [markdown]
# ### Why the bars meet the target
#
# By acceptance, token `x` receives the smaller of `p(x)` and `q(x)`. By correction, token `x`
# receives the share of rejections, 0.20, times its residual. The residual was divided by the same
# 0.20, so the product is the missing part:
#
# $$ \min(p(x),\, q(x)) + \max(0,\; p(x) - q(x)) = p(x) $$
#
# For A: `0.30 + 0.15 = 0.45`. For B: `0.30 + 0 = 0.30`. Chapter 03 looks at this proof and at what
# breaks it.

# %% [markdown]
# ## Break the rule
#
# Here are four rules that people have written, and the right one. Before you run each of them, say
# which bars will stand too high and why. The bars are exact: nothing is sampled. Choose one of
#
# - `"accept everything"`
# - `"accept only where p >= q"`, with the correction from the residual
# - `"draw the correction from p"`, with the right coin
# - `"draft again until one passes"`, with the right coin and no correction
# - `"the rule of this chapter"`

# %% tags=["demo", "shown"]
rule = "accept only where p >= q"
figures.broken_rule(rule, P, Q)

# %% [markdown]
# <details><summary>What goes wrong in each</summary>
#
# - **Accept everything**: the text follows the draft, `[0.30, 0.45, 0.20, 0.05]`.
# - **Accept only where p >= q**: B and C are never written. Even with the correct replacement, the
#   output distribution is `[0.7875, 0, 0, 0.2125]`. Only a coin lets an overstated token in.
# - **Draw the correction from p**: B and C are paid twice. The output is `[0.39, 0.36, 0.18,
#   0.07]`.
# - **Draft again**: the accepted shares 0.30, 0.30, 0.15 and 0.05 are scaled up to
#   `[0.375, 0.375, 0.1875, 0.0625]`. No step gives A and D what they lack.
#
# </details>
#
# To try a wrong rule of your own, write a function like `correct_token` under another name and give
# it to `figures.two_masses`.

# %% [markdown]
# ## A whole step: the bonus token
#
# One target pass over a block of `K` draft tokens gives `K + 1` distributions: one for each draft
# token, and one for the position after the last. If a token is rejected, the step ends with the
# correction. If all tokens are accepted, the last distribution follows a text that we do write. So
# we draw one more token from this distribution, the bonus token. The draft has proposed no token at
# this position, so there is nothing to correct.

# %% [markdown]
# ### Exercise: speculative_step
#
# **Task.** Everything that one step writes. **Arguments.** `draft_tokens` is a list of `K`, which may
# be 0; `p` is `(K + 1, V)`, `q` is `(K, V)`, `r` is `(K,)`. The float `u` draws the correction
# after a rejection, and the bonus token if there is no rejection. The function returns a list of 1
# to `K + 1` tokens.
#
# **Example.** `draft_tokens = [0, 1]` with the pair at both positions and `r = [0.5,
# 0.9]`: token 0 passes, token 1 does not. With `u = 0.8` the residual gives token 3. The answer
# is `[0, 3]`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` (version 5.23.0) is this
# function for one text. It judges the whole block without a loop:
#
# ```python
# r_i = torch.rand_like(probability_ratio)
# is_accepted = r_i <= probability_ratio
# n_matches = ((~is_accepted).cumsum(dim=-1) < 1).sum()
# ```
#
# The cumulative sum counts the rejections so far. This sum is below 1 up to the first rejection.
# The guard for `p = 0` is missing: a coin of exactly 0 would accept.


# %% solution="speculative_step"
def speculative_step(
    draft_tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray, u: float
) -> list[int]:
    """The accepted prefix and one token more; p (K+1, V), q (K, V), r (K,), u in [0, 1)."""
    ### BEGIN SOLUTION
    k = len(draft_tokens)
    accepted = speculative_accept(draft_tokens, p[:k], q, r)
    n = len(accepted)
    last = residual_distribution(p[n], q[n]) if n < k else p[k]
    return [*accepted, sample_from(last, u)]
    ### END SOLUTION


# %% [markdown] hints="speculative_step"
# 1. First the accepted prefix, then exactly one more token, whatever happened.
# 2. The length of the accepted prefix tells which row the last token comes from.
# 3. With n accepted: if n is less than the block's length, draw from the residual of p[n] and
#    q[n]; else draw from p[n], the extra row.

# %% tags=["demo"]
figures.step_lengths(speculative_step, P, Q, k=4)

# %% [markdown]
# The crosses are computed. With the pair at every position, each judged draft token is accepted
# with probability 0.8. So a step writes `n` tokens, 1 to 4, with probability `0.8^(n-1) x 0.2`, and
# five with probability `0.8^4`. Chapter 04 turns the mean, 3.36 tokens a step, into speed.

# %% test="speculative_step" points=4
lesson.check_speculative_step(speculative_step)

# %% [markdown]
# ## Simulator: overlap and residual
#
# Drag the top of a bar, or press Tab and the arrow keys; the other bars of the same model make
# room. Chapters 03 and 04 come back to this picture. Before you move anything, say what will
# happen: raise `q` of B from 0.45 to 0.80. Which numbers rise, which fall, and which bar of the
# residual grows? Then bring the accepted share down to 0.10. A target pass takes 14.1 ms. How long
# does a token take then?

# %% tags=["demo"]
from specdec_lib.lessons.widgets.linked import linked_simulator

linked_simulator("residual", target=P, draft=Q)

# %% [markdown]
# ## Quiz
#
# **Question 1.** The target gives a token the probability 0.30. For which `q` is the token
# accepted for certain, whenever it is drafted?
#
# - a: for every `q`, if the token is the target's most probable one
# - b: for every `q` of at most 0.30
# - c: only for `q` of exactly 0.30, where both models agree
# - d: for every `q` above 0.30, because the draft is surer than the target

# %% solution="quiz_02"
### BEGIN SOLUTION
quiz_02 = "b"
### END SOLUTION

# %% test="quiz_02" points=1
lesson.answered("quiz_02", quiz_02)

# %% [markdown]
# **Question 2.** A block of three was drafted and the second token was rejected. Why is the third
# token dropped, although its own ratio is above 1?
#
# - a: because the correction has used up the third token's coin
# - b: because three tokens a step is the limit
# - c: because its row of `p` was computed after the rejected token, which is not in the text
# - d: because a draft that was wrong once is likely to be wrong again

# %% solution="quiz_02_b"
### BEGIN SOLUTION
quiz_02_b = "c"
### END SOLUTION

# %% test="quiz_02_b" points=1
lesson.answered("quiz_02_b", quiz_02_b)

# %% [markdown]
# ### In your own words
#
# Somebody proposes to save time: "After a rejection, draw from `p`. We want the target's
# distribution, after all." Take `p = [0.5, 0.5]` and `q = [0.75, 0.25]`. Which token comes out too
# often, which too rarely, by how much, and why? Write three to five sentences. A person marks this
# answer.

# %% [markdown] written="why_residual" points=2
# Token 0 comes out too often. The draft proposes it with probability 0.75, of which 0.50 is
# accepted, so token 0 has its full share already. A draw from `p` gives it half of the rejected
# 0.25 on top. Token 1 comes out too rarely: 0.25 is accepted, and it lacks 0.25. All of the
# rejected mass should go to token 1, but it receives only half. The output distribution is
# `min(p, q) + 0.25 p = [0.625, 0.375]`, off by 0.125 each.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence? Decide before you open the answer.
#
# **You might read: "This is standard rejection sampling."**
#
# <details><summary>Answer</summary>
#
# Standard rejection sampling proposes again after each rejection, until a proposal passes. For this
# it needs a number `M` with `M q >= p` for every token, and it accepts with probability `p/(M q)`.
# Here a rejection is followed by one draw from the residual. *Look:* on the pair `M` is 2, so the
# standard method accepts one proposal in two. This rule accepts four in five.
#
# </details>
#
# **You might read: "Tokens are accepted until the first mismatch."**
#
# <details><summary>Answer</summary>
#
# This describes greedy decoding. When tokens are sampled, there is no single right token to match.
# *Look:* token B of the pair is not the target's most probable token, and is accepted two times in
# three.
#
# </details>
#
# **You might read: "Accept if `r <= min(1, p/q)`", with no word about zeros.**
#
# <details><summary>Answer</summary>
#
# In NumPy 0/0 is NaN. *Look:* `min(1, nan)` is 1 and `min(nan, 1)` is NaN, so the order of the two
# arguments decides whether the token is accepted.
#
# </details>

# %% tags=["demo"]
nan = float("nan")
print("min(1, nan) =", min(1, nan), "   min(nan, 1) =", min(nan, 1))
M = (P / Q).max()
print(f"M = {M:.3g}: accepts {1 / M:.2f}, this rule {np.minimum(P, Q).sum():.2f}")

# %% [markdown]
# ## The race again
#
# Your own `speculative_step` now judges every block of the race. The temperature is 1, which leaves
# the models' distributions as they are. The two texts differ, because each side draws its own
# tokens. Which side is faster?

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import judged_by
from specdec_lib.measure.race.race import race

show_race(race("02", {"your rule": judged_by(speculative_step)}, temperature=1))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative
#   Decoding*, ICML 2023, arXiv 2211.17192. `speculative_step` is the second half of its Algorithm
#   1. Appendix A.1 proves that the output distribution is the target's. The proof leaves rounding
#   out.
# - C. Chen, S. Borgeaud, G. Irving, J.-B. Lespiau, L. Sifre, J. Jumper, *Accelerating Large
#   Language Model Decoding with Speculative Sampling*, arXiv 2302.01318. The same rule, found
#   independently. In this paper `q` is the target and `p` the draft. Theorem 1 is the proof.
# - Hugging Face transformers 5.23.0, `transformers.generation.utils._speculative_sampling`: the
#   rule in use. Its standard mode divides by the residual's sum without asking whether it is 0;
#   its ensemble mode, which is not lossless, asks.
#
# The two papers support the rule and its output distribution. None of these sources tells you how
# fast your machine is.
#
# **Next.** Chapter 03 takes the two paths apart, shows the bugs that break them, and asks what
# "exact" means on a computer.
