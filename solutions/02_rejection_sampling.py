# %% [markdown]
# # 02 Rejection sampling: accept a draft token and keep the target's distribution
#
# 110 minutes, in two sittings · difficulty 4 of 5 · you should know what a probability distribution
# is, how to index a NumPy array, and the decoder of chapter 01
#
# - **Intuition**: 100 proposals, counted by hand, in "The smallest example".
# - **Mathematics**: accepted and corrected parts add up to `p`, in "Why the bars meet the target".
# - **Code**: six functions. The last one is a whole decoder, in about 15 lines.
# - **Demo**: your decoder writes the answer of a chat model, and passes an exact test.
#
# **You come with** a greedy decoder, which can only write the target's most probable token.
# **You build** the rule that keeps some draft tokens and replaces the first one that it rejects.
# **You leave with** a decoder of your own that samples exactly, however poor the draft.

# %%
import numpy as np

from specdec_lib.lessons.ch02 import lesson
from specdec_lib.lessons.ch02.lesson import P, Q
from specdec_lib.sampling import sample_from

# %% tags=["demo"]
print("Loading the drawing code. This takes a moment.")
from specdec_lib.lessons.ch02 import figures

# %% [markdown]
# ## The smallest example: 100 proposals
#
# In chapter 01 the target always wrote its most probable token. Chatbots usually draw each token at
# random from the target's distribution.
#
# Take a vocabulary of two tokens. At one position the target has the distribution `p = [0.5, 0.5]`,
# and the draft has `q = [0.75, 0.25]`. The draft proposes a token 100 times, and we count:
#
# | | token 0 | token 1 |
# | --- | --- | --- |
# | the draft proposes | 75 | 25 |
# | the target wants | 50 | 50 |
# | we keep | 50 of 75 | 25 of 25 |
#
# We keep as many proposals as we can, but never more of a token than the target wants. The other
# 25 proposals are rejected, so 25 places are now empty.
#
# ### Commit first
#
# At the end, the 100 places should hold what the target wants. With what probability should an
# empty place get token 0? Write a number from 0 to 1.

# %% solution="prediction_02"
### BEGIN SOLUTION
prediction_02 = 0.0
### END SOLUTION

# %% test="prediction_02" points=1
lesson.committed("prediction_02", prediction_02, 0, 1)

# %% tags=["demo"]
lesson.reveal("prediction_02", prediction_02)

# %% [markdown]
# The draft preferred token 0, and the 100 places show no trace of it. A program sees one proposal
# at a time and cannot count to 100, but it can toss a coin. This chapter finds the right coin, and
# the right token for an empty place, the *correction*.
#
# ## The rule: how often to accept
#
# Our main example is a pair of distributions over four tokens, A to D, with indices 0 to 3:
#
# | token | A | B | C | D |
# | --- | --- | --- | --- | --- |
# | target `p` | 0.45 | 0.30 | 0.15 | 0.10 |
# | draft `q` | 0.30 | 0.45 | 0.20 | 0.05 |
#
# The next cell keeps all 100 proposals, and the right panel shows the damage. Change the four
# numbers of `keep` until no token comes too often and as few as possible are missing.

# %% tags=["demo", "shown"]
keep = [30, 45, 20, 5]
figures.kept_of_100(keep, P, Q)

# %% [markdown]
# <details><summary>What you should find</summary>
#
# You keep 30 of 30 A, 30 of 45 B, 15 of 20 C and 5 of 5 D: 80 of 100. That leaves 15 A and 5 D
# missing, no B and no C: 20 missing tokens for 20 empty places.
#
# </details>
#
# ### Exercise: acceptance_probability
#
# **Task.** Return the probability that a draft token is accepted: the share of its proposals that you keep.
#
# **Arguments.** `p` and `q` are `(V,)`, where `V` is the size of the vocabulary. `token` was drawn
# from `q`, so `q[token]` is above 0. Return a float, at most 1.
#
# **Example.** You keep 30 of 45 proposals of token 1 (B): the answer is 0.667.


