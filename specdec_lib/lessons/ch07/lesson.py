"""Chapter 07, connections: its examples and the visible checks on them."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import numpy as np

from specdec_lib.lessons.ch02.lesson import P, Q
from specdec_lib.lessons.ch07.computed import accepted_in_turn, tree_speedup
from specdec_lib.lessons.checking import answers
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, visible_check
from specdec_lib.lessons.checking.lending import read_only
from specdec_lib.lessons.checking.tables import check_of, expect_tables

__all__ = ["P", "Q", "committed"]

# Beside P and Q, the pair that the whole chapter works on, a draft that fits the target badly.
POOR = read_only([0.05, 0.15, 0.20, 0.60])
# A pair of which a second candidate may pass or not.
THREE_P, THREE_Q = np.array([0.3, 0.6, 0.1]), np.array([0.2, 0.05, 0.75])

# The trees, the walk of the card and what was measured: toys.toml says what they are.
_TOYS = answers.read_tables(__package__, "toys.toml")
TREE, SHAPES = _TOYS["tree"], _TOYS["shapes"]
WALK_TOKENS, WALK_R, WALKED = _TOYS["walk_tokens"], read_only(_TOYS["walk_r"]), _TOYS["walked"]
POSITION_RATES, LAYERS, LAYER = (_TOYS[name] for name in ("position_rates", "layers", "layer"))

# How likely the i-th of six candidates of a place is the accepted one, by draft.
_DRAFTS = {"good draft": Q, "poor draft": POOR}
CANDIDATE_RATES = {name: accepted_in_turn(P, draft, 6) for name, draft in _DRAFTS.items()}


def toy_head(seed: int, scale: float = 1.0) -> SimpleNamespace:
    """A head in the three parts that head_step is given: states of two numbers, four tokens.

    A large `scale` takes its logits beyond what np.exp can do.
    """
    rng = np.random.default_rng(seed)
    table, layer, lm_head = (rng.integers(-9, 10, size) / 10 for size in ((4, 2), (2, 4), (4, 2)))
    return SimpleNamespace(
        embed=lambda token: table[token].copy(),
        layer=partial(_times, "layer", layer),
        logits=partial(_times, "logits", scale * lm_head),
        code=f"lesson.toy_head({seed}, {scale})",
    )


def _times(name: str, matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    if np.shape(x) != matrix.shape[1:]:
        raise ValueError(f"head.{name} reads {matrix.shape[1]} numbers, not {describe(x)}")
    return matrix @ x


def break_even_c() -> float:
    """The c from which the tree "two by two" is as fast as the chain of six, with draft Q."""
    names, shares = ("chain of six", "two by two"), accepted_in_turn(P, Q, 2)
    chain, tree = (tree_speedup(SHAPES[name], shares, 0.0) for name in names)
    return (chain - tree) / (6 * tree - 2 * chain)


TRUTHS = truths_of(
    __package__,
    prediction_07=sum(accepted_in_turn(P, Q, 2)),
    prediction_07_b=break_even_c(),
    prediction_07_c=float(1 + np.cumprod(POSITION_RATES["EAGLE-3"]).sum()),
)

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


@visible_check
def check_tree_attention_mask(function: Callable) -> None:
    """The calls in checks.toml, and the kind of the mask."""
    expect_tables(function, globals(), "tree_attention_mask")
    kind = np.asarray(function([-1])).dtype
    if kind.kind != "b":
        raise Different(f"tree_attention_mask([-1]) holds {kind}; a mask is True or False.")


check_one_hot_accept = check_of(globals(), "one_hot_accept")
check_multi_candidate_accept = check_of(globals(), "multi_candidate_accept")
check_walk_tree = check_of(globals(), "walk_tree")
check_head_step = check_of(globals(), "head_step")
check_tokens_from_positions = check_of(globals(), "tokens_from_positions")
