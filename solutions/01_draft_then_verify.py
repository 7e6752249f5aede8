# %% [markdown]
# # 01 Draft then verify: one block, from proposal to text
#
# 80 minutes · difficulty 2 of 5 · you need: chapter 00 (a pass over a few tokens costs about as
# much as a pass over one), lists and NumPy arrays
#
# - **Intuition**: an intern writes, a senior partner checks, in the first four frames.
# - **Mathematics**: which row of a pass judges which token, under "Score".
# - **Code**: four functions. The last one is a whole greedy decoder.
# - **Demo**: four drafters under your own decoder, then a race against the clock.
#
# **You come with** two facts: a large model writes one token a pass, and a pass over five known
# tokens is hardly slower. **You build** the four moves of speculative decoding and their loop.
# **You leave with** the large model's greedy text, token for token, in fewer of its passes.

# %% [markdown]
# ## The intern and the senior partner
#
# A senior partner of an office is slow and expensive. Every letter must be, word for word, the
# letter that the partner would have written. An intern is quick and makes mistakes. Can the intern
# save the partner's time?
#
# The intern has habits: a favourite next word after each word. The table shows them. Answer each
# question before you open its frame.

# %%
import numpy as np

from specdec_lib.lessons.ch01 import checks as lesson
from specdec_lib.lessons.ch01.checks import DRAFT, TARGET, WORDS, hints, tokens
from specdec_lib.sampling import sample_from

# %% tags=["demo"]
from specdec_lib.lessons.ch01 import figures, measured as charts
from specdec_lib.lessons.ch01.storyboard import storyboard

storyboard()

# %% [markdown]
# **One** glance judged all four words. The intern wrote them one after the other, but the intern is
# quick. The **draft model** is the intern. The **target model** is the partner.
#
# ### Where the pictures break
#
# The partner is not "always right". The target is the standard by definition, even where it writes
# nonsense. A second picture is a processor that guesses which way a branch will go, works ahead,
# and throws the work away after a wrong guess. A branch has one right outcome. When a model draws
# its tokens at random, several tokens can be right, and chapter 02 needs a coin to judge them.

# %% [markdown]
# ## Two models, one vocabulary
#
# Both models read a list of **tokens**: numbers that stand for pieces of text. One run of a model
# over a list of tokens is a **pass**. The last layer of the model, its LM head, gives one score for
# each of the `V` tokens of the **vocabulary**. These scores are the **logits** `z`. The softmax
# turns the logits into a distribution, `e^z` of each token over the sum of all `e^z`.
#
# Target and draft must share the tokenizer, so that number 17 is the same text for both. Here are
# two models that you can read whole. They know eight words. The draft looks at the last word only,
# the target at the last two.

# %%
print({number: word for number, word in enumerate(WORDS)})
for words in ("the", "on the", ". the"):
    seen = tokens(words)
    print(f"after {words!r}: draft {lesson.named(DRAFT(seen))}")
    print(f"{'target':>{len(words) + 14}} {lesson.named(TARGET(seen)[-1])}")

# %% [markdown]
# In this chapter a model is a Python function. The two functions have different shapes:
#
# - `draft_model(tokens)` gives `(V,)`: the distribution of the next token.
# - `target_model(tokens)` gives `(len(tokens), V)`. Row `i` is the distribution after the first
#   `i + 1` tokens. A transformer computes all rows in one pass, because position `i` sees no later
#   token.
#
# ### Who calls what p and q
#
# This course writes `p` for the target's distribution and `q` for the draft's. Some papers and
# programs write the letters the other way round, so look before you copy a formula.
#
# <details><summary>A table of the letters</summary>
#
# | source | target | draft |
# | --- | --- | --- |
# | Leviathan et al.; transformers; lucidrains/speculative-decoding; this course | `p` | `q` |
# | Chen et al.; jaymody/speculative-sampling; gpt-fast; some guides | `q` | `p` |
# | feifeibear/LLMSpeculativeSampling, the version named after Chen et al. | `p` | `q` |
# | vLLM, `vllm/v1/sample/rejection_sampler.py` (its `q` holds random numbers) | `target_probs` | `draft_probs` |
#
# For the number of draft tokens in a block Leviathan et al. write `gamma`. Chen et al. and this
# course write `K`.
#
# </details>

