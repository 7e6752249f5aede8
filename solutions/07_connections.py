# %% [markdown]
# # 07 Connections: what ships in 2026
#
# 90 minutes · difficulty 4 of 5 · you need: the acceptance rule and its residual (chapter 02), `alpha`, `c` and `v`
# (chapter 04), and what attention is
#
# - **Intuition**: sixteen blocks, and a second try.
# - **Mathematics**: tokens over time, with a rate for each position of the block.
# - **Code**: six short functions, from a second candidate to one step of a trained head.
# - **Demo**: your head on real states, your tree on real logits.
#
# **You come with** a chain of draft tokens, one target pass, and a rule that keeps `p`.
# **You build** the parts that newer methods put in their place.
# **You leave with** four questions to ask of any new method, and today's engines' answers.

# %%
import numpy as np

from specdec_lib.lessons.ch07 import lesson
from specdec_lib.lessons.ch07.lesson import P, Q
from specdec_lib.sampling import sample_from, softmax


def residual_distribution(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Given: max(0, p - q) over its sum, and a copy of p where that is empty; all (V,)."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p.copy()


# %% tags=["demo"]
from specdec_lib.lessons.ch07 import figures
from specdec_lib.lessons.ch07.engines import show_engines, show_names
from specdec_lib.lessons.ch07.timeline import timeline
from specdec_lib.lessons.ch07.years import methods_by_year
from specdec_lib.lessons.widgets import draft_tree_simulator

# %% [markdown]
# ## Four questions
#
# Every new method changes some of four answers.
#
# | question | the first papers | this chapter |
# | --- | --- | --- |
# | Who drafts? | a small model | a trained head on the target's own states |
# | In which shape? | a chain of `K` tokens | several candidates for a place; a tree |
# | How is it judged? | a coin against `p/q` for each token | candidates in turn, or without a `q`; the block as a whole |
# | When are the tokens drafted? | one step for each token, then the pass | all tokens in one step |
#
# The speed-up is still `E / (D + v)` (chapter 04). `E` is tokens per pass. `D` (drafting) and `v` (the target's pass)
# are times, counted in one-token target passes.
#
# The first papers got two things right. Their rule needs only a draft's `q`, so a new drafter needs no proof.
# And a pass reads the weights once, so checking is cheaper than writing.
#
# ## The smallest example: a second try
#
# A pass has room for more than one guess at the next token. Take two tokens, `p = [0.5, 0.5]`, `q = [0.75, 0.25]`,
# and 16 blocks. The target wants each token 8 times. The draft proposes token 0 twelve times, and the rule keeps it
# eight times. It keeps token 1 all four times. In the other four blocks nothing is accepted: they need token 1.
#
# Draw a second candidate from `q` in each of the four. In one it is token 1, which is accepted. In three it is token
# 0, and the residual fills in token 1. The first try succeeds in 12 of 16 blocks, the second in only 1 of 4. After a
# rejection the target no longer wants `p`. It wants the residual.
#
# ## Several candidates for one place
#
# Our pair over the tokens A to D is `p = [0.45, 0.30, 0.15, 0.10]` and `q = [0.30, 0.45, 0.20, 0.05]`. A candidate
# drawn from `q` is accepted with probability 0.80.
#
# ### Commit first
#
# Draw two candidates from `q`, and try the second one if the first is rejected. How likely is it that one of the two
# is accepted? Write a number from 0 to 1.

# %% solution="prediction_07"
### BEGIN SOLUTION
prediction_07 = 0.87
### END SOLUTION

# %% test="prediction_07" points=1
lesson.committed("prediction_07", prediction_07, 0, 1)

# %% tags=["demo"]
lesson.reveal("prediction_07", prediction_07)

# %% [markdown]
# ### Exercise: multi_candidate_accept
#
# **Task.** Return the token that `n` candidates give. Try them in order: coin `r[i]` judges `candidates[i]`, which
# was drawn from `q`, against what the target wants *at that moment*. If all are rejected, draw the token with `u`
# from what is still wanted.
#
# **Arguments.** `candidates` is a list of `n` tokens, which may repeat and may be empty. `p` and `q` are `(V,)`, `r`
# is `(n,)`, and `u` is a float. The function returns a token.
#
# **Example.** `candidates = [1, 3]` and `r = [0.7, 0.9]`. B is rejected, since `0.7 x 0.45 = 0.315` is not below
# 0.30. Now the target wants `[0.75, 0, 0, 0.25]`. D is accepted, so the answer is 3.


# %% solution="multi_candidate_accept"
def multi_candidate_accept(
    candidates: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray, u: float
) -> int:
    """One token from i.i.d. candidates (n,) of q, tried in order; p, q (V,), r (n,), u a float."""
    ### BEGIN SOLUTION
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] < residual[token]:
            return token
        residual = residual_distribution(residual, q)
    return sample_from(residual, u)
    ### END SOLUTION


