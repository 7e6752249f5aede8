"""Hidden tests of chapter 07: test groups and known bugs; see autograde/check.py."""

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from autograde.chapters.common import Asked, Exercise, prediction, quiz
from autograde.chapters.distributions import LARGEST, answered, pieces, ratio, residual, thousandths
from autograde.check import RemoteObject
from specdec_lib.lessons.ch07.models import TargetGreedy, settling
from specdec_lib.lessons.common.comparing import in_form_of
from specdec_lib.lessons.common.describing import describe, format_call, told_apart, type_name
from specdec_lib.lessons.common.examples import Different
from specdec_lib.lessons.common.lending import NoEnd

# Binary fractions, so that a coin can equal a bound.
HALF = np.array([0.5, 0.25, 0.25])
NO_FIRST = np.array([0.0, 0.5, 0.5])
# Certain but for so little that a number which is added to it would drown it.
TINY = 2.0**-48
NEARLY = np.array([TINY, 1 - 3 * TINY, 2 * TINY])

prediction_07 = prediction("prediction_07", 0, 1)
prediction_07_b = prediction("prediction_07_b", 0, 8)
quiz_07 = quiz("quiz_07")
quiz_07_b = quiz("quiz_07_b")


def coin(chance: float, keep: bool, rng: np.random.Generator) -> float:
    """A coin of four digits that accepts with this chance, or one that rejects."""
    share = 0.1 + 0.8 * rng.random()
    number = share * chance if keep else chance + share * (1 - chance)
    return min(round(float(number), 4), 0.9999)


def draw(rng: np.random.Generator) -> float:
    """A uniform number that equals no sum of thousandths, nor a share of one."""
    return round(int(rng.integers(1000)) / 1000 + 0.0003, 4)


def drafted(parents: list[int], accepted: tuple[int, ...], rng: np.random.Generator) -> tuple:
    """The arguments of a walk down a tree (N nodes) on which the judge accepts just these nodes.

    It is parents, tokens, p and q (N + 1, 4), coins (N,), u. A node that is never judged counts as
    rejected.
    """
    p, q = (np.array([thousandths(4, rng) for _ in [-1, *parents]]) for _ in range(2))
    left, tokens, coins = list(p), [], []
    for node, parent in enumerate(parents):
        row, keep = parent + 1, node in accepted
        share = left[row] / q[row]
        tokens.append(int(rng.choice(np.flatnonzero(share > 0 if keep else share < 1))))
        coins.append(coin(min(1.0, share[tokens[-1]]), keep, rng))
        left[row] = residual(left[row], q[row])
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
            sides.append(list(pieces(np.array([ratio(left[up + 1], q[up + 1], token)]))))
            left[up + 1] = residual(left[up + 1], q[up + 1])
        draws = list(pieces(np.concatenate([np.cumsum(row) for row in left])))
        for choice in product(*sides, draws):
            *coins, u = (middle for middle, _ in choice)
            lengths = prod(length for _, length in choice)
            yield (parents, list(map(int, tokens)), p, q, np.array(coins), u), weight * lengths


def token_below(size: int, out: object, name: str) -> int:
    """The token that a function returned. Raises Different for anything else."""
    token = in_form_of(0, out)
    if type(token) is not int or not 0 <= token < size:
        raise Different(f"{name} returned {describe(out)}, where a token below {size} should be.")
    return token


def require_target(came: np.ndarray, wanted: np.ndarray, of: str) -> None:
    """Raise Different unless a distribution is the target's, to 1e-12."""
    if not np.abs(came - wanted).max() <= 1e-12:
        texts = told_apart(came, wanted)
        raise Different(
            f"over all drafts, coins and draws the distribution of {of} is {texts[0]}; the "
            f"target's is {texts[1]}."
        )


one_hot_accept = Exercise("one_hot_accept")


@one_hot_accept.group(
    "accepts with the target's own probability", hint="q is 1 on this token, so p/q is p."
)
def either_side(rng):
    for keep in [True, False] * 4:
        p, token = thousandths(2, rng), int(rng.integers(2))
        # The other token is the only replacement, and u picks it from p as well.
        u = float(p[0] / 2 if token else (1 + p[0]) / 2)
        yield token, p, coin(p[token], keep, rng), round(u, 4)