# %% solution="acceptance_probability"
def acceptance_probability(p: np.ndarray, q: np.ndarray, token: int) -> float:
    """The probability that a draft token is accepted; p, q (V,), with q[token] above 0."""
    ### BEGIN SOLUTION
    return min(1.0, float(p[token] / q[token]))
    ### END SOLUTION


# %% [markdown] hints="acceptance_probability"
# 1. The draft proposes the token with probability `q[token]`, the target wants it with `p[token]`.
# 2. Which of the two is divided by the other, if 30 of 45 proposals are kept?
# 3. Return the smaller of 1 and `p[token] / q[token]`.

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
# This is **the accepted height over the whole height of the draft's bar**. If `p(x)` is at least
# `q(x)`, the token is always accepted; if `p(x)` is 0, never. So even the draft's favourite can be thrown out.
#
# ## A block: stop at the first rejection
#
# The target scored each draft token *given the draft tokens before it*. If the token at position 1
# is rejected, the token at position 2 was scored after a text that we will not write. So the walk
# through the block ends at the first rejection, and all later draft tokens are dropped.
#
# The coin is a uniform number `r` in [0, 1), which is below 0.667 with probability 0.667. Each
# position has its own coin, compared with its ratio. No minimum is needed: `r` is below 1 anyway.
#
# ### Exercise: speculative_accept
#
# **Task.** Return the accepted draft tokens: all before the first rejection. At position `i`, token `x` is accepted if
#
# $$ r_i < \frac{p_i(x)}{q_i(x)} $$
#
# (`<=` earns full points too; see chapter 03.)
#
# **Arguments.** `draft_tokens` is a list of `K` tokens, `q` is `(K, V)`, `r` is `(K,)`. `p` is `(K, V)`
# too, or has one more row. For `K = 0`, `q` may be `np.array([])`.
#
# **Example.** `draft_tokens = [3, 1, 2]` over a vocabulary of four:
#
# | position | token | `p` | `q` | ratio | `r` | verdict |
# | --- | --- | --- | --- | --- | --- | --- |
# | 0 | 3 | 0.5 | 0.4 | 1.25 | 0.7 | accepted |
# | 1 | 1 | 0.1 | 0.5 | 0.2 | 0.6 | rejected |
# | 2 | 2 | 0.6 | 0.3 | 2 | 0.1 | dropped |
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
        if r[i] >= acceptance_probability(p[i], q[i], token):
            break
        accepted.append(token)
    return accepted
    ### END SOLUTION


# %% [markdown] hints="speculative_accept"
# 1. Walk through the block position by position. What ends the walk?
# 2. Position `i` has a token, a row of `p`, a row of `q` and a coin of its own.
# 3. Loop with an index. If `r[i]` is not below `acceptance_probability(p[i], q[i], token)`, leave
#    the loop; else append the token. Return the list after the loop.

# %% tags=["demo"]
figures.walk_through_block(
    speculative_accept, lesson.BLOCK, lesson.BLOCK_P, lesson.BLOCK_Q, lesson.BLOCK_R
)

# %% test="speculative_accept" points=4
lesson.check_speculative_accept(speculative_accept)

# %% [markdown]
# ## What to write instead: the residual
#
# Which token should fill the empty place after a rejection? Drawing from `p` looks right and is
# wrong. A is proposed with probability 0.30, and always accepted. The target wants 0.45, so A
# lacks 0.15. D lacks 0.05. B and C lack nothing: their accepted proposals give them their full share.
#
# So the correction must come from the missing part alone, `[0.15, 0, 0, 0.05]`, whose sum is 0.20.
# Divided by this sum, it is a distribution, the **residual**.
#
# ### Exercise: residual_distribution
#
# **Task.** Return the residual of `p` and `q`:
#
# $$ \text{residual}(x) = \frac{\max(0,\; p(x) - q(x))}{\sum_y \max(0,\; p(y) - q(y))} $$
#
# **Arguments.** `p` and `q` are `(V,)`. Return a new `(V,)` array. If `p` equals `q`, nothing is
# missing: return a copy of `p`.
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
# 1. The residual is the part of `p` that sticks out above `q`.
# 2. `np.maximum` works entry by entry; Python's `max` compares whole arrays and raises.
# 3. Compute the positive part of `p - q` and its sum. If the sum is 0, return `p.copy()`; else
#    return the positive part over its sum.

