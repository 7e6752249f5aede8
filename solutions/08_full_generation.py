# %% [markdown]
# # 08 Full generation: your own decoder on real models, measured
#
# 150 minutes, in two sittings: 90 and 60 · difficulty 5 of 5 · you need: chapters 01 and 02 for the
# algorithm, 04 and 05 for the numbers, and PyTorch tensors: indexing, `gather`, broadcasting
#
# - **Intuition**: two caches and five letters, in "The smallest example".
# - **Mathematics**: the rule of chapter 02 without a division and without a loop, in "A verdict for
#   a whole batch".
# - **Code**: three functions, from one line about a cache to a whole decoder.
# - **Demo**: break your own decoder, then measure it against the papers' tables.
#
# **You come with** a rule that accepts or corrects a draft token, and a formula for its speed.
# **You build** a decoder that runs real models and writes the target's text.
# **You leave with** the numbers of *your* machine, each with the baseline that it was measured against.
#
# In the first sitting you write the decoder. In the second you break it and measure it.

# %%
import numpy as np
import torch

from specdec_lib.lessons.ch08 import checks as lesson
from specdec_lib.sampling import Warp, sample_rows

# %% tags=["demo"]
from specdec_lib.lessons.ch08 import broken, figures, measured as charts

# %% [markdown]
# ## The smallest example: two caches and five letters
#
# A model keeps the keys and values of all positions that it has read in its **cache**, so a pass reads only
# new tokens. Target and draft have a cache each.
#
# The text is `a b`. Both caches hold `a`, and neither model has read `b` yet. The draft reads `b` and proposes
# `c`. Then the draft reads `c` and proposes `d`. The target reads `b c d` in one pass. What happens next
# depends on the verdict:

# %% tags=["demo"]
figures.two_caches()

# %% [markdown]
# Look at the picture row by row.
#
# - **d is rejected.** The target has read `d`, and `d` is not in the text. So the target forgets `d`.
#   The draft never read `d`, its own last proposal. Both caches hold `a b c`, and both models read `x`
#   next.
# - **Both are accepted.** The target forgets nothing, and reads `e` next. The draft has read neither `d`
#   nor `e`, so the draft has to read *two* tokens next.
#
# One rule covers both cases. It is the **invariant** of the loop:
#
# > Between two blocks each cache holds a beginning of the text, without the text's last token. The next
# > pass of a model reads all that its cache lacks.

# %% [markdown]
# ## The protocol: a model, and a cache that can go back
#
# Your code talks to a model through five names. `B` is the number of rows (texts at a time), `T` the
# number of new tokens, `V` the size of the vocabulary:
#
# | name | what it is |
# | --- | --- |
# | `model.vocab_size` | `V` |
# | `model.new_cache(batch=1)` | an empty cache of `batch` rows |
# | `model.forward(tokens, cache)` | takes tokens `(B, T)` long, appends them to the cache, returns logits `(B, T, V)` |
# | `cache.length` | `(B,)` long: the number of positions that each row holds |
# | `cache.truncate(length)` | forgets every position from `length` on |
#
# Forgetting is cheap: the cache lowers one number, and the next pass writes over the old values.
#
# ### Commit first
#
# The text has 10 tokens, and the target's cache holds 9 of them. Four tokens are drafted. The target
# reads the last token and the block in one pass, accepts one draft token and corrects the second. How
# many positions must the target's cache forget before the next block? Write a number from 0 to 14.

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
# **Task.** Bring a cache of one row back to `length` positions. **Arguments.** `cache` is a cache as above,
# `length` is an int. The function returns nothing. If the cache holds `length` positions already, do
# not call `truncate`.
#
# **Example.** A cache of 14 positions and `length = 11`: one call, `cache.truncate(11)`.
#
# **Errors.** Raise ValueError, before any call, if `length` is below 0 or above the present length. A
# `length` of 0 is allowed.


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


# %% [markdown] hints="rollback"
# 1. Three cases, in this order: the length cannot be, there is nothing to do, or cut.
# 2. int(cache.length[0]) is how many positions the one row holds.
# 3. Raise ValueError unless `0 <= length <= held`; `cache.truncate(length)` if `length < held`.

# %% tags=["demo"]
figures.going_back(rollback)

