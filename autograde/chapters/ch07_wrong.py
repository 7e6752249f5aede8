"""Known wrong answers of chapter 07, each with its refutation. Several are in published code."""

import numpy as np

from autograde.chapters.parametrized import Misconceptions
from specdec_lib.sampling import sample_from

WRONG = Misconceptions()


one_hot_accept = WRONG.exercise("one_hot_accept")


def _without(p, token):
    """The right replacement, for wrong answers that err elsewhere; p if nothing is left."""
    rest = p.copy()
    rest[token] = 0
    return rest / rest.sum() if rest.sum() > 0 else p


@one_hot_accept.wrong(
    think="after a rejection the target itself is drawn from.",
    because="the rejected token would come a second time, beyond the p that acceptance gave it.",
)
def certain_replaced_from_target(draft_token, p, r, u):
    if r < p[draft_token] or p[draft_token] == p.sum():
        return draft_token, True
    return sample_from(p, u), False


@one_hot_accept.wrong(
    think="without its token p is ready to be drawn from.",
    because="it sums to 1 - p(token); the last token would get all that is missing to 1.",
)
def certain_not_normalised(draft_token, p, r, u):
    rest = p.copy()
    rest[draft_token] = 0
    if r < p[draft_token] or rest.sum() == 0:
        return draft_token, True
    return sample_from(rest, u), False


@one_hot_accept.wrong(
    think="a looked-up token is accepted where it is the target's favourite.",
    because="that is greedy decoding; when sampling, token x is owed p(x), favourite or not.",
)
def certain_if_favourite(draft_token, p, r, u):
    if draft_token == int(np.argmax(p)):
        return draft_token, True
    return sample_from(_without(p, draft_token), u), False


@one_hot_accept.wrong(
    think="no q was given, so q is uniform.",
    because="the token was not drawn at all: it comes with certainty, and q is 1 on it.",
)
def certain_with_uniform_q(draft_token, p, r, u):
    if r < min(1.0, float(p[draft_token] * len(p))):
        return draft_token, True
    return sample_from(_without(p, draft_token), u), False


@one_hot_accept.wrong(
    think="a likely token is accepted, an unlikely one is not.",
    because="a threshold is no coin: a token of p = 0.6 would always be written.",
)
def certain_if_likely(draft_token, p, r, u):
    if p[draft_token] > 0.25:
        return draft_token, True
    return sample_from(_without(p, draft_token), u), False


@one_hot_accept.wrong(
    think="a token that is nearly certain is certain.",
    because="the others still have a little probability, and a rejection gives it to them: the "
    "token is accepted for every r only if the others have exactly 0.",
)
def certain_if_nearly(draft_token, p, r, u):
    if r < p[draft_token] or p[draft_token] > 0.999:
        return draft_token, True
    return sample_from(_without(p, draft_token), u), False


@one_hot_accept.form_of(certain_if_nearly)
def certain_if_little_is_left(draft_token, p, r, u):
    rest = p.copy()
    rest[draft_token] = 0
    if r < p[draft_token] or rest.sum() < 1e-12:
        return draft_token, True
    return sample_from(rest / rest.sum(), u), False


@one_hot_accept.wrong(
    think="a token is certain only if its p is exactly 1.",
    because="rounding can make p a hair less than 1 although no other token has any probability, "
    "and 0 over 0 is not a number.",
)
def certain_only_at_1(draft_token, p, r, u):
    rest = p.copy()
    rest[draft_token] = 0
    if r < p[draft_token] or p[draft_token] == 1:
        return draft_token, True
    return sample_from(rest / rest.sum(), u), False


@one_hot_accept.wrong(
    think="a tiny number added to the sum of the rest saves the division and changes nothing.",
    because="the rest can be as small as the number that was added, and then it no longer sums to "
    "1: the last token would get what is missing.",
)
def certain_with_a_little_added(draft_token, p, r, u):
    rest = p.copy()
    rest[draft_token] = 0
    if r < p[draft_token] or rest.sum() == 0:
        return draft_token, True
    return sample_from(rest / (rest.sum() + 1e-12), u), False


@one_hot_accept.wrong(
    think="the replacement is the most probable of the other tokens.",
    because="the others are owed their shares of p, each in proportion; u draws one of them.",
)
def certain_replaced_by_the_best(draft_token, p, r, u):
    if r < p[draft_token] or p[draft_token] == p.sum():
        return draft_token, True
    return int(np.argmax(_without(p, draft_token))), False


@one_hot_accept.wrong(
    think="each of the other tokens is an equally good replacement.",
    because="the others are owed their shares of p, and these differ.",
)
def certain_replaced_evenly(draft_token, p, r, u):
    if r < p[draft_token] or p[draft_token] == p.sum():
        return draft_token, True
    return sample_from(_without(np.ones(len(p)), draft_token), u), False


@one_hot_accept.wrong(
    think="the truth value says whether the token was replaced.",
    because="it says whether the token is the draft's: True after an acceptance.",
)
def certain_told_the_other_way(draft_token, p, r, u):
    if r < p[draft_token] or p[draft_token] == p.sum():
        return draft_token, False
    return sample_from(_without(p, draft_token), u), True


@one_hot_accept.wrong(
    think="a large r accepts.",
    because="r is below p(token) with probability p(token): a small r accepts.",
)
def certain_coin_reversed(draft_token, p, r, u):
    if r > p[draft_token] or p[draft_token] == p.sum():
        return draft_token, True
    return sample_from(_without(p, draft_token), u), False