# %% tags=["demo"]
figures.residual_bars(residual_distribution, P, Q)

# %% test="residual_distribution" points=3
lesson.check_residual_distribution(residual_distribution)

# %% [markdown]
# The missing part is as large as the rejected share, 0.20 for the pair: `p` and `q` both sum
# to 1, so wherever one is higher, the other makes up for it elsewhere.
#
# ## A whole step: one more token
#
# After a rejection, the correction ends the step. If all `K` tokens are accepted, the row after the whole block
# yields a **bonus token**. The draft has proposed nothing there, so draw from `p[K]` as it is.
#
# To draw a token, lay the probabilities next to each other on a line from 0 to 1, in the order of the tokens. A
# random number `u` is a point on this line, and the token whose piece it falls on is drawn. The given function
# `sample_from(probs, u)` does this, with `u` in [0, 1).
#
# ### Exercise: speculative_step
#
# **Task.** Return what one step writes: the accepted tokens and one more. If `n < K` tokens are accepted, draw
# the last one from the residual of `p[n]` and `q[n]`, else from `p[K]`.
#
# **Arguments.** `draft_tokens` is a list of `K`, which may be 0; `p` is `(K + 1, V)`, `q` is `(K, V)` or empty,
# `r` is `(K,)`. The float `u` draws the last token, with `sample_from`. Return a list of 1 to `K + 1` tokens.
#
# **Example.** `draft_tokens = [0, 1]` with the main pair at both positions and `r = [0.5, 0.9]`: token 0 is
# accepted, token 1 is rejected. With `u = 0.8` the residual yields token 3. The answer is `[0, 3]`.


# %% solution="speculative_step"
def speculative_step(
    draft_tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray, u: float
) -> list[int]:
    """The accepted prefix and one more token; p (K+1, V), q (K, V), r (K,), u in [0, 1)."""
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
# 3. With `n` accepted: if `n` is less than the block's length, draw from the residual of `p[n]` and
#    `q[n]`; else draw from `p[n]`, the extra row.

# %% [markdown]
# The next figure calls your function with one draft token. Whenever your function compares `r` or `u` with
# something, the figure follows both outcomes, each with its probability. So the bars are exact.

# %% tags=["demo"]
figures.two_masses(speculative_step, P, Q)

# %% test="speculative_step" points=4
lesson.check_speculative_step(speculative_step)

# %% [markdown]
# ### Why the bars meet the target
#
# By acceptance, `x` receives the smaller of `p(x)` and `q(x)`. By correction, it receives the share of rejections
# times its residual. The residual was divided by this same share, which leaves the missing part:
#
# $$ \min(p(x),\, q(x)) + \max(0,\; p(x) - q(x)) = p(x) $$
#
# For A: `0.30 + 0.15 = 0.45`. For B: `0.30 + 0 = 0.30`. This one line is the theorem of Leviathan et al. (2023).
#
# ## Break the rule
#
# Four rules that people have written, and the right one:
#
# - `"accept everything"`
# - `"accept only where p >= q"`
# - `"draw the correction from p"`
# - `"draft again until one passes"`
# - `"the rule of this chapter"`
#
# ### Commit first
#
# "Draft again until one passes" has the right coin. Yet for the main pair some bars come out too high. How much
# too high, added up? Write a number from 0 to 1.

# %% solution="prediction_02_b"
### BEGIN SOLUTION
prediction_02_b = 0.1
### END SOLUTION

# %% test="prediction_02_b" points=1
lesson.committed("prediction_02_b", prediction_02_b, 0, 1)

# %% tags=["demo"]
lesson.reveal("prediction_02_b", prediction_02_b)

