"""The decoder that chapter 08 measures, the student's or the library's, and what it accepts."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from specdec_lib.decoding.generate import plain_generate, speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.prompts import Prompts
from specdec_lib.measure.race.lanes import student_lane
from specdec_lib.measure.race.turns import LaneRunner
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Warp, random_source_for

_K, _TOKENS = 4, 48  # of a table of acceptances


class StudentDecoder(NamedTuple):
    """A loop as chapter 08 writes it; `whose` it is: "your", or "the library's"."""

    whose: str
    generate: Callable[..., list[int]]  # with the signature of speculative_generate

    def acceptance_table(
        self,
        pairs: Mapping[str, tuple[Model, Model]],
        prompts: Prompts,
        is_right: Callable[[list[int]], bool],
    ) -> pd.DataFrame:
        """A row for each of `pairs`: accepted tokens a block, and the texts for which `is_right`.

        At temperature 1, after each of `prompts`; `is_right` sees a prompt and its text.
        """
        rows, warp = [], Warp()
        for name, (target, draft) in pairs.items():
            runner = LaneRunner(student_lane(self.generate, draft, _K), target, warp, _TOKENS)
            for prompt in prompts:
                runner([prompt])
            texts = runner.texts
            passes = sum(len(text.tokens_after_pass) for text in texts)
            right = sum(is_right([*text.prompt, *text.new_tokens]) for text in texts)
            accepted = _TOKENS * len(texts) / passes - 1
            rows.append((name, accepted, f"{right} of {len(texts)}"))
        columns = ["what is changed", f"accepted of {_K} a block", "right texts"]
        return pd.DataFrame(rows, columns=columns)


def library_generate(
    target: Model,
    draft: Model,
    prompt_ids: Sequence[int],
    k: int,
    max_new_tokens: int,
    temperature: float,
    rng: np.random.Generator,
    eos_id: int | None = None,
) -> list[int]:
    """The library's decoder with the signature of chapter 08."""
    warp = Warp(temperature)
    how = Settings(max_new_tokens, warp, eos_id), random_source_for(warp, [rng])
    if k == 0:
        return plain_generate(target, [prompt_ids], *how).tokens[0]
    return speculative_generate(target, ModelDrafter(draft), [prompt_ids], k, *how).tokens[0]


LIBRARY_DECODER = StudentDecoder("the library's", library_generate)