@one_hot_accept.wrong(
    think="u is the coin, and r draws the replacement.",
    because="r is held against p(token), and u draws.",
)
def certain_uniforms_swapped(draft_token, p, r, u):
    if u < p[draft_token] or p[draft_token] == p.sum():
        return draft_token, True
    return sample_from(_without(p, draft_token), r), False


@one_hot_accept.wrong(
    think="the token can be deleted from p before the draw.",
    because="the tokens after it would move down by one: the draw gives a place in a shorter list.",
)
def certain_deleted(draft_token, p, r, u):
    if r < p[draft_token] or p[draft_token] == p.sum():
        return draft_token, True
    rest = np.delete(p, draft_token)
    return sample_from(rest / rest.sum(), u), False


@one_hot_accept.wrong(
    think="the target draws its own token with u, and the draft's is accepted if both are equal.",
    because="though the law is kept, the verdict belongs to r, and u only draws a replacement.",
)
def certain_matched(draft_token, p, r, u):
    token = sample_from(p, u)
    return token, token == draft_token


@one_hot_accept.wrong(
    think="r equal to p still accepts.",
    because="here the rule is strict, so that r = 0 never accepts a token of p = 0.",
)
def certain_not_strict(draft_token, p, r, u):
    if r <= p[draft_token]:
        return draft_token, True
    return sample_from(_without(p, draft_token), u), False


@one_hot_accept.wrong(
    think="the coin can pick the replacement too.",
    because="after a rejection r is known to be at least p(token), so it is not uniform any more.",
)
def certain_coin_used_twice(draft_token, p, r, u):
    if r < p[draft_token]:
        return draft_token, True
    return sample_from(_without(p, draft_token), r), False


@one_hot_accept.wrong(
    think="the token can be struck out of p itself.",
    because="p belongs to the caller, who still needs the row.",
)
def certain_in_place(draft_token, p, r, u):
    chance = float(p[draft_token])
    p[draft_token] = 0
    if r < chance or p.sum() == 0:
        return draft_token, True
    return sample_from(p / p.sum(), u), False


jacobi_decode = WRONG.exercise("jacobi_decode")


def _renewed(target_greedy, prompt, current):
    """One right pass, for wrong answers that err elsewhere."""
    first = len(prompt) - 1
    return list(target_greedy([*prompt, *current])[first : first + len(current)])


def _until_unchanged(step, guess, most=200):
    """(tokens, passes) of a step repeated until it changes nothing, `most` times at most."""
    current = list(guess)
    for passes in range(1, most + 1):
        renewed = step(current)
        if renewed == current:
            return current, passes
        current = renewed
    return current, most


@jacobi_decode.wrong(
    think="the argmax behind place i is the token of place i.",
    because="it is the token after it; the first place is renewed behind the last prompt token.",
)
def jacobi_off_by_one(target_greedy, prompt, guess):
    def step(current):
        return list(target_greedy([*prompt, *current])[len(prompt) : len(prompt) + len(current)])

    return _until_unchanged(step, guess, most=len(guess) + 1)


@jacobi_decode.wrong(
    think="only passes that change something count.",
    because="the last pass was run and paid for too; without it nobody knows that all is right.",
)
def jacobi_last_pass_not_counted(target_greedy, prompt, guess):
    tokens, passes = _until_unchanged(lambda c: _renewed(target_greedy, prompt, c), guess)
    return tokens, passes - 1


@jacobi_decode.wrong(
    think="as many passes as places are always needed.",
    because="that many are always enough: a pass may change nothing before.",
)
def jacobi_fixed_passes(target_greedy, prompt, guess):
    current = list(guess)
    for _ in guess:
        current = _renewed(target_greedy, prompt, current)
    return current, len(guess)


@jacobi_decode.wrong(
    think="a handful of passes is enough.",
    because="a target may settle one place a pass, so the passes can be one more than the places: "
    "only a pass that changes nothing ends the loop.",
)
def jacobi_pass_limit(target_greedy, prompt, guess):
    return _until_unchanged(lambda c: _renewed(target_greedy, prompt, c), guess, most=8)


@jacobi_decode.form_of(jacobi_pass_limit)
def jacobi_sixteen_passes(target_greedy, prompt, guess):
    return _until_unchanged(lambda c: _renewed(target_greedy, prompt, c), guess, most=16)


@jacobi_decode.wrong(
    think="one place is renewed in every pass.",
    because="the pass has the argmax of every place; all of them are renewed from it together.",
)
def jacobi_one_place_a_pass(target_greedy, prompt, guess):
    def step(current):
        renewed = _renewed(target_greedy, prompt, current)
        wrong = [i for i, token in enumerate(current) if token != renewed[i]]
        return [renewed[i] if i in wrong[:1] else t for i, t in enumerate(current)]

    return _until_unchanged(step, guess)


@jacobi_decode.form_of(jacobi_one_place_a_pass)
def jacobi_place_after_place(target_greedy, prompt, guess):
    current = list(guess)
    for i in range(len(guess)):
        current[i] = target_greedy([*prompt, *current])[len(prompt) - 1 + i]
    return current, len(guess)


@jacobi_decode.form_of(jacobi_one_place_a_pass)
def jacobi_place_after_place_in_one_pass_at_least(target_greedy, prompt, guess):
    current = list(guess)
    for i in range(len(guess)):
        current[i] = target_greedy([*prompt, *current])[len(prompt) - 1 + i]
    return current, max(len(guess), 1)