# %% [markdown]
# Put one rule after the other into `rule`. Before each run, say which bars will be too high and why.

# %% tags=["demo", "shown"]
rule = "draft again until one passes"
figures.broken_rule(rule, P, Q)

# %% [markdown]
# <details><summary>What goes wrong in each</summary>
#
# - **Accept everything**: the text follows the draft, `[0.30, 0.45, 0.20, 0.05]`.
# - **Accept only where p >= q**: B and C are never written. Even with the right correction, the output
#   distribution is `[0.7875, 0, 0, 0.2125]`. A token with p < q must sometimes be accepted. Only a coin can do
#   that.
# - **Draw the correction from p**: B and C are paid twice. The rejected 0.20 goes to all tokens, so A has 0.30 +
#   0.20 x 0.45. The output is `[0.39, 0.36, 0.18, 0.07]`.
# - **Draft again**: the accepted shares 0.30, 0.30, 0.15 and 0.05 are scaled up to
#   `[0.375, 0.375, 0.1875, 0.0625]`. No step gives A and D what they lack.
#
# </details>
#
# ## Simulator: overlap and residual
#
# Decide first: if you drag `q` of B from 0.45 up to 0.80, what happens to the accepted share, and which bar of
# the residual grows most? Then build a draft that is almost never accepted.
#
# <details><summary>Answer</summary>
#
# The accepted share falls from 0.80 to 0.50. The residual of A falls from 0.75 to 0.682 and that of D from 0.25 to
# 0.164. C grows most, from 0 to 0.155: with more for B, the draft's C falls to 0.073, and now C lacks something, too.
#
# </details>

# %% tags=["demo"]
from specdec_lib.lessons.widgets import linked_simulator

linked_simulator("residual", target=P, draft=Q)

# %% [markdown]
# If you take two sittings, stop here.
#
# ## Your decoder
#
# ### Draft: draw tokens, and keep their distributions
#
# Here are two models over three tokens that look only at the last one:
#
# | after | target: A, B, C | draft: A, B, C |
# | --- | --- | --- |
# | A | 0, 0.5, 0.5 | 0.5, 0.25, 0.25 |
# | B | 0.5, 0.25, 0.25 | 0.5, 0.5, 0 |
# | C | 0.5, 0.25, 0.25 | 0, 0.5, 0.5 |
#
# After A, the draft's line has A up to 0.5, B up to 0.75 and C up to 1. So `u = 0.6` draws B.
#
# ### Exercise: draft_block
#
# **Task.** Return `k` draft tokens, and their distributions for the coin. Token `i` is
# `sample_from(q_i, uniforms[i])`, where `q_i` is the draft's distribution after the prefix and the tokens drafted
# so far.
#
# **Arguments.** `draft_model(tokens)` returns the distribution `(V,)` after a list of tokens. `prefix` is a list
# of tokens, `uniforms` is `(k,)`: random numbers are arguments, so that a test can know the one right answer.
# Return a list of `k` tokens and an array `(k, V)`.
#
# **Example.** After A, the numbers `[0.6, 0.8, 0.3]` draw B, B and A: the tokens are `[1, 1, 0]`.
#
# **The tests also check.** Call `draft_model` exactly `k` times. For `k = 0` only the list is tested.


# %% solution="draft_block"
def draft_block(draft_model, prefix: list[int], k: int, uniforms) -> tuple[list[int], np.ndarray]:
    """k draft tokens after `prefix`, and the distributions (k, V) that they were drawn from."""
    ### BEGIN SOLUTION
    drafted, q = [], []
    for i in range(k):
        q.append(draft_model([*prefix, *drafted]))
        drafted.append(sample_from(q[i], uniforms[i]))
    return drafted, np.array(q)
    ### END SOLUTION


# %% [markdown] hints="draft_block"
# 1. What does the draft model read before it returns the distribution of token `i`?
# 2. Each call reads the prefix and all tokens drafted so far. Keep the distribution, then draw.
# 3. Loop over `range(k)`: call the model on `[*prefix, *drafted]`, append what came back to a list
#    `q`, then append `sample_from(q[i], uniforms[i])` to `drafted`. Return `drafted` and
#    `np.array(q)`.

