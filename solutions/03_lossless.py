# %% [markdown]
# # 03 Lossless: why the text is the target's, and what breaks it
#
# 100 minutes · difficulty 4 of 5 · you need: NumPy, and chapter 02's rule, which is restated below
#
# - **Intuition**: 60 proposals, counted by hand.
# - **Mathematics**: the two paths into every token, in "The proof".
# - **Code**: a judge that follows every branch instead of sampling.
# - **Demo**: your judge finds two bugs in an installed library, and tries your own decoder.
#
# **You come with** a decoder that accepts draft tokens and corrects a rejection.
# **You build** a judge of such decoders, a repair, and the usual samplers.
# **You leave with** three conditions under which drafting changes nothing but the time.

# %%
import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch03 import lesson
from specdec_lib.lessons.ch03.lesson import P, Q
from specdec_lib.sampling import softmax

# %% tags=["demo"]
print("Loading the drawing code. This takes a moment.")
from specdec_lib.lessons.ch03 import figures

# %% [markdown]
# ## The smallest example: 60 proposals
#
# At one position of a text, the **target** has the distribution `p` and the **draft** has `q`. The rule draws a
# draft token `x` from `q` and keeps it with probability `min(1, p(x)/q(x))`. After a rejection it writes a
# **correction**, drawn from the **residual**: `max(0, p - q)`, divided by its sum.
#
# Take two tokens, with `p = [0.5, 0.5]` and `q = [0.6, 0.4]`, and count 60 proposals:
#
# | the draft proposes | how many | ratio `p/q` | kept | replaced by token 1 |
# | --- | --- | --- | --- | --- |
# | token 0 | 36 | 5/6 | 30 | 6 |
# | token 1 | 24 | above 1 | 24 | 0 |
#
# Token 0 is written 30 times, and token 1 is written 24 + 6 = 30 times. The draft prefers token 0, and the text
# shows no trace of it.
#
# A method is **lossless** if every token that it writes has the target's distribution `p`. On these 60 proposals the
# rule was. Is it always, and how would you notice if not?
#
# ### Commit first
#
# Why a residual? After a rejection the correction could be drawn from `p` itself: how can the target's own
# distribution be wrong? Take chapter 02's `p = [0.45, 0.30, 0.15, 0.10]` over four tokens, A to D. The draft has
# no imagination and always proposes D: `q = [0, 0, 0, 1]`. With what probability does this simpler rule write D?
# Write a number from 0 to 1.

# %% solution="prediction_03"
### BEGIN SOLUTION
prediction_03 = 0.19
### END SOLUTION

# %% test="prediction_03" points=1
lesson.committed("prediction_03", prediction_03, 0, 1)

# %% tags=["demo"]
lesson.reveal("prediction_03", prediction_03)

# %% [markdown]
# ## Simulator: two paths into a token
#
# Drag the D of `q` to the top and leave `p` as it is. The lower picture shows the two ways into each token, by
# acceptance and by correction. What moves, and what never does? Below, draw samples, also from your prediction's
# rule ("replaced from p"): how many before it stands out?

# %% tags=["demo"]
from specdec_lib.lessons.widgets import linked_simulator

linked_simulator("paths", target=P, draft=Q)

