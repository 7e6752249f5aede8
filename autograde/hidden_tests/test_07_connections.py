"""Hidden tests of chapter 07: test groups and known bugs; see autograde/hidden/exercise.py."""

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from autograde.hidden.exercise import with_cause
from autograde.hidden_tests.common import Exercise, Lent, prediction, quiz
from autograde.hidden_tests.distributions import coin, ratio, thousandths
from specdec_lib.lessons.ch07.lesson import toy_head
from specdec_lib.lessons.checking.comparing import coerce_like
from specdec_lib.lessons.checking.describing import describe, distinct_texts, type_name
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.data.distributions import normalised_residual, unit_intervals

test_prediction_07 = prediction("prediction_07", 0, 1)
test_prediction_07_b = prediction("prediction_07_b", 0, 0.5)
test_prediction_07_c = prediction("prediction_07_c", 1, 8)
test_quiz_07 = quiz("quiz_07")
test_quiz_07_b = quiz("quiz_07_b")


def draw(rng: np.random.Generator) -> float:
    """A uniform number that equals no sum of thousandths, nor a share of one."""
    return round(int(rng.integers(1000)) / 1000 + 0.0003, 4)


def drafted(parents: list[int], accepted: tuple[int, ...], rng: np.random.Generator) -> tuple:
    """The arguments of a walk down a tree (N nodes) on which the judge accepts just these nodes.

    It is parents, tokens, p and q (N + 1, 4), coins (N,), u. A sibling after an accepted node has
    the coin that would accept or reject it if the walk went on there.
    """
    p, q = (np.array([thousandths(4, rng) for _ in [-1, *parents]]) for _ in range(2))
    left, tokens, coins = list(p), [], []
    for node, parent in enumerate(parents):
        row, keep = parent + 1, node in accepted
        share = left[row] / q[row]
        tokens.append(int(rng.choice(np.flatnonzero(share > 0 if keep else share < 1))))
        coins.append(coin(min(1.0, share[tokens[-1]]), keep, rng))
        left[row] = normalised_residual(left[row], q[row])
    return parents, tokens, p, q, np.array(coins), draw(rng)


def every_way(parents: list[int], after: np.ndarray, draft: np.ndarray) -> Iterator[tuple]:
    """Every way that a walk down a tree can go: its arguments, and its probability.

    `after` and `draft` (V + 1, V) are models that look at one token only: row 0 follows the text,
    row t + 1 follows token t. Between the cuts of the rule each uniform takes one midpoint.
    """
    for tokens in np.ndindex(*(after.shape[1],) * len(parents)):
        rows = [0, *(token + 1 for token in tokens)]
        p, q, left, sides = after[rows], draft[rows], list(after[rows]), []
        weight = prod(float(q[up + 1, token]) for up, token in zip(parents, tokens, strict=True))
        for up, token in zip(parents, tokens, strict=True):
            sides.append(list(unit_intervals(np.array([ratio(left[up + 1], q[up + 1], token)]))))
            left[up + 1] = normalised_residual(left[up + 1], q[up + 1])
        draws = list(unit_intervals(np.concatenate([np.cumsum(row) for row in left])))
        for choice in product(*sides, draws):
            *coins, u = (middle for middle, _ in choice)
            lengths = prod(length for _, length in choice)
            yield (parents, list(map(int, tokens)), p, q, np.array(coins), u), weight * lengths


def token_below(size: int, out: object, name: str) -> int:
    """The token that a function returned. Raises Different for anything else."""
    token = coerce_like(0, out)
    if type(token) is not int or not 0 <= token < size:
        raise Different(f"{name} returned {describe(out)}, where a token below {size} should be.")
    return token


def require_target(law: np.ndarray, wanted: np.ndarray, of: str) -> None:
    """Raise Different unless a distribution is the target's, to 1e-12."""
    if not np.abs(law - wanted).max() <= 1e-12:
        texts = distinct_texts(law, wanted)
        raise Different(
            f"Over all drafts, coins and draws, the distribution of {of} is {texts[0]}; the "
            f"target's is {texts[1]}."
        )


multi_candidate_accept = Exercise("multi_candidate_accept")
IN_TURN = (
    "Each candidate is judged by its own coin against the residual, which begins as p. A rejection "
    "takes q off and divides by the sum; what is left at the end is drawn from."
)


def candidates(number: int, accepted: tuple[int, ...], rng: np.random.Generator) -> tuple:
    """`number` candidates with p, q, coins and u, as `drafted`: they are a tree of one level."""
    _, tokens, p, q, coins, u = drafted([-1] * number, accepted, rng)
    return tokens, p[0], q[0], coins, u


