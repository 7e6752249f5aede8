# %% [markdown]
# # 00 Why generation is slow
#
# 50 minutes, and an optional second sitting of 15 · difficulty 2 of 5 · you should know Python and
# NumPy, and what a probability is
#
# - **Intuition**: a translator and her cellar, in "What a pass has to do".
# - **Mathematics**: the roofline. A pass takes the longer of two times.
# - **Code**: a stopwatch for passes, and three functions that predict what it shows.
# - **Demo**: a race in the first cell, and one on your machine.
#
# **You come with** Python. **You build** a stopwatch for a model's passes, and a forecast.
# **You leave with** the reason why it is cheaper to check several tokens than to write them.
#
# ## A race, before anything is explained
#
# A language model reads text cut into **tokens**: words or parts of words. It returns a
# **distribution**: for every token in its vocabulary, the probability that it comes next.
#
# Here a published chat model, SmolLM2-135M-Instruct, answers a question twice. On the left this
# **target** writes alone. On the right a small model, the **draft**, proposes two tokens at a time,
# and the target checks them: **speculative decoding**. Both sides always take the target's most
# probable token (**temperature** 0). The race is recorded; its processor and date stand below it.

# %% tags=["demo"]
from specdec_lib.lessons.drawing.race import show_race
from specdec_lib.measure.race.record import recorded_race

show_race([recorded_race()])

# %% [markdown]
# Now on your machine: two models that come with the course continue five Python texts, with three
# proposals at a time. The target has 8 million **parameters**, the numbers that training has set. We
# make it wider and deeper without changing any output, so a pass costs as much as one through a
# 234-million-parameter model.

# %% tags=["demo"]
print("On this machine: loading, then both sides in turn. This takes 20 s to a minute.")
from specdec_lib.measure.race.lanes import draft_model_lane
from specdec_lib.measure.race.race import race

show_race(race("00", {"speculative decoding": draft_model_lane("large", k=3)}))

# %% [markdown]
# ## The riddle
#
# On most machines the right side finishes first, even though it also runs a second model. And its
# target does more work: about half as many passes, but three or four tokens in each: the last token
# of the text and two or three proposals. **How can more work take less time?**
#
# ## Token 5 needs tokens 1 to 4
#
# One run through a model is called a **pass**. A pass takes in tokens and returns, after each one,
# the distribution of the next token. The first pass, the **prefill**, reads the whole prompt. From
# then on the text grows by one token per pass, **autoregressively**: each pass takes in the token
# that was just chosen. More hardware can shorten each pass, but it can't run two of them at once.

# %%
import numpy as np

from specdec_lib.lessons.ch00 import lesson
from specdec_lib.lessons.ch00.lesson import LLAMA, MACHINES

# %% tags=["demo"]
print("Loading the drawing code, once. This takes some seconds.")
from specdec_lib.lessons.ch00 import figures

figures.serial_and_parallel(tokens=5)

# %% [markdown]
# Say a model of 70 billion parameters needs 50 ms per pass. Then an answer of 100 tokens takes
# `100 x 50 ms = 5 s`. The last column of the figure shows a way out: if a text *is there already*,
# one pass can read all of its tokens.
#
# > **Generation is serial, scoring is parallel.** Writing `n` tokens takes `n` passes that wait for
# > each other. Checking `n` proposed tokens takes one pass.
#
# ### Commit first
#
# On your machine, a pass of the second race's target over one token takes 1 unit of time. How long
# does a pass over **eight** tokens take? Write a number from 1 to 8.

# %% solution="prediction_00"
### BEGIN SOLUTION
prediction_00 = 2.0
### END SOLUTION

# %% test="prediction_00" points=1
lesson.committed("prediction_00", prediction_00, 1, 8)

# %% [markdown]
# ## Time a pass yourself
#
# You'll answer with a stopwatch of your own. It has to survive two things: the first calls are
# slow, because code and memory aren't ready, and now and then another program barges in.
#
# ### Exercise: time_pass
#
# **Task.** Return the median time of `repeats` calls of `forward(n_tokens)` in seconds, after
# `warmup` calls that don't count.
#
# **Arguments.** `forward(n_tokens)` runs a pass over so many tokens. `clock()` returns the time in
# seconds: read it right before and right after each counted call. `warmup` may be 0, and `repeats`
# is at least 1. The answer is a float.
#
# **Example.** Without a warm-up, three calls take 3, 2 and 9 s. The answer is 3.0.
#
# **The tests also check.** There are exactly `warmup + repeats` calls. If `repeats` is even, the
# median is the mean of the two middle times. The clock is an argument so that a test can pass in a
# fake one.


