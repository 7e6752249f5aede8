# %% [markdown]
# # 00 Why generation is slow
#
# 55 minutes · difficulty 2 of 5 · you need: Python, NumPy and what a probability is
#
# - **Intuition**: a translator and her cellar, in "What a pass has to do".
# - **Mathematics**: the roofline. A pass takes the longer of two times.
# - **Code**: a stopwatch for passes, and three functions that predict what it shows.
# - **Demo**: a race in the first cell.
#
# **You come with** Python. **You build** a stopwatch for a model, and a forecast of its times.
# **You leave with** the reason why checking several tokens takes hardly longer than writing one.

# %% [markdown]
# ## A race, before anything is explained
#
# A language model reads a text that is cut into **tokens**: words or parts of words. It gives a
# **distribution**: for every token, the probability that this token comes next.
#
# In this race, one large model writes the same piece of Python code twice. The large model is the
# **target**, since its text is the one that counts. On the left it writes alone. On the right a
# small model, the **draft**, proposes three tokens at a time, and the target checks them. Both
# sides always take the token that the target finds most probable, which is called **temperature**
# 0.
#
# The line above the race says "at the cost of 234M parameters". **Parameters** are the numbers that
# training has set, and this target has 8 million. For the race it was padded: it became wider and
# deeper without changing a single output, so it does the work of a model with 234 million.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

# About 20 s: loading, then both sides in turn
show_race(race("00", {"speculative decoding": drafting("large", k=3)}))

# %% [markdown]
# ## The riddle
#
# On most machines the right side is done first, although it ran a second model as well. And the
# target did not have less to do on that side. It ran about half as often, but every time over four
# tokens: the last one of the text, and three proposals. Together that's about twice the arithmetic
# of the left side. **How can more work take less time?**
#
# If the right side lost on your machine, the same answer will tell you why. This way of writing is
# called **speculative decoding**. The next chapters explain what happens to the proposals, and this
# one solves the riddle.

# %% [markdown]
# ## Token 5 needs tokens 1 to 4
#
# One run through a model is called a **pass**. A pass takes tokens and gives, after each of them,
# the distribution of the next token. The first pass of an answer reads the whole prompt and is
# called the **prefill**. From then on, each pass takes the token that the pass before it gave.
#
# So the pass that gives token 5 waits for token 4, and the pass that gives token 4 waits for token
# 3. More hardware can shorten each pass, but it can't run two of these passes at once. Generation
# of this kind is called **autoregressive**.

# %%
import numpy as np

from specdec_lib.lessons.ch00 import checks as lesson
from specdec_lib.lessons.ch00.checks import LLAMA, MACHINES

# %% tags=["demo"]
from specdec_lib.lessons.ch00 import figures

figures.serial_and_parallel(tokens=5)

# %% [markdown]
# Say a pass of a model with 70 billion parameters takes 50 ms. Then an answer of 100 tokens takes
# `100 x 50 ms = 5 s`. The last column of the figure shows a way out. If a text *is there already*,
# one pass takes all of its tokens, as in a prefill, and gives the distribution after each of them.
#
# > **Generation is serial, scoring is parallel.** Writing `n` tokens takes `n` passes that wait for
# > each other. Checking `n` proposed tokens takes one pass.
#
# One pass for five tokens sounds like a bargain. It depends on what that pass costs.
#
# ### Commit first
#
# Take the target of the race on your machine, and let a pass over one token take 1 unit of time.
# How long does a pass over **eight** tokens take? Write a number from 1 to 8.

# %% solution="prediction_00"
### BEGIN SOLUTION
prediction_00 = 2.0
### END SOLUTION

# %% test="prediction_00" points=1
lesson.committed("prediction_00", prediction_00, 1, 8)

# %% [markdown]
# ## Time a pass yourself
#
# You'll answer with a stopwatch, and you'll write it. Timing a program has two traps. The first
# calls are slow, because code and memory aren't ready yet. And now and then another program barges
# in, so one call takes far too long.

# %% [markdown]
# ### Exercise: time_pass
#
# **Task.** The time of one pass in seconds: the median of `repeats` calls of `forward(n_tokens)`.
# Before them, make `warmup` calls that don't count.
#
# **Arguments.** `forward` is a function that runs a pass over as many tokens as its argument says.
# `clock()` returns the present time in seconds: read it right before and right after each counted
# call. `warmup` is at least 0, and `repeats` at least 1. A float comes back.
#
# **Example.** Without a warm-up, three calls take 2, 9 and 3 s. The answer is 3.0.
#
# **The tests also check.** There are exactly `warmup + repeats` calls. If `repeats` is even, the
# median is the mean of the two times in the middle. The clock is an argument, so that a test can
# bring its own.


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
# 2. Nothing. The second loop reads the clock, calls forward, reads the clock again and keeps the
#    difference in a list.
# 3. Both loops call `forward(n_tokens)`. At the end, return `float(np.median(seconds))`.

