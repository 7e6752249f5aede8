# %% [markdown]
# # 02 Rejection sampling: keep a draft token without changing the law
#
# 75 minutes · difficulty 4 of 5 · you need: what a probability distribution is, how to index a
# NumPy array, and the picture of chapter 01 (a small model drafts, a large model checks)
#
# **Carry in.** A draft model has proposed a block of tokens. The target model has scored all of
# them in one pass, so at every position two distributions are known.
#
# **Work here.** You decide which tokens to keep, and what to put in place of the first one that
# you do not keep. You write five short functions that do it.
#
# **Carry out.** Whatever the draft proposes, the text follows the target's distribution exactly.
# A poor draft costs time, never quality.
#
# Run the cells from top to bottom. Each exercise is one card: what is asked, a worked number, a
# stub, hints, and a check. The check looks at a few examples; grading looks at many more.

# %% [markdown]
# ## The two distributions
#
# At one position of the text the **target** model gives the distribution `p` and the **draft**
# model gives `q`. Both are over the same vocabulary of `V` tokens, and both are meant *after*
# temperature and any other warping. The draft token `x` is drawn from `q`.
#
# This chapter works on one pair of distributions over four tokens, A to D, with the indices 0
# to 3:
#
# | token | A | B | C | D |
# | --- | --- | --- | --- | --- |
# | target `p` | .45 | .30 | .15 | .10 |
# | draft `q` | .30 | .45 | .20 | .05 |
#
# Leviathan et al. write the target as `p` and the draft as `q`, and so does this course. Chen et
# al. use the same two letters the other way round. Look up which one a text follows before you
# copy a formula from it.

# %%
import numpy as np

from specdec_lib.lessons import ch02 as lesson
from specdec_lib.lessons.ch02 import P, Q, hints
from specdec_lib.sampling import sample_from

# %% tags=["demo"]
from specdec_lib.lessons import ch02_figures as figures

figures.two_distributions(P, Q)

# %% [markdown]
# Put the two rows of bars on top of each other. Where the draft's bar is no higher than the
# target's, the draft proposes that token no more often than it should. Where it is higher, the
# draft proposes too often, and some of those proposals must go.
#
# ### Commit first
#
# Suppose that we refuse exactly the surplus and nothing else. Of all draft tokens, which share is
# kept? Write a number from 0 to 1, by eye, before you calculate anything.

# %% solution="prediction_02"
### BEGIN SOLUTION
prediction_02 = 0.8
### END SOLUTION

# %% test="prediction_02" points=1
lesson.committed("prediction_02", prediction_02, 0, 1)

# %% tags=["demo"]
lesson.reveal(
    "prediction_02",
    prediction_02,
    float(np.minimum(P, Q).sum()),
    "It is the area that the two rows of bars share: .30 + .30 + .15 + .05.",
)

# %% [markdown]
# ## The rule: accept with probability min(1, p/q)
#
# Draw `x` from `q`. Keep it with probability
#
# $$ \min\left(1, \frac{p(x)}{q(x)}\right) $$
#
# and refuse it otherwise. This is Algorithm 1 of Leviathan et al. The ratio has a shape. Token
# `x` is proposed with probability `q(x)`; that is the height of the draft's bar. We want at most
# `p(x)` of it; that is the part of the draft's bar that lies inside the target's. So the
# probability to keep is **the kept height over the whole height of the draft's bar**. It does not
# depend on how likely the token is as such. It depends on how far the draft overstates it.
#
# Four cases, and the last one is often forgotten:
#
# | case | probability to keep | why |
# | --- | --- | --- |
# | `p(x) >= q(x)`, `q(x) > 0` | 1 | the draft proposes it no more often than the target wants |
# | `0 < p(x) < q(x)` | `p(x)/q(x)` | a coin keeps just the share that the target wants |
# | `p(x) = 0` | 0 | the target never writes this token |
# | `q(x) = 0`, `p(x) > 0` | 1 | the draft cannot draw it, yet the ratio must not divide by 0 |
#
# Where both are 0 the third row decides: the token is impossible, so 0.

