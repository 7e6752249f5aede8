"""Chapter 02, rejection sampling: its examples and the visible checks on them."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from numpy import array, ndarray

from specdec_lib.lessons.ch02.models import (
    Q_AFTER,
    TEMPERATURE,
    draft_logits,
    draft_model,
    target_logits,
)
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.examples import expect, helpers_first, visible_check
from specdec_lib.lessons.checking.lending import (
    CallLimitExceeded,
    ScriptedRandom,
    limit_calls,
    read_only,
)

__all__ = ["committed"]

# The pair that the whole chapter works on.
P = read_only([0.45, 0.30, 0.15, 0.10])
Q = read_only([0.30, 0.45, 0.20, 0.05])

TRUTHS = truths_of(__package__, prediction_02_c=None)

# Three drafted tokens of a vocabulary of four. The first has a ratio of 0.5/0.4, the second of
# 0.1/0.5, the third of 0.6/0.3.
BLOCK = [3, 1, 2]
BLOCK_P = read_only([[0.2, 0.2, 0.1, 0.5], [0.3, 0.1, 0.3, 0.3], [0.1, 0.1, 0.6, 0.2]])
BLOCK_Q = read_only([[0.2, 0.2, 0.2, 0.4], [0.2, 0.5, 0.2, 0.1], [0.3, 0.2, 0.3, 0.2]])
BLOCK_R = read_only([0.7, 0.6, 0.1])
UNIFORMS = read_only([0.6, 0.8, 0.3])

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


@visible_check
def check_acceptance_probability(function: Callable) -> None:
    """Two ratios below one, one above, and one of 0."""
    over = "Is it the target over the draft?"
    share = "Of all proposals, 0.30 are B and kept. Of the proposals of B, which share is kept?"
    verdict = "Is that a verdict? Some proposals of B are kept: the answer is their share."
    asks = [(1.5, over), (1.0, over, ((P, Q, 0), 0.3 / 0.45)), (0.3, share)]
    asks += [(1.0, "max takes the larger of two numbers, min the smaller.", ((P, Q, 0), 1.5))]
    asks += [(0.0, verdict, ((P, Q, 3), 1.0)), (1 / 3, "That is the share that is rejected.")]
    expect(function, P, Q, 1, gives=0.3 / 0.45, asks=asks)
    expect(function, P, Q, 2, gives=0.75)
    expect(function, P, Q, 0, gives=1.0, hint="A probability is at most 1.")
    expect(function, array([0.0, 1.0]), array([0.5, 0.5]), 0, gives=0.0)


@visible_check
def check_draft_block(function: Callable) -> None:
    """The block of the card, another one, a draft that looks two tokens back, and no token."""
    asks = (
        (_drafted([1, 1, 1]), "Was every token drawn with uniforms[0]?"),
        (_drafted([0, 0, 0]), "Are these the most probable tokens, and not the drawn ones?"),
        (([1, 2, 0], array(3 * [Q_AFTER[0]])), "Does each call read the tokens drafted so far?"),
        (([0, 1, 1, 0], Q_AFTER[[0, 1, 1]]), "The prefix is not drafted: return the new tokens."),
    )
    _draws(function, draft_model, [0], UNIFORMS, gives=_drafted([1, 1, 0]), asks=asks)
    _draws(function, draft_model, [1, 2], array([0.2, 0.3]), gives=_drafted([1, 0], 2))
    gives = ([2, 1], Q_AFTER[[2, 0]])
    _draws(function, looks_back, [2, 0], array([0.6, 0.6]), gives=gives)

    @functools.wraps(function)
    def tokens(*args: Any) -> Any:
        return function(*args)[0]

    _draws(tokens, draft_model, [0], array([]), gives=[], hint="Nothing is drafted.")


def looks_back(tokens: list[int]) -> ndarray:
    """A draft by the last token but one. CallLimitExceeded for one token."""
    if len(tokens) < 2:
        raise CallLimitExceeded(
            "called the draft with the last token alone: every call reads the whole text"
        )
    return Q_AFTER[tokens[-2]].copy()


looks_back.code = "lesson.looks_back"


def _draws(
    function: Callable, draft: Callable, prefix: list[int], u: ndarray, **options: Any
) -> None:
    """A block with as many calls of the draft as there are numbers `u`."""
    counted = limit_calls(len(u), draft, "the draft", "a block of k tokens takes k calls")
    expect(function, counted, prefix, len(u), u, **options)


def _drafted(tokens: list[int], after: int = 0) -> tuple:
    """Tokens that the small draft may draw, and its rows."""
    return tokens, Q_AFTER[[after, *tokens[:-1]]]


@visible_check
def check_speculative_accept(function: Callable) -> None:
    """The block of the card, with coins that reject its second token, and none; an empty block."""
    p, q, r, all_below = BLOCK_P, BLOCK_Q, BLOCK_R, array([0.7, 0.15, 0.3])
    hint = "Ratios 1.25, 0.2, 2; coins 0.7, 0.6, 0.1."
    above = "Is your coin the wrong way round? A coin below the ratio accepts the token."
    divided = "Is the coin compared with p over q, and not with p or q alone?"
    asks = (
        ([3, 2], "Did you go on after the first rejection?"),
        ([], above, (_alone(1, 0.6), [1]), (_alone(0, 0.35), [])),
        ([], divided, (_alone(0, 0.7), []), (_alone(0, 0.35), [3])),
        ([], "The tokens before a rejection stay.", ((BLOCK, p, q, all_below), BLOCK)),
        ([3, 1], "Token 1 is rejected, so it does not stay in the list."),
        ([3, 1, 2], "Is the ratio p over q, and not q over p?", (_alone(0, 0.9), [])),
        ([3, 1, 2], "Has each position its own row of p and q?", (_alone(1, 0.6), [])),
        ([3, 1, 2], "The second coin is above its ratio, p over q: does that reject the token?"),
    )
    expect(function, BLOCK, p, q, r, gives=[3], hint=hint, asks=asks)
    hint = "Ratios 1.25, 0.2, 2; coins 0.7, 0.15, 0.3. Each coin is below its own ratio."
    unasked = "Does the coin decide? Token 1 has the ratio 0.2, and a coin below that accepts it."
    asks = [([3], unasked, (_alone(1, 0.05), []), (_alone(1, 0.9), []))]
    asks += [([3], "Has each position its own coin?", (_alone(1, 0.15), [1]))]
    expect(function, BLOCK, p, q, all_below, gives=BLOCK, hint=hint, asks=asks)
    hint = "Token 2 has the ratio 0.1/0.2 in row 0, and its coin is 0.7."
    asks = [([2], "Is it the token that you look up in each row, and not the position?")]
    expect(function, [2, 0], p[:2], q[:2], r[:2], gives=[], hint=hint, asks=asks)
    hint = "p may have one row more than there are draft tokens."
    expect(function, BLOCK[:2], p, q[:2], r[:2], gives=[3], hint=hint)
    hint = "Nothing was drafted, so look at no row: q may be np.array([])."
    expect(function, [], p[:1], array([]), array([]), gives=[], hint=hint)


def _alone(i: int, coin: float) -> tuple:
    """The arguments for position i of the block by itself."""
    return BLOCK[i : i + 1], BLOCK_P[i : i + 1], BLOCK_Q[i : i + 1], array([coin])


@visible_check
def check_residual_distribution(function: Callable) -> None:
    """The chapter's pair, the pair the other way round, and equal distributions."""
    rarely = "Which tokens has the draft proposed too rarely?"
    other = array([0.0, 0.75, 0.25, 0.0])
    asks = (
        (array([0.15, 0.0, 0.0, 0.05]), "It sums to 0.2, and a distribution sums to 1."),
        (array([0.375, 0.375, 0.125, 0.125]), rarely),
        (other, rarely),
        (P, "That is p itself. Take what p has beyond q, and nothing where q has more."),
        (P - Q, "Where q has more than p, nothing is missing: no probability is below 0."),
        ((P - Q) / ((P - Q).sum() or 1), "Where q has more, nothing is missing: p - q sums to 0."),
    )
    expect(function, P, Q, gives=array([0.75, 0.0, 0.0, 0.25]), asks=asks)
    expect(function, Q, P, gives=other)
    expect(function, P, P, gives=P, hint="If nothing is missing, return a copy of p.")