# %% [markdown]
# The next cell makes a `forward` from the target of the race. Each pass comes after 128 tokens of
# text, as in the middle of an answer. Then your function times passes of several widths, on half of
# your cores.

# %% tags=["demo", "shown"]
import torch

from specdec_lib.device import leave_cores
from specdec_lib.measure.core import models
from specdec_lib.measure.core.costs import pass_tasks

leave_cores()
target = models.target("234m", torch.float32)
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
# One line is the price of writing: `n` passes over one token. The other is the price of checking:
# one pass over `n` tokens. Everything that this course wins lies between these two lines.
#
# In the race a pass went over four tokens, and your own clock says that it does not take four times
# as long. The arithmetic did grow to four times. So what takes the time?

# %% [markdown]
# ## What a pass has to do: bytes and FLOP
#
# Think of a translator whose dictionaries stand in the cellar. For each word she carries all of
# them up, looks one word up, and carries them down again. If an assistant hands her five proposed
# words, she checks all five on one trip. She isn't slow at looking up. The stairs are slow.
#
# The dictionaries are the model's **weights**, which are its parameters as they lie in memory. The
# arithmetic units sit elsewhere. Every pass does two jobs:
#
# - **read**: each weight travels from memory to the arithmetic units, *once a pass*;
# - **calculate**: each weight is multiplied by a number and the product is added to a sum, *for
#   every token*. These are 2 floating-point operations (**FLOP**).
#
# Both jobs run at the same time: while one weight is multiplied, the next one is on its way.
#
# ## The smallest example
#
# A model has 100 weights of one byte each. A machine reads 100 bytes a second and does 1,000 FLOP a
# second.
#
# | tokens in the pass | reading | calculating | the pass takes |
# | --- | --- | --- | --- |
# | 1 | 100 bytes: 1 s | 200 FLOP: 0.2 s | 1 s |
# | 5 | 100 bytes: 1 s | 1,000 FLOP: 1 s | 1 s |
# | 6 | 100 bytes: 1 s | 1,200 FLOP: 1.2 s | 1.2 s |
#
# A pass over five tokens takes no longer than a pass over one: five tokens are **free**. The sixth
# isn't. Writing five tokens takes 5 s, and checking them takes 1 s.
#
# ## The roofline
#
# How busy are the arithmetic units? Divide the FLOP of a pass by the bytes that it reads, and you
# get its **arithmetic intensity**. In the small example one token has `200 / 100 = 2` FLOP per
# byte, and five tokens have 10. The figure shows passes on an H100, a large GPU by NVIDIA. The
# weights are in **bfloat16**, a format of 16 bits or two bytes.

# %% tags=["demo"]
figures.roofline(MACHINES["H100"], bytes_per_param=2)

# %% [markdown]
# This figure is called a **roofline** (Williams et al.). Under the slope the arithmetic units wait
# for weights, and the pass is **memory-bound**. Under the flat roof memory waits for arithmetic,
# and the pass is **compute-bound**. A pass over one token uses 0.3% of the arithmetic that somebody
# has paid for.
#
# In letters: a model has `N` parameters of `b` bytes. A machine has a **bandwidth** of `B` bytes a
# second from memory, and a **peak** of `F` FLOP a second. A pass over `n` tokens takes as long as
# the longer of its two jobs:
#
# $$ t(n) = \max\left( \frac{b N}{B},\; \frac{2 n N}{F} \right) $$
#
# The count of 2 FLOP is that of Kaplan et al. It leaves out **attention**, the arithmetic by which
# a token looks back at the text before it.

# %% [markdown]
# ### Exercise: forward_time
#
# **Task.** The seconds of one pass by the roofline.
#
# **Arguments.** Five numbers: `bandwidth` is in bytes/s, `peak_flops` in FLOP/s. A float comes
# back.
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
# 2. The bytes are `n_params * bytes_per_param`, and the tokens do not appear in them.
# 3. Compute the bytes over bandwidth and `2 * n_tokens * n_params` over peak_flops, and return
#    the larger of the two with max.

