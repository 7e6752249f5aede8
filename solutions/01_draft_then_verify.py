# %% [markdown]
# # 01 Draft then verify: one block, from proposal to text
#
# 70 minutes · difficulty 2 of 5 · you need: chapter 00 (a pass over five tokens takes about as long as a pass over
# one, on a GPU; on your CPU it took longer), lists and NumPy arrays
#
# - **Intuition**: an intern writes and a senior partner checks, in the first five frames.
# - **Mathematics**: which row of a pass judges which token, under "Score".
# - **Code**: three functions. The last one is a whole decoder.
# - **Demo**: your decoder with four drafters, then a race on the clock.
#
# **You come with** one fact: a large model writes one token per pass, but can read several at once. **You build**
# speculative decoding in its greedy form, where the most probable token always wins. **You leave with** the large
# model's text, token for token, in fewer passes.
#
# ## The intern and the senior partner
#
# The senior partner at a law firm is slow and expensive. Every letter must be, word for word, the letter that the
# partner would have written. An intern is quick and makes mistakes. Can the intern save the partner's time?
#
# The intern has habits: after each word comes a favourite next word, as in the table. Answer each question before
# you open its frame.

# %%
import numpy as np

from specdec_lib.lessons.ch01 import lesson
from specdec_lib.lessons.ch01.models import DRAFT, TARGET, WORDS, row_in_words, tokenize

# %% tags=["demo"]
print("Loading the drawing code. This takes a moment.")
from specdec_lib.lessons.ch01 import figures
from specdec_lib.lessons.ch01.storyboard import storyboard, two_blocks

storyboard()

# %% [markdown]
# *One* glance judged all four words. The intern is the **draft** model, the partner the **target** model. In one
# respect the picture is too kind: a partner knows better than an intern. The target may write nonsense. We still
# want exactly the target's text.
#
# <details><summary>Your processor does this, too: branch prediction</summary>
#
# | | a processor at a branch of its program | a draft and its target |
# | --- | --- | --- |
# | guess | which way the program goes | the next few tokens |
# | check | the condition, once it is known | all of them, in one pass |
# | discard | the work done after a wrong guess | the tokens from the first wrong one on |
#
# Hence the name *speculative*. The likeness ends in chapter 02: a guess at a branch is right or wrong, and a draft
# token of a text that is drawn at random is neither.
#
# </details>
#
# ## Two models, one vocabulary
#
# A tokenizer cuts a text into **tokens**, and each token is a number. All `V` tokens together are the vocabulary.
# Target and draft must share the tokenizer, so that number 6 is the same text for both. A model reads tokens and
# returns the distribution of the next one.
#
# Here are two small models of eight words. The draft looks at the last word, the target at the last two. That extra
# word is all the wisdom that this target has.

# %%
print({number: word for number, word in enumerate(WORDS)})
for words in ("the", "on the", ". the"):
    seen = tokenize(words)
    print(f"after {words!r}: draft {row_in_words(DRAFT(seen))}")
    print(f"{'target':>{len(words) + 14}} {row_in_words(TARGET(seen)[-1])}")

# %% [markdown]
# In this chapter a model is a Python function:
#
# - `draft_model(tokens)` returns `(V,)`: the distribution of the next token.
# - `target_model(tokens)` returns `(len(tokens), V)`: for every token that it read, a row with the distribution of
#   what follows. A transformer computes all rows in one pass, because no position looks at a later one.
#
# We write `p` for the target's distributions and `q` for the draft's.
#
# <details><summary>Other sources swap these letters: a table</summary>
#
# | source | target | draft |
# | --- | --- | --- |
# | Leviathan et al.; transformers; lucidrains/speculative-decoding; this course | `p` | `q` |
# | Chen et al.; jaymody/speculative-sampling; gpt-fast; some guides | `q` | `p` |
# | feifeibear/LLMSpeculativeSampling, the version named after Chen et al. | `p` | `q` |
# | vLLM, `vllm/v1/sample/rejection_sampler.py` (its `q` holds random numbers) | `target_probs` | `draft_probs` |
#
# For the number of draft tokens Leviathan et al. write `gamma`. Chen et al. and this course write `K`.
#
# </details>
#
# ## The smallest example: two draft tokens
#
# The text is "on". The draft proposes two tokens, "the cat". The target reads three tokens in one pass: on, the,
# cat. The pass returns three rows, and the most probable token of each row counts.
#
# - The row of "on" says "the". The draft said "the": **accepted**.
# - The row of "the", with "on" before it, says "mat". The draft said "cat": **rejected**. The target's "mat" takes
#   its place and is called the **correction**.
# - The row of "cat" was computed after a word that is now gone. Nobody looks at this row.
#
# One pass wrote two tokens: "the mat". If the draft had said "the mat", both draft tokens would have been accepted.
# The third row, now the row of "mat", says ".", and the target adds it as a **bonus token**: three tokens from one
# pass.
#
# ## One block, four moves
#
# 1. **Draft.** The draft model writes a **block** of `K` tokens, one call each.
# 2. **Score.** The target reads the text and the block in one pass.
# 3. **Accept.** The draft tokens before the first rejected one stay. Those after it are **dropped**.
# 4. **Correct, or add a bonus.** The target's token replaces the rejected one. If none was rejected, the last row
#    gives one more token.
#
# Either way the last token is the target's own. Even the worst draft can't stop the text. Here the two models write
# two blocks, with `K = 3`.

