"""Speculative decoding: a block of draft tokens for every pass of the target.

Leviathan et al. (2023), Algorithm 1; Chen et al. (2023), Algorithm 2. The tokens have the
distribution of plain decoding, and at temperature 0 they are the same tokens.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from specdec_lib.decoding.state import Block, Progress, Settings
from specdec_lib.decoding.verify import (
    Verdict,
    Verifier,
    finite_rows,
    packed,
    require_finite,
    verify,
)
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
        tokens = torch.tensor([text[-1:] for text in self.sequences])
        tokens = tokens.to(self.target.device, non_blocking=True)
        tokens = tokens if drafted is None else torch.cat((tokens, drafted), dim=1)
        logits = self.target.forward(tokens, self.cache, **how)
        return self.settings.warp(logits), finite_rows(logits).all(-1)

    def roll_back(self) -> None:
        """Let the cache forget what is not in the text."""
        self.cache.truncate([len(text) - 1 for text in self.sequences])


def decode_block(
    run: Run, drafter: Drafter, k: int, choices: Choices, verifier: Verifier = verify,
    mark: Callable[[], None] = lambda: None,
) -> list[Block | None]:  # fmt: skip
    """One block of up to `k` draft tokens in every running row; what happened there.

    The host waits for the device once: where it reads the verdict. `mark` is called at the start,
    after the draft and after that read.
    """
    mark()
    limits = run.limits(k)
    choices.begin(limits, run.running)

    # 1. Draft: tokens after each row, and the distributions q that they were drawn from.
    proposal = drafter.propose(run.sequences, limits, choices)
    mark()

    # 2. Score: one pass of the target gives p after each row and after each draft token.
    p, finite = run.score(proposal.tokens)

    # 3. Verify: the accepted draft tokens, from the first, and the correction or bonus.
    limits = torch.tensor(proposal.limits).to(p.device, non_blocking=True)
    verdict = verifier(p, proposal.q, proposal.tokens, limits, choices)
    judged = read(finite, proposal, verdict)
    mark()

    # 4. Keep: append both to the text, up to its end.
    blocks = [
        keep(run, row, proposal.limits[row], judged[row]) if running else None
        for row, running in enumerate(run.running)
    ]

    # 5. Roll back: the cache forgets the rejected tokens.
    run.roll_back()
    return blocks


def read(finite: Tensor, proposal: Proposal, verdict: Verdict) -> list[list[float]]:
    """What was judged, as rows of `packed` on the host, which waits for the device here.

    Raises ValueError if the target's logits in a row were not `finite` (B,), or the distributions
    of the draft.
    """
    sound = torch.stack((finite_rows(proposal.q).all(-1), finite), 1)
    table = torch.cat((sound, packed(proposal.tokens, verdict)), 1).tolist()
    for column, whose in enumerate(("drafter", "target")):
        require_finite(all(row[column] for row in table), whose)
    return [row[2:] for row in table]


def keep(progress: Progress, row: int, limit: int, judged: Sequence[float]) -> Block:
    """Append the accepted ones of the first `limit` draft tokens of a row, and the one after.

    `judged` is the row of `packed`.
    """
    most = len(judged) // 3  # draft tokens of a row
    accepted, token, *drafted = map(int, judged[: 2 + most])
    p, q = judged[2 + most : 2 + 2 * most], judged[2 + 2 * most :]
    path = drafted[:accepted]
    kept = progress.add(row, [*path, token])
    n = limit if kept > accepted else kept  # after the end of the text nothing is judged
    bonus = kept > accepted == limit
    return Block(drafted[:n], path[:kept], token, kept, bonus, p[:n], q[:n])