# %% [markdown]
# The next cell measures both limits of your machine: the bytes a second of a large copy, and the
# FLOP a second of a large matrix product. From these two numbers your function predicts the race's
# target.

# %% tags=["demo"]
from specdec_lib.measure.core.limits import machine_limits, weights_read

limits, (n_weights, size) = machine_limits(), weights_read(target)
print(f"{limits['bandwidth'] / 1e9:.1f} GB/s, {limits['peak_flops'] / 1e9:.0f} GFLOP/s")
print(f"the target reads {n_weights / 1e6:.0f} million weights of {size} bytes in a pass")
figures.predicted_and_measured(forward_time, seconds, n_weights, size, limits)

# %% test="forward_time" points=4
lesson.check_forward_time(forward_time)

# %% [markdown]
# A formula with two numbers in it, and there lies a real model. Look for three things:
#
# - **A flat part, then a slope.** Where does the line leave the flat part? About so many tokens are
#   free: a few on a laptop, and 295 on an H100.
# - **Points above the line.** The line is a bound. It leaves out attention, the start of every
#   operation, and the unpacking of weights that are stored in 16 bits. It also assumes that reading
#   and calculating overlap perfectly. No program does that, and it shows most near the kink, where
#   both take equally long.
# - **Points below the line.** A copy also writes, and a pass only reads. On some machines reading
#   is faster than the copy that was measured.
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
    (100, 1, 100, 1300),  # change this line as you like
)

# %% [markdown]
# Which of the four numbers raise the count, which lower it, and which one does nothing at all?
# Write down a formula that gives all six counts. Then try it on numbers of your own in the last
# line.

# %% [markdown]
# ### Exercise: free_tokens
#
# **Task.** The largest number of tokens whose pass takes no longer than a pass over one token. If a
# number of tokens takes exactly as long as one, it's free.
#
# **Arguments.** Three numbers; `bytes_per_param` may be 0.5 (weights of 4 bits). An `int` of at
# least 1 comes back, also if one token is compute-bound already.
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
# 2. Find n where b N / B equals 2 n N / F. One token more takes longer, so round down.
# 3. Return the larger of 1 and `int(bytes_per_param * peak_flops / (2 * bandwidth))`.

# %% tags=["demo"]
figures.free_on_the_line(free_tokens, forward_time, MACHINES, 8e9, 2)

# %% test="free_tokens" points=3
lesson.check_free_tokens(free_tokens)

# %% [markdown]
# The figure shows two GPUs by NVIDIA and a chip by Google. On each line your mark should stand in
# the kink, where both jobs take the same time:
#
# $$ \frac{b N}{B} = \frac{2 n N}{F} \quad\Rightarrow\quad n = \frac{b F}{2 B} $$
#
# `N` drops out: on a given machine as many tokens are free for a small model as for a large one.
# Weights of 4 bits are read four times as fast as weights of 16 bits. So only a quarter of the
# tokens are free, if the arithmetic still runs at the bfloat16 rate.
#
# Does a real program then draft 153 tokens on an A100? No: the library `transformers` (version
# 5.23.0) drafts 20 at most by default. Checking may be free, but drafting never is. Chapter 04
# finds the balance.
#
# ## Simulator: sequential against parallel
#
# Commit first, on paper. Eight tokens are free on this H100. If you raise its bandwidth tenfold,
# are more tokens free, or fewer? And at which arithmetic peak are eight tokens no longer free? Then
# move the sliders. The upper picture shows what is busy when, for writing and for checking, and the
# lower one is the roofline.

# %% tags=["demo", "shown"]
from specdec_lib.lessons.widgets.bottleneck import bottleneck_simulator

bottleneck_simulator(**MACHINES["H100"].limits, n_params=8e9, bytes_per_param=2, tokens=8)


# %% [markdown]
# ## The other thing that is read: the cache
#
# How does a pass over one new token know the text before it? A model works in layers. In each
# layer, attention compares a vector of the new token with a vector of every earlier token, the
# earlier token's **key**. The better a key fits, the more of that token's **value**, a second
# vector, is mixed into the result. No later token changes a key or a value. So the model computes
# them once and stores them in the **KV cache**, and every pass reads this cache.
#
# ### Commit first
#
# Llama 3.1 8B is a model with 16 GB of weights in bfloat16. One user writes with it, and the cache
# grows with the text. After how many tokens of text is the cache as large as the weights? Write a
# number from 1 to 100,000,000.

# %% solution="prediction_00_b"
### BEGIN SOLUTION
prediction_00_b = 100_000
### END SOLUTION

