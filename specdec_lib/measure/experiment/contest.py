"""Chapter 08's clock: plain decoding and a loop take turns, then a loop and Hugging Face's two."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from specdec_lib.assets import ASSETS
from specdec_lib.device import name_of
from specdec_lib.measure import hugging
from specdec_lib.measure.core.disturbance import disturbance
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.models import dtypes
from specdec_lib.measure.core.runs import GREEDY, Decoder, plain, straight
from specdec_lib.measure.core.timing import Spread, interleaved, on_turns, ratios
from specdec_lib.measure.experiment.budget import Part
from specdec_lib.measure.experiment.loops import Loop
from specdec_lib.measure.experiment.machine import Machine
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Warp

POOL = 60  # prompts that greedy ones are chosen from
CHEN_K = 4  # Chen et al. (2023), Table 1
AT_4 = "loop at 4"
SIDES = ("hugging", "assisted")
TURNS = "turns on the prompts"
HUGGING_TURNS = "turns beside Hugging Face"
TRIAL = 12  # tokens after which a setting of Hugging Face is called the fastest
# Plain generations that loading Hugging Face's target takes, and finding its best settings.
LOADING, CHOOSING = 4, 8


class Outcome(NamedTuple):
    """How many times as fast the loop was as each of the others, and at K = 4 as plain decoding.

    Those over Hugging Face are None where it was not run. `hugging` and `assisted` are the settings
    that it ran with, and `disturbed` says why the times are not to be trusted, or is None.
    """

    empirical: Spread
    at_4: Spread
    over_hugging: Spread | None
    over_assisted: Spread | None
    hugging: str | None = None
    assisted: str | None = None
    disturbed: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As data, by name."""
        parts = self._asdict().items()
        return {name: asdict(each) if is_dataclass(each) else each for name, each in parts}


class Side(NamedTuple):
    """One of Hugging Face's decoders, and its settings in words."""

    settings: str
    decoder: Decoder


def outcome_of(
    ours: Mapping[str, Decoder], theirs: Mapping[str, Side], turns: Iterable, rounds: int = 1
) -> Outcome:
    """The decoders of `contestants`, and Hugging Face's by name in SIDES, on all `turns`.

    A turn is a prompt or a text.
    """
    decoders = ours | {name: side.decoder for name, side in theirs.items()}
    seconds = on_turns(decoders, turns, rounds)
    over = {name: ratios(times, seconds["loop"]) for name, times in seconds.items()}
    at_4 = over["plain"] if AT_4 not in seconds else ratios(seconds["plain"], seconds[AT_4])
    # What does the same work in every turn; a loop's work depends on what is accepted.
    steady = {name: seconds[name] for name in ("plain", "hugging") if name in seconds}
    return Outcome(
        over["plain"], at_4, *map(over.get, SIDES),
        *(theirs[name].settings if name in theirs else None for name in SIDES),
        disturbance(steady),
    )  # fmt: skip


def with_hugging(
    outcome: Outcome, loop: Decoder, theirs: Mapping[str, Side], turns: Iterable
) -> Outcome:
    """`outcome`, and the loop over Hugging Face's two, in `turns` of these three alone."""
    seconds = on_turns({"loop": loop} | {n: side.decoder for n, side in theirs.items()}, turns)
    over = (ratios(seconds[name], seconds["loop"]) for name in SIDES)
    disturbed = outcome.disturbed or disturbance({"hugging": seconds["hugging"]})
    settings = (theirs[name].settings for name in SIDES)
    return Outcome(outcome.empirical, outcome.at_4, *over, *settings, disturbed)


def contestants(
    best: Model, target: Model, draft: Model, loop: Loop, k: int, warp: Warp, tokens: int
) -> dict[str, Decoder]:
    """Plain decoding by `best`, the target where it is fastest, and the loop at `k` and at 4."""
    ours = {
        "plain": plain(best, warp, tokens),
        "loop": loop.decoder(target, draft, k, warp, tokens),
    }
    return ours if k == CHEN_K else ours | {AT_4: loop.decoder(target, draft, CHEN_K, warp, tokens)}


def hugging_sides(
    targets: Mapping[str, hugging.Counted],
    draft: hugging.Counted,
    ks: Mapping[str, int | None],
    warp: Warp,
    tokens: int,
) -> tuple[dict[str, Decoder], dict[str, Decoder]]:
    """Hugging Face `generate`, plain and assisted by `draft`, in every setting, by its name."""
    run = partial(hugging.generate, new_tokens=tokens, sample=warp.temperature > 0)
    generate = {name: partial(run, target) for name, target in targets.items()}
    assisted = {
        f"{name}, {words}": partial(run, target, draft=draft, k=k)
        for name, target in targets.items()
        for words, k in ks.items()
    }
    return generate, assisted