# %% solution="time_pass"
def time_pass(forward, n_tokens: int, clock, warmup: int = 2, repeats: int = 5) -> float:
    """Median seconds of `forward(n_tokens)` by `clock()`, after `warmup` calls before it."""
    ### BEGIN SOLUTION
    for _ in range(warmup):
        forward(n_tokens)
    seconds = []
    for _ in range(repeats):
        start = clock()
        forward(n_tokens)
        seconds.append(clock() - start)
    return float(np.median(seconds))
    ### END SOLUTION


# %% [markdown] hints="time_pass"
# 1. You need two loops, one after the other. What does the first one do with the clock?
# 2. Nothing. The second reads the clock, calls `forward`, reads it again and keeps the difference.
# 3. Both loops call `forward(n_tokens)`. At the end, return `np.median` of the kept
#    times, as a float.

# %% [markdown]
# The next cell makes a `forward` from the target of the second race. Each pass follows 128
# tokens of text and uses half of your cores, at least two.

# %% tags=["demo", "shown"]
print("Loading, then seven passes over each number of tokens. This takes some seconds.")
import torch

from specdec_lib.device import use_half_the_cores
from specdec_lib.measure import models
from specdec_lib.measure.costs import pass_tasks

use_half_the_cores()
# The arithmetic is in float32. Weights that fit into 16 bits without loss are stored in 16 bits.
target = models.load_target("234m", torch.float32)
widths = (1, 2, 4, 8, 16, 32)
passes = pass_tasks(target, widths)  # functions without arguments, by width


def forward(n_tokens):
    passes[n_tokens]()


seconds = {}  # the figure notes your times here
figures.passes_and_tokens(time_pass, forward, widths, seconds)

# %% test="time_pass" points=4
lesson.check_time_pass(time_pass)

# %% tags=["demo"]
lesson.reveal_timed("prediction_00", prediction_00, seconds, tokens=8)

# %% [markdown]
# One line is the price of writing, another the price of checking. Everything that this course
# gains lies between them. The dotted line is recorded: for the first race's target, five tokens took
# 1.20 times as long as one. They are five times the arithmetic. So what takes the time?
#
# ## What a pass has to do: bytes and FLOP
#
# Think of a translator whose dictionaries are kept in the cellar. For each word she carries all of
# them up, looks one word up, and carries them down again. If an assistant proposes five words, she
# checks all five on one trip. Looking up is quick. The stairs are slow.
#
# The dictionaries are the **weights**, the parameters as they sit in memory, far from the
# arithmetic units. Every pass does two jobs at the same time:
#
# - **read**: each weight travels from memory to the arithmetic units, *once per pass*;
# - **calculate**: each weight is multiplied by a number and the product is added to a sum, *for
#   every token*. That makes 2 floating-point operations (**FLOP**) per weight and token.
#
# ## The smallest example
#
# A model has 100 weights of one byte each. A machine reads 100 bytes and does 1,000 FLOP per second.
#
# | tokens in the pass | reading | calculating | the pass takes |
# | --- | --- | --- | --- |
# | 1 | 100 bytes: 1 s | 200 FLOP: 0.2 s | 1 s |
# | 5 | 100 bytes: 1 s | 1,000 FLOP: 1 s | 1 s |
# | 6 | 100 bytes: 1 s | 1,200 FLOP: 1.2 s | 1.2 s |
#
# Five tokens take no longer than one: we call all five **free**; the sixth isn't. Writing five
# tokens takes 5 s, and checking them takes 1 s.
#
# ## The roofline
#
# In symbols: a model has `W` weights of `b` bytes. A machine reads `R` bytes per second from
# memory, its **bandwidth**, and does at most `F` FLOP per second, its **peak**. A pass over `n`
# tokens takes the longer of two times:
#
# $$ t(n) = \max\left( \frac{b W}{R},\; \frac{2 n W}{F} \right) $$
#
# This bound is the **roofline** (Williams et al.). If reading takes longer, the arithmetic units
# wait, and the pass is **memory-bound**. If calculating takes longer, memory waits, and the pass is
# **compute-bound**. With two-byte weights (**bfloat16**), a pass over one token uses 0.3% of the
# arithmetic that somebody paid for in an H100, a large GPU.
#
# Counting 2 FLOP per weight (Kaplan et al.) leaves out **attention**, a token's look back at the
# text.
#
# ### Exercise: forward_time
#
# **Task.** Return the seconds that a pass over `n_tokens` takes by the roofline.
#
# **Arguments.** `bandwidth` is in bytes/s, `peak_flops` in FLOP/s. The answer is a float.
#
# **Example.** 8 billion parameters in bfloat16 on an H100 (3.35 TB/s, 989.5 TFLOP/s), one token:
# reading 16 GB takes 4.78 ms, and 16 GFLOP take 0.016 ms. The answer is `0.00478`.