# %% test="rollback" points=2
lesson.check_rollback(rollback)

# %% [markdown]
# ## A verdict for a whole batch
#
# Chapter 02 judged one block in a Python loop. On a GPU each `if` waits until the device has sent a
# number back. So you now write the verdict with tensor operations only, for all rows at once.
#
# Take a row with the verdicts yes, no, yes: `1, 0, 1`. The cumulative product is `1, 0, 0`, and its
# sum is 1: one draft token is kept. The third token does not count, because it was judged after a token
# that is not in the text.
#
# The next token is drawn from the residual: row `count` of `p` minus row `count` of `q`. If the whole
# block was accepted, `q` has no row `count`. Add a row of **zeros** below `q`. Then the residual of
# this row is `p` itself, and the same lines draw the bonus token.
#
# The rule of chapter 02 becomes a product. Draft token $x_i$ is accepted exactly if
#
# $$ r_i \, q_i(x_i) < p_i(x_i). $$
#
# Chapter 02 compares a quotient with `<=`. The two rules differ only if both sides are equal, which has
# probability 0. The product needs no case for 0/0, and a token with `p = 0` is never accepted.

# %% [markdown]
# ### Exercise: verify_block
#
# **Task.** For every row: how many draft tokens are kept, and the token after them. **Arguments.** `p` is
# `(B, K+1, V)`, `q` is `(B, K, V)`, `drafted` and `r` are `(B, K)`, `u` is `(B,)`. `K` may be 0. The
# function returns a tuple of two tensors `(B,)`, both `torch.long`. `r` and `u` are float64.
#
# **The next token** is `sample_rows(law, u)`. It takes `law` `(B, V)` and `u` `(B,)`, and draws one token
# for each row as `sample_from` does. `sample_rows` does not divide by the sum, so divide the residual by
# its sum yourself. If the sum is exactly 0, `law` is the row of `p`.
#
# **Example.** One row with `K = 1`: `p[0] = [0.25, 0.50, 0.25]`, `q[0] = [0.50, 0.25, 0.25]`,
# token 0 drafted, `r = 0.75`. The product `0.75 x 0.50 = 0.375` is not below 0.25, so the token is
# rejected and the count is 0. The residual is `[0, 1, 0]`: the next token is 1.
#
# **What is graded, too.** Compare strictly: an equal product rejects. Calculate in the dtype of `p` and
# `q`, float32 or float64. Add no tiny number to `p`, `q`, the residual or its sum. Change no argument.
# Use no loop over rows and no `item()` or `tolist()`: the number of operations must not depend on `B`.
# (The check cannot count operations. Grading does, for a tenth of the points.)
#
# The figure makes one call with 3,456 rows: every block of two draft tokens over a vocabulary of three,
# with every coin of a grid. On this grid all sums are exact. Each bar should end at its cross, which is
# plain decoding.


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
    below = torch.nn.functional.pad(q, (0, 0, 0, 1))  # nothing was drafted after the block
    rest = (p[rows, count] - below[rows, count]).clamp(min=0)
    law = rest / rest.sum(-1, keepdim=True)
    return count, sample_rows(law, u)
    ### END SOLUTION


# %% [markdown] hints="verify_block"
# 1. Decide on all draft tokens of all rows at once, then count up to each row's first rejection.
# 2. gather(-1, drafted[..., None]) picks the probabilities of the drafted tokens. A cumulative
#    product of the verdicts is 1 up to the first rejection and 0 after it.
# 3. With count (B,): pad q by one row of zeros, take p and q at [torch.arange(B), count], clamp
#    their difference at 0, divide by its sum (p if that is 0), and sample_rows. After a whole
#    block q is 0 there, and what is left is the bonus row of p.

# %% tags=["demo"]
figures.law_of_blocks(verify_block)

# %% test="verify_block" points=5
lesson.check_verify_block(verify_block)

# %% [markdown]
# ## The loop
#
# One helper is given. It reads whatever a cache lacks of the text, as the invariant asks:


# %%
def feed(model, cache, tokens: list[int]) -> torch.Tensor:
    """The logits (1, T, V) after the last T of `tokens`, those that `cache` did not hold."""
    held = cache.length
    unread = tokens[int(held[0]) :]
    return model.forward(torch.tensor([unread], device=held.device), cache)


