# %% [markdown]
# # 08 Full generation: your own decoder, with caches, beside Hugging Face's
#
# 80 minutes, and a second sitting of 45 · difficulty 5 of 5 · you need: chapter 02 for the algorithm, chapter 04
# for the formula, and PyTorch tensors: indexing, `gather`, broadcasting
#
# - **Intuition**: two caches and six letters.
# - **Mathematics**: the rule of chapter 02 without a division and without a loop.
# - **Code**: three functions, from five lines about a cache to a whole decoder.
# - **Demo**: break your own decoder, then race it.
#
# **You come with** a decoder that reads the whole text in every pass. **You build** the decoder that people
# run: two models, two caches, one loop. **You leave with** its speed on *your* machine, beside Hugging Face's.

# %%
import numpy as np
import torch

from specdec_lib.lessons.ch08 import lesson
from specdec_lib.sampling import Warp, sample_rows

# %% tags=["demo"]
from specdec_lib.lessons.ch08 import broken, figures, charts

# %% [markdown]
# ## The smallest example: two caches and six letters
#
# A model keeps the keys and values of every position that it has read in its **cache**, so a pass reads only new
# tokens. Target and draft have a cache each.
#
# The text is `a b`. Both caches hold `a`, and neither model has read `b` yet. The draft reads `b` and proposes `c`,
# then reads `c` and proposes `d`. The target reads `b c d` in one pass. The rest depends on the verdict:

# %% tags=["demo"]
figures.two_caches()

# %% [markdown]
# - **`d` is rejected**, `c` isn't, and the target writes `x`. The target has read `d`, which isn't in the text, so
#   it forgets `d`. The draft never read `d`, its own last proposal. Both caches hold `a b c`, and both models read
#   `x` next.
# - **Both are accepted**, and `e` is the bonus. The target forgets nothing and reads `e` next. The draft has read
#   neither `d` nor `e`, so it reads *two* tokens next. vLLM got this wrong for K above 1, until somebody wondered
#   where the acceptance rate had gone (pull request 9730, 2024).
#
# One rule covers both cases, the **invariant** of the loop:
#
# > Between two blocks each cache holds a prefix of the text, with at least its last token missing. A model's next
# > pass reads everything that its cache lacks.
#
# ## The protocol: a model, and a cache that can go back
#
# Your code talks to a model through five names. `B` is the number of rows, `T` of new tokens, `V` the size of the
# vocabulary:
#
# | name | what it is |
# | --- | --- |
# | `model.vocab_size` | `V` |
# | `model.new_cache(batch=1)` | an empty cache of `batch` rows |
# | `model.forward(tokens, cache)` | takes a long tensor of tokens `(B, T)`, appends them to the cache, returns logits `(B, T, V)` |
# | `cache.length` | `(B,)` long: the number of positions that each row holds |
# | `cache.truncate(length)` | forgets every position from `length` on |
#
# Forgetting is cheap: the cache lowers one number, and the next pass overwrites the old values.
#
# ### Commit first
#
# The text has 10 tokens, and the target's cache holds 9 of them. Four tokens are drafted. The target reads the last
# token and the block in one pass, accepts one draft token and corrects the second. How many positions must its
# cache forget? Write a number from 0 to 14.

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
# **Task.** Roll a one-row cache back to `length` positions.
#
# **Arguments.** `cache` is a cache as above, `length` is an int. The function returns nothing.
#
# **Example.** A cache of 14 positions and `length = 11`: one call, `cache.truncate(11)`.
#
# **The tests also check.** If the cache holds `length` positions already, there is no call. If `length` is below 0
# or above the present length, raise ValueError before any call. 0 is allowed.


# %% solution="rollback"
def rollback(cache, length: int) -> None:
    """Cut a cache of one row back to `length` positions; ValueError where it holds fewer."""
    ### BEGIN SOLUTION
    held = int(cache.length[0])
    if not 0 <= length <= held:
        raise ValueError(f"the cache holds {held} positions and cannot go back to {length}")
    if length < held:
        cache.truncate(length)
    ### END SOLUTION


