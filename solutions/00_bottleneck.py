# %% [markdown]
# # 00 Why generation is slow
#
# 70 minutes · difficulty 2 of 5 · you need: Python, NumPy and what a probability is
#
# - **Intuition**: a translator and her cellar, in "What a pass has to do".
# - **Mathematics**: the roofline. A pass takes the longer of two times.
# - **Code**: five short functions that predict the time of a pass on any machine.
# - **Demo**: a race in the first cell, and real passes in "On your own machine".
#
# **You come with** Python. **You build** a calculator for the time of a model's pass.
# **You leave with** the reason why checking several tokens may take no longer than writing one.

# %% [markdown]
# ## A race, before anything is explained
#
# A language model reads a text that is cut into **tokens**: words or parts of words. It gives a
# **distribution**: for every token, the probability that this token comes next.
#
# Here a large model, the **target**, continues pieces of Python code, twice. On the left it writes
# alone. On the right a small model, the **draft**, proposes tokens, and the target checks them.
# Both sides always take the token that the target finds most probable. This choice is called
# **temperature** 0.
#
# Run the cells from top to bottom. A cell that waits for you, for a guess or for a function, says
# so and stops *Run All Cells*. That is meant: write what it asks for, and go on from there.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

# About 20 s: loading, then both sides by turns, text by text
show_race(race("00", {"speculative decoding": drafting("large", k=3)}, texts=4))

# %% [markdown]
# If the right side needed less time, there is a riddle: the right side ran a second model as well.
# This chapter solves the riddle. If it needed more, then on your machine the draft and the checking
# cost more time than they saved. Every later chapter ends with this race and adds what you built
# there.
#
# ## The course
#
# **Speculative decoding** lets a large model write faster and does not change the distribution of
# its text. The draft model proposes a few tokens, and the target model checks all of them at once.
# Two groups found the method independently: Leviathan, Kalman and Matias (ICML 2023), and Chen and
# five colleagues at DeepMind (2023). No chapter needs a GPU.
#
# | chapter | its question | what it hands on |
# | --- | --- | --- |
# | **00 now** | why is writing slow and checking cheap? | the time of a pass |
# | 01 draft, then verify | how do two models share the work? | blocks of draft tokens, checked |
# | 02 rejection sampling | which draft tokens may stay? | the rule that accepts, the correction |
# | 03 lossless | is the text still the target's? | the proof, and the bugs that break it |
# | 04 choosing the draft | which draft, how many tokens? | acceptance, cost and their balance |
# | 05 results | what was measured? | how to read and to make a fair comparison |
# | 06 simulator | what happens block by block? | speed as an experiment |
# | 07 connections | what else is built on it? | trees, heads, lookup, other vocabularies |
# | 08 full generation | does it work on real models? | your own decoder, measured |
#
# <details><summary>The letters of this course</summary>
#
# | letter | what it is | from chapter |
# | --- | --- | --- |
# | `N` | parameters of a model | 00 |
# | `n` | tokens in a pass | 00 |
# | `b` | bytes of a parameter | 00 |
# | `B`, `F` | a machine's bytes/s from memory, and its FLOP/s | 00 |
# | `K` | draft tokens in a block | 01 |
# | `V` | tokens in the vocabulary | 01 |
# | `p`, `q` | distributions of the target and of the draft | 01 |
# | `r`, `u` | the coin that accepts, the number that draws a token | 02 |
# | `alpha` | acceptance rate | 03 |
# | `c` | time of a draft step over the time of a target pass | 04 |
# | `v(n)` | time of a pass over `n` tokens over the time of a pass over one | 04 |
#
# </details>

# %% [markdown]
# ## Token 5 needs tokens 1 to 4
#
# One run through a model is called a **pass**. A pass takes tokens and gives, after each of them,
# the distribution of the next token. The first pass of an answer reads the whole prompt. This first
# pass is called **prefill**.
#
# Then the model writes token by token. The pass that gives token 5 needs token 4 as its input. So
# this pass waits for the pass that gives token 4, which waits for the pass that gives token 3. A
# second computer could only make each pass shorter. Generation in which each token waits for the
# one before is called **autoregressive**.

# %%
import numpy as np

from specdec_lib.lessons.ch00 import checks as lesson
from specdec_lib.lessons.ch00.checks import KV_BYTES, MACHINES, MODELS

# %% tags=["demo"]
from specdec_lib.lessons.ch00 import figures

