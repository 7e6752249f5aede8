# %% [markdown]
# # 00 Why generation is slow
#
# 60 minutes · difficulty 2 of 5 · you need: Python and NumPy, and nothing about language models
#
# **Carry in.** A language model reads a text, cut into **tokens** (words or parts of words), and
# gives a probability for every token that could come next. One is drawn, and so on.
#
# **Work here.** You find out what the time of such a pass is spent on. You write four short
# functions that predict it, and hold them against a real model on your own machine.
#
# **Carry out.** You can say what a pass costs, for any model on any machine, and why checking `N`
# tokens is another matter than writing them. The rest of the course lives on that difference.
#
# ## A race, before anything is explained
#
# A language model is going to continue three pieces of Python, twice. On the left it writes alone.
# On the right a small model proposes tokens and the large one checks them. Nothing is random here
# (temperature 0: always the most probable token), and the large model has the last word on both
# sides.
#
# ### Commit first
#
# How many times as fast will the right side be on your machine? Write a number from 0.5 (half as
# fast) to 5.

# %%
import numpy as np

from specdec_lib.lessons.ch00 import checks as lesson
from specdec_lib.lessons.ch00.checks import MACHINES, MODELS, hints

# %% solution="prediction_00_race"
### BEGIN SOLUTION
prediction_00_race = 2.0
### END SOLUTION

# %% test="prediction_00_race" points=1
lesson.committed("prediction_00_race", prediction_00_race, 0.5, 5)

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

# 20 s at most: loading, then both sides by turns, a few tokens each
races = race("00", {"speculative decoding": drafting("large", k=3)}, seconds=20)
show_race(races)
lesson.reveal_race("prediction_00_race", prediction_00_race, races)

# %% [markdown]
# Both sides wrote the same text, and the right side needed less time. It had a second model to
# run as well, so where does the time come from? This chapter finds out. Every later chapter ends
# with the same race and what that chapter adds to it.
#
# ## The course
#
# **Speculative decoding** can make a large model write faster and leaves the distribution of its
# text as it was. A small model drafts a few tokens; the large one checks them all in one pass. Two
# groups published it: Yaniv Leviathan, Matan Kalman and Yossi Matias (ICML 2023), and Charlie Chen,
# Sebastian Borgeaud, Geoffrey Irving, Jean-Baptiste Lespiau, Laurent Sifre and John Jumper (2023).
#
# The nine chapters assume Python, NumPy and what a probability is; none needs a GPU.
#
# | chapter | its question | what it hands on |
# | --- | --- | --- |
# | **00 now** | why is writing slow and checking cheap? | what a pass costs, and what for |
# | 01 draft, then verify | how do two models share the work? | blocks of draft tokens, scored in one pass |
# | 02 rejection sampling | which draft tokens may stay? | the rule that accepts, and the correction |
# | 03 lossless | is the text still the target's? | the proof, and the bugs that break it |
# | 04 choosing the draft | which draft, how many tokens? | acceptance, cost and their best balance |
# | 05 results | what was measured? | how to read and to make a fair comparison |
# | 06 simulator | what happens block by block? | speed as an experiment |
# | 07 connections | what else is built on it? | trees, heads, lookup, other vocabularies |
# | 08 full generation | does it work on real models? | your own decoder, measured |
#
# **How a chapter works.** *Predict*: write a number before you see the answer; it counts, right or
# wrong. *Run* the cells from top to bottom. *Fill in* the stubs; each is one card with a worked
# number and hints. *Check*: the line below a stub tries a few examples; grading tries many more. If
# a run of all cells stops, the red box says what is missing. The button **Validate** runs every
# check and names what is open.
#
# ### When you are stuck
#
# A question gets a good answer, from a person or from an AI assistant, when it is about *one*
# thing: an equation, a figure, a line of your code, a claim, a source, a slider. Write four lines:
#
# - **About:** the exercise `free_tokens`, the line with `int(...)`.
# - **I have verified:** the A100 gives 153; the check says so.
# - **I only assume:** that rounding down is right on every machine.
# - **Next I will:** try a machine on which one token is compute-bound.
#
# Often the third line holds the answer. Ask for a next step, and let the check decide.

