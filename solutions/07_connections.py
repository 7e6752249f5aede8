# %% [markdown]
# # 07 Connections: one frame, and what people have put into it
#
# 130 minutes, in two sittings: 60 and 70 · difficulty 4 of 5 · you need: the acceptance rule and its
# residual (chapter 02), `alpha`, `c` and `v` (chapter 04)
#
# - **Intuition**: four boxes. Every method changes one or more of them, in "The frame".
# - **Mathematics**: the speed-up, tokens over time. Each method changes some of its terms.
# - **Code**: seven short functions, from a draft without a model to a mixture of experts.
# - **Demo**: a map of the whole field that you can click through, in "The map".
#
# **You come with** a block of draft tokens, one target pass, and a rule that keeps the law.
# **You build** six other parts for the same machine, and the price of a pass with experts.
# **You leave with** four questions for any method: who drafts, in which shape, who verifies, when.
#
# **First sitting**, 60 minutes: the frame and three functions. **Second sitting**, 70 minutes, from
# "A tree" on: four functions, the map and today's uses. It needs your `multi_candidate_accept` and
# what attention is. No cell needs your answers from another chapter.

# %%
import numpy as np

from specdec_lib.lessons.ch07 import checks as lesson
from specdec_lib.lessons.ch07.checks import POOR, SHAPES, TREE, WALK_R, WALK_TOKENS, P, Q
from specdec_lib.sampling import sample_from


