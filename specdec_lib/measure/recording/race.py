"""The race of the README's picture, of chapter 00's first cell and of `specdec race --recorded`.

Record it with nothing else on the machine, once `specdec fetch smollm2-135m` has run.
"""

import json
import runpy
from dataclasses import asdict, replace
from datetime import date
from functools import partial
from pathlib import Path

import specdec_lib
from specdec_lib.device import processor
from specdec_lib.measure.library_decoders import GREEDY, plain
from specdec_lib.measure.race.lanes import pair_lane
from specdec_lib.measure.race.record import RACE_FILE as RACE_FILE
from specdec_lib.measure.race.record import Race
from specdec_lib.measure.race.turns import questions_to, run_race
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.smollm2 import DRAFT_MODEL

# A model of this size is often wrong. Of 80 questions that it was asked at temperature 0, this is
# one of the few with an answer that is right, reads well and ends by itself after about a hundred
# tokens. It was chosen by reading; how many drafts are accepted in it was not known. But the draft
# model has learned from texts on this topic among 158 others, and the race says so.
QUESTION = "What is the water cycle? Answer in one paragraph."
K = 2
_LONGEST = 150  # tokens of an answer
_PICTURE = Path(specdec_lib.__file__).parents[1] / "docs" / "race_picture.py"
# Draws the README's picture of the recorded race, and writes its numbers beside it.
draw_race = partial(runpy.run_path, str(_PICTURE), run_name="__main__")


def race_json() -> str:
    """A race on this machine."""
    remark = f"Recorded on {date.today()}. {processor()}. "
    remark += "The draft also learned from texts on this topic."
    race = answer_race(load_pair(SMOLLM2, DRAFT_MODEL, device="cpu"), QUESTION, K)
    return json.dumps(asdict(replace(race, remarks=(remark,))), indent=1)


def answer_race(pair: Pair, question: str, k: int) -> Race:
    """Plain and speculative decoding write the answer of `pair` to `question`, at temperature 0.

    The token that ends the answer is not part of the race.
    """
    subject = questions_to(pair, [question])
    (answer,) = plain(pair.target, GREEDY, _LONGEST, eos_id=pair.eos_id)(subject.prompts[0]).tokens
    tokens = len(answer) - (answer[-1] in pair.eos_id)
    subject = subject._replace(ends=None, about=f"{pair.label}, K = {k}")
    lane = {"speculative decoding": pair_lane(pair, k)}
    return run_race(lane, subject=subject, tokens=tokens, target=pair.target)
