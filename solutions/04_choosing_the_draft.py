# %% [markdown]
# # 04 Choosing the draft: fast or accurate, and how many tokens
#
# 90 minutes · difficulty 3 of 5 · you need: chapter 02 (a draft token is accepted with probability
# min(1, p/q)), how to index a NumPy array, and for one exercise what a gradient is
#
# **Carry in.** A draft model proposes a block of `K` tokens, the target judges them in one pass,
# and the law of the text stays the target's whatever the draft is.
#
# **Work here.** So the draft decides about time alone. You write seven short functions: four turn
# `alpha`, `c` and `K` into a speed-up and find the best `K`, three make drafts.
#
# **Carry out.** A draft pays where `alpha` is above `c`. How much it pays, and with which `K`,
# follows from numbers that you can measure in a minute.
#
# Run the cells from top to bottom. Times that a cell prints are those of your machine. If other
# programs disturb them, it says so, and goes on with times that were recorded on a quiet one.

# %%
import numpy as np

from specdec_lib.lessons.ch04 import checks as lesson
from specdec_lib.lessons.ch04.checks import hints

# %% tags=["demo"]
from specdec_lib.lessons.ch04 import figures, measured as charts

# %% [markdown]
# ## The two numbers of a draft
#
# - **`alpha`**, how accurate it is: the mean over positions of `sum_x min(p(x), q(x))`, which is
#   the probability that the target accepts a draft token that it judges.
# - **`c`**, how slow it is: the time of one draft step over that of a target pass over one token.
#
# Both are 1 for the target itself, and both fall as the draft gets smaller: fast or accurate. Three
# things make it a good trade: the models agree, the draft is much cheaper, and the text is
# predictable. The ratio of sizes is not one of them.
#
# Here is one block in milliseconds. The target takes 50 ms a pass, the draft 5 ms a step, `K` is 5,
# and in this block 3 draft tokens were accepted.

# %% tags=["demo"]
figures.one_block(target_ms=50, draft_ms=5, k=5, accepted=3)

# %% [markdown]
# The block takes `5 x 5 + 50 = 75` ms and writes 4 tokens, the 3 accepted ones and a correction:
# 18.75 ms each in place of 50, which is 2.67 times as fast.
#
# One block is luck. To choose a draft you need the mean, and the formulas of this chapter get it
# from one assumption: **each draft token is accepted with the same probability `alpha`, whatever
# happened to the others.** Real text does not keep to it; chapters 05 and 06 show what that costs.
#
# ## How many tokens a block brings
#
# ### Commit first
#
# Let `alpha = .7` and `K = 5`. How many tokens does a block write on average, the correction or the
# bonus token counted? Write a number from 0 to 6, by feeling.

# %% solution="prediction_04"
### BEGIN SOLUTION
prediction_04 = 3.5
### END SOLUTION

# %% test="prediction_04" points=1
lesson.committed("prediction_04", prediction_04, 0, 6)

# %% tags=["demo"]
lesson.reveal("prediction_04", prediction_04)

# %% [markdown]
# Draft token 1 is accepted with probability `alpha`. Token 2 counts only if token 1 was accepted
# too, so with `alpha^2`, and token `i` with `alpha^i`. Add them up:
#
# $$ E[\text{accepted}] = \alpha + \cdots + \alpha^K = \frac{\alpha\,(1 - \alpha^K)}{1 - \alpha},
# \qquad E[\text{tokens}] = E[\text{accepted}] + 1 = \frac{1 - \alpha^{K+1}}{1 - \alpha} $$
#
# The 1 is the token that every block gets from the target: a correction after a rejection, the
# bonus token after none. The second formula is Leviathan et al.'s Equation 1. At `alpha = 1` take
# the sums.

# %% [markdown]
# ### Exercise: expected_accepted
#
# **What.** The mean number of accepted draft tokens in a block. **Shapes.** `alpha` is a float from
# 0 to 1, `k` an int from 0 on; a float comes back. It must be right at `alpha = 1` too.
#
# **One worked number.** `alpha = .5` and `k = 2`: `.5 + .25 = .75`.
#
# **In production.** `transformers.generation.utils._speculative_sampling` returns the count of one
# block as `n_matches`; vLLM sums it up in `vllm/v1/spec_decode/metrics.py`.


