"""Speculative decoding: a block of draft tokens for every pass of the target.

Leviathan et al. (2023), Algorithm 1; Chen et al. (2023), Algorithm 2. The tokens have the
distribution of plain decoding, and at temperature 0 they are the same tokens. Here all rows of a
batch go together, with any drafter; decoder.py is the same for one text and one draft model.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.decoding.state import Block, Run
from specdec_lib.decoding.verify import Verdict, Verifier, finite_rows, require_finite, verify
from specdec_lib.device import Stopwatch
from specdec_lib.drafters.protocol import Drafter, Proposal
from specdec_lib.sampling import Choices


def decode_block(
    run: Run, drafter: Drafter, k: int, choices: Choices, verifier: Verifier = verify
) -> list[Block | None]:
    """What one block of up to `k` draft tokens did in every running row (None in the others)."""
    watch = Stopwatch(run.target.device)
    watch.mark()
    limits = run.limits(k)
    choices.begin(limits, run.running)

    # 1. Draft: tokens after each row, and the distributions q that they were drawn from.
    proposal = drafter.propose(run.sequences, limits, choices)
    watch.mark()

    # 2. Score: one pass of the target gives p after each row and after each draft token.
    p, finite = run.score(proposal.tokens)

    # 3. Verify: the accepted draft tokens, from the first, and the correction or bonus.
    counted = torch.tensor(proposal.limits).to(p.device, non_blocking=True)
    verdict = verifier(p, proposal.q, proposal.tokens, counted, choices)
    judged = read(finite, proposal, verdict)
    watch.mark()

    # 4. Keep: append both to the text, up to its end.
    seconds = watch.seconds()
    blocks = [
        keep(run, row, proposal.limits[row], judged, seconds) if running else None
        for row, running in enumerate(run.running)
    ]

    # 5. Roll back: the cache forgets the rejected tokens.
    run.roll_back()
    return blocks


class Judged(NamedTuple):
    """A verdict on the host, row by row, with the n draft tokens that it is about."""

    ends: list[list[int]]  # (B, 2) the number of accepted tokens, and the token after them
    drafted: list[list[int]]  # (B, n)
    p: list[list[float]]  # (B, n) the target's probability of each
    q: list[list[float]]  # (B, n) the draft's


def read(finite: Tensor, proposal: Proposal, verdict: Verdict) -> Judged:
    """The verdict in plain numbers. All of it comes in one transfer, which synchronises a GPU.

    Raises UsageError unless the target's logits in every row were `finite` (B,), and the draft's
    distributions too. float64 holds token ids exactly.
    """
    ends = finite_rows(proposal.q).all(-1), finite, verdict.count, verdict.token
    parts = torch.stack([each.double() for each in ends], 1), proposal.tokens, verdict.p, verdict.q
    table = torch.cat([part.double() for part in parts], 1).cpu()
    n = proposal.tokens.shape[1]
    sound, ends, drafted, p, q = table.split((2, 2, n, n, n), 1)
    for whose, column in zip(("drafter", "target"), sound.unbind(1), strict=True):
        require_finite(bool(column.all()), whose)
    return Judged(ends.long().tolist(), drafted.long().tolist(), p.tolist(), q.tolist())


def keep(run: Run, row: int, limit: int, judged: Judged, seconds: list[float]) -> Block:
    """Append what a row accepted of its first `limit` draft tokens, and the token after them."""
    accepted, token = judged.ends[row]
    path = judged.drafted[row][:accepted]
    kept = run.add(row, [*path, token])
    n = limit if kept > accepted else kept  # after the end of the text nothing is judged
    drafted, p, q = (part[row][:n] for part in (judged.drafted, judged.p, judged.q))
    bonus = kept > accepted == limit
    run.blocks[row].append(Block(drafted, path[:kept], token, kept, bonus, p, q, *seconds))
    return run.blocks[row][-1]
