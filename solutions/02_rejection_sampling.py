# %% [markdown]
# # 02 Rejection sampling: accept a draft token without changing the law
#
# 75 minutes · difficulty 4 of 5 · you need: what a probability distribution is, how to index a
# NumPy array, and the picture of chapter 01 (a small model drafts, a large model checks)
#
# **Carry in.** A draft model has proposed a block of tokens. The target model has scored all of
# them in one pass, so at every position two distributions are known.
#
# **Work here.** You decide which tokens to **accept** (they stay) and which to **reject**, and what
# to put in place of the first one that is rejected. You write five short functions that do it.
#
# **Carry out.** If every draft token is drawn from the very `q` that the rule divides by, the text
# follows the target's distribution, up to rounding. A poor `q` costs time, never quality.
#
# Run the cells from top to bottom. Each exercise is one card: what is asked, a worked number, a
# stub, hints, and a check. The check looks at a few examples; grading looks at many more. Later
# exercises call the earlier ones, so get each one right before you go on. If a run of all cells
# stops, scroll up to the red box: it says what is missing.

# %% [markdown]
# ## The two distributions
#
# At one position of the text the **target** model gives the distribution `p` and the **draft**
# model gives `q`. Both are over the same vocabulary of `V` tokens, and both are meant *after*
# temperature, top-k and top-p. The draft token `x` is drawn from `q`.
#
# This chapter works on one pair of distributions over four tokens, A to D, with the indices 0
# to 3:
#
# | token | A | B | C | D |
# | --- | --- | --- | --- | --- |
# | target `p` | .45 | .30 | .15 | .10 |
# | draft `q` | .30 | .45 | .20 | .05 |
#
# The letters are those of Leviathan et al.; Chen et al. use the same two the other way round.

# %%
import numpy as np

from specdec_lib.lessons.ch02 import checks as lesson
from specdec_lib.lessons.ch02.checks import P, Q, hints
from specdec_lib.sampling import sample_from

# %% tags=["demo"]
from specdec_lib.lessons.ch02 import figures

figures.two_distributions(P, Q)

# %% [markdown]
# Lay each draft bar over the target bar beside it. Where the draft's bar is no higher than the
# target's, the draft proposes that token no more often than it should. Where it is higher, the
# draft proposes too often, and some of those proposals must go.
#
# ### Commit first
#
# Suppose that we reject exactly the surplus and nothing else. What share of all draft tokens is
# accepted? Write a number from 0 to 1, by eye, before you calculate anything.

# %% solution="prediction_02"
### BEGIN SOLUTION
prediction_02 = 0.8
### END SOLUTION

# %% test="prediction_02" points=1
lesson.committed("prediction_02", prediction_02, 0, 1)

# %% tags=["demo"]
lesson.reveal("prediction_02", prediction_02)

# %% [markdown]
# ## The rule: accept with probability min(1, p/q)
#
# Draw `x` from `q`. Accept it with probability
#
# $$ \min\left(1, \frac{p(x)}{q(x)}\right) $$
#
# and reject it otherwise. The rule is in section 2.3 of Leviathan et al. The ratio has a shape.
# Token `x` is proposed with probability `q(x)`; that is the height of the draft's bar. We can use
# at most `p(x)` of it; that is the part of the draft's bar that lies inside the target's. So the
# acceptance probability is **the accepted height over the whole height of the draft's bar**. It
# does not depend on how likely the token is as such. It depends on how far the draft overstates it.
#
# Why a coin, and not simply "accept where p is at least q"? Because B and C would then never be
# written at all: even with a right replacement for what is rejected the law would be
# `[.7875, 0, 0, .2125]`. The coin gives an overstated token just the share that it should have.
#
# Four cases, and the last one is often forgotten:
#
# | case | acceptance probability | why |
# | --- | --- | --- |
# | `p(x) >= q(x)`, `q(x) > 0` | 1 | the draft proposes it no more often than the target wants |
# | `0 < p(x) < q(x)` | `p(x)/q(x)` | a coin accepts just the share that the target wants |
# | `p(x) = 0` | 0 | the target never writes this token |
# | `q(x) = 0`, `p(x) > 0` | 1 | a convention: such a token is never drawn |
#
# Where both are 0 the third row decides: the token is impossible, so 0.

