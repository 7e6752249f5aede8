"""What the figures of the bench share: a device, its models and decoders, and measured costs.

On a CPU decoders and passes run as they are; on a GPU they are captured in graphs. With `captured`
the same steps of fixed shape run on a CPU too, without being captured, which is how the figures of
a GPU are tested.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import torch

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.decoding.fixed_shape.compiled import Compiled, compiled
from specdec_lib.device import default_dtype, draft_dtype
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.choice import SECONDS, Choice, choices, fastest, fastest_plain
from specdec_lib.measure.core.costs import (
    REPLAYS,
    Measured,
    PassTasks,
    Task,
    costs_by_dtype,
    graph_tasks,
    in_turn,
    pass_tasks,
)
from specdec_lib.measure.core.models import CPU, accepted, draft, dtypes, target
from specdec_lib.measure.core.runs import (
    GREEDY,
    ROUNDS,
    Decoder,
    Graphs,
    Recorded,
    decoder,
    plain,
    speculative,
    speedup,
    straight,
)
from specdec_lib.measure.core.timing import Spread, timed
from specdec_lib.models.pairs import cost_label
from specdec_lib.sampling import Warp

Made = TypeVar("Made")

COMPARISON = 45.0  # seconds that the rounds of two decoders may take on a CPU


@dataclass
class Workbench:
    """What the figures share; `notes` are printed below the table."""

    pool: Sequence[list[int]]  # prompts to choose from
    most: int  # prompts a comparison
    tokens: int  # new tokens a prompt
    device: torch.device = CPU
    captured: bool = False
    mode: str | None = None  # how layers are compiled (compiled.MODES); None: not at all
    notes: list[str] = field(default_factory=list)
    smaller: dict[str, str] = field(default_factory=dict)  # sizes in place of those without room
    _measured: dict[tuple, dict[torch.dtype, Measured]] = field(default_factory=dict, init=False)
    _made: dict[tuple, Any] = field(default_factory=dict, init=False)
    _layers: Compiled | None = field(default=None, init=False)

    @property
    def dtypes(self) -> tuple[torch.dtype, ...]:
        """The dtypes that a target may be fastest in."""
        return (default_dtype(self.device),) if self.captured else dtypes()

    @property
    def layers(self) -> Compiled:
        """How layers run: compiled if that is asked for and can be done."""
        if self._layers is None:
            self._layers = Compiled(None, "layers not compiled")
            if self.mode is not None:
                self._layers = compiled(target(None, self.dtypes[0], self.device), self.mode)
        return self._layers

    def once(self, key: tuple, make: Callable[[], Made]) -> Made:
        """What `make` makes, once for all figures that ask for `key`."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def where(self, size: str | None) -> str:
        """The size, and the device beside it if it is not the usual one, for notes."""
        name = size or "built-in"
        return f"{self.device} at {name}" if self.captured else name

    def prompts_for(self, warp: Warp, dtype: torch.dtype) -> Sequence[list[int]]:
        """The prompts of a comparison; for greedy figures, those whose text does not loop.

        The built-in target finds them, in the dtype that is measured: the texts of two dtypes part.
        """
        if warp != GREEDY:
            return self.pool[: self.most]
        decode = plain(target(None, dtype, self.device), GREEDY, self.tokens)
        return self.once(("straight", dtype), lambda: straight(decode, self.pool, self.most))

    def decoder(
        self, size: str | None, dtype: torch.dtype, warp: Warp,
        small: str | None = None, k: int = 0, batch: bool = False,
    ) -> Decoder:  # fmt: skip
        """Speculative decoding with the draft `small`, or without one plain decoding."""
        model = target(size, dtype, self.device)
        helper = draft(small, draft_dtype(self.device, dtype), self.device) if small else None
        if self.captured:
            steps = Graphs(model, helper, k, self.layers.run)
            return decoder(steps, warp, self.tokens, batch)
        if helper is None:
            return plain(model, warp, self.tokens, batch)
        return speculative(model, ModelDrafter(helper), k, warp, self.tokens, batch=batch)

    @property
    def tasks(self) -> PassTasks:
        """Bare passes, as the decoders run them."""
        return partial(graph_tasks, run=self.layers.run) if self.captured else pass_tasks

    def steps(self, dtype: torch.dtype, names: Sequence[str], batch: int = 1) -> dict[str, Task]:
        """A step of every draft beside a target in `dtype`."""
        narrow = draft_dtype(self.device, dtype)
        return {name: self.tasks(draft(name, narrow, self.device), [1], batch)[1] for name in names}

    def passes(
        self, size: str | None, dtype: torch.dtype, name: str, k_max: int
    ) -> dict[int | str, Task]:
        """Bare passes of a target up to k_max + 1 tokens, and of the draft `name`, in turn."""
        model, steps = target(size, dtype, self.device), self.steps(dtype, [name])
        return in_turn(model, steps, k_max, tasks=self.tasks)

    def measured(
        self, size: str | None, dtypes: Sequence[torch.dtype] | None = None, batch: int = 1
    ) -> dict[torch.dtype, Measured]:
        """c and v of every draft in each of `dtypes`, measured once, all of them interleaved."""
        candidates = tuple(dtypes or self.dtypes)
        key = size, candidates, batch
        if key not in self._measured:
            models = {dtype: target(size, dtype, self.device) for dtype in candidates}
            steps = {dtype: self.steps(dtype, BUILT_IN_DRAFTS, batch) for dtype in candidates}
            taken = costs_by_dtype(models, steps, SECONDS, batch, self.tasks)
            passes = REPLAYS if self.captured else 1
            self._measured[key] = {d: (costs, each / passes) for d, (costs, each) in taken.items()}
        return self._measured[key]

    def best(
        self, size: str | None, warp: Warp,
        dtypes: Sequence[torch.dtype] | None = None, batch: int = 1,
    ) -> Choice:  # fmt: skip
        """The dtype, draft and K that the cost model makes fastest, with a note."""
        measured = self.measured(size, dtypes, batch)
        rates = {name: accepted(name) for costs, _ in measured.values() for name in costs}
        alphas = {n: r.greedy if warp == GREEDY else r.alpha for n, r in rates.items()}
        best = fastest(choices(measured, alphas))
        where = f"{self.where(size)} at temperature {warp.temperature:g}"
        rows = f", batch {batch}" if batch > 1 else ""
        self.note(
            f"{where}{rows}: {best.dtype}, the {best.draft} draft and K = {best.k}; "
            f"expected {best.speedup:.2f} times plain decoding"
        )
        if size is not None:
            self.note(f"{self.where(size)}: {cost_label(size, best.draft)}")
        return best

    def best_plain(self, size: str | None) -> torch.dtype:
        """The dtype in which plain decoding is fastest, with a note of all candidates."""
        measured = self.measured(size)
        each = [f"{dtype} {1e3 * seconds:.1f} ms" for dtype, (_, seconds) in measured.items()]
        self.note(f"{self.where(size)}, a plain pass: {', '.join(each)}")
        return fastest_plain(measured)

    def forget(self) -> None:
        """Measure anew what the next choice rests on."""
        self._measured.clear()

    def note(self, line: str) -> None:
        """Add a line to the notes, if it is not there yet."""
        if line not in self.notes:
            self.notes.append(line)

    def over_plain(self, size: str | None, warp: Warp, best: Choice, dtype: torch.dtype) -> Spread:
        """Speculative decoding as `best` says over plain decoding in `dtype`, measured once."""
        return self.once(
            ("over plain", size, warp, best[:3], dtype),
            lambda: self.compare(
                f"{self.where(size)} over plain in {dtype} at temperature {warp.temperature:g}",
                self.decoder(size, dtype, warp),
                self.decoder(size, best.dtype, warp, best.draft, best.k),
                self.prompts_for(warp, best.dtype),
            ),
        )

    def compare(
        self, name: str, slower: Decoder, faster: Decoder, prompts: Sequence[list]
    ) -> Spread:
        """How many times as fast `faster` is, with a note of the prompts and the passes.

        Each prompt is gone through once instead of ROUNDS times if that would take longer than
        COMPARISON, as a first pair tells that is not counted.
        """
        sides = Recorded(slower), Recorded(faster)
        first = timed(lambda: [side(prompts[0]) for side in sides])
        long = not self.captured and first * len(prompts) * ROUNDS > COMPARISON
        rounds = 1 if long else ROUNDS
        ratio = speedup(*sides, prompts, rounds)
        self.notes.append(
            f"{name}: {ratio}, {len(prompts)} prompts, rounds: {rounds}, "
            f"{sides[1].repeated:.0%} repeated 8-grams; "
            f"tokens a target pass {sides[1].tokens_a_block:.2f} against "
            f"{sides[0].tokens_a_block:.2f}"
        )
        return ratio