# %% [markdown]
# `feed` covers three cases: the whole prompt in the first block, one token in a later block, and two
# tokens for the draft after a block that was accepted whole. A loop that always feeds only "the last
# token" leaves one of these two tokens out, and no error tells you.

# %% [markdown]
# ### Exercise: speculative_generate
#
# **Task.** The new tokens after a prompt, written in blocks of up to `k` draft tokens.
#
# **Arguments.** `target` and `draft` keep the protocol. `prompt_ids` is a list of at least one token. The
# function returns a list of `max_new_tokens` tokens, without the prompt. If a new token equals `eos_id`,
# the text ends with this token, also in the middle of a block. `eos_id` in the prompt ends nothing.
# Put tensors on the device of `cache.length`. You call:
#
# | call | takes | returns |
# | --- | --- | --- |
# | `feed(model, cache, tokens)` | all tokens so far, a list | logits `(1, T, V)` of the `T` tokens read |
# | `Warp(temperature)(logits)` | `(..., V)` | distributions of this shape, softmax(logits / temperature) in float32 or better; one-hot at temperature 0 |
# | `sample_rows(law, u)` | `(B, V)` and `(B,)` | tokens `(B,)` |
# | `verify_block(p, q, drafted, r, u)` | `(1, n+1, V)`, `(1, n, V)`, `(1, n)` long, `(1, n)`, `(1,)` | count `(1,)`, token `(1,)` |
# | `rollback(cache, length)` | one row | nothing |
#
# **How many are drafted.** A block with `left` tokens still to write drafts `n = min(k, left - 1)`, since
# its last token comes from the target. `n` may be 0.
#
# **Which numbers are drawn.** Each block draws, in this order: `rng.random(n)` for the draft tokens,
# `rng.random(n)` for `r`, `rng.random()` for `u`. A correction and a bonus both use `u`. At
# temperature 0 draw no numbers, and use zeros.
#
# **How often a model reads.** No model reads a token twice, unless the token was rolled back. The target
# is called once a block, the draft once for each draft token; one more call of each may read the
# prompt, but with `feed` you need none. For 0 tokens no model is called.
#
# **Example.** `k = 4`, 10 tokens. If nothing is accepted, the blocks draft 4, 4, 4, 4, 4, 4, 3,
# 2, 1 and 0 tokens. If everything is accepted, they draft 4 and 4, and the text is complete.


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


# %% [markdown] hints="speculative_generate"
# 1. The text ends with one token that nobody has read. feed reads whatever is missing, so the
#    prompt, that token and a bonus token need no case of their own.
# 2. A block: n, the numbers, n draft tokens one by one, one pass of the target over what it has
#    not read, the verdict, the new tokens, two rollbacks.
# 3. Both caches go back to at most len(text) - 1 positions. The draft may hold fewer:
#    rollback(draft_cache, `min(held, len(text) - 1)`). With n = 0 there is no q to join:
#    `torch.cat([*q, p[:, :0]], 1)` is right for every n.

# %% [markdown]
# The next picture shows what your loop feeds to the two example models of the check, one row for each
# pass. Find the blocks that were accepted whole: after them the draft reads two tokens.

# %% tags=["demo"]
figures.passes(speculative_generate)

# %% test="speculative_generate" points=6
lesson.check_speculative_generate(speculative_generate)

# %% [markdown]
# ### Whose text does your loop write?
#
# The distribution of the text must be the target's. Samples could not prove this. So the next cell runs
# your whole loop on a lookup table over three tokens, once for every combination of random numbers that
# makes a difference, and adds up the probabilities. The total variation should be 0, up to rounding.

# %% tags=["demo"]
figures.law_of_texts(speculative_generate)

# %% [markdown]
# ## Rest here: the first sitting ends
#
# Your decoder is written. If its checks are green, save the notebook and come back later.
#
# **The second sitting** takes 60 minutes, of which about three are waiting. A new kernel has forgotten
# your functions: choose *Run*, *Run All Above Selected Cell* here, which takes less than a minute.
#
# ## Whose decoder runs
#
# From here on the models are real. With `MINE = False` every cell below runs the library's decoder.

# %% tags=["demo"]
import pandas as pd

