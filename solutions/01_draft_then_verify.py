# %% [markdown]
# # 01 Draft then verify: one block, from proposal to text
#
# 70 minutes · difficulty 2 of 5 · you need: chapter 00 (a pass over a few tokens costs about as
# much as a pass over one), lists and NumPy arrays
#
# - **Intuition**: an intern writes, a senior partner checks, in the first four frames.
# - **Mathematics**: which row of a pass judges which token, under "Score".
# - **Code**: four functions. The last one is a whole greedy decoder.
# - **Demo**: four drafters under your own decoder, then a race against the clock.
#
# **You come with** two facts: a large model writes one token a pass, and a pass over five known
# tokens is hardly slower. **You build** the four moves of speculative decoding and their loop.
# **You leave with** the text of the large model, token for token, in fewer of its passes.

# %% [markdown]
# ## The intern and the senior partner
#
# The senior partner of an office is slow and expensive. Every letter must be, word for word, the
# letter that the partner would have written. An intern is quick and makes mistakes. Can the intern
# save the partner's time?
#
# The intern has habits: after each word comes a favourite next word. The table shows these habits.
# Answer each question before you open its frame.

# %%
import numpy as np

from specdec_lib.lessons.ch01 import checks as lesson
from specdec_lib.lessons.ch01.checks import DRAFT, TARGET, WORDS, tokens
from specdec_lib.sampling import sample_from

# %% tags=["demo"]
from specdec_lib.lessons.ch01 import figures
from specdec_lib.lessons.ch01.storyboard import storyboard

storyboard()

# %% [markdown]
# *One* glance judged all four words. The intern wrote them one after the other, but the intern is
# quick. The intern is the draft model. The partner is the target model.
#
# ### Where the pictures break
#
# A partner knows better than an intern. A target model may write nonsense, and it is the standard
# all the same. A processor gives a second picture. At a branch of a program it guesses the way,
# works ahead, and throws the work away after a wrong guess. But a branch has one right outcome. When
# a model draws its tokens at random, several tokens can be right, and chapter 02 needs a coin.

# %% [markdown]
# ## Two models, one vocabulary
#
# A program called the tokenizer cuts a text into tokens, and each token is a number. All tokens
# together are the **vocabulary**, and `V` counts them. The last layer of a model, its LM head,
# gives one score for each of these `V` tokens. The scores are the **logits** `z`. The softmax turns
# the logits into a distribution: the probability of a token is its `e^z` over the sum of all `e^z`.
#
# Target and draft must share the tokenizer, so that number 17 is the same text for both. Here are
# two small models of eight words. The draft looks at the last word, the target at the last two.

# %%
print({number: word for number, word in enumerate(WORDS)})
for words in ("the", "on the", ". the"):
    seen = tokens(words)
    print(f"after {words!r}: draft {lesson.named(DRAFT(seen))}")
    print(f"{'target':>{len(words) + 14}} {lesson.named(TARGET(seen)[-1])}")

# %% [markdown]
# In this chapter a model is a Python function. The two functions return different shapes:
#
# - `draft_model(tokens)` gives `(V,)`: the distribution of the next token.
# - `target_model(tokens)` gives `(len(tokens), V)`. Row `i` is the distribution after the first
#   `i + 1` tokens. A transformer computes all rows in one pass, because position `i` sees no later
#   token.
#
# ### Who calls what p and q
#
# This course writes `p` for the target's distribution and `q` for the draft's. Some papers and
# programs exchange the two letters, so look before you copy a formula.
#
# <details><summary>A table of the letters</summary>
#
# | source | target | draft |
# | --- | --- | --- |
# | Leviathan et al.; transformers; lucidrains/speculative-decoding; this course | `p` | `q` |
# | Chen et al.; jaymody/speculative-sampling; gpt-fast; some guides | `q` | `p` |
# | feifeibear/LLMSpeculativeSampling, the version named after Chen et al. | `p` | `q` |
# | vLLM 0.26.0, `vllm/v1/sample/rejection_sampler.py` (its `q` holds random numbers) | `target_probs` | `draft_probs` |
#
# For the number of draft tokens Leviathan et al. write `gamma`. Chen et al. and this course write
# `K`.
#
# </details>