# %% [markdown]
# ## Token 5 needs tokens 1 to 4
#
# The model's input is the text so far. So the pass that gives token 5 cannot begin before token 4
# is drawn, which waits for the pass that gives token 4, and so on back to the first. A second
# computer cannot begin token 5 early; all that it can do is make each pass shorter. This is
# **autoregressive**.

# %% tags=["demo"]
from specdec_lib.lessons.ch00 import figures, measured as charts

figures.serial_and_parallel(tokens=5)

# %% [markdown]
# Take a model of 70 billion parameters that needs 50 ms for a pass. An answer of 100 tokens takes
# `100 x 50 ms = 5 s`. The right half of the figure is the way out. When a text **is there
# already**, the model takes all of it at once: the output at position 5 depends on tokens 1 to 5
# and on nothing later, so a single pass gives the distribution behind every position.
#
# > **Generation is serial, scoring is parallel.** Writing `N` tokens takes `N` passes that wait for
# > each other; checking `N` proposed ones takes 1. Speculative decoding lets somebody cheap
# > propose, and the expensive model score the proposals together.

# %% tags=["demo"]
figures.hundred_tokens(tokens=100, seconds=0.05)

# %% [markdown]
# The lower bar is drawn as if a pass over 100 tokens took no longer than one over a single token.
#
# ### Commit first
#
# A model of 7 billion parameters runs on an H100, a large GPU. How many times as long does a pass
# over **five** tokens take as one over one? Write a number from 1 (no longer) to 5.

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
# The dictionaries are the model's **weights**. They lie in memory, and the arithmetic units sit
# elsewhere. Every pass does two jobs with them:
#
# - **read**: each of the model's `N` parameters travels from memory to the arithmetic units *once a
#   pass*, `b N` bytes with `b` bytes a parameter (float32: 4, bfloat16: 2);
# - **calculate**: each parameter is multiplied by one number and added to a sum, *for every token*:
#   2 floating-point operations (**FLOP**), so `2 n N` for a pass over `n` tokens.
#
# The bytes do not grow with `n`, the FLOP do. Their quotient, FLOP for every byte read, is the
# **arithmetic intensity** of the pass. The count is that of Kaplan et al., section 2.1. It leaves
# out attention over the text so far, which comes later, and the embeddings, read by the row.

# %% [markdown]
# ### Exercise: arithmetic_intensity
#
# **What.** FLOP per byte of one pass: two FLOP per parameter and token, over every weight read
# once. **Shapes.** `n_tokens` is a whole number, `bytes_per_param` may be .5 (4-bit weights).
#
# **One worked number.** One token in bfloat16: `2 FLOP / 2 bytes = 1` FLOP per byte.
#
# **In production.** `transformers.trainer.Trainer` counts 6 FLOP per parameter and token (its
# method `floating_point_ops`), because training goes backward too. In vLLM,
# `vllm/v1/metrics/perf.py` counts the FLOP and the bytes read of each step.


# %% solution="arithmetic_intensity"
def arithmetic_intensity(n_tokens: int, bytes_per_param: float) -> float:
    """FLOP per byte of one forward pass over `n_tokens` positions."""
    ### BEGIN SOLUTION
    return 2 * n_tokens / bytes_per_param
    ### END SOLUTION


# %% tags=["demo"]
hints(arithmetic_intensity)

# %% tags=["demo"]
figures.roofline(arithmetic_intensity, MACHINES["H100"], bytes_per_param=2)

# %% test="arithmetic_intensity" points=2
lesson.check_arithmetic_intensity(arithmetic_intensity)

# %% [markdown]
# ## The roofline
#
# The figure above is called a **roofline** (Williams et al.). A machine has two limits: its
# **bandwidth** `B`, in bytes a second from memory, and its **peak** `F`, in FLOP a second. Reading
# and calculating go on at the same time, so the pass takes as long as the longer of the two:
#
# $$ t(n) = \max\left( \frac{b N}{B},\; \frac{2 n N}{F} \right) $$
#
# Where the first is longer, the pass is **memory-bound**: the arithmetic units wait for weights.
# Where the second is longer, it is **compute-bound**. Writing one token is memory-bound on every
# machine of this chapter. Reading a long prompt is compute-bound, as is training.
#
# This is the best case; a real pass takes longer, and the model may not fit into the memory.