@one_hot_accept.group(
    "replaces from the target without that token",
    hint="After a rejection u draws from the other tokens, each with its share of p.",
)
def replaced(rng):
    for size in (3, 3, 4, 4, 5, 5, 6, 7, 8, 9):
        p = thousandths(size, rng)
        for token in (int(np.argmax(p)), int(rng.integers(size))):
            yield token, p, coin(p[token], False, rng), draw(rng)


@one_hot_accept.group(
    "the edges: no other mass, no mass, the boundary",
    form=True,
    hint="Accepted is r < p(token), strictly, and a token beside which no other has any "
    "probability: exactly 0, and not nearly.",
)
def certain_edges(rng):
    only = np.array([0.0, 1.0, 0.0])
    yield 1, only, 0.9, 0.5
    yield 1, only * LARGEST, LARGEST, 0.5
    yield 0, only, 0.0, 0.5  # p and r are 0
    yield 2, np.array([0.5, 0.5, 0.0]), 0.0, 0.75
    yield 0, HALF, 0.5, 0.25  # r equals p
    yield 0, np.array([0.5, 0.0, 0.5]), 0.75, 0.0  # u is 0 where p is 0
    for u in (0.3, 0.3333333, 0.5):  # the cut is at 1/3
        yield 1, NEARLY, 1 - 2 * TINY, u


one_hot_accept.bug(
    "sample_from(rest / rest.sum(), u)",
    "sample_from(p, u)",
    think="after a rejection the target itself is drawn from.",
    because="the rejected token could come again, beyond the p that acceptance gave it.",
)
one_hot_accept.bug(
    "rest / rest.sum()",
    "rest",
    think="p without its token can be drawn from as it is.",
    because="it sums to 1 - p(token); the last token gets all that is missing to 1.",
)
one_hot_accept.bug(
    "r < p[draft_token]",
    "draft_token == int(np.argmax(p))",
    think="a looked-up token is accepted if it is the target's favourite.",
    because="that is greedy decoding; when sampling, token x is owed p(x), favourite or not.",
)
one_hot_accept.bug(
    "r < p",
    "r > p",
    think="a large r accepts.",
    because="r is below p(token) with probability p(token), so a small r accepts.",
)
one_hot_accept.bug(
    "    if r < p[draft_token] or rest.sum() == 0:\n",
    "    token = sample_from(p, u)\n    return token, token == draft_token\n    if True:\n",
    think="the target draws its own token, and the draft's is accepted if both are equal.",
    because="the distribution is right, but the verdict belongs to r: u draws a replacement only.",
)


jacobi_decode = Exercise("jacobi_decode")


class Lent(RemoteObject):
    """A target as an argument, for a prompt and a guess; it ends a loop that cannot end.

    A copy begins again: known bugs are called with a copy of what the student was given.
    """

    def __init__(self, target: TargetGreedy, *text: list[int]) -> None:
        # So much room that a call for every place is wrong in what it costs and in nothing else.
        self.lent = settling(target, *text, extra=len(text[1]) * (len(text[1]) + 1) + 1)
        super().__init__(Asked(self.ask), call=True)
        self.target, self.text = target, text
        self.thing.__name__ = target.__name__

    def ask(self, tokens: list[int]) -> list[int]:
        """One pass. Raises ValueError for too many, whose name is the same in every process."""
        try:
            return self.lent(tokens)
        except NoEnd as error:
            raise ValueError(str(error)) from None

    def __deepcopy__(self, memo: dict) -> "Lent":
        return Lent(self.target, *self.text)

    def __repr__(self) -> str:
        return self.target.__name__


TWO_BACK = "lambda text: [({} * a + {} * b + {}) % 10 for a, b in zip([0, *text], text)]"


def target_of(code: str) -> TargetGreedy:
    """The target of some code, which is also its name: so it can be pasted from a message."""
    target = eval(code)
    target.__name__ = code
    return target