# %% solution="expected_accepted"
def expected_accepted(alpha: float, k: int) -> float:
    """The mean number of accepted tokens in a block of k: alpha + alpha^2 + ... + alpha^k."""
    ### BEGIN SOLUTION
    return float(sum(alpha**i for i in range(1, k + 1)))
    ### END SOLUTION


# %% tags=["demo"]
hints(expected_accepted)

# %% test="expected_accepted" points=2
lesson.check_expected_accepted(expected_accepted)

# %% [markdown]
# ### Exercise: expected_tokens
#
# **What.** The mean number of tokens that a block writes. **Shapes.** As above.
#
# **One worked number.** `alpha = .5` and `k = 2`: `.75 + 1 = 1.75`.
#
# **In production.** `transformers.generation.candidate_generator.AssistedCandidateGenerator` keeps
# no mean. vLLM logs it as "mean acceptance length", in `vllm/v1/spec_decode/metrics.py`.


# %% solution="expected_tokens"
def expected_tokens(alpha: float, k: int) -> float:
    """The mean number of tokens of a block, from 1 to k + 1; Leviathan et al., Equation 1."""
    ### BEGIN SOLUTION
    return expected_accepted(alpha, k) + 1.0
    ### END SOLUTION


# %% tags=["demo"]
hints(expected_tokens)

# %% tags=["demo"]
figures.tokens_of_a_block(expected_accepted, expected_tokens)

# %% test="expected_tokens" points=2
lesson.check_expected_tokens(expected_tokens)

# %% [markdown]
# ## What a block costs
#
# Measure time in target passes over one token. `K` draft steps take `c K`. The verification is one
# pass over `K + 1` tokens and takes `v(K+1)`; chapter 00 says why that is close to 1 for a while.
#
# $$ \text{speed-up} = \frac{E[\text{tokens}]}{c\,K + v(K+1)} $$
#
# With `v = 1` this is Theorem 3.8 of Leviathan et al. A draft is seldom free: Chen et al. report
# 14.1 ms for a target token and 1.8 ms for a draft token, so `c = .128`, and with their `K = 4`
# drafting takes `.51` of `1.51`, a third of the time. Even so they were 1.9 to 2.5 times as fast.
#
# ### Commit first
#
# A hopeless draft: nothing is ever accepted, `alpha = 0`. It is fast, `c = .1`, and `K = 5`. What
# is the "speed-up"? Write a number from 0 to 2.

# %% solution="prediction_04_b"
### BEGIN SOLUTION
prediction_04_b = 1.0
### END SOLUTION

# %% test="prediction_04_b" points=1
lesson.committed("prediction_04_b", prediction_04_b, 0, 2)

# %% tags=["demo"]
lesson.reveal("prediction_04_b", prediction_04_b)

# %% [markdown]
# ### Exercise: walltime_speedup
#
# **What.** How many times as fast as plain decoding. **Shapes.** `alpha`, `c` and `verify_cost` are
# floats, `k` an int from 0 on; `verify_cost` is `v(k + 1)`. A float comes back, also below 1.
#
# **One worked number.** `alpha = .5`, `c = .1`, `k = 2`: `1.75/1.2 = 1.458`. With
# `verify_cost = 1.3` it is `1.167`.
#
# **In production.** `transformers.generation.configuration_utils.GenerationConfig` takes K as
# `num_assistant_tokens`, vLLM as `num_speculative_tokens` in `vllm/config/speculative.py`.


# %% solution="walltime_speedup"
def walltime_speedup(alpha: float, c: float, k: int, verify_cost: float = 1.0) -> float:
    """Plain time over speculative time a token; Leviathan et al., Theorem 3.8, with v(k + 1)."""
    ### BEGIN SOLUTION
    return expected_tokens(alpha, k) / (c * k + verify_cost)
    ### END SOLUTION


# %% tags=["demo"]
hints(walltime_speedup)

# %% tags=["demo"]
figures.speed_by_k(walltime_speedup, alpha=0.7, costs=(0.0, 0.02, 0.1, 0.3))

# %% test="walltime_speedup" points=2
lesson.check_walltime_speedup(walltime_speedup)

