# %% [markdown]
# # 01 Draft then verify: one block, from proposal to text
#
# 75 minutes · difficulty 2 of 5 · you need: the picture of chapter 00 (one pass over several tokens
# costs about as much as one pass over a single one), lists and NumPy arrays
#
# **Carry in.** A large model writes one token a pass, and most of a pass is spent on reading its
# weights. A pass over five known tokens is hardly slower.
#
# **Work here.** You write the four moves of speculative decoding: draft a block, score it in one
# pass, accept a prefix, add one token more. Then you put them into a loop.
#
# **Carry out.** The greedy text of the large model, token for token, in fewer of its passes. How a
# block is judged when tokens are sampled is chapter 02.
#
# Run the cells from top to bottom. Nothing here needs your answers from another chapter.

# %% [markdown]
# ## The intern and the senior partner
#
# A senior partner of a law firm is slow and expensive, and every letter must be one that the
# partner would have written. An intern is quick. So the intern writes the next four words, and the
# partner reads them all at one glance, crosses out the first word that is wrong, writes the right
# one above it, and throws away what follows. If all four are right, the partner adds the next word.
#
# The **draft** model is the intern, the **target** model is the partner. Here is one such glance in
# four frames. Answer each question before you open its frame.

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
# **One** glance judged all four words. The intern wrote them one after the other, but an intern is
# quick enough for that.
#
# ### Where the pictures break
#
# A second picture is in many texts: a processor guesses which way a branch will go, works ahead on
# the guess, and throws the work away if the guess was wrong.
#
# | picture | what it gets right | where it breaks |
# | --- | --- | --- |
# | intern and partner | cheap proposals, one expensive check, the first mistake ends the block | the partner is not "always right": the target is the standard by definition. And when sampling, a word that is not the partner's favourite can pass |
# | branch prediction | work ahead, throw away, the result is as if nothing had been guessed | a branch has one right outcome. A sampled token has none: a coin decides how often a proposal passes, and the law of the text stays the target's |

# %% [markdown]
# ## Two models, one vocabulary
#
# Both models read a list of **tokens**, numbers that stand for pieces of text. The last layer of a
# model, its LM head, gives one score for each of the `V` tokens of the vocabulary, the **logits**
# `z`. The softmax turns them into a distribution:
#
# $$ p(x) = \frac{e^{z_x}}{\sum_y e^{z_y}} $$
#
# Target and draft must share the tokenizer, so that number 17 is the same text for both. Two of the
# models below are so small that you can read them whole. They know eight words. The draft looks at
# the last word only, the target at the last two.

# %%
print({number: word for number, word in enumerate(WORDS)})
for words in ("the", "on the", ". the"):
    seen = tokens(words)
    print(f"after {words!r}: draft {lesson.named(DRAFT(seen))}")
    print(f"{'target':>{len(words) + 14}} {lesson.named(TARGET(seen)[-1])}")

# %% [markdown]
# A model is a Python function here, and the two have different shapes for a reason:
#
# - `draft_model(tokens)` gives `(V,)`: the distribution of the next token, for one call a token.
# - `target_model(tokens)` gives `(len(tokens), V)`: row `i` is the distribution after the first
#   `i + 1` of them. A transformer has them all in one pass: position `i` sees no later token.
#
# ### Who calls what p and q
#
# In this course `p` is the **target** and `q` the **draft**. Look before you copy a formula:
#
# | source | target | draft |
# | --- | --- | --- |
# | Leviathan et al.; transformers; lucidrains/speculative-decoding; this course | `p` | `q` |
# | Chen et al.; jaymody/speculative-sampling; gpt-fast; some guides | `q` | `p` |
# | feifeibear/LLMSpeculativeSampling, the version named after Chen et al. | `p` | `q` |
# | vLLM, `vllm/v1/sample/rejection_sampler.py` (its `q` holds random numbers) | `target_probs` | `draft_probs` |
#
# For the draft tokens in a block Leviathan et al. write `gamma`, Chen et al. and this course `K`.

# %% [markdown]
# ## One block, four moves
#
# 1. **Draft.** The draft model writes `K` tokens, one call each, and keeps its distributions.
# 2. **Score.** The target reads prefix and draft in one pass: `K + 1` distributions.
# 3. **Accept** the longest prefix of the draft that stands the test.
# 4. **Correct, or a bonus.** If a draft token was rejected, a token of the target's takes its
#    place, and the rest of the draft is dropped. If none was, the last row gives one token on top.
#
# Either way the block ends with a token of the target's own: `accepted + [x_new]`, from 1 to
# `K + 1` tokens a pass. Not even the worst draft can stop the text.
#
# ## Animation: five recorded blocks
#
# These are five blocks of the built-in pair, sampled behind the prompt below, with the `p`, `q` and
# coins `r` that they really had. A draft token passes if its coin is at most `p/q` (chapter 02).
#
# ### Commit first
#
# Each of the five blocks drafts four tokens. How many tokens will the five passes of the target
# write, all together? Write a number from 5 to 25 before you press a button.