def in_turn(rng):
    p, q = np.array([0.3, 0.6, 0.1]), np.array([0.2, 0.05, 0.75])
    yield [2, 0], p, q, np.array([0.9, 0.5]), 0.1  # r[0] would reject token 0
    yield [2, 2, 0], p, q, np.array([0.9, 0.1, 0.5]), 0.5  # one rejection would accept it
    for accepted in ((0, 1), (0, 2), (1, 2)):  # by coins that nobody needs any more
        yield candidates(3, accepted, rng)
    for rejected in (0, 0, 1, 1, 1, 1, 2, 2, 2, 3):
        yield candidates(rejected + 2, (rejected,), rng)


@multi_candidate_accept.group("each candidate against what is still wanted", cases=in_turn)
def test_multi_candidate_accept_in_turn(student, solution, args):
    multi_candidate_accept.assert_same(student, solution, args, hint=IN_TURN)


def all_rejected(rng):
    for number in (1, 1, 2, 2, 2, 2, 3, 3, 3, 4):
        yield candidates(number, (), rng)


@multi_candidate_accept.group("the draw where all are rejected", cases=all_rejected)
def test_multi_candidate_accept_all_rejected(student, solution, args):
    multi_candidate_accept.assert_same(student, solution, args, hint=IN_TURN)


@multi_candidate_accept.group("the distribution is the target's")
def test_multi_candidate_accept_candidates_together(student, rng):
    for number, size in ((1, 3), (2, 3), (2, 4), (3, 3)):
        p, q = (np.tile(thousandths(size, rng), (size + 1, 1)) for _ in range(2))
        law = np.zeros(size)
        for (_, tokens, _, _, coins, u), weight in every_way([-1] * number, p, q):
            out = student.multi_candidate_accept(tokens, p[0], q[0], coins, u)
            law[token_below(size, out, "multi_candidate_accept")] += weight
        many = f"{number} candidates" if number > 1 else "a candidate"
        of = f"multi_candidate_accept with {many} drawn from {describe(q[0])}"
        require_target(law, p[0], of)


def candidate_edges(rng):
    for _ in range(2):
        yield [], thousandths(4, rng), thousandths(4, rng), np.array([]), draw(rng)
    p, q = np.array([0.25, 0.75]), np.array([0.75, 0.25])
    yield [0, 0], p, q, np.array([0.9, 0.1]), 0.3
    yield [1, 0], q, q, np.array([0.9, 0.1]), 0.3
    yield [0], np.array([0.0, 1.0]), q, np.array([0.0]), 0.3  # 0 is not below 0


@multi_candidate_accept.group(
    "the edges: no candidate, the same one again, equal models", cases=candidate_edges
)
def test_multi_candidate_accept_candidate_edges(student, solution, args):
    multi_candidate_accept.assert_same(student, solution, args, hint=IN_TURN, form=True)


tree_attention_mask = Exercise("tree_attention_mask")


def upwards(rng):
    yield [-1, 0, 1, 2, 3, 4]
    yield [-1, -1, 1, 2, 3]
    for size in (6, 9, 12):
        yield [-1, 0, 1, *(int(rng.integers(node)) for node in range(3, size))]


@tree_attention_mask.group("itself and every ancestor", cases=upwards)
def test_tree_attention_mask_upwards(student, solution, args):
    hint = "A node sees itself, its parent, that one's parent and so on."
    tree_attention_mask.assert_same(student, solution, args, hint)


def other_branches(rng):
    yield [-1, -1, 0, 1, 0, 1]
    yield [-1, 0, 0, 0]
    for size in (4, 6, 8):  # two levels: a parent has no parent
        roots = size // 2
        yield [-1] * roots + [int(rng.integers(roots)) for _ in range(roots, size)]


@tree_attention_mask.group("no other branch, whatever the order", cases=other_branches)
def test_tree_attention_mask_other_branches(student, solution, args):
    hint = "Siblings and cousins are hidden, also those that are listed before."
    tree_attention_mask.assert_same(student, solution, args, hint)


MASK_EDGES = "the edges: one node, none, many; True and False"


def mask_sizes(rng):
    yield from ([], [-1], [-1, -1], [-1, *range(19)])


@tree_attention_mask.group(MASK_EDGES, cases=mask_sizes)
def test_tree_attention_mask_mask_sizes(student, solution, args):
    hint = "N nodes make N rows of N; row i has True at i and at its ancestors, and nowhere else."
    tree_attention_mask.assert_same(student, solution, args, hint, form=True)


@tree_attention_mask.group(MASK_EDGES)
def test_tree_attention_mask_mask_kind(student):
    mask = student.tree_attention_mask([-1, 0, 0])
    kind = str(getattr(mask, "dtype", type_name(mask)))
    if kind != "bool":
        raise Different(f"tree_attention_mask([-1, 0, 0]) holds {kind}; a mask is True or False.")