# %% [markdown] hints="rollback"
# 1. Three cases, in this order: the length is impossible, there is nothing to do, or you cut.
# 2. `int(cache.length[0])` is how many positions the one row holds.
# 3. Raise ValueError unless `0 <= length <= held`; `cache.truncate(length)` if `length < held`.

# %% tags=["demo"]
figures.going_back(rollback)

# %% test="rollback" points=2
lesson.check_rollback(rollback)

# %% [markdown]
# ## A verdict for a whole batch
#
# Chapter 02 judged one block in a Python loop. On a GPU each `if` waits until the device has sent a number back, so
# now you write the verdict with tensor operations, for all rows at once.
#
# Take a row with the verdicts yes, no, yes: `1, 0, 1`. The cumulative product is `1, 0, 0`, and its sum is 1: one
# draft token is kept.
#
# The next token is drawn from the positive part of row `count` of `p` minus row `count` of `q`, normalised. After a
# block that was accepted whole, `q` has no such row. Add a row of **zeros** below `q`: then the residual is `p`
# itself, and the same line draws the bonus token. An `if` has turned into a row of zeros.
#
# The rule becomes a product. Draft token $x_i$ is accepted if and only if
#
# $$ r_i \, q_i(x_i) < p_i(x_i). $$
#
# ### Exercise: verify_block
#
# **Task.** Return, for each row of a batch, how many draft tokens are kept, and the token after them.
#
# **Arguments.** `p` is `(B, K+1, V)`, `q` is `(B, K, V)`, `drafted` and `r` are `(B, K)`, `u` is `(B,)`. `p` and
# `q` are both float32 or both float64, `r` and `u` are float64. `K` may be 0. The function returns two `torch.long`
# tensors `(B,)`: counts and tokens.
#
# `sample_rows(probs, u)` is given: it draws a token for each row of `probs` `(B, V)`, as `sample_from` does. It
# doesn't normalise, so you must.
#
# **Example.** One row, `K = 1`: `p[0] = [0.25, 0.50, 0.25]`, `q[0] = [0.50, 0.25, 0.25]`, token 0 drafted, `r =
# 0.75`. The product `0.75 x 0.50 = 0.375` isn't below 0.25, so the token is rejected and the count is 0. The
# residual is `[0, 1, 0]`: the next token is 1.
#
# **The tests also check.** An equal product rejects: at temperature 0 every `r` is 0, and a token with `p = 0` must
# not pass. Don't convert to half precision. No argument changes. For a tenth of the points, only grading looks for
# loops over rows, `item()` and `tolist()`: use none.
#
# The figure makes one call with 3,456 rows, every block of two with every coin of a grid. Each bar should end at
# its cross, the target.


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
    residual = rest / rest.sum(-1, keepdim=True)
    return count, sample_rows(residual, u)
    ### END SOLUTION


# %% [markdown] hints="verify_block"
# 1. Decide on all draft tokens of all rows at once, then count up to each row's first rejection.
# 2. `gather(-1, drafted[..., None])` picks the probabilities of the drafted tokens. A cumulative product of the
#    verdicts is 1 up to the first rejection and 0 after it.
# 3. With `count` `(B,)`: pad `q` by one row of zeros, take `p` and `q` at `[torch.arange(B), count]`, clamp their
#    difference at 0, divide it by its sum, and call `sample_rows`.