@visible_check
@helpers_first(check_speculative_accept, check_residual_distribution)
def check_speculative_step(function: Callable) -> None:
    """Blocks stopped in the middle and at once, a block accepted whole, and an empty block."""
    p, q = array([P, Q, [0.1, 0.2, 0.3, 0.4]]), array([Q, P])
    hint = "The first token is accepted, the second rejected."
    late, soon = ([0, 0], p, q, array([0.5, 0.9])), ([1, 0], p, q, array([0.9, 0.1]))
    before = (*soon, 0.1), [2]
    turned = "Is the residual what p has beyond q, and not what q has beyond p?"
    spent = "Was the correction drawn with a coin? A coin that has judged is spent; u is for this."
    asks = (
        ([0, 3], "Was the correction drawn from the last row of p?"),
        ([0, 0], turned, ((*soon, 0.1), [1])),
        ([0, 0], "Was it drawn from the residual of the token before the rejected one?", before),
        ([0], "The correction is missing."),
        ([0, 1, 3], "The correction ends the step: there is no bonus after a rejection."),
        ([0, 0, 1], "The rejected token does not stay: the correction takes its place."),
        ([0, 2], spent, ((*late, 0.1), [0, 2])),
        ([0, 2], "Does the residual sum to 1?", ((*late, 0.1), [0, 1]), ((*late, 0.16), [0, 2])),
    )
    expect(function, *late, 0.7, gives=[0, 1], hint=hint, asks=asks)
    asks = [([0, 0], "Was the correction drawn from p, not the residual?", ((*late, 0.4), [0, 1]))]
    asks += [([0, 0], "Was the correction drawn from q?", ((*late, 0.4), [0, 0]))]
    expect(function, *late, 0.2, gives=[0, 1], hint=hint, asks=asks)
    hint = "The first token is rejected: one token takes its place, and the step is over."
    expect(function, *soon, 0.8, gives=[3], hint=hint)
    hint = "All are accepted, so u draws from the last row of p."
    asks = [([0, 1], "The bonus token is missing."), ([0, 1, 1], "That is row K - 1 of p.")]
    expect(function, [0, 1], p, q, array([0.5, 0.5]), 0.5, gives=[0, 1, 2], hint=hint, asks=asks)
    hint = "With no draft tokens the bonus token is all there is."
    expect(function, [], p[:1], array([]), array([]), 0.5, gives=[1], hint=hint)


