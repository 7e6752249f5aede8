"""c and v of every draft beside a target: measured once, used by the whole of chapter 08."""

from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

from specdec_lib.measure.costs import in_turn, pass_task, relative
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.timing import interleaved
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import prefill
from specdec_lib.theory import Costs

PROMPT = "a prompt"  # a task that is no draft
PROMPT_TOKENS = 16


class Found(NamedTuple):
    """The times of one target: `drafts` and the reading of a `prompt` in plain passes.

    `seconds` is a plain pass.
    """

    drafts: dict[str, Costs]
    seconds: float
    prompt: float

    @property
    def v(self) -> Mapping[int, float]:
        """The target's passes by width."""
        return next(iter(self.drafts.values())).v


def costs_on(target: Llama, drafts: Mapping[str, Llama], rounds: int) -> Found:
    """What every draft and every width costs, in `rounds` rounds by turns."""
    (text,) = prompts(1, PROMPT_TOKENS)
    tasks = in_turn(target, {name: pass_task(draft, 1) for name, draft in drafts.items()})
    tasks[PROMPT] = lambda: prefill(target, target.new_cache(1, len(text)), [text])
    times = interleaved(tasks, rounds)
    prompt = median(times.pop(PROMPT))
    costs, plain = relative(times)
    return Found(costs, plain, prompt / plain)