figures.serial_and_parallel(tokens=5)

# %% [markdown]
# The size of a model is the number of its **parameters**, the numbers that training has set. Take a
# model of 70 billion parameters that needs 50 ms for a pass. An answer of 100 tokens takes
# `100 x 50 ms = 5 s`. The right half of the figure shows the way out. If a text *is there already*,
# one pass takes all of its tokens, as in a prefill, and gives the distribution after each of them.
# The distribution after token 5 needs tokens 1 to 5 and no later token.
#
# > **Generation is serial, scoring is parallel.** Writing `n` tokens takes `n` passes that wait for
# > each other. Checking `n` proposed tokens takes one pass.
#
# If a pass over 100 tokens took no longer than a pass over one, the answer could be checked in
# 50 ms. Is that so?
#
# ### Commit first
#
# A model of 7 billion parameters runs on an H100, a large GPU. How many times as long does a pass
# over **five** tokens take as a pass over one? Write a number from 1 (no longer) to 5.

# %% solution="prediction_00"
### BEGIN SOLUTION
prediction_00 = 1.0
### END SOLUTION

# %% test="prediction_00" points=1
lesson.committed("prediction_00", prediction_00, 1, 5)

# %% tags=["demo"]
lesson.reveal("prediction_00", prediction_00)

# %% [markdown]
# ## What a pass has to do: bytes and FLOP
#
# Think of a translator whose dictionaries stand in the cellar. For each word she carries all of
# them up, looks one word up, and carries them down again. If an assistant hands her five proposed
# words, she checks all five on one trip. She is not slow at looking up. The stairs are slow.
#
# The dictionaries are the model's **weights**: its parameters, numbers that lie in memory. The
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
# A pass over five tokens takes no longer than a pass over one. We say that five tokens are free.
# The sixth is not. Writing five tokens takes 5 s, and checking them takes 1 s.
#
# ## FLOP for every byte
#
# How busy are the arithmetic units? Divide the FLOP of a pass by the bytes that it reads. This
# number is called the **arithmetic intensity** of the pass. In the small example, one token has
# `200 / 100 = 2` FLOP per byte, and five tokens have 10.

# %% [markdown]
# ### Exercise: arithmetic_intensity
#
# **Task.** FLOP per byte of one pass: two FLOP for each weight and token, and every weight is read
# once. **Arguments.** `n_tokens` is a whole number. `bytes_per_param` may be 0.5 (4-bit weights). The
# function returns a float.
#
# **Example.** One token in bfloat16, two bytes a weight: `2 FLOP / 2 bytes = 1` FLOP per
# byte, for any number of weights.


# %% solution="arithmetic_intensity"
def arithmetic_intensity(n_tokens: int, bytes_per_param: float) -> float:
    """FLOP per byte of one forward pass over `n_tokens` positions."""
    ### BEGIN SOLUTION
    return 2 * n_tokens / bytes_per_param
    ### END SOLUTION


# %% [markdown] hints="arithmetic_intensity"
# 1. Take a model of one parameter. What is calculated with it in the pass, what is read?
# 2. The FLOP grow with the tokens, the bytes do not. The number of parameters cancels.
# 3. Return two times the tokens over the bytes of a parameter, with / and not with //.

# %% tags=["demo"]
figures.roofline(arithmetic_intensity, MACHINES["H100"], bytes_per_param=2)

# %% test="arithmetic_intensity" points=2
lesson.check_arithmetic_intensity(arithmetic_intensity)

# %% [markdown]
# ## The roofline
#
# The figure above is called a **roofline** (Williams et al.). Under the slope, the arithmetic units
# wait for weights: the pass is **memory-bound**. Under the flat roof, memory waits for arithmetic:
# the pass is **compute-bound**.
#
# In letters: a model has `N` parameters of `b` bytes. A machine has a **bandwidth** of `B` bytes a
# second from memory, and a **peak** of `F` FLOP a second. A pass over `n` tokens takes as long as
# the longer of its two jobs:
#
# $$ t(n) = \max\left( \frac{b N}{B},\; \frac{2 n N}{F} \right) $$
#
# The count of 2 FLOP is that of Kaplan et al. It leaves out **attention**, the arithmetic by which a
# token looks back at the text before it.