def fastest(decoders: Mapping[str, Decoder], prompt: Sequence[int]) -> str:
    """The name of the one that is done first with `prompt`; they take turns."""
    if len(decoders) == 1:
        return next(iter(decoders))
    tasks = {name: partial(decoder, prompt) for name, decoder in decoders.items()}
    seconds = interleaved(tasks, rounds=1)
    return min(seconds, key=lambda name: seconds[name])


class Setting(NamedTuple):
    """What is run: a draft, K, and prompts from documents whose names end in `ending`."""

    draft: str
    k: int
    ending: str
    warp: Warp


@dataclass
class Contest:
    """One target, by its name in `Machine.targets`, and everything that can decode it."""

    machine: Machine
    size: str
    loop: Loop

    def outcome(self, setting: Setting, part: Part, where: str = "the loop") -> Outcome:
        """The loop beside plain decoding in as many turns as fit; then, if there is time, beside
        Hugging Face.

        Loading Hugging Face's model takes longer than several turns, so the turns come first.
        `where` is what Hugging Face is run beside, for the line that says that it was left out.
        """
        draft, k, ending, warp = setting
        part.note("the prompts are chosen")
        chosen, effort = self.prompts(ending, warp), self.machine.effort
        target, small = self.machine.targets[self.size], self.machine.drafts[draft]
        best = self.machine.best_plain(self.size)
        ours = contestants(best, target, small, self.loop, k, warp, effort.tokens)
        turns = chosen * effort.rounds
        outcome = outcome_of(ours, {}, part.each(turns, TURNS, first=2))
        if not part.fits(self.hugging_seconds(), f"Hugging Face beside {where}"):
            return outcome
        try:
            theirs = self.sides(setting, part)
            beside = part.each(turns, HUGGING_TURNS, first=2)
            return with_hugging(outcome, ours["loop"], theirs, beside)
        except Exception as error:  # another program's; what was measured without it stands
            print(f"Hugging Face beside {where} failed: {type(error).__name__}: {error}")
            return outcome

    def sides(self, setting: Setting, part: Part) -> dict[str, Side]:
        """Hugging Face's two decoders, each in the settings that are fastest for it here."""
        part.note("Hugging Face's model is loaded")
        draft, k, ending, warp = setting
        small = self.machine.drafts[draft]
        helper = hugging.Counted.of_folder(ASSETS / draft, small.dtype, small.device)
        ks = {f"K = {k}": k, "K of its own": None}
        found, tried = (
            hugging_sides(self.hugging, helper, ks, warp, tokens)
            for tokens in (self.machine.effort.tokens, TRIAL)
        )
        (prompt,) = prompts(1, ending=ending)
        sides = {}
        for name, decoders, trials in zip(SIDES, found, tried, strict=True):
            part.note(f"which settings are best for Hugging Face, {name}")
            best = fastest(trials, prompt)
            sides[name] = Side(best, decoders[best])
        return sides

    def least_seconds(self) -> float:
        """About how long the first turn takes at most, with a round before it that warms up."""
        return 2 * 3 * self._generation

    def hugging_seconds(self) -> float:
        """As `least_seconds`, for the loop and Hugging Face's two, which are loaded and chosen."""
        loaded = "hugging" in self.__dict__ or self.machine.device.type != "cpu"
        first = CHOOSING if loaded else LOADING + CHOOSING
        return (first + 2 * (1 + len(SIDES))) * self._generation

    @property
    def _generation(self) -> float:
        """The seconds of a plain generation, the prompt with it."""
        found = self.machine.costs[self.size]
        return found.seconds * (found.prompt + self.machine.effort.tokens)

    @cached_property
    def hugging(self) -> dict[str, hugging.Counted]:
        """The same target in transformers: on a GPU on the same tensors.

        A CPU has packed them, so there it is loaded, in every dtype that may be its fastest.
        """
        device = self.machine.device
        if device.type != "cpu":
            target = self.machine.targets[self.size]
            return {name_of(target.dtype): hugging.Counted.of_llama(target)}
        return {name_of(d): hugging.Counted.of_target(self.size, d) for d in dtypes()}

    def prompts(self, ending: str, warp: Warp) -> list[list[int]]:
        """Held-out prompts; for greedy runs those after which the built-in target has no loops."""
        effort = self.machine.effort
        if warp != GREEDY:
            return prompts(effort.prompts, ending=ending)
        decoder = plain(self.machine.targets["built-in"], GREEDY, effort.tokens)
        return straight(decoder, prompts(POOL, ending=ending), effort.prompts)