@jacobi_decode.form_of(jacobi_one_place_a_pass)
def jacobi_place_after_place_and_once_more(target_greedy, prompt, guess):
    current = list(guess)
    for i in range(len(guess)):
        current[i] = target_greedy([*prompt, *current])[len(prompt) - 1 + i]
    return current, len(guess) + 1


@jacobi_decode.form_of(jacobi_one_place_a_pass)
def jacobi_plain_decoding(target_greedy, prompt, guess):
    written = []
    for _ in guess:
        written.append(target_greedy([*prompt, *written])[-1])
    return written, len(guess)


@jacobi_decode.wrong(
    think="K places need at most K passes.",
    because="pass K may change the last place, and only one more pass shows that nothing changes.",
)
def jacobi_at_most_the_places(target_greedy, prompt, guess):
    return _until_unchanged(
        lambda c: _renewed(target_greedy, prompt, c), guess, most=max(len(guess), 1)
    )


@jacobi_decode.form_of(jacobi_at_most_the_places)
def jacobi_at_most_the_places_or_none(target_greedy, prompt, guess):
    return _until_unchanged(lambda c: _renewed(target_greedy, prompt, c), guess, most=len(guess))


@jacobi_decode.wrong(
    think="the prompt belongs to the answer.",
    because="the greedy tokens after the prompt are asked for: as many as the guess has places.",
)
def jacobi_with_the_prompt(target_greedy, prompt, guess):
    tokens, passes = _until_unchanged(lambda c: _renewed(target_greedy, prompt, c), guess)
    return [*prompt, *tokens], passes


@jacobi_decode.wrong(
    think="the target reads the guess alone.",
    because="the text before the guess decides what follows: every pass reads prompt + current.",
)
def jacobi_without_prompt(target_greedy, prompt, guess):
    return _until_unchanged(lambda c: list(target_greedy(c)[: len(c)]), guess)


@jacobi_decode.wrong(
    think="the last token of the prompt is enough to go on from.",
    because="the target may look at the whole text: every pass reads all of the prompt.",
)
def jacobi_last_token_only(target_greedy, prompt, guess):
    return _until_unchanged(lambda c: _renewed(target_greedy, prompt[-1:], c), guess)


@jacobi_decode.wrong(
    think="one pass over the guess corrects it.",
    because="a place that was renewed behind a wrong token is only right by luck.",
)
def jacobi_one_pass(target_greedy, prompt, guess):
    return _renewed(target_greedy, prompt, list(guess)), 1


@jacobi_decode.wrong(
    think="without a guess there is nothing to ask.",
    because="a pass that changes nothing ends the loop and counts, also over an empty guess.",
)
def jacobi_empty_takes_none(target_greedy, prompt, guess):
    if not guess:
        return [], 0
    return _until_unchanged(lambda c: _renewed(target_greedy, prompt, c), guess)


@jacobi_decode.wrong(
    think="the guess is the caller's list to write into.",
    because="the caller still has the list, and finds other tokens in it.",
)
def jacobi_in_place(target_greedy, prompt, guess):
    passes = 0
    while True:
        renewed = _renewed(target_greedy, prompt, guess)
        passes += 1
        if renewed == guess:
            return list(guess), passes
        guess[:] = renewed


multi_candidate_accept = WRONG.exercise("multi_candidate_accept")