# %% [markdown]
# ### Exercise: forward_time
#
# **Task.** The seconds of one pass by the roofline. **Arguments.** Five numbers: `bandwidth` is in
# bytes/s, `peak_flops` in FLOP/s. A float comes back, in seconds.
#
# **Example.** 7 billion parameters in bfloat16 on an H100 (3.35 TB/s, 989.5 TFLOP/s), one
# token: reading 14 GB takes 4.18 ms, and 14 GFLOP take 0.014 ms. The answer is `0.00418`.


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

# %% tags=["demo"]
figures.pass_times(forward_time, MACHINES, n_params=7e9, bytes_per_param=2)

# %% test="forward_time" points=3
lesson.check_forward_time(forward_time)

# %% [markdown]
# Each line of the figure is flat up to a kink. On the flat part a further token costs nothing,
# because the arithmetic is done before the last weight arrives. The formula is a bound, and a real
# pass takes longer: Chen et al. report 14.1 ms a token for a model of 70 billion parameters on 16
# TPU v4 chips, where your function says 7.3 ms. For example, the function leaves out the time in
# which the chips talk to each other.
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
# Which of the four numbers raise the count, which lower it, and which does nothing? Write down a
# formula that gives all six counts. Try it on numbers of your own in the last line.

# %% [markdown]
# ### Exercise: free_tokens
#
# **Task.** The largest number of tokens whose pass takes no longer than a pass over one, for a
# given machine and format of the weights. **Arguments.** Three numbers; the function returns an `int`
# of at least 1, also if one token is compute-bound. A number of tokens that takes exactly as long
# as one token is free.
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
figures.free_by_machine(free_tokens, MACHINES, bytes_per_param=(2, 1, 0.5))

# %% test="free_tokens" points=3
lesson.check_free_tokens(free_tokens)

# %% [markdown]
# In letters, both jobs take the same time at the kink:
#
# $$ \frac{b N}{B} = \frac{2 n N}{F} \quad\Rightarrow\quad n = \frac{b F}{2 B} $$
#
# `N` drops out: on a given machine as many tokens are free for a small model as for a large one.
# Weights of 4 bits are read four times as fast as weights of 16 bits, so only a quarter of the
# tokens are free (if the arithmetic runs at the bfloat16 rate).
#
# Does a real program then draft 153 tokens on an A100? No: the library `transformers` (version
# 5.23.0) drafts 20 at most by default. Checking may be free, but drafting is not. Chapter 04 finds
# the balance.
#
# ## On your own machine
#
# The next cell measures the two limits of the computer in front of you: the bytes a second of a
# large copy, and the FLOP a second of a matrix product. It uses your GPU, or half of your cores.

# %% tags=["demo"]
import torch

from specdec_lib.device import leave_cores
from specdec_lib.measure.core.limits import machine_limits

leave_cores()
device = "cuda" if torch.cuda.is_available() else "cpu"
dtypes = {"float32": torch.float32, "bfloat16": torch.bfloat16}
limits = machine_limits(dtypes, device)
for name, rate in limits.items():
    print(f"{name}: {rate / 1e9:.1f} G{'B' if name == 'bandwidth' else 'FLOP'}/s")

# %% [markdown]
# ### Commit first
#
# The course has a built-in target of 8 million parameters. We can pad it until it costs as much as
# a model of 40 million parameters, without changing its outputs. On this machine, in float32, how
# many times as long does a pass of this padded model over **eight** tokens take as a pass over one?
# Write a number from 1 to 8. The two limits above help.

# %% solution="prediction_00_b"
### BEGIN SOLUTION
prediction_00_b = 2.0
### END SOLUTION

# %% test="prediction_00_b" points=1
lesson.committed("prediction_00_b", prediction_00_b, 1, 8)

# %% tags=["demo"]
from specdec_lib.measure.core.limits import pass_seconds, weights_read
from specdec_lib.models.pairs import load_pair

models = {
    (cost or "built-in", name): load_pair(target_cost=cost, device=device, dtype=dtype).target
    for cost in ("40m", None)
    for name, dtype in dtypes.items()
}
seconds = pass_seconds(models, widths=(1, 2, 4, 6, 8, 12, 16, 32, 64))
sizes = {key: weights_read(model) for key, model in models.items()}
times_as_long = lesson.times_as_long(seconds["40m", "float32"], 8)
lesson.reveal("prediction_00_b", prediction_00_b, times_as_long)

# %% tags=["demo"]
figures.measured_passes(forward_time, seconds, sizes, limits)

