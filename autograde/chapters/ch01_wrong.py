"""Known wrong answers of chapter 01, refuted. Several are in published code and tutorials."""

import numpy as np

from autograde.chapters.parametrized import Misconceptions
from specdec_lib.sampling import sample_from

WRONG = Misconceptions()


draft_block = WRONG.exercise("draft_block")


@draft_block.wrong(
    think="a good draft proposes its most probable token.",
    because="the rule divides by the probability with which the token was drawn; an argmax is not "
    "drawn from q, and the text that comes out is not the target's.",
)
def argmax_draft(draft_model, prefix, k, uniforms):
    drafted, q = [], []
    for _ in range(k):
        q.append(draft_model([*prefix, *drafted]))
        drafted.append(int(np.argmax(q[-1])))
    return drafted, np.array(q)


@draft_block.wrong(
    think="all tokens of a block are drafted after the same prefix.",
    because="token i stands after the tokens drafted before it, so they belong into the call.",
)
def same_prefix(draft_model, prefix, k, uniforms):
    q = [draft_model(list(prefix)) for _ in range(k)]
    return [sample_from(row, u) for row, u in zip(q, uniforms, strict=True)], np.array(q)


@draft_block.wrong(
    think="one random number serves the whole block.",
    because="the tokens would then be drawn together; uniforms[i] is there for token i.",
)
def one_number(draft_model, prefix, k, uniforms):
    drafted, q = [], []
    for _ in range(k):
        q.append(draft_model([*prefix, *drafted]))
        drafted.append(sample_from(q[-1], uniforms[0]))
    return drafted, np.array(q)


@draft_block.wrong(
    think="the last token is all that the next call needs.",
    because="a model reads the whole text; only a cache may spare it the earlier tokens.",
)
def last_token_only(draft_model, prefix, k, uniforms):
    drafted, q = [], []
    for i in range(k):
        q.append(draft_model([*prefix, *drafted][-1:] if i else list(prefix)))
        drafted.append(sample_from(q[-1], uniforms[i]))
    return drafted, np.array(q)


@draft_block.wrong(
    think="a token that is drawn is certain, so its distribution is one-hot.",
    because="q is what it was drawn from; with a one-hot in its place good tokens are rejected.",
)
def one_hot_rows(draft_model, prefix, k, uniforms):
    drafted, q = [], []
    for i in range(k):
        row = draft_model([*prefix, *drafted])
        drafted.append(sample_from(row, uniforms[i]))
        q.append(np.eye(len(row))[drafted[-1]])
    return drafted, np.array(q)


@draft_block.wrong(
    think="the distribution of a token is the one after it.",
    because="that is the distribution of the next token; keep the row before you draw.",
)
def rows_one_late(draft_model, prefix, k, uniforms):
    drafted, q = [], []
    for i in range(k):
        drafted.append(sample_from(draft_model([*prefix, *drafted]), uniforms[i]))
        q.append(draft_model([*prefix, *drafted]))
    return drafted, np.array(q)


@draft_block.wrong(
    think="the prefix can grow in place.",
    because="it is the caller's text, and rejected draft tokens would stay in it.",
)
def prefix_grows(draft_model, prefix, k, uniforms):
    drafted, q = [], []
    for i in range(k):
        q.append(draft_model(list(prefix)))
        drafted.append(sample_from(q[-1], uniforms[i]))
        prefix.append(drafted[-1])
    return drafted, np.array(q)


score_block = WRONG.exercise("score_block")


@score_block.wrong(
    think="the rows begin with the block.",
    because="the target gives a row for every token it has read, the prefix included; row 0 "
    "speaks of the second token of the prefix.",
)
def rows_from_the_start(target_model, prefix, drafted):
    return target_model([*prefix, *drafted])[: len(drafted) + 1]


@score_block.wrong(
    think="the row of a draft token judges that token.",
    because="it is the distribution of the token after it; the row before judges it.",
)
def rows_one_late_scored(target_model, prefix, drafted):
    return target_model([*prefix, *drafted])[len(prefix) :]


@score_block.form_of(rows_one_late_scored)
def last_k_rows(target_model, prefix, drafted):
    return target_model([*prefix, *drafted])[-len(drafted) :]


@score_block.wrong(
    think="K draft tokens need K distributions.",
    because="the row after the last draft token is paid for and gives the bonus token.",
)
def no_bonus_row(target_model, prefix, drafted):
    return target_model([*prefix, *drafted])[len(prefix) - 1 : -1]


@score_block.wrong(
    think="the last draft token need not be read.",
    because="without it there is no row after it, so no bonus token.",
)
def last_token_unread(target_model, prefix, drafted):
    return target_model([*prefix, *drafted[:-1]])[len(prefix) - 1 :]


@score_block.wrong(
    think="the block can be scored by itself.",
    because="its tokens depend on the text before them; without the prefix every row is another.",
)
def prefix_forgotten(target_model, prefix, drafted):
    return target_model([*prefix[-1:], *drafted])