def guesses(rng: np.random.Generator) -> Iterator[tuple[TargetGreedy, list[int], list[int]]]:
    """A target, a prompt and a guess whose first token is wrong, some of each kind.

    A target that reads the last token needs all K + 1 passes. One that reads only the token before
    settles two places a pass.
    """
    for places, last in ((3, 1), (4, 0), (5, 3), (6, 0), (7, 7), (8, 0)):
        before, more = rng.integers(1, 10, 2)
        target = target_of(TWO_BACK.format(before, last, more))
        prompt = rng.integers(10, size=rng.integers(2, 4)).tolist()
        guess = rng.integers(10, size=places).tolist()
        guess[0] = (target(prompt)[-1] + int(rng.integers(1, 10))) % 10
        yield target, prompt, guess


@jacobi_decode.check("the target's greedy tokens")
def greedy_tokens(student, solution, rng):
    for text in guesses(rng):
        gives = solution.jacobi_decode(Lent(*text), *text[1:])
        out = student.jacobi_decode(Lent(*text), *text[1:])
        pair = in_form_of(gives, out)
        if not isinstance(pair, tuple) or pair[:1] != gives[:1]:
            call = format_call(student.jacobi_decode, (Lent(*text), *text[1:]))
            raise Different(f"{call} returned {describe(out)}, expected {describe(gives)}.")


@jacobi_decode.group(
    "all places at once, and the last pass counts",
    hint="A pass renews every place, and the one that changes nothing counts.",
)
def passes(rng):
    for text in guesses(rng):
        yield Lent(*text), *text[1:]


@jacobi_decode.check("one call a pass, over prompt and guess")
def calls(student, solution, rng):
    for text in guesses(rng):
        lent, right = Lent(*text), Lent(*text)
        student.jacobi_decode(lent, *text[1:])
        solution.jacobi_decode(right, *text[1:])
        if lent.thing.trace != right.thing.trace:
            raise Different(
                f"jacobi_decode with prompt={text[1]} and guess={text[2]} called target_greedy "
                f"with {describe(lent.thing.trace)}; expected one call a pass: "
                f"{describe(right.thing.trace)}."
            )


@jacobi_decode.group(
    "the edges: an empty guess, a right one, a long one",
    form=True,
    hint="Only a pass that changes nothing ends the loop, after K + 1 passes at most.",
)
def jacobi_edges(rng):
    target = target_of("lambda text: [token + 1 for token in text]")
    for prompt, guess in (
        *(([4], []), ([4, 9], []), ([4, 9], [10, 11, 12]), ([4, 9], [10]), ([4, 9], [0])),
        *(([0], [1, 2, 9]), ([0], [9, 2, 3]), ([0], [50] * 12), ([7, 2], [0] * 33)),
    ):
        yield Lent(target, prompt, guess), prompt, guess


jacobi_decode.bug(
    "first = len(prompt) - 1",
    "first = len(prompt)",
    think="the argmax after place i is the token of place i.",
    because="it is the token after it; the last prompt token gives the first place.",
)
jacobi_decode.bug(
    "return current, passes",
    "return current, passes - 1",
    think="only passes that change something count.",
    because="the last pass was paid for too; without it nobody knows that all is right.",
)
jacobi_decode.bug(
    "if renewed == current:\n            return current, passes",
    "if renewed == current or passes >= len(guess):\n            return renewed, passes",
    think="K places need at most K passes.",
    because="pass K may change the last place, and only one more pass shows that nothing changes.",
)
jacobi_decode.bug(
    "    while True:\n",
    "    for i in range(len(guess)):\n"
    "        current[i] = target_greedy(list(prompt) + current)[first + i]\n"
    "    return current, len(guess)\n"
    "    while True:\n",
    think="one place is renewed in every pass.",
    because="the pass has the argmax of every place; all of them are renewed from it together.",
)
jacobi_decode.bug(
    "target_greedy(list(prompt) + current)\n        passes += 1\n"
    "        renewed = list(after[first : first + len(guess)])",
    "target_greedy(current)\n        passes += 1\n        renewed = list(after)",
    think="the target reads the guess alone.",
    because="the text before the guess decides what follows: every pass reads prompt + current.",
)


multi_candidate_accept = Exercise("multi_candidate_accept")


def candidates(number: int, accepted: tuple[int, ...], rng: np.random.Generator) -> tuple:
    """So many candidates with p, q, coins and u, as `drafted`: they are a tree of one level."""
    _, tokens, p, q, coins, u = drafted([-1] * number, accepted, rng)
    return tokens, p[0], q[0], coins, u