# %% solution="prediction_01_b"
### BEGIN SOLUTION
prediction_01_b = 16
### END SOLUTION

# %% test="prediction_01_b" points=1
lesson.committed("prediction_01_b", prediction_01_b, 5, 25)

# %% tags=["demo"]
from specdec_lib.lessons.widgets.pipeline import pipeline_animation

pipeline_animation(lesson.RECORDED)

# %% tags=["demo"]
charts.recorded_blocks(lesson.RECORDED)
lesson.reveal("prediction_01_b", prediction_01_b)

# %% [markdown]
# Look at block 1 again. Its second token, `f`, was accepted although neither model gives it one
# chance in ten thousand. In block 4 the first token falls, and three more fall with it, whatever
# their numbers. This record was chosen to show all cases in five blocks; how often tokens are
# accepted on average is measured in chapters 04 and 05.
#
# ## Draft: one token after another
#
# The draft model drafts as all language models write: each token goes back in before the next comes
# out. Token `i` is drawn from `q_i` with the number `uniforms[i]`. Keep all of `q_i`, not only the
# token: the verification divides by it, and is exact only if the token was drawn from it.

# %% [markdown]
# ### Exercise: draft_block
#
# **What.** `k` draft tokens and the distributions they were drawn from. **Shapes.** `prefix` is a
# list of tokens, `uniforms` is `(k,)` with numbers in [0, 1), `k` is at least 1. A tuple comes
# back: a list of `k` tokens and an array `(k, V)`. `sample_from(row, u)` is given: it takes a
# distribution `(V,)` and a number in [0, 1), and returns a token. Token `i` is drawn with
# `uniforms[i]`. Call `draft_model` exactly `k` times, each time with a new list; leave `prefix` as
# it is.
#
# **One worked number.** After "the cat" the small draft says sat .7, ran .3. `sample_from` with
# `.1` gives sat, which is token 2. After it, `.5` gives on. After that, `.95` lies above the .9 of
# "the": mat. So `[.1, .5, .95]` gives the tokens `[2, 3, 4]`.
#
# **In production.** `transformers.generation.candidate_generator.AssistedCandidateGenerator` lets
# the draft model generate and hands back tokens and logits. In vLLM, the class `DraftModelProposer`
# of `vllm/v1/spec_decode/draft_model.py`.


# %% solution="draft_block"
def draft_block(draft_model, prefix: list[int], k: int, uniforms) -> tuple[list[int], np.ndarray]:
    """k draft tokens behind `prefix`, and the distributions (k, V) that they were drawn from."""
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
# Generating four tokens takes four passes. Checking four takes one: they are all there. The target
# reads `prefix + drafted` and gives a row for **every** token that it read, also in the prefix.
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
# Row `i` speaks of the token **after** token `i`. So the row of the last prefix token judges the
# first draft token, the row of the first draft token judges the second, and the row of the last
# draft token judges nothing: it is left over, for the bonus. With `n` tokens in the prefix:
#
# $$ p_i = \text{row}_{\,n - 1 + i}, \qquad i = 0, \cdots, K $$
#
# ### What the pass really reads
#
# Your function hands over the whole text each time. A real decoder does not read it all again. Its
# **cache** holds the text so far, all but the last token (chapter 00). So the pass reads `K + 1`
# tokens, that last one and the `K` drafts, and gives `K + 1` rows, one after each. These are the
# very rows that you pick out.

# %% tags=["demo"]
figures.what_the_pass_reads(lesson.PREFIX, lesson.BLOCK)

# %% [markdown]
# Both classic mistakes, the first `K` rows or the rows of the draft tokens themselves, give arrays
# that look right, and every verdict is about another position.

# %% [markdown]
# ### Exercise: score_block
#
# **What.** The target's distributions for a block. **Shapes.** `prefix` holds at least one token,
# `drafted` holds `k` (0 is allowed). An array `(k + 1, V)` comes back. Call `target_model` exactly
# once, and leave `prefix` as it is.
#
# **One worked number.** Prefix "the cat" (2 tokens), draft "sat on the cat" (4): the target gives 6
# rows, and the answer is the last 5 of them, rows 1 to 5.
#
# **In production.** `transformers.generation.utils.GenerationMixin` takes, in `_assisted_decoding`,
# the last `candidate_length + 1` rows of one pass. In vLLM, `vllm/v1/worker/gpu_model_runner.py`
# keeps the indices of these rows for all requests of a batch.