# %% test="prediction_00_b" points=1
lesson.committed("prediction_00_b", prediction_00_b, 1, 100_000_000)

# %% tags=["demo"]
lesson.reveal("prediction_00_b", prediction_00_b)

# %% [markdown]
# The model has 32 layers, and in each layer 8 **key-value heads** keep a key and a value of 128
# numbers. A token of text costs `2 x 32 x 8 x 128` numbers of two bytes, 131,072 bytes in all. (The
# attention has 32 heads, and four of them share one key-value head. Older models kept 32, and their
# caches were four times as large.)
#
# One user hardly ever gets there, since the model reads texts of up to 131,072 tokens. But a server
# writes for many users at once. Each user's text is a **row** of the **batch**. All rows share one
# reading of the weights, and each row has its own cache. With 64 users, 2,000 tokens of text each
# are enough.
#
# ## The time of a pass on a server
#
# Back to the smallest example: 100 weights of one byte, 100 bytes/s, 1,000 FLOP/s. Now five users
# write at once. Each has 10 tokens of text, and the cache keeps 2 bytes a token.
#
# - The pass reads 100 bytes of weights and `5 x 10 x 2 = 100` bytes of caches. Reading takes 2 s.
# - One new token for each user makes 5 tokens, 1,000 FLOP. Calculating takes 1 s.
#
# So each user may check a second token at no cost: 2,000 FLOP also take 2 s.

# %% [markdown]
# ### Exercise: pass_time
#
# **Task.** As `forward_time`, for a whole batch: the pass reads the weights once and every row's
# cache once, and calculates for the new tokens of all rows.
#
# **Arguments.** `n_tokens` counts the new tokens of *each* row, `batch` the rows, and `context` the
# tokens in each row's cache (0 or more). A float comes back, in seconds.
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
# 1. It is forward_time with one thing more to read and more tokens. Which bytes are new?
# 2. The weights are read once for all rows, and each row's cache once for all its new tokens.
# 3. Read `n_params * bytes_per_param + batch * context * kv_bytes_per_token` bytes, calculate `2
#    * n_tokens * batch * n_params` FLOP, and return the larger of the two times.

# %% tags=["demo"]
figures.free_map(
    pass_time,
    MACHINES["H100"],
    LLAMA,
    batches=(1, 8, 32, 64, 128, 256, 512),
    contexts=(0, 500, 1000, 2000, 4000, 8000),
)

# %% test="pass_time" points=3
lesson.check_pass_time(pass_time)

# %% [markdown]
# Down the left column the users have no text, and all rows share the 295 free tokens. With 256 rows
# nothing is left for a draft. To the right every row gains the same number of free tokens, and two
# lines of algebra say how many. Let `R` rows with `T` tokens of text read `k` bytes of cache a
# token, and ask for the `n` at which both jobs take equally long:
#
# $$ \frac{b N + R\,T\,k}{B} = \frac{2\,n\,R\,N}{F} \quad\Rightarrow\quad
# n = \frac{b F}{2 B} \cdot \frac{1}{R} + \frac{k F}{2 N B} \cdot T $$
#
# The first part is shared by the rows. The second has no `R` in it: 1,000 tokens of text make 2.4
# more tokens free in *each* row. So drafting can pay at a large batch if the texts are long.
# Sadhukhan et al. (MagicDec) report such speed-ups at batches of 32 to 256.
#
# The map is a little too kind on its right side. Attention's own arithmetic is missing in it, and
# that adds 3% to the FLOP of a token for every 1,000 tokens of text: a quarter at 8,000.

# %% [markdown]
# ## The riddle, solved
#
# The right side of the race did more arithmetic, and arithmetic was not what took the time. Reading
# the weights was, and the right side read them half as often. Where a pass over four tokens costs
# much more than one, because few tokens are free, the trick loses.
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
# - d: because the KV cache holds four of the five results already

# %% solution="quiz_00"
### BEGIN SOLUTION
quiz_00 = "c"
### END SOLUTION

# %% test="quiz_00" points=1
lesson.answered("quiz_00", quiz_00)

# %% [markdown]
# **Question 2.** A server writes for 128 users at once with Llama 3.1 8B on an H100 in bfloat16.
# Each user has 1,000 tokens of text in the cache. So far a pass gives each user one token. Now a
# pass checks 4 tokens for each user. What happens to the time of a pass? You may use your
# functions.
#
# - a: it stays, because 4 is far below the 295 free tokens
# - b: it grows to about 1.7 times, because 512 tokens are checked and 295 are free
# - c: it grows to 4 times, because the arithmetic does
# - d: it stays, because reading weights and caches takes longer than the arithmetic of 512 tokens

