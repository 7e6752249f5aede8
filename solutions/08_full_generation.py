# %% [markdown]
# # 08 Full generation: your own decoder on real models, measured
#
# 90 minutes · difficulty 5 of 5 · you need: chapters 01 and 02 for the algorithm, 04 and 05 for the numbers,
# and PyTorch tensors: indexing, `gather`, broadcasting
#
# **Carry in.** You know the rule that accepts or corrects a draft token, the formula for its speed, and how a
# fair comparison is made. All of it worked on small arrays.
#
# **Work here.** You write the three functions that a decoder is made of: going back in a cache, judging a block
# for a whole batch without a loop, and the generation around it. Then they are measured: against plain
# decoding, against Hugging Face, and beside the papers' tables.
#
# **Carry out.** A decoder of your own whose text is the target's, and the numbers of *your* machine, each with
# what it was measured against.
#
# All measuring cells together take at most three minutes on a CPU and eight on a GPU, beyond what is fetched. Each waits for the
# checks of the functions that it runs.

# %% [markdown]
# ## What this machine has
#
# What the rest of the chapter is measured on. The measuring cells share a **budget** of seconds. Each does the most
# important first, and leaves out what does not fit: further prompts, texts and rounds, the largest batches, the row
# at temperature 0, and last Hugging Face. A line says what was left out. `LONGER = 4` has four times the seconds, and
# measures more for narrower spreads.
#
# On a GPU with the hub in reach, published pairs are measured too. The cell says which fit the memory and the disk,
# and asks once before it fetches anything, with the sum of the gigabytes. `survey.look(LONGER, pairs=["vicuna"])`
# takes one by its name, `pairs=[]` none, and `yes=True` answers for you. `specdec pairs` lists them.

# %%
import numpy as np
import torch

from specdec_lib.lessons.ch08 import checks as lesson
from specdec_lib.lessons.ch08.checks import hints
from specdec_lib.sampling import Warp, sample_rows

# %% tags=["demo"]
from specdec_lib.lessons.ch08 import figures, measured as charts
from specdec_lib.device import name_of
from specdec_lib.lessons.widgets.trace import trace_picture
from specdec_lib.measure.experiment import (
    batches,
    engineering,
    grid,
    identity,
    launches,
    seq2seq,
    survey,
    traces,
)
from specdec_lib.measure import papers
from specdec_lib.measure.experiment import loops as decoders
from specdec_lib.measure.quiet.runs import beside

LONGER = 1
machine = survey.look(LONGER)

# %% [markdown]
# Read `v` first: `v(5)` is the time of a target pass over five tokens, in passes over one. Chapter 00 said why
# it should stay near 1. On a processor with slow products it does not, and then no draft helps much. These times are
# measured once, here, and whatever the chapter promises below is calculated from them.
#
# If a line says that the run was **disturbed**, other programs took part of the machine's time. Nothing that reads a
# clock counts towards your points.
#
# ## The protocol: a model, and a cache that can go back
#
# Everything below talks to a model through five names, from `specdec_lib/models/protocol.py`. `B` rows, `T` new
# tokens, `V` entries of the vocabulary:
#
# | name | what it is |
# | --- | --- |
# | `model.vocab_size` | `V` |
# | `model.new_cache(batch=1)` | an empty cache of `batch` rows |
# | `model.forward(tokens, cache)` | tokens `(B, T)` long; appends them to the cache; returns logits `(B, T, V)` |
# | `cache.length` | `(B,)` long: the positions that each row holds |
# | `cache.truncate(length)` | forgets every position from `length` on |
#
# A cache holds the keys and values of every position. It grows with every pass, over draft tokens too. After the
# verdict some of those are not in the text, and the cache has to **go back**. That is cheap: a number is set, and
# the next pass writes over what lies behind it.
#
# When a block begins, the text's last token is in no cache: nobody has read it yet. The next pass reads it
# together with the block.
#
# ### Commit first
#
# The text has 10 tokens, the target's cache holds 9 of them, and four tokens are drafted. The target reads the
# last token and the block in one pass, accepts one draft token and corrects the second. How many positions must
# the cache forget before the next block? Write a number from 0 to 14.

# %% solution="prediction_08"
### BEGIN SOLUTION
prediction_08 = 3
### END SOLUTION

# %% test="prediction_08" points=1
lesson.committed("prediction_08", prediction_08, 0, 14)