# %% tags=["demo"]
figures.distribution_of_blocks(verify_block)

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
# It covers three cases: the whole prompt, one token, and two tokens for the draft after a block that was accepted
# whole. A loop that always feeds "the last token" misses the third, without an error.
#
# ### Exercise: speculative_generate
#
# **Task.** Return the new tokens after a prompt: chapter 02's decoder, with caches, in blocks of up to `k` draft tokens.
#
# **Arguments.** `target` and `draft` follow the protocol, `prompt_ids` is a list of at least one token. The
# function returns a list of `max_new_tokens` tokens, or fewer: a new token equal to `eos_id` ends the text, also
# inside a block. You call:
#
# | call | takes | returns |
# | --- | --- | --- |
# | `feed(model, cache, tokens)` | all tokens so far, a list | logits `(1, T, V)` of the `T` tokens read |
# | `Warp(temperature)(logits)` | `(..., V)` | distributions of this shape, softmax(logits / temperature); one-hot at temperature 0 |
# | `sample_rows(probs, u)` | `(B, V)` and `(B,)` | tokens `(B,)` |
# | `verify_block(p, q, drafted, r, u)` | `(1, n+1, V)`, `(1, n, V)`, `(1, n)` long, `(1, n)`, `(1,)` | count `(1,)`, token `(1,)` |
# | `rollback(cache, length)` | one row | nothing |
#
# A block with `left` tokens still to write drafts `n = min(k, left - 1)` tokens, since its last token comes from
# the target. It draws, in this order, `rng.random(n)` for the draft, `rng.random(n)` for `r`, and `rng.random()`
# for `u`. At temperature 0 it draws nothing and uses zeros. Put tensors on the device of `cache.length`.
#
# **Example.** `k = 4`, 10 tokens. If nothing is accepted, the blocks draft 4, 4, 4, 4, 4, 4, 3, 2, 1 and 0 tokens.
# If everything is accepted, they draft 4 and 4, and the text is complete.
#
# **The tests also check.** The target is called once per block (once more for the prompt is fine), and reads a
# token again only if it was rolled back. The draft may read its last proposal at once or in the next block. For 0
# tokens no model is called.


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
# 1. The text ends with one token that nobody has read. `feed` reads whatever is missing, so the prompt, that token
#    and a bonus token need no case of their own.
# 2. A block: `n`, the numbers, `n` draft tokens one by one, one pass of the target over what it has not read, the
#    verdict, the new tokens, two rollbacks.
# 3. Both caches go back to at most `len(text) - 1` positions. The draft may hold fewer:
#    `rollback(draft_cache, min(held, len(text) - 1))`. With `n = 0` there is no `q` to join:
#    `torch.cat([*q, p[:, :0]], 1)` is right for every `n`.

# %% [markdown]
# The picture shows what your loop feeds to two small models, pass by pass. Find the blocks that were accepted
# whole.

# %% tags=["demo"]
figures.tokens_read(speculative_generate)

# %% test="speculative_generate" points=8
lesson.check_speculative_generate(speculative_generate)

# %% [markdown]
# ### Whose text does your loop write?
#
# The next cell runs your loop on a lookup table over two tokens, once for every combination of random numbers that
# makes a difference, and adds up the probabilities. The total variation should be 0. Not 0.001: 0.

# %% tags=["demo"]
figures.distribution_of_texts(speculative_generate)

# %% [markdown]
# **The first sitting ends here.** Your decoder is written. When you come back, select this cell and choose *Run*,
# *Run All Above Selected Cell*.
#
# ## Second sitting: whose decoder runs
#
# With `MINE = False` the library's loop runs instead.

# %% tags=["demo"]
print("Loading the measuring code: about 5 s.")
import re

from specdec_lib.assets import tokenizer
from specdec_lib.lessons.drawing.series import show_table
from specdec_lib.lessons.widgets import trace_picture
from specdec_lib.measure import papers, results, strategies
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.experiment import contest, decoders, grid, identity, survey, traces

# %% tags=["demo"]
MINE = True


def our_decoder() -> decoders.StudentDecoder:
    """Yours, if its three functions pass their checks as they are now; or the library's."""
    if not MINE:
        return decoders.LIBRARY_DECODER
    lesson.require_right(rollback, verify_block, speculative_generate)
    return decoders.StudentDecoder("your", speculative_generate)


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
# How many of the three programs write texts whose distribution is not the target's? Write a number from 0 to 3.