# %% [markdown]
# <details><summary>What there is to see</summary>
#
# What acceptance loses, correction gains: the two paths move, and their sum stays at `p`. Your prediction's rule is
# 0.09 from `p`. A sample of 100 tokens from `p` itself is 0.064 from `p` on average, and one of 500 tokens 0.029: the
# rule stands out after some hundreds of draws.
#
# </details>
#
# ## The proof, in two paths
#
# In the 60 proposals, token 1 was written 24 times by acceptance and 6 times by correction. There is no third
# path. For any `p` and `q`, let $\beta$ be the share of draft tokens that is kept:
#
# | path | its mass on token `x` |
# | --- | --- |
# | accepted | `q(x) * min(1, p(x)/q(x)) = min(p(x), q(x))` |
# | corrected | `(1 - beta) * max(0, p(x) - q(x)) / (1 - beta) = max(0, p(x) - q(x))` |
#
# A rejection has probability `1 - beta`. The residual is divided by its sum, which is `1 - beta` too, so the
# two cancel. If `p(x) >= q(x)`, the paths add up to `q(x) + (p(x) - q(x))`. Otherwise they add up to
# `p(x) + 0`. Both sums are `p(x)`, whatever `q` is: a poor draft costs time and never quality.
#
# How much can any lossless rule keep? It can't write `x` more often than `p(x)`, nor keep it more often than the
# draft proposes it. So it keeps at most the smaller of the two; this rule keeps exactly that.
#
# ### Exercise: acceptance_rate
#
# **Task.** Return the share of draft tokens that the rule keeps.
#
# **Arguments.** `p` and `q` are `(V,)` and may have zeros. The function returns a float from 0 to 1. No
# warning is allowed.
#
# **Example.** The 60 proposals: 54 are kept, so 0.9. For A to D the chapter's draft is
# `q = [0.30, 0.45, 0.20, 0.05]`, and 0.80 is kept.


# %% solution="acceptance_rate"
def acceptance_rate(p: np.ndarray, q: np.ndarray) -> float:
    """The largest share of tokens drawn from q (V,) that a lossless rule can keep."""
    ### BEGIN SOLUTION
    return float(np.minimum(p, q).sum())
    ### END SOLUTION


# %% [markdown] hints="acceptance_rate"
# 1. What does one token add: how often is it drafted, and how often is it then kept?
# 2. `q` times `min(1, p/q)` is the smaller of `p` and `q`, even if `q` is 0: no division is needed.
# 3. Return the sum of `np.minimum(p, q)`, as a float.

# %% test="acceptance_rate" points=2
lesson.check_acceptance_rate(acceptance_rate)

# %% [markdown]
# Leviathan et al. call it the **acceptance rate**, $\beta$ at one position and $\alpha$ on average. The rule
# rejects the part of `q` above `p`, and that is as large as the part of `p` above `q`. It is the **total
# variation** TV, the usual distance of distributions (Theorem 3.5):
#
# $$ \beta = \sum_x \min(p(x), q(x)) = 1 - \mathrm{TV}(p, q),
# \qquad \mathrm{TV}(p, q) = \frac{1}{2} \sum_x |p(x) - q(x)| $$
#
# The bound holds for one position; a rule that judges whole blocks can keep more (chapter 07).
#
# ## Three conditions
#
# The proof has used three things:
#
# 1. **The draft token is drawn from the very `q` that the rule uses.** Otherwise the accepted mass is
#    not `min(p, q)`.
# 2. **Draft, coin and correction are fresh draws.** A coin that has just rejected lies above the ratio. Lay the
#    residual on a line from 0 to 1 and look up that coin there: it never reaches the beginning. After a
#    rejected B it draws A one time in four instead of three times in four.
# 3. **`p` belongs to exactly the text before the token.** A row too early or too late answers another question.
#
# If all three hold, every written token follows its `p`; the bonus token is drawn from it. The probability of a
# text is the product over its tokens, so **the whole text has the target's distribution**, wherever blocks end.
#
# ## A judge that follows every branch
#
# How do you judge a rule in somebody's code? In a sample, a small bias hides in the noise. But a rule makes few
# decisions: follow all of them, and add up the probabilities.
#
# For this, a rule asks an object `choices` for every draw; `choices.choose(probabilities)` returns an index:


# %%
def the_rule(p, q, choices):
    """One position, from draft to token."""
    token = choices.choose(q)
    ratio = min(1, p[token] / q[token])
    if choices.choose([ratio, 1 - ratio]) == 0:
        return token
    missing = np.maximum(p - q, 0)
    return choices.choose(missing / missing.sum())


exact.distribution(lambda choices: the_rule(P, Q, choices))