# %% [markdown]
# ### Exercise: acceptance_probability
#
# **What.** The probability to keep one draft token. **Shapes.** `p` and `q` are `(V,)`, `token` is
# an index; a float comes back. Give no warning, at the two zeros either.
#
# **One worked number.** Token 1 (B) of the pair has `p = .30` and `q = .45`: the answer is
# `.30/.45 = .667`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` forms the same ratio for
# a whole block; in vLLM it is in `vllm/v1/sample/rejection_sampler.py`.

# %% solution="acceptance_probability"
def acceptance_probability(p: np.ndarray, q: np.ndarray, token: int) -> float:
    """The probability with which a draft token is kept: min(1, p/q), 0 where p is 0."""
    ### BEGIN SOLUTION
    if p[token] == 0:
        return 0.0
    if q[token] == 0:
        return 1.0
    return min(1.0, float(p[token] / q[token]))
    ### END SOLUTION


# %% tags=["demo"]
hints(acceptance_probability)

# %% tags=["demo"]
figures.kept_heights(acceptance_probability, P, Q)

# %% test="acceptance_probability" points=3
lesson.check_acceptance_probability(acceptance_probability)

# %% [markdown]
# ## A block: stop at the first refusal
#
# The draft proposes `K` tokens at once. The target's distributions for positions 2, 3, ... were
# computed *given the tokens before them*. If position 2 is refused, position 3 was scored after a
# text that we are not going to write. Its verdict answers a question that nobody asks any more.
# So the walk ends at the first refusal, and all later draft tokens are dropped, good or bad.
#
# The coin is a uniform number in [0, 1). Position `i` has its own token, its own rows `p[i]` and
# `q[i]`, and its own coin `r[i]`. It is kept iff
#
# $$ r_i \le \min\left(1, \frac{p_i(x_i)}{q_i(x_i)}\right) \quad\text{and}\quad p_i(x_i) > 0. $$
#
# The second half matters once in a very long while. A uniform number can be exactly 0, and then
# `0 <= 0` would keep a token that the target never writes.

# %% [markdown]
# ### Exercise: speculative_accept
#
# **What.** The draft tokens that are kept. **Shapes.** `draft_tokens` is a list of `L` indices,
# `p` and `q` are `(L, V)`, `r` is `(L,)`. A list comes back: the longest accepted prefix, possibly
# empty.
#
# **One worked number.** `draft_tokens = [5, 2, 7]` over a vocabulary of eight:
#
# | position | token | `p` | `q` | ratio | `r` | verdict |
# | --- | --- | --- | --- | --- | --- | --- |
# | 0 | 5 | .5 | .4 | 1.25, so 1 | .7 | kept |
# | 1 | 2 | .1 | .5 | .2 | .6 | refused |
# | 2 | 7 | .6 | .3 | 2, so 1 | .1 | not looked at |
#
# The answer is `[5]`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` counts the kept tokens
# with a cumulative sum of the refusals; in vLLM a kernel of
# `vllm/v1/sample/rejection_sampler.py` walks each row as you do.

# %% solution="speculative_accept"
def speculative_accept(
    draft_tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray
) -> list[int]:
    """The longest accepted prefix of `draft_tokens` (L,); p, q (L, V), r (L,) in [0, 1)."""
    ### BEGIN SOLUTION
    accepted = []
    for i, token in enumerate(draft_tokens):
        if p[i, token] == 0 or r[i] > acceptance_probability(p[i], q[i], token):
            break
        accepted.append(token)
    return accepted
    ### END SOLUTION


# %% tags=["demo"]
hints(speculative_accept)

# %% tags=["demo"]
figures.walk_through_block(
    speculative_accept, lesson.BLOCK, lesson.BLOCK_P, lesson.BLOCK_Q, lesson.BLOCK_R
)

# %% test="speculative_accept" points=4
lesson.check_speculative_accept(speculative_accept)