# %% solution="prediction_08_b"
### BEGIN SOLUTION
prediction_08_b = 1
### END SOLUTION

# %% test="prediction_08_b" points=1
lesson.committed("prediction_08_b", prediction_08_b, 0, 3)

# %% [markdown]
# The next cell runs your decoder with these mistakes, once with the target as its own draft, once with the draft
# *base*. The distance of the texts is exact.

# %% tags=["demo"]
print("The decoder with each mistake, on two pairs: about 12 s.")
target, base = strategies.built_in_models("target", "base").values()
figures.broken_decoders(broken.fault_costs(our_decoder().generate, target, base, prompts(4)))
lesson.reveal("prediction_08_b", prediction_08_b)

# %% [markdown]
# The two mistakes in the draft's cache cost speed only, so no test of the *distribution* finds them:
#
# - If the target is its own draft, every block should be accepted whole: five tokens per pass at `K = 4`. Fewer
#   means that the bonus feed was forgotten. With *base* this mistake hardly shows.
# - A forgotten rollback of the draft shows only with *base*, where tokens are rejected. There it costs about a
#   quarter of the tokens per pass.
#
# ### The texts differ. Is it a bug?
#
# At temperature 0 a right loop writes plain decoding's text. But a pass over five tokens may round differently from
# five passes over one, and two logits that nearly tie may swap. So look at the first place where the texts part,
# and at the target's two logits there. In bfloat16 the first of these three texts parted on our machine.

# %% tags=["demo"]
rough = tuple(strategies.built_in_models("target", "base", dtype=torch.bfloat16).values())
forgetful = broken.careless("the target's rollback", target, base)
programs = {"yours, float32": (target, base), "yours, bfloat16": rough, "no rollback": forgetful}
show_table(identity.first_partings(our_decoder().generate, programs, prompts(23, 32, ".py")[20:]))

# %% [markdown]
# **The rule.** In float32 a gap below about 0.001 is rounding. A larger one is a bug, even 0.05. In bfloat16 a
# logit between 8 and 16 is a multiple of 0.0625, so one or two such steps are rounding.
#
# ## What a server adds: top-p and a grammar
#
# Users ask for top-p, or for text that a parser accepts. Your loop needs no new line: both change the logits on
# their way out of a *model*. Top-p is chapter 03's `warp`. A grammar also has a state, here the number of open
# brackets; it lives beside the cache and goes back with it.

# %% tags=["demo", "shown"]
words = tokenizer()
pieces = [words.decode([token], skip_special_tokens=False) for token in range(target.vocab_size)]
opens = torch.tensor([piece.count("(") - piece.count(")") for piece in pieces])
# Tokens that may be written: a bracket, or digits and signs.
signs = torch.tensor([bool(re.fullmatch(r" *([0-9+*-]+|[()]) *", piece)) for piece in pieces])


class StatefulCache:
    """A cache that knows, after each of its tokens, how many brackets are open."""

    def __init__(self, cache):
        self.cache, self.depth = cache, [0]

    length = property(lambda self: self.cache.length)

    def truncate(self, length):
        self.cache.truncate(length)
        del self.depth[length + 1 :]  # the state goes back, too


class Forgetful(StatefulCache):
    def truncate(self, length):
        self.cache.truncate(length)


class Changed:
    """`model` with its logits changed by `rule(logits, depth)`."""

    def __init__(self, model, rule, cache=StatefulCache):
        self.model, self.rule, self.cache, self.vocab_size = model, rule, cache, model.vocab_size

    def new_cache(self, batch=1):
        return self.cache(self.model.new_cache(batch))

    def forward(self, tokens, cache):
        for token in tokens[0]:
            cache.depth.append(cache.depth[-1] + int(opens[token]))
        depth = torch.tensor(cache.depth[-tokens.shape[1] :])
        return self.rule(self.model.forward(tokens, cache.cache), depth[:, None])


