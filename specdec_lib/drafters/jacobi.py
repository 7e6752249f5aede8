"""The target's own guesses as the draft: Jacobi iteration (Santilli et al., 2023).

A verification gives the most probable token after every draft token, the rejected ones too. Drafted
next, these tokens are guesses of the text to come.
"""

from collections.abc import Sequence

from specdec_lib.drafters.hidden import StateReader
from specdec_lib.drafters.protocol import Proposal, certain
from specdec_lib.models.protocol import Texts
from specdec_lib.sampling import Choices, Warp


class Jacobi(StateReader):
    """Drafts the tokens that `target` found most probable at these positions in its last pass.

    A draft token is looked up, not drawn: its q is 1.
    """

    def start(self, texts: Texts, warp: Warp, capacity: int) -> None:
        """Nothing to read: the passes of the target are handed over."""
        self.fed = [0] * len(texts)  # tokens of the latest block that were the row's own

    def propose(self, texts: Texts, limits: Sequence[int], choices: Choices) -> Proposal:
        """limits[b] guesses a row; if fewer are known, the last token is repeated."""
        fresh = self._fresh(self.newest(texts))
        drafted = []
        for row, (sequence, guesses) in enumerate(zip(texts, fresh, strict=True)):
            guesses = guesses + [[sequence[-1], *guesses][-1]] * limits[row]
            drafted.append(guesses[: limits[row]])
        self.fed = [1 + len(tokens) for tokens in drafted]
        return certain(drafted, self.vocab_size, self.device)

    def _fresh(self, columns: Sequence[int]) -> list[list[int]]:
        """The most probable tokens of the latest block's pass after each sequence.

        `columns` are those of the pass's newest states. The lists are empty in the first block,
        before which the passes only read the prompts.
        """
        if not any(self.fed):
            return [[] for _ in columns]
        every = self.target.head(self.hidden.states).argmax(-1).tolist()
        rows = zip(every, self.fed, columns, strict=True)
        return [tokens[:fed][column + 1 :] for tokens, fed, column in rows]