# %% [markdown]
# ## What to write instead: the residual
#
# After a refusal we still owe the reader a token. Drawing it from `p` looks right and is wrong. Here is
# the bookkeeping for token A of the pair. The draft proposes A with .30, and all of it is kept.
# The target wants .45. So A still lacks .15. Token D lacks .05. B and C lack nothing: what was
# proposed and kept already gives them their full share. The replacement must therefore come from
# the missing part alone:
#
# $$ \text{residual}(x) = \frac{\max(0,\; p(x) - q(x))}{\sum_y \max(0,\; p(y) - q(y))} $$
#
# For the pair the missing part is `[.15, 0, 0, .05]`. It sums to .20, which is exactly the share of
# draft tokens that are refused. This is no accident: both `p` and `q` sum to 1, so what sticks
# out on one side is missing on the other. Divided by .20 it gives `[.75, 0, 0, .25]`.
#
# If you drew from `p` instead, B and C would be paid twice. Over the whole pair the law would be
# `[.39, .36, .18, .07]` in place of `[.45, .30, .15, .10]`.

# %% [markdown]
# ### Exercise: residual_distribution
#
# **What.** The distribution of the replacement. **Shapes.** `p` and `q` are `(V,)`; a new `(V,)`
# array comes back. Where nothing is missing (`p` equal to `q`) there is nothing to divide: return
# a copy of `p`. Leave the arguments as they are.
#
# **One worked number.** For the pair: `[.75, 0, 0, .25]`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` calls it `p_prime`; in
# vLLM the recovered tokens of `vllm/v1/sample/rejection_sampler.py` are drawn from it.

