"""What the figures of the bench share: models, decoders and measured costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.core.choice import SECONDS, Choice, choices, fastest, fastest_plain
from specdec_lib.measure.core.costs import Measured, Task, costs_by_dtype, in_turn, pass_task
from specdec_lib.measure.core.models import accepted, draft, dtypes, target
from specdec_lib.measure.core.runs import (
    GREEDY,
    ROUNDS,
    Decoder,
    Recorded,
    plain,
    speculative,
    speedup,
    straight,
)
from specdec_lib.measure.core.timing import Spread, timed
from specdec_lib.models.pairs import cost_label
from specdec_lib.sampling import Warp

Made = TypeVar("Made")

COMPARISON = 45.0  # seconds that the rounds of two decoders may take
BUILT_IN = "built-in"  # what notes call the target as it is


@dataclass
class Workbench:
    """What the figures share; `notes` are printed below the table."""

    pool: Sequence[list[int]]  # prompts to choose from
    most: int  # prompts a comparison
    tokens: int  # new tokens a prompt
    notes: list[str] = field(default_factory=list)
    _measured: dict[tuple, dict[torch.dtype, Measured]] = field(default_factory=dict, init=False)
    _made: dict[tuple, Any] = field(default_factory=dict, init=False)

    def once(self, key: tuple, make: Callable[[], Made]) -> Made:
        """What `make` makes, once for all figures that ask for `key`."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def prompts_for(self, warp: Warp, dtype: torch.dtype) -> Sequence[list[int]]:
        """The prompts of a comparison; for greedy figures, those whose text does not loop.

        The built-in target finds them, in the dtype that is measured: the texts of two dtypes part.
        """
        if warp != GREEDY:
            return self.pool[: self.most]
        decode = plain(target(None, dtype), GREEDY, self.tokens)
        return self.once(("straight", dtype), lambda: straight(decode, self.pool, self.most))

    def decoder(
        self, size: str | None, dtype: torch.dtype, warp: Warp, small: str | None = None, k: int = 0
    ) -> Decoder:
        """Speculative decoding with the draft `small`, or without one plain decoding."""
        model = target(size, dtype)
        if small is None:
            return plain(model, warp, self.tokens)
        return speculative(model, ModelDrafter(draft(small)), k, warp, self.tokens)

    def passes(
        self, size: str | None, dtype: torch.dtype, name: str, k_max: int
    ) -> dict[int | str, Task]:
        """Bare passes of a target up to k_max + 1 tokens, and of the draft `name`, in turn."""
        return in_turn(target(size, dtype), {name: pass_task(draft(name), 1)}, k_max)

    def measured(
        self, size: str | None, candidates: Sequence[torch.dtype] | None = None
    ) -> dict[torch.dtype, Measured]:
        """c and v of every draft in each dtype, measured once, all of them interleaved."""
        key = size, tuple(candidates or dtypes())
        if key not in self._measured:
            models = {dtype: target(size, dtype) for dtype in key[1]}
            steps = {name: pass_task(draft(name), 1) for name in BUILT_IN_DRAFTS}
            self._measured[key] = costs_by_dtype(models, dict.fromkeys(models, steps), SECONDS)
        return self._measured[key]

    def best(
        self, size: str | None, warp: Warp, candidates: Sequence[torch.dtype] | None = None
    ) -> Choice:
        """The dtype, draft and K that the cost model makes fastest, with a note."""
        measured = self.measured(size, candidates)
        rates = {name: accepted(name) for costs, _ in measured.values() for name in costs}
        alphas = {n: r.greedy if warp == GREEDY else r.alpha for n, r in rates.items()}
        best = fastest(choices(measured, alphas))
        where = f"{size or BUILT_IN} at temperature {warp.temperature:g}"
        self.note(
            f"{where}: {best.dtype}, the {best.draft} draft and K = {best.k}; "
            f"expected {best.speedup:.2f} times plain decoding"
        )
        if size is not None:
            self.note(f"{size}: {cost_label(size, best.draft)}")
        return best

    def best_plain(self, size: str | None) -> torch.dtype:
        """The dtype in which plain decoding is fastest, with a note of all candidates."""
        measured = self.measured(size)
        each = [f"{dtype} {1e3 * seconds:.1f} ms" for dtype, (_, seconds) in measured.items()]
        self.note(f"{size or BUILT_IN}, a plain pass: {', '.join(each)}")
        return fastest_plain(measured)

    def note(self, line: str) -> None:
        """Add a line to the notes, if it is not there yet."""
        if line not in self.notes:
            self.notes.append(line)

    def over_plain(self, size: str | None, warp: Warp, best: Choice, dtype: torch.dtype) -> Spread:
        """Speculative decoding as `best` says over plain decoding in `dtype`, measured once."""
        return self.once(
            ("over plain", size, warp, best[:3], dtype),
            lambda: self.compare(
                f"{size or BUILT_IN} over plain in {dtype} at temperature {warp.temperature:g}",
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
        long = first * len(prompts) * ROUNDS > COMPARISON
        rounds = 1 if long else ROUNDS
        ratio = speedup(*sides, prompts, rounds)
        self.notes.append(
            f"{name}: {ratio}, {len(prompts)} prompts, rounds: {rounds}, "
            f"{sides[1].repeated:.0%} repeated 8-grams; "
            f"tokens a target pass {sides[1].tokens_a_block:.2f} against "
            f"{sides[0].tokens_a_block:.2f}"
        )
        return ratio
