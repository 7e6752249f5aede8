"""Speculative decoding: a block of draft tokens for every pass of the target.

Leviathan et al. (2023), Algorithm 1; Chen et al. (2023), Algorithm 2. The tokens have the
distribution of plain decoding, and at temperature 0 they are the same tokens. Here all rows of a
batch go together, with any drafter; decoder.py is the same for one text and one draft model.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.decoding.state import GenerationState, VerifiedBlock
from specdec_lib.decoding.verify import Verdict, Verifier, require_finite_block, verify_rows
from specdec_lib.device import Stopwatch
from specdec_lib.drafters.protocol import Drafter, Proposal
from specdec_lib.sampling import RandomSource


def decode_block(
    state: GenerationState,
    drafter: Drafter,
    k: int,
    random_source: RandomSource,
    verifier: Verifier = verify_rows,
) -> list[VerifiedBlock | None]:
    """What one block of up to `k` draft tokens did in every active row (None in the others)."""
    watch = Stopwatch(state.target.device)
    watch.mark()
    limits = state.draft_limits(k)
    random_source.start_block(limits, state.active)

    # 1. Draft: tokens after each row, and the distributions q that they were drawn from.
    proposal = drafter.propose(state.sequences, limits, random_source)
    watch.mark()

    # 2. Score: one pass of the target gives p after each row and after each draft token.
    p, is_finite = state.score(proposal.tokens)

    # 3. Verify: the accepted draft tokens, from the first, and the correction or bonus.
    n_drafts = torch.tensor(proposal.limits).to(p.device, non_blocking=True)
    verdict = verifier(p, proposal.q, proposal.tokens, n_drafts, random_source)
    host_verdict = to_host(is_finite, proposal, verdict)
    watch.mark()

    # 4. Append both to the text, up to its end.
    seconds = watch.seconds()
    blocks = [
        append_block(state, row, proposal.limits[row], host_verdict, seconds) if active else None
        for row, active in enumerate(state.active)
    ]

    # 5. Roll back: the cache forgets the rejected tokens.
    state.roll_back()
    return blocks


class HostVerdict(NamedTuple):
    """A verdict on the host, row by row, with the n draft tokens that it is about."""

    count: list[int]  # (B,) accepted tokens, from the first
    token: list[int]  # (B,) the correction or bonus
    drafted: list[list[int]]  # (B, n)
    p: list[list[float]]  # (B, n) the target's probability of each
    q: list[list[float]]  # (B, n) the draft's


def to_host(is_finite: Tensor, proposal: Proposal, verdict: Verdict) -> HostVerdict:
    """The verdict in plain numbers. The first transfer waits for all that a GPU has to do.

    Raises SpecdecError unless the target's logits in every row (`is_finite` (B,)) and the draft's
    distributions are finite.
    """
    require_finite_block(proposal.q, is_finite)
    count, token = torch.stack((verdict.count, verdict.token)).tolist()
    p, q = torch.stack((verdict.p.double(), verdict.q.double())).tolist()
    return HostVerdict(count, token, proposal.tokens.tolist(), p, q)


def append_block(
    state: GenerationState, row: int, limit: int, verdict: HostVerdict, seconds: list[float]
) -> VerifiedBlock:
    """Append what a row accepted of its first `limit` draft tokens, and the token after them."""
    n_accepted, next_token = verdict.count[row], verdict.token[row]
    accepted_tokens = verdict.drafted[row][:n_accepted]
    n_appended = state.append(row, [*accepted_tokens, next_token])
    accepted_tokens = accepted_tokens[:n_appended]
    has_bonus = n_appended > n_accepted == limit
    n = limit if n_appended > n_accepted else n_appended  # nothing after the end of the text
    drafted, p, q = verdict.drafted[row][:n], verdict.p[row][:n], verdict.q[row][:n]
    block = VerifiedBlock(
        drafted, accepted_tokens, next_token, n_appended, has_bonus, p, q, *seconds
    )
    state.blocks[row].append(block)
    return block
