"""Decoders by turns on the same prompts: plain, ours, Hugging Face's two. Chapter 08's clock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import NamedTuple

from tqdm import tqdm

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.state import Generation
from specdec_lib.measure import hugging
from specdec_lib.measure.bench.comparisons import hugging_target
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import GREEDY, Decoder, plain, straight
from specdec_lib.measure.core.timing import Spread, interleaved, ratios
from specdec_lib.measure.experiment.ours import Ours
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp

POOL = 60  # prompts that greedy ones are chosen from
CHEN_K = 4  # Chen et al. (2023), Table 1


class Outcome(NamedTuple):
    """How many times as fast our decoder was as each of the others, and at K = 4 as plain."""

    empirical: Spread
    at_4: Spread
    over_hugging: Spread
    over_assisted: Spread

    def to_json(self) -> dict[str, dict[str, float]]:
        """As data, by name."""
        return {name: asdict(each) for name, each in self._asdict().items()}


@dataclass
class Contest:
    """One target, and everything that can decode it. `cost` is its name in scale.COSTS."""

    machine: Machine
    cost: str
    target: Llama
    ours: Ours

    def outcome(self, draft: str, k: int, ending: str, warp: Warp) -> Outcome:
        """Ours with `draft` and K = `k`, on prompts from documents whose names end in `ending`."""
        effort = self.machine.effort
        tasks = self.decoders(draft, k, warp)
        chosen = self.prompts(ending, warp)
        seconds = by_turns(tasks, chosen, effort.rounds)
        over = {name: ratios(taken, seconds["ours"]) for name, taken in seconds.items()}
        at_4 = ratios(seconds["plain"], seconds["ours at 4"])
        return Outcome(over["plain"], at_4, over["hugging"], over["assisted"])

    def decoders(self, draft: str, k: int, warp: Warp) -> dict[str, Decoder]:
        """All that take turns, by name."""
        target, tokens = self.target, self.machine.effort.tokens
        small = self.machine.drafts[draft]
        theirs = partial(
            hugging.generate, self.hugging, new_tokens=tokens, sample=warp.temperature > 0
        )
        helper = hugging.Counted.of_folder(ASSETS / draft, small.dtype, small.device)
        return {
            "plain": plain(target, warp, tokens),
            "ours": self.ours.decoder(target, small, k, warp, tokens),
            "ours at 4": self.ours.decoder(target, small, CHEN_K, warp, tokens),
            "hugging": theirs,
            "assisted": partial(theirs, draft=helper, k=k),
        }

    @cached_property
    def hugging(self) -> hugging.Counted:
        """The same target in transformers."""
        return hugging_target(self.cost, self.machine.dtype, self.machine.device)

    def prompts(self, ending: str, warp: Warp) -> Sequence[list[int]]:
        """Held-out prompts; for greedy runs those behind which the built-in target has no loops."""
        effort = self.machine.effort
        if warp != GREEDY:
            return prompts(effort.prompts, ending=ending)
        decoder = plain(self.machine.targets["built-in"], GREEDY, effort.tokens)
        return straight(decoder, prompts(POOL, ending=ending), effort.prompts)


def by_turns(
    decoders: Mapping[str, Decoder], chosen: Sequence[list[int]], rounds: int
) -> dict[str, list[float]]:
    """The seconds of every decoder on every prompt and round; a first turn is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in decoders}
    for number, prompt in enumerate(tqdm(chosen, desc="prompts", leave=False, disable=None)):
        tasks: dict[str, Callable[[], Generation]] = {
            name: partial(decode, prompt) for name, decode in decoders.items()
        }
        for name, taken in interleaved(tasks, rounds, warm_up=number == 0).items():
            seconds[name] += taken
    return seconds