walk_tree = Exercise("walk_tree")
TWINS = [-1, -1, 0, 1]
ROWS = (
    "Row 0 of p and q judges the children of the text, row i + 1 those of node i, coin i node i. "
    "The last token is drawn with the row of the place where the walk ends."
)


def one_level(rng):
    for accepted in (*((), (0,), (1,), (2,)) * 3, (0, 1), (0, 2), (1, 2)):
        yield drafted([-1] * 3, accepted, rng)


@walk_tree.group("children of the text, in turn", cases=one_level)
def test_walk_tree_one_level(student, solution, args):
    walk_tree.assert_same(student, solution, args, hint=ROWS)


def downwards(rng):
    for parents, accepted in (
        *(([-1, 0, 1], (0,)), ([-1, 0, 1], (0, 1)), ([-1, 0, 1], (0, 1, 2))),
        *(([-1, -1, 0, 1], (1,)), ([-1, -1, 0, 1], (1, 3)), ([-1, -1, 0, 1], (0, 2))),
        *(([-1, -1, 0, 0, 1, 1], (1, 5)), ([-1, -1, 0, 0, 1, 1], (0, 3))),
        *(([-1, -1, 0, 0, 1, 1], (1,)), ([-1, -1, 1, 0, 2, 3], (1, 2, 4))),
        *(([-1, 0, 0, 2, 1], (0, 2, 3)), ([-1, 0, -1, 2, 1, 3], (2, 3, 5))),
    ):
        yield drafted(parents, accepted, rng)


@walk_tree.group("on to the children of the accepted node", cases=downwards)
def test_walk_tree_downwards(student, solution, args):
    walk_tree.assert_same(student, solution, args, hint=ROWS)


@walk_tree.group("the distribution is the target's")
def test_walk_tree_walks_together(student, rng):
    target, draft = (np.array([thousandths(3, rng) for _ in range(4)]) for _ in range(2))
    for parents in ([-1, -1], [-1, 0], [-1, -1, 0]):
        law = np.zeros((3, 3))
        for args, weight in every_way(parents, target, draft):
            law += weight * first_two(student.walk_tree(*args), target)
        require_target(law, target[0][:, None] * target[1:], f"two tokens on the tree {parents}")


def first_two(out: object, target: np.ndarray) -> np.ndarray:
    """The distribution (3, 3) of two tokens that begin with `out` and go on by the target."""
    listed = coerce_like([0], out)
    if not isinstance(listed, list) or not listed:
        raise Different(f"walk_tree returned {describe(out)}, expected a list with a token in it.")
    tokens = [token_below(3, token, "walk_tree") for token in listed[:2]]
    law = np.zeros((3, 3))
    law[tokens[0]] = np.eye(3)[tokens[1]] if len(tokens) > 1 else target[tokens[0] + 1]
    return law


def walk_edges(rng):
    for parents in ([], [], [-1], [-1, 0, 1, 2]):
        yield drafted(parents, (0, 1, 2, 3), rng)
    p, q = np.tile([0.45, 0.3, 0.15, 0.1], (5, 1)), np.tile([0.3, 0.45, 0.2, 0.05], (5, 1))
    yield TWINS, [1, 1, 0, 2], p, q, np.array([0.5, 0.5, 0.1, 0.1]), draw(rng)
    yield TWINS, [2, 2, 0, 2], p, q, np.array([0.9, 0.0, 0.1, 0.1]), draw(rng)  # both rejected


@walk_tree.group("the edges: no node, a leaf, twins, the boundary", cases=walk_edges)
def test_walk_tree_walk_edges(student, solution, args):
    hint = f"{ROWS} Twins are two nodes, each with a coin and children of its own."
    walk_tree.assert_same(student, solution, args, hint, form=True)


one_hot_accept = Exercise("one_hot_accept")


def either_side(rng):
    for keep in [True, False] * 4:
        p, token = thousandths(2, rng), int(rng.integers(2))
        # The other token is the only replacement, and u picks it from p as well.
        u = float(p[0] / 2 if token else (1 + p[0]) / 2)
        yield token, p, coin(p[token], keep, rng), round(u, 4)


@one_hot_accept.group("accepts with the target's own probability", cases=either_side)
def test_one_hot_accept_either_side(student, solution, args):
    hint = "q is 1 on this token, so p/q is p. A replacement is the other token, by its own number."
    one_hot_accept.assert_same(student, solution, args, hint)


def replaced(rng):
    for size in (3, 3, 4, 4, 5, 5, 6, 7, 8):
        p = thousandths(size, rng)
        for token in (int(np.argmax(p)), int(rng.integers(size))):
            yield token, p, coin(p[token], False, rng), draw(rng)