def _wanted(p, q):
    """The right residual, for wrong answers that err elsewhere."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p.copy()


@multi_candidate_accept.wrong(
    think="every candidate is judged against p.",
    because="a rejection has changed what is wanted: the next one is judged against the residual.",
)
def candidates_against_p(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] < p[token]:
            return token
        residual = _wanted(residual, q)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="one residual serves all rejections.",
    because="every rejection of a draw from q takes q off once more.",
)
def candidates_one_residual(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] < residual[token]:
            return token
        residual = _wanted(p, q)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="where all are rejected the target is drawn from.",
    because="the candidates' chances have been paid out already; only the last residual is owed.",
    same_as=certain_replaced_from_target,
)
def candidates_drawn_from_target(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] < residual[token]:
            return token
        residual = _wanted(residual, q)
    return sample_from(p, u)


@multi_candidate_accept.wrong(
    think="one coin is enough for all candidates.",
    because="after a rejection r[0] is known to be large; each candidate needs a coin of its own.",
)
def candidates_one_coin(candidates, p, q, r, u):
    residual = p
    for token in candidates:
        if r[0] * q[token] < residual[token]:
            return token
        residual = _wanted(residual, q)
    return sample_from(residual, u)


@multi_candidate_accept.form_of(candidates_one_coin)
def candidates_last_coin(candidates, p, q, r, u):
    residual = p
    for token in candidates:
        if r[-1] * q[token] < residual[token]:
            return token
        residual = _wanted(residual, q)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="the place of the accepted candidate in the list is the answer.",
    because="a token is asked for: candidates[i], and not i.",
)
def candidates_place_in_the_list(candidates, p, q, r, u):
    residual = p
    for i, token in enumerate(candidates):
        if r[i] * q[token] < residual[token]:
            return i
        residual = _wanted(residual, q)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="the draft over the residual is the ratio.",
    because="a token that the draft overstates is the one to reject: r q < residual accepts.",
)
def candidates_ratio_inverted(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin * residual[token] < q[token]:
            return token
        residual = _wanted(residual, q)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="u is the coin of every candidate.",
    because="candidate i has the coin r[i]; u draws a token where all are rejected.",
)
def candidates_u_is_the_coin(candidates, p, q, r, u):
    residual = p
    for token in candidates:
        if u * q[token] < residual[token]:
            return token
        residual = _wanted(residual, q)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="a rejected token is struck out of what is wanted, and the rest stays.",
    because="a rejection takes q off every token, and not the rejected token alone.",
)
def candidates_struck_out(candidates, p, q, r, u):
    residual = p.copy()
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] < residual[token]:
            return token
        residual = _without(residual, token)
    return sample_from(residual, u)


@multi_candidate_accept.form_of(candidates_struck_out)
def candidates_struck_out_divided_at_the_end(candidates, p, q, r, u):
    residual = p.copy()
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] < residual[token]:
            return token
        residual[token] = 0
    return sample_from(residual / residual.sum(), u)


@multi_candidate_accept.wrong(
    think="a token that was rejected once need not be tried again.",
    because="a second draw of it is a candidate like the others: its rejection takes q off again.",
)
def candidates_each_token_once(candidates, p, q, r, u):
    residual, tried = p, []
    for token, coin in zip(candidates, r, strict=True):
        if token in tried:
            continue
        if coin * q[token] < residual[token]:
            return token
        tried.append(token)
        residual = _wanted(residual, q)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="a candidate is judged against what is left without it.",
    because="q comes off after a rejection only: the first candidate is judged against p.",
)
def candidates_residual_too_early(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        residual = _wanted(residual, q)
        if coin * q[token] < residual[token]:
            return token
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="where all are rejected the last candidate is kept.",
    because="it was rejected: the target has had its share of it, and wants a token of the "
    "residual.",
)
def candidates_last_is_kept(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] < residual[token]:
            return token
        residual = _wanted(residual, q)
    return candidates[-1] if candidates else sample_from(p, u)


@multi_candidate_accept.wrong(
    think="where all are rejected the most probable token of the residual comes out.",
    because="every token of the residual is owed its share, so u draws one of them.",
)
def candidates_best_of_the_residual(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] < residual[token]:
            return token
        residual = _wanted(residual, q)
    return int(np.argmax(residual))


@multi_candidate_accept.wrong(
    think="after the first rejection the residual is drawn from.",
    because="the other candidates are there and scored; each has its own chance.",
)
def candidates_first_only(candidates, p, q, r, u):
    if not candidates:
        return sample_from(p, u)
    if r[0] * q[candidates[0]] < p[candidates[0]]:
        return candidates[0]
    return sample_from(_wanted(p, q), u)


@multi_candidate_accept.wrong(
    think="the target draws a token, and a candidate is accepted where it is that token.",
    because="that keeps the law and throws away the overlap of p and q; the rule uses coins.",
)
def candidates_matched(candidates, p, q, r, u):
    return sample_from(p, u)


@multi_candidate_accept.wrong(
    think="the candidate that the target likes best is tried first.",
    because="the order is part of the law: sorted by p they are no longer draws from q.",
)
def candidates_sorted(candidates, p, q, r, u):
    residual = p
    order = sorted(candidates, key=lambda token: -p[token])
    for token, coin in zip(order, r, strict=True):
        if coin * q[token] < residual[token]:
            return token
        residual = _wanted(residual, q)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="a rejected token is struck out of q for the next candidate.",
    because="that is right for draws without replacement; these are independent, all from q.",
)
def candidates_without_replacement(candidates, p, q, r, u):
    residual, left = p, q.copy()
    for token, coin in zip(candidates, r, strict=True):
        if coin * left[token] < residual[token]:
            return token
        residual = _wanted(residual, left)
        left[token] = 0
        if left.sum() > 0:
            left = left / left.sum()
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="a candidate is there, so its q is 1.",
    because="that is the rule for tokens that were chosen without chance; these were drawn from q, "
    "and a rejection takes q off, not the token alone.",
)
def candidates_taken_as_certain(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin < residual[token]:
            return token
        residual = _without(residual, token)
    return sample_from(residual, u)


@multi_candidate_accept.wrong(
    think="r q equal to the residual still accepts.",
    because="the rule is strict, so that r = 0 never accepts a token that is not wanted.",
    same_as=certain_not_strict,
)
def candidates_not_strict(candidates, p, q, r, u):
    residual = p
    for token, coin in zip(candidates, r, strict=True):
        if coin * q[token] <= residual[token]:
            return token
        residual = _wanted(residual, q)
    return sample_from(residual, u)


tree_attention_mask = WRONG.exercise("tree_attention_mask")


def _mask(parents):
    """The right mask, for wrong answers that err elsewhere."""
    mask = np.eye(len(parents), dtype=bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            mask[node] |= mask[parent]
    return mask


@tree_attention_mask.wrong(
    think="the causal mask serves a tree as well.",
    because="nodes listed earlier may be another branch, which this node must not see.",
)
def mask_causal(parents):
    return np.tril(np.ones((len(parents), len(parents)), dtype=bool))


@tree_attention_mask.wrong(
    think="a node sees itself and its parent.",
    because="its past goes on beyond the parent, up to the text.",
)
def mask_parent_only(parents):
    mask = np.eye(len(parents), dtype=bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            mask[node, parent] = True
    return mask


@tree_attention_mask.wrong(
    think="a node sees itself, its parent and its parent's parent.",
    because="its past goes on beyond them, up to the text, however deep the tree is.",
)
def mask_two_levels(parents):
    mask = np.eye(len(parents), dtype=bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            mask[node, parent] = True
            if parents[parent] >= 0:
                mask[node, parents[parent]] = True
    return mask


@tree_attention_mask.wrong(
    think="the way up ends at node 0.",
    because="node 0 is a draft token as the others; the text is -1.",
)
def mask_stops_at_node_0(parents):
    mask = np.eye(len(parents), dtype=bool)
    for node, parent in enumerate(parents):
        if parent > 0:
            mask[node] |= mask[parent]
    return mask


@tree_attention_mask.wrong(
    think="a node sees all nodes of the levels above its own.",
    because="of each level above only one node is on its branch.",
)
def mask_levels_above(parents):
    nodes, depth = range(len(parents)), []
    for parent in parents:
        depth.append(0 if parent < 0 else depth[parent] + 1)
    sees = [[i == j or depth[j] < depth[i] for j in nodes] for i in nodes]
    return np.array(sees, dtype=bool).reshape(len(parents), len(parents))


@tree_attention_mask.wrong(
    think="who is seen sees back: a node sees its descendants, too.",
    because="a token never sees what comes after it, and its descendants come after it.",
)
def mask_both_ways(parents):
    return _mask(parents) | _mask(parents).T


@tree_attention_mask.wrong(
    think="True marks what is masked out.",
    because="here True says that the node of the row sees the node of the column.",
)
def mask_of_the_hidden(parents):
    return ~_mask(parents)


@tree_attention_mask.wrong(
    think="a node looks at its past only, not at itself.",
    because="every token attends to itself too; without it the node's own token is not read.",
)
def mask_without_itself(parents):
    return _mask(parents) & ~np.eye(len(parents), dtype=bool)


@tree_attention_mask.wrong(
    think="row i says who sees node i.",
    because="row i says whom node i sees: its ancestors, and no descendant.",
)
def mask_transposed(parents):
    return _mask(parents).T.copy()


@tree_attention_mask.wrong(
    think="the parent -1 is a node like the others.",
    because="-1 is the text; as an index it is NumPy's last row.",
)
def mask_last_row_is_the_text(parents):
    mask = np.eye(len(parents), dtype=bool)
    for node, parent in enumerate(parents):
        mask[node] |= mask[parent]
    return mask


@tree_attention_mask.wrong(
    think="children of one parent see each other.",
    because="they are alternatives for one place; a text has only one of them.",
)
def mask_siblings(parents):
    mask = _mask(parents)
    for i, a in enumerate(parents):
        for j, b in enumerate(parents):
            mask[i, j] |= a == b
    return mask


@tree_attention_mask.wrong(
    think="a mask is what is added to the scores, 0 or minus infinity.",
    because="asked for is who sees whom, True or False; from that each kernel makes its own form.",
)
def mask_additive(parents):
    return np.where(_mask(parents), 0.0, -np.inf)


@tree_attention_mask.wrong(
    think="ones and zeros are as good as True and False.",
    because="kernels read a mask of another dtype as numbers to add.",
)
def mask_of_integers(parents):
    return _mask(parents).astype(int)


walk_tree = WRONG.exercise("walk_tree")


def _below(parents, node):
    return [i for i, parent in enumerate(parents) if parent == node]


def _walk(parents, tokens, p, q, r, u, judge=None, row=None, last=None, node=-1):
    """The right walk, from `node` on, for wrong answers that err in one part."""
    written = []
    while True:
        at = row(node) if row else node + 1
        rest, taken = p[at], None
        for child in _below(parents, node):
            coin, left = r[child], rest[tokens[child]]
            if judge:
                coin, left = judge(child, len(written), rest, p[at])
            if coin * q[at][tokens[child]] < left:
                taken = child
                break
            rest = _wanted(rest, q[at])
        if taken is None:
            rest = last(p[at]) if last and _below(parents, node) else rest
            return [*written, sample_from(rest, u)]
        written.append(tokens[taken])
        node = taken


@walk_tree.wrong(
    think="every child is judged against p.",
    because="a rejected sibling has changed what is wanted: the next one meets the residual.",
    same_as=candidates_against_p,
)
def walk_against_p(parents, tokens, p, q, r, u):
    def judge(child, depth, rest, whole):
        return r[child], whole[tokens[child]]

    return _walk(parents, tokens, p, q, r, u, judge=judge)


@walk_tree.wrong(
    think="where all children are rejected the target is drawn from.",
    because="the children's chances have been paid out already; only the last residual is owed.",
    same_as=candidates_drawn_from_target,
)
def walk_drawn_from_target(parents, tokens, p, q, r, u):
    return _walk(parents, tokens, p, q, r, u, last=lambda whole: whole)


@walk_tree.wrong(
    think="a branch that is accepted to its leaf ends there.",
    because="the pass has a distribution after the leaf too, and its token is the bonus.",
)
def walk_without_bonus(parents, tokens, p, q, r, u):
    node, written = -1, _walk(parents, tokens, p, q, r, u)
    for token in written[:-1]:
        node = next(i for i in _below(parents, node) if tokens[i] == token)
    return written if _below(parents, node) or not parents else written[:-1]


@walk_tree.wrong(
    think="row i belongs to node i.",
    because="row 0 stands after the text; what follows node i is in row i + 1.",
)
def walk_row_of_the_node(parents, tokens, p, q, r, u):
    return _walk(parents, tokens, p, q, r, u, row=lambda node: max(node, 0))


@walk_tree.form_of(walk_row_of_the_node)
def walk_row_of_the_node_and_the_last_for_the_text(parents, tokens, p, q, r, u):
    return _walk(parents, tokens, p, q, r, u, row=lambda node: node)


@walk_tree.form_of(walk_row_of_the_node)
def walk_p_of_the_node_and_q_of_the_next(parents, tokens, p, q, r, u):
    return _walk(parents, tokens, np.roll(p, 1, axis=0), q, r, u)


@walk_tree.wrong(
    think="the coins are used up one a level.",
    because="coin i belongs to node i: siblings need coins of their own.",
)
def walk_coin_of_the_level(parents, tokens, p, q, r, u):
    def judge(child, depth, rest, whole):
        return r[depth], rest[tokens[child]]

    return _walk(parents, tokens, p, q, r, u, judge=judge)


@walk_tree.wrong(
    think="the walk tries the first child only, and stops if it is rejected.",
    because="its siblings were drafted and scored; each of them has its own chance.",
    same_as=candidates_first_only,
)
def walk_first_child_only(parents, tokens, p, q, r, u):
    firsts = [i for i, parent in enumerate(parents) if parents.index(parent) == i]
    written, node = [], -1
    while True:
        child = next((i for i in firsts if parents[i] == node), None)
        at = node + 1
        if child is None:
            return [*written, sample_from(p[at], u)]
        if r[child] * q[at][tokens[child]] >= p[at][tokens[child]]:
            return [*written, sample_from(_wanted(p[at], q[at]), u)]
        written, node = [*written, tokens[child]], child


@walk_tree.wrong(
    think="the nodes are judged in the order of the list.",
    because="a node counts only if its parent was accepted; the others are on dropped branches.",
)
def walk_in_list_order(parents, tokens, p, q, r, u):
    written, node, rest = [], -1, p[0]
    for child, token in enumerate(tokens):
        if r[child] * q[node + 1][token] < rest[token]:
            written, node, rest = [*written, token], child, p[child + 1]
        else:
            rest = _wanted(rest, q[node + 1])
    return [*written, sample_from(rest, u)]


@walk_tree.wrong(
    think="the first node with the accepted token is the accepted child.",
    because="other branches may hold the same token; the walk goes on at the child that was "
    "judged.",
)
def walk_to_the_first_of_the_token(parents, tokens, p, q, r, u):
    written, node = [], -1
    for _ in range(2 * len(parents) + 1):
        rest, below = p[node + 1], _below(parents, node)
        for child in below:
            if r[child] * q[node + 1][tokens[child]] < rest[tokens[child]]:
                written, node = [*written, tokens[child]], tokens.index(tokens[child])
                break
            rest = _wanted(rest, q[node + 1])
        else:
            return [*written, sample_from(rest, u)]
    return written


@walk_tree.wrong(
    think="the coins are used in the order in which they are needed.",
    because="coin i belongs to node i, also if nodes before it were never judged.",
)
def walk_coins_in_order_of_use(parents, tokens, p, q, r, u):
    used = iter(r)

    def judge(child, depth, rest, whole):
        return next(used), rest[tokens[child]]

    return _walk(parents, tokens, p, q, r, u, judge=judge)


@walk_tree.form_of(walk_coins_in_order_of_use)
def walk_coins_of_whole_levels_in_order(parents, tokens, p, q, r, u):
    used, asked = [], []

    def judge(child, depth, rest, whole):
        siblings = _below(parents, parents[child])
        if siblings not in asked:
            used.append(sum(map(len, asked)))
            asked.append(siblings)
        return r[used[-1] + siblings.index(child)], rest[tokens[child]]

    return _walk(parents, tokens, p, q, r, u, judge=judge)


@walk_tree.wrong(
    think="the row of the first child judges the children.",
    because="row i + 1 stands after node i; the children of node i are judged there, wherever they "
    "are listed.",
)
def walk_row_of_the_first_child(parents, tokens, p, q, r, u):
    def row(node):
        below = _below(parents, node)
        return below[0] if below else node + 1

    return _walk(parents, tokens, p, q, r, u, row=row)


@walk_tree.wrong(
    think="the coins of a level are the first ones of r.",
    because="coin i belongs to node i: the children's coins are r[children].",
)
def walk_first_coins(parents, tokens, p, q, r, u):
    def judge(child, depth, rest, whole):
        return r[_below(parents, parents[child]).index(child)], rest[tokens[child]]

    return _walk(parents, tokens, p, q, r, u, judge=judge)


@walk_tree.wrong(
    think="where all children are rejected nothing more is written.",
    because="what is left of p gives one more token: no pass of the target writes none.",
)
def walk_nothing_after_a_rejection(parents, tokens, p, q, r, u):
    node, written = -1, _walk(parents, tokens, p, q, r, u)
    for token in written[:-1]:
        node = next(i for i in _below(parents, node) if tokens[i] == token)
    return written[:-1] if _below(parents, node) else written


@walk_tree.wrong(
    think="row 0 serves the whole walk.",
    because="row 0 is what follows the text; what follows node i is in row i + 1.",
)
def walk_in_row_0(parents, tokens, p, q, r, u):
    return _walk(parents, tokens, p, q, r, u, row=lambda node: 0)


@walk_tree.wrong(
    think="what rejections left of p is carried on to the next level.",
    because="the accepted token has its own next distribution: its children meet a new p.",
)
def walk_residual_carried_down(parents, tokens, p, q, r, u):
    written, node, rest = [], -1, p[0]
    while True:
        for child in _below(parents, node):
            if r[child] * q[node + 1][tokens[child]] < rest[tokens[child]]:
                written, node = [*written, tokens[child]], child
                break
            rest = _wanted(rest, q[node + 1])
        else:
            return [*written, sample_from(rest, u)]


@walk_tree.wrong(
    think="the child that the target likes best is tried first.",
    because="the order is part of the law: sorted by p the children are no longer draws from q.",
    same_as=candidates_sorted,
)
def walk_sorted(parents, tokens, p, q, r, u):
    written, node = [], -1
    while True:
        rest, at = p[node + 1], node + 1
        for child in sorted(_below(parents, node), key=lambda i: -p[at][tokens[i]]):
            if r[child] * q[at][tokens[child]] < rest[tokens[child]]:
                written, node = [*written, tokens[child]], child
                break
            rest = _wanted(rest, q[at])
        else:
            return [*written, sample_from(rest, u)]


@walk_tree.wrong(
    think="of two children with the accepted token the walk goes on at the last one.",
    because="the child that was judged and accepted is the first of them that its coin accepts.",
)
def walk_to_the_last_twin(parents, tokens, p, q, r, u):
    written, node = [], -1
    while True:
        rest, below = p[node + 1], _below(parents, node)
        for child in below:
            if r[child] * q[node + 1][tokens[child]] < rest[tokens[child]]:
                written = [*written, tokens[child]]
                node = [i for i in below if tokens[i] == tokens[child]][-1]
                break
            rest = _wanted(rest, q[node + 1])
        else:
            return [*written, sample_from(rest, u)]


map_draft = WRONG.exercise("map_draft")


def _moved(q, draft_to_target, vocab_size):
    """The shared masses at their places, for wrong answers that err elsewhere."""
    mapped = np.zeros(vocab_size)
    for mass, token in zip(q, draft_to_target, strict=True):
        if token >= 0:
            mapped[token] += mass
    if mapped.sum() == 0:
        raise ValueError("nothing is shared")
    return mapped


@map_draft.wrong(
    think="what is not shared drops out, and that is all.",
    because="what is left does not sum to 1, so no token can be drawn from it.",
)
def mapped_not_normalised(q, draft_to_target, vocab_size):
    return _moved(q, draft_to_target, vocab_size)


@map_draft.wrong(
    think="-1 is an id like any other.",
    because="as an index -1 is the last token, which would get all that is not shared.",
)
def mapped_to_the_last(q, draft_to_target, vocab_size):
    mapped = np.zeros(vocab_size)
    for mass, token in zip(q, draft_to_target, strict=True):
        mapped[token] += mass
    return mapped / mapped.sum()


@map_draft.form_of(mapped_to_the_last)
def mapped_to_the_last_if_some_are_shared(q, draft_to_target, vocab_size):
    if max(draft_to_target) < 0:
        raise ValueError("no token is shared")
    mapped = np.zeros(vocab_size)
    np.add.at(mapped, draft_to_target, q)
    return mapped / mapped.sum()


@map_draft.wrong(
    think="an assignment puts every mass in its place.",
    because="where two draft tokens have one id, the second overwrites the first.",
)
def mapped_overwritten(q, draft_to_target, vocab_size):
    mapped = np.zeros(vocab_size)
    shared = draft_to_target >= 0
    mapped[draft_to_target[shared]] = q[shared]
    if mapped.sum() == 0:
        raise ValueError("nothing is shared")
    return mapped / mapped.sum()


@map_draft.wrong(
    think="draft_to_target tells for every target token where it is in the draft.",
    because="it is the other way round: entry i belongs to draft token i.",
)
def mapped_backwards(q, draft_to_target, vocab_size):
    mapped = np.zeros(vocab_size)
    for token, source in enumerate(draft_to_target[:vocab_size]):
        if 0 <= source < len(q):
            mapped[token] = q[source]
    if mapped.sum() == 0:
        raise ValueError("nothing is shared")
    return mapped / mapped.sum()


@map_draft.wrong(
    think="equal ids are equal tokens.",
    because="two tokenizers number their tokens each in its own way.",
)
def mapped_ids_as_they_are(q, draft_to_target, vocab_size):
    mapped = np.zeros(vocab_size)
    count = min(len(q), vocab_size)
    mapped[:count] = np.where(draft_to_target[:count] >= 0, q[:count], 0)
    if mapped.sum() == 0:
        raise ValueError("nothing is shared")
    return mapped / mapped.sum()


@map_draft.wrong(
    think="what is not shared is spread over all target tokens.",
    because="the draft proposes only what it has; the residual supplies the rest.",
)
def mapped_spread(q, draft_to_target, vocab_size):
    mapped = _moved(q, draft_to_target, vocab_size)
    return mapped + (1 - mapped.sum()) / vocab_size


@map_draft.wrong(
    think="softmax makes a distribution of the moved masses.",
    because="it gives mass to tokens that the draft cannot propose.",
)
def mapped_softmax(q, draft_to_target, vocab_size):
    scores = np.exp(_moved(q, draft_to_target, vocab_size))
    return scores / scores.sum()


@map_draft.wrong(
    think="where nothing is shared every token is equally good.",
    because="the caller must know that this draft cannot serve this target, so it is an error.",
)
def mapped_uniform_without_overlap(q, draft_to_target, vocab_size):
    mapped = np.zeros(vocab_size)
    np.add.at(mapped, draft_to_target[draft_to_target >= 0], q[draft_to_target >= 0])
    return mapped / mapped.sum() if mapped.sum() > 0 else np.full(vocab_size, 1 / vocab_size)


@map_draft.wrong(
    think="an error is due only if no token has an id.",
    because="an id helps nothing if its draft token has no probability: the sum decides.",
)
def mapped_error_by_ids(q, draft_to_target, vocab_size):
    if max(draft_to_target) < 0:
        raise ValueError("no token is shared")
    mapped = np.zeros(vocab_size)
    np.add.at(mapped, draft_to_target[draft_to_target >= 0], q[draft_to_target >= 0])
    return mapped / mapped.sum() if mapped.sum() > 0 else mapped


@map_draft.wrong(
    think="a draft that has tokens of its own cannot serve this target.",
    because="the shared tokens are enough; it is an error only if they have no probability at all.",
)
def mapped_error_if_any_is_missing(q, draft_to_target, vocab_size):
    if min(draft_to_target) < 0:
        raise ValueError("a token is not shared")
    return _moved(q, draft_to_target, vocab_size)


@map_draft.wrong(
    think="a target id of 0 means that a token is not shared.",
    because="0 is the target's first token; -1 says that a token is not shared.",
)
def mapped_without_token_0(q, draft_to_target, vocab_size):
    mapped = _moved(q, np.where(draft_to_target > 0, draft_to_target, -1), vocab_size)
    return mapped / mapped.sum()


@map_draft.wrong(
    think="a small share is rounding, so nothing is shared.",
    because="however little is shared, divided by its sum it is a distribution.",
)
def mapped_little_refused(q, draft_to_target, vocab_size):
    mapped = _moved(q, draft_to_target, vocab_size)
    if mapped.sum() < 0.01:
        raise ValueError("too little is shared")
    return mapped / mapped.sum()


expected_experts = WRONG.exercise("expected_experts")


@expected_experts.wrong(
    think="no two tokens choose the same expert while others are free.",
    because="the router looks at each token by itself, so two tokens can meet in one expert.",
)
def experts_never_shared(n_tokens, n_experts, active):
    return float(min(n_tokens * active, n_experts))


@expected_experts.form_of(experts_never_shared)
def experts_added_up(n_tokens, n_experts, active):
    return float(n_tokens * active)


@expected_experts.wrong(
    think="a pass reads the active experts, however many tokens it has.",
    because="each token has active experts of its own, and the pass reads all that are chosen.",
)
def experts_of_one_token(n_tokens, n_experts, active):
    return float(active) if n_tokens else 0.0


@expected_experts.wrong(
    think="the choices of one token are independent of each other.",
    because="one token never chooses an expert twice: one token reads exactly `active` of them.",
)
def experts_with_repeats(n_tokens, n_experts, active):
    return n_experts * (1 - (1 - 1 / n_experts) ** (n_tokens * active))


@expected_experts.wrong(
    think="an expert is left out with (active/n_experts)^n_tokens.",
    because="this is the probability that every token chooses it.",
)
def experts_chosen_by_all(n_tokens, n_experts, active):
    return n_experts * (1 - (active / n_experts) ** n_tokens)


@expected_experts.wrong(
    think="the probability that an expert is read is the answer.",
    because="the number of experts read is asked for: there are n_experts of them.",
)
def experts_as_a_share(n_tokens, n_experts, active):
    return 1 - (1 - active / n_experts) ** n_tokens


@expected_experts.wrong(
    think="experts come whole, so the answer is a whole number.",
    because="it is a mean over many passes, as 3.5 is the mean of a die.",
)
def experts_rounded(n_tokens, n_experts, active):
    return float(round(n_experts * (1 - (1 - active / n_experts) ** n_tokens)))


@expected_experts.form_of(experts_rounded)
def experts_rounded_down(n_tokens, n_experts, active):
    return int(n_experts * (1 - (1 - active / n_experts) ** n_tokens))


@expected_experts.wrong(
    think="each further token finds as many new experts as the second one.",
    because="every token leaves fewer experts that are still new for the next one.",
)
def experts_in_equal_steps(n_tokens, n_experts, active):
    if n_tokens == 0:
        return 0.0
    return float(active + (n_tokens - 1) * active * (1 - active / n_experts))


@expected_experts.form_of(experts_in_equal_steps)
def experts_in_equal_steps_up_to_all(n_tokens, n_experts, active):
    if n_tokens == 0:
        return 0.0
    steps = active + (n_tokens - 1) * active * (1 - active / n_experts)
    return float(min(steps, n_experts))


@expected_experts.wrong(
    think="n_experts (1 - active/n_experts)^n_tokens experts are read.",
    because="this is the number that no token chooses; the others are read.",
)
def experts_left_out(n_tokens, n_experts, active):
    return n_experts * (1 - active / n_experts) ** n_tokens


@expected_experts.wrong(
    think="a read share of `active` experts is the answer.",
    because="all n_experts can be read, each with the same probability.",
)
def experts_of_the_active_ones(n_tokens, n_experts, active):
    return active * (1 - (1 - active / n_experts) ** n_tokens)