# %% solution="forward_time"
def forward_time(
    n_tokens: int, n_params: float, bytes_per_param: float, bandwidth: float, peak_flops: float
) -> float:
    """Seconds of a pass over `n_tokens` by the roofline; bandwidth in bytes/s, peak in FLOP/s."""
    ### BEGIN SOLUTION
    reading = n_params * bytes_per_param / bandwidth
    calculating = 2 * n_tokens * n_params / peak_flops
    return max(reading, calculating)
    ### END SOLUTION


# %% [markdown] hints="forward_time"
# 1. Two jobs run at the same time. When is the pass over?
# 2. The bytes are `n_params * bytes_per_param`, and the number of tokens doesn't matter.
# 3. Compute the bytes over `bandwidth` and `2 * n_tokens * n_params` over `peak_flops`, and return
#    the larger of the two with `max`.

# %% [markdown]
# The next cell measures your machine's two limits, with a large copy and a large matrix product.

# %% tags=["demo"]
print("Measuring. This takes some seconds.")
from specdec_lib.measure.limits import machine_limits, weights_and_bytes

limits, (n_weights, size) = machine_limits(), weights_and_bytes(target)
print(f"{limits['bandwidth'] / 1e9:.1f} GB/s, {limits['peak_flops'] / 1e9:.0f} GFLOP/s")
print(f"a pass reads {n_weights / 1e6:.0f} million weights of {size} bytes: all but the embedding,")
print("the table of token vectors, of which it looks up a few rows")
figures.predicted_and_measured(forward_time, seconds, n_weights, size, limits)

# %% test="forward_time" points=4
lesson.check_forward_time(forward_time)

# %% [markdown]
# Two numbers get the shape of the curve right and its height too low: the title says by how much.
#
# <details><summary>Why the points lie above the line</summary>
#
# The line is a lower bound. It ignores attention, the cost of starting each operation, unpacking
# stored weights, and other programs. It also assumes that reading and calculating overlap perfectly.
# They never do.
#
# </details>
#
# ## Find it yourself: how many tokens are free
#
# The next cell asks your `forward_time` how many tokens take no longer than one. The first line is
# the smallest example. Each of the next four changes one number.

# %% tags=["demo", "shown"]
figures.count_free(
    forward_time,
    # parameters, bytes of each, bytes/s, FLOP/s
    (100, 1, 100, 1000),
    (200, 1, 100, 1000),
    (100, 2, 100, 1000),
    (100, 1, 200, 1000),
    (100, 1, 100, 2000),
    (100, 1, 100, 1300),  # change this line as you like, to numbers above 0
)

# %% [markdown]
# Which of the four numbers raise the count, which lower it, and which one does nothing?
# Write down a formula for all six counts, and try it on a line of your own.
#
# ### Exercise: free_tokens
#
# **Task.** Return the largest number of tokens whose pass takes no longer than a pass over one
# token. Tokens that take exactly as long are free.
#
# **Arguments.** `bytes_per_param` may be 0.5 (weights of 4 bits). The answer is an `int` of at
# least 1, even if a single token is already compute-bound.
#
# **Example.** An A100 (2.039 TB/s, 312 TFLOP/s) in bfloat16: 153 tokens.


# %% solution="free_tokens"
def free_tokens(bytes_per_param: float, bandwidth: float, peak_flops: float) -> int:
    """The most tokens whose pass takes no longer than one token's; at least 1."""
    ### BEGIN SOLUTION
    return max(1, int(bytes_per_param * peak_flops / (2 * bandwidth)))
    ### END SOLUTION


# %% [markdown] hints="free_tokens"
# 1. Look at the table that you made: which numbers multiply the count, which divide it?
# 2. Find the n where `b W / R` equals `2 n W / F`. One more token takes longer, so round down.
# 3. Return the larger of 1 and `int(bytes_per_param * peak_flops / (2 * bandwidth))`.

