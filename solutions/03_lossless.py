# %% [markdown]
# # 03 Lossless: why the law is p, and what breaks it
#
# 90 minutes · difficulty 4 of 5 · you need: chapter 02's rule, restated below
#
# **Carry in.** Chapter 02's rule for one position: a coin decides on the draft token, and after a
# rejection one draw from the residual replaces it.
#
# **Work here.** You add up what each token receives, and find the target. You break the rule as
# real libraries have broken it, and build an instrument that sees every such bug.
#
# **Carry out.** A test that tells a lossless sampler from an impostor, and what "exact" can mean.
#
# Run the cells from top to bottom. Nothing here needs your answers from another chapter.

# %%
import numpy as np

from specdec_lib.lessons.ch03 import checks as lesson
from specdec_lib.lessons.ch03.checks import P, Q, hints

# %% [markdown]
# ## The rule, and how far apart two distributions are
#
# At one position `p` is the target's distribution and `q` the draft's, both over `V` tokens. Draw
# the draft token `x` from `q`. Accept it with probability `min(1, p(x)/q(x))`; a uniform number `r`
# is the coin. If it is rejected, draw its replacement, with a uniform `u`, from the residual,
# `max(0, p - q)` over its sum. The **law** of a sampler is the distribution of the token that it
# writes. The claim: it is `p`, whatever `q` is. The examples use chapter 02's pair,
# `p = [.45, .30, .15, .10]` and `q = [.30, .45, .20, .05]`.
#
# Token by token, `p` and `q` share `min(p, q)`. What `p` has beyond that is as much as what `q`
# has, because both sum to 1. This mass, which must move, is the **total variation**:
#
# $$ \mathrm{TV}(p, q) = \frac{1}{2} \sum_x |p(x) - q(x)| = 1 - \sum_x \min(p(x), q(x)) $$
#
# It is also what a reader can notice: for any yes-or-no question about the token (is it a verb?) a
# yes is at most TV more probable under one than under the other, and for one question just that.

# %% [markdown]
# ### Exercise: total_variation
#
# **What.** The distance of two distributions. **Shapes.** `p` and `q` are `(V,)`; a float comes back.
#
# **One worked number.** `p = [.5, .5]` and `q = [.6, .4]`: half of `.1 + .1`, so `.1`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` never computes it, but
# its option `assistant_ensemble_weight` moves the law by a share of it. vLLM's
# `tests/v1/sample/test_rejection_sampler.py` takes the Euclidean distance.


# %% solution="total_variation"
def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Half the L1 distance of two distributions (V,): 0 where they are equal, 1 where disjoint."""
    ### BEGIN SOLUTION
    return float(np.abs(p - q).sum() / 2)
    ### END SOLUTION


# %% tags=["demo"]
hints(total_variation)

# %% tags=["demo"]
from specdec_lib.lessons.ch03 import figures

figures.shared_mass(total_variation, P, Q)

# %% test="total_variation" points=2
lesson.check_total_variation(total_variation)

# %% [markdown]
# ### Exercise: acceptance_rate
#
# A token drawn from `q` is accepted with `min(1, p/q)`. Over all tokens that is
#
# $$ \beta = \sum_x q(x) \min\left(1, \frac{p(x)}{q(x)}\right) = \sum_x \min(p(x), q(x)) $$
#
# **What.** The share of draft tokens that is accepted at this position. **Shapes.** `p` and `q` are
# `(V,)`; a float from 0 to 1 comes back. No warning where `q` is 0.
#
# **One worked number.** For the pair: `.30 + .30 + .15 + .05 = .80`.
#
# **In production.** `transformers.generation.candidate_generator.AssistedCandidateGenerator` only
# counts the accepted tokens of each block; so does vLLM, in `vllm/v1/spec_decode/metrics.py`.


# %% solution="acceptance_rate"
def acceptance_rate(p: np.ndarray, q: np.ndarray) -> float:
    """The probability that a token drawn from q (V,) is accepted: Leviathan et al., Theorem 3.5."""
    ### BEGIN SOLUTION
    return float(np.minimum(p, q).sum())
    ### END SOLUTION


# %% tags=["demo"]
hints(acceptance_rate)

# %% tags=["demo"]
figures.two_samplers(acceptance_rate, P, Q)

# %% test="acceptance_rate" points=2
lesson.check_acceptance_rate(acceptance_rate)

# %% [markdown]
# So the acceptance rate is 1 - TV, and the rejection rate is TV. The paper writes beta for one
# position, alpha for their mean.
#
# Nothing lossless accepts more. Where the draft token has the law `q` and the written token the law
# `p`, the two can agree on token `x` with probability at most `min(p, q)`. A pair of tokens that
# reaches this bound, as the rule's does, is called a **maximal coupling**. Plain rejection
# sampling, beside it in the figure, needs an envelope `M q >= p`, accepts with `p/(M q)`, and
# proposes again after each rejection. It is exact as well. But `M` is the largest ratio, here
# `.10/.05 = 2`, and it accepts one proposal in `M`: **.50 against .80**.
#
# ## The proof, in two paths
#
# Token `x` can be written for two reasons. Either it was drafted and accepted, or some draft token
# was rejected and the residual gave `x`.
#
# | path | its mass on token `x` |
# | --- | --- |
# | accepted | `q(x) min(1, p(x)/q(x)) = min(p(x), q(x))` |
# | corrected | `(1 - beta) * max(0, p(x) - q(x)) / (1 - beta) = max(0, p(x) - q(x))` |
#
# The residual's sum is `1 - beta`, the very probability of a rejection, and cancels. Two cases
# remain. Where `p >= q`, the paths bring `q` and `p - q`. Where `p < q`, they bring `p` and
# nothing. Either way the sum is `p`, and nowhere did `q` have to be good.

# %% [markdown]
# ### Exercise: two_paths
#
# **What.** Both masses, token by token. **Shapes.** `p` and `q` are `(V,)`; a tuple of two new
# arrays `(V,)` comes back, first by acceptance, then by correction.
#
# **One worked number.** Token A of the pair: `.30` by acceptance, `.15` by correction.
#
# **In production.** `transformers.generation.utils._speculative_sampling` walks them as
# `is_accepted` and `p_prime`; in vLLM they are two kernels of
# `vllm/v1/sample/rejection_sampler.py`.


# %% solution="two_paths"
def two_paths(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mass of each token (V,) by acceptance, and by correction; they add up to p."""
    ### BEGIN SOLUTION
    return np.minimum(p, q), np.maximum(p - q, 0)
    ### END SOLUTION