from specdec_lib.assets import ASSETS
from specdec_lib.lessons.common.series import table
from specdec_lib.lessons.widgets.trace import trace_picture
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.models.llama import Llama

# %% tags=["demo"]
from specdec_lib.measure.experiment import (
    batches,
    engineering,
    grid,
    identity,
    published,
    seq2seq,
    survey,
    traces,
)
from specdec_lib.measure import papers, results
from specdec_lib.measure.experiment import loops as decoders

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
# ## Break your own decoder
#
# Three programmers each forget one step of your loop:
#
# 1. **the bonus feed**: after a block that was accepted whole, the draft reads the bonus token only;
# 2. **the draft's rollback**: rejected tokens stay in the draft's cache;
# 3. **the target's rollback**: rejected tokens stay in the target's cache.
#
# ### Commit first
#
# How many of the three programs write texts with another distribution than the target's? Think of what
# chapter 02 asks of `p`, of `q`, and of the draft tokens. Write a number from 0 to 3.

# %% solution="prediction_08_b"
### BEGIN SOLUTION
prediction_08_b = 1
### END SOLUTION

# %% test="prediction_08_b" points=1
lesson.committed("prediction_08_b", prediction_08_b, 0, 3)

# %% [markdown]
# The next cell runs your decoder with models whose caches make these mistakes. It measures alpha on the
# built-in pair, with four texts of 48 tokens and `K = 4`: once with the target as its own draft, once
# with the draft *base*. The distance of the texts is exact, on a lookup table over two tokens. (About 5
# seconds.)

# %% tags=["demo"]
pair = [Llama.from_folder(ASSETS / name) for name in ("target", "base")]
figures.broken_decoders(broken.tried(our_decoder().generate, *pair, prompts(4), tokens=48))

# %% tags=["demo"]
lesson.reveal("prediction_08_b", prediction_08_b)

# %% [markdown]
# The two mistakes in the draft's cache cost speed only, so no test of the texts can find them. In your
# own loop `feed` finds a forgotten rollback: a cache that is longer than the text has nothing left to
# read. In these caches each mistake shows in one place:
#
# - With the target as its own draft, `p = q`, and every draft token should be accepted. If alpha is
#   below 1, the bonus feed was forgotten. With *base* this mistake hardly shows, because few blocks are
#   accepted whole.
# - A forgotten rollback of the draft shows only with *base*, where tokens are rejected. There it costs
#   about a third of the acceptance rate.

# %% [markdown]
# ## What this machine has
#
# The next cell loads the built-in target, the same target made as slow as a larger one, and their
# drafts. It measures what their passes cost. With `LONGER = 2` everything below is measured twice as
# often. (About 25 seconds.)

# %% tags=["demo", "shown"]
LONGER = 1
machine = survey.look(LONGER)
table(machine.passes(), "Passes of each target, in passes over one token")

# %% [markdown]
# Read `v` first: `v(5)` is the time of a target pass over five tokens, divided by the time of a pass over
# one. If `v` grows fast, no draft helps much. All decoders below take turns. So a busy machine shows as
# quartiles that lie far apart: then close other programs and run the cell again. Your points never depend
# on a time.

# %% [markdown]
# ## Lossless, on real models
#
# At temperature 0 the text must be plain decoding's, token by token, with one exception. A pass over five
# tokens may round differently from five passes over one. If two tokens are nearly equally probable,
# the other one may then win. The cell counts such **near-ties** separately: the two texts first differ
# at a token where the target's two largest logits lie within 0.001 in float32, or within 0.25 in bfloat16
# (two rounding steps of a logit of 16). (About 10 seconds.)

# %% tags=["demo"]
same = identity.of_targets(our_decoder(), machine, draft="base", k=4)
table(same, "Greedy texts beside plain decoding's")

# %% [markdown]
# ## The experiment
#
# Leviathan et al. ran one target with three drafts, at two temperatures, on two tasks. You do the same
# with two kinds of held-out text, Python code and its documentation. Two other drafts stand beside
# the three: token counts and pair counts.
#
# The costlier target is the built-in one, made slow on purpose. Its distribution is the same. So it
# accepts as a 17:1, 8:1 or 4:1 pair does (drafts small, base, large), and its passes cost as much as a
# much larger model's. A real pair with this cost accepts less: in the paper's Table 2, T5-small accepts
# 0.62 beside T5-XXL, which is 143 times as large (English to German, temperature 1).
#
# ### Commit first
#
# How many times as fast as plain decoding will your decoder be here, at temperature 1, with its best
# draft? The lines above have `v`, and chapter 04 has the formula. Write a number from 0 to 10.