# %% tags=["demo"]
lesson.reveal("prediction_08", prediction_08)

# %% [markdown]
# ### Exercise: rollback
#
# **What.** Bring a cache of one row back to `length` positions. **Shapes.** `cache` as above, `length` an int;
# nothing is returned. ValueError unless `length` is from 0 to the present length. Where there is nothing to
# forget, call nothing.
#
# **One worked number.** A cache of 14 positions and `length = 11`: one call, `cache.truncate(11)`.
#
# **In production.** `transformers.DynamicCache` cuts its tensors in its method `crop`, which takes the number of
# positions to *remove*, as a negative number. vLLM keeps the blocks of memory and sets back how many tokens of a
# request count as computed, in `vllm/v1/core/sched/scheduler.py`.


# %% solution="rollback"
def rollback(cache, length: int) -> None:
    """Let a cache of one row hold `length` positions; ValueError where it holds fewer."""
    ### BEGIN SOLUTION
    held = int(cache.length[0])
    if not 0 <= length <= held:
        raise ValueError(f"the cache holds {held} positions and cannot go back to {length}")
    if length < held:
        cache.truncate(length)
    ### END SOLUTION


# %% tags=["demo"]
hints(rollback)

# %% tags=["demo"]
figures.going_back(rollback)

# %% test="rollback" points=2
lesson.check_rollback(rollback)

# %% [markdown]
# ## A verdict for a whole batch
#
# Chapter 02 judged one block in a Python loop. On a GPU each `if` waits until the device has sent a number back.
# So the verdict is written with tensor operations alone, for all rows at once, and the host looks at no value.
#
# The rule, without a division: draft token $x_i$ is accepted iff
#
# $$ r_i \, q_i(x_i) < p_i(x_i). $$
#
# Chapter 02 has the published rule, `<=` on the quotient. They differ only where both sides are equal, which has
# probability 0. Here 0/0 needs no case, and a token with `p = 0` never passes, not even where `r` is 0.
#
# Three things turn the loop into tensors:
#
# - The accepted count is the number of verdicts **before the first rejection**: a cumulative product of zeros
#   and ones, summed.
# - The next token comes from row `count` of `p`, less row `count` of `q`, without what is negative, divided by
#   what is left: its sum.
# - Behind a block that was accepted whole there is no draft token. With a row of **zeros** put behind `q`, the
#   residual there is `p` itself: the bonus needs no case of its own.

# %% [markdown]
# ### Exercise: verify_block
#
# **What.** For every row, how many draft tokens stand, and the token after them. **Shapes.** `p` is
# `(B, K+1, V)`, `q` `(B, K, V)`, `drafted` and `r` `(B, K)`, `u` `(B,)`; `K` may be 0. A tuple of two tensors
# `(B,)` comes back, both `torch.long`. The next token is `sample_rows(law, u)`, which is `sample_from` for every
# row of `law` `(B, V)` and divides nothing: divide the residual by its sum; if the sum is 0, `law` is `p`. No loop
# over rows, no `item()`: the number of operations must not depend on `B`. Calculate in the dtype in which `p` and
# `q` come, float32 or float64: in a narrower one a small residual is lost. Change no argument.
#
# **One worked number.** One row, `K = 1`: `p = [0.25, 0.50, 0.25]`, `q = [0.50, 0.25, 0.25]`, token 0 drafted,
# `r = 0.75`. `0.75 x 0.50 = 0.375` is not below `0.25`: rejected, count 0. The residual is `[0, 1, 0]`: token 1.
#
# **In production.** `transformers.generation.utils._speculative_sampling` does it for one row and divides; in
# vLLM, `rejection_sample` of `vllm/v1/sample/rejection_sampler.py` runs one program a request on the GPU.
#
# The figure is one call of your function on 3,456 rows: every block of two draft tokens over three, with a grid of
# coins whose sums are exact. The crosses are plain decoding.