# %% [markdown]
# Every curve with a price rises, is flat for a while, falls, and ends below 1 if `K` is large
# enough. With too few draft tokens you pay a target pass for little; with too many you draft what
# stands behind a rejection. Near the top an error of one or two costs little. Leviathan et al.
# drafted 3 to 7 tokens and were 1.4 to 3.4 times as fast.
#
# ## The best K
#
# Look at the next draft token by itself. It costs `c` for certain and brings `alpha^(K+1)`, less
# each time. Drafting it pays as long as that is a better rate than the block has already:
#
# $$ \frac{\alpha^{K+1}}{c} > \text{the speed-up so far}. $$
#
# The first token brings `alpha` for `c`, against a speed-up of 1. So with `v = 1` **some `K` pays
# exactly where `alpha > c`**, and then the gain is at least `(1 + alpha)/(1 + c)`: corollary 3.9 of
# Leviathan et al. For any other draft the best `K` is 0, plain decoding.

# %% [markdown]
# ### Exercise: best_k
#
# **What.** The best `K` by the formula with `v = 1`. **Shapes.** `alpha` and `c` are floats,
# `k_max` an int from 1 on; an int from 0 to `k_max` comes back, 0 where no `K` beats 1. Speed-ups
# within 1e-12 of each other are equal, and of equal ones the smallest `K` wins.
#
# **One worked number.** `alpha = .5`, `c = .1`: `K` of 1, 2, 3 give `1.364`, `1.458`, `1.442`: 2.
#
# **In production.** `transformers.generation.candidate_generator.AssistedCandidateGenerator` knows
# no `c`: its schedule `heuristic` adds 2 to K after a block that was accepted whole, else takes 1
# off. In vLLM, `vllm/config/speculative.py` takes the number that you give.


# %% solution="best_k"
def best_k(alpha: float, c: float, k_max: int) -> int:
    """The smallest best K in 1..k_max with v = 1; 0 where none is faster than plain decoding."""
    ### BEGIN SOLUTION
    best, fastest = 0, 1.0
    for k in range(1, k_max + 1):
        speed = walltime_speedup(alpha, c, k)
        if speed > fastest + 1e-12:
            best, fastest = k, speed
    return best
    ### END SOLUTION


# %% tags=["demo"]
hints(best_k)

# %% tags=["demo"]
figures.best_k_map(best_k, lesson.ALPHAS, lesson.COSTS, k_max=30)

# %% test="best_k" points=4
lesson.check_best_k(best_k)

# %% [markdown]
# Read the row of .7 from left to right: the best `K` falls from 9 to 2, although `alpha` stays. A
# rule that knows `alpha` alone cannot do that. The usual "4 to 8" is the middle of this map.
#
# ## Simulator: the trade-off explorer
#
# A pass over many tokens is not quite free: here every token after the first adds `s`:
# `v(m) = 1 + s (m - 1)`. A ring marks the best `K`, a square yours.
#
# ### Commit first
#
# With `alpha = .8`, `c = .05` and `s = 0` the best `K` is 8. Now let each further token of a pass
# cost a tenth of the first, `s = .1`. What is the best `K`? Write a whole number from 0 to 20.

# %% solution="prediction_04_c"
### BEGIN SOLUTION
prediction_04_c = 6
### END SOLUTION

# %% test="prediction_04_c" points=1
lesson.committed("prediction_04_c", prediction_04_c, 0, 20)

# %% tags=["demo"]
from specdec_lib.lessons.widgets.tradeoff import tradeoff_simulator

tradeoff_simulator(alpha=0.7, c=0.05, k=5, s=0.0)

# %% tags=["demo"]
lesson.reveal("prediction_04_c", prediction_04_c)

# %% [markdown]
# Try to bring the best `K` to 0 without touching `alpha`. A still picture of the prediction, from
# your function:

# %% tags=["demo"]
figures.flat_and_steep(walltime_speedup, alpha=0.8, c=0.05, slopes=(0.0, 0.1))

