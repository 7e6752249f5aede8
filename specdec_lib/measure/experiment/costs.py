"""c and v of every draft beside a target: measured once, used by the whole of chapter 08."""

from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

from specdec_lib.measure.costs import costs_from_times, interleave_draft_steps, pass_task
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.timing import interleaved_times
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import prefill
from specdec_lib.theory import Costs

PROMPT_TOKENS = 16
_PREFILL = "a prompt"  # a task that is no draft


class TargetCosts(NamedTuple):
    """The costs of `drafts` and the reading of a `prompt`, in passes over one token.

    Such a plain pass takes `seconds`.
    """

    drafts: dict[str, Costs]
    seconds: float
    prompt: float

    @property
    def v(self) -> Mapping[int, float]:
        """The target's passes by width."""
        return next(iter(self.drafts.values())).v


def measure_costs(target: Llama, drafts: Mapping[str, Llama], rounds: int) -> TargetCosts:
    """What every draft and every width costs, in `rounds` rounds by turns."""
    (text,) = prompts(1, PROMPT_TOKENS)
    steps = {name: pass_task(draft, 1) for name, draft in drafts.items()}
    tasks = interleave_draft_steps(target, steps)
    tasks[_PREFILL] = lambda: prefill(target, target.new_cache(1, len(text)), [text])
    times = interleaved_times(tasks, rounds)
    prompt_seconds = median(times.pop(_PREFILL))
    costs = costs_from_times(times)
    return TargetCosts(costs.by_draft, costs.pass_seconds, prompt_seconds / costs.pass_seconds)