# %% [markdown]
# ### Exercise: forward_time
#
# **What.** The seconds of one pass by the roofline. **Shapes.** Five numbers: `bandwidth` in
# bytes/s, `peak_flops` in FLOP/s; a float comes back, in seconds.
#
# **One worked number.** 7 billion parameters in bfloat16 on an H100 (3.35 TB/s, 989.5 TFLOP/s), one
# token: reading 14 GB takes 4.18 ms, 14 GFLOP take .014 ms. The answer is `.00418`.
#
# **In production.** `transformers.generation.utils.GenerationMixin` runs one pass a token and
# predicts no times. They are measured instead: vLLM has `vllm/benchmarks/latency.py` for that.


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


# %% tags=["demo"]
hints(forward_time)

# %% tags=["demo"]
figures.pass_times(forward_time, MACHINES, n_params=7e9, bytes_per_param=2)

# %% test="forward_time" points=3
lesson.check_forward_time(forward_time)

# %% [markdown]
# ## How many tokens are free
#
# Each line of the figure is flat up to a kink. On the flat part a further token costs nothing: the
# weights have to be read anyway, and the arithmetic is done by then. At the kink:
#
# $$ \frac{b N}{B} = \frac{2 n N}{F} \quad\Rightarrow\quad n = \frac{b F}{2 B} $$
#
# `N` has dropped out: for a given machine the number is the same for a small model and a large one.

# %% [markdown]
# ### Exercise: free_tokens
#
# **What.** The largest number of tokens whose pass takes no longer than a pass over one.
# **Shapes.** Three numbers; an `int` comes back. It is at least 1, compute-bound or not.
#
# **One worked number.** A100, bfloat16: `2 x 312e12 / (2 x 2.039e12) = 153.02`, so 153.
#
# **In production.** `transformers.generation.candidate_generator.AssistedCandidateGenerator` does
# not ask the hardware: how many tokens it drafts is a setting, `num_assistant_tokens`. In vLLM it
# is `num_speculative_tokens`, in `vllm/config/speculative.py`.


# %% solution="free_tokens"
def free_tokens(bytes_per_param: float, bandwidth: float, peak_flops: float) -> int:
    """The most tokens whose pass takes no longer than one token's; at least 1."""
    ### BEGIN SOLUTION
    return max(1, int(bytes_per_param * peak_flops / (2 * bandwidth)))
    ### END SOLUTION


# %% tags=["demo"]
hints(free_tokens)

# %% tags=["demo"]
figures.free_by_machine(free_tokens, MACHINES, bytes_per_param=(2, 1, 0.5))

# %% test="free_tokens" points=3
lesson.check_free_tokens(free_tokens)

# %% [markdown]
# Two things here surprise people. First, weights of 4 bits are read four times as fast as those of
# 16, and so only a quarter of the tokens are free (if the arithmetic still runs at the bfloat16
# rate): faster writing leaves less room for drafts. Second, the number counts *all* tokens of the
# pass: 64 users bring 64 before anybody drafts.
#
# ## On your own machine
#
# The next cell measures the two limits of the computer in front of you, on half of its cores or on
# its GPU: bytes a second of a large copy, and FLOP a second of a matrix product, by dtype. Chapters
# 00 to 07 leave the other cores to your other programs, so that those disturb the times less.

# %% tags=["demo"]
import torch

from specdec_lib.device import leave_cores
from specdec_lib.measure.core.limits import copy_bandwidth, matrix_rate

leave_cores()
device = "cuda" if torch.cuda.is_available() else "cpu"
dtypes = {"float32": torch.float32, "bfloat16": torch.bfloat16}
bandwidth = copy_bandwidth(device)
rates = {name: matrix_rate(dtype, device) for name, dtype in dtypes.items()}
print(f"{bandwidth / 1e9:.1f} GB/s;", {name: f"{r / 1e9:.0f} GFLOP/s" for name, r in rates.items()})