@multi_candidate_accept.group(
    "each candidate against what is still wanted",
    hint="After a rejection the next candidate is judged against the residual, with its own coin.",
)
def in_turn(rng):
    p, q = np.array([0.3, 0.6, 0.1]), np.array([0.2, 0.05, 0.75])
    yield [2, 0], p, q, np.array([0.9, 0.5]), 0.1  # r[0] would reject token 0
    yield [2, 2, 0], p, q, np.array([0.9, 0.1, 0.5]), 0.5  # one rejection would accept it
    for rejected in (0, 0, 1, 1, 1, 1, 2, 2, 2, 3):
        yield candidates(rejected + 2, (rejected,), rng)


@multi_candidate_accept.group(
    "the draw where all are rejected",
    hint="Every rejection takes q off once more, and the draw is from the last residual.",
)
def all_rejected(rng):
    for number in (1, 1, 2, 2, 2, 2, 3, 3, 3, 4):
        yield candidates(number, (), rng)


@multi_candidate_accept.check("the distribution is the target's")
def candidates_together(student, solution, rng):
    for number, size in ((1, 3), (2, 3), (2, 4), (3, 3)):
        p, q = (np.tile(thousandths(size, rng), (size + 1, 1)) for _ in range(2))
        ways = every_way([-1] * number, p, q)
        many = [((tokens, p[0], q[0], r, u), weight) for (_, tokens, _, _, r, u), weight in ways]
        came = np.zeros(size)
        for out, weight in answered(student.multi_candidate_accept.each, many):
            came[token_below(size, out, "multi_candidate_accept")] += weight
        of = f"multi_candidate_accept with {number} from the draft {describe(q[0])}"
        require_target(came, p[0], of)


@multi_candidate_accept.group(
    "the edges: no candidate, zeros, the boundary",
    form=True,
    hint="Accepted is r q < residual, strictly.",
)
def candidate_edges(rng):
    p, q = thousandths(4, rng), thousandths(4, rng)
    yield [], p, q, np.array([]), draw(rng)
    yield [0], NO_FIRST, HALF, np.array([0.0]), 0.9  # p and r are 0
    yield [0, 0], NO_FIRST, HALF, np.array([0.0, 0.0]), 0.0
    yield [2, 0], HALF, HALF, np.array([LARGEST, 0.0]), 0.0  # equal models
    for r in (0.5, 0.4999999):  # r q equals the residual, or nearly
        yield [1], HALF, np.array([0.25, 0.5, 0.25]), np.array([r]), 0.5
    yield [0, 0], np.array([0.25, 0.75]), np.array([0.75, 0.25]), np.array([0.9, 0.0]), 0.0


multi_candidate_accept.bug(
    "< residual[token]",
    "< p[token]",
    think="every candidate is judged against p.",
    because="a rejection has changed what is wanted: the next one is judged against the residual.",
)
multi_candidate_accept.bug(
    "residual_distribution(residual, q)",
    "residual_distribution(p, q)",
    think="one residual serves all rejections.",
    because="every rejection of a draw from q takes q off once more.",
)
multi_candidate_accept.bug(
    "sample_from(residual, u)",
    "sample_from(p, u)",
    think="where all are rejected the target is drawn from.",
    because="acceptance has paid out a part of p already; only the last residual is owed.",
)
multi_candidate_accept.bug(
    "coin * q[token]",
    "r[0] * q[token]",
    think="one coin is enough for all candidates.",
    because="after a rejection r[0] is known to be large; each candidate needs its own coin.",
)
multi_candidate_accept.bug(
    "coin * q[token] < residual[token]:\n            return token\n"
    "        residual = residual_distribution(residual, q)",
    "coin < residual[token]:\n            return token\n"
    "        residual = residual_distribution(residual, np.eye(len(q))[token])",
    think="a candidate is there, so its q is 1.",
    because="that is the rule for tokens that were chosen without chance; these were drawn from q, "
    "and a rejection takes q off, not the token alone.",
)
multi_candidate_accept.bug(
    "residual = residual_distribution(residual, q)",
    "residual = residual_distribution(residual, q)\n"
    "        q = np.where(np.arange(len(q)) == token, 0, q) / (1 - q[token])",
    think="a rejected token is struck out of q for the next candidate.",
    because="that is right for draws without replacement; these are independent, all from q.",
)
multi_candidate_accept.bug(
    "    residual = p\n",
    "    return sample_from(p, u)\n    residual = p\n",
    think="the target draws a token, and a candidate is accepted if it is that token.",
    because="that keeps the distribution and wastes the overlap of p and q; the rule uses coins.",
)