# %% [markdown]
# ## The smallest example: two draft tokens
#
# The text is "on". The draft proposes two tokens, "the cat". The target reads three tokens in one
# pass: on, the, cat. The pass gives three rows.
#
# - The row of "on" says "the". The draft said "the": **accepted**.
# - The row of "the", with "on" before it, says "mat". The draft said "cat": **rejected**. The
#   target's "mat" takes its place and is called the **correction**.
# - The row of "cat" says "sat". This row stands after a word that is gone, so it is **dropped**.
#
# One pass wrote two tokens: "the mat". Suppose that the draft had said "the mat". Then both draft
# tokens would have been accepted, and the third row would have been the row of "mat". Its favourite
# "." would have come on top as a **bonus token**. One pass would have written three tokens.
#
# ## One block, four moves
#
# 1. **Draft.** The draft model writes `K` tokens, one call each. These tokens are a **block**.
# 2. **Score.** The target reads the text and the block in one pass.
# 3. **Accept.** The block is kept up to the first draft token that the target rejects.
# 4. **Correct, or add a bonus.** After a rejection the target's token takes the place of the
#    rejected one. After a block without a rejection, the last row gives one token more.
#
# Either way the last token of a block is the target's own. So a pass writes at least 1 token and at
# most `K + 1`. Even the worst draft cannot stop the text.
#
# ### Commit first
#
# A target checked five blocks of four draft tokens each, one pass a block. It accepted 2, 2, 4, 0
# and 3 of them. How many tokens did the five passes write, all together? Write a number from 5
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
# The draft model writes as every language model does: each token goes back in before the next one
# comes out. How is a token drawn from a distribution? Lay the probabilities side by side on a line
# from 0 to 1, in the order of the tokens. A random number `u` is a point on this line. The token on
# whose piece `u` lies is drawn.
#
# After "cat" the small draft gives sat 0.7 and ran 0.3. The piece of sat goes from 0 to 0.7, the
# piece of ran from 0.7 to 1. So `u = 0.1` draws sat, and `u = 0.95` draws ran. A point on the
# border, `u = 0.7`, draws ran, the token after the border. This is the function
# `sample_from(probs, u)`, which is given: `probs` is a distribution `(V,)`, `u` is a number in
# [0, 1), and a token comes back.
#
# Keep the whole distribution `q_i` of each draft token, not only the token. Chapter 02 divides by
# it, and its result is exact only if the token was drawn from this very `q_i`.

# %% [markdown]
# ### Exercise: draft_block
#
# **What.** Draw `k` draft tokens, and keep the distributions that they were drawn from. Token `i`
# is `sample_from(q_i, uniforms[i])`, where `q_i` is the draft's distribution after the prefix and
# the tokens drafted so far.
#
# **Shapes.** `prefix` is a list of tokens, `uniforms` is `(k,)` with numbers in [0, 1), `k` is at
# least 1. A tuple comes back: a list of `k` tokens and an array `(k, V)`.
#
# **One worked number.** After "the cat" the number 0.1 draws sat, which is token 2. After sat,
# 0.5 draws on. After on, 0.95 lies above the 0.9 of "the": mat. So `[0.1, 0.5, 0.95]` gives the
# tokens `[2, 3, 4]`.
#
# **Also graded.** Call `draft_model` exactly `k` times, each time with a new list. Leave `prefix`
# as it is.


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


# %% tags=["demo"]
hints(draft_block)

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
# Row `i` is about the token **after** token `i`. Two mistakes are common: the first `K` rows, and
# the rows of the draft tokens themselves. Both give arrays that look right, but every verdict is
# about another position. Find the right rows for a prefix of any length.

