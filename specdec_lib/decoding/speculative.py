"""Speculative decoding: a block of draft tokens for every pass of the target.

Leviathan et al. (2023), Algorithm 1; Chen et al. (2023), Algorithm 2. The tokens have the
distribution of plain decoding, and at temperature 0 they are the same tokens. Here all rows of a
batch go together, with any drafter; decoder.py is the same for one text and one draft model.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from specdec_lib.decoding.state import GenerationState, VerifiedBlock
from specdec_lib.decoding.verify import Verdict, require_finite_block, verify_rows
from specdec_lib.drafters.protocol import Drafter, Proposal
from specdec_lib.sampling import RandomSource


def decode_block(
    state: GenerationState,
    drafter: Drafter,
    k: int,
    random_source: RandomSource,
) -> list[VerifiedBlock | None]:
    """What one block of up to `k` draft tokens did in every active row (None in the others)."""
    limits = state.draft_limits(k)
    random_source.start_block(limits, state.active)

    # 1. Draft: tokens after each row, and the distributions q that they were drawn from.
    proposal = drafter.propose(state.sequences, limits, random_source)

    # 2. Score: one pass of the target gives p after each row and after each draft token.
    p, is_finite = state.score(proposal.tokens)

    # 3. Verify: the accepted draft tokens, from the first, and the correction or bonus.
    n_drafts = torch.tensor(proposal.limits).to(p.device, non_blocking=True)
    verdict = verify_rows(p, proposal.q, proposal.tokens, n_drafts, random_source)
    verdicts = to_host(is_finite, proposal, verdict)

    # 4. Append both to the text, up to its end.
    blocks = [
        append_block(state, row, proposal.limits[row], verdicts[row]) if active else None
        for row, active in enumerate(state.active)
    ]

    # 5. Roll back: the cache forgets the rejected tokens.
    state.roll_back()
    return blocks


class RowVerdict(NamedTuple):
    """The verdict on the n draft tokens of a row, in plain numbers."""

    drafted: list[int]  # (n,)
    count: int  # accepted tokens, from the first
    token: int  # the correction or bonus
    p: list[float]  # (n,) the target's probability of each draft token
    q: list[float]  # (n,) the draft's


def to_host(is_finite: Tensor, proposal: Proposal, verdict: Verdict) -> list[RowVerdict]:
    """The verdict on each row, on the host.

    The first transfer waits for all that a GPU has to do. Raises SpecdecError unless the target's
    logits in every row (`is_finite` (B,)) and the draft's distributions are finite.
    """
    require_finite_block(proposal.q, is_finite)
    count, token = torch.stack((verdict.count, verdict.token)).tolist()
    p, q = torch.stack((verdict.p.double(), verdict.q.double())).tolist()
    return list(map(RowVerdict, proposal.tokens.tolist(), count, token, p, q))


def append_block(
    state: GenerationState, row: int, limit: int, verdict: RowVerdict
) -> VerifiedBlock:
    """Append what a row accepted of its first `limit` draft tokens, and the token after them."""
    drafted, n_accepted, next_token, p, q = verdict
    accepted_tokens = drafted[:n_accepted]
    n_appended = state.append(row, [*accepted_tokens, next_token])
    accepted_tokens = accepted_tokens[:n_appended]
    has_bonus = n_appended > n_accepted == limit
    n = limit if n_appended > n_accepted else n_appended  # nothing after the end of the text
    block = VerifiedBlock(
        drafted[:n], accepted_tokens, next_token, n_appended, has_bonus, p[:n], q[:n]
    )
    state.blocks[row].append(block)
    return block
