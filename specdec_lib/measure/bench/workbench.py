"""The models of the bench, loaded once, and the settings that their measured costs make best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import torch

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core import held_out
from specdec_lib.measure.core.acceptance import Acceptance, acceptance, model_reader
from specdec_lib.measure.core.costs import costs_of
from specdec_lib.measure.core.runs import GREEDY, plain, straight
from specdec_lib.models.llama import Llama
from specdec_lib.models.pairs import cost_label
from specdec_lib.models.scale import scaled
from specdec_lib.sampling import Warp
from specdec_lib.theory import Costs

DTYPES = (torch.float32, torch.bfloat16)
CPU = torch.device("cpu")


class Choice(NamedTuple):
    """A dtype, a draft and a K, and what the cost model expects of them."""

    dtype: torch.dtype
    draft: str
    k: int
    speedup: float  # over plain decoding in the same dtype
    tokens_per_second: float

    @property
    def drafter(self) -> ModelDrafter:
        """The drafter."""
        return ModelDrafter(draft(self.draft))


@dataclass
class Workbench:
    """What the figures share; `notes` are printed below the table."""

    pool: Sequence[list[int]]  # prompts to choose from
    most: int  # prompts a comparison
    tokens: int  # new tokens a prompt
    notes: list[str] = field(default_factory=list)
    card: torch.device | None = None  # where the GPU figures are measured
    mode: str | None = None  # how layers are compiled there (compiled.MODES); None: not at all
    smaller: dict[str, str] = field(default_factory=dict)  # sizes in place of those without room
    _straight: dict[tuple, list[list[int]]] = field(default_factory=dict)

    def prompts_for(
        self, warp: Warp, dtype: torch.dtype, device: torch.device = CPU
    ) -> Sequence[list[int]]:
        """The prompts of a comparison; for greedy figures, those whose text does not loop.

        The built-in target finds them, in the dtype that is measured: the texts of two dtypes part.
        """
        if warp != GREEDY:
            return self.pool[: self.most]
        if (dtype, device) not in self._straight:
            decoder = plain(target(None, dtype, device), GREEDY, self.tokens)
            self._straight[dtype, device] = straight(decoder, self.pool, self.most)
        return self._straight[dtype, device]

    def best(self, cost: str | None, warp: Warp, dtypes: Sequence[torch.dtype] = DTYPES) -> Choice:
        """The dtype, draft and K that the cost model makes fastest, from bare passes."""
        found = [each for dtype in dtypes for each in options_for(cost, dtype)[warp.temperature]]
        best = self.fastest(f"{cost or 'built-in'} at temperature {warp.temperature:g}", found)
        if cost is not None:
            self.notes.append(f"{cost}: {cost_label(cost, best.draft)}")
        return best

    def fastest(self, name: str, found: Sequence[Choice]) -> Choice:
        """The choice that the cost model makes fastest, with a note."""
        best = max(found, key=lambda choice: choice.tokens_per_second)
        self.notes.append(
            f"{name}: {best.dtype}, the {best.draft} draft and K = {best.k}; "
            f"expected {best.speedup:.2f} times plain decoding"
        )
        return best


@cache
def target(cost: str | None, dtype: torch.dtype, device: torch.device = CPU) -> Llama:
    """The built-in target, or it at the cost of a larger one."""
    folder = ASSETS / "target"
    if cost is None:
        return Llama.from_folder(folder, device, dtype)
    return scaled(folder, cost, device, dtype)


@cache
def draft(name: str) -> Llama:
    """A built-in draft, in the dtype that it is fastest in on a CPU, whatever the target's is."""
    return Llama.from_folder(ASSETS / name, dtype=torch.float32)


@cache
def accepted(name: str) -> Acceptance:
    """The acceptance of a draft on held-out text by the unscaled target, whose law is the same."""
    texts = held_out.all_tokens()
    models = (target(None, torch.float32), draft(name))
    return acceptance(*map(model_reader, models), texts, most=4000)


@cache
def options_for(cost: str | None, dtype: torch.dtype) -> dict[float, list[Choice]]:
    """Every draft and K, by temperature (0 and 1), with the times of one measurement."""
    measured = {name: costs_of(target(cost, dtype), draft(name)) for name in BUILT_IN_DRAFTS}
    return options_from(measured, dtype)


def options_from(
    measured: Mapping[str, tuple[Costs, float]], dtype: torch.dtype
) -> dict[float, list[Choice]]:
    """Every draft and K, by temperature; `measured` holds for each draft what `costs_of` gives."""
    found: dict[float, list[Choice]] = {0.0: [], 1.0: []}
    for name, (costs, seconds) in measured.items():
        rates = {0.0: accepted(name).greedy, 1.0: accepted(name).alpha}
        for temperature, alpha in rates.items():
            for k in range(1, max(costs.v)):
                speedup = costs.speedup(alpha, k)
                found[temperature].append(Choice(dtype, name, k, speedup, speedup / seconds))
    return found