# %% [markdown]
# ### Exercise: score_block
#
# **What.** The target's distributions for a block: one row to judge each draft token, and one row
# after the whole block.
#
# **Shapes.** `prefix` holds at least one token. `drafted` holds `k` tokens, and `k` may be 0. An
# array `(k + 1, V)` comes back.
#
# **One worked number.** Prefix "the cat" (2 tokens), draft "sat on the cat" (4): the target gives 6
# rows. The answer is rows 1 to 5.
#
# **Also graded.** Call `target_model` exactly once. Leave `prefix` as it is.
#
# The last exercise calls this function. If the check below fails, repair it before you go on: with
# wrong rows, a right loop looks wrong.


# %% solution="score_block"
def score_block(target_model, prefix: list[int], drafted: list[int]) -> np.ndarray:
    """The target's distributions (k + 1, V): one for each draft token, and one after the block."""
    ### BEGIN SOLUTION
    rows = target_model([*prefix, *drafted])
    return rows[len(prefix) - 1 :]
    ### END SOLUTION


# %% tags=["demo"]
hints(score_block)

# %% [markdown]
# The figure marks the rows that **your** function returned. An arrow leads from each row to the
# token that the row is about.

# %% tags=["demo"]
figures.chosen_rows(score_block, TARGET, lesson.PREFIX, lesson.BLOCK)

# %% test="score_block" points=3
lesson.check_score_block(score_block)

# %% [markdown]
# With `n` tokens in the prefix, the row of the last prefix token judges the first draft token. The
# row of the last draft token judges nothing and gives the bonus:
#
# $$ p_i = \text{row}_{\,n - 1 + i}, \qquad i = 0, \cdots, K $$
#
# ### What the pass really reads
#
# Your function hands over the whole text each time. A real decoder does not read the whole text
# again. Its **cache** holds the text so far, all but the last token (chapter 00). So the pass reads
# `K + 1` tokens: this last token and the `K` draft tokens. The pass gives `K + 1` rows, one after
# each token. These are the very rows that you picked out.

# %% tags=["demo"]
figures.what_the_pass_reads(lesson.PREFIX, lesson.BLOCK)

# %% [markdown]
# ## Accept: greedy first
#
# In **greedy** decoding the target writes its most probable token at every position. A draft token
# is accepted if it is this token.
#
# At the first difference the walk ends. Every later row was computed after a token that will not be
# in the text. So a later draft token is dropped even if it agrees with its row.

# %% [markdown]
# ### Exercise: greedy_prefix
#
# **What.** How many draft tokens are accepted.
#
# **Shapes.** `drafted` is a list of `k` tokens, and `k` may be 0. `p` has at least `k` rows over `V`
# tokens, and may have more. A whole number from 0 to `k` comes back.
#
# **One worked number.** The draft is "sat on the cat". The target's rows say sat, on, the, mat: 3.
#
# **Also graded.** If several tokens are equally probable, the target's choice is the one with the
# lowest index, as `np.argmax` has it. Leave the arguments as they are.
#
# **In production.** `transformers.generation.utils.GenerationMixin` has no loop here. Its method
# `_assisted_decoding` (version 5.23.0) takes your rows, their argmax and the count in three lines:
#
# ```python
# new_logits = outputs.logits[:, -candidate_length - 1 :]
# selected_tokens = new_logits.argmax(dim=-1)
# n_matches = ((~(candidate_new_tokens == selected_tokens[:, :-1])).cumsum(dim=-1) < 1).sum()
# ```
#
# The cumulative sum counts the differences so far. It is below 1 up to the first difference.


# %% solution="greedy_prefix"
def greedy_prefix(drafted: list[int], p: np.ndarray) -> int:
    """How many of `drafted` (k,) are the argmax of their row of p, up to the first that is not."""
    ### BEGIN SOLUTION
    for i, token in enumerate(drafted):
        if token != int(np.argmax(p[i])):
            return i
    return len(drafted)
    ### END SOLUTION


# %% tags=["demo"]
hints(greedy_prefix)

# %% tags=["demo"]
figures.greedy_walk(greedy_prefix, lesson.BLOCK, lesson.target_rows(lesson.PREFIX, lesson.BLOCK))