@one_hot_accept.group("replaces from the target without that token", cases=replaced)
def test_one_hot_accept_replaced(student, solution, args):
    hint = "After a rejection u draws from the other tokens, each with its share of p."
    one_hot_accept.assert_same(student, solution, args, hint)


def certain_edges(rng):
    only = np.array([0.0, 1.0, 0.0])
    yield 1, only, 0.9, 0.5
    yield 0, only, 0.3, 0.5
    yield 2, only, 0.0, 0.5  # 0 is not below 0
    yield 2, np.array([0.5, 0.5, 0.0]), 0.4, 0.75
    yield 1, np.array([0.5, 0.25, 0.25]), 0.75, 0.1  # a change of p in place would show


@one_hot_accept.group("the edges: a target that is certain, p as it was", cases=certain_edges)
def test_one_hot_accept_certain_edges(student, solution, args):
    hint = "A greedy target has p = 1 on one token: it accepts that token and no other."
    one_hot_accept.assert_same(student, solution, args, hint, form=True)


head_step = Exercise("head_step")
ALL_STATES = "the layer must be given all states of the text."
STEP = (
    "The layer reads the last state and then the token's embedding, in one vector; what it gives "
    "goes through the LM head, and the logits through softmax."
)


def lent_head(rng: np.random.Generator, scale: float = 1.0) -> Lent:
    """A small head, of which the student may use the three parts."""
    return Lent(toy_head(int(rng.integers(1000)), scale), "head", "embed()", "layer()", "logits()")


def states(count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` states (count, 2) in tenths, no two alike."""
    return rng.choice(np.arange(-20, 21), (count, 2), replace=False) / 10


def one_text(rng):
    for count in (2, 2, 3, 5):
        yield states(count, rng), int(rng.integers(4)), lent_head(rng)


@head_step.group("from the last state and the token after it", weight=2, cases=one_text)
def test_head_step_one_text(student, solution, args):
    head_step.assert_same(student, solution, args, STEP)


def every_next_token(rng):
    hidden, head = states(2, rng), lent_head(rng)
    for token in range(4):
        yield hidden, token, head


@head_step.group("another token, another distribution", cases=every_next_token)
def test_head_step_every_next_token(student, solution, args):
    head_step.assert_same(student, solution, args, STEP)


def step_edges(rng):
    yield states(1, rng), int(rng.integers(4)), lent_head(rng)
    yield states(3, rng), int(rng.integers(4)), lent_head(rng, 20_000)


STEP_EDGES = "the edges: one state, large logits; an array, by one call of the layer"


@head_step.group(STEP_EDGES, cases=step_edges)
def test_head_step_step_edges(student, solution, args):
    hint = f"{STEP} np.exp overflows above 709: use softmax."
    head_step.assert_same(student, solution, args, hint, form=True)


@head_step.group(STEP_EDGES)
def test_head_step_one_call(student, rng):
    head, seen = lent_head(rng), []
    layer = head.obj.layer
    head.obj.layer = lambda joined: seen.append(joined) or layer(joined)
    student.head_step(states(3, rng), int(rng.integers(4)), head)
    if len(seen) > 1:
        message = f"for a text of 3 states head_step called head.layer {len(seen)} times."
        every = len(seen) == 3  # a call for each state
        raise with_cause(Different(message), ALL_STATES) if every else Different(message)


tokens_from_positions = Exercise("tokens_from_positions")


def rates_of(count: int, rng: np.random.Generator) -> list[float]:
    """`count` acceptance rates of three digits, neither 0 nor 1, no two alike."""
    return (rng.choice(np.arange(200, 950), count, replace=False) / 1000).tolist()


def products(rng):
    for count in (2, 3, 4, 5, 7, 7, 15):
        yield rates_of(count, rng)


@tokens_from_positions.group(
    "a token counts if all before it are accepted", weight=2, cases=products
)
def test_tokens_from_positions_products(student, solution, args):
    hint = "Token i counts with the product of the rates up to its own."
    tokens_from_positions.assert_same(student, solution, args, hint)


def rate_edges(rng):
    yield []
    yield rates_of(1, rng)
    yield [1.0, 1.0, 1.0]
    yield [0.0, 0.9]
    yield [0.75, 0.0, 0.5]


@tokens_from_positions.group(
    "the edges: no draft token, one, a certain and an impossible one", cases=rate_edges
)
def test_tokens_from_positions_rate_edges(student, solution, args):
    hint = "It is 1, and for each draft token the product of the rates up to its own."
    tokens_from_positions.assert_same(student, solution, args, hint, form=True)