# %% tags=["demo"]
figures.free_on_the_line(free_tokens, forward_time, MACHINES, 8e9, 2)

# %% test="free_tokens" points=3
lesson.check_free_tokens(free_tokens)

# %% [markdown]
# Your marks should sit at the kinks, where both jobs take the same time:
#
# $$ \frac{b W}{R} = \frac{2 n W}{F} \quad\Rightarrow\quad n = \frac{b F}{2 R} $$
#
# `W` drops out: a small model has as many free tokens as a large one. From the H100 to the B200 both
# limits more than doubled, so the count hardly moved. Still, nobody drafts 281 tokens. Checking may
# be free, but drafting never is.
#
# ## Simulator: sequential against parallel
#
# **Commit first**, on paper. If you raise the bandwidth of this H100 tenfold, are more tokens free? Below which
# peak are eight tokens no longer free?
#
# The lower chart plots the FLOP/s of a pass against its **arithmetic intensity**, its FLOP divided by its bytes.
# Where is the kink? With two-byte weights, that is also the number of free tokens.
#
# <details><summary>Answers</summary>
#
# Ten times the bandwidth leaves a tenth of the free tokens, 29: reading is over sooner. Eight tokens are free
# while `b F / (2 R)` is at least 8, so down to a peak of 26.8 TFLOP/s. The kink is at `F / R`, about 295 FLOP per
# byte. A pass over `n` tokens does `2 n W / (b W)` FLOP per byte, and this is `n` if `b` is 2.
#
# </details>

# %% tags=["demo", "shown"]
from specdec_lib.lessons.widgets import bottleneck_simulator

bottleneck_simulator(*MACHINES["H100"][:2], n_params=8e9, bytes_per_param=2, tokens=8)

# %% [markdown]
# ## The riddle, solved
#
# The right side of the race did more arithmetic, but reading the weights is what took the time, and it read them
# half as often. Where few tokens are free, a pass over four costs much more than one, and the right side can
# lose.
#
# **Your decoder so far:** none yet, but you know what every one of its passes will cost.
#
# ## Quiz
#
# **Question 1.** A GPU checks five draft tokens of one text in about the time of writing one. Why?
#
# - a: because a draft token needs less arithmetic than a token that is written
# - b: because the GPU has many arithmetic units, and a pass over one token uses a fifth of them
# - c: because the weights are read once for all five, and reading them is what takes the time
# - d: because four of the five results are left from the passes before

# %% solution="quiz_00"
### BEGIN SOLUTION
quiz_00 = "c"
### END SOLUTION

# %% test="quiz_00" points=1
lesson.answered("quiz_00", quiz_00)

# %% [markdown]
# ### In your own words
#
# You want a model to write faster for one user. Of two GPUs for sale, one has twice the FLOP/s of yours, the
# other twice the bandwidth. What does each do to the time per token, and to the number of free tokens? Which one
# would you buy? And which one if every pass has a thousand tokens? Write three to five sentences. This answer is
# marked by hand.

# %% [markdown] written="why_bandwidth" points=2
# For one user a pass is memory-bound, so its time is bytes over bandwidth. Twice the FLOP/s leaves this time as
# it is and doubles the free tokens. Twice the bandwidth halves the time, and halves the free tokens too. I would
# buy the bandwidth: even half of an A100's 153 is more than one user drafts. A pass over a thousand tokens has
# more than are free, so it is compute-bound, and then the FLOP/s count.

# %% [markdown]
# ## What you may read elsewhere
#
# What does each sentence leave out?
#
# **You might read: "A pass over one token takes about as much time as a pass over K tokens."**
#
# <details><summary>Answer</summary>
#
# It's true up to the kink, and the kink depends on the machine. *For example:* on an H100 a pass over 600 tokens
# takes 2.03 times as long as a pass over one. Your own stopwatch has measured it for eight.
#
# </details>
#
# **You might read: "A GPU loads the weights of a model of 175 billion parameters in 10 ms."**
#
# <details><summary>Answer</summary>
#
# Divide the bytes by the bandwidth. *For example:* in bfloat16 these weights are 350 GB, more than four H100s
# hold, and `forward_time(1, 175e9, 2, 3.35e12, 989.5e12)` is 0.104 s. To read them in 10 ms takes eleven H100s.
# (The memory's *bandwidth* sets this time, not its latency, the wait for the first byte.)
#
# </details>
#
# **This is a good place to stop.** Chapter 01 needs no more.