# %% [markdown]
# ## The smallest example: two draft tokens
#
# The text is "on". The draft proposes two tokens, "the cat". The target reads three tokens in one
# pass: on, the, cat. The pass gives three rows, and the most probable token of each row counts.
#
# - The row of "on" says "the". The draft said "the": **accepted**.
# - The row of "the", with "on" before it, says "mat". The draft said "cat": **rejected**. The
#   target's "mat" takes its place and is called the **correction**.
# - The row of "cat" was computed after a word that is now gone. This row is not used.
#
# One pass wrote two tokens: "the mat". Now suppose that the draft had said "the mat". Then both
# draft tokens are accepted, and the third row is the row of "mat". This row says ".", which the
# target adds as a **bonus token**. One pass writes three tokens.
#
# ## One block, four moves
#
# 1. **Draft.** The draft model writes `K` tokens, one call each. These tokens are a **block**.
# 2. **Score.** The target reads the text and the block in one pass.
# 3. **Accept.** The draft tokens before the first rejected one stay. Those after it are **dropped**.
# 4. **Correct, or add a bonus.** After a rejection the target's token takes the place of the
#    rejected one. After a block without a rejection, the last row gives one more token.
#
# Either way the last token is the target's own. So a pass writes at least 1 token and at most
# `K + 1`. Even the worst draft cannot stop the text.
#
# ### Commit first
#
# A target checked five blocks of four draft tokens each, one pass a block. It accepted 2, 2, 4, 0
# and 3 of the draft tokens. How many tokens did the five passes write in all? Write a number from 5
# to 25.

# %% solution="prediction_01_b"
### BEGIN SOLUTION
prediction_01_b = 16
### END SOLUTION

# %% test="prediction_01_b" points=1
lesson.committed("prediction_01_b", prediction_01_b, 5, 25)

# %% tags=["demo"]
lesson.reveal("prediction_01_b", prediction_01_b)

# %% [markdown]
# You will meet these five blocks again: they were recorded from two real models.
#
# ## Draft: one token after another
#
# The draft model writes as every language model does: each call reads the tokens before it and
# gives the distribution of the next token. How is a token drawn from a distribution? Lay the
# probabilities side by side on a line from 0 to 1, in the order of the tokens. A random number `u`
# is a point on this line. The token on whose piece `u` lies is drawn.
#
# After "cat" the small draft gives sat 0.7 and ran 0.3. The piece of sat goes from 0 to 0.7, the
# piece of ran from 0.7 to 1. So `u = 0.1` draws sat, and `u = 0.95` draws ran. A point on the
# border, `u = 0.7`, draws ran, the token after the border. The given function
# `sample_from(probs, u)` does this: `probs` is a distribution `(V,)`, `u` is a number in [0, 1),
# and the function returns a token.
#
# Keep the distribution `q_i` of each draft token, not only the token: chapter 02 needs it.

# %% [markdown]
# ### Exercise: draft_block
#
# **Task.** Draw `k` draft tokens, and keep the distributions that they were drawn from. Token `i`
# is `sample_from(q_i, uniforms[i])`, where `q_i` is the draft's distribution after the prefix and
# the tokens drafted so far.
#
# **Arguments.** `prefix` is a list of tokens, `uniforms` is `(k,)` with numbers in [0, 1), `k` is at
# least 1. The function returns a tuple: a list of `k` tokens and an array `(k, V)`.
#
# **Example.** After "the cat" the number 0.1 draws sat, which is token 2. After sat,
# 0.5 draws on. After on, 0.95 lies above the 0.9 of "the": mat. So `[0.1, 0.5, 0.95]` gives the
# tokens `[2, 3, 4]`.
#
# **The tests also check.** Call `draft_model` exactly `k` times. Leave `prefix` as it is.


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
# 1. What does the draft model read before it gives the distribution of token i?
# 2. Each call reads the prefix and all tokens drafted so far, as a new list. Keep the
#    distribution before you draw from it.
# 3. Loop over range(k): call the model on `[*prefix, *drafted]`, append what came back to a list,
#    then append sample_from(that, uniforms[i]) to drafted. Return drafted and the list as an
#    array.