# %% solution="quiz_00_b"
### BEGIN SOLUTION
quiz_00_b = "d"
### END SOLUTION

# %% test="quiz_00_b" points=1
lesson.answered("quiz_00_b", quiz_00_b)

# %% [markdown]
# ### In your own words
#
# A model should write faster for one user with a short text. One GPU for sale has twice the FLOP/s
# of the old one and the same bandwidth. Another has the same FLOP/s and twice the bandwidth. What
# does each do to the time of a token, and to the number of free tokens? Which one would you buy?
# Would you choose the same for a server with hundreds of users and short texts? Write three to five
# sentences. A person marks this answer.

# %% [markdown] written="why_bandwidth" points=2
# For one user a pass is memory-bound, so its time is bytes over bandwidth. Twice the FLOP/s leaves
# this time as it is and doubles the free tokens. Twice the bandwidth halves the time, and halves
# the free tokens too. I would buy the bandwidth: even half of 153 is more than one user drafts.
# With hundreds of users and short texts a pass has more tokens than are free, so it is
# compute-bound, and the FLOP/s count.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence, or what does it leave out? Decide first, then open the answer.
#
# **You might read: "Running a language model on one token takes about as much time as running it on
# a batch of K tokens."**
#
# <details><summary>Answer</summary>
#
# It's true up to the kink, and the kink depends on the machine. *Look:* on an H100 a pass over 600
# tokens takes 2.03 times as long as a pass over one. And your own stopwatch has shown how long
# eight tokens take on your machine.
#
# </details>
#
# **You might read: "At a large batch the GPU is compute-bound, so drafting cannot pay there."**
#
# <details><summary>Answer</summary>
#
# This is true for short texts only. *Look:* Llama 3.1 8B on an H100, 64 rows that check 6 tokens
# each. Without text the pass takes 1.30 times as long as a pass over one token each. With 1,000
# tokens of text, it takes no longer.
#
# </details>

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## Sources
#
# - **Who found it.** M. Stern, N. Shazeer, J. Uszkoreit, *Blockwise Parallel Decoding for Deep
#   Autoregressive Models*, NeurIPS 2018, arXiv 1811.03115: extra heads propose, and the model
#   checks in one pass. H. Xia and five colleagues, arXiv 2203.16487 (2022), now *Speculative
#   Decoding: Exploiting Speculative Execution for Accelerating Seq2seq Generation*, Findings of
#   EMNLP 2023: a draft model of its own, for translation. The next two, independently: any draft,
#   and exactly the target's distribution.
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192. Abstract and introduction: decoding `K` tokens takes `K` serial
#   runs; memory bandwidth and communication often limit large models, not arithmetic.
# - C. Chen, S. Borgeaud, G. Irving, J.-B. Lespiau, L. Sifre, J. Jumper, *Accelerating Large Language
#   Model Decoding with Speculative Sampling*, 2023, arXiv 2302.01318.
# - S. Williams, A. Waterman, D. Patterson, *Roofline*, Communications of the ACM 52(4), 2009: the
#   two limits. It is a bound, not a prediction.
# - J. Kaplan et al., *Scaling Laws for Neural Language Models*, arXiv 2001.08361, section 2.1:
#   about 2 FLOP per parameter and token, attention over the context left out.
# - R. Sadhukhan et al., *MagicDec*, arXiv 2408.11049: speed-ups at batches of 32 to 256 with long
#   texts. Its drafts read a part of the cache only; the map above ignores what a draft costs.
# - A. Karpathy, post on X, August 2023: the first sentence under "What you may read elsewhere",
#   with the addition "for larger K than you might think".
# - Llama 3.1 8B (arXiv 2407.21783): config.json. 8.03 billion parameters, rounded here.
# - transformers 5.23.0, `generation/configuration_utils.py`, line 638: 20 tokens.
# - Data sheets. NVIDIA A100 80GB SXM: 2,039 GB/s, 312 TFLOP/s in bfloat16. NVIDIA H100 SXM: 3.35
#   TB/s, 1,979 TFLOP/s in bfloat16 with sparsity, half of it without. Google Cloud, *TPU v4*: 1,200
#   GB/s, 275 TFLOP/s. These are peaks, which programs do not reach.
#
# **Next.** Chapter 01 lets a small model propose the tokens and the large model check them in one
# pass. Try the idea first: why does it gain nothing if the *large* model drafts?