@score_block.wrong(
    think="every position needs a pass of its own.",
    because="all tokens are known, so one pass gives all rows; that is the whole gain.",
)
def pass_for_each_row(target_model, prefix, drafted):
    lengths = range(len(drafted) + 1)
    return np.array([target_model([*prefix, *drafted[:i]])[-1] for i in lengths])


@score_block.wrong(
    think="all rows are wanted.",
    because="those of the prefix speak of tokens that have long been written.",
)
def all_rows(target_model, prefix, drafted):
    return target_model([*prefix, *drafted])


@score_block.wrong(
    think="the draft can be put after the prefix in place.",
    because="the prefix is the caller's text; most of the draft may not stay in it.",
    same_as=prefix_grows,
)
def prefix_extended(target_model, prefix, drafted):
    n = len(prefix)
    prefix.extend(drafted)
    return target_model(list(prefix))[n - 1 :]


greedy_prefix = WRONG.exercise("greedy_prefix")


@greedy_prefix.wrong(
    think="every token that agrees counts.",
    because="after the first difference the rows were computed for a text that is not written.",
)
def all_that_agree(drafted, p):
    return sum(int(token == int(np.argmax(p[i]))) for i, token in enumerate(drafted))


@greedy_prefix.wrong(
    think="a block stands or falls as a whole.",
    because="the tokens before the first difference were judged on the right text, so they stay.",
)
def all_or_none(drafted, p):
    agree = [token == int(np.argmax(p[i])) for i, token in enumerate(drafted)]
    return len(drafted) if all(agree) else 0


@greedy_prefix.wrong(
    think="the correction counts as accepted.",
    because="it is the target's token, not the draft's; only draft tokens are counted here.",
)
def correction_counted(drafted, p):
    for i, token in enumerate(drafted):
        if token != int(np.argmax(p[i])):
            return i + 1
    return len(drafted) + 1


@greedy_prefix.wrong(
    think="row i + 1 judges draft token i.",
    because="score_block has put the rows in step: row i is the distribution of draft token i.",
)
def next_row(drafted, p):
    for i, token in enumerate(drafted):
        if i + 1 >= len(p) or token != int(np.argmax(p[i + 1])):
            return i
    return len(drafted)


@greedy_prefix.wrong(
    think="of two equal tokens either is the target's choice.",
    because="greedy decoding takes one, the first; with another the text is another.",
)
def ties_both_ways(drafted, p):
    for i, token in enumerate(drafted):
        if p[i][token] < np.max(p[i]):
            return i
    return len(drafted)


@greedy_prefix.wrong(
    think="the accepted tokens are asked for.",
    because="how many they are is what comes back; the tokens are in the draft.",
)
def tokens_returned(drafted, p):
    for i, token in enumerate(drafted):
        if token != int(np.argmax(p[i])):
            return list(drafted[:i])
    return list(drafted)


greedy_speculative_decode = WRONG.exercise("greedy_speculative_decode")


def _drafted(draft_model, text, k):
    """k tokens by the draft's argmax."""
    drafted = []
    for _ in range(k):
        drafted.append(int(np.argmax(draft_model([*text, *drafted]))))
    return drafted


def _rows(target_model, text, drafted):
    """The K + 1 right rows, in one pass."""
    return target_model([*text, *drafted])[len(text) - 1 :]


def _agree(drafted, p):
    """How many draft tokens are the target's choice, up to the first that is not."""
    for i, token in enumerate(drafted):
        if token != int(np.argmax(p[i])):
            return i
    return len(drafted)


def _decode(target_model, draft_model, prompt, k, max_new_tokens, block_of):
    """The loop, with the block's tokens by `block_of(drafted, p, n)`; cut at the limit."""
    written = []
    while len(written) < max_new_tokens:
        text = [*prompt, *written]
        drafted = _drafted(draft_model, text, min(k, max_new_tokens - len(written) - 1))
        p = _rows(target_model, text, drafted)
        block = block_of(drafted, p, _agree(drafted, p))
        written += block or [int(np.argmax(p[0]))]
    return written[:max_new_tokens]


def _right(drafted, p, n):
    """The accepted tokens and the target's own."""
    return [*drafted[:n], int(np.argmax(p[n]))]


def _up_to(eos, tokens):
    """The tokens up to eos, which is kept; all if there is none."""
    return tokens[: tokens.index(eos) + 1] if eos in tokens else tokens