# %% tags=["demo"]
two_blocks()

# %% [markdown]
# ### Commit first
#
# A target checked five blocks of four draft tokens each, one pass per block. It accepted 2, 2, 4, 0 and 3 of the
# draft tokens. How many tokens did the five passes write in all? Write a number from 5 to 25.

# %% solution="prediction_01_b"
### BEGIN SOLUTION
prediction_01_b = 16
### END SOLUTION

# %% test="prediction_01_b" points=1
lesson.committed("prediction_01_b", prediction_01_b, 5, 25)

# %% tags=["demo"]
lesson.reveal("prediction_01_b", prediction_01_b)

# %% [markdown]
# ## Score: one pass, K + 1 rows
#
# The target reads `prefix + drafted`, where the **prefix** is the text so far, and returns a row for **every**
# token that it read, including those of the prefix.
#
# ### Commit first
#
# The prefix has 6 tokens and the block 4. The target returns ten rows, numbered 0 to 9. Which row judges the
# **first** draft token? Write its index.

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
# **Task.** Return the target's distributions for a block: one row to judge each draft token, and the row after the
# whole block.
#
# **Arguments.** `prefix` holds at least one token. `drafted` holds `k` tokens, and `k` may be 0. The answer is an
# array `(k + 1, V)`.
#
# **Example.** Prefix "the cat sat" (3 tokens), draft "on the cat sat" (4 tokens): the target returns 7 rows, and
# the answer is rows 2 to 6.
#
# **The tests also check.** Call `target_model` exactly once. Leave `prefix` unchanged.


# %% solution="score_block"
def score_block(target_model, prefix: list[int], drafted: list[int]) -> np.ndarray:
    """The target's distributions (k + 1, V): one for each draft token, and one after the block."""
    ### BEGIN SOLUTION
    rows = target_model([*prefix, *drafted])
    return rows[len(prefix) - 1 :]
    ### END SOLUTION


# %% [markdown] hints="score_block"
# 1. One call on the prefix and the draft returns a row for every token that it read.
# 2. Row `i` is the distribution of the token after token `i`. Which row is about the token right after the prefix?
# 3. Call `target_model([*prefix, *drafted])` and return its rows from `len(prefix) - 1` on.


# %% tags=["demo"]
figures.chosen_rows(score_block, TARGET, lesson.PREFIX, lesson.DRAFT_BLOCK)

# %% test="score_block" points=3
lesson.check_score_block(score_block)

# %% [markdown]
# The row of the prefix's last token judges the first draft token, and the row of the last draft token yields the
# bonus:
#
# $$ p_i = \text{row}_{\,\text{len(prefix)} - 1 + i}, \qquad i = 0, \cdots, K $$
#
# A real decoder doesn't read the whole text again. Its **KV cache** keeps what passes have computed for the whole
# text except its last token, which the previous pass chose and no pass has read yet. The next pass reads it and the
# `K` draft tokens, and returns a row after each: exactly the `K + 1` rows that you picked.
#
# ## Accept: up to the first difference
#
# In **greedy** decoding the target writes its most probable token at every position. A draft token is accepted if
# it is this token. At the first difference the decoder stops. In the intern's block the target even agrees with the
# last word, "sat". It is dropped all the same: its row was computed after "cat", which won't be in the text. Luck
# doesn't count.
#
# ### Exercise: greedy_prefix
#
# **Task.** Return how many of the draft tokens are accepted.
#
# **Arguments.** `drafted` is a list of `k` tokens, and `k` may be 0. `p` has at least `k` rows over `V` tokens, and
# may have more. The answer is an integer from 0 to `k`.
#
# **Example.** The draft is "on the cat sat". The target's rows say on, the, mat, sat: the answer is 2.
#
# **The tests also check.** If several tokens are equally probable, the target's choice is the one with the lowest
# index, as in `np.argmax`. Leave the arguments unchanged.


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
# 2. The target's own choice at position `i` is `int(np.argmax(p[i]))`. `p` has rows to spare.
# 3. Loop with `enumerate(drafted)`. If the token is not the target's choice, return the index; after the loop, all
#    were right: that is `len(drafted)`.

