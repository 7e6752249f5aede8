"""Chapter 07, connections: its examples and the visible checks on them."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import numpy as np

from specdec_lib.lessons.ch02.lesson import P, Q
from specdec_lib.lessons.ch07.computed import accepted_in_turn
from specdec_lib.lessons.checking import answers
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.describing import describe
from specdec_lib.lessons.checking.examples import Different, visible_check
from specdec_lib.lessons.checking.lending import limit_calls, limit_lines, read_only
from specdec_lib.lessons.checking.tables import check_of, expect_tables

__all__ = ["P", "Q", "committed"]

# Beside P and Q, the pair that the whole chapter works on: toys.toml says what these are.
_TOYS = answers.read_tables(__package__, "toys.toml")
POOR, (THREE_P, THREE_Q) = read_only(_TOYS["poor"]), map(np.array, _TOYS["three"])
TREE, SHAPES, PLACES = _TOYS["tree"], _TOYS["shapes"], _TOYS["places"]
WALK_TOKENS, WALK_R, WALKED = _TOYS["walk_tokens"], read_only(_TOYS["walk_r"]), _TOYS["walked"]
POSITION_RATES, LAYERS, LAYER = (_TOYS[name] for name in ("position_rates", "layers", "layer"))

# How likely the i-th of six candidates of a place is the accepted one, by draft.
_DRAFTS = {"good draft": Q, "poor draft": POOR}
CANDIDATE_RATES = {name: accepted_in_turn(P, draft, 6) for name, draft in _DRAFTS.items()}


def toy_head(seed: int, scale: float = 1.0, calls: int = 1000) -> SimpleNamespace:
    """A head in the three parts that head_step is given: states of two numbers, four tokens.

    A large `scale` takes its logits beyond what np.exp can do. Its layer takes so many `calls`.
    """
    rng = np.random.default_rng(seed)
    table, layer, lm_head = (rng.integers(-9, 10, size) / 10 for size in ((4, 2), (2, 4), (4, 2)))
    return SimpleNamespace(
        embed=lambda token: table[token].copy(),
        layer=limit_calls(calls, partial(_times, "layer", layer), "head.layer", _TOYS["one_step"]),
        logits=partial(_times, "logits", scale * lm_head),
        code=f"lesson.toy_head({seed}, {scale}, {calls})",
    )


def _times(name: str, matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    if np.shape(x) != matrix.shape[1:]:
        raise ValueError(f"head.{name} reads {matrix.shape[1]} numbers, not {describe(x)}")
    return matrix @ x


with_an_end = partial(limit_lines, 50_000, why=_TOYS["endless"])
TRUTHS = truths_of(__package__)
answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


@visible_check
def check_tree_attention_mask(function: Callable) -> None:
    """The calls in checks.toml, and the kind of the mask."""
    expect_tables(with_an_end(function), globals(), "tree_attention_mask")
    kind = np.asarray(function([-1])).dtype
    if kind.kind != "b":
        raise Different(f"tree_attention_mask([-1]) holds {kind}; a mask is True or False.")


@visible_check
def check_walk_tree(function: Callable) -> None:
    """The calls in checks.toml, of a walk that may have no end."""
    expect_tables(with_an_end(function), globals(), "walk_tree")


check_one_hot_accept = check_of(globals(), "one_hot_accept")
check_multi_candidate_accept = check_of(globals(), "multi_candidate_accept")
check_head_step = check_of(globals(), "head_step")
check_tokens_from_positions = check_of(globals(), "tokens_from_positions")