# %% [markdown] hints="multi_candidate_accept"
# 1. It is the rule of one token, repeated: what changes from one candidate to the next?
# 2. Only `p` changes. Keep it in a variable that starts as `p` and becomes the residual.
# 3. Loop over `i` and `x = candidates[i]`. If `r[i] * q[x] < residual[x]`, return `x`. Otherwise the residual becomes
#    `residual_distribution(residual, q)`. After the loop, sample from it.

# %% tags=["demo"]
figures.more_candidates(multi_candidate_accept, P, Q, most=3)

# %% test="multi_candidate_accept" points=4
lesson.check_multi_candidate_accept(multi_candidate_accept)

# %% [markdown]
# The distribution is `p` for any number of candidates. This is the rule of SpecInfer (2023). But an exact rule could
# accept more: with two candidates yours accepts 0.87, and the best one over 0.99. SpecTr (2023) lies between. Global
# Resolution (ICLR 2026) computes the best rule, in under 100 ms per token: longer than many a pass.
#
# ## A tree
#
# Several candidates for the next place, and several after each of them, make a tree. All its nodes go through the
# target in one pass. A node must see the nodes above it, and nothing of the other branches. A **mask** says
# who sees whom.
#
# ### Exercise: tree_attention_mask
#
# **Task.** Return the mask of a tree: node `i` sees itself and its ancestors. (Every node sees the text, too, which
# isn't part of the mask.)
#
# **Arguments.** `parents` is a list of `N` numbers with `parents[i] < i`; a parent of -1 is the text. The function
# returns a boolean array `(N, N)`, with row `i` for node `i`. `N` may be 0.
#
# **Example.** `parents = [-1, -1, 0, 0, 1, 2]`: node 5 follows node 2, and node 2 follows node 0.
# Row 5 is true at 0, 2 and 5.