# %% tags=["demo"]
hints(two_paths)

# %% tags=["demo"]
figures.stacked_paths(two_paths, P, Q)

# %% test="two_paths" points=2
lesson.check_two_paths(two_paths)

# %% [markdown]
# ## Simulator: two paths, and a sample
#
# ### Commit first
#
# A perfect sampler draws 200,000 tokens from the pair's `p`. Its frequencies are still .0014 of
# total variation away from `p`, on average. How many **million** draws bring this noise to .0001?
# Write 3 for 3,000,000.

# %% solution="prediction_03"
### BEGIN SOLUTION
prediction_03 = 41.0
### END SOLUTION

# %% test="prediction_03" points=1
lesson.committed("prediction_03", prediction_03, 0, 1_000_000)

# %% tags=["demo"]
lesson.reveal("prediction_03", prediction_03)

# %% [markdown]
# Upper panel: drag the weights of `p` and `q`. The two masses fill every target line, however poor
# the draft. Lower panel: draw samples. Their total variation to `p` runs down along the noise floor
# of a perfect sampler. Then choose a wrong one: after how many draws does it leave the floor?

# %% tags=["demo"]
from specdec_lib.lessons.ch03 import measured as charts
from specdec_lib.lessons.widgets.two_paths import two_paths_simulator

charts.running_distance(P, Q)
two_paths_simulator(target=P, draft=Q)

# %% [markdown]
# ## From one token to a text
#
# Follow one statement through every step: *whatever stands written, the next token has the law
# `p( . | what stands)`.* For an accepted or replaced token the two paths show it, because `p` and
# `q` at position `i` were computed after exactly the tokens that stand there. For the bonus token
# it holds by definition. What is dropped is not written. A text's probability is the product over
# its tokens, so **the whole text has the target's law**, wherever blocks begin and end.
#
# Two conditions are easily lost: the draft token is drawn from the `q` that the rule uses, and coin
# and `u` are fresh. The figure counts all branches of a small decoder, right and with a wrong bonus
# row.

# %% tags=["demo"]
figures.whole_texts(lesson.TARGET, lesson.DRAFT, k=2, length=3)