# %% tags=["demo"]
figures.drawn_block(draft_block, DRAFT, lesson.PREFIX, lesson.UNIFORMS)

# %% test="draft_block" points=3
lesson.check_draft_block(draft_block)

# %% [markdown]
# ## Score: one pass, K + 1 rows
#
# Writing four tokens takes four passes. Checking four tokens takes one pass, because all four are
# known. The target reads `prefix + drafted` and gives a row for **every** token that it read, the
# tokens of the prefix included.
#
# ### Commit first
#
# The prefix has 6 tokens and the block 4. The target gives ten rows, with the indices 0 to 9. Which
# row judges the **first** draft token? Write its index.

# %% solution="prediction_01"
### BEGIN SOLUTION
prediction_01 = 5
### END SOLUTION

# %% test="prediction_01" points=1
lesson.committed("prediction_01", prediction_01, 0, 9)

# %% tags=["demo"]
lesson.reveal("prediction_01", prediction_01)


# %% [markdown]
# ### Exercise: score_block
#
# **Task.** The target's distributions for a block: one row to judge each draft token, and one row
# after the whole block.
#
# **Arguments.** `prefix` holds at least one token. `drafted` holds `k` tokens, and `k` may be 0. The
# function returns an array `(k + 1, V)`.
#
# **Example.** Prefix "the cat" (2 tokens), draft "sat on the cat" (4): the target gives 6
# rows. The answer is rows 1 to 5.
#
# **The tests also check.** Call `target_model` exactly once. Leave `prefix` as it is.
#
# The last exercise calls this function, and with wrong rows a right loop looks wrong. So get the
# check below right before you go on.


# %% solution="score_block"
def score_block(target_model, prefix: list[int], drafted: list[int]) -> np.ndarray:
    """The target's distributions (k + 1, V): one for each draft token, and one after the block."""
    ### BEGIN SOLUTION
    rows = target_model([*prefix, *drafted])
    return rows[len(prefix) - 1 :]
    ### END SOLUTION


# %% [markdown] hints="score_block"
# 1. One call on the prefix and the draft gives a row for every token that it read.
# 2. Row i is the distribution of the token after token i. Which row tells what comes right after
#    the prefix?
# 3. Call target_model(`[*prefix, *drafted]`) and return its rows from len(prefix) - 1 on.


# %% tags=["demo"]
figures.chosen_rows(score_block, TARGET, lesson.PREFIX, lesson.BLOCK)

# %% test="score_block" points=3
lesson.check_score_block(score_block)

# %% [markdown]
# Suppose that the prefix has `n` tokens. The row of its last token judges the first draft token.
# The row of the last draft token judges none and gives the bonus:
#
# $$ p_i = \text{row}_{\,n - 1 + i}, \qquad i = 0, \cdots, K $$
#
# ### What the pass really reads
#
# Your function hands over the whole text each time. A real decoder does not read it all again. Its
# KV cache (chapter 00) holds the text without its last token. So the pass reads `K + 1` tokens,
# this last token and the `K` draft tokens, and gives one row after each: the rows that you picked.

# %% tags=["demo"]
figures.what_the_pass_reads(lesson.PREFIX, lesson.BLOCK)

# %% [markdown]
# ## Accept: greedy first
#
# In **greedy** decoding the target writes its most probable token at every position. A draft token
# is accepted if it is this token. At the first difference the decoder stops: every later row was
# computed after a token that will not be in the text. So a later draft token is dropped even if it
# agrees with its row.

# %% [markdown]
# ### Exercise: greedy_prefix
#
# **Task.** How many draft tokens are accepted.
#
# **Arguments.** `drafted` is a list of `k` tokens, and `k` may be 0. `p` has at least `k` rows over `V`
# tokens, and may have more. The function returns a whole number from 0 to `k`.
#
# **Example.** The draft is "sat on the cat". The target's rows say sat, on, the, mat: 3.
#
# **The tests also check.** If several tokens are equally probable, the target's choice is the one with the
# lowest index, as `np.argmax` has it. Leave the arguments as they are.
#
# **In production.** `transformers.generation.utils.GenerationMixin` has no loop here. Its method
# `_assisted_decoding` (version 5.23.0) picks the rows, takes their argmax and counts:
#
# ```python
# new_logits = outputs.logits[:, -candidate_length - 1 :]
# selected_tokens = new_logits.argmax(dim=-1)
# n_matches = ((~(candidate_new_tokens == selected_tokens[:, :-1])).cumsum(dim=-1) < 1).sum()
# ```
#
# The cumulative sum counts the differences so far. This sum is below 1 up to the first difference.


