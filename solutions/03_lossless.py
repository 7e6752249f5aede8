# %% [markdown]
# # 03 Lossless: why the text is the target's, and what breaks it
#
# 80 minutes · difficulty 4 of 5 · you need: NumPy, and chapter 02's rule, which is restated below
#
# - **Intuition**: 60 proposals, counted by hand, in the first section.
# - **Mathematics**: the two paths into every token, in "The proof".
# - **Code**: a judge that counts what a sampler does, in "Impostors".
# - **Demo**: your judge finds a bug in a library that is installed here, in "Judge the real library".
#
# **You come with** a rule that accepts draft tokens and corrects a rejection.
# **You build** a proof in code, a judge of samplers, and a forgery that only the judge sees.
# **You leave with** the three conditions under which drafting changes nothing but the time.

# %%
import numpy as np

from specdec_lib.lessons.ch03 import checks as lesson
from specdec_lib.lessons.ch03.checks import P, Q

# %% [markdown]
# ## The smallest example: 60 proposals
#
# At one position of a text, the **target** has the distribution `p` and the **draft** has `q`. The
# rule draws a draft token `x` from `q` and keeps `x` with probability `min(1, p(x)/q(x))`. The coin
# that decides is a number `r` in [0, 1). After a rejection the rule draws one replacement from the
# **residual**: `max(0, p - q)`, divided by its sum. A second number `u` draws this replacement.
#
# Take two tokens, with `p = [0.5, 0.5]` and `q = [0.6, 0.4]`. Count 60 proposals:
#
# | the draft proposes | how many | ratio `p/q` | kept | replaced by token 1 |
# | --- | --- | --- | --- | --- |
# | token 0 | 36 | 5/6 | 30 | 6 |
# | token 1 | 24 | above 1 | 24 | 0 |
#
# Token 0 is written 30 times, and token 1 is written 24 + 6 = 30 times. The draft prefers token 0,
# and the text does not show this preference.
#
# The distribution of the token that a sampler writes is called the **law** of the sampler. A
# sampler is **lossless** if its law is `p`. On these 60 proposals the rule was lossless. Is it
# always? How would you notice if it were not?

# %% [markdown]
# ## How far apart are two distributions?
#
# Chapter 02 used four tokens, A to D, with `p = [0.45, 0.30, 0.15, 0.10]` and
# `q = [0.30, 0.45, 0.20, 0.05]`. Somebody draws one token from `p` or from `q`. To guess from which,
# you may ask one yes-or-no question about the token: is it an A? Is it an A or a C? The picture
# shows every question for which a yes is more probable under `p`. Which question separates `p`
# and `q` best? Which tokens does it ask for?

# %% tags=["demo"]
from specdec_lib.lessons.ch03 import figures

figures.best_question(P, Q)

# %% [markdown]
# ### Exercise: total_variation
#
# **Task.** The gap of the best question: the largest difference between `p` and `q` in the
# probability of a yes. A question may ask for several tokens. With 32,000 tokens nobody can try
# every question. First say which tokens the best question asks for, then add up. **Arguments.** `p` and
# `q` are `(V,)`. The function returns a float from 0 (equal) to 1 (nothing shared).
#
# **Example.** The pair of the picture: 0.20.


# %% solution="total_variation"
def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """The largest gap of a yes-or-no question between two distributions (V,)."""
    ### BEGIN SOLUTION
    return float(np.abs(p - q).sum() / 2)
    ### END SOLUTION


# %% [markdown] hints="total_variation"
# 1. Look at the best question of the picture. Which tokens does it answer with yes?
# 2. Those that p has more of. What p has beyond q is as much as what q has beyond p, so the sum
#    of all differences without signs counts it twice.
# 3. Return half the sum of np.abs(p - q), as a float.

# %% tags=["demo"]
figures.shared_mass(total_variation, P, Q)

# %% test="total_variation" points=2
lesson.check_total_variation(total_variation)

# %% [markdown]
# The best question asks for every token that `p` has more of. Both distributions sum to 1. So what
# `p` has above the overlap equals what `q` has above it. This mass is the **total variation**, TV.
# It is also the probability that must be moved to turn `q` into `p`.
#
# $$ \mathrm{TV}(p, q) = \frac{1}{2} \sum_x |p(x) - q(x)| = 1 - \sum_x \min(p(x), q(x)) $$
#
# ## How much can any exact rule keep?
#
# Perhaps a cleverer rule is lossless and keeps more. With two tokens you can try every rule. A rule
# keeps token 0 with one chance and token 1 with another, and after a rejection it may write what it
# likes. The next cell tries 61 values of each chance. A dot is a pair of chances that an exact rule
# can have, and the circle marks the pair that keeps the most.

