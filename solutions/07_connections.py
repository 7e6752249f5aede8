# %% [markdown]
# # 07 Connections: one frame, many ways to draft and to verify
#
# 90 minutes · difficulty 4 of 5 · you need: the acceptance rule and its residual (both restated
# below), what an attention mask is, and that a draft step costs `c` target passes
#
# **Carry in.** A block of draft tokens, one target pass over it, and a rule that keeps the law.
#
# **Work here.** You take the method apart and put other things in each place: drafts without a
# model, drafts without a distribution, several candidates, trees, other tokenizers.
#
# **Carry out.** Of any method: who drafts, in which shape, who verifies, which law, when it pays.
#
# Run the cells from top to bottom. Nothing here needs your answers from another chapter.

# %% [markdown]
# ## One frame for all of them
#
# The **target** has the distribution `p`, the **draft** `q`. A draft token `x` from `q` is accepted
# with probability `min(1, p(x)/q(x))`; else a draw from the **residual**, `max(0, p - q)` over its
# sum, takes its place. The law is `p` for every `q`, if `x` was drawn from that very `q`. Nothing
# else is asked of a drafter. The pictures show the shapes that a draft can have.

# %%
import numpy as np

from specdec_lib.lessons.ch07 import checks as lesson
from specdec_lib.lessons.ch07.checks import SHAPES, TREE, P, Q, hints
from specdec_lib.sampling import sample_from