# %% [markdown]
# ### Commit first
#
# The course has a built-in target of 7.9 million parameters. It can be made as costly as a model of
# 38 million with the same outputs (wider matrices, more layers). How many times as long as over one
# token is its pass over **eight**, here, in float32? Write a number from 1 to 8.

# %% solution="prediction_00_b"
### BEGIN SOLUTION
prediction_00_b = 2.0
### END SOLUTION

# %% test="prediction_00_b" points=1
lesson.committed("prediction_00_b", prediction_00_b, 1, 8)

# %% tags=["demo"]
from specdec_lib.measure.core.limits import pass_seconds, weights_read
from specdec_lib.measure.quiet.runs import beside
from specdec_lib.models.pairs import load_pair

models = {
    (cost or "built-in", name): load_pair(target_cost=cost, device=device, dtype=dtype).target
    for cost in ("40m", None)
    for name, dtype in dtypes.items()
}
seconds = pass_seconds(models, widths=(1, 2, 4, 6, 8, 12, 16, 32, 64))
sizes = {key: weights_read(model) for key, model in models.items()}
for run in beside("00 passes", seconds):
    passes = lesson.passes_of(run, sizes, rates)
    lesson.reveal_passes("prediction_00_b", prediction_00_b, passes, tokens=8)

# %% tags=["demo"]
charts.measured_passes(forward_time, passes, bandwidth)

# %% [markdown]
# All passes took turns, so that a slow moment of the machine hits them alike. The lines are your
# `forward_time` at the measured limits. If the run was disturbed, the points are those of the
# recorded machine and the lines still those of yours: run the cells again. Look for five things:
#
# - **A flat part, then a slope.** Where does the 40m model leave the flat part? About so many
#   tokens are free on the machine. On a laptop these are a few, not 153.
# - **Points above the line.** Attention, the steps between the matrix products and the start of
#   each operation cost time too, in a small model most of it.
# - **Points below the line.** The weights of the built-in model may fit into the processor's cache,
#   which is faster than the memory that the copy went through.
# - **More tokens sooner than fewer.** Where that is so in every run, and nothing else runs, it is
#   the library: it has several ways to multiply, and may take a slow one for some widths.
# - **bfloat16.** Half the bytes, so the line starts at half the height. Where the slope begins
#   depends on the other limit: processors with instructions for bfloat16 (AMX, AVX512-BF16, a GPU's
#   matrix units) calculate faster in it than in float32, others slower.

# %% [markdown]
# ## 175 billion parameters in 10 ms?
#
# A lesson on this subject says that the weights of a model with 175 billion parameters load in
# about 10 ms and their product with one token takes about 1 ms. In bfloat16 they are 350 GB.
#
# ### Commit first
#
# An A100 reads 2.039 TB/s. How many of them together read 350 GB in 10 ms? Write a number from 1 to
# 100.

# %% solution="prediction_00_c"
### BEGIN SOLUTION
prediction_00_c = 17.2
### END SOLUTION

# %% test="prediction_00_c" points=1
lesson.committed("prediction_00_c", prediction_00_c, 1, 100)

# %% tags=["demo"]
lesson.reveal("prediction_00_c", prediction_00_c)
charts.published_times(forward_time, MACHINES, MODELS)

# %% [markdown]
# The bars are your `forward_time` with the makers' data sheets. One A100 needs 172 ms for one token
# of the 175B model, one H100 needs 104 ms, and neither could hold it: 350 GB do not fit into 80.
# The last bar can be held against a measurement: Chen et al. report 14.1 ms a token for a 70B model
# on 16 TPU v4 chips. At two bytes a parameter the roofline says 7.3 ms, but chips must also talk.
#
# Now the four rows of that lesson's table, each machine by itself:

# %% tags=["demo"]
charts.four_rows(forward_time, MACHINES["A100"], n_params=175e9, bytes_per_param=2, chips=(1, 18))