def residual_distribution(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Given: max(0, p - q) over its sum, and a copy of p where that is empty; all (V,)."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p.copy()


# %% tags=["demo"]
from specdec_lib.lessons.ch07 import experts, figures, measured as charts
from specdec_lib.lessons.ch07.frame import frame, static_map

# %% [markdown]
# ## The frame
#
# Speculative decoding is a machine with four parts. A method replaces one part or more, and keeps
# the others.

# %% tags=["demo"]
frame("speculative decoding")

# %% [markdown]
# The line below the boxes is the speed-up of chapter 04:
#
# $$ \text{speed-up} = \frac{E}{D + v} $$
#
# `E` is the mean number of tokens that a block writes. `D` is the time for drafting, and `v` is the
# time of the pass that verifies. The unit of both times is a target pass over one token. A new
# drafter changes `E` and `D`, but not the law. The rule keeps `p` for every `q`, if the draft tokens
# were drawn from this `q`.
#
# The chapter uses one pair over the tokens A to D: `p = [0.45, 0.30, 0.15, 0.10]` and
# `q = [0.30, 0.45, 0.20, 0.05]`. One token drawn from `q` is accepted with probability 0.80.

# %% [markdown]
# ## A draft without a model
#
# **Prompt lookup** (chapter 04) takes the last words of the text and looks for the same words
# further up. It proposes the token that followed them there, for example B. Nothing is drawn: B is
# proposed for certain.

# %% tags=["demo"]
frame("a draft without a model")

# %% [markdown]
# What is `q` if nothing is drawn? Then `q` is one-hot: 1 on B, and 0 on every other token. Put this
# `q` into the rule of chapter 02. With which probability is B accepted? Which distribution replaces
# B after a rejection? Write both down, then read the card.

# %% [markdown]
# ### Exercise: one_hot_accept
#
# **Task.** The rule for a draft token that is certain. Accept the token if `r` is strictly below its
# acceptance probability. So `r = 0` never accepts a token with `p = 0`. After a rejection
# `sample_from(rest, u)` gives the token, where `rest` is the residual. **Arguments.** `p` is `(V,)`
# and stays as it is. `r` and `u` are in [0, 1). The function returns a tuple: the token, and whether
# it is the draft's.
#
# **Example.** Token 1 (B) with `r = 0.5` is rejected. The residual is
# `[0.643, 0, 0.214, 0.143]`, and `u = 0.7` picks token 2: `(2, False)`.
#
# **Edges.** If every other token has probability 0, accept the draft token for every `r`, because
# rounding can leave its `p` a little below 1. This means exactly 0: a token that is only nearly
# certain is judged by its coin. Add no tiny number to a sum.


# %% solution="one_hot_accept"
def one_hot_accept(draft_token: int, p: np.ndarray, r: float, u: float) -> tuple[int, bool]:
    """The token that comes out, p (V,), and whether it is the draft's; r, u in [0, 1)."""
    ### BEGIN SOLUTION
    rest = p.copy()
    rest[draft_token] = 0
    if r < p[draft_token] or rest.sum() == 0:
        return draft_token, True
    return sample_from(rest / rest.sum(), u), False
    ### END SOLUTION


# %% [markdown] hints="one_hot_accept"
# 1. Put q = 1 on the draft token into the rule. What are the ratio and the residual?
# 2. The residual is p with a 0 at the draft token, divided by what is left. Work on a copy.
# 3. `rest = p.copy(); rest[draft_token] = 0`. Accept if `r < p[draft_token]` or rest.sum() is 0;
#    else return sample_from(rest / rest.sum(), u) with False.

# %% tags=["demo"]
figures.certain_token(one_hot_accept, P, token=1)

# %% test="one_hot_accept" points=3
lesson.check_one_hot_accept(one_hot_accept)

# %% [markdown]
# The ratio is `p(x)/1`, so the token is accepted with probability `p(x)`. A certain B is accepted
# with probability 0.30, and a B drawn from `q` with probability 0.667. So a certain token is
# accepted less often. But a draft by lookup costs almost no time.
#
# The next figure compares three drafters on the built-in target: eight held-out prompts, 48 tokens
# each, `K = 4`.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure import strategies
from specdec_lib.measure.core.held_out import prompts

# %% tags=["demo"]
leave_cores()  # as in chapter 00
lab, texts = strategies.Laboratory(positions=400), prompts(8, 128)
measured = strategies.tokens_a_block(lab.target, strategies.three_drafters(lab.vocab_size), texts)
charts.drafters(measured, k=4)

# %% [markdown]
# The boxes show how much of the text repeats. Lookup needs repetition. This small model hardly
# repeats itself at temperature 1, so lookup brings little there.
#
# ## No draft at all
#
# Take a target that counts: after 7 it writes 8. The text is `[0]`, and a guess for the next three
# tokens is `[5, 5, 3]`. One pass over `[0, 5, 5, 3]` gives the argmax after each of the four tokens:
# `[1, 6, 6, 4]`. The first three are the new guess. The next passes give the guesses `[1, 2, 7]`,
# `[1, 2, 3]` and `[1, 2, 3]` again.

# %% tags=["demo"]
frame("no draft at all")

# %% [markdown]
# **Jacobi decoding** guesses `K` tokens, renews all of them with one pass, and repeats until a pass
# changes nothing. The first place is right after one pass, because it depends on the text alone.
# Each further pass makes at least one more place right, from the left. So after `K` passes all places
# are right, and one more pass shows that nothing changes. The method saves time only if some places
# are right earlier.

# %% [markdown]
# ### Exercise: jacobi_decode
#
# **Task.** The greedy tokens after `prompt`, by Jacobi decoding. Every pass calls
# `target_greedy(prompt + current)` exactly once and renews all places together. The loop ends after a
# pass that changes nothing. This pass counts too, so `K` places can take `K + 1` passes, and an empty
# guess takes one. Set no limit to the passes. **Arguments.** `target_greedy(tokens) -> list[int]` gives
# the argmax after every token. `prompt` is a list that is not empty, and `guess` is a list of any
# length. Both stay as they are. The function returns a tuple: the list of `len(guess)` tokens, and
# the number of passes.
#
# **Example.** The counting target, `prompt = [0]`, `guess = [5, 5, 3]`: `([1, 2, 3], 4)`.


# %% solution="jacobi_decode"
def jacobi_decode(target_greedy, prompt: list[int], guess: list[int]) -> tuple[list[int], int]:
    """The greedy tokens (len(guess),) after `prompt`, and the passes that it took."""
    current, passes = list(guess), 0
    ### BEGIN SOLUTION
    first = len(prompt) - 1
    while True:
        after = target_greedy(list(prompt) + current)
        passes += 1
        renewed = list(after[first : first + len(guess)])
        if renewed == current:
            return current, passes
        current = renewed
    ### END SOLUTION


# %% [markdown] hints="jacobi_decode"
# 1. One pass over prompt and guess gives a new token for every place of the guess.
# 2. The token after the last prompt token belongs to the first place, so the slice begins at
#    len(prompt) - 1.
# 3. Loop: call target_greedy once, count it, cut the slice out as a list. If it equals the
#    present guess, return it with the count; else it is the next guess.

# %% tags=["demo"]
figures.renewed_together(jacobi_decode, lesson.two_back, lesson.PROMPT, lesson.GUESS)

# %% test="jacobi_decode" points=4
lesson.check_jacobi_decode(jacobi_decode)

# %% [markdown]
# Now your function runs on the built-in target, with 16 tokens a prompt. The guess repeats the
# prompt's end.

# %% tags=["demo"]
import torch


def target_greedy(tokens: list[int]) -> list[int]:
    """The built-in target's argmax after every token."""
    cache = lab.target.new_cache(1, len(tokens))
    return lab.target.forward(torch.tensor([tokens]), cache)[0].argmax(-1).tolist()


figures.passes_on_prompts(jacobi_decode, target_greedy, texts[:4], 16)

# %% [markdown]
# Few places are right early here, and the last pass only confirms. The passes also produce n-grams.
# **Lookahead decoding** (2023) keeps them and uses them as drafts.
#
# ## The smallest example: a second try
#
# A pass has room for more than one draft token at a place. Take two tokens, `p = [0.5, 0.5]` and
# `q = [0.75, 0.25]`, and 16 blocks. The target wants each token 8 times. The draft proposes token 0
# twelve times and token 1 four times. The rule keeps token 0 eight times and token 1 all four
# times. Four blocks are still empty, and the target wants token 1 in each of them.
#
# Now draw a second candidate from `q` in each of these four blocks. In one block the candidate is
# token 1, and is accepted. In three blocks the candidate is token 0, and is rejected. There the
# residual writes token 1.

# %% tags=["demo"]
frame("several candidates")

# %% [markdown]
# The first try succeeds in 12 of 16 blocks, and the second in 1 of 4. The second candidate is judged
# against the residual: after a rejection the target no longer wants `p`.
#
# ## Several candidates for one place
#
# ### Commit first
#
# Take the pair over A to D. One candidate is accepted with probability 0.80. Now draw two candidates
# from `q`, independently. Try the second one if the first is rejected. With which probability is one
# of the two accepted? Write a number from 0 to 1.

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
# **Task.** Try `n` candidates in order, and return the token that comes out. The residual starts as
# `p`. Candidate `x = candidates[i]` is accepted if `r[i] q(x) < residual(x)`, strictly. After a
# rejection the residual becomes `residual_distribution(residual, q)`, also if the same token comes
# again. If all are rejected, `sample_from(residual, u)` gives the token. **Arguments.** `candidates` is
# a list of `n` tokens. `p` and `q` are `(V,)`, and `r` is `(n,)`. The function returns a token. With
# `n = 0` the token is drawn from `p`.
#
# **Example.** `candidates = [1, 3]`, `r = [0.7, 0.9]`: for B `0.7 x 0.45 = 0.315` is not
# below 0.30. The residual is `[0.75, 0, 0, 0.25]`. For D `0.9 x 0.05 = 0.045` is below 0.25, so the
# answer is 3.


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
# 2. Only p changes. Keep it in a variable that starts as p and becomes the residual.
# 3. `for i, x in enumerate(candidates): return x if r[i] * q[x] < residual[x]; then residual =
#    residual_distribution(residual, q)`. After the loop sample from it.

# %% tags=["demo"]
figures.more_candidates(multi_candidate_accept, P, Q, most=3)

# %% test="multi_candidate_accept" points=4
lesson.check_multi_candidate_accept(multi_candidate_accept)

# %% [markdown]
# The left panel adds up all candidates, coins and draws: the law is `p` for every `n`. This is the
# rule of SpecInfer (2023). The right panel also shows the best that any exact rule can reach. SpecTr
# (2023) comes near it.

# %% [markdown]
# ## A rest
#
# The first sitting ends here. When you come back, click on this cell and choose "Run All Above
# Selected Cell" in the menu Run. The cells above take less than a minute.

# %% [markdown]
# ## A tree
#
# Several candidates for the next place, and several after each of them, make a tree. All nodes of
# the tree go through the target in one pass. In this pass a node must see the nodes above it, and
# nothing of the other branches. A **mask** says which tokens a token may look at.

# %% tags=["demo"]
frame("a tree")

# %% [markdown]
# ### Exercise: tree_attention_mask
#
# **Task.** Who sees whom: node `i` sees itself and its ancestors. Every node also sees the text before
# the tree, which is no part of the mask. **Arguments.** `parents` is a list of `N` numbers with
# `parents[i] < i`. A parent of -1 is the text. The list stays as it is. The function returns a
# boolean array `(N, N)`, with row `i` for node `i`. `N` may be 0.
#
# **Example.** `parents = [-1, -1, 0, 0, 1, 2]`: the parent of node 5 is node 2, and the
# parent of node 2 is node 0. So row 5 is true at 0, 2 and 5. A chain gives the causal mask.


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
# 3. Start with np.eye(n, dtype=bool). For every node with a parent of 0 or more: mask[i] |=
#    mask[parents[i]].

# %% tags=["demo"]
figures.tree_and_mask(tree_attention_mask, TREE)

# %% test="tree_attention_mask" points=3
lesson.check_tree_attention_mask(tree_attention_mask)

# %% [markdown]
# After the pass, a walk down the tree decides which branch stays.

# %% [markdown]
# ### Exercise: walk_tree
#
# **Task.** The tokens that a block with a tree writes. The walk starts at the text. At each node its
# children are candidates for one place. Judge them in the order of the list, as in
# `multi_candidate_accept`, with coin `r[i]` for node `i`. If a child is accepted, write its token and
# go on at this child, with a new `p`. If all children are rejected, or if there are none, draw one
# last token with `u` from what is left of `p`. Then the walk ends. **Arguments.** `parents` and `tokens`
# are lists of `N`. `p` and `q` are `(N + 1, V)`, and `r` is `(N,)`. Row 0 is for the children of the
# text, and row `i + 1` is for the children of node `i`. The function returns a list of tokens. `N` may
# be 0, and siblings may have the same token. The arguments stay as they are.
#
# **Example.** The tree above with the tokens `[1, 3, 0, 2, 0, 1]`, the pair in every row,
# `r = [0.7, 0.9, 0.5, 0.5, 0.4, 0.5]` and `u = 0.5`. Node 0 (B) is rejected, and node 1 (D) is
# accepted, as with `multi_candidate_accept`. Its child is node 4 (A): `0.4 x 0.30` is below 0.45. Node 4 has no
# children, so `u` draws from `p`: B. The answer is `[3, 0, 1]`.


# %% solution="walk_tree"
def walk_tree(
    parents: list[int], tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray, u: float
) -> list[int]:
    """The accepted branch and one token more; p, q (N + 1, V), r (N,), u a float."""
    written, node = [], -1  # node -1 is the text
    ### BEGIN SOLUTION
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
# 2. Give multi_candidate_accept the children's tokens and coins, and row node + 1 of p and q. If
#    the token that comes out is one of theirs, go on there; else the walk ends.
# 3. node = -1. In a loop: children = [i for i, parent in enumerate(parents) if parent == node];
#    append the token; if it is a child's token, node = the first such child, else return.

# %% tags=["demo"]
figures.walked_down(walk_tree, TREE, WALK_TOKENS, P, Q, WALK_R, 0.5)

# %% test="walk_tree" points=4
lesson.check_walk_tree(walk_tree)

# %% [markdown]
# Is a tree better than a chain? With six draft tokens from `q`, a chain writes 3.95 tokens a block. A
# tree of two levels, with two children at each node, writes 2.63. But a draft model needs six steps of
# `c` each for the chain, and two for the tree.
#
# In the next figure your `walk_tree` runs 1,000 blocks of each shape. A pass costs the same for all.
# The good draft is `q`. The poor draft is `[0.05, 0.15, 0.20, 0.60]`: one of its tokens is
# accepted with probability 0.45.

# %% tags=["demo"]
drafts = {"good draft": Q, "poor draft": POOR}
charts.shapes_walked(walk_tree, P, drafts, SHAPES, c=0.2)

# %% [markdown]
# A deep shape pays if the first choice is mostly right and a draft step is cheap. Move `c` in the
# simulator. Above which `c` is the tree faster with the good draft? With which draft is a tree
# faster even at `c = 0`?

# %% tags=["demo"]
from specdec_lib.lessons.widgets.draft_tree import draft_tree_simulator

# %% tags=["demo"]
draft_tree_simulator(lesson.accepted_shares(multi_candidate_accept))

# %% [markdown]
# Real trees come from trained heads on the target's last **hidden state**, the numbers that its LM
# head reads. **Medusa** (2024) has one head for each place ahead, which does not know the tokens
# between. **EAGLE** (2024) has one layer that reads the target's state *and* the token before, so a
# branch knows what it continues. In the next figure both are trained for the built-in target and
# draft chains of three.

# %% tags=["demo"]
heads = strategies.trained_heads(lab.target)
charts.drafters(strategies.tokens_a_block(lab.target, heads, texts, k=3), k=3)

# %% [markdown]
# ## The block as a whole
#
# The rule judges token by token. It cuts a ratio `p/q` above 1 to 1, and what is above 1 is lost.
# **Block verification** (2024) multiplies the ratios along the block and cuts the product at 1. So a
# high ratio at one token can pay for a low ratio at the next one.

# %% tags=["demo"]
frame("block verification")
charts.blocks_compared(P, Q, most=5)

# %% [markdown]
# The figure adds up all cases. The law is the same, and a few more tokens are accepted.
#
# ## Another tokenizer
#
# The rule compares `p` and `q` token by token. What if the draft has another vocabulary? Suppose
# that its three tokens have `q = [0.5, 0.3, 0.2]`, and that the target knows the first and the
# last. Drop the middle one, and the rest sums to 0.7. Divide by 0.7, and draw from *this*
# distribution. Now the rule needs no change. The residual supplies the tokens that the draft cannot
# propose.

# %% tags=["demo"]
frame("another tokenizer")

# %% [markdown]
# ### Exercise: map_draft
#
# **Task.** The draft's distribution over the target's vocabulary, restricted to the shared tokens
# and normalised again. **Arguments.** `q` is `(W,)`. `draft_to_target` is an integer array `(W,)`: it has
# the target id of each draft token, and -1 for a token that is not shared. The function returns a new
# array `(vocab_size,)`. If two draft tokens have one target id, their probabilities add. **Error.**
# ValueError if the shared tokens have probability 0 together, also if some have an id. However little
# is shared otherwise, it is enough.
#
# **Example.** `q = [0.5, 0.3, 0.2]`, `draft_to_target = [2, -1, 0]`, four target tokens:
# `[0.286, 0, 0.714, 0]`.


# %% solution="map_draft"
def map_draft(q: np.ndarray, draft_to_target: np.ndarray, vocab_size: int) -> np.ndarray:
    """q (W,) over the target's tokens (vocab_size,); ValueError where no mass is shared."""
    ### BEGIN SOLUTION
    shared = draft_to_target >= 0
    mapped = np.zeros(vocab_size)
    np.add.at(mapped, draft_to_target[shared], q[shared])
    if mapped.sum() == 0:
        raise ValueError("target and draft share no token that the draft can propose")
    return mapped / mapped.sum()
    ### END SOLUTION


# %% [markdown] hints="map_draft"
# 1. Walk through the draft tokens. Each one either has a place in the target or not.
# 2. mapped[ids] += masses counts a repeated id only once; np.add.at or a loop adds them all.
# 3. Leave out the entries with -1, add the others up in np.zeros(vocab_size), raise ValueError if
#    the sum is 0, and divide by the sum.

# %% tags=["demo"]
figures.over_the_targets_tokens(map_draft, lesson.SMALL_DRAFT, lesson.TO_TARGET, P)

# %% test="map_draft" points=3
lesson.check_map_draft(map_draft)

# %% [markdown]
# ## The map
#
# The map shows what the field has put into the boxes since 2018. The row of a method says who drafts,
# and its column says in which shape. Its sign says whether the method keeps the law. Choose a method
# to read its card. Each speed-up is the paper's own, on its own models and machines. So the map is no
# ranking.
#
# Two new methods change the last box, "When". **DFlash** (2026) drafts a whole block in one step, so
# `D` is `c` and not `c K`. Its draft tokens do not see each other, so the later ones can be accepted
# less often. Speculative speculative decoding (2026) drafts the next block while the target verifies
# this one.
#
# Find two methods in the map: one that differs from the first paper in one box, and one in three
# boxes.
#
# <details><summary>What you may find</summary>
#
# PARD changes only when the draft is made, block verification only the verifier. EAGLE changes
# three boxes: who drafts, the shape, and the verifier.
#
# </details>

# %% tags=["demo"]
from specdec_lib.lessons.widgets.design_map import design_map

# %% tags=["demo"]
static_map()
design_map()

# %% [markdown]
# ### What is lossless and what is not
#
# Medusa's **typical acceptance** has no coin and no `q`. A token `x` is accepted if
# `p(x) > min(epsilon, delta exp(-H))`, where `H` is the entropy of `p`. The figure uses 0.09 and 0.3,
# the defaults of Medusa's code. So every token of the pair is accepted, and the text
# follows the *draft*. Medusa's paper says that this is on purpose.

# %% tags=["demo"]
charts.typical(P, Q, epsilon=0.09, delta=0.3)

# %% [markdown]
# ## A mixture of experts
#
# So far a pass over five tokens cost about as much as a pass over one, because both read the same
# weights. In a **mixture of experts** the longer pass reads more. Each layer holds many small
# networks, the **experts**. A **router** chooses a few of them for each token. Mixtral 8x7B has 8
# experts in a layer, and the router chooses 2 of them for each token. A pass reads every expert that
# at least one of its tokens chose. The next cell draws such choices.

# %% tags=["demo"]
experts.routed(n_experts=8, active=2, most=3)

# %% [markdown]
# ### Commit first
#
# Two tokens read 3.5 experts, and not 4. How many experts does a pass over **five** tokens read, on
# average? Write a number from 0 to 8.

# %% solution="prediction_07_b"
### BEGIN SOLUTION
prediction_07_b = 6.1
### END SOLUTION

# %% test="prediction_07_b" points=1
lesson.committed("prediction_07_b", prediction_07_b, 0, 8)

# %% tags=["demo"]
lesson.reveal("prediction_07_b", prediction_07_b)

# %% [markdown]
# ### Exercise: expected_experts
#
# **Task.** How many different experts a pass over `n_tokens` tokens reads in a layer, on average.
# Each token chooses `active` different experts of `n_experts`. All choices are equally likely, and
# the tokens choose independently of each other. Compute the mean exactly, without drawing.
# **Arguments.** The arguments are three integers, with `n_tokens` at least 0 and `active` from 1 to
# `n_experts`. The function returns a float. For 0 tokens it is 0.
#
# **Example.** Two tokens, 8 experts, 2 active: 3.5.


# %% solution="expected_experts"
def expected_experts(n_tokens: int, n_experts: int, active: int) -> float:
    """Mean number of different experts that `n_tokens` tokens choose, `active` each."""
    ### BEGIN SOLUTION
    left_out = (1 - active / n_experts) ** n_tokens
    return n_experts * (1 - left_out)
    ### END SOLUTION


# %% [markdown] hints="expected_experts"
# 1. Look at one expert. With which probability does one token leave it out?
# 2. 1 - active/n_experts. The tokens choose independently, so all of them leave it out with the
#    n_tokens-th power of it.
# 3. It is read with 1 minus this power. The mean number of experts read is n_experts times this
#    probability.

# %% tags=["demo"]
experts.experts_read(expected_experts)

# %% test="expected_experts" points=3
lesson.check_expected_experts(expected_experts)

# %% [markdown]
# One token leaves an expert out with probability `1 - active/experts`. The tokens choose
# independently, so all `n` tokens leave it out with the `n`-th power of this probability. A pass over
# `n` tokens then reads, on average,
#
# $$ \text{experts} \cdot \left( 1 - \left( 1 - \frac{\text{active}}{\text{experts}} \right)^n \right) . $$
#
# The figure adds the weights that every pass reads, and divides by the pass over one token. With
# Mixtral a pass over five tokens takes 2.8 times as long as a pass over one. A block of four draft
# tokens, at `alpha = 0.7` and `c = 0.05`, writes 2.77 tokens in the time of 0.2 + 2.8 = 3.0 passes.
# So the block is slower than plain decoding. Cascade (2025) reports the same from vLLM:
# verification takes 2 to 3 times as long, and decoding becomes up to 1.5 times slower.
#
# The right panel adds requests. With 64 requests a pass reads nearly all experts even without a draft.
# Draft tokens then add little time, and the draft pays again. MoESD (2025) reports up to 2.29 times
# plain decoding at medium batch sizes.
#
# ## What today's uses change
#
# | use | what it changes in the frame |
# | --- | --- |
# | long contexts | a batch reads more cache than weights, so `v` stays near 1 (chapter 06) |
# | reasoning | one long answer cannot be batched; a draft more than halves its time, but not with experts |
# | structured output | a grammar masks `p`; masking `q` too keeps the law and raises the acceptance |
# | recurrent and hybrid models | a state cannot be cut back like a KV cache; going back costs memory or a pass |
# | rollouts for reinforcement learning | training needs texts from exactly `p`: a bias does not average out |
# | the draft on another machine | the round trip is added to `D` |
#
# ### Who ships it
#
# Two facts of 2026: vLLM removed its tree attention in May (pull request 42121), so EAGLE drafts a
# chain in vLLM and a tree in SGLang. vLLM has had block verification since June (46781).
#
# ### What the original got right, and what it left open
#
# <details><summary>What the first papers proved, and what they did not ask</summary>
#
# The first papers proved that the rule keeps the law for any drafter, so a new drafter needs no new
# proof. The target needs no retraining. The papers left open what happens in a batch (chapter 06),
# where a draft comes from, and how long a block should be.
#
# </details>
#
# ### What would settle a doubt
#
# A post says: "Our heads are lossless and 3x faster."
#
# <details><summary>Three steps settle it</summary>
#
# 1. *Name the mechanism.* Which rule accepts, and from which `q` were the tokens drawn?
# 2. *Name what must hold.* Here a pass over more tokens must cost no more.
# 3. *Change one thing.* Say first which number will change. Then raise the batch, and look at it.
#
# </details>

# %% [markdown]
# ## Quiz
#
# **Question 1.** What sets speculative decoding apart from quantisation and unchecked early exit?
#
# - a: it makes decoding faster, which the other two do not
# - b: it never makes anything slower, whatever the draft and the batch
# - c: its output keeps the target's distribution
# - d: it is the only technique in serving that keeps the output distribution

# %% solution="quiz_07"
### BEGIN SOLUTION
quiz_07 = "c"
### END SOLUTION

# %% test="quiz_07" points=1
lesson.answered("quiz_07", quiz_07)

# %% [markdown]
# **Question 2.** A tree of 64 draft tokens doubles the speed for one user. With 200 users on the
# same GPU it slows everybody down. Why?
#
# - a: with many users the draft's tokens are accepted less often than with one
# - b: a pass over 200 x 65 tokens is no longer free
# - c: the tree masks of 200 users mix up their texts
# - d: the residual rule is lossless for one request only, so the server repeats passes

# %% solution="quiz_07_b"
### BEGIN SOLUTION
quiz_07_b = "b"
### END SOLUTION

# %% test="quiz_07_b" points=1
lesson.answered("quiz_07_b", quiz_07_b)

# %% [markdown]
# ### In your own words
#
# Choose one method of the map. Say what drafts, what verifies, and what must hold if the method is to
# pay. Name one change of the setting that would take the gain away, with the reason. Write three to
# five sentences. A person marks this answer.

# %% [markdown] written="settle_a_claim" points=2
# Prompt lookup: what followed the same n-gram earlier in the text is the draft, and the target
# accepts each token with its own probability, so the law is kept. It pays where the answer repeats
# the prompt, as in editing or summaries. Raise the temperature: `p(x)` falls for a favourite token
# as `p` flattens, and it is accepted with `p(x)`, so fewer tokens come out of a pass.

# %% [markdown]
# ## What you may read elsewhere
#
# What is wrong with each sentence? Decide before you open the answer.
#
# **You might read: "N-gram drafts use the prompt's own n-grams: no cost, low acceptance."**
#
# <details><summary>Answer</summary>
#
# Two things are mixed. A bigram model counts a corpus; Leviathan et al. report an `alpha` of 0.05
# to 0.23 for one. Lookup copies from the prompt, and Saxena reports 2x to 4x where the answer
# repeats it. *Look:* the next cell has both on the built-in target, whose texts repeat little at
# temperature 1.
#
# </details>
#
# **You might read: "Medusa belongs to the lossless family."**
#
# <details><summary>Answer</summary>
#
# It depends on how Medusa verifies. *Look:* under typical acceptance the pair's law is 0.2 away in
# total variation, as far away as the draft itself.
#
# </details>
#
# **You might read: "More tokens a block means more speed."**
#
# <details><summary>Answer</summary>
#
# Only if the block takes no longer. The chain of six writes 3.95 tokens and the tree 2.63. *Look:*
# in the next cell the chain is faster at `c = 0.02` and slower at `c = 0.2`.
#
# </details>

# %% tags=["demo"]
lesson.look(measured)

# %% [markdown]
# ## The race again
#
# The draft model meets a copier without a model, and a tree with two candidates for each of the first
# two places. A pass of the tree carries eleven tokens, and a pass of the draft model's chain four. On a
# processor every token of a pass takes time. So the tree mostly loses, even if it writes the most tokens a block.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import branching, copying, drafting
from specdec_lib.measure.race.race import race

# %% tags=["demo"]
family = {
    "draft model": drafting("large", k=3),
    "copy from the text": copying(k=3),
    "tree of the draft model": branching("large", widths=(2, 2, 1)),
}
show_race(race("07", family))

# %% [markdown]
# ## Sources
#
# The map's cards have the source of each method's figures. Further:
#
# - Y. Leviathan, M. Kalman, Y. Matias, arXiv 2211.17192: the rule; Table 3 has the bigram's alpha.
# - Z. Sun et al., *SpecTr*, arXiv 2310.15141: candidates as optimal transport. X. Miao et al.,
#   *SpecInfer*, arXiv 2305.09781: the rule in turn, down a tree.
# - Z. Sun et al., *Block Verification*, arXiv 2403.10444: Algorithm 2. Its 5% to 8% are wall-clock
#   on real pairs; the bars above are one small pair at every position.
# - T. Cai et al., *Medusa*, arXiv 2401.10774: typical acceptance; 0.09 and 0.3 are the defaults of
#   `medusa/model/medusa_model.py` in github.com/FasterDecoding/Medusa.
# - A. Saxena, github.com/apoorvumang/prompt-lookup-decoding: 2x to 4x.
# - A. Saxena et al., *Cascade*, arXiv 2506.20675, and Z. Huang et al., *MoESD*, arXiv 2505.19645:
#   speculation with experts, at one request and at medium batches. Sizes of the models: arXiv
#   2401.04088, the model card of Qwen3-30B-A3B, arXiv 2412.19437.
# - github.com/vllm-project/vllm, pull requests 42121 and 46781.
#
# They do not support a ranking of the methods, and none of the published figures was measured on
# your machine.
#
# **Next.** Chapter 08 puts your functions on a real decoder, and measures.