# %% tags=["demo"]
figures.drawn_block(draft_block, lesson.UNIFORMS)

# %% test="draft_block" points=3
lesson.check_draft_block(draft_block)

# %% [markdown]
# ### From logits to a distribution
#
# A model returns **logits**, one score for each token; softmax turns them into a distribution. Before that they
# are divided by a **temperature**: below 1 it makes the distribution sharper, above 1 flatter. The draft gets the
# target's temperature, so that more of its tokens are accepted.


# %%
def softmax(logits: np.ndarray) -> np.ndarray:
    """The distributions (V,) or (rows, V) of logits (V,) or (rows, V)."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


# %% [markdown]
# ### Exercise: speculative_sample
#
# **Task.** Return a sampled text, written in blocks. A block drafts `n = min(k, left - 1)` tokens if `left`
# tokens may still be written, calls the target once on the text and the draft, keeps the last `n + 1` rows, and
# adds what `speculative_step` writes.
#
# **Arguments.** `target_logits(tokens)` and `draft_logits(tokens)` return arrays `(len(tokens), V)`: row `i` holds the
# logits after token `i`. All distributions are `softmax(logits / temperature)`, and `temperature` is above 0. Each
# block draws from the NumPy generator `rng`, in this order: `rng.random(n)` for the draft, `rng.random(n)` for `r`,
# `rng.random()` for `u` (a number; `rng.random(1)` is an array). Return the list of *new* tokens: `max_new_tokens` of
# them, or fewer if `eos` comes first. Then `eos` is the last token returned.
#
# **Example.** Prompt `[0]`, `k = 2`, three new tokens: the text is `[2, 0, 1]`. At temperature 0.5 the two small
# models have exactly the rows of the table under "Draft".
#
# | block | for the draft | for `r` | `u` | draft | verdict | writes |
# | --- | --- | --- | --- | --- | --- | --- |
# | 1 | 0.1, 0.6 | 0.4, 0.4 | 0.7 | A, B | A rejected: no A after A | C |
# | 2 | 0.3 | 0.7 | 0.6 | B | B rejected: ratio 0.5 | A |
# | 3 | none | none | 0.2 | none | bonus | B |
#
# **The tests also check.** Only new tokens are compared with `eos`, which may stand anywhere in a block and may
# be 0. Leave `prompt` as it is.


# %% solution="speculative_sample"
def speculative_sample(
    target_logits,
    draft_logits,
    prompt: list[int],
    k: int,
    max_new_tokens: int,
    temperature: float,
    rng: np.random.Generator,
    eos: int | None = None,
) -> list[int]:
    """The new tokens of sampled decoding by the target, in blocks of up to k draft tokens."""

    ### BEGIN SOLUTION
    def draft_model(tokens):
        return softmax(draft_logits(tokens)[-1] / temperature)

    written = []
    while len(written) < max_new_tokens:
        prefix = [*prompt, *written]
        n = min(k, max_new_tokens - len(written) - 1)
        drafted, q = draft_block(draft_model, prefix, n, rng.random(n))
        logits = target_logits([*prefix, *drafted])[len(prefix) - 1 :]
        p = softmax(logits / temperature)
        block = speculative_step(drafted, p, q, rng.random(n), rng.random())
        if eos in block:
            return written + block[: block.index(eos) + 1]
        written += block
    return written
    ### END SOLUTION


# %% [markdown] hints="speculative_sample"
# 1. Your greedy decoder of chapter 01 has the loop and both ends. Which lines change?
# 2. Inside, define `draft_model(tokens)`: the softmax of the last row of `draft_logits(tokens)`,
#    divided by the temperature. Then each block is four calls: `draft_block`, `target_logits`,
#    `softmax`, `speculative_step`.
# 3. Row `len(prefix) - 1` of the target judges the first draft token. So `p` is the softmax of the
#    rows from there on, divided by the temperature. If `eos` is in the block, return what is written
#    and the block up to `eos`; else add the block and go on.

# %% tags=["demo"]
figures.blocks_written(speculative_sample, seed=1)

# %% test="speculative_sample" points=10
lesson.check_speculative_sample(speculative_sample)

# %% [markdown]
# ### Commit first
#
# Your function is about to write the answer of a chat model, with `k = 3`. How many tokens will a pass of the
# target write on average? Write a number from 1 to 4.

# %% solution="prediction_02_c"
### BEGIN SOLUTION
prediction_02_c = 2.5
### END SOLUTION

# %% test="prediction_02_c" points=1
lesson.committed("prediction_02_c", prediction_02_c, 1, 4)

# %% [markdown]
# ### It writes
#
# The target is SmolLM2-135M-Instruct, a published chat model, with a small draft of ours. `answer` has their
# recorded logits for each text that a right decoder asks about, cut to the 64 most probable tokens; this cut model
# is the target here. If your function asks about another text, the cell says where it left the path.

# %% tags=["demo", "shown"]
print("Your function now writes the answer. This takes some seconds.")
from specdec_lib.lessons.ch02.answer import RecordedAnswer

answer = RecordedAnswer()
figures.real_text(speculative_sample, *answer.models, **answer.settings)

# %% tags=["demo"]
lesson.reveal("prediction_02_c", prediction_02_c, answer.tokens_per_pass)

# %% [markdown]
# The grey lines are the prompt. Don't trust the answer: so small a model writes good English sooner
# than true sentences.
#
# ### On the clock
#
# Chapter 01's race at temperature 1. The passes differ, since a draft token has to pass your coin
# rather than be the target's favourite.

# %% tags=["demo"]
print("Loading, then both lanes in turn: 20 s to a minute.")
from specdec_lib.lessons.drawing.race import show_race
from specdec_lib.measure.race.lanes import sampled_function_lane
from specdec_lib.measure.race.race import race

lanes = {"your decoder": sampled_function_lane(speculative_sample)}
show_race(race("02", lanes, temperature=1), yours="your decoder")

# %% [markdown]
# ### Where does a draft fail?
#
# At each token, the sum of `min(p(x), q(x))` over the vocabulary is the probability that a draft
# token is accepted there. The stronger the colour, the likelier a rejection. Commit first, on paper:
# is the draft rejected most at new words, at words that came before, inside words, or at punctuation?

# %% tags=["demo"]
from specdec_lib.lessons.ch02.paragraph import coloured_paragraph

coloured_paragraph(answer.places())

# %% [markdown]
# Where both models are unsure in the same way, the text is pale: hard text alone doesn't stop a
# draft. A target that knows more does: look for a `p` far above its `q`.
#
# ### Is it exact?
#
# One text cannot show that. So the next figure takes *all* texts of three tokens by the two small models. Every
# comparison is followed both ways, which yields your function's exact distribution. A black line marks the target's.

# %% tags=["demo", "shown"]
figures.every_text(speculative_sample, k=2)

# %% [markdown]
# Remember this picture: if a decoder changes the distribution, some bar leaves its line. Here your
# decoder has forgotten the target's temperature: it divides by 0.5, and the factor 0.5 undoes that.


# %% tags=["demo", "shown"]
def forgetful(target_logits, draft_logits, *rest):
    return speculative_sample(lambda text: 0.5 * target_logits(text), draft_logits, *rest)


figures.every_text(forgetful, k=2)

# %% [markdown]
# Move the 0.5 to the draft's logits, and run the cell again. Every bar is on its line again! A draft may be
# as wrong as it likes, as long as `q` is what it drew from.
#
# ### Ask it yourself
#
# After `specdec fetch smollm2-135m`, once, this cell runs your function on the models themselves,
# uncut. Every `seed` gives another answer.

# %% tags=["demo", "shown"]
print("Looking for the models. This takes some seconds.")
from specdec_lib.measure.models import fetched_chat

chat = fetched_chat("Why do cats purr?", count=100)
if chat:
    figures.real_text(speculative_sample, *chat, k=3, temperature=0.7, seed=1, count=100)

# %% [markdown]
# ### The paper, in your own code
#
# Here are your six functions, beside the lines of Leviathan et al.'s Algorithm 1. It
# writes γ for `K`, and counts positions from 1.

# %% tags=["demo"]
figures.beside_the_paper(globals())

# %% [markdown]
# Your decoder saves passes where the draft is right, and stays exact where the draft is wrong.
#
# ## Quiz
#
# **Question 1.** The target gives a token the probability 0.30. For which `q` is the token
# accepted every time it is drafted?
#
# - a: for every `q`, if the token is the target's favourite
# - b: for every `q` up to 0.30
# - c: only for `q` of exactly 0.30
# - d: for every `q` above 0.30, because the draft is more certain

# %% solution="quiz_02"
### BEGIN SOLUTION
quiz_02 = "b"
### END SOLUTION

# %% test="quiz_02" points=1
lesson.answered("quiz_02", quiz_02)

# %% [markdown]
# **Question 2.** In a block of three, the second token was rejected. Why is the third token
# dropped, even though its own ratio is above 1?
#
# - a: the correction has used up the third token's coin
# - b: three tokens per step is the limit
# - c: its row of `p` was computed after the rejected token, which is not in the text
# - d: a draft that was wrong once is likely to be wrong again

# %% solution="quiz_02_b"
### BEGIN SOLUTION
quiz_02_b = "c"
### END SOLUTION

# %% test="quiz_02_b" points=1
lesson.answered("quiz_02_b", quiz_02_b)

# %% [markdown]
# ### In your own words
#
# "After a rejection, draw from `p`. It is the distribution that we want." Take `p = [0.5, 0.5]` and
# `q = [0.75, 0.25]`. Which token comes out too often, by how much, and why? Write three to five sentences. This
# answer is marked by hand.

# %% [markdown] written="why_residual" points=2
# Token 0 comes out too often. The draft proposes it with probability 0.75, of which 0.50 is accepted, so token 0
# has its full share already. A draw from `p` gives it half of the rejected 0.25 on top. Token 1 comes out too
# rarely: 0.25 is accepted, and it lacks 0.25. All of the rejected 0.25 should go to token 1, but token 1 receives
# only half of it. The output distribution is `min(p, q) + 0.25 p = [0.625, 0.375]`, off by 0.125 each.

# %% [markdown]
# ## What you may read elsewhere
#
# Find each fault before you open the answer.
#
# **You might read: "This is standard rejection sampling."**
#
# <details><summary>Answer</summary>
#
# Standard rejection sampling proposes again after each rejection, until a proposal passes. For this it needs a
# number `M` with `M q >= p` for every token, and it accepts with probability `p/(M q)`. Here a rejection is
# followed by one draw from the residual. *For example:* on the pair `M` is 2, so the standard method accepts one
# proposal in two. This rule accepts four in five.
#
# </details>
#
# **You might read: "Tokens are accepted until the first mismatch."**
#
# <details><summary>Answer</summary>
#
# This describes greedy decoding. When tokens are sampled, there is no single right token to match. *For example:*
# token B of the pair is not the target's most probable token, and is accepted two times in three.
#
# </details>
#
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023,
#   [arXiv 2211.17192](https://arxiv.org/abs/2211.17192). Appendix A.1 proves that the output distribution is the
#   target's; it leaves rounding out. Algorithm 1 accepts a coin that equals its ratio, which has probability 0.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, [arXiv
#   2302.01318](https://arxiv.org/abs/2302.01318). The same rule, found independently. Theorem 1 is the proof.
# - Hugging Face transformers 5.23.0, `transformers.generation.utils._speculative_sampling`: the rule in use, with
#   `<=`.
#
# **Next.** Chapter 03 takes the two paths apart, shows the bugs that break them, and asks what "exact" means on a
# computer.