# %% solution="residual_distribution"
def residual_distribution(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The distribution (V,) after a refusal: max(0, p - q), normalised; p where that is empty."""
    ### BEGIN SOLUTION
    missing = np.maximum(p - q, 0)
    total = missing.sum()
    if total == 0:
        return p.copy()
    return missing / total
    ### END SOLUTION


# %% tags=["demo"]
hints(residual_distribution)

# %% tags=["demo"]
figures.missing_part(residual_distribution, P, Q)

# %% test="residual_distribution" points=3
lesson.check_residual_distribution(residual_distribution)

# %% [markdown]
# ### Commit first
#
# One more guess. A different pair: `p = [.5, .5]` and `q = [.75, .25]`. The draft token is refused.
# With which probability is the replacement token 0? Write a number from 0 to 1.

# %% solution="prediction_02_b"
### BEGIN SOLUTION
prediction_02_b = 0.0
### END SOLUTION

# %% test="prediction_02_b" points=1
lesson.committed("prediction_02_b", prediction_02_b, 0, 1)

# %% tags=["demo"]
lesson.reveal(
    "prediction_02_b",
    prediction_02_b,
    max(0.0, 0.5 - 0.75),
    "Token 0 was proposed too often, so it lacks nothing; only token 1 does.",
)

# %% [markdown]
# ## One position, start to end
#
# Now both halves together. Either the draft token passes, or one token from the residual takes
# its place. Add up what each token receives:
#
# $$ \underbrace{q(x) \min\left(1, \frac{p(x)}{q(x)}\right)}_{\text{accepted}} +
# \underbrace{(1 - \beta)\;\text{residual}(x)}_{\text{corrected}} = \min(p(x), q(x)) +
# \max(0, p(x) - q(x)) = p(x) $$
#
# with $\beta = \sum_x \min(p(x), q(x))$, the share that is kept. Each token receives what the
# target wants, whichever of the two is larger. Leviathan et al. prove it in their Appendix A.1,
# Chen et al. in their Theorem 1. Chapter 03 looks at the proof and at what breaks it.

# %% [markdown]
# ### Exercise: correct_token
#
# **What.** One position: keep the draft token, or replace it. **Shapes.** `p` and `q` are `(V,)`,
# `token` was drawn from `q`, `r` and `u` are uniform numbers in [0, 1). Two things come back: the
# token, and whether it is the draft's. Keep it on the condition of `speculative_accept`; else take
# `sample_from(residual, u)`, which is given.
#
# **One worked number.** Token 1 of the pair with `r = .7`: the ratio is .667, so it is refused. With
# `u = .1` the residual `[.75, 0, 0, .25]` gives token 0: `(0, False)`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` draws the replacement
# with `torch.multinomial`; in vLLM, `vllm/v1/sample/rejection_sampler.py`.

# %% solution="correct_token"
def correct_token(
    p: np.ndarray, q: np.ndarray, token: int, r: float, u: float
) -> tuple[int, bool]:
    """The token of one position (V,), and whether it is the draft's; r, u in [0, 1)."""
    ### BEGIN SOLUTION
    if p[token] > 0 and r <= acceptance_probability(p, q, token):
        return token, True
    return sample_from(residual_distribution(p, q), u), False
    ### END SOLUTION


# %% tags=["demo"]
hints(correct_token)

# %% [markdown]
# The next figure draws no random numbers at all. It cuts the square of all `(r, u)` into 12 by 12
# cells, calls your function in the middle of each, and adds up the areas. The ratios and the residual
# of the pair are multiples of 1/12, so the sum is exact.

# %% tags=["demo"]
figures.two_masses(correct_token, P, Q)

# %% test="correct_token" points=4
lesson.check_correct_token(correct_token)

# %% [markdown]
# ## A whole step: the bonus token
#
# One target pass over a block of `K` draft tokens gives `K + 1` distributions: one for each draft
# token, and one more for the position after the last. If a token is refused, the step ends with
# the replacement. If all are kept, that last row is there already, paid for, and conditioned on
# a text that we do write. Draw one more token from it: the **bonus token**. So a step always writes
# at least one token and at most `K + 1`.
#
# The bonus token comes from the plain target row. The draft has proposed nothing at that position,
# so there is nothing to correct.

# %% [markdown]
# ### Exercise: speculative_step
#
# **What.** Everything that one step writes. **Shapes.** `draft_tokens` is a list of `K`, `p` is
# `(K + 1, V)`, `q` is `(K, V)`, `r` is `(K,)`, `u` a float. A list of 1 to `K + 1` tokens comes
# back. `K` may be 0.
#
# **One worked number.** `draft_tokens = [0, 1]` with the pair at both positions and
# `r = [.5, .9]`: token 0 passes, token 1 does not. With `u = .8` the residual gives token 3. The
# answer is `[0, 3]`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` is this function, less
# the guards; in vLLM, the class `RejectionSampler` of `vllm/v1/sample/rejection_sampler.py`.

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


# %% tags=["demo"]
hints(speculative_step)

# %% tags=["demo"]
figures.step_lengths(speculative_step, P, Q, k=4)

# %% test="speculative_step" points=4
lesson.check_speculative_step(speculative_step)

# %% [markdown]
# ## Simulator: one token, and four
#
# Left: one token with a slider for `p` and one for `q`. Right: four tokens with weights that you
# choose; the bars always sum to 1.
#
# Before you move anything, say what will happen. Raise `q` of the single token from .40 to .80 and
# leave `p` at .60: does the token become safer or less safe? Then try to bring the kept share of the
# right side below .10, and then to exactly 1. What do the two rows look like each time?

# %% tags=["demo"]
from specdec_lib.lessons.widgets.acceptance import acceptance_simulator

acceptance_simulator(p=0.6, q=0.4, target=P, draft=Q)

# %% [markdown]
# The same two states as a still picture, from your own functions:

# %% tags=["demo"]
figures.before_and_after(acceptance_probability, p=0.6, before=0.4, after=0.8)

# %% [markdown]
# ## The smallest example that makes it click
#
# Two tokens, `p = [.5, .5]`, `q = [.75, .25]`. Take 100 proposals.
#
# - The draft says token 0 in 75 of them. The ratio is 2/3, so 50 stay and 25 are refused.
# - The draft says token 1 in 25 of them. The ratio is 2, so all 25 stay.
# - The residual is `[0, 1]`: every refusal becomes token 1.
#
# Token 0 ends with 50, token 1 with 25 + 25 = 50. If you can tell this to somebody else without
# paper, you have the chapter.

# %% [markdown]
# ## Quiz
#
# **Question 1.** When is a draft token kept for certain?
#
# - a: when it is the target's most probable token
# - b: when the target gives it at least the probability that the draft gives it
# - c: when both models agree on their most probable token
# - d: when the target gives it more than one half

# %% solution="quiz_02"
### BEGIN SOLUTION
quiz_02 = "b"
### END SOLUTION

# %% test="quiz_02" points=1
lesson.answered("quiz_02", quiz_02)

# %% [markdown]
# **Question 2.** A block of three was drafted and position 2 was refused. Why is the draft token at
# position 3 dropped, although its own ratio is above 1?
#
# - a: because the replacement has used up the random number of position 3
# - b: because three tokens a step is the limit
# - c: because its row of `p` was computed after the refused token, which is not in the text
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
# Somebody proposes to save time: "After a refusal, just draw from `p`. The target is the
# distribution that we want, after all." In three to five sentences: which tokens come out too
# often, which too rarely, and why? Use the pair of this chapter. A person marks this answer.

# %% [markdown] written="why_residual" points=2
# Tokens that the draft overstates (B and C) come out too often. They have had their full share `p`
# from the accepted proposals already, and a draw from `p` gives them a second helping. Tokens that
# the draft understates (A and D) come out too rarely: all refused mass, .20, should go to them,
# .15 to A and .05 to D, but they receive only the fractions .45 and .10 of it. The law is
# `min(p, q) + .20 p = [.39, .36, .18, .07]`.

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: "This is standard rejection sampling."** It is not so, because standard rejection
# sampling has an envelope `M q >= p` and tries again after each refusal; here a refusal is followed
# by one draw from the residual, and there is never a second try. *Look:* on the pair the envelope
# needs `M = 2`, so the standard method keeps one proposal in two, and this rule keeps .80.
#
# **You might read: "Tokens are kept until the first mismatch."** It is not so, because that is
# greedy decoding. When sampling, a token that is not the target's favourite can be kept, and one that
# both models like can be refused. *Look:* token B of the pair is not the target's most probable one and
# is kept two times in three.
#
# **You might read: "accept iff r <= p/q", and nothing about zeros.** It is not so simple, because 0/0
# is NaN, and whether `min(1, nan)` keeps the token depends on the order of its arguments.
# *Look:* the next cell.
#
# **You might read: "The rest of the draft is thrown away and drafting starts again."** It is not
# enough, because without the replacement the law changes. *Look:* dropping refused tokens and drafting
# anew gives `min(p, q)/.80 = [.375, .375, .1875, .0625]`.

# %% tags=["demo"]
nan = float("nan")
print("min(1, nan) =", min(1, nan), "   min(nan, 1) =", min(nan, 1))
overlap = np.minimum(P, Q)
kept = overlap.sum()
print(f"the envelope needs M = {(P / Q).max():.3g}: it keeps {1 / (P / Q).max():.2f}, this rule {kept:.2f}")
print("replacement drawn from p: ", np.round(overlap + (1 - kept) * P, 4))
print("refused and drafted anew: ", np.round(overlap / kept, 4))
print("target:                   ", P)

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192. Algorithm 1 is `speculative_step`; Appendix A.1 proves that the law
#   is the target's. It does not speak of zero probabilities, and floating point is outside its
#   proof.
# - C. Chen, S. Borgeaud, G. Irving, J.-B. Lespiau, L. Sifre, J. Jumper, *Accelerating Large Language
#   Model Decoding with Speculative Sampling*, arXiv 2302.01318. The same rule, found independently,
#   with the letters p and q exchanged; Theorem 1 is the proof.
# - Hugging Face transformers 5.23.0, `transformers.generation.utils._speculative_sampling`: the rule
#   in use. It divides by the residual's sum without asking whether it is 0.
# - vLLM, `vllm/v1/sample/rejection_sampler.py`: the rule for many requests in one kernel.
#
# The two papers support the rule and its law. They do not support any statement on speed for your
# machine; chapters 04 and 05 measure that.
#
# **Next.** Chapter 03 takes the two paths apart, finds the bugs that this rule does not survive, and
# asks what "exact" means on a computer.