# %% [markdown]
# `exact.distribution` runs the rule once for every branch and returns a dictionary: each token that came back, and its
# **exact** probability. It expects a function of `choices` alone; the lambda fills in `p` and `q`. A token that no
# branch returns is not in it.
#
# ### Exercise: is_lossless
#
# **Task.** Judge somebody's rule on this `p` and `q`: does it write every token with probability `p`?
#
# **Arguments.** `rule(p, q, choices)` returns a token, as `the_rule` does; `p` and `q` are `(V,)`. Return True
# or False. Probabilities that differ by less than 1e-12 count as equal.
#
# **Example.** `the_rule` is lossless on `P` and `Q`. A rule that returns `choices.choose(q)` is lossless only
# where `q` equals `p`.
#
# **The tests also check.** Rules that err only where some tokens have `q = 0`, or once in a billion tokens.


# %% solution="is_lossless"
def is_lossless(rule, p: np.ndarray, q: np.ndarray) -> bool:
    """Whether `rule` writes every token with the probability that p (V,) gives it."""
    ### BEGIN SOLUTION
    found = exact.distribution(lambda choices: rule(p, q, choices))
    law = np.array([found.get(token, 0.0) for token in range(len(p))])
    return bool(np.abs(law - p).max() < 1e-12)
    ### END SOLUTION


# %% [markdown] hints="is_lossless"
# 1. The last line of the cell above returns the distribution of `the_rule` on `P` and `Q`. You need that
#    of `rule` on `p` and `q`.
# 2. Look up every token from 0 to `len(p) - 1` in the dictionary; `found.get(token, 0.0)` is 0 for a
#    token that is not there.
# 3. Put these into an array, and return whether its largest absolute difference from `p` is below 1e-12.

# %% tags=["demo"]
figures.line_up(is_lossless, P, Q)

# %% test="is_lossless" points=5
lesson.check_is_lossless(is_lossless)

# %% [markdown]
# `argmax_draft` and `filtered_draft` break condition 1, `one_coin` breaks condition 2. So did vLLM, in an optional
# mode until August 2026: the noise of a rejected draft token drew the correction too.
#
# `sampler_match` is lossless: it writes a draw from `p` and hopes that the draft has guessed it. It keeps only the
# sum of `p q`, here 0.305 instead of 0.80. Yet by default vLLM, SGLang, TensorRT-LLM and llama.cpp accept a draft
# token `x` with probability `p(x)` and ignore `q`. A greedy draft, vLLM's default, loses nothing by it: `q(x)` is 1.


# %%
def verdict_on(name, p, q):
    """Given: your verdict on a rule of rules.py. The grader calls your judge through it."""
    from specdec_lib.lessons.ch03 import rules

    return is_lossless(getattr(rules, name), p, q)


# %% [markdown]
# ## A bug that shipped
#
# "Let the draft take its most likely token. More tokens will match, and the target has the last word anyway."
# Hugging Face transformers did it from May to September 2024, under a rule that still used all of `q`.
#
# ### Commit first
#
# Let `p = [0.5, 0.5]` and `q = [0.6, 0.4]`. The draft always proposes token 0, but ratio and residual use `q`.
# With what probability is token 0 written? Write a number from 0 to 1.

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
# **Task.** Return the distribution that this mistake writes: the draft token is the argmax of `q` (the first, if
# several are equal), while ratio and residual use all of `q`.
#
# **Arguments.** `p` and `q` are `(V,)`; the function returns a new array `(V,)`. If the ratio is 1 or more,
# nothing is rejected and no residual is needed. No warning is allowed.
#
# **Example.** `p = [0.6, 0.4]`, `q = [0.55, 0.45]`: token 0 is always drafted and always kept, so the result is
# `[1, 0]`.


