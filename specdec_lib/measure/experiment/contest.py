"""Chapter 08's clock: plain decoding, a loop and Hugging Face's two, interleaved on the prompts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import NamedTuple

from specdec_lib.assets import ASSETS
from specdec_lib.measure import hugging
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.runs import GREEDY, Decoder, plain, straight
from specdec_lib.measure.core.timing import Spread, on_prompts, ratios
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Warp

POOL = 60  # prompts that greedy ones are chosen from
CHEN_K = 4  # Chen et al. (2023), Table 1


class Outcome(NamedTuple):
    """How many times as fast the loop was as each of the others, and at K = 4 as plain decoding."""

    empirical: Spread
    at_4: Spread
    over_hugging: Spread
    over_assisted: Spread

    def to_json(self) -> dict[str, dict[str, float]]:
        """As data, by name."""
        return {name: asdict(each) for name, each in self._asdict().items()}


def outcome_of(decoders: Mapping[str, Decoder], chosen: Sequence, rounds: int) -> Outcome:
    """The decoders of `contestants` and `hugging_sides` on all `chosen` prompts or texts."""
    seconds = on_prompts(decoders, chosen, rounds)
    over = {name: ratios(times, seconds["loop"]) for name, times in seconds.items()}
    at_4 = ratios(seconds["plain"], seconds["loop at 4"])
    return Outcome(over["plain"], at_4, over["hugging"], over["assisted"])


def contestants(
    target: Model, draft: Model, loop: Loop, k: int, warp: Warp, tokens: int
) -> dict[str, Decoder]:
    """Plain decoding and the loop, at K = `k` and at 4."""
    return {
        "plain": plain(target, warp, tokens),
        "loop": loop.decoder(target, draft, k, warp, tokens),
        "loop at 4": loop.decoder(target, draft, CHEN_K, warp, tokens),
    }


def hugging_sides(
    target: hugging.Counted, draft: hugging.Counted, k: int, warp: Warp, tokens: int
) -> dict[str, Decoder]:
    """Hugging Face `generate`, plain and assisted by `draft`."""
    run = partial(hugging.generate, target, new_tokens=tokens, sample=warp.temperature > 0)
    return {"hugging": run, "assisted": partial(run, draft=draft, k=k)}


@dataclass
class Contest:
    """One target, and everything that can decode it. `size` is its name in scale.COSTS."""

    machine: Machine
    size: str
    target: Llama
    loop: Loop

    def outcome(self, draft: str, k: int, ending: str, warp: Warp) -> Outcome:
        """With `draft` and K = `k`, on prompts from documents whose names end in `ending`."""
        effort, small = self.machine.effort, self.machine.drafts[draft]
        helper = hugging.Counted.of_folder(ASSETS / draft, small.dtype, small.device)
        decoders = contestants(self.target, small, self.loop, k, warp, effort.tokens)
        decoders |= hugging_sides(self.hugging, helper, k, warp, effort.tokens)
        return outcome_of(decoders, self.prompts(ending, warp), effort.rounds)

    @cached_property
    def hugging(self) -> hugging.Counted:
        """The same target in transformers."""
        return hugging.Counted.of_target(self.size, self.machine.dtype, self.machine.device)

    def prompts(self, ending: str, warp: Warp) -> Sequence[list[int]]:
        """Held-out prompts; for greedy runs those after which the built-in target has no loops."""
        effort = self.machine.effort
        if warp != GREEDY:
            return prompts(effort.prompts, ending=ending)
        decoder = plain(self.machine.targets["built-in"], GREEDY, effort.tokens)
        return straight(decoder, prompts(POOL, ending=ending), effort.prompts)