def residual_distribution(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Given: max(0, p - q) over its sum, and a copy of p where that is empty; all (V,)."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p.copy()


# %% tags=["demo"]
from specdec_lib.lessons.ch07 import figures, measured as charts

figures.shapes()

# %% [markdown]
# ## A draft without a distribution: n-grams and lookup
#
# **Prompt lookup** (Saxena, 2023) has no model. It looks for an earlier place where the text read
# as it does now (Saxena takes the first, chapter 04 the last), and proposes what followed there.
# The token is certain, so `q` is 1 on it and 0 elsewhere. A **corpus n-gram** is another thing: its
# counts are a distribution, tokens are drawn from it, and the rule applies.
#
# The pair of this chapter is `p = [.45, .30, .15, .10]` and `q = [.30, .45, .20, .05]` over A to
# D. Tokens drawn from `q` are accepted with .80. Draft the argmax of `q` instead, always B, and
# only .30 is accepted, since the law gives B no more.

# %% [markdown]
# ### Exercise: one_hot_accept
#
# **What.** The rule for a draft token that is certain: accept it iff `r < p(draft_token)`, which is
# strict, so that `r = 0` never accepts a token of `p = 0`. Else `sample_from(rest, u)` takes its
# place, where `rest` is `p` without that token, divided by what is left. If nothing is left, accept:
# rounding can make the `p` of a certain token a hair less than 1, and `r` more than that.
# **Shapes.** `p` is `(V,)` and stays as it is; a tuple comes back: the token, and whether it is the
# draft's.
#
# **One worked number.** Token 1 with `r = .5`: `.5 < .30` is false. Without B the rest sums to .70
# and is `[.643, 0, .214, .143]`; `u = .7` picks token 2: `(2, False)`.
#
# **In production.** `transformers.generation.candidate_generator.PromptLookupCandidateGenerator`
# drafts; a token is then drawn from `p`, and the draft's stays where they agree: the same law. In
# vLLM, the branch `NO_DRAFT_PROBS` of `vllm/v1/sample/rejection_sampler.py`.


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


# %% tags=["demo"]
hints(one_hot_accept)

# %% tags=["demo"]
figures.certain_token(one_hot_accept, P, token=1)

# %% test="one_hot_accept" points=3
lesson.check_one_hot_accept(one_hot_accept)

# %% [markdown]
# Now measured: three drafters on the built-in target, eight held-out prompts, 48 tokens each,
# blocks of four. Lookup proposes nothing where it finds nothing.

# %% tags=["demo"]
from specdec_lib.device import leave_cores
from specdec_lib.measure import strategies
from specdec_lib.measure.core.held_out import prompts

leave_cores()  # as in chapter 00
lab, texts = strategies.Laboratory(positions=400), prompts(8, 128)
measured = strategies.tokens_a_block(lab.target, strategies.three_drafters(lab.vocab_size), texts)
charts.drafters(measured, k=4)

# %% [markdown]
# The greedy text of so small a model runs in circles, and lookup lives on repetition. At
# temperature 1 hardly anything repeats, and lookup brings little.
#
# ## A part of the target: early exit
#
# The target's own first layers can draft, with its own head on top. A draft step then costs
# `c = e/L`, for `e` of `L` layers, the head not counted. **Draft & Verify** (2023) skips layers of
# a model as it is; **LayerSkip** (2024) trains the model for early exit. The cell cuts the built-in
# target, which was not trained for it, behind each of its layers, at 400 positions of held-out text.

# %% tags=["demo"]
from specdec_lib.measure.core.acceptance import model_reader

cut = {e: lab.alpha(model_reader(strategies.first_layers(e))) for e in (1, 2, 3, 4)}
charts.early_exit(cut)

# %% [markdown]
# ## No draft at all: Jacobi and lookahead
#
# Greedy decoding finds `K` tokens one after the other: token `i` is the target's argmax behind the
# tokens before it. **Jacobi decoding** guesses all `K`, runs one pass over prompt and guess,
# replaces every token by the argmax that this pass gives for its place, and repeats. The first
# token is right after the first pass, since it stands behind the prompt alone; behind `j` right
# tokens stands a right one after the next pass. So a pass that changes nothing has found the greedy
# text, after `K + 1` passes at most. The gain is what comes right before its turn.

# %% [markdown]
# ### Exercise: jacobi_decode
#
# **What.** `len(guess)` tokens by fixed-point decoding. Every pass calls
# `target_greedy(prompt + current)` exactly once and renews all of them together, until a pass
# changes nothing; that pass counts, and an empty guess takes one. **Shapes.**
# `target_greedy(tokens) -> list[int]` gives the argmax after every position; `prompt` is not empty.
# A tuple comes back: the list of tokens, and the number of passes. `prompt` and `guess` stay as they
# are: work on a copy. Set no limit to the passes.
#
# **One worked number.** A target that counts on by one, `prompt = [0]`, `guess = [5, 5, 3]`: the
# passes give `[1, 6, 6]`, `[1, 2, 7]`, `[1, 2, 3]` and again `[1, 2, 3]`: `([1, 2, 3], 4)`.
#
# **In production.** `transformers.generation.candidate_generator.DFlashTokenCandidateGenerator` is
# the nearest: a trained drafter fills all places of a block at once, and the target verifies. In
# vLLM, `vllm/v1/spec_decode/dflash.py`.


# %% solution="jacobi_decode"
def jacobi_decode(target_greedy, prompt: list[int], guess: list[int]) -> tuple[list[int], int]:
    """The greedy tokens (len(guess),) behind `prompt`, and the passes that it took."""
    ### BEGIN SOLUTION
    current, passes, first = list(guess), 0, len(prompt) - 1
    while True:
        after = target_greedy(list(prompt) + current)
        passes += 1
        renewed = list(after[first : first + len(guess)])
        if renewed == current:
            return current, passes
        current = renewed
    ### END SOLUTION


# %% tags=["demo"]
hints(jacobi_decode)

# %% tags=["demo"]
figures.renewed_together(jacobi_decode, lesson.two_back, lesson.PROMPT, lesson.GUESS)

# %% test="jacobi_decode" points=4
lesson.check_jacobi_decode(jacobi_decode)

# %% [markdown]
# Your function on the built-in target, 16 tokens a prompt; the guess repeats the prompt's end:

# %% tags=["demo"]
import torch


def target_greedy(tokens: list[int]) -> list[int]:
    """The built-in target's argmax behind every token."""
    cache = lab.target.new_cache(1, len(tokens))
    return lab.target.forward(torch.tensor([tokens]), cache)[0].argmax(-1).tolist()


figures.passes_on_prompts(jacobi_decode, target_greedy, texts[:4], 16)


# %% [markdown]
# Hardly a pass is saved, and the one that confirms comes on top. The authors of **lookahead
# decoding** (2023) say the same of Jacobi decoding in practice. Theirs keeps the n-grams that show
# up on the way, and verifies them in the pass that renews the guess.
#
# ## Several candidates for one position
#
# A pass has room for more than one draft token a position. Draw `n` candidates from `q`, each
# independent of the others, and try them in order. After a rejection, what is still wanted is no
# longer `p` but the residual: the next candidate is judged against that.
#
# ### Commit first
#
# One candidate of the pair is accepted with .80. You draw two and try the second one where the
# first is rejected. With which probability is one of the two accepted?

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
# **What.** The token that comes out. The residual starts as `p`. Candidate `x = candidates[i]` is
# accepted iff `r[i] q(x) < residual(x)`, which is strict, so that `r = 0` never accepts a token that
# is not wanted; after a rejection the residual becomes `residual_distribution(residual, q)`. If all
# are rejected, `sample_from(residual, u)`.
# **Shapes.** `candidates` is a list of `n`, `p` and `q` are `(V,)`, `r` is `(n,)`; a token comes
# back. With `n = 0` it is a draw from `p`.
#
# **One worked number.** `candidates = [1, 3]`, `r = [.7, .9]`: for B `.7 x .45 = .315` is not below
# .30. The residual is `[.75, 0, 0, .25]`. For D `.9 x .05 = .045` is below .25: token 3.
#
# **In production.** `transformers.generation.utils._speculative_sampling` and vLLM's
# `vllm/v1/sample/rejection_sampler.py` verify one candidate a position. SGLang verifies
# several, in its kernel `tree_speculative_sampling_target_only`.


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


# %% tags=["demo"]
hints(multi_candidate_accept)

# %% tags=["demo"]
figures.more_candidates(multi_candidate_accept, P, Q, most=3)

# %% [markdown]
# The left panel adds up all candidates, coins and draws: the law is `p` for every `n`. Two
# independent tries at .80 would give .96; your rule gives .87, because the second try is at another
# distribution. The best possible rule, an optimal transport (SpecTr, 2023), does better. Finding it
# is a linear program, exponential in `n`. SpecTr has a cheaper rule that comes near it, and
# SpecInfer the rule in turn, which is yours.

# %% test="multi_candidate_accept" points=4
lesson.check_multi_candidate_accept(multi_candidate_accept)

# %% [markdown]
# ## Trees, heads and features
#
# Candidates at every depth make a tree. All of its nodes go through the target in one pass. Each
# node must see its own past and nothing of the other branches. A **mask** says which tokens a token may
# look at, and the causal mask of a chain becomes a **tree mask**. Then the rule walks down: accept one child, go on at its children, or stop.
#
# **Medusa** (2024) grows trees from heads on the target's last hidden state. Each head guesses one
# place ahead without knowing the tokens between, so the combinations of all guesses are candidates:
# 2 and 3 guesses make 6 paths. **EAGLE** (2024) puts one layer there that reads the target's
# features *and* the token before, so a branch knows what it continues. Both need training. For the
# built-in target the course has both; here they draft chains of three, on the prompts from above.

# %% tags=["demo"]
heads = strategies.trained_heads(lab.target)
charts.drafters(strategies.tokens_a_block(lab.target, heads, texts, k=3), k=3)

# %% [markdown]
# ### Exercise: tree_attention_mask
#
# **What.** Who sees whom: node `i` sees itself and its ancestors. The prefix, which everybody sees,
# is not part of it. **Shapes.** `parents` is a list of `N` with `parents[i] < i`, -1 where the
# parent is the prefix; a boolean array `(N, N)` comes back, row `i` for node `i`.
#
# **One worked number.** `parents = [-1, -1, 0, 0, 1, 2]`: node 5 hangs on 2, and 2 on 0, so row 5
# is true at 0, 2 and 5. A chain gives the causal mask.
#
# **In production.** `transformers.masking_utils.create_causal_mask` builds the mask of a chain, and
# passes a ready-made one on. In vLLM, `vllm/v1/attention/backends/tree_attn.py`.


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


# %% tags=["demo"]
hints(tree_attention_mask)

# %% tags=["demo"]
figures.tree_and_mask(tree_attention_mask, TREE)

# %% test="tree_attention_mask" points=3
lesson.check_tree_attention_mask(tree_attention_mask)

# %% [markdown]
# ### Commit first
#
# Six draft tokens, on the pair of this chapter. As a chain they bring 3.95 tokens a block, the
# target's own included. How many as a tree with two children on both levels, from 1 to 7? One of
# two is accepted with .87.

# %% solution="prediction_07_b"
### BEGIN SOLUTION
prediction_07_b = 2.63
### END SOLUTION

# %% test="prediction_07_b" points=1
lesson.committed("prediction_07_b", prediction_07_b, 1, 7)

# %% tags=["demo"]
lesson.reveal("prediction_07_b", prediction_07_b)

# %% [markdown]
# ### Simulator: a draft tree and its mask
#
# Choose a shape and a draft, then click the nodes or step through them with the arrow keys. The
# node's row of the mask lights up. The table says what each shape brings, by the acceptance of your
# own function. For which draft does a tree beat the chain, and why?

# %% tags=["demo"]
from specdec_lib.lessons.widgets.draft_tree import draft_tree_simulator

accepted = lesson.accepted_shares(multi_candidate_accept)
draft_tree_simulator(accepted)

# %% tags=["demo"]
charts.shapes_compared(accepted, SHAPES)

# %% [markdown]
# A chain spends its tokens on depth, a tree also on second choices. Where the first choice passes
# with .80, depth is worth more. Where it passes with .45, few blocks get deep.
#
# ## Verify the block as a whole
#
# The rule judges token by token. A token that the draft understates has a ratio above 1, and the
# surplus is thrown away. **Block verification** (Sun et al., 2024) carries it on: it keeps the
# product of the ratios, cut at 1, and decides how long a prefix stays. The law is the same; the
# cell adds it up. By the paper's proof no rule for one block writes more on average.

# %% tags=["demo"]
charts.blocks_compared(P, Q, most=5)

# %% [markdown]
# ## Another tokenizer
#
# All of this takes for granted that `q` and `p` are over the same tokens. Where the draft has
# another vocabulary, one way is to use only what both share (Timor et al., 2025, call it TLI): drop
# the draft's other tokens, renormalise, and draw from **that** `q`. Then the rule holds as it
# stands, and what the draft cannot say the residual supplies. The other way compares text: draft
# with one tokenizer, read it with the other, accept by equality (SLEM, and Hugging Face's universal
# assisted generation).

# %% [markdown]
# ### Exercise: map_draft
#
# **What.** The draft's distribution over the target's vocabulary, restricted to the shared tokens
# and renormalised. **Shapes.** `q` is `(W,)`; `draft_to_target` is an integer array `(W,)` of
# target ids, -1 for a token that is not shared; a new `(vocab_size,)` array comes back. Masses on
# one id add. ValueError where no mass is shared.
#
# **One worked number.** `q = [.5, .3, .2]`, `draft_to_target = [2, -1, 0]`, four target tokens: the
# shared mass is .70, and the result `[.286, 0, .714, 0]`.
#
# **In production.** `transformers.generation.candidate_generator.AssistantToTargetTranslator`
# does it on logits, where leaving out and softmax renormalise. In vLLM, EAGLE-3 heads with a
# smaller vocabulary: `draft_id_to_target_id` in `vllm/model_executor/models/llama_eagle3.py`.


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


# %% tags=["demo"]
hints(map_draft)

# %% tags=["demo"]
figures.over_the_targets_tokens(map_draft, lesson.SMALL_DRAFT, lesson.TO_TARGET, P)

# %% test="map_draft" points=3
lesson.check_map_draft(map_draft)

# %% [markdown]
# ## What is lossless and what is not
#
# Medusa's **typical acceptance** asks something else: is the candidate plausible? It accepts `x`
# iff `p(x) > min(epsilon, delta exp(-H))`, with the entropy `H` of `p`. No coin, no `q`. In the
# figure: one candidate from the pair's `q`, and the defaults of Medusa's code, .09 and .3. The
# threshold is .087, every token passes it, and the text follows the *draft*.

# %% tags=["demo"]
charts.typical(P, Q, epsilon=0.09, delta=0.3)

# %% [markdown]
# The authors say so themselves: matching the distribution is what they relax. So do Leviathan's
# lenience, TensorRT-LLM's relaxed acceptance, SGLang's acceptance thresholds below 1 and vLLM's FLy
# verification. Jacobi decoding keeps the greedy text only.
#
# ## Draft in one step, or while the target verifies
#
# A drafter that writes token by token costs `c K` a block. **P-EAGLE** and **DFlash** (2026) write
# all `K` in one step: `c`. **Speculative speculative decoding** (2026) drafts, on other hardware,
# behind the likely outcomes of the verification while the target verifies: a block then costs the
# larger of `c K` and 1 instead of the sum, and where the outcome was not foreseen `c K` once more.
# The curves leave out acceptance: tokens that are drafted at once do not see each other, and their
# acceptance can fall along the block, as DFlash's does in chapter 05.

# %% tags=["demo"]
charts.sum_or_maximum(alpha=0.8, k=4)

# %% [markdown]
# ## The family, and its timeline
#
# The figures in the timeline come from each paper's own models, hardware and baseline: they are not
# a ranking. Spec-Bench ran ten methods side by side (Vicuna 7B, A100, greedy, batch 1): EAGLE-2
# 2.36x, Medusa 1.71x, prompt lookup 1.66x, a draft model 1.52x, Lookahead 1.34x. (An earlier run of
# the same, in chapter 05, has 1.78 for Medusa and 1.49 for the draft model.) Walk along the
# timeline with the arrow keys. The shape tells the law.

# %% tags=["demo"]
lesson.family_table()

# %% tags=["demo"]
from specdec_lib.lessons.widgets.timeline import timeline_simulator

figures.timeline()
timeline_simulator()

# %% [markdown]
# ### What the original got right
#
# *The law comes first.* The rule asks nothing of the draft, so a new drafter needs no new proof;
# only several candidates and whole blocks needed one. *Nothing is retrained.*
#
# ### What it left open
#
# *Batches.* It counts on idle arithmetic, which a busy server has not. BASS (2024) reports 2.15x at
# batch 8; the next section says where it ends. *A draft for every target.* Answered in part, by
# heads, by lookup and by TLI. *How long a block should be*, which DSpark (2026) decides by load.

# %% [markdown]
# ## What production systems do, and where batches eat the gain
#
# | system | drafters that its documentation lists | in its own words |
# | --- | --- | --- |
# | vLLM | EAGLE, MTP, draft model, PARD, n-gram, suffix | for medium-to-low QPS, memory-bound |
# | TensorRT-LLM | draft model, EAGLE 3, MTP, n-gram, PARD, DFlash | gains at low batch sizes only |
# | SGLang | EAGLE-2 and 3, MTP, draft model, n-gram | EAGLE-3 recommended |
# | TGI | Medusa, n-gram | pays if enough guesses are right |
#
# MTP is multi-token prediction, a drafter trained with the target; PARD drafts all places at once;
# QPS are requests a second. vLLM's own measurement (Llama3-70B, four H100, October 2024): at 1 QPS
# 1.5x faster on chat with a draft model and 2.8x on summaries with n-grams; at many 1.4x and 1.8x
# *slower*. EAGLE-3 reports 1.38x the throughput at batch 64, in SGLang. A study of vLLM found that
# verification takes 42% to 95% of the time. The batch uses up the free tokens.

# %% tags=["demo"]
charts.batches(alpha=0.8, c=0.02, k=4, free=295)

# %% [markdown]
# Compute at test time has two sides. One long answer of a reasoning model gains from each token
# saved; many answers sampled at once fill the batch, and take the gain away.
#
# ### What would settle a doubt
#
# A post says: "Our heads are lossless and 3x faster." Three steps settle it. *Name the mechanism*:
# which rule accepts, and from which `q` were the tokens drawn? *Name the prerequisite*: what must
# hold, here a batch so small that `K + 1` tokens a request are still free. *Predict one
# perturbation and run it*: raise the batch, or the temperature, and say first which number moves.
#
# ## The smallest example that makes it click
#
# Two tokens, `p = [.5, .5]`, `q = [.75, .25]`, two candidates each, 16 times.
#
# - The first candidate is token 0 in 12 of them. The ratio is 2/3: 8 stay, 4 are rejected.
# - It is token 1 in 4 of them, and all stay. Now `[0, 1]` is wanted.
# - Of the 4 rejected, the second candidate is token 1 once, and stays. Three times it is token 0,
#   which is no longer wanted; the residual writes token 1.
#
# Token 0 ends with 8, token 1 with 4 + 1 + 3 = 8. The second candidate saved 1 in 16, not 3.

# %% [markdown]
# ## Quiz
#
# **Question 1.** What sets speculative decoding apart from quantisation and unchecked early exit?
#
# - a: it alone makes decoding faster
# - b: it never makes anything slower
# - c: the output keeps the target's distribution, whatever the draft is
# - d: nothing else in serving keeps the output distribution

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
# - a: with many users the draft's tokens are accepted less often
# - b: 200 x 65 tokens a pass are more than the free ones, so a pass takes longer
# - c: the tree mask mixes up the users' texts
# - d: the residual rule is lossless for one request only

# %% solution="quiz_07_b"
### BEGIN SOLUTION
quiz_07_b = "b"
### END SOLUTION

# %% test="quiz_07_b" points=1
lesson.answered("quiz_07_b", quiz_07_b)

# %% [markdown]
# ### In your own words
#
# Pick one method of the table of the family above. Say what drafts and what verifies, name one thing that must hold for
# it to pay, and predict one change of the setting that would take the gain away, with the reason.
# Three to five sentences. A person marks this answer.

# %% [markdown] written="settle_a_claim" points=2
# Prompt lookup: what followed the same n-gram earlier in the text is the draft, and the target
# accepts each token with its own probability, so the law is kept. It pays where the answer repeats
# the prompt, as in editing or summaries. Raise the temperature: `p(x)` falls for a favourite token
# as `p` flattens, and it is accepted with `p(x)`, so fewer tokens come out of a pass.

# %% [markdown]
# ## What you may read elsewhere
#
# **You might read: "N-gram drafts use the prompt's own n-grams: no cost, low acceptance."** It is
# not so, because two things are mixed: counts of a corpus, and lookup in the prompt. *Look:* the
# bigram of Leviathan et al. had an alpha of .05 to .23; lookup reports 2x to 4x where answers
# repeat the prompt. The cell prints both on the built-in target, whose texts repeat little.
#
# **You might read: "Self-speculation (2024) drafts by early exit."** It is not so, because there
# are two lines: Draft & Verify skips layers and trains nothing, LayerSkip trains for early exit.
# *Look:* the years and the drafters in the cell.
#
# **You might read: "Medusa belongs to the lossless family."** It is not so, because that hangs on
# how it verifies. *Look:* under typical acceptance the pair's law is .20 away, as far as the draft.
#
# **You might read: "It alone speeds up with zero quality loss."** It is not so, because a KV cache,
# batching and tensor parallelism keep the output's distribution too, and all of them up to rounding
# only. *Look:* `0.1 + 0.2 == 0.3` in the cell; sums in another order are other numbers.
#
# **You might read: "Speculative decoding was introduced in 2023."** It is not so, because Stern et
# al. drafted and verified greedy text in 2018, Xia et al. did so with translations in March 2022
# and later gave it the name, and Leviathan et al. brought sampling in November 2022. *Look:* the
# first two dates in the cell.
#
# **You might read: "From the paper to every provider in under a year."** It is not so, because
# Hugging Face's assisted generation of May 2023 matched tokens when sampling; the rule came with
# pull request 27979 in December 2023 and was right from 28508, January 2024, on. Of "every
# provider" there is no source. *Look:* the months.

# %% tags=["demo"]
lesson.look(measured)

# %% [markdown]
# ## The race again
#
# The draft model meets two relatives from this chapter: a copier without any model, and a tree that
# proposes two candidates for the first two places. The tree is accepted more often, and pays for
# more tokens in every pass.

# %% tags=["demo"]
from specdec_lib.lessons.common.race import show_race
from specdec_lib.measure.race.contestants import branching, copying, drafting
from specdec_lib.measure.race.race import race

family = {
    "draft model": drafting("large", k=3),
    "copy from the text": copying(k=3),
    "tree of the draft model": branching("large", widths=(2, 2, 1)),
}
show_race(race("07", family))

# %% [markdown]
# ## Sources
#
# Each entry of the timeline names the source of its figures. Further:
#
# - Y. Leviathan, M. Kalman, Y. Matias, arXiv 2211.17192: the rule; Table 3 has the bigram's alpha,
#   appendix A.5 lenience. H. Xia et al., arXiv 2203.16487: the name, in a later version.
# - Z. Sun et al., *SpecTr*, arXiv 2310.15141: candidates as optimal transport. SpecInfer, arXiv
#   2305.09781: the rule in turn.
# - Z. Sun et al., *Block Verification*, arXiv 2403.10444: Algorithm 2 and its optimality; its 5% to
#   8% are wall-clock on real pairs, the bars above one small pair at every position.
# - T. Cai et al., *Medusa*, arXiv 2401.10774: typical acceptance; .09 and .3 are the defaults of
#   `medusa/model/medusa_model.py` in github.com/FasterDecoding/Medusa.
# - github.com/hao-ai-lab/LookaheadDecoding, README: Jacobi decoding and the wall clock. Spec-Bench,
#   leaderboard of April 2025. H. Qian et al., *BASS*, arXiv 2404.15778, a 7.8B model on an A100.
# - vLLM blog, 17 October 2024, on speculative decoding; X. Liu et al., *Speculative Decoding:
#   Performance or Illusion?*, arXiv 2601.11580, and specdecode-bench.github.io: the 42% to 95%.
# - Documentation of vLLM, TensorRT-LLM, SGLang and TGI on speculative decoding, as read in 2026;
#   such lists change with every release. github.com/huggingface/transformers, pull requests 27979
#   and 28508.
# - 295 in the last figure: an H100's 989 TFLOP/s over 3.35 TB/s (bfloat16, the data sheet's peaks).
#
# They do not support a ranking of the methods, and none of them was run on your machine.
#
# **Next.** Chapter 08 puts your functions on a real decoder, and measures.