# %% solution="prediction_08_c"
### BEGIN SOLUTION
prediction_08_c = 2.0
### END SOLUTION

# %% test="prediction_08_c" points=1
lesson.committed("prediction_08_c", prediction_08_c, 0, 10)

# %% [markdown]
# The next cell takes about a minute. On every prompt of code these decoders take turns: plain decoding,
# yours with each draft at its best K, and Hugging Face's `generate`, plain and assisted by the draft that
# promises most. The table goes into a file of results.

# %% tags=["demo"]
rows = grid.run(machine, our_decoder())
about = machine.about() | {"decoder": our_decoder().whose}
print(f"{len(rows)} rows in {results.write(rows, about, 'chapter08_results.json')}")

# %% tags=["demo"]
for name in machine.targets:
    charts.results(rows, name)
at_1 = rows[rows.temperature == 1]
lesson.reveal("prediction_08_c", prediction_08_c, at_1.measured.max())

# %% [markdown]
# | column | what it is |
# | --- | --- |
# | alpha | by the unscaled target, which has the same distribution, on 8,000 positions a task |
# | c | a draft step, in plain passes |
# | K | the best K by the measured cost |
# | formula | the best speed-up with `v = 1`, as in the paper |
# | with v | the speed-up at K by the measured cost |
# | and prompt | what is left of *with v* if both decoders also read a prompt of 16 tokens |
# | measured | your decoder over plain decoding: the median of the turns, and the quartiles |
#
# The file has the other rows too: prose, and the two tables of counts.

# %% tags=["demo"]
best = rows.loc[rows.measured.idxmax()]
charts.beside_the_papers(
    rows[rows.target == best.target],
    *map(papers.table, ("leviathan_2_4", "chen_1", "spec_bench_devices")),
)
charts.against_hugging_face(rows[rows.target == best.target])
charts.alpha_beside_table_3(rows, papers.table("leviathan_3"))

# %% [markdown]
# The papers' rows are printed values from other models and machines: compare the *pattern*, not the
# height.
#
# The baseline matters as much as the decoder. Hugging Face's `generate` does other work for a token than
# our plain loop, so the speed-up over `generate` is another number. It runs in the dtype in which it is
# faster here, float32 or bfloat16.
#
# <details><summary>On a GPU: published pairs</summary>
#
# With `PUBLISHED = ("vicuna", "68m")` the next cell runs Vicuna 7B with a draft of 68M, 14 GB, and with
# `("flan-t5-xl", "small")` FLAN-T5 XL with its small sibling, 12 GB. It asks once before it fetches
# anything. `specdec pairs` lists the names. This has not run on a card yet.
#
# The tasks are those of the papers, and the column *printed* has the papers' speed-ups: for Vicuna
# Spec-Bench's 1.13 in translation and 1.62 in summaries, on an A100; for FLAN-T5 those of T5-XXL in the
# paper's Table 2. If a line says so, built-in texts stood in for the data sets.
#
# </details>

# %% tags=["demo"]
PUBLISHED = None
if PUBLISHED:
    pair = published.rows(our_decoder(), *PUBLISHED)
    table(pair)
    results.write(pd.concat([rows, pair]), about, "chapter08_results.json")

# %% [markdown]
# ## What the engineering adds
#
# Three versions of the decoder take turns on the same prompts. Only the work between the passes differs:
#
# - **a cache that grows**: every pass copies the cache into larger memory;
# - **your loop**: its caches have their memory from the start;
# - **the library's loop**: it keeps the lengths on the host, and reads few values back.
#
# Which order do you expect? Where two ranges of quartiles overlap, the run shows no order. (About 20
# seconds.)

# %% tags=["demo"]
print(f"Target {best.target}, draft {best.draft}, K = {best.K}")
charts.engineering(
    engineering.measure(our_decoder(), machine, best.target, best.draft, int(best.K))
)