tree_attention_mask = Exercise("tree_attention_mask")


@tree_attention_mask.group(
    "itself and every ancestor", hint="A node sees itself, its parent, that one's parent and so on."
)
def upwards(rng):
    yield [-1, 0, 1, 2, 3, 4]
    yield [-1, -1, 1, 2, 3]
    for size in (6, 9, 12):
        yield [-1, 0, 1, *(int(rng.integers(node)) for node in range(3, size))]


@tree_attention_mask.group(
    "no other branch, whatever the order",
    hint="Siblings and cousins are hidden, also those that are listed before.",
)
def other_branches(rng):
    yield [-1, -1, 0, 1, 0, 1]
    yield [-1, 0, 0, 0]
    for size in (4, 6, 8):  # two levels: a parent has no parent
        roots = size // 2
        yield [-1] * roots + [int(rng.integers(roots)) for _ in range(roots, size)]


MASK_EDGES = "the edges: one node, none, many; True and False"


@tree_attention_mask.group(MASK_EDGES, form=True, hint="N nodes make an N by N mask, also N = 0.")
def mask_sizes(rng):
    yield from ([], [-1], [-1, -1], [-1, *range(19)])


@tree_attention_mask.check(MASK_EDGES)
def mask_kind(student, solution, rng):
    mask = student.tree_attention_mask([-1, 0, 0])
    kind = str(getattr(mask, "dtype", type_name(mask)))
    if kind != "bool":
        raise Different(f"tree_attention_mask([-1, 0, 0]) holds {kind}; a mask is True or False.")


tree_attention_mask.bug(
    "return mask",
    "return np.tril(np.ones_like(mask))",
    think="the causal mask serves a tree as well.",
    because="a node that is listed earlier may be on another branch, which is hidden.",
)
tree_attention_mask.bug(
    "mask[node] |= mask[parent]",
    "mask[node, parent] = True",
    think="a node sees itself and its parent.",
    because="its past goes on beyond the parent, up to the text.",
)
tree_attention_mask.bug(
    "parent >= 0",
    "parent > 0",
    think="the way up ends at node 0.",
    because="node 0 is a draft token like the others; the text is -1.",
)
tree_attention_mask.bug(
    "        if parent >= 0:\n            mask[node]",
    "        mask[node]",
    think="the parent -1 is a node like the others.",
    because="-1 is the text; as an index it is NumPy's last row.",
)
tree_attention_mask.bug(
    "return mask",
    "return ~mask",
    think="True marks what is masked out.",
    because="here True says that the node of the row sees the node of the column.",
)


walk_tree = Exercise("walk_tree")
TWINS = [-1, -1, 0, 1]


@walk_tree.group(
    "children of the text, in turn",
    hint="Row 0 of p and q judges the children of the text: each with its own coin, against what "
    "those before it have left.",
)
def one_level(rng):
    for accepted in ((), (0,), (1,), (2,)) * 3:
        yield drafted([-1] * 3, accepted, rng)


@walk_tree.group(
    "on to the children of the accepted node",
    hint="The children of node i are judged by row i + 1 of p and q, with their own coins.",
)
def downwards(rng):
    for parents, accepted in (
        *(([-1, 0, 1], (0,)), ([-1, 0, 1], (0, 1)), ([-1, 0, 1], (0, 1, 2))),
        *(([-1, -1, 0, 1], (1,)), ([-1, -1, 0, 1], (1, 3)), ([-1, -1, 0, 1], (0, 2))),
        *(([-1, -1, 0, 0, 1, 1], (1, 5)), ([-1, -1, 0, 0, 1, 1], (0, 3))),
        *(([-1, -1, 0, 0, 1, 1], (1,)), ([-1, -1, 1, 0, 2, 3], (1, 2, 4))),
        *(([-1, 0, 0, 2, 1], (0, 2, 3)), ([-1, 0, -1, 2, 1, 3, 5], (2, 3, 5, 6))),
    ):
        yield drafted(parents, accepted, rng)