def top_p(logits, depth):
    return Warp(0.7, top_p=0.9)(logits).log()


def grammar(logits, depth):
    return logits.masked_fill(~signs | (depth + opens < 0), -torch.inf)


pairs = {
    "nothing": (target, base),
    "top-p on the target": (Changed(target, top_p), base),
    "top-p on both": (Changed(target, top_p), Changed(base, top_p)),
    "a grammar on the target": (Changed(target, grammar), base),
    "a grammar on both": (Changed(target, grammar), Changed(base, grammar)),
    "the same, but the state stays": [Changed(m, grammar, Forgetful) for m in (target, base)],
}
starts = [words.encode(start).ids for start in ("x = (", "total = (", "return (", "print(")]
show_table(our_decoder().acceptance_table(pairs, starts, lambda ids: lesson.closes(words.decode(ids))))

# %% [markdown]
# In a *right* text no bracket closes that wasn't open. If the rule is the target's alone, the draft proposes what
# is forbidden. On both sides the acceptance returns. A state that stays breaks texts.
#
# ## What this machine has

# %% tags=["demo"]
print("Loading, then a pass of each kind 15 times: about 12 s.")
machine = survey.load_machine()
show_table(machine.passes(), "v in passes of the target over one token, and c of each draft")

# %% [markdown]
# The built-in target is slow on purpose: it writes the same text in costlier passes. `v(5)` is the time of its pass
# over five tokens, in passes over one.
#
# ## Against Hugging Face
#
# A program is a loop and a forward pass, and a fair race changes one at a time. So your loop runs on Hugging Face's
# own forward pass, with the very models that `generate` gets, and again on the library's, which reads 16 bits per
# weight on a CPU where theirs reads 32. Each loop also runs without drafts: yours with `k = 0`.
# Five texts, greedy, each decoder in turn. The models are SmolLM2-135M-Instruct and its 6M draft, if you have run
# `specdec fetch smollm2-135m`; else the built-in pair.
#
# From here on a speed-up is the median over the texts of a ratio of times, with its **quartiles**: half of the
# texts lie between them. If 1 lies there too, the run shows no difference.
#
# ### Commit first
#
# On the same model and the same forward pass, with the same drafts: how many times as fast as Hugging Face's loop
# will yours be? Write a number from 0 to 10.

# %% solution="prediction_08_c"
### BEGIN SOLUTION
prediction_08_c = 1.0
### END SOLUTION

# %% test="prediction_08_c" points=1
lesson.committed("prediction_08_c", prediction_08_c, 0, 10)

# %% tags=["demo"]
print("Loading, then five decoders in turn: about a minute.")
met = contest.measure_contest(our_decoder(), machine)
charts.contest(met)
lesson.reveal("prediction_08_c", prediction_08_c, met.speedup("the loop")[0])

# %% [markdown]
# Equal passes say that your loop *is* the algorithm. For comparison, SmolLM2 as recorded with this chapter's
# solution:

# %% tags=["demo"]
charts.contest(contest.recorded_contest())

# %% [markdown]
# Drafting loses where a block takes longer than plain decoding of its tokens.
#
# ## The experiment
#
# Leviathan et al. ran one target with three drafts at two temperatures. You do the same on built-in models, with the
# best `K` by your measured `v`. Before it was slowed down, the target had 17, 8 and 4 times the weights of *small*,
# *base* and *large*.

# %% tags=["demo"]
rows = grid.measure_rows(machine, our_decoder())
charts.results(rows, our_decoder().whose)
about = machine.about() | {"decoder": our_decoder().whose}
print(f"Written to {results.write_results(rows, about, 'chapter08_results.json')}.")