# %% [markdown]
# On a CPU the passes take most of the time. So the versions lie close together, and your loop may even
# win. On a GPU a pass is short, and the work between the passes decides.
#
# A GPU often finishes a small model's kernel before the host has started the next one. Then a pass takes
# as long as *starting* its kernels, and their number grows with the layers, not with the weights.
# `transformers` starts about 50 kernels a layer of FLAN-T5's decoder. At an assumed 5 microseconds each
# that is 6.0 ms a token for XXL's 24 layers, whose weights a card reads in 4.0 ms, and 2.0 ms for the 8
# layers of small, read in 0.03 ms. So `c` is about 0.33, and the paper, on a TPU, has 0.02.
#
# <details><summary>An example with real models</summary>
#
# Qwen2.5-0.5B has 24 layers, and its target of 7B has 28. Decoders that ship record a step as a CUDA
# graph, which is started once, and `c` goes back to what the weights say. Without a graph a draft has to
# be shallow: Yan et al. (2024, arXiv 2402.01528) trade depth for width.
#
# </details>

# %% [markdown]
# ## Token by token
#
# Here is one text of your decoder. Hover over a token, or step with the slider or the arrow keys.

# %% tags=["demo"]
told = traces.of_built_in(our_decoder(), machine, k=4)
trace_picture(**told.picture())

# %% tags=["demo"]
charts.blocks_over_time(told.blocks)
charts.timeline(told.blocks)
charts.by_position(told.counts, k=4)
charts.by_class(told.classes)

# %% [markdown]
# Easy blocks often come in a row, and so do hard blocks. A later position is reached mostly in easy
# blocks, so it is often accepted at a higher rate than the first. Constant alpha is an approximation.

# %% [markdown]
# ## Many requests, and the tail
#
# Now several prompts share a pass, and the weights are read once for all rows. As long as the machine has
# spare arithmetic, a larger batch gives plain decoding more tokens a second at no cost. A verification
# uses the same spare arithmetic: a batch of 8 with `K = 4` is a pass over 40 tokens. (About 15 seconds.)

# %% tags=["demo"]
served = batches.measure(our_decoder(), machine, best.target, best.draft)
charts.batches(served)
gains = served[served.K > 0].groupby("batch").gain.max()
for batch in (gains.index.min(), gains.index.max()):
    print(f"batch {batch}: at its best K {gains[batch]:.2f} times plain decoding's tokens a second")

# %% [markdown]
# Compare the lines of the left panel at batch 1 and at your largest batch: is the gain over plain decoding
# still there? The other two panels show the tail: rows need different numbers of blocks, and the batch
# waits for the slowest row. Each point is the median of two rounds, so a small difference shows nothing.

# %% [markdown]
# ## An encoder-decoder
#
# The paper's T5 models are encoder-decoders: the encoder reads the source once, and only the decoder
# speculates. Your loop needs no change. Here is a T5 of random weights. **Its text means nothing**, but
# its greedy tokens should be those of `transformers`.

# %% tags=["demo"]
print(seq2seq.compare_random_t5(our_decoder()))

# %% [markdown]
# ## Two answers from your table
#
# Use the numbers of *your* run. A person marks these answers. `chapter08_results.json` has the numbers
# too, and `specdec compare A.json B.json` sets two machines side by side.
#
# ### In your own words: the draft and v
#
# Does the smallest draft win here, as in the paper's Table 2? Take alpha, c and K of the three drafts at
# one temperature, and say from them why. What would change with the paper's `v = 1`? Three to five
# sentences, with numbers.

# %% [markdown] written="which_draft_wins" points=2
# No, not on the 234M target: the largest one wins, by little. In the paper c goes from 0.02 to 0.11 from the smallest
# draft to the largest, while alpha rises by 0.09 or less at temperature 1, so the cheapest wins. Here alpha is 0.597,
# 0.643 and 0.670 on code, and beside so slow a target c is below 0.1 for all three: each larger draft gains
# more in alpha than c adds. On the built-in target every c is several times larger, and the smallest
# draft is best. Where v(K + 1) grows with K, long blocks are dearer and the best K falls; v = 1 would make it larger.

# %% [markdown]
# ### In your own words: promised and measured
#
# Compare *formula*, *with v*, *and prompt* and *measured* in the measured rows, with the quartiles. Which
# promise is closest, how far off is *formula*, and what might make up the rest? Three to five sentences.

