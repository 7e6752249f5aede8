"""c and v of every draft beside a target: measured once, used by the whole of chapter 08."""

from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple

from specdec_lib.assets import ASSETS
from specdec_lib.drafters.early_exit import EarlyExit
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.measure.core.acceptance import NGRAMS
from specdec_lib.measure.core.costs import Task, in_turn, pass_task, relative
from specdec_lib.measure.core.disturbance import disturbance
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.measure.experiment.budget import Part
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import prefill
from specdec_lib.sampling import Greedy, Warp
from specdec_lib.theory import Costs

LOOKUP, EARLY_EXIT = "prompt lookup", "early exit"
NGRAM = 3  # tokens that prompt lookup looks for at most
PLAIN, PROMPT = "a plain pass", "a prompt"  # tasks that are no draft
PROMPT_TOKENS = 64  # as held_out.prompts has them


class Found(NamedTuple):
    """The times of one target. `drafts` are in plain passes where plain decoding is fastest.

    So is `prompt`, the reading of a prompt. `seconds` is such a plain pass. `disturbed` says why
    the times are not to be trusted, or is None.
    """

    drafts: dict[str, Costs]
    seconds: float
    prompt: float
    disturbed: str | None

    @property
    def v(self) -> Mapping[int, float]:
        """The target's passes by width."""
        return next(iter(self.drafts.values())).v


def costs_on(
    target: Llama, best: Llama, drafts: Mapping[str, Llama], rounds: int, part: Part
) -> Found:
    """What every draft and every width costs, in up to `rounds` rounds that take turns.

    `best` is the target in the dtype in which plain decoding is fastest. A first round counts only
    if `part` has no time for another: what is done for the first time is slower.
    """
    part.note("the tasks are made ready")
    tasks = in_turn(target, steps(target, drafts))
    tasks |= {PLAIN: pass_task(best, 1), PROMPT: prompt_task(target)}
    times: dict[int | str, list[float]] = {key: [] for key in tasks}
    first = interleaved(tasks, rounds=1, warm_up=0)
    if not part.fits(0, "all rounds of bare passes but one"):
        return found_of(first)
    for _ in part.each(range(rounds), "rounds of bare passes"):
        for key, taken in interleaved(tasks, rounds=1, warm_up=0).items():
            times[key] += taken
    return found_of(times)


def found_of(times: Mapping[int | str, list[float]]) -> Found:
    """The medians of the times of `costs_on`, in plain passes."""
    costs, plain = relative({key: each for key, each in times.items() if key != PROMPT}, PLAIN)
    return Found(costs, plain, median(times[PROMPT]) / plain, disturbance(times))


def prompt_task(target: Llama) -> Callable[[], object]:
    """The reading of a held-out prompt."""
    (text,) = prompts(1, PROMPT_TOKENS)
    return lambda: prefill(target, target.new_cache(1, len(text)), [text])


def steps(target: Llama, drafts: Mapping[str, Llama]) -> dict[str, Task]:
    """One draft token of every draft, model or not, by name."""
    tasks: dict[str, Task] = {name: pass_task(draft, 1) for name, draft in drafts.items()}
    return tasks | {name: step_task(each, target) for name, each in other_drafters(target).items()}


def other_drafters(target: Llama) -> dict[str, Drafter]:
    """The drafters that are no model of their own."""
    counts = Counts.load(ASSETS / "ngrams.npz")
    ngrams = {name: NgramDrafter(counts, order, target.device) for name, order in NGRAMS.items()}
    return ngrams | {
        LOOKUP: PromptLookup(target.vocab_size, target.device, NGRAM),
        EARLY_EXIT: EarlyExit(target, exit_layer()),
    }


def exit_layer() -> int:
    """Where the early exit leaves the built-in target: after half of its layers."""
    return read_shape(ASSETS / "target").layers // 2


def step_task(drafter: Drafter, target: Llama) -> Task:
    """One draft token of a drafter, after a held-out prompt, as a task that can be timed."""
    texts = prompts(1, PROMPT_TOKENS)
    capacity = len(texts[0]) + 1
    cache = target.new_cache(1, capacity)
    prefill(target, cache, texts)
    drafter.start(texts, Warp(temperature=0), capacity, cache)
    return lambda: drafter.propose(texts, [1], Greedy())