# %% solution="greedy_prefix"
def greedy_prefix(drafted: list[int], p: np.ndarray) -> int:
    """How many of `drafted` (k,) are the argmax of their row of p, up to the first that is not."""
    ### BEGIN SOLUTION
    for i, token in enumerate(drafted):
        if token != int(np.argmax(p[i])):
            return i
    return len(drafted)
    ### END SOLUTION


# %% [markdown] hints="greedy_prefix"
# 1. Compare token by token, and stop at the first that differs.
# 2. The target's own choice at position i is int(np.argmax(p[i])). p has rows to spare.
# 3. Loop with enumerate(drafted). If the token is not the target's choice, return the index;
#    after the loop return len(drafted).

# %% tags=["demo"]
figures.greedy_walk(greedy_prefix, lesson.BLOCK, lesson.target_rows(lesson.PREFIX, lesson.BLOCK))

# %% test="greedy_prefix" points=3
lesson.check_greedy_prefix(greedy_prefix)

# %% [markdown]
# ## Correct, or a bonus
#
# Suppose that `m` draft tokens were accepted. After a rejection, row `m` of `p` is the row that
# rejected, and its argmax is the correction. After a block without a rejection, `m` is `K`, and the
# argmax of row `K` is the bonus token. So one line of code serves both cases:
#
# $$ \text{written} = [x_0, \cdots, x_{m-1}, \arg\max p_m] $$
#
# ### Commit first
#
# Suppose that the draft always proposes exactly what the target wants. The block is 4 tokens long.
# How many passes of the target do 20 new tokens take? Write a number from 1 to 20.

# %% solution="prediction_01_c"
### BEGIN SOLUTION
prediction_01_c = 4
### END SOLUTION

# %% test="prediction_01_c" points=1
lesson.committed("prediction_01_c", prediction_01_c, 1, 20)

# %% tags=["demo"]
lesson.reveal("prediction_01_c", prediction_01_c)

# %% [markdown]
# ## The loop
#
# The decoder repeats the four moves until the text ends. It ends in one of two ways. First, a block
# may hold the token `eos`, which marks the end of a text, and `eos` need not be the block's last
# token. The text ends there, with `eos` in it. Second, the text may not grow beyond
# `max_new_tokens`, and each pass adds a token of the target's. So near the end a block drafts fewer
# tokens.

# %% [markdown]
# ### Exercise: greedy_speculative_decode
#
# **Task.** The target's greedy text, decoded in blocks. The draft also takes its argmax here.
#
# **Arguments.** `prompt` is a list of at least one token, `k` is at least 1. The function returns the
# list of the *new* tokens: `max_new_tokens` of them, or fewer if `eos` ends the text.
#
# **Worked examples.** After "the cat" with `k = 4`, four passes write 12 tokens: "sat on the mat",
# ". the dog", "ran . the dog", "ran". If `eos` is the full stop, two passes write "sat on the
# mat ." With a draft that is always right, *one* pass writes these five tokens: four draft tokens
# and the bonus.
#
# **The tests also check.** Each block calls the target once and the draft at most `k` times. If
# `max_new_tokens` is 0, no model is called. Only new tokens are compared with `eos`; None means
# that there is no `eos`, and 0 is a token like any other. Leave `prompt` as it is.
#
# Call your `score_block` and `greedy_prefix`. Grading puts right ones under your loop if yours are
# wrong; the check below does not.