# %% [markdown]
# The 10 ms belong to 18 GPUs, the 1 ms to one. On one and the same machine the two are not 10 to 1
# but 153 to 1. The last two rows are equal: checking five tokens takes what writing one takes.
#
# ## The other thing that is read: the cache
#
# In a layer's **attention** each token looks back: it compares a vector of its own with the **key**
# of every earlier token, and mixes their **values** by how well they fit. A token's key and value
# are made from that token and the ones before it, so no later token ever changes them, and they can
# be stored.
#
# A model that has read a text keeps, for every token and in every layer, a **key** and a **value**
# vector in each of its key-value heads. Thanks to this **KV cache** a pass over one new token does
# not read the text again. But it must read the cache, which grows with the text and exists once for
# every row of a batch, while the weights are shared by all rows.

# %% [markdown]
# ### Exercise: kv_cache_bytes
#
# **What.** The bytes of the KV cache: keys and values of every token, layer, head and row.
# **Shapes.** Six whole numbers, the last with the default 1; an `int` comes back.
#
# **One worked number.** Llama 2 70B (80 layers, 8 key-value heads of width 128) in bfloat16, one
# token: `2 x 80 x 8 x 128 x 2 = 327,680` bytes.
#
# **In production.** `transformers.cache_utils.StaticLayer` sets this memory aside, for one layer;
# in vLLM, `AttentionSpec` of `vllm/v1/kv_cache_interface.py` computes it for a block of tokens.


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


# %% tags=["demo"]
hints(kv_cache_bytes)

# %% tags=["demo"]
figures.cache_beside_weights(kv_cache_bytes, MODELS, batch_size=64)

# %% test="kv_cache_bytes" points=3
lesson.check_kv_cache_bytes(kv_cache_bytes)

# %% [markdown]
# For one row and a short text the cache is small beside the weights. For many rows or a long text
# it is not, and its bytes add to those of the weights. Llama 2 70B keeps less per token than Llama
# 2 7B, although it is ten times as large: 64 heads share 8 keys and values.
#
# ## Simulator: sequential against parallel
#
# Above: writing and checking `n` tokens, and what is busy when. Below: the roofline.
#
# Before you move anything, say what will happen. You start with an H100 and 8 tokens. Lower the
# arithmetic peak until checking is no longer free: how far do you have to go? Then raise the
# bandwidth tenfold instead. Does that make more tokens free, or fewer? At last put your own machine
# in, with `bandwidth=bandwidth, peak_flops=rates["float32"], bytes_per_param=4`.

# %% tags=["demo"]
from specdec_lib.lessons.widgets.bottleneck import bottleneck_simulator

bottleneck_simulator(**MACHINES["H100"].limits, n_params=7e9, bytes_per_param=2, tokens=8)

# %% [markdown]
# A still picture, from your own function: an H100 as it is, and one with a 60th of the peak.

# %% tags=["demo"]
figures.busy_and_idle(forward_time, MACHINES["H100"], MODELS["Llama 2 7B"], tokens=8, less=60)

# %% [markdown]
# ## The smallest example that makes it click
#
# 100 parameters of one byte, on a machine that reads 100 bytes and does 1,000 FLOP a second.
#
# - One token: reading takes 1 s, the 200 FLOP .2 s. The pass takes 1 s; the arithmetic waits .8 s.
# - Five tokens: reading takes 1 s, the 1,000 FLOP take 1 s. The pass takes 1 s. Nobody waits.
# - Six tokens: the pass takes 1.2 s. Five were free, the sixth is not.
#
# Writing five takes 5 s, checking five takes 1 s.

# %% [markdown]
# ## Quiz
#
# **Question 1.** A GPU checks five draft tokens of one text in about the time of writing one. Why?
#
# - a: because a draft token needs less arithmetic than one that is written
# - b: because the GPU has many cores, and a pass over one token uses a fifth of them
# - c: because the weights are read once for all five, and reading them is what takes the time
# - d: because the KV cache holds four of the five results already

# %% solution="quiz_00"
### BEGIN SOLUTION
quiz_00 = "c"
### END SOLUTION