# %% [markdown]
# ## Second sitting (optional, 15 minutes): a server and its cache
#
# Only chapter 06 comes back to this part; its points count all the same.
#
# A pass over a new token also needs the text before it. In each layer of the model, attention compares the token
# with the **key** of every earlier one. The better a key fits, the more of that token's **value** is mixed into
# the result. Both are vectors that never change, so the model keeps them in the **KV cache**. Every pass reads
# it.
#
# ### Commit first
#
# Llama 3.1 8B has 16 GB of weights in bfloat16. After how many tokens of one user's text is the cache as large as
# the weights? Write a number from 1 to 100,000,000.

# %% solution="prediction_00_b"
### BEGIN SOLUTION
prediction_00_b = 100_000
### END SOLUTION

# %% test="prediction_00_b" points=1
lesson.committed("prediction_00_b", prediction_00_b, 1, 100_000_000)

# %% tags=["demo"]
lesson.reveal("prediction_00_b", prediction_00_b)

# %% [markdown]
# <details><summary>Where these bytes come from</summary>
#
# The model has 32 layers. In each of them attention runs 32 times side by side (32 **heads**), and four heads
# share one key and one value. So each layer keeps 8 keys and 8 values of 128 numbers, two bytes each:
# `32 x (8 + 8) x 128 x 2 = 131,072` bytes per token.
#
# </details>
#
# A single user barely reaches that: the model reads at most 131,072 tokens (by chance the same number). But a
# server writes for many users at once. Each user's text is a **row** of the **batch**. All rows share one reading
# of the weights, but each has its own cache. 64 users with 2,000 tokens each fill as much memory as the weights.
#
# ## The time of a pass on a server
#
# In the smallest example (100 weights of one byte, 100 bytes/s, 1,000 FLOP/s), five users now write at once. Each
# has 10 tokens of text, and the cache keeps 2 bytes per token. A pass reads 100 bytes of weights and
# `5 x 10 x 2 = 100` bytes of caches, in 2 s. One new token for each user takes 1 s of arithmetic. So each user
# can check a second token at no cost.
#
# ### Exercise: pass_time
#
# **Task.** Return the seconds that a pass takes, like `forward_time`, but for a batch: the pass reads the weights
# once and every row's cache once, and calculates for the new tokens of all rows.
#
# **Arguments.** `n_tokens` counts the new tokens of *each* row, `batch` the rows, and `context` the tokens in
# each row's cache before the pass (0 or more), of `kv_bytes_per_token` each. The answer is a float.
#
# **Example.** `pass_time(1, 5, 10, 100, 1, 2, 100, 1000)` is the example above: 2.0.


# %% solution="pass_time"
def pass_time(
    n_tokens: int,
    batch: int,
    context: int,
    n_params: float,
    bytes_per_param: float,
    kv_bytes_per_token: float,
    bandwidth: float,
    peak_flops: float,
) -> float:
    """Seconds of a pass over `n_tokens` new tokens in each of `batch` rows, by the roofline."""
    ### BEGIN SOLUTION
    caches = batch * context * kv_bytes_per_token
    reading = (n_params * bytes_per_param + caches) / bandwidth
    calculating = 2 * n_tokens * batch * n_params / peak_flops
    return max(reading, calculating)
    ### END SOLUTION


# %% [markdown] hints="pass_time"
# 1. It is `forward_time` with one more thing to read, and more tokens. Which bytes are new?
# 2. The weights are read once for all rows, and each row's cache once for all its new tokens.
# 3. Read `n_params * bytes_per_param + batch * context * kv_bytes_per_token` bytes, calculate
#    `2 * n_tokens * batch * n_params` FLOP, and return the larger of the two times.

# %% [markdown]
# Your function leaves out attention's arithmetic. In a long text it counts, so the map adds it: 524,288 FLOP of a
# new token for each token of its text.
#
# <details><summary>Where these FLOP come from</summary>
#
# In 32 layers of 32 heads, a new token takes 2 FLOP with each of the 128 numbers of a key, and 2 with each of a
# value: `32 x 32 x 128 x (2 + 2) = 524,288`.
#
# </details>

# %% tags=["demo"]
batches, texts = (1, 8, 32, 64, 128, 256, 512), (0, 500, 1000, 2000, 4000, 8000)
figures.free_map(pass_time, MACHINES["H100"], LLAMA, batches, texts)

# %% test="pass_time" points=3
lesson.check_pass_time(pass_time)

