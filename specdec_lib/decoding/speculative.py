"""Speculative decoding: a block of draft tokens for every pass of the target.

Leviathan et al. (2023), Algorithm 1; Chen et al. (2023), Algorithm 2. The tokens have the
distribution of plain decoding, and at temperature 0 they are the same tokens.
"""

from dataclasses import replace

import torch
from torch import Tensor

from specdec_lib.decoding.state import Block, Progress, Settings
from specdec_lib.decoding.verify import (
    Judged,
    Verdict,
    Verifier,
    finite_rows,
    packed,
    require_finite,
    unpacked,
    verify,
)
from specdec_lib.device import Stopwatch, sent
from specdec_lib.drafters.protocol import Drafter, Proposal
from specdec_lib.models.protocol import Model, Texts, prefill
from specdec_lib.sampling import Choices


class Run(Progress):
    """A generation by `target`, whose cache lacks just the last token of every row."""

    def __init__(self, target: Model, prompts: Texts, settings: Settings, capacity: int) -> None:
        super().__init__(prompts, settings)
        self.target, self.cache = target, target.new_cache(len(prompts), capacity)
        prefill(target, self.cache, prompts)

    def score(self, drafted: Tensor | None = None, **how) -> tuple[Tensor, Tensor]:
        """The target's distributions (B, n + 1, V): after each row, and after each draft token.

        One pass over every row's last token and `drafted` (B, n); `how` goes to the model. Also
        whether the logits of each row are finite (B,): whoever reads results looks at that first.
        """
        tokens = sent([text[-1:] for text in self.sequences], self.target.device)
        tokens = tokens if drafted is None else torch.cat((tokens, drafted), dim=1)
        logits = self.target.forward(tokens, self.cache, **how)
        return self.settings.warp(logits), finite_rows(logits).all(-1)

    def roll_back(self) -> None:
        """Let the cache forget what is not in the text."""
        self.cache.truncate([len(text) - 1 for text in self.sequences])


def decode_block(
    run: Run, drafter: Drafter, k: int, choices: Choices, verifier: Verifier = verify
) -> list[Block | None]:
    """One block of up to `k` draft tokens in every running row; what happened there.

    The host waits for the device once: where it reads the verdict.
    """
    watch, limits = Stopwatch(run.target.device), run.limits(k)
    watch.mark()
    choices.begin(limits, run.running)

    # 1. Draft: tokens after each row, and the distributions q that they were drawn from.
    proposal = drafter.propose(run.sequences, limits, choices)
    watch.mark()

    # 2. Score: one pass of the target gives p after each row and after each draft token.
    p, finite = run.score(proposal.tokens)

    # 3. Verify: the accepted draft tokens, from the first, and the correction or bonus.
    limits = sent(proposal.limits, p.device)
    verdict = verifier(p, proposal.q, proposal.tokens, limits, choices)
    rows = zip(proposal.limits, read(finite, proposal, verdict), strict=True)
    watch.mark()
    seconds = dict(zip(("draft_seconds", "verify_seconds"), watch.seconds(), strict=True))

    # 4. Keep: append both to the text, up to its end.
    blocks = [
        replace(keep(run, row, limit, judged), **seconds) if run.running[row] else None
        for row, (limit, judged) in enumerate(rows)
    ]

    # 5. Roll back: the cache forgets the rejected tokens.
    run.roll_back()
    return blocks


def read(finite: Tensor, proposal: Proposal, verdict: Verdict) -> list[Judged]:
    """What was judged in every row, on the host, which waits for the device here.

    Raises ValueError if the target's logits in a row were not `finite` (B,), or the distributions
    of the draft.
    """
    sound = torch.stack((finite_rows(proposal.q).all(-1), finite), 1)
    table = torch.cat((sound, packed(proposal.tokens, verdict)), 1).tolist()
    for column, whose in enumerate(("drafter", "target")):
        require_finite(all(row[column] for row in table), whose)
    return [unpacked(row[2:]) for row in table]


def keep(progress: Progress, row: int, limit: int, judged: Judged) -> Block:
    """Append the accepted ones of the first `limit` draft tokens of a row, and the one after."""
    drafted, accepted, token, p, q = judged
    path = drafted[:accepted]
    kept = progress.add(row, [*path, token])
    n = limit if kept > accepted else kept  # after the end of the text nothing is judged
    bonus = kept > accepted == limit
    return Block(drafted[:n], path[:kept], token, kept, bonus, p[:n], q[:n])