# %% tags=["demo"]
figures.greedy_walk(
    greedy_prefix, lesson.DRAFT_BLOCK, lesson.target_rows(lesson.PREFIX, lesson.DRAFT_BLOCK)
)

# %% test="greedy_prefix" points=3
lesson.check_greedy_prefix(greedy_prefix)

# %% [markdown]
# ## Correct, or a bonus
#
# Suppose that `m` draft tokens were accepted. After a rejection, row `m` is the one that rejected the token, and
# its argmax is the correction. Without a rejection, `m` is `K`, and the argmax of row `K` is the bonus token. So
# one line of code covers both cases:
#
# $$ \text{written} = [x_0, \cdots, x_{m-1}, \arg\max p_m] $$
#
# with $x_0, \cdots, x_{K-1}$ for the draft tokens.
#
# ### Be the draft
#
# Now you are the intern. Change the four words (the models know eight) and run the cell again. Can you earn the
# bonus? And how few words can you make the target write?

# %% tags=["demo", "shown"]
mine = tokenize("on the dog ran")
figures.greedy_walk(greedy_prefix, mine, lesson.target_rows(lesson.PREFIX, mine))

# %% [markdown]
# <details><summary>What you should find</summary>
#
# "on the mat ." earns the bonus "the": five words. Any block that does not begin with "on" still gets one word, the
# correction "on". No block can make the target write a word of yours. All you decide is how many of its own it
# writes per pass.
#
# </details>
#
# ## The loop
#
# The decoder repeats the four moves until the text ends, which happens in one of two ways. `eos`, the token that
# ends a text, may appear anywhere in a block; the text ends with it. Or the text reaches `max_new_tokens`. Each
# pass adds a token of the target's, so near this limit the draft writes fewer tokens. The loop is easy; its two
# ends bite.
#
# ### Exercise: greedy_speculative_decode
#
# **Task.** Return the target's greedy text, written in blocks of up to `k` draft tokens. The draft takes its
# argmax, too. Call your `score_block` and `greedy_prefix`.
#
# **Arguments.** `prompt` is a list of at least one token, `k` is at least 1, and `eos` is a token or None. The
# answer is the list of the *new* tokens: `max_new_tokens` of them, or fewer if `eos` ends the text.
#
# **Example.** After "the cat sat" with `k = 4`, four passes write 12 tokens: "on the mat", ". the dog", "ran . the
# dog", "ran .". If `eos` is the full stop, two passes write "on the mat ." With a draft that is always right, *one*
# pass writes "on the mat . the".
#
# **The tests also check.** Each block calls the target once and the draft at most `k` times. If `max_new_tokens` is
# 0, no model is called. Only new tokens are compared with `eos`, and 0 is a token like any other. Leave `prompt`
# unchanged. If your `score_block` or `greedy_prefix` is wrong, the grader tests your loop with correct ones. The
# check below uses yours.


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
        m = greedy_prefix(drafted, p)
        block = [*drafted[:m], int(np.argmax(p[m]))]
        if eos in block:
            return written + block[: block.index(eos) + 1]
        written += block
    return written
    ### END SOLUTION


# %% [markdown] hints="greedy_speculative_decode"
# 1. First write the loop without its ends: repeat the four moves until the text is long enough. Then add the two
#    ends: `eos`, and the limit.
# 2. How many tokens may this block draft, if one more comes on top and `max_new_tokens` must not be passed? And
#    look for `eos` in the whole block, not only at its end.
# 3. With `left` tokens to go, draft `min(k, left - 1)`. The block is `drafted[:m]` and the argmax of `p[m]`. If
#    `eos` is in the block, return what is written and the block up to `eos`; else add the block and go on.