# %% [markdown]
# ## Where a draft comes from
#
# | strategy | what it is | `alpha` | `c` |
# | --- | --- | --- | --- |
# | same family | a smaller model by the same maker: same tokenizer, similar text | high | by its size |
# | distilled | a small model trained on the target's distributions | higher at that size | by its size |
# | early exit | the target's first layers, with its norm and head | low unless trained | their share |
# | n-gram | counts of a corpus: what followed the last token or two | low | nearly 0 |
# | prompt lookup | what followed the last time that this text read like this | depends on the text | nearly 0 |
#
# All need the target's vocabulary: `min(p(x), q(x))` compares the same token `x`. Chapter 07 shows
# what to do without. You write the last two: counts know the average text, lookup this one.

# %% [markdown]
# ### Exercise: prompt_lookup
#
# **What.** Take the longest suffix of `tokens`, of at most `max_ngram`, that occurs earlier too.
# Return what followed its **latest** earlier occurrence: up to `k` tokens. The occurrence may
# overlap the suffix. Nothing found: `[]`. **Shapes.** A list of ints, and a new list.
#
# **One worked number.** `tokens = [4, 5, 6, 9, 5, 6]`, `k = 3`: `[5, 6]` stood at 1: `[9, 5, 6]`.
#
# **In production.** `transformers.generation.candidate_generator.PromptLookupCandidateGenerator`
# and `vllm/v1/spec_decode/ngram_proposer.py` do this, with the earliest occurrence.


# %% solution="prompt_lookup"
def prompt_lookup(tokens: list[int], k: int, max_ngram: int = 3) -> list[int]:
    """Up to k tokens that followed the latest earlier occurrence of the longest suffix; or []."""
    ### BEGIN SOLUTION
    for size in range(min(max_ngram, len(tokens) - 1), 0, -1):
        suffix = tokens[-size:]
        for start in range(len(tokens) - size - 1, -1, -1):
            if tokens[start : start + size] == suffix:
                return tokens[start + size : start + size + k]
    return []
    ### END SOLUTION


# %% tags=["demo"]
hints(prompt_lookup)

# %% tags=["demo"]
figures.found_in_the_text(prompt_lookup, lesson.WORDS, k=4)

# %% test="prompt_lookup" points=4
lesson.check_prompt_lookup(prompt_lookup)

# %% [markdown]
# ### Exercise: bigram_probs
#
# **What.** A draft from counts: row `i` is the distribution of the token after token `i`. Each cell
# starts at `smoothing`, each pair of neighbours adds 1, each row is divided by its sum; a row
# without mass is uniform. **Shapes.** `tokens` are ints below `vocab_size`; `(V, V)` comes back.
#
# **One worked number.** `tokens = [0, 1, 0, 1, 1]` over two tokens, `smoothing = 1`: 0 was followed
# by 1 twice and by 0 never, so row 0 is `[1, 3]/4 = [.25, .75]`. Row 1 is `[.5, .5]`.
#
# **In production.** `transformers.generation.candidate_generator.PromptLookupCandidateGenerator`
# counts nothing. In vLLM, `vllm/v1/spec_decode/suffix_decoding.py` counts in prompt and answers.


# %% solution="bigram_probs"
def bigram_probs(tokens: list[int], vocab_size: int, smoothing: float = 1.0) -> np.ndarray:
    """The table (V, V) whose row i is the distribution of the token after token i."""
    ### BEGIN SOLUTION
    ids = np.asarray(tokens, dtype=int)
    counts = np.full((vocab_size, vocab_size), float(smoothing))
    np.add.at(counts, (ids[:-1], ids[1:]), 1.0)
    counts[counts.sum(axis=1) == 0] = 1.0
    return counts / counts.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% tags=["demo"]
hints(bigram_probs)

# %% tags=["demo"]
figures.bigram_table(bigram_probs, lesson.WORDS)

# %% test="bigram_probs" points=3
lesson.check_bigram_probs(bigram_probs)

# %% [markdown]
# ## Three drafts, measured
#
# The built-in target has 7.9 million parameters and three drafts of its family, all distilled from
# it. A fourth draft is an early exit: the target cut after the first of its four layers. `alpha` is
# measured at temperature 1 over 3,000 positions of held-out text, `c` and `v` from bare passes on
# half of your machine's cores. Your `walltime_speedup` says what to expect.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure import strategies
from specdec_lib.measure.quiet.runs import beside