# %% [markdown]
# The lines are your `forward_time` at the measured limits, and the points are real passes with
# their quartiles. Other programs make a run slower: close them if the quartiles are far apart. Look
# for four things:
#
# - **A flat part, then a slope.** Where does the padded model (40m) leave the flat part? About this
#   many tokens are free: on a laptop perhaps a few, not 153.
# - **Points above the line.** Attention and the start of each operation take time too.
# - **Points below the line.** A small model may fit into the processor's own cache, which is faster
#   than memory.
# - **More tokens sooner than fewer.** Four tokens can finish sooner than one: CPU libraries often
#   use a faster routine for several rows than for one.

# %% [markdown]
# ## The other thing that is read: the cache
#
# How does a pass over one new token know the text before it? A model works in layers. In each
# layer, attention compares a vector of the new token with a vector of every earlier token, the
# earlier token's **key**. The better a key fits, the more of that token's **value**, a second
# vector, is mixed into the result. A token's key and value depend on this token and on the tokens
# before it, and no later token changes them. So the model computes them once and stores them in the
# **KV cache**. Every pass must read this cache.
#
# A server writes for many users at once. Each user's text is a **row** of the **batch**. All rows
# share one reading of the weights. Each row has its own text, and so its own cache.
#
# ### Commit first
#
# Llama 2 7B has 14 GB of weights in bfloat16, and its cache keeps 0.524 MB for every token of a
# text. 64 users have 2,000 tokens of text each. How many times the bytes of the weights are the
# bytes of all caches? Write a number from 0.01 to 100.

# %% solution="prediction_00_c"
### BEGIN SOLUTION
prediction_00_c = 4.8
### END SOLUTION

# %% test="prediction_00_c" points=1
lesson.committed("prediction_00_c", prediction_00_c, 0.01, 100)

# %% tags=["demo"]
lesson.reveal("prediction_00_c", prediction_00_c)

# %% [markdown]
# Where do 0.524 MB come from? Llama 2 7B has 32 layers, and the attention of each layer has 32
# parts, called heads. For every token, each head keeps a key and a value of 128 numbers each, and
# a number has two bytes. In some models several heads share one key and one value. Then only the
# heads that keep their own count. They are called key-value heads.

# %% [markdown]
# ### Exercise: kv_cache_bytes
#
# **Task.** The bytes of the KV cache: the key and the value of every token, in every layer,
# key-value head and row. **Arguments.** Six whole numbers, the last with the default 1. The function
# returns an `int`. No tokens, or no rows, are 0 bytes.
#
# **Example.** Llama 2 70B (80 layers, 8 key-value heads of width 128) in bfloat16, one
# token: 327,680 bytes.


# %% solution="kv_cache_bytes"
def kv_cache_bytes(
    n_tokens: int,
    n_layers: int,
    n_kv_heads: int,
    head_dim: int,
    bytes_per_value: int,
    batch_size: int = 1,
) -> int:
    """Bytes of the keys and values of `n_tokens` tokens in each of `batch_size` rows."""
    ### BEGIN SOLUTION
    values = n_tokens * n_layers * n_kv_heads * head_dim * batch_size
    return 2 * values * bytes_per_value
    ### END SOLUTION


# %% [markdown] hints="kv_cache_bytes"
# 1. Count the numbers that one token leaves behind in one layer first.
# 2. One layer keeps `n_kv_heads * head_dim` numbers as keys, and as many as values.
# 3. Multiply 2 with all six arguments.

# %% tags=["demo"]
figures.cache_beside_weights(kv_cache_bytes, MODELS, batch_size=64)

# %% test="kv_cache_bytes" points=3
lesson.check_kv_cache_bytes(kv_cache_bytes)

# %% [markdown]
# Llama 2 70B is ten times as large as Llama 2 7B and keeps less for a token: in each of its layers,
# 64 heads share 8 keys and values.
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
# **Task.** The seconds of one pass for a whole batch. The pass reads the weights once and the cache
# of every row once. Meanwhile it calculates two FLOP per parameter for every new token of every
# row. The arithmetic of attention is left out.
#
# **Arguments.** Eight numbers; the function returns a float, in seconds. `n_tokens` counts the new
# tokens of *each* row, and `batch` counts the rows. `context` counts the tokens that each row's
# cache holds before the pass; it may be 0. `kv_bytes_per_token` is for one token of one row.
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
    MODELS["Llama 2 7B"],
    KV_BYTES["Llama 2 7B"],
    batches=(1, 8, 32, 64, 128, 256, 512),
    contexts=(0, 500, 1000, 2000, 4000, 8000),
)