# %% tags=["demo"]
figures.block_fates(greedy_speculative_decode, lesson.PREFIX, k=4, max_new_tokens=lesson.NEW_TOKENS)

# %% test="greedy_speculative_decode" points=8
lesson.check_greedy_speculative_decode(greedy_speculative_decode)

# %% [markdown]
# ## The same text, fewer passes
#
# ### A ladder of drafters
#
# Now your function drives real models. The target is the course's built-in one, which continues Python code. The
# draft tokens come from four drafters:
#
# - an *oracle*, which knows what the target will write;
# - a *draft model*, a quarter of the target's size;
# - a *copy from the text*: look for the last few tokens earlier in the text, and propose what followed them there;
# - *random tokens*.
#
# The target alone needs 24 passes. Guess before you run the cell: how many does it need with each drafter in blocks
# of three draft tokens, and which ones leave its text unchanged?

# %% tags=["demo"]
print("Loading, then one drafter after the other. This takes some seconds.")
import torch

from specdec_lib.device import use_half_the_cores
from specdec_lib.drafters.lookup import lookup
from specdec_lib.measure.acceptance import model_reader
from specdec_lib.models.pairs import load_pair

use_half_the_cores()  # at least two; torch leaves the other half to other programs
pair = load_pair(dtype=torch.float64)  # so that rounding cannot make the two texts differ
readers = [model_reader(pair.target), model_reader(pair.draft)]
both = [lambda given, read=read: read(given).numpy() for read in readers]
prompt = pair.start(lesson.REAL_PROMPT)
figures.ladder(greedy_speculative_decode, *both, lookup, prompt, pair.tokenizer.decode)

# %% [markdown]
# Even random tokens leave the text unchanged. **The draft changes the time, never the text.** Why? Every token of
# the text is the argmax of a row of the target: an accepted token equals this argmax, and the correction or bonus
# is this argmax. The row was computed after the tokens that really precede it. So if the text is right up to some
# position, the next token is right as well. By induction the whole text is the target's greedy text. The draft
# decides only how many of these tokens each pass writes.
#
# ## Quiz
#
# **Question 1.** The target rejects the third token of a block of four. What does the pass write?
#
# - a: the two accepted tokens; the draft proposes another third token
# - b: the two accepted tokens, and the argmax of row 2 of `p`
# - c: the two accepted tokens, and the argmax of row 4 of `p`, the last one
# - d: the two accepted tokens, the argmax of row 2, and the fourth draft token if row 3 agrees

# %% solution="quiz_01"
### BEGIN SOLUTION
quiz_01 = "b"
### END SOLUTION

# %% test="quiz_01" points=1
lesson.answered("quiz_01", quiz_01)

# %% [markdown]
# **Question 2.** Why can the target judge four draft tokens in one pass, but not write four in one?
#
# - a: it judges only the last token, which contains the others
# - b: it takes over the distributions of the draft model
# - c: all four are known, and each row looks only at the tokens before it
# - d: it writes four tokens at once and compares

# %% solution="quiz_01_b"
### BEGIN SOLUTION
quiz_01_b = "c"
### END SOLUTION

# %% test="quiz_01_b" points=1
lesson.answered("quiz_01_b", quiz_01_b)

# %% [markdown]
# ### In your own words
#
# A colleague lets random tokens do the drafting and keeps your decoder as it is. What happens to the text, to the
# number of target passes, and to the running time, each compared with plain decoding? Write three to five
# sentences. This answer is marked by hand.

# %% [markdown] written="why_draft_is_free" points=2
# The text stays the same, because every token in it is the argmax of a row of the target after the right tokens.
# The number of target passes is at most that of plain decoding: each pass still writes at least one token, and
# now and then a random token happens to be right. The running time gets worse, although random tokens cost
# nothing to draft: each pass reads `K + 1` tokens instead of one, and on a laptop's processor that takes longer,
# as chapter 00 measured. A large GPU would hardly notice.