# %% [markdown]
# ## A bug that ships
#
# Guides often draft with the argmax of `q`, and then accept with `p/q` and correct with the
# residual of the full `q`. "The target has the last word."
#
# ### Commit first
#
# `p = [.5, .5]`, `q = [.6, .4]`, and the draft always proposes token 0. With which probability is
# token 0 written in the end? Write a number from 0 to 1.

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
# **What.** The law that comes out of this mistake. The draft token is the argmax of `q` (the lowest
# index, where several are largest); ratio and residual use the full `q`. **Shapes.** `p` and `q`
# are `(V,)`; a new array `(V,)` comes back. Where `p` equals `q` no residual is needed.
#
# **One worked number.** `p = [.6, .4]`, `q = [.55, .45]`: token 0 is always drafted, its ratio is
# above 1, so it is always accepted. The law is `[1, 0]`.
#
# **In production.** `transformers.generation.candidate_generator.SinglePositionMultiTokenCandidateGenerator`
# still drafts so, for one family of models; the main generator did from May to September 2024.
# Without draft probabilities `vllm/v1/sample/rejection_sampler.py` makes repair 2 below.


# %% solution="argmax_draft_law"
def argmax_draft_law(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The law (V,) where the draft is argmax q, and ratio and residual use all of q (V,)."""
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


# %% tags=["demo"]
hints(argmax_draft_law)

# %% tags=["demo"]
figures.laws_against_targets(argmax_draft_law, lesson.ARGMAX_PAIRS)

# %% test="argmax_draft_law" points=3
lesson.check_argmax_draft_law(argmax_draft_law)

# %% [markdown]
# Two repairs, both exact. **1.** Draw the draft token from `q`. **2.** Keep the argmax and say
# honestly what it was drawn from: a `q` that is 1 on this token. Then the ratio is `p` of the
# token, and the residual is `p` without it. On `[.5, .5]` and `[.6, .4]` the first accepts .9, the
# second .5, the bug .83.
#
# ## Warping belongs to both sides
#
# Temperature, top-k and top-p change the distribution that is sampled, and `p` and `q` in the rule
# are the ones *after* that. At temperature 0 both are one-hot, the ratio is 0 or 1, and the rule is
# chapter 01's greedy check. A draft that samples from a filtered distribution and hands over the
# unfiltered `q` understates what it drafts: too much is accepted, and the law drifts away. The
# second figure below shows it: at k = 4 everything is accepted, and the law is off by .155.

# %% [markdown]
# ### Exercise: warp
#
# **What.** From logits to the distribution that is sampled: temperature, then top-k, then top-p,
# then softmax. **Shapes.** `logits` is `(V,)`; a new array `(V,)` that sums to 1 comes back.
#
# - `temperature` divides the logits. 0 puts everything on the largest. Below 0: ValueError.
# - `top_k` keeps the k largest logits and all that equal the k-th. None, 0 and more than `V`: all.
# - `top_p` walks from the most probable token down and keeps a token while the mass *before* it is
#   below `top_p`; the first always. None, and 1 or more, keep all.
#
# Of equals, under `top_p` and at temperature 0, the lowest index comes first.
#
# **One worked number.** Logits `log [.5, .25, .125, .125]` with `top_p = .6`: before token 1 stands
# .5, so it is kept; before token 2 stands .75. The result is `[2/3, 1/3, 0, 0]`.
#
# **In production.** `transformers.generation.logits_process.TopPLogitsWarper`, with its neighbours
# for temperature and top-k; in vLLM `vllm/v1/sample/ops/topk_topp_sampler.py`.


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
    if top_k and top_k < len(logits):
        scaled = np.where(scaled < np.sort(scaled)[-top_k], -np.inf, scaled)
    probs = np.exp(scaled - scaled.max())
    probs /= probs.sum()
    if top_p is not None and top_p < 1:
        order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        probs[order[1:][before[1:] >= top_p]] = 0
    return probs / probs.sum()
    ### END SOLUTION


# %% tags=["demo"]
hints(warp)

# %% tags=["demo"]
figures.warped(warp, lesson.LOGITS)
figures.filtered_draft(warp, lesson.FLAT_TARGET, lesson.FLAT_DRAFT)

# %% test="warp" points=4
lesson.check_warp(warp)

# %% [markdown]
# ## Impostors: what sampling cannot see
#
# Somebody hands you a sampler and says that it is lossless. The usual check draws 200,000 tokens
# and compares frequencies: here for the right rule on the pair, and then on two nearly equal
# distributions beside a rule whose coin has six bits and is compared with `<=`.

# %% tags=["demo"]
charts.draw_and_compare(200_000)
charts.noise_hides_a_bug(lesson.QUIET_P, lesson.QUIET_Q)

# %% [markdown]
# The noise of 200,000 draws is .0014 with four tokens, .002 to .005 with 8 to 32 even ones. One run
# cannot tell a smaller bug from luck. Counting *all* cases has no noise. Cut the square of all
# `(r, u)` into 64 by 64 cells, and ask the sampler for its token in the middle of each. Where every
# ratio and cumulative sum is a multiple of 1/64, no decision cuts a cell, and the count is the law.

# %% [markdown]
# ### Exercise: is_lossless
#
# **What.** Whether somebody's sampler has the law `p` when the draft comes from `q`. **Shapes.**
# `rule(p, q, tokens, r, u)` takes draft tokens, coins and numbers, `(N,)` each, and returns the
# tokens `(N,)` that come out. True or False comes back. Cut the square of all `(r, u)` into 64 by 64
# cells and ask the rule in their middles, `(i + .5)/64`, where no decision falls on a border. Two
# laws are the same if no entry differs by more than 1e-12. Call the rule with whole arrays, not once
# a cell.
#
# The grid is exact for a `p` and `q` whose ratios and residuals are multiples of 1/64, such as
# `lesson.GRID_P` and `lesson.GRID_Q`, and you are asked about no others. On `P` and `Q` it would
# condemn the right rule: their ratio .30/.45 falls into the middle of a cell.
#
# **One worked number.** With `q = [.25, .75]` the draft token is 0 in a quarter of all cases: each
# of its 4,096 cells weighs `.25/4096`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` is such a rule for
# blocks. vLLM's `tests/v1/sample/test_rejection_sampler.py` draws up to 100,000 tokens; you count.


# %% solution="is_lossless"
def is_lossless(rule, p: np.ndarray, q: np.ndarray) -> bool:
    """Whether `rule`, with draft tokens from q (V,), writes tokens with the law p (V,)."""
    ### BEGIN SOLUTION
    middles = (np.arange(64) + 0.5) / 64
    r, u = (part.ravel() for part in np.meshgrid(middles, middles))
    law = np.zeros(len(p))
    for token in np.flatnonzero(q):
        out = rule(p, q, np.full(r.size, token), r, u)
        law += q[token] * np.bincount(out, minlength=len(p)) / r.size
    return bool(np.abs(law - p).max() < 1e-12)
    ### END SOLUTION


# %% tags=["demo"]
hints(is_lossless)

# %% tags=["demo"]
figures.line_up(is_lossless, lesson.GRID_P, lesson.GRID_Q)

# %% test="is_lossless" points=5
lesson.check_is_lossless(is_lossless)

# %% [markdown]
# The rules are in `specdec_lib/lessons/ch03/rules.py`, two lines each. `sampler_match` is no
# impostor: it draws from `p` and looks whether the draft has guessed it. It is exact, but accepts
# only the sum of `p q`, .305 for the pair in place of .80.
#
# ## Lossy on purpose: lenience
#
# Quantisation, pruning, or a distilled model in the target's place change `p` itself, so quality
# must be measured again, task by task. A lossless method leaves nothing to measure. A knob can give
# that up. Leviathan et al. (Appendix A.5) compare the coin with `p/(l q)`, with a lenience `l`
# below 1. Hugging Face's `assistant_ensemble_weight` puts `w p + (1 - w) q` in the target's place.
# In both, a point of acceptance costs a point of TV, and nothing is cheaper: a law that agrees with
# the draft more often lies nearer to `q`.

# %% tags=["demo"]
figures.price_of_acceptance(total_variation, P, Q)

# %% [markdown]
# ## The worst case: a very poor draft
#
# The two paths hold for every `q`, so a poor draft costs no quality. It costs time.

# %% tags=["demo"]
lesson.speed_table(alphas=(1.0, 0.7, 0.3, 0.0), costs=(0, 0.02, 0.05, 0.1), k=5)

# %% [markdown]
# `c` is the time of a draft step in target passes. The table takes a pass over six tokens to cost
# as much as over one, and acceptance to be equal everywhere; chapters 04 and 05 drop both.
#
# ## What "exact" means on a computer
#
# - **The law, not the text.** With one seed, plain and speculative decoding spend their random
#   numbers on different things. The texts differ, their laws do not.
# - **Greedy.** At temperature 0 the tokens are to be equal, and are as long as the argmax is. A
#   pass over six tokens may add numbers in another order than a pass over one; where the two best
#   logits are closer than the rounding, the order decides.
# - **Rounding stays small.** The law inherits the rounding of `p` and `q`, not more: a residual of
#   almost nothing is inexact, but is used almost never.
# - **One `q`.** The rule must divide by the numbers that the token was drawn from. A draft that
#   samples in bfloat16 and hands over float32 is a small argmax bug.

# %% tags=["demo"]
lesson.rounding()

# %% [markdown]
# ## The claim, reviewed
#
# *Claim: speculative decoding is lossless.* **Status: holds for the law, within numerics, on two
# conditions:** draft tokens come from the `q` that the rule uses, and random numbers are fresh.

# %% tags=["demo"]
figures.witnesses(two_paths, is_lossless)

# %% [markdown]
# Three caveats. *Numerics*: the mathematics is exact; rounding adds what the last section shows.
# *Latency*: nothing is said of speed. *Scope*: the witnesses are toys with known laws; a library
# needs a count of its own code. A review is as fresh as its last run: run it again, sign, date.
#
# ## The smallest example that makes it click
#
# Two tokens, `p = [.5, .5]`, `q = [.6, .4]`. Take 60 proposals.
#
# - Drawn from `q`: 36 say token 0. The ratio is 5/6, so 30 stay, and 6 become token 1. The other 24
#   stay. That makes 30 and 30.
# - Drafted by argmax: all 60 say token 0. Five in six stay, that is 50, and 10 become token 1.
#
# Coin and residual were the same. They repair a draft that says token 0 in 36 cases, not in 60.

# %% [markdown]
# ## Quiz
#
# **Question 1.** Target and draft sample with top-k 20, but the draft hands over its `q` from
# before the filter. More tokens are accepted than with the filtered `q`. What has happened?
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
# **Question 2.** Of a very poor draft hardly any token is accepted. What does the user get?
#
# - a: the target's distribution, later than without a draft
# - b: the target's distribution, as fast as without a draft
# - c: a text between the draft's and the target's
# - d: the target's distribution, but only while alpha is above c

# %% solution="quiz_03_b"
### BEGIN SOLUTION
quiz_03_b = "a"
### END SOLUTION

# %% test="quiz_03_b" points=1
lesson.answered("quiz_03_b", quiz_03_b)

# %% [markdown]
# ### In your own words
#
# "Let the draft decode greedily. The target has the last word on every token, so the text's
# distribution cannot change." Where does the proof break? Say which of its two paths gets the wrong
# mass, and which `q` would make it right. Three to five sentences. A person marks this answer.

# %% [markdown] written="why_drawn_from_q" points=2
# The accepted path carries `q(x) min(1, p/q)` only if `x` is drafted with probability `q(x)`. By
# argmax one token is drafted always, so its accepted mass is `min(1, p/q)` and that of all others
# is 0. The residual then repairs the shortfall of a `q` that nobody has drawn from, so the two no
# longer add up to `p`. Reporting a `q` that is 1 on the drafted token makes both paths right:
# accept with `p(x)`, else draw from `p` without `x`.

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: "Draft the most likely token, then accept with min(1, p/q)."** It is not so,
# because the ratio is for a token *drawn* from `q`. *Look:* `[.6, .4]` for `[.5, .5]` gives
# `[.833, .167]`.
#
# **You might read: "The acceptance rate is the sum of min(p, q)."** It is so only for drawn drafts
# and one position; alpha is its mean over a text. *Look:* an argmax draft has .667 in place of .80.
#
# **You might read: "It can never hurt; with no match the speed is the same."** It is not so,
# because rejected drafts took time. *Look:* with K = 5 and c = .1 it is .67 times the speed.
#
# **You might read: "The output is identical."** It is not so, because the promise is about the
# distribution. *Look:* one seed, 20 tokens by each method: both exact, and not the same text.
#
# **You might read: "It is the only method that loses no quality."** It is not so, because a KV
# cache, batching and tensor parallelism keep the law, up to rounding. *Look:* one sum, two orders.

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## The race again
#
# The same race at temperature 0.7. No reader could tell which of the two texts was drafted, because
# both are drawn from one distribution, and this chapter has proved it.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

contestants = {"speculative decoding": drafting("large", k=3)}
show_race(race("03", contestants, texts=2, temperature=0.7))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192: the one-token proof (Appendix A.1), the acceptance rate (Theorem
#   3.5, Corollary 3.6), the speed of the table (Theorem 3.8), lenience (A.5).
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318: Theorem 1, the same proof, letters exchanged.
# - Hugging Face transformers, on GitHub: 30778 made drafts greedy, 32867 reported the law, 33534
#   took it back; 47932 reports generators that hand over a `q` they did not draw from, of which one
#   stands in 5.23.0; 28508 mended a count that accepted everything.
# - vLLM, on GitHub: 10198, filtered drafts against an unfiltered target; vllm-project.github.io 80,
#   a rule without a coin, found in review. deepseek-ai/DeepSpec 31: bfloat16 drafts, float32 rule.
#
# The papers support the law, without rounding. The threads show that it was missed, not how often.
# None says anything about speed on your machine.
#
# **Next.** Chapter 04 asks which draft is worth its time, now that every draft is safe.