# %% tags=["demo"]
figures.best_rules(lesson.RULE_PAIRS)

# %% [markdown]
# ### Exercise: acceptance_rate
#
# **Task.** The largest share of draft tokens that an exact rule can keep, for any number of tokens.
# Each title above has the largest share for two tokens. What does each token add to this share?
# **Arguments.** `p` and `q` are `(V,)`; the function returns a float from 0 to 1. `q` may have zeros,
# and no warning is allowed.
#
# **Example.** The pair of four tokens: 0.80.


# %% solution="acceptance_rate"
def acceptance_rate(p: np.ndarray, q: np.ndarray) -> float:
    """The largest share of tokens drawn from q (V,) that an exact rule can keep."""
    ### BEGIN SOLUTION
    return float(np.minimum(p, q).sum())
    ### END SOLUTION


# %% [markdown] hints="acceptance_rate"
# 1. Compare the best acceptance of each picture with p and q, token by token. What does one token
#    contribute: how often is it drafted, and how often does it then pass?
# 2. q times min(1, p/q) is the smaller of p and q, even if q is 0: no division is needed.
# 3. Return the sum of np.minimum(p, q), as a float.

# %% tags=["demo"]
figures.two_samplers(acceptance_rate, P, Q)

# %% test="acceptance_rate" points=2
lesson.check_acceptance_rate(acceptance_rate)

# %% [markdown]
# An exact rule cannot write token `x` more often than `p(x)`. It cannot keep `x` more often than
# the draft proposes it. Chapter 02's rule reaches the smaller of the two for every token (Leviathan
# et al., Theorem 3.5):
#
# $$ \beta = \sum_x q(x) \min\left(1, \frac{p(x)}{q(x)}\right)
# = \sum_x \min(p(x), q(x)) = 1 - \mathrm{TV}(p, q) $$
#
# The papers call this **acceptance rate** $\beta$ at one position and $\alpha$ on average. The
# bound holds for one position. Chapter 07 has an exact rule that judges a whole block together and
# keeps more. The left picture above is plain rejection sampling, which is exact too. It keeps 0.50
# in place of 0.80.
#
# ## The proof, in two paths
#
# Return to the 60 proposals. Token 1 was written 24 times because it was kept, and 6 times because
# it replaced a token 0. There are only two paths into a token: acceptance and correction.

# %% [markdown]
# ### Exercise: two_paths
#
# **Task.** The probability that each token is written by acceptance, and by correction. In the
# table of 60 proposals these are `[30/60, 24/60]` and `[0, 6/60]`. How does each follow from `p`
# and `q`? **Arguments.** `p` and `q` are `(V,)`. The function returns a tuple of two new arrays `(V,)`,
# acceptance first. If `p` equals `q`, nothing is corrected. No warning is allowed.
#
# **Example.** Token A of the pair: 0.30 by acceptance, 0.15 by correction.