leave_cores()  # as in chapter 00
lab = strategies.Laboratory()
drafts = strategies.built_in("large", "base", "small") | {"first layer": strategies.first_layers(1)}
accepted = lab.alphas(drafts)
for run in beside("04 drafts", {"built-in": lab.times(drafts)}):
    measured = strategies.rows(drafts, accepted, run["built-in"])
    charts.table_of_drafts(measured, walltime_speedup)

# %% [markdown]
# The first three stand in the order of their `alpha`. Do the speed-ups come in the same order, or
# does what `large` has in accuracy cost more than it brings? The early exit has `alpha` .31: where
# its `c` is larger, its best `K` is 0.
#
# Now the same target is made as slow as one of 40 million parameters, with the same distribution.
# `alpha` stays. A draft step is what it was, and a pass of the target takes longer. What does that
# do to `c`, and to the last two columns? Look at `v` too: it may jump.

# %% tags=["demo"]
from specdec_lib.models.pairs import load_pair

pair = load_pair(draft="small", target_cost="40m")
print(pair.label)
family = {name: drafts[name] for name in ("large", "base", "small")}
for run in beside("04 costlier", {"40M cost": lab.times(family, pair.target)}):
    costlier = strategies.rows(family, accepted, run["40M cost"])
    charts.table_of_drafts(costlier, walltime_speedup)
charts.flat_or_measured(
    walltime_speedup, {"built-in": measured["small"], "40M cost": costlier["small"]}
)

# %% [markdown]
# That was arithmetic. Here is the decoder itself on the built-in target, plain and speculative by
# turns, on held-out prompts at temperature 1: the small draft at its best `K`, and the early exit.

# %% tags=["demo"]
from specdec_lib.measure.core.timing import ratios

k = max(1, measured["small"].costs.best_k(measured["small"].alpha))
races = {f"{name}, K = {k}": lab.race(drafts[name], k) for name in ("small", "first layer")}
for run in beside("04 race", races):
    for name, times in run.items():
        faster = ratios(times["plain"], times["speculative"])
        print(f"{name}: {faster} times as fast (median and quartiles)")

# %% [markdown]
# ## All strategies on the same text
#
# `alpha` of every strategy at the same positions, with its `c` as a diamond where it was timed.
# Your bigram table counts one half of the held-out documents, 63 thousand tokens; everything is
# measured on the other half. The corpus is 9 million tokens of training text. A lookup that finds
# nothing counts 0.

# %% tags=["demo"]
from specdec_lib.measure.core.costs import relative

yours = strategies.own_drafts(lab, bigram_probs, prompt_lookup)
alphas = accepted | yours.alphas
alphas |= {name: lab.alpha(reader) for name, reader in strategies.corpus_ngrams().items()}
costs = {name: row.costs.c for name, row in measured.items()}
for run in beside("04 tables", yours.times):
    costs |= {name: relative(times)[0]["draft"].c for name, times in run.items()}
charts.strategies(alphas, costs)

# %% [markdown]
# Here a model of half a million parameters has a larger `alpha` than every table; the diamonds say
# what each costs. Lookup is best where the answer repeats the prompt, as in editing code; this text
# repeats little.
#
# ## Distillation: train the draft on alpha itself
#
# The share that is rejected at one position is the total variation of the two distributions,
#
# $$ 1 - \sum_x \min(p(x), q(x)) = \frac{1}{2} \sum_x |p(x) - q(x)|. $$
#
# So `1 - alpha` is a loss that a draft can be trained on (corollary 3.6 of Leviathan et al.). The
# target teaches more than the text: it grades the whole vocabulary at every position. The next cell
# is given; grading looks at your loss through it.

# %%
import torch


def loss_and_gradient(target_logits, draft_logits, dtype="float32"):
    """Given: your loss with logits of this dtype, and its gradient in the draft's logits."""
    draft = draft_logits.to(getattr(torch, dtype)).requires_grad_()
    loss = distillation_loss(target_logits.to(draft.dtype), draft)
    loss.backward()
    return loss.item(), draft.grad.double()


# %% [markdown]
# ### Exercise: distillation_loss
#
# **What.** The mean over all positions of the total variation of the two softmaxes, in PyTorch
# (`torch`, imported above). **Shapes.** Both arguments are logits `(..., V)`, tensors; a tensor of
# shape `()` comes back. A gradient must reach `draft_logits`. Logits may come in bfloat16: compute
# in float32 or better. The value may be off by 1e-6.
#
# **One worked number.** `log [.45, .30, .15, .10]` and `log [.30, .45, .20, .05]` give .20.
#
# **In production.** `transformers.loss.loss_utils.ForCausalLMLoss`, which models are trained with
# there by default, is the cross-entropy of the next token. vLLM trains no drafts.