# %% solution="tree_attention_mask"
def tree_attention_mask(parents: list[int]) -> np.ndarray:
    """Whether node i (row) sees node j (column): bool (N, N), true for i itself and ancestors."""
    ### BEGIN SOLUTION
    mask = np.eye(len(parents), dtype=bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            mask[node] |= mask[parent]
    return mask
    ### END SOLUTION


# %% [markdown] hints="tree_attention_mask"
# 1. What a node sees is what its parent sees, and the node itself.
# 2. Parents stand before their children, so the parent's row is finished when you need it.
# 3. Start with `np.eye(n, dtype=bool)`. For every node with a parent of 0 or more: `mask[i] |= mask[parents[i]]`.

# %% tags=["demo"]
figures.tree_and_mask(tree_attention_mask)

# %% test="tree_attention_mask" points=3
lesson.check_tree_attention_mask(tree_attention_mask)

# %% [markdown]
# ## Walk down the tree
#
# The pass gives a distribution after the text and after every node. A walk decides which branch stays.
#
# ### Exercise: walk_tree
#
# **Task.** Return the tokens that a pass with a tree writes. The walk starts at the text. At each node, the children
# are candidates for one place: judge them in their order, as in `multi_candidate_accept`, with coin `r[i]` for node
# `i`. If a child is accepted, write its token and move on to this child. If all are rejected, or if there are none,
# draw one last token with `u` from what is still wanted, and stop.
#
# **Arguments.** `parents` and `tokens` are lists of `N`, which may be 0; siblings may hold the same token. `p` and
# `q` are `(N + 1, V)`, `r` is `(N,)`. The function returns a list of tokens.
#
# | you stand at | its children are judged by |
# | --- | --- |
# | the text | `p[0]`, `q[0]` |
# | node 0 | `p[1]`, `q[1]` |
# | node `i` | `p[i + 1]`, `q[i + 1]` |
#
# **Example.** The tree above with the tokens `[1, 3, 0, 2, 0, 1]`, the pair in every row, `r = [0.7, 0.9, 0.5, 0.5,
# 0.4, 0.5]` and `u = 0.5`. Node 0 (B) is rejected, and node 1 (D) is accepted. Its child is node 4 (A): `0.4 x 0.30`
# is below 0.45. Node 4 has no children, so `u` draws from `p`: B. The answer is `[3, 0, 1]`.


# %% solution="walk_tree"
def walk_tree(
    parents: list[int], tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray, u: float
) -> list[int]:
    """The accepted branch and one token more; p, q (N + 1, V), r (N,), u a float."""
    ### BEGIN SOLUTION
    written, node = [], -1  # node -1 is the text
    while True:
        children = [i for i, parent in enumerate(parents) if parent == node]
        drawn, row = [tokens[i] for i in children], node + 1
        written.append(multi_candidate_accept(drawn, p[row], q[row], r[children], u))
        if written[-1] not in drawn:
            return written
        node = children[drawn.index(written[-1])]
    ### END SOLUTION


# %% [markdown] hints="walk_tree"
# 1. At each node the children are candidates for one place, and you have a function for that.
# 2. Call the text node -1. Give `multi_candidate_accept` the children's tokens and coins, and row `node + 1` of `p` and
#    `q`. If a child's token comes out, move on there: a rejected token never comes out, since its residual is 0.
# 3. `node = -1`. In a loop: `children = [i for i, parent in enumerate(parents) if parent == node]`; append the token;
#    if it is a child's token, `node` is the first such child, else return.

# %% tags=["demo"]
figures.walked_down(walk_tree)

# %% test="walk_tree" points=6
lesson.check_walk_tree(walk_tree)

# %% [markdown]
# ### Commit first
#
# Is a tree better than a chain? Six draft tokens are drawn from `q`. The chain writes 3.95 tokens per pass, the tree
# "two by two" (two nodes, and two more after each) only 2.63. But the chain needs six draft steps, and the tree two,
# one per level. A pass over either takes 1. Above which `c` is the tree faster? Write a number from 0 to 0.5.

# %% solution="prediction_07_b"
### BEGIN SOLUTION
prediction_07_b = 0.17
### END SOLUTION

# %% test="prediction_07_b" points=1
lesson.committed("prediction_07_b", prediction_07_b, 0, 0.5)

# %% [markdown]
# Now move `c`. The poor draft is `[0.05, 0.15, 0.20, 0.60]`, whose token is accepted with probability 0.45. Which
# draft makes a tree faster even at `c = 0`?

# %% tags=["demo"]
draft_tree_simulator(lesson.CANDIDATE_RATES)

# %% tags=["demo"]
lesson.reveal("prediction_07_b", prediction_07_b)

# %% [markdown]
# With the poor draft, trees of two levels write more tokens than the chain, in fewer steps.
#
# ## Candidates that nobody drew
#
# The tree in EAGLE's released code (2024) differs from yours in one point: its candidates are not drawn, but the draft's
# most probable tokens. What is `q` then? It is 1 on the proposed token, and 0 on every other. If the draft
# always proposes B, how likely is B to be accepted by the rule of chapter 02, and what is the residual?

# %%
# A probability, and the residual over A to D. This is not graded, and the next card has the answer.
accepted, residual = None, [None] * 4

# %% [markdown]
# ### Exercise: one_hot_accept
#
# **Task.** Return the token that comes out where the draft token was chosen deterministically. Accept it if `r` is
# below its acceptance probability. After a rejection, `sample_from(residual, u)` gives the token.
#
# **Arguments.** `p` is `(V,)`, `r` and `u` are in [0, 1). The function returns a tuple: the token, and whether it is
# the draft's.
#
# **Example.** Token 1 (B) with `r = 0.5` is rejected. The residual is `[0.643, 0, 0.214, 0.143]`, and `u = 0.7`
# picks token 2: `(2, False)`.


# %% solution="one_hot_accept"
def one_hot_accept(draft_token: int, p: np.ndarray, r: float, u: float) -> tuple[int, bool]:
    """The token that comes out, p (V,), and whether it is the draft's; r, u in [0, 1)."""
    ### BEGIN SOLUTION
    if r < p[draft_token]:
        return draft_token, True
    rest = p.copy()
    rest[draft_token] = 0
    return sample_from(rest / rest.sum(), u), False
    ### END SOLUTION


# %% [markdown] hints="one_hot_accept"
# 1. Put `q = 1` on the draft token into the rule. What are the ratio and the residual?
# 2. The residual is `p` with a 0 at the draft token, divided by what is left. Work on a copy.
# 3. Accept if `r < p[draft_token]`. Else `rest = p.copy()` and `rest[draft_token] = 0`, and return
#    `sample_from(rest / rest.sum(), u)` with `False`.

# %% tags=["demo"]
figures.certain_token(one_hot_accept, P, token=1)

# %% test="one_hot_accept" points=3
lesson.check_one_hot_accept(one_hot_accept)


# %% [markdown]
# Always proposed, B is accepted with probability 0.30; drawn from `q`, with 0.667. But now several *different* tokens
# can be tried in turn, as EAGLE's code does at each node; `accept` is yours:


# %%
def eagle_turn(accept, candidates, p, r, u):
    """The token that comes out of different candidates, tried in turn by `accept`."""
    for x, coin in zip(candidates, r, strict=True):
        token, kept = accept(x, p, coin, u)
        if kept:
            return token
        p = np.where(np.arange(len(p)) == x, 0, p)  # as in EAGLE: gtp[xi] = 0
        p = p / p.sum()  # gtp = gtp / gtp.sum()
    return token  # what the last rejection drew


# %% tags=["demo"]
figures.top_candidates(one_hot_accept, eagle_turn, P, Q, most=3)

# %% [markdown]
# The output is `p` again, and the candidates' probabilities *add up*. With three candidates the gap to drawn
# ones is nearly closed, since no token comes twice. By default vLLM, SGLang, TensorRT-LLM and llama.cpp give a draft
# token this chance, `p(x)`.
#
# <details><summary>Block verification: chains can be verified better, too</summary>
#
# The rule clips `p/q` at 1 and wastes the excess. Block verification (2024) lets a high ratio pay for a low one, and
# keeps `p` all the same. In its paper's example, with `K = 2`, it accepts 11/9 tokens where your rule accepts 10/9.
# On real pairs the paper reports 5% to 8%, by the clock. The rule:
#
# 1. Keep a weight `w` for each prefix. It starts at 1, and each draft token `x` makes it `min(1, w p(x)/q(x))`.
# 2. Toss a coin for each prefix of 1 to `K - 1` tokens. It says yes with probability `m/(m + 1 - w)`, or
#    always if that is 0/0. Here `m` is the sum of `max(0, w p - q)` at the next position. The coin of the
#    whole block says yes with probability `w`.
# 3. Keep the longest prefix whose coin says yes. If none does, keep nothing.
# 4. Draw one token more: from `p` after the whole block, else from `max(0, w p - q)`, normalised, with the kept
#    prefix's `w` (1 if nothing is kept).
#
# </details>
#
# ## What a head reads
#
# A draft model reads tokens. A **head** reads the target's states: a pass leaves a vector at each position, the
# **hidden state**, which the target's last layer, its LM head, turns into the next token's distribution. From the
# last state, `h`, the target draws a token `x`. A head gets both and predicts the token after `x`. For the next draft
# token there is no state of the target, so the head puts its own output `g` in its place.
# `s` are states of several layers.
#
# | year | drafter | reads | drafts `K` tokens in |
# | --- | --- | --- | --- |
# | 2022 | draft model | tokens | `K` steps |
# | 2023 | self-speculative decoding | tokens, with some of the target's own layers | `K` steps |
# | 2023 | lookahead decoding | its guesses from the pass before | no step: the target's pass renews all guesses |
# | 2024 | Medusa | `h`, but not `x` | one step, with a head for each place |
# | 2024 | MTP, multi-token prediction | `h` and `x`, then its own `g` and tokens; trained with the target | `K` steps of one layer |
# | 2025 | EAGLE-3 | states `s` of three depths and `x`, then its own | `K` steps of one layer |
# | 2026 | DFlash | `s` of several layers at every position, `x` and masks | one pass of five layers |
# | 2026 | DSpark | as DFlash; the token before shifts each distribution | one pass, and `K` look-ups of these shifts |
#
# We assume 0.03 passes for a layer, a draft model's step of three layers, and a look-up of a tenth of one. `x0` is `x`:

# %% tags=["demo"]
timeline()

# %% [markdown]
# **MTP comes with the model**: with DeepSeek-V3, Qwen3.5 and Gemma 4, whose drafter has four layers and shares the
# target's KV cache. vLLM advises `K = 1` to begin with. An EAGLE head drifts as it reads its own `g`,
# which EAGLE 3.1 normalises.
#
# ### Exercise: head_step
#
# **Task.** Return an EAGLE head's distribution of the token *after* `token`.
#
# **Arguments.** `hidden` is `(T, W)`, the target's states after each token of a text. `token` was drawn from the
# last of them. The function returns an array `(V,)`.
#
# | `head` has | which is |
# | --- | --- |
# | `embed(token)` | the token's embedding, `(W,)` |
# | `layer(joined)` | the trained layer. It reads a state and the embedding of the token after it, joined `(2W,)`, and gives the next state, `(W,)` |
# | `logits(state)` | the target's LM head, `(V,)` |
#
# The layer has a KV cache of all earlier places: call it once. `softmax` is imported.
#
# **Example.** `head_step(np.array([[1.0, -1.0]]), 1, lesson.toy_head(7))`: the embedding is `[0.3, 0.8]`, the logits
# are `[1.28, -0.246, -0.848, -0.884]`, and the answer is `[0.689, 0.150, 0.082, 0.079]`.


# %% solution="head_step"
def head_step(hidden: np.ndarray, token: int, head) -> np.ndarray:
    """The head's distribution (V,) of the token after `token`; hidden (T, W)."""
    ### BEGIN SOLUTION
    joined = np.concatenate([hidden[-1], head.embed(token)])
    return softmax(head.logits(head.layer(joined)))
    ### END SOLUTION


# %% [markdown] hints="head_step"
# 1. Which state was the token drawn from? What does no state know yet?
# 2. Join that state and the token's embedding, in this order. From there the table leads to logits, and `softmax` to
#    a distribution.
# 3. `head.layer` reads `np.concatenate([hidden[-1], head.embed(token)])`. Put its result into `head.logits`, and that
#    one's into `softmax`.

# %% tags=["demo"]
print("Loading PyTorch and the target: some seconds.")
from specdec_lib.assets import tokenizer
from specdec_lib.device import use_half_the_cores
from specdec_lib.measure import strategies
from specdec_lib.measure.prompts import prompts

use_half_the_cores()  # as in chapter 00
target, text = strategies.built_in_models("target")["target"], prompts(1, 128)[0]
figures.top_tokens(head_step, strategies.places_of(target, text), tokenizer().decode)

# %% test="head_step" points=3
lesson.check_head_step(head_step)

# %% [markdown]
# Does it help to read `x`? Put the target's favourite in its place:

# %% tags=["demo", "shown"]
agreed = np.zeros(2, dtype=int)
for hidden, x, head, chosen in strategies.places_of(target, text):
    favourite = int(np.argmax(head.logits(hidden[-1])))
    agreed += [np.argmax(head_step(hidden, token, head)) == chosen for token in (x, favourite)]
print(f"Of {len(text) - 1} places {agreed[0]} agree with x, and {agreed[1]} with the favourite in its place")

# %% [markdown]
# It does: fewer places agree without `x`. Medusa's heads read no `x`, and are smaller than EAGLE's layer. Late in
# short trainings, `alpha` on the training text was 0.29 for a small Medusa head, 0.34 for one with matrices of six
# times the rank, and 0.41 for a small one that sees `x` (21 November 2026; `docs/drafters.md`).
#
# <details><summary>The same on a published chat model</summary>
#
# For SmolLM2-135M-Instruct this course has a draft model of 6.1 million parameters and an EAGLE head of 2.4 million.
# Each learned from about half a million tokens that the target wrote. On the target's answers to 24 other questions
# `alpha` is 0.34 and 0.38 at temperature 1. Two draft tokens make greedy decoding 1.09 and 1.16 times as fast (AMD
# EPYC, 28 November 2026). Chapter 08's figure for this draft model is of five texts, so it differs.
#
# </details>
#
# ## Acceptance by position
#
# EAGLE-3 drafts token by token, DFlash all at once, so that no draft token knows its neighbours. How often is draft
# token `i` accepted, *if all before it were*? The DSpark paper measured seven positions, on chat with Qwen3-4B. For
# EAGLE-3 it has 0.53, 0.59, 0.64, 0.68, 0.71, 0.73 and 0.73.
#
# ### Commit first
#
# The mean of these rates is 0.659. For this `alpha` and `K = 7`, the formula of chapter 04 promises 2.83 tokens per
# pass. How many does EAGLE-3 write? Write a number from 1 to 8.

# %% solution="prediction_07_c"
### BEGIN SOLUTION
prediction_07_c = 2.4
### END SOLUTION

# %% test="prediction_07_c" points=1
lesson.committed("prediction_07_c", prediction_07_c, 1, 8)

# %% [markdown]
# ### Exercise: tokens_from_positions
#
# **Task.** Return the mean number of tokens per pass, from the acceptance rates by position. Draft token `i` counts
# if it and all before it are accepted. The target adds one token.
#
# **Arguments.** `rates` is a list of `K` floats, which may be empty: `rates[i]` is the probability that draft token
# `i` is accepted, *given that those before it were*. (Engines print something else: see below.)
# The function returns a float.
#
# **Example.** `[0.8, 0.5, 0.5]`: `1 + 0.8 + 0.4 + 0.2 = 2.4`.


# %% solution="tokens_from_positions"
def tokens_from_positions(rates: list[float]) -> float:
    """The mean tokens per pass, the target's own included; rates (K,), each given the former."""
    ### BEGIN SOLUTION
    return 1.0 + float(np.sum(np.cumprod(rates)))
    ### END SOLUTION


# %% [markdown] hints="tokens_from_positions"
# 1. How likely is it that the second draft token counts? The third?
# 2. Token `i` counts with the product of the rates up to its own.
# 3. 1 plus the sum of the running products: a loop with a product that starts at 1, or `np.cumprod`.

# %% tags=["demo"]
figures.by_position(tokens_from_positions)

# %% test="tokens_from_positions" points=3
lesson.check_tokens_from_positions(tokens_from_positions)

# %% tags=["demo"]
lesson.reveal("prediction_07_c", prediction_07_c)

# %% [markdown]
# EAGLE-3 loses at the start: its first rate is a factor of *every* product. DFlash can afford five layers, since
# they run once and not seven times, and that depth helps the first token most. The paper's own table has 2.40, 2.95
# and 3.49 tokens per pass; your function finds them within 0.03. But on Gemma4-12B, the same paper has EAGLE-3
# ahead of DFlash on every benchmark. So ask for the rates, not the name.
#
# ### Why do the rates rise?
#
# The rate at position 5 counts only the blocks that got there: the easy ones. Here a drafter never changes. In half
# of all blocks its tokens pass with probability 0.95, in the others with 0.45:

# %% tags=["demo", "shown"]
easy_and_hard = np.array([0.95, 0.45])
reached = [np.mean(easy_and_hard**i) for i in range(6)]
print("  ".join(f"{after / before:.2f}" for before, after in zip(reached[:-1], reached[1:], strict=True)))

# %% [markdown]
# EAGLE-3 need not get better: easier blocks are enough.
#
# ### What engines print
#
# A log divides by *all* blocks at each position: it prints products. For the numbers below, llama.cpp's own mean is 2.92.

# %% tags=["demo", "shown"]
printed = [0.805, 0.632, 0.483]
rates = [after / before for before, after in zip([1, *printed[:-1]], printed, strict=True)]
print(f"printed as they are: {tokens_from_positions(printed):.2f}; 1 + their sum: {1 + sum(printed):.2f}")
print(f"rates {np.round(rates, 3)}: {tokens_from_positions(rates):.2f}")

# %% [markdown]
# Your function takes conditional rates. Add the log's numbers, or divide neighbours (chapter 05).
#
# ## Who ships what
#
# Since 2024 most new drafters have been heads, and those of 2026 mostly write the whole block in one step. In November
# 2026 engines call prompt lookup *n-gram*; the n-gram of chapter 04 is another drafter.

# %% tags=["demo"]
methods_by_year()
show_names("What the names mean")
show_engines("server", "On servers, and in transformers")
show_engines("home", "On a machine at home")

# %% [markdown]
# A token drawn from `p` is `x` with probability `p(x)`: your rule once more, with the target's draw as the coin. If the
# draft draws too, as in mlx-lm, two draws have to meet: on our pair with probability 0.305, where `p/q` has 0.80. vLLM
# removed its tree attention in May 2026: on a busy server every branch costs (chapter 06).
#
# `docs/field_guide.md` answers the four questions for each method; `docs/regimes.md` has reasoning and test-time
# compute.
#
# <details><summary>A draft with another tokenizer</summary>
#
# Drop the draft's tokens that the target doesn't have, divide what is left by its sum, and draw from the result. It
# is a `q` like any other, and the residual writes what the draft can't propose (in transformers: chapter 03).
#
# </details>
#
# ## Quiz
#
# **Question 1.** A server runs your rule of chapter 02. Which change leaves the distribution of its texts as it was?
#
# - a: the target's weights are stored with 4 bits
# - b: draft tokens with `q(x)` above 0.99 are kept without asking the target
# - c: the draft's weights are stored with 4 bits
# - d: draft tokens with `p(x)` above 0.1 are always kept

# %% solution="quiz_07"
### BEGIN SOLUTION
quiz_07 = "c"
### END SOLUTION

# %% test="quiz_07" points=1
lesson.answered("quiz_07", quiz_07)

# %% [markdown]
# **Question 2.** Medusa's *typical acceptance* keeps a draft token `x` if `p(x)` is above `min(0.09, 0.3 exp(-H))`,
# where `H` is the entropy of `p`: 0.087 for ours. It has no coin and no `q`. A draft draws from our `q`. Which
# distribution do the tokens follow?
#
# - a: the target's, since every token that is kept is one that the target might write
# - b: the draft's, since every token is kept
# - c: the target's without its rarest token, since D is unlikely
# - d: the mean of both, since target and draft each have a say

# %% solution="quiz_07_b"
### BEGIN SOLUTION
quiz_07_b = "b"
### END SOLUTION

# %% test="quiz_07_b" points=1
lesson.answered("quiz_07_b", quiz_07_b)

# %% [markdown]
# ### In your own words
#
# **What would settle it?** A post says: "Our heads are lossless and three times as fast." Name what you would ask about
# the rule, what must hold for the speed, and one setting that you would change, with the number that you expect to
# move. Which chapter would you read again? Write three to five sentences. This answer is marked by hand.

# %% [markdown] written="settle_a_claim" points=2
# First I ask which rule accepts, and how the tokens were chosen: with drawn tokens it needs their `q`, with top
# tokens it accepts with `p(x)`, and a threshold on `p` alone is not lossless. Three times as fast needs a pass over
# all draft tokens that takes little longer than a pass over one, so I ask for the batch and the baseline. Then I
# raise the batch from 1 to 64. The tokens per pass stay, `v` rises, and the speed-up should fall. Chapter 06 has the
# batch, and I would read chapter 05 again for the baseline.

# %% [markdown]
# ## What you may read elsewhere
#
# One of these two sentences is right. Which?
#
# **You might read: "N-gram speculation ... is impossible to get wrong since the worst case simply
# falls back to normal decoding."** (d-central.tech, glossary, "N-gram speculation")
#
# <details><summary>Answer</summary>
#
# It is wrong. A wrong draft still goes through the target. *For example:* if a pass over the draft takes 1.3 times as
# long and nothing is accepted, decoding is 1 / 1.3 = 0.77 times as fast. Chapter 01 raced a draft of random tokens.
#
# </details>
#
# **You might read: "DFlash suffers from rapid acceptance decay, dropping ... 0.72 to 0.63 on Chat."**
# (the DSpark paper, section 4.3.1)
#
# <details><summary>Answer</summary>
#
# It is right (we read 0.638 off the paper's figure). You may have assumed that it is a dip, not a decay, since the
# rates rise again to 0.69. But they count the blocks that got there, which are the easier ones. *For example:*
# EAGLE-3's rates on the same chats rise from 0.53 to 0.74, the same paragraph says. Where the blocks get that much
# easier, a rate that stays at 0.7 has lost ground.
#
# </details>
#
# ## The race again
#
# Your `walk_tree` judges trees of ten nodes, beside a chain with the same draft. Who needs fewer passes? Who is faster?

# %% tags=["demo"]
from specdec_lib.lessons.drawing.race import show_race
from specdec_lib.measure.race.lanes import draft_model_lane, tree_lane
from specdec_lib.measure.race.race import race

print("Plain decoding, the chain and your tree write the same texts, one after the other.")
lane = "your tree"
lanes = {"a chain of three": draft_model_lane("large", k=3), lane: tree_lane(walk_tree)}
show_race(race("07", lanes), yours=lane)

# %% [markdown]
# The tree wins on passes and usually loses the race: its pass carries eleven tokens where the chain's carries four,
# and on a processor each takes time. On a graphics card with one user they are nearly free.
#
# ## Sources
#
# - X. Miao et al., *SpecInfer*, [arXiv 2305.09781](https://arxiv.org/abs/2305.09781): candidates in turn, down a tree.
#   Z. Sun et al., *SpecTr*, [arXiv 2310.15141](https://arxiv.org/abs/2310.15141): the best rule as optimal transport.
#   R. K. Thomas and A. Pal, *Global Resolution*, [arXiv 2511.15898](https://arxiv.org/abs/2511.15898): its computation,
#   for candidates drawn from one draft.
# - Z. Sun et al., *Block Verification*, [arXiv 2403.10444](https://arxiv.org/abs/2403.10444): Algorithm 2, the example
#   of section 2, and 5% to 8%. N. Timor et al., [arXiv 2502.05202](https://arxiv.org/abs/2502.05202): a draft with
#   another tokenizer.
# - J. Zhang et al., *Draft & Verify*, [arXiv 2309.08168](https://arxiv.org/abs/2309.08168). Y. Fu et al., *lookahead*,
#   [arXiv 2402.02057](https://arxiv.org/abs/2402.02057) (blog post: 2023).
# - github.com/SafeAILab/EAGLE at cb7e084 (February 2026): `evaluate_posterior` in `eagle/model/utils.py` (`qx = 1.0`,
#   the same at 8009b6d of July 2024), `topK_genrate` in `eagle/model/cnets.py` for the mask and the top tokens.
# - X. Cheng et al., *DSpark*, [arXiv 2607.05147](https://arxiv.org/abs/2607.05147), in github.com/deepseek-ai/DeepSpec
#   at afdfa7c: Table 1, section 4.3.1 and Figure 2. The rates are read off this figure, which is drawn as vectors.
#   EAGLE-3 has one layer, the others five; all were trained anew on the same data.
# - github.com/deepseek-ai/DeepSeek-V3, `README_WEIGHTS.md` at 0b39205: what the MTP module holds. Qwen3.5: transformers
#   5.23.0, `modeling_qwen3_5.py`, which leaves out the checkpoint's `mtp` weights. Gemma 4: docs.vllm.ai, "MTP" (the
#   shared cache, and `K = 1`), and docs.rs/memra-engine 0.89.0, `gemma_spec` (four layers, of the 26B model). Both were
#   read on 28 November 2026.
# - The years and the names: the papers that `docs/field_guide.md` links, each by the month in which it came out, as a
#   paper, a repository or a post. What LiLiCorr and DFlash2 do: SGLang's pull request 37462, vLLM's 52816.
# - *EAGLE 3.1*, vllm.ai/blog/2026-05-26-eagle-3-1, with [arXiv 2605.09992](https://arxiv.org/abs/2605.09992).
# - The log line: llama.cpp, pull request 24536, 15 June 2026. vLLM's log divides by all blocks as well
#   (`vllm/v1/spec_decode/metrics.py` at 016a858).
# - github.com/z-lab/dflash, `dflash/model.py` at 44947fb: what DFlash reads. github.com/FasterDecoding/Medusa,
#   `medusa/model/medusa_model.py` at 11af0aa: the defaults 0.09 and 0.3 of typical acceptance.
# - Engines: `docs/field_guide.md` says where each was read. vLLM's pull request 42121 removed tree attention, and 46781
#   adds block verification.
# - d-central.tech/mining-glossary/n-gram-speculation, as stored in November 2026.
#
# **Next.** Chapter 08 gives your decoder caches and batches, and measures it against others.