@walk_tree.check("the distribution is the target's")
def walks_together(student, solution, rng):
    target, draft = (np.array([thousandths(3, rng) for _ in range(4)]) for _ in range(2))
    for parents in ([-1, -1], [-1, 0], [-1, -1, 0]):
        came = np.zeros((3, 3))
        ways = list(every_way(parents, target, draft))
        for out, weight in answered(student.walk_tree.each, ways):
            came += weight * first_two(out, target)
        require_target(came, target[0][:, None] * target[1:], f"two tokens on the tree {parents}")


def first_two(out: object, target: np.ndarray) -> np.ndarray:
    """The distribution (3, 3) of two tokens that begin with `out` and go on by the target."""
    listed = in_form_of([0], out)
    if not isinstance(listed, list) or not listed:
        raise Different(f"walk_tree returned {describe(out)}, not a list of tokens.")
    tokens = [token_below(3, token, "walk_tree") for token in listed[:2]]
    came = np.zeros((3, 3))
    came[tokens[0]] = np.eye(3)[tokens[1]] if len(tokens) > 1 else target[tokens[0] + 1]
    return came


@walk_tree.group(
    "the edges: no node, a leaf, twins, the boundary",
    form=True,
    hint="A node without children ends the walk with a draw from its own row of p.",
)
def walk_edges(rng):
    for parents in ([], [], [-1], [-1, 0, 1, 2]):
        yield drafted(parents, (0, 1, 2, 3), rng)
    p, q = np.tile([0.45, 0.3, 0.15, 0.1], (5, 1)), np.tile([0.3, 0.45, 0.2, 0.05], (5, 1))
    yield TWINS, [1, 1, 0, 2], p, q, np.array([0.5, 0.5, 0.1, 0.1]), draw(rng)
    yield TWINS, [2, 2, 0, 2], p, q, np.array([0.9, 0.0, 0.1, 0.1]), draw(rng)  # both rejected


for _row in ("max(node, 0)", "node"):
    walk_tree.bug(
        "node + 1",
        _row,
        think="row i belongs to node i.",
        because="row 0 is for the text; what follows node i is in row i + 1.",
    )
walk_tree.bug(
    "r[children], u))\n        if written[-1] not in drawn:\n            return written\n",
    "r[: len(drawn)], u))\n        if written[-1] not in drawn:\n            return written\n"
    "        r = r[drawn.index(written[-1]) + 1 :]\n",
    think="the coins are used in the order in which they are needed.",
    because="coin i belongs to node i, also if nodes before it were never judged.",
)
walk_tree.bug(
    "if parent == node",
    "if i > node",
    think="the nodes are judged in the order of the list.",
    because="a node counts only if its parent was accepted; the others are on dropped branches.",
)
walk_tree.bug(
    "if parent == node]",
    "if parent == node][:1]",
    think="the walk tries the first child only, and stops if it is rejected.",
    because="its siblings were drafted and scored; each of them has its own chance.",
)
for _goes_on in ("drawn", "drawn or node < 0"):
    walk_tree.bug(
        "return written",
        f"return written if {_goes_on} else written[:-1]",
        think="a branch that is accepted to its leaf ends there.",
        because="the pass has a distribution after the leaf too, and its token is the bonus.",
    )


map_draft = Exercise("map_draft")


def mapped(places: int, lost: int, rng: np.random.Generator) -> tuple:
    """The arguments of a map of `places` draft tokens, of which `lost` are not shared.

    No token has the id 0.
    """
    size = places + 1 + int(rng.integers(3))
    ids = 1 + rng.permutation(size - 1)[:places]
    ids[rng.permutation(places)[:lost]] = -1
    return thousandths(places, rng), ids, size


@map_draft.group(
    "mass goes to the target's ids", hint="Entry i of draft_to_target is the id of draft token i."
)
def moved(rng):
    for places in (2, 3, 4, 4, 5, 6):
        q, ids, size = mapped(places, 0, rng)
        yield q, ids - 1, size