# %% solution="two_paths"
def two_paths(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mass of each token (V,) by acceptance, and by correction."""
    ### BEGIN SOLUTION
    return np.minimum(p, q), np.maximum(p - q, 0)
    ### END SOLUTION


# %% [markdown] hints="two_paths"
# 1. You have summed the first mass already, in acceptance_rate.
# 2. The second is the rejected mass times the residual, and the divisor cancels.
# 3. Return np.minimum(p, q) and np.maximum(p - q, 0), in this order.

# %% tags=["demo"]
figures.stacked_paths(two_paths, P, Q)

# %% test="two_paths" points=2
lesson.check_two_paths(two_paths)

# %% [markdown]
# The two masses fill every token up to the target's line. Here is the reason:
#
# | path | its mass on token `x` |
# | --- | --- |
# | accepted | `q(x) * min(1, p(x)/q(x)) = min(p(x), q(x))` |
# | corrected | `(1 - beta) * max(0, p(x) - q(x)) / (1 - beta) = max(0, p(x) - q(x))` |
#
# A rejection has probability `1 - beta`. The residual is divided by its sum, which is `1 - beta`
# too, so the two cancel. If `p(x) >= q(x)`, the paths bring `q(x)` and `p(x) - q(x)`. Otherwise
# they bring `p(x)` and nothing. Both sums are `p(x)`, for every `q`: a poor draft costs time and
# never quality.

# %% [markdown]
# ## Simulator: two paths, and a sample
#
# ### Commit first
#
# A perfect sampler draws 200,000 tokens from `p`. On average, the frequencies are still at a total
# variation of 0.00144 from `p`. This noise shrinks as the noise of any mean does. How many
# **million** draws bring it down to 0.0001? Write 3 for 3,000,000.

# %% solution="prediction_03"
### BEGIN SOLUTION
prediction_03 = 41.0
### END SOLUTION

# %% test="prediction_03" points=1
lesson.committed("prediction_03", prediction_03, 0, 1_000_000)

# %% tags=["demo"]
lesson.reveal("prediction_03", prediction_03)

# %% [markdown]
# Drag the bars of `q` only. Which numbers move, and what stays where it is in the lower picture? Then
# draw samples by a wrong sampler. After how many draws does the distance to `p` leave the noise of a
# perfect sampler?

# %% tags=["demo"]
from specdec_lib.lessons.ch03 import measured as charts
from specdec_lib.lessons.widgets.linked import linked_simulator

charts.running_distance(P, Q)
linked_simulator("paths", target=P, draft=Q)

# %% [markdown]
# ## From one token to a text
#
# The proof used three conditions. Each line below shows one condition, first kept and then broken.
# The numbers are distances to the target, in total variation.

# %% tags=["demo"]
figures.three_conditions(P, Q)

# %% [markdown]
# If all three hold, every written token has the law `p` of its position. The two paths show this for
# accepted and replaced tokens, and the bonus token is drawn from `p` itself. The probability of a
# text is the product over its tokens. So **the whole text has the target's law**, wherever blocks
# begin and end. The next figure follows every branch of a small decoder and counts all 27 texts of
# three tokens.

# %% tags=["demo"]
figures.whole_texts(lesson.TARGET, lesson.DRAFT, k=2, length=3)

# %% [markdown]
# ## A bug that ships
#
# The draft should take its most likely token, because then more tokens match the target's. The
# target has the last word. For this reason pull request 30778 made the drafts of Hugging Face
# transformers greedy, in May 2024. The rule still used the full `q`. In August issue 32867 reported
# that the law was wrong, and in September pull request 33534 took the change back.
#
# ### Commit first
#
# Let `p = [0.5, 0.5]` and `q = [0.6, 0.4]`. The draft always proposes token 0, but ratio and residual
# use `q`. Count 60 proposals again. With which probability is token 0 written? Write a number from 0
# to 1.

# %% solution="prediction_03_b"
### BEGIN SOLUTION
prediction_03_b = 0.83
### END SOLUTION

# %% test="prediction_03_b" points=1
lesson.committed("prediction_03_b", prediction_03_b, 0, 1)

# %% tags=["demo"]
lesson.reveal("prediction_03_b", prediction_03_b)

# %% [markdown]
# ### Exercise: argmax_draft_law
#
# **Task.** The law that comes out of this mistake. The draft token is the argmax of `q` (of several
# largest entries, the one with the lowest index). Ratio and residual use all of `q`. **Arguments.** `p`
# and `q` are `(V,)`; the function returns a new array `(V,)`. If the ratio is 1 or more, nothing is
# rejected and no residual is needed; `p` equal to `q` is such a case. No warning is allowed.
#
# **Example.** `p = [0.6, 0.4]`, `q = [0.55, 0.45]`: token 0 is always drafted and always
# kept, so the law is `[1, 0]`.


# %% solution="argmax_draft_law"
def argmax_draft_law(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The law (V,) if the draft is argmax q, and ratio and residual use all of q (V,)."""
    ### BEGIN SOLUTION
    token = int(np.argmax(q))
    accepted = min(1.0, p[token] / q[token])
    law = np.zeros(len(p))
    if accepted < 1:
        missing = np.maximum(p - q, 0)
        law = (1 - accepted) * missing / missing.sum()
    law[token] += accepted
    return law
    ### END SOLUTION


# %% [markdown] hints="argmax_draft_law"
# 1. The draft token is the same every time. Two things can happen to it.
# 2. With a = min(1, p/q) of that token it is written itself; with 1 - a the residual decides.
# 3. If a is below 1, begin with 1 - a times the residual of p and q, else with zeros; then add a
#    on the drafted token.

# %% tags=["demo"]
figures.laws_against_targets(argmax_draft_law, lesson.ARGMAX_PAIRS)

# %% test="argmax_draft_law" points=3
lesson.check_argmax_draft_law(argmax_draft_law)

# %% [markdown]
# There are two exact repairs. **One:** draw the draft token from `q`. **Two:** keep the argmax, and
# give the rule the `q` that the token was really drawn from: 1 on this token and 0 elsewhere, a
# **one-hot** `q`. Then the rule keeps the draft token with probability `p(argmax q)`, and the
# residual is `p` without it.
#
# vLLM 0.27.1 makes the second repair by default: `draft_sample_method` is `"greedy"`, and the draft
# probabilities "are treated as one-hot during rejection sampling". So it accepts with probability
# `p(argmax q)`, here 0.30. The sum of `min(p, q)`, here 0.80, is another quantity.
#
# ## Temperature, top-k and top-p belong to both sides
#
# The rule's `p` and `q` are the distributions that are really sampled, after temperature, top-k and
# top-p. You now write the function that makes them from logits. The first step is the softmax: each
# `exp(logit)` over the sum of all. Two tokens whose logits differ by 1 should get 0.731 and 0.269.
# What if the logits are near 900?

# %% tags=["demo"]
lesson.overflow()

# %% [markdown]
# `exp` overflows above 709. A softmax does not change if one number is subtracted from all logits,
# so subtract the largest. The second step is the filters.

# %% [markdown]
# ### Exercise: warp
#
# **Task.** From logits to the distribution that is sampled: temperature, then top-k, then top-p,
# then the kept mass is divided by its sum. **Arguments.** `logits` is `(V,)`, and may be near 900 or
# -900. The function returns a new array `(V,)` that sums to 1. No warning is allowed.
#
# - `temperature` divides the logits. 0 puts everything on the largest. Below 0: ValueError.
# - `top_k` keeps the k largest logits and all that equal the k-th. None and 0: all.
# - `top_p` adds up what top-k has left, divided by its sum, from the most probable token down. A token
#   is kept if the mass *before* it is below `top_p`. The first is always kept. None, and 1 or more: all.
#
# Of equal tokens, top-p and temperature 0 take the lowest index first.
#
# **Example.** Logits `log [0.5, 0.25, 0.125, 0.125]` with `top_p = 0.6`: the mass before
# token 1 is 0.5, so token 1 is kept. The mass before token 2 is 0.75. The result is
# `[2/3, 1/3, 0, 0]`.


# %% solution="warp"
def warp(
    logits: np.ndarray,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> np.ndarray:
    """The distribution (V,) sampled from `logits` (V,). ValueError for a temperature below 0."""
    ### BEGIN SOLUTION
    if temperature < 0:
        raise ValueError(f"temperature is {temperature}; it cannot be negative")
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    scaled = logits / temperature
    if top_k:
        scaled = np.where(scaled < np.sort(scaled)[-top_k], -np.inf, scaled)
    probs = np.exp(scaled - scaled.max())
    probs /= probs.sum()
    if top_p is not None and top_p < 1:
        order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        probs[order[1:][before[1:] >= top_p]] = 0
    return probs / probs.sum()
    ### END SOLUTION


# %% [markdown] hints="warp"
# 1. One step after the other: divide, cut by rank, softmax, cut by mass, renormalise.
# 2. A token that top-k cuts gets the logit minus infinity, so its softmax is 0. Top-p needs the
#    probabilities that top-k has left.
# 3. For top-p: order by np.argsort(-probs, kind='stable'); the mass before a token is the
#    cumulative sum less the token itself; set to 0 if that is at least top_p, but never the
#    first; divide by the sum.

# %% tags=["demo"]
figures.warped(warp, lesson.LOGITS)
figures.filtered_draft(warp, lesson.FLAT_TARGET, lesson.FLAT_DRAFT)

# %% test="warp" points=4
lesson.check_warp(warp)

# %% [markdown]
# At temperature 0 both distributions are one-hot, the ratio is 0 or 1, and the rule becomes chapter
# 01's greedy check. The second figure breaks the first condition: the draft samples with top-k and
# hands over its `q` from before the filter. This `q` is too small for the tokens that the draft
# proposes, so the rule keeps too many. At k = 4 it keeps all of them, and the law is off by 0.155.
#
# ## Impostors: what sampling cannot see
#
# The usual check of a sampler draws 200,000 tokens and compares frequencies with `p`. The lines
# below show one such check of the right rule. The figure repeats the check 40 times on another
# pair, for the right rule and for `coarse_coin`. This rule has a coin of six bits, one of 0/64 to
# 63/64, and keeps a token if the coin is **at most** the ratio. At a ratio of 32/64 a token should
# stay for 32 of the 64 coins. With "at most" it stays for 33.

# %% tags=["demo"]
charts.draw_and_compare(200_000)
charts.noise_hides_a_bug(lesson.QUIET_P, lesson.QUIET_Q)

# %% [markdown]
# Luck can make a right rule look wrong and a wrong rule look right. Counting needs no luck. A
# rule decides by `r` and `u`, which are a point in a square of side 1. Cut this square into 64 by 64
# small squares and ask the rule in the middle of each. If the decision changes only on lines of the
# grid, every small square agrees with its middle, and the count is the exact law.

# %% [markdown]
# ### Exercise: is_lossless
#
# **Task.** Judge somebody's rule: is its law `p` if the draft token is drawn from `q`? Return True or
# False. **Arguments.** `rule(p, q, tokens, r, u)` takes draft tokens, coins and numbers, all of shape
# `(N,)`, and returns the tokens `(N,)` that are written. Ask in the middles `(i + 0.5)/cells`, in all
# pairs of `r` and `u`, with whole arrays and not square by square. Two laws are the same if no entry
# differs by more than 1e-12.
#
# **For which pairs is the count exact?** The ratios `p/q` and the cumulative sums of the residual
# must be multiples of `1/cells`. You are graded on pairs that fit `cells=64`, as `lesson.GRID_P`
# and `lesson.GRID_Q` do. The chapter's own `P` and `Q` have ratios of 2/3 and 3/4 and need
# `cells=60`. With 64 the right rule would look wrong.
#
# **Example.** With `q = [0.25, 0.75]` token 0 is drafted in a quarter of all cases, so
# each of its 4,096 squares weighs `0.25/4096`.


# %% solution="is_lossless"
def is_lossless(rule, p: np.ndarray, q: np.ndarray, cells: int = 64) -> bool:
    """Whether `rule`, with draft tokens from q (V,), writes tokens with the law p (V,)."""
    ### BEGIN SOLUTION
    middles = (np.arange(cells) + 0.5) / cells
    r, u = (part.ravel() for part in np.meshgrid(middles, middles))
    law = np.zeros(len(p))
    for token in np.flatnonzero(q):
        out = rule(p, q, np.full(r.size, token), r, u)
        law += q[token] * np.bincount(out, minlength=len(p)) / r.size
    return bool(np.abs(law - p).max() < 1e-12)
    ### END SOLUTION


# %% [markdown] hints="is_lossless"
# 1. Add up over draft tokens and cells. How much does one cell of one token weigh?
# 2. np.meshgrid of the middles (i + 0.5)/cells gives all pairs of r and u; ravel makes them
#    (4096,) if cells is 64.
# 3. For every token with q > 0 call the rule once, add `q[token] / cells**2` times
#    `np.bincount(out, minlength=len(p))` to the law, and compare it with p at 1e-12.

# %% tags=["demo"]
figures.line_up(is_lossless, lesson.GRID_P, lesson.GRID_Q)

# %% test="is_lossless" points=5
lesson.check_is_lossless(is_lossless)

# %% [markdown]
# The rules are in `specdec_lib/lessons/ch03/rules.py`. `coarse_coin` is off by 0.0078 here and by
# 0.00098 in the figure before, because the pairs differ: a bias belongs to a rule *and* a pair.
# `sampler_match` draws from `p` and looks whether the draft has guessed the token. It is exact, but
# on `P` and `Q` it keeps only the sum of `p q`, 0.305 in place of 0.80.
#
# ## Judge the real library
#
# Now judge code that is in use: `_speculative_sampling` of the installed transformers (the course
# pins 5.23.0). This function takes its coin from `torch.rand_like` and its token from
# `torch.multinomial`. The given rule `library_rule` puts your `r` and your `u` in their place. So the
# library's own code decides, nothing is random, and the count is exact.
#
# The second rule gets its draft token and its logits from a generator of the same library,
# `SinglePositionMultiTokenCandidateGenerator` (5.23.0, candidate_generator.py, lines 1344 and
# 1347):
#
# ```python
# last_token_id = outputs.logits.argmax(dim=-1)
# drafted_logits.append(outputs.logits)
# ```
#
# The third rule is the second with a one-hot `q`. What will your judge say of each?

# %% tags=["demo"]
figures.library_on_trial(is_lossless, argmax_draft_law, P, Q)

# %% [markdown]
# You have found a bug that ships. The acceptance code is exact. The generator breaks the first
# condition: it drafts the argmax and hands over full logits. Your `argmax_draft_law` predicted the
# law before you ran the library. This generator serves one family of models, the Gemma 4 assistants.
# In August 2026 issue 47932 reported three generators with a `q` that they did not draw from.
# Version 5.23.0 has mended the other two.
#
# ## Forge an impostor
#
# Now use what samples do not see. Here is the right rule, for many draft tokens at once.

# %%
def right_rule(p, q, tokens, r, u):
    """Chapter 02's rule for draft tokens, coins and numbers (N,): the tokens (N,) written."""
    missing = np.maximum(p - q, 0)
    residual = missing / missing.sum() if missing.sum() > 0 else p
    replacement = np.searchsorted(np.cumsum(residual), u, side="right").clip(max=len(p) - 1)
    return np.where(r * q[tokens] < p[tokens], tokens, replacement)


# %% [markdown]
# ### Exercise: impostor
#
# **Task.** A rule that looks right in 200,000 samples and that counting exposes. **Arguments.** As for
# every rule, `tokens`, `r` and `u` are `(N,)`, and the function returns an array `(N,)` of whole
# numbers from 0 to V - 1. You may call `right_rule`. Let each token depend on its own draft token,
# `r` and `u` alone, and compare `r` and `u` with multiples of `1/64` only, so that the count is exact.
#
# **The tests also check** on `lesson.GRID_P` and `lesson.GRID_Q`. The bias is the counted total variation to `p`.
# It must be above 0 and at most 0.00149, the noise of 200,000 samples. The samples, with two fixed
# seeds, must stay below twice this noise. Such a rule earns half of the points, a bias of at least
# 0.0003 a quarter more, and one of at least 0.0012 the rest.
#
# **Example.** If token 2 is written in one small square of the 4,096, whatever was
# drafted, the bias is 0.00023.


# %% solution="impostor"
def impostor(p: np.ndarray, q: np.ndarray, tokens: np.ndarray, r: np.ndarray, u: np.ndarray):
    """Tokens (N,) by a law that is not p (V,), and that 200,000 samples take for p."""
    ### BEGIN SOLUTION
    forged = (r < 1 / 64) & (u < 6 / 64)
    return np.where(forged, 2, right_rule(p, q, tokens, r, u))
    ### END SOLUTION


# %% [markdown] hints="impostor"
# 1. Begin with the right rule. In how many of the 4,096 squares may the law be changed before
#    200,000 samples show it?
# 2. A square has the area 1/4096 = 0.000244. If another token is written there for every draft
#    token, this area moves, less what the token has there anyway.
# 3. Call right_rule, then use np.where: one token of your choice where `r < 1/64` and `u < n/64`,
#    else what right_rule gave. Find n with the check.

# %% tags=["demo"]
charts.your_impostor(impostor, is_lossless)

# %% test="impostor" points=4
lesson.check_impostor(impostor)

# %% [markdown]
# ## Lossy on purpose: lenience
#
# Some methods change the law and accept the price. Leviathan et al. (Appendix A.5) keep a token with
# the ratio `p/(l q)`, where the lenience `l` is below 1. The option `assistant_ensemble_weight` of
# transformers puts `w p + (1 - w) q` in the target's place. Every extra 1% accepted moves the output
# 1% away from `p`. At one position no method does it for less.

# %% tags=["demo"]
figures.price_of_acceptance(total_variation, P, Q)

# %% [markdown]
# Rounding the target's weights changes `p` as well. The next cell measures how much, for the
# built-in target on **held-out** text, on which no model here was trained. A lossy method must be
# evaluated, task by task. A lossless method must be counted, because implementations fail.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure.core.rounded import rounded_targets

leave_cores()  # as in chapter 00
moved = rounded_targets()

# %% [markdown]
# ## The claim, reviewed
#
# *Claim: speculative decoding is lossless.* **Status: it holds for the law, up to rounding, under
# the three conditions above.** The next cell has four witnesses, two of them yours.

# %% tags=["demo"]
figures.witnesses(two_paths, is_lossless)
lesson.rounding()

# %% [markdown]
# The claim has two bounds. First, the law inherits the rounding of `p` and `q`. At temperature 0 both
# methods give the same tokens until rounding changes which logit is largest. A draft that samples in
# bfloat16 and hands over a float32 `q` breaks the first condition a little, as the last lines show.
# Second, the proof says nothing about speed.

# %% [markdown]
# ## Quiz
#
# **Question 1.** Target and draft sample with top-k 20, but the draft hands over its `q` from before the
# filter. More tokens are accepted than with the filtered `q`. What has happened?
#
# - a: the filter has made the draft better, since it no longer proposes rare tokens
# - b: the ratios are too large where it drafts, and the text no longer has the target's law
# - c: nothing that matters, since the target keeps the last word
# - d: the residual makes up for it, since it is built from the full `q`

# %% solution="quiz_03"
### BEGIN SOLUTION
quiz_03 = "b"
### END SOLUTION

# %% test="quiz_03" points=1
lesson.answered("quiz_03", quiz_03)

# %% [markdown]
# **Question 2.** Hardly any token of a very poor draft is accepted. What does the user get?
#
# - a: the target's distribution, later than without a draft
# - b: the target's distribution, as fast as without a draft
# - c: a text between the draft's and the target's
# - d: the target's distribution, but only if the draft is right often enough

# %% solution="quiz_03_b"
### BEGIN SOLUTION
quiz_03_b = "a"
### END SOLUTION

# %% test="quiz_03_b" points=1
lesson.answered("quiz_03_b", quiz_03_b)

# %% [markdown]
# ### In your own words
#
# "Let the draft decode greedily. The target has the last word, so the text's distribution cannot change."
# Where does the proof break? Say which of the two paths gets the wrong mass, and which `q` would make it
# right. Write three to five sentences. A person marks this answer.

# %% [markdown] written="why_drawn_from_q" points=2
# The accepted path carries `q(x) min(1, p/q)` only if `x` is drafted with probability `q(x)`. By argmax one
# token is drafted always, so its accepted mass is `min(1, p/q)` and that of all others is 0. The residual
# then repairs the shortfall of a `q` that nobody has drawn from, so the two no longer add up to `p`. A `q`
# that is 1 on the drafted token makes both paths right: accept with `p(x)`, else draw from `p` without `x`.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each of these sentences? Decide before you open the answer.
#
# **You might read: "The acceptance rate is the sum of min(p, q)."**
#
# <details><summary>Answer</summary>
#
# It is so for one position and for drafts that are drawn from `q`. *Look:* on the chapter's pair an argmax
# draft with the full `q` has 0.667, a one-hot draft 0.30, and a drawn draft 0.80.
#
# </details>
#
# **You might read: "The output is identical."**
#
# <details><summary>Answer</summary>
#
# The promise is about the distribution. With one seed the two methods spend their random numbers on
# different things. *Look:* the cell below draws 20 tokens by each method, and the texts differ.
#
# </details>

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## The race again
#
# The same race at temperature 0.7. Nobody can tell which of the two texts was drafted: both are drawn from
# one distribution, as you have proved.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

contestants = {"speculative decoding": drafting("large", k=3)}
show_race(race("03", contestants, temperature=0.7))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023,
#   arXiv 2211.17192: the one-token proof (Appendix A.1), the acceptance rate (Theorem 3.5, Corollary 3.6),
#   lenience (A.5).
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv 2302.01318:
#   Theorem 1, the same proof with the letters exchanged.
# - Hugging Face transformers, on GitHub: 30778 made drafts greedy, 32867 reported the law, 33534 took it back;
#   47932 reports three generators that hand over a `q` they did not draw from. In 5.23.0 two are mended
#   and one is left (`candidate_generator.py`, lines 1344 and 1347); `utils.py`, line 4103, has the sampling
#   rule judge its tokens. 28508 mended a count that accepted everything.
# - vLLM 0.27.1, `vllm/config/speculative.py`: `draft_sample_method`. On GitHub: 10198, filtered drafts against
#   an unfiltered target; vllm-project.github.io 80, a rule without a coin, found in review.
# - deepseek-ai/DeepSpec 31: bfloat16 drafts under a float32 rule.
#
# The papers support the law, without rounding. The threads show that it was missed, not how often. None of
# them tells you how fast your machine is.
#
# **Next.** Chapter 04 asks which draft is worth its time, now that every draft is safe.