# %% test="quiz_00" points=1
lesson.answered("quiz_00", quiz_00)

# %% [markdown]
# **Question 2.** A server writes for 128 users at once on an H100 in bfloat16, where 295 tokens are
# free. Now every user gets 4 tokens a pass checked. What happens to the time of a pass?
#
# - a: nothing, because 4 is far below 295
# - b: it grows to about 1.7 times
# - c: it grows to 4 times
# - d: it falls to a quarter, because four tokens come out at once

# %% solution="quiz_00_b"
### BEGIN SOLUTION
quiz_00_b = "b"
### END SOLUTION

# %% test="quiz_00_b" points=1
lesson.answered("quiz_00_b", quiz_00_b)

# %% [markdown]
# ### In your own words
#
# Somebody wants a model to write faster for one user, and may buy a GPU with twice the FLOP/s and
# the same bandwidth, or one with the same FLOP/s and twice the bandwidth. What does each do to the
# time of a token, and what to the number of free tokens? Which one is it, and would a server with
# hundreds of users at once choose the same? Three to five sentences. A person marks this answer.

# %% [markdown] written="why_bandwidth" points=2
# For one user a pass is memory-bound, so its time is bytes over bandwidth. Twice the FLOP/s leaves
# it as it is and doubles the free tokens; twice the bandwidth halves it, and halves the free tokens
# too. I would buy the bandwidth: even half of 153 is more than one user drafts. With hundreds of
# users a pass holds more tokens than are free, so it is compute-bound, and the FLOP/s count.

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: "The weights of a 175B model load in about 10 ms, the product takes about 1
# ms."** It is not so, because the times belong to different machines. (GPT-3, of this size, has 96
# layers, not "hundreds".) *Look:* one A100 takes 172 ms and 1.1 ms, eighteen 9.5 ms and .06 ms.
#
# **You might read: "Generation is limited by memory latency."** It is not so, because latency is
# the wait for the first byte, and a pass knows beforehand which bytes it will want, so their rate
# counts. *Look:* at an A100's bandwidth 64 bytes arrive every .03 ns, in which light travels 9 mm.
#
# **You might read: "Five tokens are verified in 12 ms, so a token takes 2.4 ms."** It is not so,
# because that takes all five for accepted, the draft for free, and forgets the token that the pass
# itself adds. *Look:* five accepted make 6 tokens, 2 ms each; two make 3, 4 ms each.
#
# **You might read: "Decoding is memory-bound, so verification is free."** It is not so in general,
# because that holds up to the free tokens of the machine, counted over all rows of a batch. *Look:*
# with 64 rows and 6 tokens each a pass of an H100 takes 1.3 times as long, with one row 1.0 times.

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192. Abstract and introduction: decoding `K` tokens takes `K` serial
#   runs; memory bandwidth and communication often limit large models, not arithmetic.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318: the 14.1 ms; two bytes per parameter are our assumption.
# - S. Williams, A. Waterman, D. Patterson, *Roofline*, Communications of the ACM 52(4), 2009: the
#   two limits. It is a bound, not a prediction.
# - J. Kaplan et al., *Scaling Laws for Neural Language Models*, arXiv 2001.08361, section 2.1:
#   about 2 FLOP per parameter and token, attention over the context left out.
# - T. Brown et al., *Language Models are Few-Shot Learners*, arXiv 2005.14165, Table 2.1: 175B
#   parameters, 96 layers, 96 heads of width 128. Llama 2 (arXiv 2307.09288): config.json.
# - Data sheets. NVIDIA A100 80GB SXM: 2,039 GB/s, 312 TFLOP/s in bfloat16. NVIDIA H100 SXM: 3.35
#   TB/s, 1,979 TFLOP/s in bfloat16 with sparsity, half of it without. Google Cloud, *TPU v4*: 1,200
#   GB/s, 275 TFLOP/s. These are peaks, which programs do not reach.
#
# How fast your machine is none of them says, nor how many tokens are accepted.
#
# **Next.** Chapter 01 lets a small model propose the tokens and the large one check them in one
# pass. Test the link first: why does it gain nothing to let the *large* model draft?