# What rng gives for the text of the card, whose blocks are A B, then B, then none; for a text that
# shows the temperature, with numbers to spare; and for a block that is accepted whole.
_CARD = (0.1, 0.6, 0.4, 0.4, 0.7, 0.3, 0.7, 0.6, 0.2)
_WARM = (0.45, 0.9, 0.85, 0.55, 0.25, 0.45, 0.05, 0.2, 0.75, 0.85, 0.4, 0.6, 0.2, 0.7, 0.35, 0.95)
_WHOLE = (0.6, 0.2, 0.3, 0.9, 0.6, 0.3)
CARD_TEXT, WARM_TEXT = [2, 0, 1], [0, 2, 0, 1, 2]
_ORDER = "In which order does a block draw? First n numbers for the draft, then n for r, then u."
_SOFTMAX = "Are the logits divided by the temperature, and is the softmax then left as it is?"
_ROWS = "p needs n + 1 rows, and the first is row len(text) - 1."
# What likely slips write after the card's prompt and after the second one, each with its question.
SLIPS = (
    ([1, 1, 1], [1, 0, 2, 1, 0], _ORDER),
    ([2, 2, 1], [1, 2, 1, 1, 2], _ORDER),
    ([1, 0, 1], [2, 0, 1, 0, 1], _ORDER),
    ([1, 0, 2], [0, 2, 2, 1, 0], _ORDER),
    ([1, 0, 2], [0, 2, 2, 0, 1], "Has each draft token a number of its own, and each coin too?"),
    ([2, 1, 0], [0, 2, 0, 1, 0], _SOFTMAX),
    (CARD_TEXT, [2, 1, 0, 1, 0], _SOFTMAX),
    (CARD_TEXT, [2, 1, 2, 0, 2], _SOFTMAX),
    (CARD_TEXT, [2, 1, 0, 2, 0], "Do you divide the target's logits by the temperature?"),
    (CARD_TEXT, [0, 2, 0, 1, 0], "Do you divide the draft's logits by the temperature?"),
    (CARD_TEXT, [2, 1, 2, 1, 0], "Do you multiply by the temperature? It divides the logits."),
    ([2, 2, 1], [0, 2, 0, 0, 1], "Does every block read the new tokens, too?"),
    ([2, 1, 1], [0, 2, 1, 0, 0], _ROWS),
    (CARD_TEXT, [2, 1, 2, 0, 1], _ROWS),
    ([2, 1, 0], WARM_TEXT, "Is the correction drawn from the residual, as speculative_step does?"),
    (CARD_TEXT, [0, 2, 1, 0, 1], "Did you leave the bonus token out?"),
    ([0, *CARD_TEXT], [2, 1, *WARM_TEXT], "Return the new tokens only."),
)