# %% [markdown]
# ### Exercise: acceptance_probability
#
# **What.** The probability with which one draft token is accepted. **Shapes.** `p` and `q` are
# `(V,)`, `token` is an index; a float comes back. No warning may appear, also not where `p` or `q`
# is 0.
#
# **One worked number.** Token 1 (B) of the pair has `p = .30` and `q = .45`: the answer is
# `.30/.45 = .667`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` forms the same ratio for
# a whole block. In vLLM, `rejection_random_sample_kernel` of
# `vllm/v1/sample/rejection_sampler.py` compares it with the coin, and rejects where q is 0.


# %% solution="acceptance_probability"
def acceptance_probability(p: np.ndarray, q: np.ndarray, token: int) -> float:
    """The probability that a draft token is accepted: min(1, p/q), 0 where p is 0; p, q (V,)."""
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
figures.accepted_heights(acceptance_probability, P, Q)

# %% test="acceptance_probability" points=3
lesson.check_acceptance_probability(acceptance_probability)

# %% [markdown]
# ## A block: stop at the first rejection
#
# The draft proposes `K` tokens at once. The target's distribution for each of them was computed
# *given the draft tokens before it*. If the token at position 1 is rejected, the one at position 2
# was scored after a text that we are not going to write. Its verdict answers a question that nobody
# asks any more. So the walk ends at the first rejection, and all later draft tokens are dropped,
# good or bad. Positions count from 0, as the arrays do.
#
# The coin is a uniform number in [0, 1). Position `i` has its own token, its own rows `p[i]` and
# `q[i]`, and its own coin `r[i]`. Its token is accepted exactly when
#
# $$ r_i \le \min\left(1, \frac{p_i(x_i)}{q_i(x_i)}\right) \quad\text{and}\quad p_i(x_i) > 0. $$
#
# The second half matters once in a very long while. A uniform number can be exactly 0, and then
# `0 <= 0` would accept a token that the target never writes. Chapter 08 writes the rule as
# `r q < p`, without a division; there `0 < 0` is false by itself. The two rules differ only where
# `r` equals the ratio exactly, which has probability 0.

# %% [markdown]
# ### Exercise: speculative_accept
#
# **What.** The draft tokens that are accepted. **Shapes.** `draft_tokens` is a list of `L` indices,
# the block's length, `p` and `q` are `(L, V)`, `r` is `(L,)`. A list comes back: the longest
# accepted prefix, possibly empty. No warning may appear. Whether you write `<=` or `<` is left to
# you: a coin equals a ratio with probability 0. Chapter 08 compares texts of one seed, and has one
# rule.
#
# **One worked number.** `draft_tokens = [3, 1, 2]` over a vocabulary of four:
#
# | position | token | `p` | `q` | ratio | `r` | verdict |
# | --- | --- | --- | --- | --- | --- | --- |
# | 0 | 3 | .5 | .4 | 1.25, so 1 | .7 | accepted |
# | 1 | 1 | .1 | .5 | .2 | .6 | rejected |
# | 2 | 2 | .6 | .3 | 2, so 1 | .1 | not looked at |
#
# The answer is `[3]`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` counts the accepted
# tokens with a cumulative sum of the rejections; in vLLM, `rejection_random_sample_kernel` of
# `vllm/v1/sample/rejection_sampler.py` walks each request's block as you do.


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
# After a rejection we still owe the reader a token, the **correction**.
#
# ### Commit first
#
# A smaller pair: `p = [.5, .5]` and `q = [.75, .25]`. The draft token was rejected. With which
# probability should the replacement be token 0? Write a number from 0 to 1.

# %% solution="prediction_02_b"
### BEGIN SOLUTION
prediction_02_b = 0.0
### END SOLUTION

# %% test="prediction_02_b" points=1
lesson.committed("prediction_02_b", prediction_02_b, 0, 1)