# %% solution="score_block"
def score_block(target_model, prefix: list[int], drafted: list[int]) -> np.ndarray:
    """The target's distributions (k + 1, V): one for each draft token, and one behind the block."""
    ### BEGIN SOLUTION
    rows = target_model([*prefix, *drafted])
    return rows[len(prefix) - 1 :]
    ### END SOLUTION


# %% tags=["demo"]
hints(score_block)

# %% [markdown]
# The figure marks the rows that **your** function returned; arrows lead to their tokens.

# %% tags=["demo"]
figures.chosen_rows(score_block, TARGET, lesson.PREFIX, lesson.BLOCK)

# %% test="score_block" points=3
lesson.check_score_block(score_block)

# %% [markdown]
# ## Accept: greedy first
#
# In **greedy** decoding the target writes its most probable token at every position. Then the test
# of a draft token is a comparison: is it that token? "No change" then means: the very same tokens.
#
# At the first difference the walk ends. The row after it was computed behind a token that is not
# going to be in the text, so even a later token that agrees is dropped.

# %% [markdown]
# ### Exercise: greedy_prefix
#
# **What.** How many draft tokens are accepted. **Shapes.** `drafted` is a list of `k` tokens, `p`
# has at least `k` rows over `V` tokens. A whole number from 0 to `k` comes back. Of equally
# probable tokens the one with the lowest index is the target's choice, as `np.argmax` has it.
#
# **One worked number.** The draft is "sat on the cat". The target's rows say sat, on, the, mat: 3.
#
# **In production.** `transformers.generation.utils.GenerationMixin` counts in `_assisted_decoding`
# with a cumulative sum of the differences. In vLLM, `rejection_greedy_sample_kernel` of
# `vllm/v1/sample/rejection_sampler.py`.


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
# With `n` tokens accepted, row `n` of `p` is the next one to use, in both cases. After a rejection
# it is the row that rejected: its argmax is the **correction**. After a block that was accepted
# whole, `n` is `K`, and row `K` gives the **bonus token**. One line of code does both:
#
# $$ \text{block} = [x_0, \cdots, x_{n-1}, \arg\max p_n] $$
#
# When sampling, a correction is drawn from a changed distribution, the bonus from `p_K` as it is.
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
# Repeat the four moves until the text is long enough. First, ungraded, put the loop together from
# its lines: the next cell prints them, shuffled, with letters. One is not needed, two have a blank.

# %%
order = ""  # the letters in their order, as in "KI"
blank_c, blank_e = "", ""  # what stands in the blanks of lines C and E
lesson.check_puzzle(order, blank_c, blank_e)

# %% [markdown]
# Two ends are missing in it. A block may hold the token `eos`, also in its middle: the text ends
# **there**, with `eos` in it. And no block may write beyond `max_new_tokens`: near the end, draft
# fewer tokens.

# %% [markdown]
# ### Exercise: greedy_speculative_decode
#
# **What.** The target's greedy text, decoded in blocks. **Shapes.** `prompt` is a list of at least
# one token; the list of the **new** tokens comes back, `max_new_tokens` of them, or fewer where
# `eos` ends the text. Only new tokens are compared with `eos`; None means that there is none. Draft
# by argmax, at most `k` calls of the draft and one call of the target for every block, none for 0
# tokens. A block that is accepted whole ends with the bonus token.
#
# **One worked number.** After "the cat", `k = 4`, 12 tokens: "sat on the mat", ". the dog", "ran .
# the dog", "ran". Four passes, not twelve. With `eos` the full stop: "sat on the mat ." in two.
#
# **In production.** `transformers.generation.utils.GenerationMixin` has this loop in
# `_assisted_decoding`, for one sequence, with a cache that is cut back after each block. In vLLM a
# block is one step of the server's own loop, `vllm/v1/core/sched/scheduler.py`.


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
# Why can the text not depend on the draft? Every token in it is the argmax of a row of the target,
# computed behind the tokens that really stand before it. An accepted token **is** that argmax, and
# the last one is read off the row. By induction over the positions, the text is the target's greedy
# text. The draft decides only how many of these tokens one pass brings.
#
# ### A ladder of drafters
#
# The next cell runs your function on the built-in target, on real Python, with four drafters:
#
# - an **oracle**, which knows what the target will write;
# - the **small model** of the built-in pair;
# - a **copier**, which looks for the last time that the text read like this, and proposes what
#   followed then;
# - **random tokens**.
#
# Before you run it: which of the four texts will be the target's? How many passes will each take,
# of the 24 that the target needs alone? (The functions read the whole text again on each call, so
# nothing is timed here.)

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
# The draft changes the time, never the text. A better draft saves more passes, and the worst one
# saves none, but the target writes the same tokens with each.