# %% [markdown]
# | column | what it is |
# | --- | --- |
# | v = 1 | the paper's promise: the formula with its own best `K`, and a verification that costs one pass |
# | measured v | the promise at this `K`, with the verification as measured |
# | clock | your decoder over plain decoding: the median of the texts, and the quartiles |

# %% tags=["demo"]
en_de = [row for row in papers.paper_table("leviathan_2_4") if row.task == "EnDe"]
charts.beside_the_paper(rows, en_de)

# %% [markdown]
# The paper has other models and another machine: compare the *pattern*, not the height.
#
# And on a graphics card? This chapter's solution ran on an H200 on 27 November 2026: the built-in target at the
# cost of 7B, bfloat16, greedy, draft *large*, `K = 4`.
#
# | tokens a second | plain | speculative |
# | --- | --- | --- |
# | the library | 92.5 | 108.0 |
# | Hugging Face | 52.8 | 81.6 |
#
# These passes were eager: the CPU took 10 ms to launch the kernels of a pass, and the GPU was busy for half of that
# time. A card then measures Python. Engines replay a whole pass as a CUDA graph.
#
# <details><summary>More cards: published shapes, and published pairs</summary>
#
# Passes of published shapes with random weights, by transformers in bfloat16, eager, on an H200, recorded on 26
# November 2026:
#
# | target, draft | layers | ms per pass | c | v(2) | v(5) | formula at alpha 0.7 |
# | --- | --- | --- | --- | --- | --- | --- |
# | Vicuna 7B, 68M | 32, 2 | 38.9 | 0.10 | 1.12 | 1.10 | 1.85 at K = 4 |
# | Qwen3 4B, 0.6B | 36, 28 | 36.0 | 0.77 | 1.13 | 1.12 | 0.89 at K = 1 |
# | SmolLM2 1.7B, 135M | 24, 30 | 20.2 | 1.23 | 1.12 | 1.12 | 0.72 at K = 1 |
#
# Layers decide here, not weights: the CPU launches kernels more slowly than the GPU finishes them. The last draft
# has a thirteenth of its target's weights, and is the *slower* of the two!
#
# A published pair is one call, which asks before it downloads. We have not run one with its weights. `specdec
# pairs` lists them by card; over 30 GB, add `limit=70`.
#
# ```python
# from specdec_lib.measure.experiment.published import measure_tasks
# measure_tasks(our_decoder(), "vicuna", "68m")
# ```
#
# In its table, *printed* is a paper's speed-up in the same task: Spec-Bench's draft model for Vicuna, T5-XXL in Table 2 for
# FLAN-T5, Chinchilla for all others. Without the extra `published`, built-in texts stand in, and no published
# number stands beside them.
#
# </details>
#
# ## Token by token
#
# Easy blocks often come in a row, and so do hard ones: constant `alpha` is an approximation.

# %% tags=["demo"]
trace_picture(**traces.first_trace(met.models))

# %% [markdown]
# ## In your own words: which draft wins?
#
# Does *your* run name a winner? If not, what would? Set `alpha`, `c` and `K` of the rows side by side, and use them
# to explain why. Three to five sentences, with numbers; they are marked by hand.

# %% [markdown] written="which_draft_wins" points=2
# The comparison to make: from the smallest draft to the largest, by how much does alpha rise, and by how much c?
# A larger draft pays if the tokens that it adds to a block are worth more than the K c that it adds to the block's
# price. In the paper c goes from 0.02 to 0.11, while alpha rises by 0.09 or less at temperature 1, so the cheapest
# wins. Beside a slow target all three c are small, and alpha decides; beside a fast one c decides. If the quartiles
# of two drafts overlap, this run names no winner. More texts, with the drafts in turn on a quiet
# machine, or drafts that differ by more than the spread, would.