# %% solution="greedy_speculative_decode"
def greedy_speculative_decode(
    target_model, draft_model, prompt: list, k: int, max_new_tokens: int, eos: int | None = None
) -> list[int]:
    """The new tokens of greedy decoding by the target, in blocks of up to k draft tokens."""
    ### BEGIN SOLUTION
    written = []
    while len(written) < max_new_tokens:
        prefix, drafted = [*prompt, *written], []
        for _ in range(min(k, max_new_tokens - len(written) - 1)):
            drafted.append(int(np.argmax(draft_model([*prefix, *drafted]))))
        p = score_block(target_model, prefix, drafted)
        n = greedy_prefix(drafted, p)
        block = [*drafted[:n], int(np.argmax(p[n]))]
        if eos in block:
            return written + block[: block.index(eos) + 1]
        written += block
    return written
    ### END SOLUTION


# %% [markdown] hints="greedy_speculative_decode"
# 1. First write the loop without its ends: repeat the four moves until the text is long enough.
#    Then add the two ends: eos, and the limit.
# 2. How many tokens may this block draft, if one more comes on top and max_new_tokens must not be
#    passed? And look for eos in the whole block, not only at its end.
# 3. With left tokens to go, draft min(k, left - 1). The block is drafted[:n] and the argmax of
#    p[n]. If eos is in the block, return what is written and the block up to eos; else add the
#    block and go on.

# %% tags=["demo"]
figures.passes(greedy_speculative_decode, lesson.PREFIX, k=4, max_new_tokens=lesson.LONG)

# %% test="greedy_speculative_decode" points=5
lesson.check_greedy_speculative_decode(greedy_speculative_decode)

# %% [markdown]
# ## The same text, fewer passes
#
# ### A ladder of drafters
#
# The next cell runs your function on the course's built-in target, which continues Python code. The
# draft tokens come from four drafters:
#
# - an *oracle*, which knows what the target will write;
# - the *draft model* that the course pairs with this target;
# - a *copy from the text*, which looks for the last tokens earlier in the text and proposes what
#   followed there;
# - *random tokens*.
#
# The target alone needs 24 passes. Before you run the cell, guess: how many passes does the target
# make with each drafter, and which drafters leave its text as it is? (Your functions read the whole
# text again on each call, so the cell counts passes and not seconds.)

# %% tags=["demo"]
import torch

from specdec_lib.device import leave_cores
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.models.pairs import load_pair

leave_cores()  # to your other programs: torch computes on half of them
pair = load_pair(dtype=torch.float64)  # so that rounding cannot make the two texts differ
readers = [model_reader(pair.target), model_reader(pair.draft)]
both = [lambda given, read=read: read(given).numpy() for read in readers]
prompt = pair.prompt(lesson.REAL_PROMPT)
figures.ladder(greedy_speculative_decode, *both, prompt, pair.tokenizer.decode)

# %% [markdown]
# **The draft changes the time, never the text.** Why can the text not depend on the draft? Every
# token of the text is the argmax of a row of the target: an accepted token equals this argmax, and
# the correction or bonus is this argmax. The row was computed after the tokens that really stand
# before it. So if the text is right up to some position, the next token is right as well. By
# induction the whole text is the target's greedy text. The draft decides only how many of these
# tokens one pass writes.

# %% [markdown]
# ## Animation: five recorded blocks
#
# A look ahead: what changes when tokens are **sampled**, that is, drawn at random? The four moves
# stay. Only the test of a draft token is new, and chapter 02 explains it: draw a random number `r`,
# the **coin**, and accept the token if `r` is at most `p/q`.
#
# These are the five blocks of your first prediction, as the course's two models wrote them after
# the prompt below. Each step shows the `p`, `q` and `r` that the models really had.

# %% tags=["demo"]
from specdec_lib.lessons.widgets.pipeline import pipeline_animation

pipeline_animation(lesson.RECORDED)


# %% [markdown]
# Look at block 1. Its second token, `f`, was accepted although both models give it a probability
# below 0.0001: the coin compares the two models and does not ask for a favourite. When tokens are
# sampled, the correction is drawn from a changed distribution, and the bonus from `p_K` as it is.
# (The five blocks were chosen to show every case. They say nothing of the average.)

# %% [markdown]
# ## Quiz
#
# **Question 1.** You sample. The third token of a block of four is rejected. What happens?
#
# - a: the draft model proposes another third token, until one passes
# - b: a third token is drawn from a changed distribution of the target, and the fourth is dropped
# - c: the whole block is dropped, the first two tokens as well
# - d: the third token is dropped, and the fourth moves up into its place