# %% solution="distillation_loss"
def distillation_loss(target_logits: torch.Tensor, draft_logits: torch.Tensor) -> torch.Tensor:
    """1 - alpha: the mean over positions of the total variation of the softmaxes; (..., V)."""
    ### BEGIN SOLUTION
    p = target_logits.float().softmax(-1)
    q = draft_logits.float().softmax(-1)
    return 1 - torch.minimum(p, q).sum(-1).mean()
    ### END SOLUTION


# %% tags=["demo"]
hints(distillation_loss)

# %% tags=["demo"]
figures.loss_of_a_coin(distillation_loss, p=0.6)

# %% test="distillation_loss" points=4
lesson.check_distillation_loss(distillation_loss)

# %% [markdown]
# Now teach the early exit. It learns on one half of the documents with your loss, and `alpha` is
# measured on the other. 40 steps take some seconds; thousands of them, for minutes, bring more.

# %% tags=["demo"]
from specdec_lib.training.short import distil, trainable

STEPS = 40
draft = trainable("target", layers=1)
steps = distil(distillation_loss, draft, lab.target, lab.learn, STEPS)
curve = strategies.learning_curve(lab, draft, steps, every=STEPS // 4)
charts.learning_curve(curve, c=measured["first layer"].costs.c)

# %% [markdown]
# Its `c` is what it was, and its `alpha` has risen. Where that lifts `alpha` above `c`, it is
# enough. LayerSkip trains the target itself so that its early layers can draft.
#
# ## The smallest example that makes it click
#
# `alpha = .5`, `c = .1`. Each draft token costs .1.
#
# - The first brings .5, at a rate of `.5/.1 = 5`, better than 1: take it. `1.5/1.1 = 1.364`.
# - The second brings .25, at a rate of 2.5, better than 1.364: take it. `1.75/1.2 = 1.458`.
# - The third brings .125, at a rate of 1.25, worse than 1.458: stop. `K = 2`.

# %% [markdown]
# ## Quiz
#
# **Question 1.** Why is a smaller model of the target's own family a good first draft?
#
# - a: because it has a tenth of the target's size, and that is the best ratio
# - b: because it has the same tokenizer, and its distributions are close to the target's
# - c: because only then is the output still the target's distribution
# - d: because it shares the target's weights, so it takes no memory

# %% solution="quiz_04"
### BEGIN SOLUTION
quiz_04 = "b"
### END SOLUTION

# %% test="quiz_04" points=1
lesson.answered("quiz_04", quiz_04)

# %% [markdown]
# **Question 2.** Your target moves to hardware ten times as fast, and the draft takes as long as
# before: `c` goes from .02 to .2. With `alpha = .7`, what happens to the best `K`?
#
# - a: it stays at 3, since `1/(1 - .7)` has no `c` in it
# - b: it rises, since there is more time to draft in
# - c: it becomes 0, since the draft is too slow now
# - d: it falls from 8 to 3, since each draft token costs ten times as much

# %% solution="quiz_04_b"
### BEGIN SOLUTION
quiz_04_b = "d"
### END SOLUTION

# %% test="quiz_04_b" points=1
lesson.answered("quiz_04_b", quiz_04_b)

# %% [markdown]
# ### In your own words
#
# Draft A has `alpha = .8` and `c = .25`, draft B `alpha = .6` and `c = .02`. A colleague takes A,
# "because it is right more often". Which one do you take, with which `K` each, how fast is each,
# and why? Three to five sentences with numbers. A person marks this answer.

# %% [markdown] written="which_draft" points=2
# B. A is fastest with K = 3: a block brings 2.95 tokens and takes 1.75 passes, 1.69 times as fast.
# B is fastest with K = 6: 2.43 tokens in 1.12 passes, 2.17 times as fast. A block of A brings more
# tokens, but three draft tokens of A cost three quarters of a target pass.

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: "The speed-up is 1/(1 - alpha)."** It is not so, because that counts the tokens
# of an endless block from a free draft. *Look:* .7 would give 3.33 (and .5 would give 2); with
# `c = .05`, `K = 5` gives 2.35, 20 gives 1.67, 50 gives .95.
#
# **You might read: "The best K is 1/(1 - alpha)."** It is not so, because it depends on `c`; with
# `c = 0` there is none. *Look:* .7 and `c = .02`: its 3 gives 2.39, and 8 gives 2.76.
#
# **You might read: "It can only help."** It is not so, because quality cannot suffer but time can.
# *Look:* `K = 5`, nothing accepted: .91, .80, .67 times as fast for `c` of .02, .05, .1. Even
# `alpha = .3` with `c = .1` gives .95.
#
# **You might read: "Three accepted, so nearly three times as fast."** It is not so, because the
# fourth token and the draft's time are missing. *Look:* of 5 drafted, 4.0 if the draft is free,
# 2.67 with `c = .1`; and where none is accepted .67, not 0.
#
# **You might read: "(1 - alpha^K)/(1 - alpha) tokens are accepted."** It is not so, because a loop
# without the bonus token writes so many. *Look:* .7, `K = 5`: 1.94 accepted, 2.77 in that loop,
# 2.94 with the bonus.
#
# **You might read: code for the best K that begins with `best_k, best = 1, 1.0`.** It is not right,
# because it answers 1 where every `K` loses. *Look:* `alpha = .05`, `c = .3`: `K = 1` gives .81.
#
# **You might read: "K = 5", as if it were given.** It is not so, because `K` is yours to choose.
# *Look:* our first block, as a mean, has `alpha = .834`; with `c = .1`, 5 gives 2.67, 7 gives 2.72.
#
# **You might read: "a 7B draft for a 70B target", "GPT-2 for GPT-4".** It is not the rule, because
# a tenth of the size is about a tenth of the time, and under two tokenizers one number is two
# texts. *Look:* `alpha = .8`, `c = .1` gives 2.47 at best; .75 and .02 give 3.20. Of three drafts
# of Leviathan et al. the smallest, 143 times smaller than the target, was always fastest.
#
# **You might read: "n-grams cost nothing and accept little", of prompt lookup too.** It is not so,
# because one knows the average text and the other this text. *Look:* in Leviathan et al.'s Table 3
# a corpus bigram is accepted with .05 to .23; lookup is 2 to 4 times as fast on text that repeats.

# %% tags=["demo"]
lesson.look()

# %% [markdown]
# ## The race again
#
# Your formula chooses the draft and `K` for the target at the 40M cost, from what was measured
# above. Compare the ratio that it promises with the ratio of the race.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.race import race

promised = {
    (name, k): walltime_speedup(row.alpha, row.costs.c, k, row.costs.v[k + 1])
    for name, row in costlier.items()
    for k in range(1, max(row.costs.v))
}
draft, k = max(promised, key=promised.get)
print(f"Your formula takes {draft} with K = {k} and promises {promised[draft, k]:.2f}.")
yours = {"your draft and K": drafting(draft, k)}
show_race(race("04", yours, texts=8, temperature=1, cost="40m"))

# %% [markdown]
# ## Sources
#
# - Y. Leviathan, M. Kalman, Y. Matias, *Fast Inference from Transformers via Speculative Decoding*,
#   ICML 2023, arXiv 2211.17192. Equation 1, Theorem 3.8, corollaries 3.6 and 3.9; Table 2 for
#   times, Table 3 for bigrams. Its formula has `v = 1`; `v(K+1)` is our addition.
# - C. Chen et al., *Accelerating Large Language Model Decoding with Speculative Sampling*, arXiv
#   2302.01318: the times of a 70B target and its 4B draft, and Table 1 for its speed-ups.
# - M. Elhoushi et al., *LayerSkip*, arXiv 2404.16710: early exit, with a target trained for it.
#   A. Saxena, *Prompt Lookup Decoding*, 2023: 2 to 4 times as fast on text that repeats.
# - Hugging Face transformers 5.23.0 and vLLM: the classes and files that the cards name.
#
# They support the formulas and their own tables, and no time on your machine.
#
# **Next.** Chapter 05 goes the other way: from published and measured results back to `alpha`.