# %% [markdown]
# ## The smallest example that makes it click
#
# Prefix "on", draft "the cat", `K = 2`. The target reads three tokens in one pass: on, the, cat.
#
# - The row of "on" says "the". The draft said "the": accepted.
# - The row of "the", which has "on the" before it, says "mat". The draft said "cat": rejected.
# - The row of "cat" says "sat". It stands behind a word that is gone: dropped.
#
# One pass, two tokens: "the mat". Had the draft said "the mat", the third row would have been the
# row of "mat", and its "." the bonus: three tokens.

# %% [markdown]
# ## Quiz
#
# **Question 1.** You sample. Of a drafted block of four the third token is rejected. What happens?
#
# - a: the draft model proposes another third token, until one passes
# - b: a third token is drawn from an adjusted distribution of the target, and the fourth is dropped
# - c: the whole block is dropped, the first two tokens as well
# - d: the third token is dropped, and the fourth moves up into its place

# %% solution="quiz_01"
### BEGIN SOLUTION
quiz_01 = "b"
### END SOLUTION

# %% test="quiz_01" points=1
lesson.answered("quiz_01", quiz_01)

# %% [markdown]
# **Question 2.** Why can the target judge four draft tokens in one pass, and not write four in one?
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
# The text stays the same, because every token in it is the argmax of a row of the target behind the
# right tokens. The number of target passes is at most that of plain decoding: each pass still
# brings at least one token, and now and then a random token happens to be right. The running time
# gets worse: the draft calls come on top, almost all wasted.

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: "`target_probs = target.forward(tokens + draft)`; compare `target_probs[i]` with
# draft token `i`."** It is not so, because row 0 speaks of the second token of the prefix; draft
# token `i` belongs to row `n - 1 + i`. *Look:* after "the cat sat on" the small target's row 0 and
# its row 3 are at a total variation of .95, of at most 1.
#
# **You might read: the loop ends a block that was accepted whole with its last draft token.** It is
# not wrong, but it wastes what is paid for, because row `K` is there. *Look:* with a perfect draft
# and `K = 4`, 20 tokens take 5 passes instead of 4; at `alpha = .7` and `K = 5` 5.7% are lost.
#
# **You might read: "The speed-up is 1/(1 - alpha)."** It is not so, because that is the limit of
# the tokens a pass for endless blocks and a free draft. *Look:* for `alpha = .7` it says 3.3. With
# a draft step of .05 target passes it is 2.35 at `K = 5`, .95 at `K = 50` (chapter 04).
#
# **You might read: a decoder that looks for the end of the text after each block.** It is not
# enough, because the end can stand inside a block, and then junk follows it. *Look:* the small pair
# writes seven tokens in two blocks, and the sixth and seventh stand behind the full stop.
#
# **You might read: formulas of one paper beside the code of another.** It does not fit, because `p`
# and `q` change places between them. *Look:* the rule with the letters exchanged, on the pair of
# chapter 02, gives a law at a total variation of .325 from the target.

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## The race again
#
# Here are three of your drafters with a real decoder, whose cache saves it from reading the text
# again, and with a clock. All of them write the same text; a drafter that is almost never right
# makes it slower than no drafter at all.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import copying, drafting, guessing
from specdec_lib.measure.race.race import race

ladder = {
    "draft model": drafting("large", k=3),
    "copy from the text": copying(k=3),
    "random tokens": guessing(k=3),
}
show_race(race("01", ladder, texts=1))

# %% [markdown]
# ## In one paragraph
#
# A small draft model writes `K` tokens, one after the other. The large target model reads them all
# in one pass and gives `K + 1` distributions. The longest prefix of the draft that passes the test
# is kept; where it ends, one token of the target's own is added, a correction or a bonus. So each
# pass of the target writes 1 to `K + 1` tokens, the text is one that the target alone could have
# written, with the same probability, and how much time it saves depends on how often the two models
# agree and on what the draft costs.

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
#   H. Xia et al., arXiv 2203.16487, bears the name speculative decoding in its title. What the
#   first two add is the rule that makes **sampling** exact.
# - Hugging Face transformers 5.23.0, `GenerationMixin._assisted_decoding`; vLLM, the files named
#   above; gpt-fast, jaymody/speculative-sampling, lucidrains/speculative-decoding and
#   feifeibear/LLMSpeculativeSampling for the table of letters.
# - D. Parsons, P. Haden, *Parson's Programming Puzzles*, ACE 2006: the kind of puzzle above.
#
# The papers support the procedure and its exactness. Greedy equality is proved above, for exact
# arithmetic; on a computer two passes of different length may round differently (chapter 03).
# Nothing here supports a statement on speed.
#
# **Next.** Chapter 02 replaces the comparison by a coin: the four moves for sampling.