# %% [markdown] written="promised_and_measured" points=2
# The formula counts a verification as one pass. If v(K + 1) is above 1, with v promises less and is the closer of
# the two. Both decoders also read the prompt in the timed call, which brings every ratio nearer to 1. The
# rest is the work between the passes, which weighs more where passes are short: sampling, moving numbers,
# rolling back. The quartiles of a handful of prompts
# are wide, because alpha differs from prompt to prompt, so a difference of a few percent shows nothing.

# %% [markdown]
# ## Quiz
#
# **Question 1.** The text has 20 tokens. Four tokens are drafted, all four are accepted, and the bonus is
# written. How many positions does the *draft's* cache hold when the next block begins?
#
# - a: 25
# - b: 24
# - c: 23
# - d: 19

# %% solution="quiz_08"
### BEGIN SOLUTION
quiz_08 = "c"
### END SOLUTION

# %% test="quiz_08" points=1
lesson.answered("quiz_08", quiz_08)

# %% [markdown]
# **Question 2.** A page says: "2.6 times as fast as Hugging Face generate, on one prompt, temperature 0."
# What does that tell you about speculative decoding?
#
# - a: nothing yet: the baseline is another program, so its plain decoding may explain most of it
# - b: that alpha is at least 0.62, since the blocks bring 2.6 tokens on average
# - c: that sampling would be 2.6 times as fast too, since the models are the same
# - d: that K was at least 2, since a block brings at most K + 1 tokens

# %% solution="quiz_08_b"
### BEGIN SOLUTION
quiz_08_b = "a"
### END SOLUTION

# %% test="quiz_08_b" points=1
lesson.answered("quiz_08_b", quiz_08_b)

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence? Decide before you open the answer.
#
# **You might read: "After each block, crop the cache to the accepted length."**
#
# <details><summary>Answer</summary>
#
# The correction or bonus is in the text too, and no model has read it. *Look:* in the first prediction
# above the text then has 12 tokens, and 11 positions stay.
#
# </details>
#
# **You might read: "Speculative decoding can only help, never hurt."**
#
# <details><summary>Answer</summary>
#
# Only the text is safe. The time can grow. *Look:* the next cell shows the rows of your own table below 1.
#
# </details>

# %% tags=["demo"]
run = rows[rows.measured.notna()].sort_values("measured")
losing = run[run.measured < 1]
print(f"{len(losing)} of {len(run)} settings are slower than plain decoding. The slowest:")
table(losing.head(3)[["target", "draft", "temperature", "K", "with v", "measured"]])

# %% [markdown]
# ## The race again
#
# The last race is yours: your own `speculative_generate` against plain decoding, with the library's
# decoder beside it. Here the time for reading the prompt counts for everybody, because your function
# reads the prompt too.

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
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML
#   2023, arXiv 2211.17192. `speculative_generate` repeats its Algorithm 1. Tables 2 to 4 are the
#   experiment; Table 2 was measured with T5-XXL on one TPU v4, against the T5X code base.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318. Algorithm 2 and Table 1, K = 4, Chinchilla 70B on 16 TPU v4.
# - Hugging Face transformers 5.23.0. `GenerationMixin._assisted_decoding` is this loop for one text, and
#   the baseline. `DynamicCache.crop` goes back in a cache; it takes the number of positions to *remove*,
#   as a negative number.
# - vLLM 0.29.0, Model Runner V2: `vllm/v1/worker/gpu/spec_decode/rejection_sampler.py` judges the blocks
#   of all requests together. gpt-fast goes back in a cache by setting a number.
# - T. Chen, I. Goodfellow, J. Shlens, *Net2Net*, ICLR 2016: how the costlier target is made.
# - M. Yan, S. Agarwal, S. Venkataraman, *Decoding Speculative Decoding*, arXiv 2402.01528: a draft's time
#   goes by its depth, and a wider, shallower draft of the same size is faster.
#
# The papers support the procedure, its exactness, and their own tables. None of them tells you how fast
# your machine is.
#
# **Next.** Read `specdec_lib/decoding/speculative.py` beside your own loop. Then take a pair of models
# that you care about, and measure before you believe.