# %% [markdown]
# ## What you may read elsewhere
#
# Each of these sentences has a fault. Find it before you open the answer.
#
# **You might read: "`rows = target(prefix + drafted)`; compare `rows[i]` with draft token `i`."**
#
# <details><summary>Answer</summary>
#
# Row 0 is about the second token of the prefix. Draft token `i` belongs to row `len(prefix) - 1 + i`.
# *For example:* after "the cat sat on" row 0 of the small target prefers "cat", and row 3 prefers "the".
#
# </details>
#
# **You might read: "If all `K` draft tokens are accepted, append them and start the next block."**
#
# <details><summary>Answer</summary>
#
# The text is right, but row `K` is computed and thrown away. *For example:* with a perfect draft and `K = 4`, 20
# tokens then take 5 passes instead of 4.
#
# </details>
#
# **You might read: "GPT-2 (124 million parameters) drafts, and GPT-4 checks."**
#
# <details><summary>Answer</summary>
#
# They have different vocabularies, so a token's number means one text to one and another to the other.
# *For example:* GPT-2 has 50,257 tokens, and GPT-4's `cl100k_base` has about 100,000. And to check, you need the rows of
# the target; GPT-4's weights are not public.
#
# </details>
#
# ## The race: your decoder on the clock
#
# Passes are a promise; the clock decides. Your own function, with the draft model, now races plain decoding,
# copying and random tokens. Target and `K` are the ladder's, but the target now does extra work that changes no
# output, as much as a model of 234 million parameters would do. Your function still hands its models the whole
# text. Internally, they keep a cache and read only what is new.
#
# The races of this course share five texts, here of 20 tokens each. The lanes take turns, text by text, and a
# speed-up is that of the middle text. So you can follow your decoder from chapter to chapter. Guess before you run
# the cell: which lane wins, and is any lane slower than no drafter?

# %% tags=["demo"]
print("Loading, then all lanes in turn: about a minute, on a busy machine up to three.")
from specdec_lib.lessons.drawing.race import show_race
from specdec_lib.measure.race.lanes import prompt_lookup_lane, greedy_function_lane, random_lane
from specdec_lib.measure.race.race import race

ladder = {
    "your decoder": greedy_function_lane(greedy_speculative_decode, k=3),
    "copy from the text": prompt_lookup_lane(k=3),
    "random tokens": random_lane(k=3),
}
show_race(race("01", ladder), yours="your decoder")

# %% [markdown]
# Draft, `K` and texts are those of chapter 00's second race, and so, text by text, are the passes: only the code is
# yours now. Your decoder needed fewer passes than the copy, as in the ladder. The clock can still favour the copy:
# its drafting costs nothing, while the draft model computes for every token that it proposes. And greedy text of a
# small model tends to repeat itself, which is all that a copy needs. So for ladder and race we chose prompts after
# which the target hardly repeats itself. With any draft the text is safe. The time isn't.
#
# <details><summary>The chapter in one paragraph</summary>
#
# A small draft model writes `K` tokens. The large target reads the text and these tokens in one pass, and accepts
# them up to the first that is not its own choice. Then it adds one token of its own, a correction or a bonus. So
# each pass writes 1 to `K + 1` tokens, and whatever the draft, the text is the target's. It is finished sooner if
# the passes saved outweigh the drafting and the wider passes.
#
# </details>
#
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023,
#   [arXiv 2211.17192](https://arxiv.org/abs/2211.17192): the four moves are its Algorithm 1, and so are the
#   letters. Its abstract names speculative execution, which is what processors do at a branch.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, [arXiv
#   2302.01318](https://arxiv.org/abs/2302.01318): its Algorithm 2, with `K`, and with `p` and `q` exchanged.
# - M. Stern, N. Shazeer, J. Uszkoreit, *Blockwise Parallel Decoding for Deep Autoregressive Models*, NeurIPS 2018,
#   [arXiv 1811.03115](https://arxiv.org/abs/1811.03115): propose a block, verify it in one pass, greedily. The
#   first two sources add the rule that makes *sampling* exact.
# - Hugging Face transformers 5.23.0, `GenerationMixin._assisted_decoding`, vLLM, gpt-fast,
#   jaymody/speculative-sampling, lucidrains/speculative-decoding and feifeibear/LLMSpeculativeSampling: the table
#   of letters.
# - OpenAI, tiktoken, `tiktoken_ext/openai_public.py`: `gpt2` and `cl100k_base`.
#
# Greedy equality is proved above for exact arithmetic. On a computer two passes of different length may round
# differently (chapter 03).
#
# **Next.** Chapter 02 replaces the comparison by a coin: the four moves for sampling.