# %% solution="quiz_01"
### BEGIN SOLUTION
quiz_01 = "b"
### END SOLUTION

# %% test="quiz_01" points=1
lesson.answered("quiz_01", quiz_01)

# %% [markdown]
# **Question 2.** Why can the target judge four draft tokens in one pass, but not write four in one?
#
# - a: because it judges only the last token, which contains the others
# - b: because it takes over the distributions of the draft model
# - c: because all four are known, and each row looks only at the tokens before it
# - d: because it writes four tokens at once and compares

# %% solution="quiz_01_b"
### BEGIN SOLUTION
quiz_01_b = "c"
### END SOLUTION

# %% test="quiz_01_b" points=1
lesson.answered("quiz_01_b", quiz_01_b)

# %% [markdown]
# ### In your own words
#
# A colleague replaces the draft model by one that proposes random tokens, and keeps your greedy
# decoder as it is. What happens to the text, to the number of target passes, and to the running
# time, each compared with plain decoding? Write three to five sentences. A person marks this answer.

# %% [markdown] written="why_draft_is_free" points=2
# The text stays the same, because every token in it is the argmax of a row of the target after the
# right tokens. The number of target passes is at most that of plain decoding: each pass still
# brings at least one token, and now and then a random token happens to be right. The running time
# gets worse: the draft calls come on top, and almost all of them are wasted.

# %% [markdown]
# ## What you may read elsewhere
#
# Each of these two lines has a fault. Find it before you open the answer.
#
# **You might read: "`rows = target(prefix + drafted)`; compare `rows[i]` with draft token `i`."**
#
# <details><summary>Answer</summary>
#
# Row 0 is about the second token of the prefix. Draft token `i` belongs to row `n - 1 + i`. *Look:*
# after "the cat sat on" row 0 of the small target prefers "cat", and row 3 prefers "the".
#
# </details>
#
# **You might read: "If all `K` draft tokens are accepted, append them and start the next block."**
#
# <details><summary>Answer</summary>
#
# The text is right, but row `K` is computed and thrown away. *Look:* with a perfect draft and
# `K = 4`, 20 tokens then take 5 passes in place of 4.
#
# </details>
#

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## The race again
#
# Three drafters of the ladder now race under a real decoder, against the clock. The decoder keeps
# its cache and so reads only what is new. All of them write the same text. Can a drafter make the
# decoder slower than no drafter at all? Guess before you run the cell.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import copying, drafting, guessing
from specdec_lib.measure.race.race import race

ladder = {
    "draft model": drafting("large", k=3),
    "copy from the text": copying(k=3),
    "random tokens": guessing(k=3),
}
show_race(race("01", ladder))

# %% [markdown]
# ## In one paragraph
#
# A small draft model writes `K` tokens, one after the other. The large target model reads them all
# in one pass and gives `K + 1` distributions. The decoder keeps the draft tokens before the first
# rejected one and adds one token of the target's own, a correction or a bonus. So each pass of the
# target writes 1 to `K + 1` tokens, and with greedy decoding the text is the one that the target
# alone writes. The time saved depends on how often the two models agree and on what a draft costs.

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192: the four moves are its Algorithm 1, the letters its letters. Its
#   abstract names speculative execution, the second picture above.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318: its Algorithm 2, with `K`, and with `p` and `q` exchanged.
# - M. Stern, N. Shazeer, J. Uszkoreit, *Blockwise Parallel Decoding for Deep Autoregressive
#   Models*, NeurIPS 2018, arXiv 1811.03115: propose a block, verify it in one pass, greedily. The
#   first two sources add the rule that makes *sampling* exact.
# - Hugging Face transformers 5.23.0, `GenerationMixin._assisted_decoding`: the three lines above,
#   the first without a conversion that follows it. vLLM, gpt-fast, jaymody/speculative-sampling,
#   lucidrains/speculative-decoding and feifeibear/LLMSpeculativeSampling: the table of letters.
#
# The papers support the procedure and its exactness. Greedy equality is proved above for exact
# arithmetic. On a computer two passes of different length may round differently (chapter 03).
# Nothing here supports a statement on speed.
#
# **Next.** Chapter 02 replaces the comparison by a coin: the four moves for sampling.
