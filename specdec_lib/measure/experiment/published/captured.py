"""A published pair in captured steps: what its draft costs there, and how fast it decodes.

The K that is best where the host starts every kernel is not the best one here: a draft's step takes
as long as its weights are read, and no longer as its layers are started. A wider pass of the target
starts no more kernels than a narrow one, so there it costs little more; replayed it may.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import median

from specdec_lib.decoding.fixed_shape.step import FixedModel
from specdec_lib.decoding.state import Generation
from specdec_lib.measure.core.costs import K_MAX, graph_task
from specdec_lib.measure.core.runs import Graphs, decoder
from specdec_lib.measure.core.timing import Spread, interleaved, on_turns, ratios
from specdec_lib.measure.experiment.budget import Part
from specdec_lib.measure.experiment.contest import TURNS
from specdec_lib.measure.experiment.machine import Effort
from specdec_lib.models.hf import EncoderDecoder
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair
from specdec_lib.models.protocol import Model
from specdec_lib.models.t5 import T5Decoder
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs

ROOM = 512  # tokens of the longest source
SOURCE = "The house is wonderful. " * 20
ROUNDS = 10  # of bare passes


class Captured:
    """A pair in steps of fixed shape; on a GPU these are CUDA graphs."""

    def __init__(self, pair: Pair, target: FixedModel, draft: FixedModel) -> None:
        self.pair, self.target, self.draft = pair, target, draft

    @cached_property
    def c(self) -> float:
        """A replayed step of the draft over one of the target."""
        self._prompt(SOURCE, self.target, self.draft)
        steps = {"target": graph_task(self.target, 1), "draft": graph_task(self.draft, 1)}
        seconds = {name: median(each) for name, each in interleaved(steps, ROUNDS).items()}
        return seconds["draft"] / seconds["target"]

    def v(self) -> dict[int, float]:
        """Replayed passes of the target by width, up to K_MAX + 1 tokens, in passes over one."""
        self._prompt(SOURCE, self.target)
        tasks = {width: graph_task(self.target, width) for width in range(1, K_MAX + 2)}
        seconds = {width: median(each) for width, each in interleaved(tasks, ROUNDS).items()}
        return {width: each / seconds[1] for width, each in seconds.items()}

    def best_k(self, alpha: float, v: Mapping[int, float]) -> int:
        """The K that promises most with the c of replayed steps and such a `v`; at least 1."""
        return max(1, Costs(self.c, v).best_k(alpha))

    def speedup(
        self, texts: Sequence[str], k: int, effort: Effort, warp: Warp, part: Part
    ) -> Spread:
        """The library's decoder over plain decoding, both captured.

        Every text makes its graphs first, uncounted; then they take as many turns as fit.
        """
        tokens = effort.tokens
        plain = decoder(Graphs(self.target, None, 0), warp, tokens)
        drafting = decoder(Graphs(self.target, self.draft, k), warp, tokens)

        def run_plain(text: str) -> Generation:
            return plain(self._prompt(text, self.target))

        def run_drafting(text: str) -> Generation:
            return drafting(self._prompt(text, self.target, self.draft))

        decoders = {"plain": run_plain, "speculative": run_drafting}
        for run in decoders.values():
            for text in texts:
                run(text)
        seconds = on_turns(decoders, part.each(list(texts) * effort.rounds, TURNS, first=2))
        return ratios(seconds["plain"], seconds["speculative"])

    def _prompt(self, text: str, *models: FixedModel) -> list[int]:
        """What decoding starts from; a T5 reads the text before, each of `models` for itself."""
        for model in models:
            if isinstance(model, T5Decoder):
                model.read(self.pair.tokenizer.encode(text))
        is_t5 = isinstance(self.target, T5Decoder)
        return self.target.prompt if is_t5 else self.pair.prompt(text)


def in_fixed_shapes(model: Model) -> FixedModel | None:
    """A model as steps of fixed shape take it; None if nothing captures its passes."""
    if isinstance(model, Llama):
        return model
    takes = isinstance(model, EncoderDecoder) and T5Decoder.takes(model)
    return T5Decoder(model, ROOM) if takes else None