# %% tags=["demo"]
lesson.reveal("prediction_02_b", prediction_02_b)

# %% [markdown]
# Drawing the replacement from `p` looks right and is wrong. Here is the bookkeeping for token A of
# the chapter's pair. The draft proposes A with .30, and all of it is accepted.
# The target wants .45. So A still lacks .15. Token D lacks .05. B and C lack nothing: what was
# proposed and accepted already gives them their full share. The replacement must therefore come from
# the missing part alone:
#
# $$ \text{residual}(x) = \frac{\max(0,\; p(x) - q(x))}{\sum_y \max(0,\; p(y) - q(y))} $$
#
# For the pair the missing part is `[.15, 0, 0, .05]`. It sums to .20, which is exactly the share of
# draft tokens that are rejected. This is no accident: both `p` and `q` sum to 1, so what sticks
# out on one side is missing on the other. Divided by .20 it gives `[.75, 0, 0, .25]`.
#
# If you drew from `p` instead, B and C would be paid twice. Over the whole pair the law would be
# `[.39, .36, .18, .07]` in place of `[.45, .30, .15, .10]`. Why is for you to explain, in the
# written question at the end.

# %% [markdown]
# ### Exercise: residual_distribution
#
# **What.** The distribution of the replacement. **Shapes.** `p` and `q` are `(V,)`; a new `(V,)`
# array comes back. Where nothing is missing (`p` exactly equal to `q`, not nearly) there is nothing
# to divide by: return a copy of `p`. Leave the arguments as they are.
#
# **One worked number.** For the pair: `[.75, 0, 0, .25]`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` calls it `p_prime`. In
# vLLM, `sample_recovered_tokens_kernel` of `vllm/v1/sample/rejection_sampler.py` draws from it
# without normalising it first.


