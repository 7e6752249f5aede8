"""Speculative decoding: a block of draft tokens for every pass of the target.

Leviathan et al. (2023), Algorithm 1; Chen et al. (2023), Algorithm 2. The tokens have the
distribution of plain decoding, and at temperature 0 they are the same tokens.
"""

import time
from dataclasses import replace

import torch
from torch import Tensor

from specdec_lib.decoding.state import Block, Progress, Settings
from specdec_lib.decoding.verify import Verifier, finite_rows, require_finite, verify
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.models.protocol import Model, Texts, prefill
from specdec_lib.sampling import Choices


class Run(Progress):
    """A generation by `target`, whose cache lacks just the last token of every row."""

    def __init__(self, target: Model, prompts: Texts, settings: Settings, capacity: int) -> None:
        super().__init__(prompts, settings)
        self.target, self.cache = target, target.new_cache(len(prompts), capacity)
        prefill(target, self.cache, prompts)

    def score(self, drafted: Tensor | None = None, **how) -> Tensor:
        """The target's distributions (B, n + 1, V): after each row, and after each draft token.

        One pass over every row's last token and `drafted` (B, n); `how` goes to the model.
        """
        tokens = torch.tensor([text[-1:] for text in self.sequences], device=self.target.device)
        tokens = tokens if drafted is None else torch.cat((tokens, drafted), dim=1)
        logits = self.target.forward(tokens, self.cache, **how)
        require_finite(bool(finite_rows(logits).all()), "target")
        return self.settings.warp(logits)

    def roll_back(self) -> None:
        """Let the cache forget what is not in the text."""
        self.cache.truncate([len(text) - 1 for text in self.sequences])


def decode_block(
    run: Run, drafter: Drafter, k: int, choices: Choices, verifier: Verifier = verify
) -> list[Block | None]:
    """One block of up to `k` draft tokens in every running row; what happened there."""
    begun, limits = time.perf_counter(), run.limits(k)
    choices.begin(limits, run.running)

    # 1. Draft: tokens after each row, and the distributions q that they were drawn from.
    proposal = drafter.propose(run.sequences, limits, choices)
    require_finite(bool(finite_rows(proposal.q).all()), "drafter")
    drafted = time.perf_counter()

    # 2. Score: one pass of the target gives p after each row and after each draft token.
    p = run.score(proposal.tokens)

    # 3. Verify: the accepted draft tokens, from the first, and the correction or bonus.
    limits = torch.tensor(proposal.limits, device=p.device)
    verdict = verifier(p, proposal.q, proposal.tokens, limits, choices)
    columns = [each.tolist() for each in (proposal.tokens, *verdict)]
    seconds = {"draft_seconds": drafted - begun, "verify_seconds": time.perf_counter() - drafted}

    # 4. Keep: append both to the text, up to its end.
    blocks = [
        replace(keep(run, row, *judged), **seconds) if run.running[row] else None
        for row, judged in enumerate(zip(proposal.limits, *columns, strict=True))
    ]

    # 5. Roll back: the cache forgets the rejected tokens.
    run.roll_back()
    return blocks


def keep(
    progress: Progress, row: int, limit: int, drafted: list[int], accepted: int, token: int,
    p: list[float], q: list[float],
) -> Block:  # fmt: skip
    """Append the `accepted` tokens of the first `limit` that were drafted, and the one after."""
    path = drafted[:accepted]
    kept = progress.add(row, [*path, token])
    n = limit if kept > accepted else kept  # after the end of the text nothing is judged
    bonus = kept > accepted == limit
    return Block(drafted[:n], path[:kept], token, kept, bonus, p[:n], q[:n])
