"""The target's own guesses as the draft: Jacobi iteration, and a pool of the n-grams it found.

A verification gives the most probable token after every draft token, the rejected ones too. Drafted
next, these tokens are guesses of the text to come (Santilli et al., 2023). Lookahead decoding (Fu
et al., 2024) collects n-grams of such guesses; here they come from the verifications alone, without
the second window of passes that it runs for them.
"""

from collections.abc import Sequence

from specdec_lib.drafters.hidden import StateReader
from specdec_lib.drafters.protocol import Proposal, certain
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Cache, Texts
from specdec_lib.sampling import Choices, Warp

NGRAM = 4  # tokens of an n-gram in the pool, the one that it is found by included


class Jacobi(StateReader):
    """Drafts the tokens that `target` found most probable at these positions in its last pass.

    With `pool`, an n-gram that began with the last token takes precedence. A draft token is looked
    up, not drawn: its q is 1.
    """

    def __init__(self, target: Llama, pool: bool = False) -> None:
        super().__init__(target)
        self.pool = pool

    def start(self, texts: Texts, warp: Warp, capacity: int, cache: Cache | None = None) -> None:
        """An empty pool for every row: rows do not help each other."""
        self.pools: list[dict[int, list[int]]] = [{} for _ in texts]
        self.fed = [0] * len(texts)  # tokens of the latest block that were the row's own

    def propose(self, texts: Texts, limits: Sequence[int], choices: Choices) -> Proposal:
        """limits[b] guesses a row; if fewer are known, the last token is repeated."""
        fresh = self._fresh(self.newest(texts))
        drafted = []
        for row, (sequence, guesses) in enumerate(zip(texts, fresh, strict=True)):
            if self.pool:
                guesses = self.pools[row].get(sequence[-1], guesses)
            guesses = guesses + [[sequence[-1], *guesses][-1]] * limits[row]
            drafted.append(guesses[: limits[row]])
        self.fed = [1 + len(tokens) for tokens in drafted]
        return certain(drafted, self.vocab_size, self.device)

    def _fresh(self, columns: Sequence[int]) -> list[list[int]]:
        """The most probable tokens of the latest block's pass after each sequence.

        `columns` are those of the pass's newest states. Its n-grams go into the pool. The lists are
        empty in the first block, before which the passes only read the prompts.
        """
        if not any(self.fed):
            return [[] for _ in columns]
        every = self.target.head(self.hidden.states).argmax(-1).tolist()
        best = [tokens[:fed] for tokens, fed in zip(every, self.fed, strict=True)]
        for row, tokens in enumerate(best):
            self._learn(row, tokens)
        return [tokens[column + 1 :] for tokens, column in zip(best, columns, strict=True)]

    def _learn(self, row: int, best: list[int]) -> None:
        """Keep the pass's n-grams; a later one takes the place of an earlier."""
        for at in range(len(best) - NGRAM + 1):
            self.pools[row][best[at]] = best[at + 1 : at + NGRAM]