# %% solution="residual_distribution"
def residual_distribution(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The distribution (V,) after a rejection: max(0, p - q), normalised; p where that is empty."""
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
# ## One position, start to end
#
# Now both halves together. Either the draft token passes, or one token from the residual takes
# its place. Add up what each token receives:
#
# $$ \underbrace{q(x) \min\left(1, \frac{p(x)}{q(x)}\right)}_{\text{accepted}} +
# \underbrace{(1 - \beta)\;\text{residual}(x)}_{\text{corrected}} = \min(p(x), q(x)) +
# \max(0, p(x) - q(x)) = p(x) $$
#
# with $\beta = \sum_x \min(p(x), q(x))$, the share that is accepted, .80 for the pair. Each token
# receives what the target wants, whichever of the two is larger. Leviathan et al. prove it in
# their Appendix A.1, Chen et al. in their Theorem 1. Chapter 03 looks at the proof and at what
# breaks it.

# %% [markdown]
# ### Exercise: correct_token
#
# **What.** One position: accept the draft token, or replace it. **Shapes.** `p` and `q` are `(V,)`,
# `token` was drawn from `q`, `r` and `u` are uniform numbers in [0, 1). A tuple comes back: the
# token, and whether it is the draft's. Accept it on the condition of `speculative_accept`; else
# take `sample_from(residual, u)`, which is given.
#
# **One worked number.** Token 1 of the pair with `r = .7`: the ratio is .667, so it is rejected. With
# `u = .1` the residual `[.75, 0, 0, .25]` gives token 0: `(0, False)`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` draws the replacement
# with `torch.multinomial`; in vLLM it is drawn for every position beforehand, in
# `vllm/v1/sample/rejection_sampler.py`, and used where a rejection needs it.


# %% solution="correct_token"
def correct_token(p: np.ndarray, q: np.ndarray, token: int, r: float, u: float) -> tuple[int, bool]:
    """The token of one position (V,), and whether it is the draft's; r, u in [0, 1)."""
    ### BEGIN SOLUTION
    if p[token] > 0 and r <= acceptance_probability(p, q, token):
        return token, True
    return sample_from(residual_distribution(p, q), u), False
    ### END SOLUTION


# %% tags=["demo"]
hints(correct_token)

# %% [markdown]
# The next figure draws no random numbers at all. It cuts the square of all `(r, u)` into 60 by 60
# cells, calls your function in the middle of each, and adds up the areas. The ratios of the pair and
# the cumulative sums of `p`, `q` and the residual are multiples of 1/60, so the sum is exact.

# %% tags=["demo"]
figures.two_masses(correct_token, P, Q)

# %% test="correct_token" points=4
lesson.check_correct_token(correct_token)

# %% [markdown]
# ## A whole step: the bonus token
#
# One target pass over a block of `K` draft tokens gives `K + 1` distributions: one for each draft
# token, and one more for the position after the last. If a token is rejected, the step ends with
# the replacement. If all are accepted, that last row is there already, paid for, and conditioned on
# a text that we do write. Draw one more token from it: the **bonus token**. So a step always writes
# at least one token and at most `K + 1`.
#
# The bonus token comes from the plain target row. The draft has proposed nothing at that position,
# so there is nothing to correct.

# %% [markdown]
# ### Exercise: speculative_step
#
# **What.** Everything that one step writes. **Shapes.** `draft_tokens` is a list of `K`, `p` is
# `(K + 1, V)`, `q` is `(K, V)`, `r` is `(K,)`, `u` a float: it draws the replacement after a
# rejection, and the bonus token after none. A list of 1 to `K + 1` tokens comes back. `K` may be 0.
#
# **One worked number.** `draft_tokens = [0, 1]` with the pair at both positions and
# `r = [.5, .9]`: token 0 passes, token 1 does not. With `u = .8` the residual gives token 3. The
# answer is `[0, 3]`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` is this function on
# logits, for one sequence; it draws `r` and `u` itself and has no guard for `p = 0`. In vLLM, the
# class `RejectionSampler` of `vllm/v1/sample/rejection_sampler.py`.


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

# %% [markdown]
# The crosses are computed: with the pair at every position a block of four ends after `n` tokens
# with probability `.8^(n-1) x .2`, and with probability `.8^4` it is accepted whole. The mean, 3.36
# tokens a block, is what chapters 04 and 05 turn into speed.

# %% test="speculative_step" points=4
lesson.check_speculative_step(speculative_step)

# %% [markdown]
# ## Simulator: one token, and four
#
# Upper panel: one token, with a slider for `p` and one for `q`. Lower panel: four tokens with weights
# that you choose; the bars always sum to 1.
#
# Before you move anything, say what will happen. Raise `q` of the single token from .40 to .80 and
# leave `p` at .60: is it accepted more often or less often? Then try to bring the accepted share of
# the lower panel below .10, and then to exactly 1. What do the two rows look like each time?

# %% tags=["demo"]
from specdec_lib.lessons.widgets.acceptance import acceptance_simulator

acceptance_simulator(p=0.6, q=0.4, target=P, draft=Q)

# %% [markdown]
# The single token before and after the move, as a still picture, from your own function:

# %% tags=["demo"]
figures.before_and_after(acceptance_probability, p=0.6, before=0.4, after=0.8)

# %% [markdown]
# ## The smallest example that makes it click
#
# Two tokens, `p = [.5, .5]`, `q = [.75, .25]`. Take 100 proposals.
#
# - The draft says token 0 in 75 of them. The ratio is 2/3, so 50 stay and 25 are rejected.
# - The draft says token 1 in 25 of them. The ratio is 2, so all 25 stay.
# - The residual is `[0, 1]`: every rejection becomes token 1.
#
# Token 0 ends with 50, token 1 with 25 + 25 = 50. If you can tell this to somebody else without
# paper, you have the chapter.

# %% [markdown]
# ## Quiz
#
# **Question 1.** The target gives a token the probability .30. For which `q` is it accepted for
# certain, whenever it is drafted?
#
# - a: for every `q`, if the token is the target's most probable one
# - b: for every `q` of at most .30
# - c: only for `q` of exactly .30, where both models agree
# - d: for every `q` above .30, because the draft is surer than the target

# %% solution="quiz_02"
### BEGIN SOLUTION
quiz_02 = "b"
### END SOLUTION

# %% test="quiz_02" points=1
lesson.answered("quiz_02", quiz_02)

# %% [markdown]
# **Question 2.** A block of three was drafted and the second token was rejected. Why is the third
# dropped, although its own ratio is above 1?
#
# - a: because the replacement has used up the third token's coin
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
# Somebody proposes to save time: "After a rejection, just draw from `p`. The target is the
# distribution that we want, after all." Take `p = [.5, .5]` and `q = [.75, .25]`. Which token
# comes out too often, which too rarely, by how much, and why? Three to five sentences. A person
# marks this answer.

# %% [markdown] written="why_residual" points=2
# Token 0 comes out too often. The draft proposes it with .75, of which .50 is accepted, so it has
# its full share already; a draw from `p` gives it half of the rejected .25 on top. Token 1 comes
# out too rarely: .25 is accepted, it lacks .25, and all of the rejected mass should go to it, but it
# receives only half of that. The law is `min(p, q) + .25 p = [.625, .375]`, off by .125 each.

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: "This is standard rejection sampling."** It is not so, because standard rejection
# sampling has an envelope `M q >= p` and tries again after each rejection; here a rejection is followed
# by one draw from the residual, and there is never a second try. *Look:* on the pair the envelope
# needs `M = 2`, so the standard method accepts one proposal in two, and this rule .80.
#
# **You might read: "Tokens are accepted until the first mismatch."** It is not so, because that is
# greedy decoding. When sampling, a token that is not the target's favourite can be accepted, and one
# that both models like can be rejected. *Look:* token B of the pair is not the target's most probable
# one and is accepted two times in three.
#
# **You might read: "accept iff r <= p/q", and nothing about zeros.** It is not so simple, because 0/0
# is NaN, and whether the token is then accepted depends on the order of the arguments of `min`.
# *Look:* the next cell.
#
# **You might read: "A rejected token is dropped, and the draft tries again at that position."** It is
# not so, because trying until a draft token passes pays every token in proportion to what was accepted
# of it. *Look:* that gives `min(p, q)/.80 = [.375, .375, .1875, .0625]`.

# %% tags=["demo"]
nan = float("nan")
print("min(1, nan) =", min(1, nan), "   min(nan, 1) =", min(nan, 1))
overlap = np.minimum(P, Q)
beta = overlap.sum()
envelope = (P / Q).max()
print(f"envelope M = {envelope:.3g}: accepts {1 / envelope:.2f}, this rule {beta:.2f}")
print("replacement drawn from p:      ", np.round(overlap + (1 - beta) * P, 4))
print("drafted again until one passes:", np.round(overlap / beta, 4))
print("target:                        ", P)

# %% [markdown]
# ## The race again
#
# At temperature 1 your own `speculative_step` now judges every block of the race. The two texts
# differ, because each side draws its own tokens, and the right side is still the faster one.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import judged_by
from specdec_lib.measure.race.race import race

show_race(race("02", {"your rule": judged_by(speculative_step)}, texts=2, temperature=1))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192. `speculative_step` is the second half of its Algorithm 1; drafting
#   and scoring are chapter 01. Appendix A.1 proves that the law is the target's. Rounding is outside
#   the proof.
# - C. Chen, S. Borgeaud, G. Irving, J.-B. Lespiau, L. Sifre, J. Jumper, *Accelerating Large Language
#   Model Decoding with Speculative Sampling*, arXiv 2302.01318. The same rule, found independently,
#   with the letters p and q exchanged; Theorem 1 is the proof.
# - Hugging Face transformers 5.23.0, `transformers.generation.utils._speculative_sampling`: the rule
#   in use. Its standard mode divides by the residual's sum without asking whether it is 0; its
#   ensemble mode, which is not lossless, asks.
# - vLLM, `vllm/v1/sample/rejection_sampler.py`: the rule for many requests at once.
#
# The two papers support the rule and its law. They do not support any statement on speed for your
# machine; chapters 04 and 05 speak of that.
#
# **Next.** Chapter 03 takes the two paths apart, shows the bugs that break them, and asks what "exact"
# means on a computer.