# %% solution="verify_block"
def verify_block(
    p: torch.Tensor, q: torch.Tensor, drafted: torch.Tensor, r: torch.Tensor, u: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Accepted counts and next tokens, (B,) each; p (B, K+1, V), q (B, K, V), r (B, K), u (B,)."""
    ### BEGIN SOLUTION
    p_drafted = p[:, :-1].gather(-1, drafted[..., None])[..., 0]  # (B, K)
    q_drafted = q.gather(-1, drafted[..., None])[..., 0]
    accepted = r * q_drafted < p_drafted
    count = accepted.long().cumprod(-1).sum(-1)
    rows = torch.arange(len(p), device=p.device)
    behind = torch.nn.functional.pad(q, (0, 0, 0, 1))  # nothing was drafted behind the block
    p_next = p[rows, count]
    rest = (p_next - behind[rows, count]).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    law = torch.where(mass > 0, rest / mass, p_next)
    return count, sample_rows(law, u)
    ### END SOLUTION


# %% tags=["demo"]
hints(verify_block)

# %% tags=["demo"]
figures.law_of_blocks(verify_block)

# %% test="verify_block" points=5
lesson.check_verify_block(verify_block)

# %% [markdown]
# ## The loop
#
# One helper is given. It reads whatever of the text a cache lacks:


# %%
def feed(model, cache, tokens: list[int]) -> torch.Tensor:
    """The logits (1, T, V) behind the last T of `tokens`, those that `cache` did not hold."""
    unread = tokens[int(cache.length[0]) :]
    return model.forward(torch.tensor([unread], device=cache.length.device), cache)


# %% [markdown]
# It settles three things at once. At the first block it reads the whole prompt, later the one token that nobody
# has read. And after a block that was accepted whole, the draft lacks *two*: its own last draft token, which was
# drawn but never fed, and the bonus. A loop that feeds it "the last token" loses one of them: its cache is a
# position short from then on, and the acceptance rate falls. Nothing crashes.
#
# With `left` tokens still to write a block drafts `n = min(k, left - 1)`: one comes from the target in any case.
# Two more helpers are given. `Warp(t)` makes a function: it turns logits `(..., V)` into distributions of the same
# shape, softmax(logits / t) in float32 or better, one-hot at temperature 0. `sample_rows(law, u)` takes `(B, V)`
# and `(B,)`, and gives `(B,)` tokens.
#
# **A puzzle, if you like**, not graded: one block of the loop at temperature 1, its lines shuffled, two of them
# with a blank, one not needed. `text` is the prompt and what is written so far, `end` the length at which it is
# complete, and `left` is `end - len(text)`. A blank is run and not compared: every spelling that works is right.

# %%
order = ""  # the letters in their order, as in "GJ"
blank_g, blank_c = "", ""  # what stands in the blanks of lines G and C
lesson.check_puzzle(order, blank_g, blank_c)

# %% [markdown]
# ### Exercise: speculative_generate
#
# **What.** The new tokens behind a prompt, in blocks of up to `k` draft tokens. **Shapes.** `target` and `draft`
# keep the protocol, `prompt_ids` is a list of at least one token; a list of `max_new_tokens` tokens comes back, or
# of fewer if a new token is `eos_id`: it is kept, and the text ends with it. No part of the text is read twice, and
# the target is called once a block (one more call may read the prompt); for 0 tokens no model is called. Tensors
# go where `cache.length` is.
#
# **A block.** With `left` tokens still to write it drafts `n = min(k, left - 1)`, so `n` may be 0. It draws, in this
# order, `rng.random(n)` for the draft tokens, `rng.random(n)` for `r` and `rng.random()` for `u`; at temperature 0
# it draws nothing, and zeros serve. `u` is the same number for a correction and for a bonus.
#
# **One worked number.** `k = 4`, 10 tokens: while nothing is accepted, the blocks draft 4, 4, 4, 4, 4, 4, 3, 2,
# 1 and 0 tokens. While all are, they draft 4 and 4, and the text is complete.
#
# **In production.** `transformers.GenerationMixin` has this loop in its method `_assisted_decoding`. In vLLM a
# block is one step of `vllm/v1/worker/gpu_model_runner.py`, for all requests together.
#
# The figure shows what your loop feeds to the two example models of the check, pass by pass.


# %% solution="speculative_generate"
def speculative_generate(
    target, draft, prompt_ids: list[int], k: int, max_new_tokens: int, temperature: float,
    rng: np.random.Generator, eos_id: int | None = None,
) -> list[int]:  # fmt: skip
    """The new tokens only, at most `max_new_tokens`, up to and with `eos_id`."""
    ### BEGIN SOLUTION
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    target_cache, draft_cache = target.new_cache(), draft.new_cache()
    place = {"dtype": torch.float64, "device": target_cache.length.device}
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        u_draft, r, u = np.zeros(n), np.zeros(n), 0.0
        if temperature > 0:
            u_draft, r, u = rng.random(n), rng.random(n), rng.random()
        drafted, q = [], []
        for u_i in u_draft:
            q.append(warp(feed(draft, draft_cache, text + drafted)[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([u_i], **place))))
        p = warp(feed(target, target_cache, text + drafted)[:, -n - 1 :])
        block, coins, last = (torch.tensor([each], **place) for each in (drafted, r.tolist(), u))
        q = torch.cat([*q, p[:, :0]], 1)  # (1, n, V), where n is 0 too
        count, token = verify_block(p, q, block.long(), coins, last)
        new = drafted[: int(count)] + [int(token)]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
            end = len(text) + len(new)
        text += new
        rollback(target_cache, len(text) - 1)
        rollback(draft_cache, min(int(draft_cache.length[0]), len(text) - 1))
    return text[len(prompt_ids) :]
    ### END SOLUTION


# %% tags=["demo"]
hints(speculative_generate)

# %% tags=["demo"]
figures.passes(speculative_generate)

# %% test="speculative_generate" points=6
lesson.check_speculative_generate(speculative_generate)

# %% [markdown]
# ## Whose decoder runs
#
# From here on the models are real. `MINE = False` swaps the library's decoder in, for every cell below.

# %% tags=["demo"]
MINE = True


def our_decoder() -> decoders.Loop:
    """Yours, if the checks of its functions have passed as they are now; or the library's."""
    if not MINE:
        return decoders.LIBRARY
    lesson.checked(rollback, verify_block, speculative_generate)
    return decoders.yours(speculative_generate, verify_block)


print(f"Below runs {our_decoder().whose} decoder.")

# %% [markdown]
# ## Lossless, on real models
#
# At temperature 0 the text must be plain decoding's, token by token, with one exception that is no error. A pass
# over five tokens may round differently from five passes over one, and where two tokens are nearly equally
# probable, the other one may win. The cell counts such **near-ties** apart: texts that part where the target's
# two largest logits lie within 0.001 in float32, within 0.25 in bfloat16 (two rounding steps of a logit of 16).

# %% tags=["demo"]
for name, found in identity.of_targets(our_decoder(), machine, draft="base", k=4):
    print(f"{name}, {name_of(machine.targets[name].dtype)}: {found}")

# %% [markdown]
# At temperature 1 what must agree is the law, and to compare two laws by samples is to compare noise. So here it
# is exact again: a lookup-table model over three tokens, your whole loop, and every combination of the random
# numbers that it can draw.

# %% tags=["demo"]
figures.law_of_texts(speculative_generate)

# %% [markdown]
# ## The experiment
#
# Leviathan et al. ran one target with three drafts, at two temperatures, on two tasks. So does the next cell, on
# two kinds of held-out text, Python and its documentation. Beside the three draft models stand counts of tokens
# and pairs, prompt lookup, and the target's own first half. Without a GPU only the best draft model is timed end
# to end, on the costlier target.
#
# - **alpha** comes from the unscaled pair, which has the same distribution, on up to 8,000 positions a task. The
#   interval behind it comes from drawing the texts again, since the positions of one text are not independent.
# - **c** and **v** come from the bare passes of the first cell, which took turns.
# - **K** and **with v** are the best by the measured cost: no run on this machine can gain more. **formula** is the
#   best with `v = 1`, as in the paper, with the K at which it is.
# - **and prompt** is what *with v* leaves of a run that reads a prompt of 64 tokens, too: both decoders have to.
# - **measured** is your decoder over the fastest plain decoding of the library here, the median of pairs that take
#   turns, with quartiles; at `K = 4` too, the setting of Chen et al.
# - **Hugging Face** runs in the dtype and with the K that are fastest for it here, and the figure names both.
#
# Every finished row is in the results file at once: if you stop the kernel, what was measured is kept.
#
# The costlier target is the small one, made slow without a change to its law: it accepts as a 17:1, 8:1 or 4:1
# pair does (small, base, large) and costs as much as one far apart. What such a pair accepts is another question:
# in the paper's Table 2, T5-small accepts 0.62 beside T5-XXL, which is 143 times as large (EnDe, T = 1).
#
# ### Commit first
#
# How many times as fast as plain decoding will your decoder be here, at temperature 1, with its best draft? Write
# a number from 0 to 10.

# %% solution="prediction_08_b"
### BEGIN SOLUTION
prediction_08_b = 2.0
### END SOLUTION

# %% test="prediction_08_b" points=1
lesson.committed("prediction_08_b", prediction_08_b, 0, 10)

# %% tags=["demo"]
ours = our_decoder()
results = grid.begin(machine, ours)
rows = []
for row in grid.run(machine, ours, results):
    rows.append(row)
    if row.empirical:
        print(grid.table([row]))
print(f"{len(rows)} rows in {results.path.name}")

# %% tags=["demo"]
for name in dict.fromkeys(r.target for r in rows):
    print(f"Target {name}", grid.table([r for r in rows if r.target == name]), "", sep="\n")
lesson.reveal("prediction_08_b", prediction_08_b, grid.best(rows, 1).empirical["median"])

# %% tags=["demo"]
charts.beside_the_papers(
    rows, *map(papers.table, ("leviathan_2_4", "chen_1", "spec_bench_devices"))
)
charts.against_hugging_face(rows)
charts.alpha_beside_table_3(rows, papers.table("leviathan_3"))

# %% [markdown]
# The papers' rows are printed values, from other models and machines: compare the *pattern*, not the height. Read
# yours with three questions. Does the smallest draft win, as in the paper? How far is *measured* from *and prompt*,
# and from *formula*? What is left of a good alpha where `v` is large? On the built-in target a run gains almost
# nothing: beside so short a pass every draft is dear. That is a result, not a failure.
#
# The baseline matters as much. Hugging Face's `generate` reads other bytes and does other work for a token than our
# plain loop, so a ratio over it is another number; on small models its assisted generation can be slower than its
# plain one.
#
# ## What the engineering adds
#
# Your loop and the library's make the same tokens. What differs is the work between the passes. Four versions
# take turns on the same prompts: a cache that is copied into larger memory with every pass; your loop, whose
# caches have their memory from the start; the library's loop, which keeps lengths on the host and reads few values
# back; and steps of fixed shape, which a GPU records once as one CUDA graph and starts as a whole. Without a GPU
# nothing is recorded, and a step of fixed shape attends over the whole capacity.

# %% tags=["demo"]
best = grid.best(rows)
timed = engineering.measure(our_decoder(), machine, best.target, best.draft, best.k)
for run in beside("08 engineering", timed):
    print(*run)  # what it ran with
    charts.engineering(engineering.versions(run))

# %% [markdown]
# ## Why a small draft is not cheap on a GPU
#
# A GPU is often done with a small model's kernel before the host has started the next one. A pass then takes as long
# as *starting* it. That goes by the number of layers, not by the weights: Qwen2.5-0.5B has 24 layers and its target of
# 7B has 28. A graph is started once, and `c` goes back to what the weights say. Where nothing can be recorded, a draft
# has to be shallow: Yan et al. (2024, arXiv 2402.01528) trade depth for width.
#
# On a GPU the next cell times four drafts both ways, two sizes times two depths. Everywhere it does the sum for
# FLAN-T5, whose kernels `transformers` starts one by one.

# %% tags=["demo"]
if machine.device.type == "cuda":
    charts.launches(launches.on(machine))
print(launches.t5_in_words())

# %% [markdown]
# ## Token by token
#
# Hover over a token, or step with the slider or the arrow keys: `p`, `q`, their ratio, and the verdict.

# %% tags=["demo"]
told = traces.of_built_in(our_decoder(), machine, k=4)
trace_picture(**told.picture())

# %% tags=["demo"]
charts.blocks_over_time(told.blocks)
charts.timeline(told.blocks)
charts.by_position(told.counts, k=4)
charts.by_class(told.classes)

# %% [markdown]
# Some text is easy for many blocks in a row, some is hard. So later positions, *where they are reached*, pass more
# often than the first, and constant alpha is an approximation. It fails in both directions: chapter 05 has
# published systems whose acceptance falls along the block.
#
# ## Many requests, and the tail
#
# Now several prompts share a pass. The weights are read once for all rows, so plain decoding gets more tokens a
# second for nothing, as long as arithmetic is free. Verification competes for the same spare arithmetic: a batch
# of 8 with `K = 4` is a pass over 40 tokens.

# %% tags=["demo"]
for run in beside("08 batches", batches.measure(our_decoder(), machine, best.target, best.draft)):
    served = batches.served(run)
    charts.batches(served)

# %% [markdown]
# Left: the gain over plain decoding shrinks as the batch grows, and with it the best K. Right: a speculative row
# ends when its own luck has it end, the batch waits for the slowest, and Chen et al. report that the spread grows
# with K.
#
# ## An encoder-decoder
#
# The paper's T5 models are encoder-decoders: the encoder reads the source once, and speculation happens in the
# decoder alone. Your loop needs no change. Here is a T5 of random weights. **Its text means nothing**; what it can
# show is that your greedy tokens are those of `transformers`.

# %% tags=["demo"]
print(seq2seq.compare_random_t5(our_decoder()))

# %% [markdown]
# Published pairs are one name away: `load_pair("flan-t5", "small")` of `specdec_lib.models.pairs` fetches FLAN-T5
# XXL with its small sibling, 45 GB, and `load_pair("flan-t5-xl", "small")` one a quarter as large. The paper
# fine-tuned T5 v1.1 for each task; FLAN-T5 is T5 v1.1 fine-tuned for many. You are asked before anything is
# fetched, `specdec pairs` lists all of them, and `specdec doctor` says which fit.
#
# Where such pairs ran, the experiment above has their rows. FLAN-T5 translates WMT14 and summarises CNN/DailyMail, as
# in the paper's Tables 2 and 3. A pair of Llama's form goes on with HumanEval and XSum, as in Chen et al. Vicuna 7B
# with a draft of 68M stands beside Spec-Bench's row: 2.28 tokens a pass and 1.49 times on an A100 (the run of
# chapter 05; the later run of chapter 07 has 1.52). Texts come from the hub by `pip install -e .[published]`; where a
# task is called *docs* or *code*, built-in texts stood in.
#
# ## Two answers from your table
#
# Use the numbers of *your* run; a person marks these. The results file `chapter08_....json` holds them, with the
# machine, the versions and the commit, and `specdec compare A.json B.json` sets two machines side by side.
#
# **The draft and v.** Does the smallest draft win here, as in the paper's Table 2? Take alpha, c and K of the three
# drafts at one temperature, and say from them why. What would change with the paper's `v = 1`? Three to six
# sentences, with numbers.

# %% [markdown] written="which_draft_wins" points=2
# No, not on the 234M target: the middle one wins, by little. In the paper c goes from 0.02 to 0.11 from the smallest
# draft to the largest, while alpha rises by 0.09 or less at temperature 1, so the cheapest wins. Here alpha is 0.597,
# 0.643 and 0.670 on code, and beside so slow a target c is below 0.1 for all three: from small to base alpha gains more
# than c adds, from base to large less. On the built-in target every c is several times larger, and the smallest
# draft is best. Where v(K + 1) grows with K, long blocks are dearer and the best K falls; v = 1 would make it larger.

# %% [markdown]
# **Promised and measured.** Compare *formula*, *with v*, *and prompt* and *measured* in the measured rows, with the
# quartiles.
# Which one is close, how far off is the other, and what might make up the rest? Three to six sentences.

# %% [markdown] written="promised_and_measured" points=2
# The formula counts a verification as one pass. Where v(K + 1) is above 1, with v promises less and is the closer of
# the two. The prompt is read in the timed call, too, by both decoders, which brings every ratio nearer to 1. What
# still lacks is the work between the passes, which weighs more where passes are short: sampling, moving numbers,
# rolling back. The quartiles of a handful of prompts
# are wide, because alpha differs from prompt to prompt, so a difference of a few percent shows nothing.

# %% [markdown]
# ## The smallest example that makes it click
#
# The text is `a b`, and both caches hold `a`. The draft reads `b` and proposes `c`; it reads `c` and proposes `d`.
# The target reads `b c d` in one pass and accepts both, with the bonus `e`. The text is now `a b c d e`.
#
# - The target's cache holds `a b c d`, all but the last token. Nothing to roll back. Next it reads `e`.
# - The draft's cache holds `a b c`: it never read `d`, its own last proposal. Next it reads `d e`.
#
# Had `d` been rejected and `x` written, both would hold `a b c` after the rollback, and both would read `x`.

# %% [markdown]
# ## Quiz
#
# **Question 1.** Somebody's texts have the right law. With the target as its own draft, `p = q`, every draft token
# should be accepted. In the first block all are; over the whole text only 0.75 are. What is the likely cause?
#
# - a: the residual is normalised wrongly
# - b: float32 rounding, which makes p and q differ
# - c: the draft's cache lacks a token after a block that was accepted whole
# - d: the coins `r` are used for several positions

# %% solution="quiz_08"
### BEGIN SOLUTION
quiz_08 = "c"
### END SOLUTION

# %% test="quiz_08" points=1
lesson.answered("quiz_08", quiz_08)

# %% [markdown]
# **Question 2.** A page says: "2.6 times as fast as Hugging Face generate, on one prompt, temperature 0." What does
# that tell you about speculative decoding?
#
# - a: nothing yet: the baseline is another program, and plain decoding by the same code may explain most of it
# - b: that alpha is at least 0.62
# - c: that sampling would be 2.6 times as fast, too
# - d: that K = 2 was used, since a block brings at most K + 1 tokens

# %% solution="quiz_08_b"
### BEGIN SOLUTION
quiz_08_b = "a"
### END SOLUTION

# %% test="quiz_08_b" points=1
lesson.answered("quiz_08_b", quiz_08_b)

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: "After each block, crop the cache to the accepted length."** It is not so simple, because the
# correction or bonus is in the text and has been in no pass. *Look:* in the prediction above the text has 12
# tokens, and 11 positions stay.
#
# **You might read: "Speculative decoding can only help, never hurt."** It is not so, because only the text is safe:
# the time can grow. *Look:* the next cell, the rows of your own table below 1.
#
# **You might read: "The output is identical to the target's."** It is not so, because what is identical is the law,
# and at temperature 0 the tokens *up to rounding*. *Look:* the near-ties of the identity cell.
#
# **You might read: "A speed-up of 2 to 3 times for free."** It is not so for a busy server, because the spare
# arithmetic is spent on other requests. *Look:* your largest batch beside your batch of 1.

# %% tags=["demo"]
slower = [r for r in rows if r.expected < 1]
print(
    f"{len(slower)} of {len(rows)} settings promise less than plain decoding, even at the best K above 0:"
)
print(
    ", ".join(
        f"{r.draft} on {r.target}, T = {r.temperature} ({r.expected:.2f})" for r in slower[:3]
    )
)
for batch in (1, max(each.batch for each in served)):
    gain = max(s.gain for s in served if s.batch == batch)
    print(f"batch {batch}: at its best K {gain:.2f} times the tokens a second of plain decoding")

# %% [markdown]
# ## The race again
#
# The last race is yours: your own `speculative_generate` against plain decoding, with the library's
# decoder beside it. Here the time of reading the prompt counts for everybody, because your function
# reads it too.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting, own
from specdec_lib.measure.race.race import race

contestants = {
    "your decoder": own(speculative_generate, "large", k=3),
    "the library's decoder": drafting("large", k=3),
}
show_race(race("08", contestants, reading=True))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023,
#   arXiv 2211.17192. `speculative_generate` repeats its Algorithm 1; Tables 2 to 4 are the experiment, Table 2
#   measured with T5-XXL on one TPU v4, against the T5X code base.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv 2302.01318.
#   Algorithm 2 and Table 1, K = 4, Chinchilla 70B on 16 TPU v4.
# - Hugging Face transformers 5.23.0: `GenerationMixin._assisted_decoding` and `DynamicCache.crop`, the baseline.
# - vLLM, the files named above; gpt-fast, for going back by setting a number.
# - T. Chen, I. Goodfellow, J. Shlens, *Net2Net*, ICLR 2016: how the costlier target is made.
# - D. Parsons, P. Haden, *Parson's Programming Puzzles*, ACE 2006: the kind of puzzle above.
# - M. Yan, S. Agarwal, S. Venkataraman, *Decoding Speculative Decoding*, arXiv 2402.01528: a draft's time goes by its
#   depth, and a wider, shallower draft of the same size is faster.
#
# The papers support the procedure, its exactness, and their own tables, but no number of your machine.
#
# **Next.** Read `specdec_lib/decoding/speculative.py` beside your own loop, take a pair of models that you care
# about, and measure before you believe.