# %% test="greedy_prefix" points=3
lesson.check_greedy_prefix(greedy_prefix)

# %% [markdown]
# ## Correct, or a bonus
#
# Suppose that `n` draft tokens were accepted. After a rejection, row `n` of `p` is the row that
# rejected, and its argmax is the correction. After a block without a rejection, `n` is `K`, and the
# argmax of row `K` is the bonus token. So one line of code serves both cases:
#
# $$ \text{block} = [x_0, \cdots, x_{n-1}, \arg\max p_n] $$
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
# The decoder repeats the four moves until the text is long enough. First, ungraded, put the loop
# together from its lines. The next cell prints the lines, shuffled, with letters. One line is not
# needed, and two lines have a blank.

# %%
order = ""  # the letters in their order, as in "KI"
blank_c, blank_e = "", ""  # what stands in the blanks of lines C and E
lesson.check_puzzle(order, blank_c, blank_e)

# %% [markdown]
# The puzzle leaves out two ends. First, a block may hold the token `eos`, which marks the end of a
# text, also in its middle. The text ends **there**, with `eos` in it. Second, no block may write
# beyond `max_new_tokens`. Near the end the block must draft fewer tokens.

# %% [markdown]
# ### Exercise: greedy_speculative_decode
#
# **What.** The target's greedy text, decoded in blocks. The draft also takes its argmax here.
#
# **Shapes.** `prompt` is a list of at least one token, `k` is at least 1. The list of the **new**
# tokens comes back. It holds `max_new_tokens` of them, or fewer if `eos` ends the text.
#
# **Two worked examples.** After "the cat", `k = 4`, 12 tokens: the passes write "sat on the mat",
# ". the dog", "ran . the dog", "ran". Four passes, not twelve. If `eos` is the full stop, two
# passes write "sat on the mat ." With a draft that is always right, **one** pass writes these
# five tokens: four draft tokens and the bonus.
#
# **Also graded.** Each block calls the target once and the draft at most `k` times. 0 tokens call
# nothing. Only new tokens are compared with `eos`; None means that there is no `eos`, and 0 is a
# token like any other. Leave `prompt` as it is.
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


# %% tags=["demo"]
hints(greedy_speculative_decode)

# %% tags=["demo"]
figures.passes(greedy_speculative_decode, lesson.PREFIX, k=4, max_new_tokens=lesson.LONG)

# %% test="greedy_speculative_decode" points=5
lesson.check_greedy_speculative_decode(greedy_speculative_decode)

# %% [markdown]
# ## The same text, fewer passes
#
# ### A ladder of drafters
#
# The next cell runs your function on a real target, on Python code, with four drafters:
#
# - an **oracle**, which knows what the target will write;
# - the **small model** of the course's built-in pair of models;
# - a **copier**, which finds the last place where these tokens stood in the text before, and
#   proposes what followed there;
# - **random tokens**.
#
# The target alone needs 24 passes. Before you run the cell, guess: how many passes does each
# drafter take, and whose text is the target's? (Your functions read the whole text again on each
# call, so this cell counts passes and does not measure time.)

# %% tags=["demo"]
import torch

from specdec_lib.device import leave_cores
from specdec_lib.measure.core.acceptance import model_reader
from specdec_lib.models.pairs import load_pair

leave_cores()  # to your other programs: torch computes on half of them
pair = load_pair(dtype=torch.float64)  # so that rounding cannot part the two texts
readers = [model_reader(pair.target), model_reader(pair.draft)]
both = [lambda given, read=read: read(given).numpy() for read in readers]
prompt = pair.prompt(lesson.REAL_PROMPT)
figures.ladder(greedy_speculative_decode, *both, prompt, pair.tokenizer.decode)

# %% [markdown]
# **The draft changes the time, never the text.** Why can the text not depend on the draft? Every
# token is the argmax of a row of the target, and this row was computed after the tokens that really
# stand before it. An accepted token **is** this argmax. The last token of a block is read off the
# row. So if the text is right up to some position, the next token is right as well: by induction
# the whole text is the target's greedy text. The draft decides only how many of these tokens one
# pass brings.

