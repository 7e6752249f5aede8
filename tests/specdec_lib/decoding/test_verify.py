"""The verdicts on a block of draft tokens, counted on grids and compared with a plain loop.

Where probabilities are multiples of 1/4 and the uniforms the midpoints of a fine enough grid, every
outcome has a whole number of grid points, and the counts are compared as integers.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from specdec_lib.decoding import verify
from specdec_lib.decoding.verify import accepts, residual_rows, verify_block
from specdec_lib.sampling import Uniforms, sample_from, sample_rows

GRID = 12  # midpoints: a multiple of every whole number up to 4
ALMOST_ONE = 1 - 2.0**-53  # the largest number below 1 in float64
DTYPES = [torch.float64, torch.float32]
F64 = torch.float64


def midpoints(count: int) -> Tensor:
    return (torch.arange(count, dtype=F64) + 0.5) / count


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """Every way to write `total` as a sum of `parts` whole numbers from 0."""
    return [c for c in product(range(total + 1), repeat=parts) if sum(c) == total]


QUARTERS = compositions(4, 3)  # every distribution over three tokens in quarters
PAIRS = torch.tensor([(p, q) for p in QUARTERS for q in QUARTERS], dtype=F64) / 4  # (225, 2, 3)


class Block(NamedTuple):
    """Random arguments of `verify_block`, B rows of K draft tokens over V tokens."""

    p: Tensor
    q: Tensor
    drafted: Tensor
    r: Tensor
    u: Tensor

    def row(self, b: int) -> "Block":
        return Block(*(tensor[b : b + 1] for tensor in self))


def random_block(seed: int, B: int, K: int, V: int) -> Block:
    """Some probabilities are 0; drafts are drawn from q."""
    rng = np.random.default_rng(seed)

    def distributions(*shape: int) -> np.ndarray:
        weights = rng.random((*shape, V)) * (rng.random((*shape, V)) < 0.8)
        weights[..., 0] += 1e-3
        return weights / weights.sum(-1, keepdims=True)

    p, q = distributions(B, K + 1), distributions(B, K)
    drafted = [[sample_from(q[b, i], rng.random()) for i in range(K)] for b in range(B)]
    numbers = (p, q, np.array(drafted).reshape(B, K), rng.random((B, K)), rng.random(B))
    return Block(*map(torch.from_numpy, numbers))


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_token_has_the_targets_distribution_whatever_the_draft(dtype: torch.dtype):
    # Every pair; the draft token four times over as q says; every r and u: 576 points a pair.
    cells = [
        (pair, token, r, u)
        for pair, (_, q) in enumerate((4 * PAIRS).long().tolist())
        for token in range(3)
        for _ in range(q[token])
        for r in range(GRID)
        for u in range(GRID)
    ]
    pair, drafted, r, u = torch.tensor(cells).T
    p, q = PAIRS[pair, 0], PAIRS[pair, 1]
    p_rows = torch.stack((p, p.roll(1, -1)), 1)
    grid = midpoints(GRID)
    count, correction = verify_block(
        p_rows.to(dtype), q[:, None].to(dtype), drafted[:, None], grid[r][:, None], grid[u]
    )
    accepted = torch.zeros(len(PAIRS), 3, dtype=torch.long)
    accepted.index_put_((pair, drafted), count, accumulate=True)
    written = torch.where(count == 1, drafted, correction)
    distribution = torch.zeros(len(PAIRS), 3, dtype=torch.long)
    distribution.index_put_((pair, written), torch.ones_like(pair), accumulate=True)
    assert torch.equal(accepted, (576 * PAIRS.amin(1)).long())
    assert torch.equal(distribution, (576 * PAIRS[:, 0]).long())


def judged(p: np.ndarray, q: np.ndarray, drafted: list[int], r: np.ndarray, u: float) -> list[int]:
    """The accepted tokens of a block and the one after them, by a plain loop."""
    for i, token in enumerate(drafted):
        if not r[i] * q[i][token] < p[i][token]:
            excess = np.maximum(p[i] - q[i], 0)
            return [*drafted[:i], sample_from(excess / excess.sum() if excess.any() else p[i], u)]
    return [*drafted, sample_from(p[len(drafted)], u)]


@pytest.mark.parametrize("V", [2, 5, 40])
@pytest.mark.parametrize("K", [0, 1, 2, 4, 7])
def test_a_plain_loop_gives_the_same(K: int, V: int):
    block = random_block(10 * K + V, 14, K, V)
    count, token = verify_block(*block)
    for b in range(14):
        p, q, drafted, r, u = (tensor[b].numpy() for tensor in block)
        written = [*drafted[: count[b]].tolist(), int(token[b])]
        assert written == judged(p, q, drafted.tolist(), r, u)


def test_a_row_with_a_limit_is_judged_as_a_shorter_block():
    block = random_block(3, 25, 4, 5)
    limits = torch.arange(25) % 5
    verdict = verify.verify_rows(*block[:3], limits, Uniforms.given(block.r, block.u))
    for b, n in enumerate(limits.tolist()):
        p, q, drafted, r, u = block.row(b)
        count, token = verify_block(p[:, : n + 1], q[:, :n], drafted[:, :n], r[:, :n], u)
        assert (int(verdict.count[b]), int(verdict.token[b])) == (int(count), int(token))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("r", [0.0, 0.5, 1 - 2.0**-24, ALMOST_ONE])
def test_a_draft_equal_to_the_target_is_accepted_for_every_r(r: float, dtype: torch.dtype):
    p = random_block(8, 50, 3, 30).p.to(dtype)
    drafted = p[:, :-1].argmax(-1)
    coins, u = torch.full((50, 3), r, dtype=F64), torch.full((50,), 0.5, dtype=F64)
    assert verify_block(p, p[:, :-1], drafted, coins, u)[0].tolist() == [3] * 50
    everything = p[p > 0]
    assert accepts(everything, everything, r).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_residual_is_a_distribution_without_nan(dtype: torch.dtype):
    p, q = (random_block(seed, 50, 0, 30).p[:, 0].to(dtype) for seed in (10, 11))
    q[::2] = p[::2] * (1 + torch.finfo(dtype).eps)  # equal up to rounding
    correction = residual_rows(p, q)
    assert correction.dtype == dtype and (correction >= 0).all()
    assert torch.allclose(correction.sum(-1), torch.ones(50, dtype=dtype))
    assert (correction[1::2][p[1::2] <= q[1::2]] == 0).all()


EDGES = torch.tensor([0.0, 2.0**-60, 0.25, 0.5, 0.75, 1 - 2.0**-24, ALMOST_ONE], dtype=F64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sample_rows_is_sample_from_row_by_row(dtype: torch.dtype):
    probs = random_block(12, 40, 0, 300).p[:, 0].to(dtype)
    for u in torch.cat((midpoints(16), EDGES)).tolist():
        tokens = sample_rows(probs, torch.full((40,), u, dtype=F64))
        assert tokens.tolist() == [sample_from(row.numpy(), u) for row in probs]