# %% test="pass_time" points=4
lesson.check_pass_time(pass_time)

# %% [markdown]
# In the left column of the map there is no text, and the rows share 295 free tokens. With 512 rows
# no token is free for a draft. To the right the numbers grow: every 1,000 tokens of text make 11
# more tokens free in *each* row, for any number of rows. So drafting can pay at a large batch if
# the texts are long. Sadhukhan et al. (MagicDec) report such speed-ups at batches of 32 to 256.
#
# ## Simulator: sequential against parallel
#
# The upper picture shows what is busy when, for writing and for checking. The lower picture is the
# roofline. Say what will happen before you move a slider. At which arithmetic peak is checking 8
# tokens no longer free? Put the peak back and raise the bandwidth tenfold: are more tokens free, or
# fewer?

# %% tags=["demo", "shown"]
from specdec_lib.lessons.widgets.bottleneck import bottleneck_simulator

bottleneck_simulator(**MACHINES["H100"].limits, n_params=7e9, bytes_per_param=2, tokens=8)


# %% [markdown]
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
# **Question 2.** A server writes for 128 users at once with Llama 2 7B on an H100 in bfloat16. Each
# user has 250 tokens of text in the cache. So far a pass gives each user one token. Now a pass
# checks 4 tokens for each user. What happens to the time of a pass? You may use your functions.
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
# What is wrong with each sentence? Decide first, then open the answer.
#
# **You might read: "The weights of a model with 175 billion parameters load in about 10 ms, and
# their product with one token takes about 1 ms."**
#
# <details><summary>Answer</summary>
#
# The two times belong to different machines. *Look:* in bfloat16, one A100 takes 172 ms and 1.1 ms,
# and eighteen of them take 9.5 ms and 0.06 ms. On any number of A100s the first time is 153 times
# the second.
#
# </details>
#
# **You might read: "At a large batch the GPU is compute-bound, so drafting cannot pay there."**
#
# <details><summary>Answer</summary>
#
# This is true for short texts only. *Look:* Llama 2 7B on an H100, 64 rows that check 6 tokens
# each. Without text the pass takes 1.3 times as long as a pass over one token each. With 1,000
# tokens of text, the pass takes no longer.
#
# </details>

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192. Abstract and introduction: decoding `K` tokens takes `K` serial
#   runs; memory bandwidth and communication often limit large models, not arithmetic.
# - C. Chen, S. Borgeaud, G. Irving, J.-B. Lespiau, L. Sifre, J. Jumper, *Accelerating Large Language
#   Model Decoding with Speculative Sampling*, arXiv 2302.01318: the 14.1 ms; two bytes per parameter
#   are our assumption.
# - S. Williams, A. Waterman, D. Patterson, *Roofline*, Communications of the ACM 52(4), 2009: the
#   two limits. It is a bound, not a prediction.
# - J. Kaplan et al., *Scaling Laws for Neural Language Models*, arXiv 2001.08361, section 2.1:
#   about 2 FLOP per parameter and token, attention over the context left out.
# - R. Sadhukhan et al., *MagicDec*, arXiv 2408.11049: speed-ups at batches of 32 to 256 with long
#   texts. Its drafts read a part of the cache only; our map says nothing of what a draft costs.
# - T. Brown et al., *Language Models are Few-Shot Learners*, arXiv 2005.14165, Table 2.1: 175B
#   parameters, 96 layers, 96 heads of width 128. Llama 2 (arXiv 2307.09288): config.json.
# - transformers 5.23.0, `generation/configuration_utils.py`, line 638: 20 tokens.
# - Data sheets. NVIDIA A100 80GB SXM: 2,039 GB/s, 312 TFLOP/s in bfloat16. NVIDIA H100 SXM: 3.35
#   TB/s, 1,979 TFLOP/s in bfloat16 with sparsity, half of it without. Google Cloud, *TPU v4*: 1,200
#   GB/s, 275 TFLOP/s. These are peaks, which programs do not reach.
#
# None of them tells you how fast your machine is, or how many tokens will be accepted.
#
# **Next.** Chapter 01 lets a small model propose the tokens and the large model check them in one
# pass. Try the idea first: why does it gain nothing if the *large* model drafts?