# %% [markdown]
# In the left column no user has any text, and all rows share the 295 free tokens: 256 users leave nothing for a
# draft. To the right each row's cache counts. A byte of it takes four times the arithmetic of a byte of weights,
# since four heads use each key. So the longer the texts, the nearer every line of the map comes to `295 / 4`,
# about 74 free tokens: one user from above (295 falls to 249), 512 from below (1 rises to 15*, which no single
# GPU can hold). So drafting can pay at a large batch of long texts (MagicDec).

# %% [markdown]
# **Question 2.** A server writes for 128 users with Llama 3.1 8B on an H100 in bfloat16. Each has 1,000 tokens of text in the
# cache. So far each user gets one token per pass. Now a pass checks 4 tokens for each user. What happens to the
# time of a pass? Compute it.
#
# - a: it stays the same, because 4 is far below the 295 free tokens
# - b: it grows to about 1.7 times, because 512 tokens are checked and 295 are free
# - c: it grows to 4 times, because the arithmetic does
# - d: it stays the same, because reading weights and caches takes longer than the arithmetic

# %% solution="quiz_00_b"
### BEGIN SOLUTION
quiz_00_b = "d"
### END SOLUTION

# %% test="quiz_00_b" points=1
lesson.answered("quiz_00_b", quiz_00_b)

# %% [markdown]
# **You might read: "At a large batch the GPU is compute-bound, so drafting cannot pay there."**
#
# <details><summary>Answer</summary>
#
# This is true for short texts only. *For example:* Llama 3.1 8B on an H100, 64 rows that check 6 tokens each.
# Without text the pass takes 1.30 times as long as a pass over one token each. With 1,000 tokens of text, it
# takes no longer.
#
# </details>
#
# ## Sources
#
# - **Who found it.** M. Stern, N. Shazeer, J. Uszkoreit, *Blockwise Parallel Decoding for Deep Autoregressive
#   Models*, NeurIPS 2018, [arXiv 1811.03115](https://arxiv.org/abs/1811.03115): extra heads propose, and the
#   model checks in one pass. H. Xia and five colleagues, *Speculative Decoding*, [arXiv
#   2203.16487](https://arxiv.org/abs/2203.16487) (2022; Findings of EMNLP 2023): a draft model of its own, for
#   translation. The next two, independently of each other: any draft model, and exactly the target's
#   distribution.
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023,
#   [arXiv 2211.17192](https://arxiv.org/abs/2211.17192).
# - C. Chen and five colleagues at DeepMind, *Accelerating Large Language Model Decoding with Speculative
#   Sampling*, 2023, [arXiv 2302.01318](https://arxiv.org/abs/2302.01318).
# - SmolLM2-135M's passes: medians on two cores of an AMD EPYC, weights in float16, 28 November 2026;
#   `specdec_lib/lessons/ch00/passes.toml` has the command.
# - S. Williams, A. Waterman, D. Patterson, *Roofline*, Communications of the ACM 52(4), 2009.
# - J. Kaplan et al., *Scaling Laws for Neural Language Models*, [arXiv
#   2001.08361](https://arxiv.org/abs/2001.08361), section 2.1.
# - R. Sadhukhan et al., *MagicDec*, [arXiv 2408.11049](https://arxiv.org/abs/2408.11049): speed-ups at batches of
#   32 to 256 with long texts. Its drafts read a part of the cache only; the map above ignores what a draft costs.
# - A. Karpathy, post on X, August 2023: the sentence on K tokens above, but he adds "for larger K than you might
#   think", which is fair.
# - Llama 3.1 8B ([arXiv 2407.21783](https://arxiv.org/abs/2407.21783)): config.json. 8.03 billion parameters,
#   rounded here.
# - Data sheets, all peaks. NVIDIA A100 80GB SXM: 2,039 GB/s, 312 TFLOP/s in bfloat16. H100 SXM: 3.35
#   TB/s, 1,979 TFLOP/s with sparsity, half of it without. B200 on an HGX board (*Blackwell Architecture Technical
#   Brief*, 2024): 8 TB/s, 4,500 TFLOP/s with sparsity; its driver reports 7.67 TB/s ([torchao
#   4002](https://github.com/pytorch/ao/pull/4002), March 2026), which makes 293 tokens free. Google Cloud, *TPU
#   v4*: 1,200 GB/s, 275 TFLOP/s.
#
# **Next.** Chapter 01 lets a small model propose tokens and the large one check them in one pass.