@greedy_speculative_decode.wrong(
    think="a block that is accepted whole ends with its last draft token.",
    because="row K is paid for and gives a token more; without it the same text takes more passes.",
)
def no_bonus(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    written = []
    while len(written) < max_new_tokens and eos not in written:
        text = [*prompt, *written]
        drafted = _drafted(draft_model, text, min(k, max_new_tokens - len(written)))
        p = _rows(target_model, text, drafted)
        n = _agree(drafted, p)
        written += drafted if n == len(drafted) else _right(drafted, p, n)
    return _up_to(eos, written)


@greedy_speculative_decode.wrong(
    think="each draft token is checked in a pass of its own.",
    because="then nothing is saved: one pass over the whole block gives all its rows.",
)
def pass_for_each_token(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    written = []
    while len(written) < max_new_tokens and eos not in written:
        drafted = _drafted(draft_model, [*prompt, *written], min(k, max_new_tokens - len(written)))
        for token in drafted:
            written.append(int(np.argmax(target_model([*prompt, *written])[-1])))
            if written[-1] != token:
                break
    return _up_to(eos, written)


@greedy_speculative_decode.wrong(
    think="the rejected draft token is written all the same.",
    because="the target's token takes its place; with the draft's the text is not the target's.",
)
def rejected_written(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    def block_of(drafted, p, n):
        return list(drafted[: n + 1]) if n < len(drafted) else _right(drafted, p, n)

    return _up_to(eos, _decode(target_model, draft_model, prompt, k, max_new_tokens, block_of))


@greedy_speculative_decode.wrong(
    think="the correction comes from the last row.",
    because="the last row stands after rejected tokens; row n, which rejected, has the right one.",
)
def correction_from_last_row(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    def block_of(drafted, p, n):
        return [*drafted[:n], int(np.argmax(p[-1]))]

    return _up_to(eos, _decode(target_model, draft_model, prompt, k, max_new_tokens, block_of))


@greedy_speculative_decode.wrong(
    think="the rest of the draft follows the correction.",
    because="it was drafted after another token, and nobody has judged it after this one.",
)
def rest_kept(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    def block_of(drafted, p, n):
        return [*_right(drafted, p, n), *drafted[n + 1 :]]

    return _up_to(eos, _decode(target_model, draft_model, prompt, k, max_new_tokens, block_of))


@greedy_speculative_decode.wrong(
    think="the draft's text is good enough.",
    because="the target has to judge every token, else the text is the draft's.",
)
def draft_trusted(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    return _up_to(eos, _drafted(draft_model, list(prompt), max_new_tokens))


@greedy_speculative_decode.wrong(
    think="the prompt belongs to the answer.",
    because="the new tokens alone are asked for.",
)
def prompt_returned(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    written = _decode(target_model, draft_model, prompt, k, max_new_tokens, _right)
    return [*prompt, *_up_to(eos, written)]


@greedy_speculative_decode.wrong(
    think="eos can only stand at the end of a block.",
    because="a draft token can be eos too, and what is accepted after it must go.",
)
def eos_at_block_ends(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    written = []
    while len(written) < max_new_tokens:
        text = [*prompt, *written]
        drafted = _drafted(draft_model, text, min(k, max_new_tokens - len(written) - 1))
        p = _rows(target_model, text, drafted)
        written += _right(drafted, p, _agree(drafted, p))
        if written[-1] == eos:
            break
    return written


@greedy_speculative_decode.wrong(
    think="eos is a signal and no part of the text.",
    because="it is the token that the target writes last, and it is kept.",
)
def eos_dropped(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    written = _decode(target_model, draft_model, prompt, k, max_new_tokens, _right)
    return written[: written.index(eos)] if eos in written else written


@greedy_speculative_decode.wrong(
    think="an eos in the prompt ends the text.",
    because="only new tokens are compared with eos; a prompt may hold the end of an earlier text.",
)
def eos_in_prompt(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    if eos in prompt:
        return []
    return _up_to(eos, _decode(target_model, draft_model, prompt, k, max_new_tokens, _right))


@greedy_speculative_decode.wrong(
    think="an eos of 0 means that there is none.",
    because="0 is a token like any other; None is what says that there is no eos.",
)
def eos_zero_is_none(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    written = _decode(target_model, draft_model, prompt, k, max_new_tokens, _right)
    return _up_to(eos, written) if eos else written


@greedy_speculative_decode.wrong(
    think="the last block may be written whole.",
    because="it can pass the limit by up to K tokens, which the caller has no room for.",
)
def limit_passed(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    written = []
    while len(written) < max_new_tokens and eos not in written:
        text = [*prompt, *written]
        drafted = _drafted(draft_model, text, k)
        p = _rows(target_model, text, drafted)
        written += _right(drafted, p, _agree(drafted, p))
    return _up_to(eos, written)


@greedy_speculative_decode.wrong(
    think="with `left` tokens to write a block may draft min(k, left).",
    because="one token of a block comes from the target in any case, so a block accepted whole has "
    "one more than it drafted: draft left - 1 at most.",
)
def limit_off_by_one(target_model, draft_model, prompt, k, max_new_tokens, eos=None):
    written = []
    while len(written) < max_new_tokens:
        text = [*prompt, *written]
        drafted = _drafted(draft_model, text, min(k, max_new_tokens - len(written)))
        p = _rows(target_model, text, drafted)
        block = _right(drafted, p, _agree(drafted, p))
        written += _up_to(eos, block)
        if eos in block:
            break
    return written