@map_draft.group(
    "only what is shared, renormalised",
    hint="A token with -1 has no place in the target; what is left is divided by its sum.",
)
def shared(rng):
    for places in (2, 3, 4, 5, 6):
        yield mapped(places, places // 2, rng)


@map_draft.group(
    "masses on one id add",
    hint="Two draft tokens may stand for one target token; NumPy's += with ids counts one of them.",
)
def added(rng):
    for places in (3, 4, 5, 6):
        q, ids, size = mapped(places, 0, rng)
        ids[:2] = ids[2]
        yield q, ids, size


MAP_EDGES = "the edges: nothing shared is an error, a little is enough; a new array"


@map_draft.group(MAP_EDGES, hint="no mass is shared, so nothing can be drafted")
def nothing_shared(rng):
    yield np.array([0.5, 0.5]), np.array([-1, -1]), 3
    yield np.array([1.0, 0.0]), np.array([-1, 2]), 4  # an id without mass
    yield np.array([0.0, 0.6, 0.4]), np.array([1, -1, -1]), 2


@map_draft.group(MAP_EDGES, form=True, hint="One id with mass is enough, however little it is.")
def little_shared(rng):
    yield np.array([1.0, 0.0]), np.array([2, -1]), 4
    yield np.array([0.999, 0.001]), np.array([-1, 1]), 2
    yield np.array([0.25, 0.75]), np.array([0, 1]), 2


map_draft.bug(
    "return mapped / mapped.sum()",
    "return mapped",
    think="what is not shared drops out, and that is all.",
    because="what is left does not sum to 1, so no token can be drawn from it.",
)
map_draft.bug(
    "draft_to_target >= 0",
    "slice(None)",
    think="-1 is an id like any other.",
    because="as an index -1 is the last token, which gets all that is not shared.",
)
map_draft.bug(
    "np.add.at(mapped, draft_to_target[shared], q[shared])",
    "mapped[draft_to_target[shared]] += q[shared]",
    think="an assignment puts every mass in its place.",
    because="where two draft tokens have one id, the second overwrites the first.",
)
map_draft.bug(
    "np.add.at(mapped, draft_to_target[shared], q[shared])",
    "mapped[: len(q)] = np.where(shared, q, 0)[:vocab_size]",
    think="equal ids are equal tokens.",
    because="two tokenizers number their tokens each in its own way.",
)


expected_experts = Exercise("expected_experts")


@expected_experts.group(
    "an expert that several tokens choose is read once",
    weight=2,
    hint="One token leaves an expert out with probability 1 - active/n_experts.",
)
def several_tokens(rng):
    yield 2, 8, 2
    yield 2, 4, 3
    for n_experts in (8, 16, 64, 128, 256):
        yield int(rng.integers(3, 10)), n_experts, int(rng.integers(2, n_experts // 2))


@expected_experts.group(
    "the edges: no token, one, all experts active; a number",
    form=True,
    hint="No token reads nothing, one token reads `active` experts, and many read all of them.",
)
def expert_edges(rng):
    yield from ((0, 8, 2), (0, 4, 4), (6, 5, 5), (3, 1, 1), (400, 8, 2))
    yield 1, 64, int(rng.integers(2, 32))


expected_experts.bug(
    "n_experts * (1 - left_out)",
    "float(min(n_tokens * active, n_experts))",
    think="no two tokens choose the same expert while others are free.",
    because="the router looks at each token by itself, so two tokens can meet in one expert.",
)
expected_experts.bug(
    "(1 - active / n_experts) ** n_tokens",
    "(1 - 1 / n_experts) ** (n_tokens * active)",
    think="the choices of one token are independent of each other.",
    because="one token never chooses an expert twice: one token reads exactly `active` of them.",
)
expected_experts.bug(
    "n_experts * (1 - left_out)",
    "(active + (n_tokens - 1) * active * (1 - active / n_experts) if n_tokens else 0.0)",
    think="each further token finds as many new experts as the second one.",
    because="every token leaves fewer experts that are still new for the next one.",
)
expected_experts.bug(
    "n_experts * (1 - left_out)",
    "n_experts * left_out",
    think="n_experts (1 - active/n_experts)^n_tokens experts are read.",
    because="this is the number that no token chooses; the others are read.",
)