# %% solution="argmax_draft_law"
def argmax_draft_law(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The distribution (V,) if the draft is argmax q, and ratio and residual use all of q (V,)."""
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
# 2. With `a = min(1, p/q)` of that token it is written itself; with `1 - a` the residual decides.
# 3. If `a` is below 1, begin with `1 - a` times the residual of `p` and `q`, else with zeros; then add `a`
#    on the drafted token.

# %% tags=["demo"]
figures.argmax_draft(argmax_draft_law, P, Q)

# %% test="argmax_draft_law" points=3
lesson.check_argmax_draft_law(argmax_draft_law)

# %% [markdown]
# ## The library on trial
#
# Judge the library that is installed here, transformers 5.23.0. Whenever it asks torch for a coin or a token,
# `choices` answers, so the library's own code decides and every branch is counted. The accused:
#
# - its acceptance code, with a draft token drawn from `q`, and with an argmax. One of its draft generators, for
#   Gemma 4 assistants, still has the lines of 2024:
#
# ```python
# last_token_id = outputs.logits.argmax(dim=-1)
# drafted_logits.append(outputs.logits)
# ```
#
# - `generate` as anybody calls it, with two small Llamas. The draft has **another tokenizer**, with a word that the
#   target lacks. For the trial the order of its words is fixed: once reversed, once by id;
# - a switch, `assistant_ensemble_weight`.

# %% tags=["demo"]
figures.library_on_trial(is_lossless, argmax_draft_law, P, Q)

# %% [markdown]
# Three of the five are not lossless. The switch is lossy on purpose: with weight `w` the library writes
# `w p + (1 - w) q`. The others are bugs on your own disk: Gemma 4's argmax draft, whose numbers your
# `argmax_draft_law` knew, and `generate`.
#
# What is wrong with `generate`? It cuts the draft's output down to the words that both models know. It lists them in
# the order of `get_vocab()`, but reports `q` as if in the order of ids. So a token comes with the `q` of
# another: condition 1. The order is a hash table's, new at every call (the last lines), so nearly every loading is
# wrong. Listed by id, the same code is lossless.
#
# ### Exercise: repair
#
# **Task.** Draft one token and report its logits, so that the acceptance code is lossless. In NumPy the two
# lines of 2024 read `token = int(np.argmax(logits))` and `reported = logits`. The draft must still follow `logits`:
# drawn from their softmax, or their argmax.
#
# **Arguments.** `logits` is `(V,)`, and `choices` is what a rule gets: every random draw goes through it. Return a
# tuple: the draft token, and the logits `(V,)` of which the library then takes the softmax. `softmax(logits)` is given.
#
# **Example.** On `np.log([0.6, 0.4])` the two lines draft token 0 with probability 1, and the `q` that they
# report gives it 0.6.
#
# **The tests also check.** Ties, and logits near 900.


# %% solution="repair"
def repair(logits: np.ndarray, choices) -> tuple[int, np.ndarray]:
    """A draft token, and the logits (V,) of the distribution that it was drawn from."""
    ### BEGIN SOLUTION
    token = choices.choose(softmax(logits))
    return token, logits
    ### END SOLUTION


# %% [markdown] hints="repair"
# 1. Condition 1 has two sides: how the token is drawn, and which `q` is reported. Change one of them.
# 2. Either draw the token from the reported `q`, or report the `q` of a token that is always the argmax:
#    1 on this token and 0 elsewhere.
# 3. Either `choices.choose(softmax(logits))` and the logits as they are; or the argmax, and logits that
#    are 0 on it and -np.inf elsewhere.

# %% tags=["demo"]
figures.library_repaired(is_lossless, repair, P, Q)

# %% test="repair" points=5
lesson.check_repair(repair)

# %% [markdown]
# Two repairs are common; which keeps more? With a **one-hot** `q`, 1 on the argmax, the rule keeps `p(argmax q)`.
# With a token drawn from `q` it keeps the sum of `min(p, q)`:
#
# | `p` | `q` | drawn | argmax |
# | --- | --- | --- | --- |
# | `P` | `Q` | 0.80 | 0.30 |
# | `[0.9, 0.1]` | `[0.6, 0.4]` | 0.70 | 0.90 |
#
# If both models have the same favourite, the argmax can win. To draw a token and report 1 on it is lossless too, but
# keeps only the sum of `p q`.
#
# ## Temperature, top-k and top-p belong to both sides
#
# Real samplers divide by a temperature and drop rare tokens before they draw. The rule's `p` and `q` must come after
# all of that. `filtered_draft` in your line-up reports its `q` from before the filter.
#
# ### Exercise: warp
#
# **Task.** Turn logits into the distribution that is sampled. `scaled` holds `logits / temperature`; you add top-k,
# softmax, top-p, and divide what is left by its sum.
#
# **Arguments.** `logits` is `(V,)`. The function returns a new array `(V,)` that sums to 1. No warning is allowed.
#
# - `top_k` keeps the k largest logits. Tokens tied with the k-th are all kept. If `top_k` is None, 0 or above V,
#   all tokens are kept.
# - `top_p` goes from the most probable token down; of equal ones the lowest index comes first. A token is kept
#   if the mass *before* it is below `top_p`, and the first always is. If `top_p` is None or at least 1, all
#   tokens are kept.
#
# **Example.** `np.log([0.5, 0.25, 0.125, 0.125])` with `top_p = 0.6`: the mass before token 1 is 0.5, so it is
# kept; before token 2 it is 0.75. The result is `[2/3, 1/3, 0, 0]`.


# %% solution="warp"
def warp(
    logits: np.ndarray,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> np.ndarray:
    """The distribution (V,) that is sampled from `logits` (V,)."""
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    scaled = logits / temperature
    ### BEGIN SOLUTION
    if top_k:
        scaled = np.where(scaled < np.sort(scaled)[-min(top_k, len(logits))], -np.inf, scaled)
    probs = softmax(scaled)
    if top_p is not None and top_p < 1:
        order = np.argsort(-probs, kind="stable")
        before = np.cumsum(probs[order]) - probs[order]
        probs[order[1:][before[1:] >= top_p]] = 0
    return probs / probs.sum()
    ### END SOLUTION


# %% [markdown] hints="warp"
# 1. One step after the other: cut by rank, softmax, cut by mass, renormalise.
# 2. A token that top-k cuts gets the logit minus infinity, so its softmax is 0. Top-p needs the
#    probabilities that top-k has left.
# 3. For top-p: order by `np.argsort(-probs, kind="stable")`; the mass before a token is the
#    cumulative sum less the token itself; set to 0 if that is at least `top_p`, but never the
#    first; divide by the sum.

# %% tags=["demo"]
figures.warped(warp, lesson.WARP_LOGITS)

# %% test="warp" points=5
lesson.check_warp(warp)

# %% [markdown]
# At temperature 0 both are one-hot, and the rule becomes chapter 01's greedy check.
#
# Along chapter 02's recorded answer, your `warp` now makes every `p` and `q`:

# %% tags=["demo"]
figures.alpha_by_temperature(warp)

# %% [markdown]
# Warped alike, the models agree about as often at any temperature, with or without top-p: `alpha` is between 0.37
# and 0.41. So usual settings, such as Qwen3's 0.6 with top-p 0.95, cost little. A draft left at temperature 1 is
# lossless too, but at 0 it keeps a third less. So a draft gets the target's temperature.
#
# <details><summary>What these curves leave out</summary>
#
# They come from one answer of 96 tokens by one pair, so their small steps say nothing. The answer was drawn at
# temperature 0.7, and other temperatures would have written other texts. Of each distribution 64 logits were
# recorded; above temperature 1 the rest of the vocabulary would have much of the mass. There a draft left at 1 even
# keeps slightly more: 0.39 instead of 0.37 at 1.4. That a draft does best at the target's temperature is no theorem.
#
# </details>
#
# ## Your own decoder on trial
#
# The last accused is you. `carried` fetches your `speculative_sample` from chapter 02's notebook. It writes two
# tokens with `K = 1`, from `P` and `Q` behind your `warp`, and your judge compares them with `P` alone behind `warp`.
# What happens if only one model gets it?

# %% tags=["demo", "shown"]
from specdec_lib.lessons.checking.carried import carried

speculative_sample = carried("02_rejection_sampling", "speculative_sample")
sampler = 0.5, None, 0.7  # temperature, top-k, top-p
figures.own_decoder(speculative_sample, warp, is_lossless, P, Q, sampler)

# %% [markdown]
# With `warp` on the target alone the decoder is still lossless. On the draft alone your judge says no: the text follows
# plain `P`, lossless only for a sampler that nobody asked for. So ask: **lossless with respect to which sampler?**
#
# <details><summary>min_p, penalties, and samplers that remember</summary>
#
# - `min_p` drops tokens below a share of the largest probability. It looks at one row, so it belongs in `warp`, at
#   every position of a block. In August 2026 a user of vLLM quoted its answer to such a request: "not yet
#   supported with speculative decoding" (pull request 42802, open then). Refusing is the honest way.
# - A repetition penalty depends on the text before the token, draft tokens included. So each position of a
#   block has its own penalties: condition 3.
# - A sampler that remembers its calls has no `p` at all, since a block calls it more often than the text needs.
#   With transformers 5.23.0, classifier-free guidance and the SynthID watermark write another text under a draft,
#   without a warning (run on 28 November 2026).
#
# </details>
#
# ## Optional: forge a rule
#
# Can you write a rule that is *not* lossless, but passes for lossless in 200,000 samples? Change this one, and
# run both cells.


# %%
def my_rule(p, q, choices):
    """Chapter 02's rule, until you change it."""
    return the_rule(p, q, choices)


# %% tags=["demo"]
figures.forged(my_rule, P, Q)

# %% [markdown]
# <details><summary>One answer</summary>
#
# Forget the coin once in a thousand tokens: begin with
# `if choices.choose([0.999, 0.001]) == 1: return choices.choose(q)`. The distribution moves by a thousandth of
# the way from `p` to `q`, which is 0.0002, and the noise of 200,000 samples is seven times as large.
#
# </details>
#
# <details><summary>For whom does lossless matter?</summary>
#
# A chat user may never notice a bias. Three others do. Whoever compares models measures the drafting too. Whoever
# trains on sampled texts takes them to come from `p`, and a bias does not average out: with corrections drawn from
# `p`, which is 0.09 off, it is larger than the noise after 99 texts (`docs/regimes.md`, the smallest case). And
# whoever debugs a server wants one thing fewer to suspect. Smaller weights (rounded, pruned, distilled) are also
# fast, but replace `p` itself; a lossless draft leaves nothing to argue about. Methods that are lossy on purpose
# are marked in the field guide (`docs/field_guide.md`).
#
# </details>
#
# <details><summary>The claim, reviewed: "speculative decoding is lossless"</summary>
#
# **It holds for the distribution, up to rounding, under the three conditions** (reviewed on 28 November 2026).
#
# - *Witnesses*: the equation (two paths add up to `p`), the code (`is_lossless` on `the_rule`, and your own
#   decoder), the library with your repair, and the simulator. All are toys of a few tokens.
# - *Caveats*: the proofs leave rounding out. The claim is about the distribution, not about one text, and about
#   one sampler. It promises no speed.
# - *Support*: the two papers below prove it.
#
# </details>
#
# ## Quiz
#
# **Question 1.** Target and draft sample with top-k 20, but the draft reports its `q` from before the filter.
# More tokens are accepted than with the filtered `q`. What has happened?
#
# - a: the filter has made the draft better, since it no longer proposes rare tokens
# - b: the ratios are too large for the tokens that it can propose, and the text's distribution is wrong
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
# - a: the target's distribution, more slowly than without a draft
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
# "Let the draft decode greedily. The target has the last word, so the text's distribution cannot change." Where
# does the proof break? Say what mass each path gets, and which `q` would make it right. Write three to five
# sentences. This answer is marked by hand.

# %% [markdown] written="why_drawn_from_q" points=2
# The accepted path carries `q(x) min(1, p/q)` only if `x` is drafted with probability `q(x)`. With argmax one
# token is always drafted, so its accepted mass is `min(1, p/q)` and that of all others is 0. The residual then
# makes up for a `q` that nobody has drawn from, so the two no longer add up to `p`. A `q` that is 1 on the
# drafted token makes both paths right: accept with `p(x)`, else draw from `p` without `x`.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence?
#
# **You might read: "The acceptance rate is the sum of min(p, q)."**
#
# <details><summary>Answer</summary>
#
# That holds for one position, and for drafts that are drawn from `q`. A one-hot draft has `p(argmax q)`.
# *For example:* the table below the repair has 0.80 against 0.30, and 0.70 against 0.90.
#
# </details>
#
# **You might read: "The output is identical."**
#
# <details><summary>Answer</summary>
#
# The distribution is, up to rounding. With one seed the two methods spend their random numbers on different
# things. *For example:* the two lanes of chapter 02's race write different texts. At temperature 0 both write
# the same tokens, until rounding changes which logit is largest. And a draft that samples in bfloat16 and
# reports a float32 `q` breaks condition 1 a little (DeepSpec 31).
#
# </details>
#
# **Your decoder so far:** it has the target's distribution, behind any sampler, with the passes of chapter 02.
#
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023,
#   [arXiv 2211.17192](https://arxiv.org/abs/2211.17192): the one-token proof (Appendix A.1), the acceptance
#   rate (Theorem 3.5, Corollary 3.6).
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*,
#   [arXiv 2302.01318](https://arxiv.org/abs/2302.01318): Theorem 1, the same proof with the letters exchanged.
# - Qwen3: the commands of its [README](https://github.com/QwenLM/Qwen3) have `--temp 0.6 --top-k 20 --top-p 0.95`.
# - Hugging Face transformers, on GitHub: [30778](https://github.com/huggingface/transformers/pull/30778) made
#   drafts greedy (May 2024), [32867](https://github.com/huggingface/transformers/pull/32867) reported the
#   distribution (August), [33534](https://github.com/huggingface/transformers/pull/33534) took it back (September),
#   [28508](https://github.com/huggingface/transformers/pull/28508) fixed a count that accepted everything.
#   [47932](https://github.com/huggingface/transformers/pull/47932) (August 2026) names three generators that
#   report a `q` they did not draw from; in 5.23.0 two are fixed and one is left (`candidate_generator.py`, lines
#   1344 and 1347). The other tokenizer: `candidate_generator.py`, lines 725 and 833, run with 5.23.0 on 28
#   November 2026; in no public thread that we found.
#   `assistant_ensemble_weight`: `utils.py`, line 4435, after DIVERSE
#   ([arXiv 2604.07622](https://arxiv.org/abs/2604.07622)).
# - vLLM, on GitHub: [54282](https://github.com/vllm-project/vllm/pull/54282) parted the draft's noise from the
#   correction's (August 2026; drafts by argmax, the default, draw nothing and were right);
#   [42802](https://github.com/vllm-project/vllm/pull/42802), `min_p`;
#   [10198](https://github.com/vllm-project/vllm/issues/10198), filtered drafts against an unfiltered target;
#   [vllm-project.github.io 80](https://github.com/vllm-project/vllm-project.github.io/pull/80), a rule without a
#   coin, found in review.
# - What servers do by default: `docs/field_guide.md`, "Engines", as read until 28 November 2026.
# - [deepseek-ai/DeepSpec 31](https://github.com/deepseek-ai/DeepSpec/issues/31): bfloat16 drafts under a float32 rule.
#
# **Next.** Chapter 04 asks which draft is worth its time, now that every draft is safe.