@visible_check
@helpers_first(check_draft_block, check_speculative_accept, check_speculative_step)
def check_speculative_sample(function: Callable) -> None:
    """The text of the card, a temperature that shows, a block accepted whole, the ends of texts."""
    card, warm = ([0], _CARD, 2, 3), ([2, 1], _WARM, 2, 5)
    hint = "The target gives a block n + 1 rows, and the first is row len(text) - 1."
    first = [(one, ask, (_asking(*warm), two)) for one, two, ask in SLIPS if one != CARD_TEXT]
    _sampled(function, *card, gives=CARD_TEXT, calls=3, hint=hint, asks=first)
    second = [(two, ask) for one, two, ask in SLIPS if one == CARD_TEXT]
    _sampled(function, *warm, gives=WARM_TEXT, calls=5, hint=hint, asks=second)
    whole = functools.partial(_sampled, function, [2, 0], _WHOLE, 2, 3)
    hint = "The whole block, B and A, is accepted, and 0.6 draws the bonus C from the last row."
    whole(gives=[1, 0, 2], calls=2, hint=hint)
    hint = "Here eos is A in the middle of the block. It is token 0, and `if 0` is false."
    whole(0, gives=[1, 0], calls=1, hint=hint, asks=[([1], "The text keeps its eos.")])


def _sampled(function: Callable, *text: Any, calls: int, **options: Any) -> None:
    """One text of the small models, by `_asking`, with so many calls of the target at most."""
    target, draft, prompt, k, *others = _asking(*text)
    target = limit_calls(calls, target, "the target", "one call gives all rows of a block")
    draft = limit_calls(k * calls, draft, "the draft", "a block of n tokens takes n calls")
    expect(function, target, draft, prompt, k, *others, **options)


def _asking(
    prompt: list[int], numbers: Sequence[float], k: int, count: int, eos: int | None = None
) -> tuple:
    """The arguments that ask for a text of the small models."""
    rng = ScriptedRandom(*numbers, why="a block draws 2n + 1, n at most left - 1")
    return target_logits, draft_logits, prompt, k, count, TEMPERATURE, rng, eos