# %% [markdown]
# ## Animation: five recorded blocks
#
# A look ahead: what changes when tokens are **sampled**, that is drawn at random? The four moves
# stay. Only the test of a draft token is new. Chapter 02 explains it: draw a random number `r`, the
# **coin**, and accept the token if `r` is at most `p/q`.
#
# These are the five blocks of your first prediction. The course's built-in pair wrote them after the
# prompt below. Each step shows the `p`, `q` and `r` that the models really had.

# %% tags=["demo"]
from specdec_lib.lessons.widgets.pipeline import pipeline_animation

pipeline_animation(lesson.RECORDED)

# %% tags=["demo"]
charts.recorded_blocks(lesson.RECORDED)

# %% [markdown]
# Look at block 1. Its second token, `f`, was accepted although both models give it a probability
# below 0.0001: the coin compares the two models and does not ask for a favourite. In block 4 the
# first token is rejected, and the other three are dropped, whatever their numbers. When sampling, a
# correction is drawn from a changed distribution, and the bonus from `p_K` as it is.
#
# The five blocks were chosen to show every case. Chapters 04 and 05 measure how often tokens are
# accepted on average.

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
# time, each compared with plain decoding? Three to five sentences. A person marks this answer.

# %% [markdown] written="why_draft_is_free" points=2
# The text stays the same, because every token in it is the argmax of a row of the target after the
# right tokens. The number of target passes is at most that of plain decoding: each pass still
# brings at least one token, and now and then a random token happens to be right. The running time
# gets worse: the draft calls come on top, and almost all of them are wasted.

# %% [markdown]
# ## What you may read elsewhere
#
# Each of these three lines has a fault. Find it before you open the answer.
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
# **You might read: "After each block, stop if the last token is `eos`."**
#
# <details><summary>Answer</summary>
#
# `eos` can stand inside a block, and then junk follows it. *Look:* the small pair writes seven
# tokens in two blocks, "sat on the mat . the dog". The text should end with the full stop.
#
# </details>

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## The race again
#
# Three of your drafters now race with a real decoder. Its cache saves it from reading the text
# again, and a clock runs. All of them write the same text. A drafter that is almost never right
# makes the decoder slower than no drafter at all.

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
# in one pass and gives `K + 1` distributions. The decoder keeps the draft up to the first rejected
# token and adds one token of the target's own, a correction or a bonus. So each pass of the target
# writes 1 to `K + 1` tokens. With greedy decoding the text is the one that the target alone writes.
# The time saved depends on how often the two models agree and on what the draft costs.

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192: the four moves are its Algorithm 1, the letters its letters. Its
#   abstract names speculative execution, the second picture above.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318: its Algorithm 2, with `K`, and with `p` and `q` exchanged.
# - M. Stern, N. Shazeer, J. Uszkoreit, *Blockwise Parallel Decoding for Deep Autoregressive
#   Models*, NeurIPS 2018, arXiv 1811.03115: propose a block, verify it in one pass, greedily.
#   H. Xia et al., arXiv 2203.16487, bears the name speculative decoding in its title. The first two
#   sources add the rule that makes **sampling** exact.
# - Hugging Face transformers 5.23.0, `GenerationMixin._assisted_decoding`: the three lines above,
#   the first without a conversion that follows it. vLLM, gpt-fast, jaymody/speculative-sampling,
#   lucidrains/speculative-decoding and feifeibear/LLMSpeculativeSampling: the table of letters.
# - D. Parsons, P. Haden, *Parson's Programming Puzzles*, ACE 2006: the kind of puzzle above.
#
# The papers support the procedure and its exactness. Greedy equality is proved above for exact
# arithmetic. On a computer two passes of different length may round differently (chapter 03).
# Nothing here supports a statement on speed.
#
# **Next.** Chapter 02 replaces the comparison by a coin: the four moves for sampling.