# %% [markdown]
# ## Quiz
#
# **Question 1.** The text has 20 tokens. Four tokens are drafted, all four are accepted, and the bonus is written.
# If a draft reads its last proposal only in the next block, how many positions does its cache hold when that block
# begins?
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
# **Question 2.** A page says: "2.6 times as fast as Hugging Face generate, on one prompt, temperature 0." What does
# that tell you about speculative decoding?
#
# - a: nothing yet: the baseline is another program, so its plain decoding may explain most of it
# - b: that alpha is at least 0.62, since a block writes 2.6 tokens on average
# - c: that sampling would be 2.6 times as fast too, since the models are the same
# - d: that K was at least 2, since a block writes at most K + 1 tokens

# %% solution="quiz_08_b"
### BEGIN SOLUTION
quiz_08_b = "a"
### END SOLUTION

# %% test="quiz_08_b" points=1
lesson.answered("quiz_08_b", quiz_08_b)

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence?
#
# **You might read: "100 tokens ≈ 100/K forward passes of the large model."**
#
# <details><summary>Answer</summary>
#
# A block writes between 1 and K + 1 tokens, and how many depends on the draft. *For example:* divide 100 by your
# `K`, and compare with the passes in the table beside Hugging Face. (The repository
# raiyanyahya/how-to-train-your-gpt, `speculative_decoding.md` at 92036280.)
#
# </details>
#
# **You might read: "You can apply it to any autoregressive model without retraining."**
#
# <details><summary>Answer</summary>
#
# The model must be able to go back. A recurrent state, as in Mamba, has no position to cut at. *For example:* your
# `rollback` needs `truncate`, and transformers 5.23.0 refuses "stateful models" in assisted generation
# (`generation/utils.py`, line 1883). The sentence stands in the same file.
#
# </details>
#
# <details><summary>What a user of transformers meets</summary>
#
# Stop strings inside a block, a cache that is filled already, guidance, watermarks, another tokenizer:
# `docs/your_log_says.md` has what assisted generation does with each, by version. In older code
# `DynamicCache.crop(n)` with a positive `n` kept `n` positions; today it takes how many to remove, as a negative
# number.
#
# </details>
#
# ## The race again
#
# The race replays three decoders of your contest: plain decoding and yours on the library's forward pass, Hugging
# Face's on its own. Each clock starts before the prompt is read.

# %% tags=["demo"]
from specdec_lib.lessons.drawing.race import show_race

show_race([met.race])

# %% [markdown]
# In chapter 00 you watched this race. Now you have run it.
#
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*, ICML 2023,
#   [arXiv 2211.17192](https://arxiv.org/abs/2211.17192). `speculative_generate` repeats its Algorithm 1. Tables 2 and 4 are the experiment, with T5-XXL
#   on one TPU v4, batch 1, against the T5X code base.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, [arXiv
#   2302.01318](https://arxiv.org/abs/2302.01318): Table 1, K = 4, Chinchilla 70B on 16 TPU v4.
# - Spec-Bench, github.com/hemingkx/Spec-Bench, `Leaderboard.md` at 09244ff: Vicuna 7B with a draft of 68M on an
#   A100, greedy, FP16, task by task.
# - Hugging Face transformers 5.23.0. `GenerationMixin._assisted_decoding` is this loop for one text, and the
#   baseline. Here it drafts K tokens in every block. Its default is 20, on the schedule "constant", with a stop
#   below confidence 0.4.
# - vLLM, `vllm/v1/worker/gpu/spec_decode/rejection_sampler.py` at 3e660898, judges the blocks of all requests
#   together. A token stays if `target_prob > u * draft_prob`, which is your rule (in 0.33.0
#   in logarithms). Pull requests 5765 and 9730 are
#   the bonus feed.
# - T. Chen, I. Goodfellow, J. Shlens, *Net2Net*, ICLR 2016: how the costlier target is made.
#
# **Next.** Read `specdec_lib/decoding/speculative.py` beside your loop. The way on, to long contexts and test-time
# compute, is `docs/regimes.md`.
