"""What chapter 08 runs on: the device, the models on it, and how much is measured."""

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from specdec_lib.device import name_of, processor
from specdec_lib.measure.experiment.budget import Budget
from specdec_lib.measure.experiment.costs import Found
from specdec_lib.models.llama import Llama


class Effort(NamedTuple):
    """How much is measured; `longer` of `effort` multiplies it."""

    positions: int = 8000  # of held-out text an acceptance rate
    passes: int = 30  # rounds of bare passes
    prompts: int = 3  # an end-to-end comparison
    tokens: int = 24  # after each prompt
    rounds: int = 2  # interleaved, for each prompt

    def times(self, longer: float) -> "Effort":
        """About `longer` times as much. ValueError unless that is a positive number."""
        if not longer > 0:
            raise ValueError(f"longer is {longer}; it is a positive number, 1 for the usual time")
        grown = (max(1, round(each * longer)) for each in (self.positions, self.passes))
        prompts = max(1, round(self.prompts * longer))
        return Effort(*grown, prompts, self.tokens, self.rounds)


class Targets(Mapping[str, Llama]):
    """Models by name, which can be let go: one that is asked for again is made again."""

    def __init__(self, models: Mapping[str, Llama], make: Callable[[str], Llama]) -> None:
        self._models: dict[str, Llama | None] = dict(models)
        self._make = make

    def __getitem__(self, name: str) -> Llama:
        model = self._models[name] or self._make(name)
        self._models[name] = model
        return model

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def release(self) -> None:
        """Let all models go."""
        self._models = dict.fromkeys(self._models)


@dataclass(frozen=True)
class Machine:
    """What was found. `targets` are the built-in one and its costlier versions, by name.

    `plain` are those of them that decode faster by themselves in another dtype, in that dtype.
    `published` are the pairs of the hub that were fetched, `free` the bytes that were free before
    anything was loaded, None if that is not known.
    """

    device: torch.device
    dtype: torch.dtype
    targets: Mapping[str, Llama]
    drafts: dict[str, Llama]
    published: tuple[str, ...]
    effort: Effort
    bandwidth: float  # bytes a second
    costs: dict[str, Found] = field(default_factory=dict)  # of every target
    plain: dict[str, Llama] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    free: int | None = None

    def release(self) -> None:
        """Let the targets go, for models that need their memory."""
        if isinstance(self.targets, Targets):
            self.targets.release()
        let_go()

    def best_plain(self, name: str) -> Llama:
        """The target in the dtype in which plain decoding is fastest."""
        return self.plain.get(name, self.targets[name])

    @property
    def whole_grid(self) -> bool:
        """Whether every row is run end to end, or the best draft alone."""
        return self.device.type == "cuda"

    def to_json(self) -> dict[str, str | float | int]:
        """As data, for the head of a results file."""
        return {
            "device": device_line(self.device),
            "dtype": name_of(self.dtype),
            "bandwidth_gb_s": round(self.bandwidth / 1e9, 1),
            "threads": torch.get_num_threads(),
            "cuda": torch.version.cuda or "none",
        }


def let_go() -> None:
    """Give back the memory of models that nothing uses any more.

    A model of transformers with a hook holds itself: only the collector ends such a circle.
    """
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def device_line(device: torch.device) -> str:
    """The device in words."""
    if device.type == "cpu":
        return f"cpu, since torch finds no CUDA device. {processor()}"
    card = torch.cuda.get_device_properties(device)
    return f"{card.name}, compute capability {card.major}.{card.minor}"
