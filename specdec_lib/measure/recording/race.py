"""The race of the README's picture, of chapter 00's first cell and of `specdec race --recorded`.

Record it with nothing else on the machine, once `specdec fetch smollm2-135m` has run.
"""

import json
import runpy
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import specdec_lib
from specdec_lib.device import processor
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.compare import Decoder, compare
from specdec_lib.measure.library_decoders import GREEDY, plain, speculative
from specdec_lib.measure.race.record import RACE_FILE as RACE_FILE
from specdec_lib.measure.race.record import Lane, Race
from specdec_lib.measure.race.turns import PLAIN_LANE, LaneRunner, passes_of
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.pairs import Pair, load_pair
from specdec_lib.models.protocol import Model
from specdec_lib.sampling import Warp

# A model of this size is often wrong. Of 80 questions that it was asked at temperature 0, this is
# one of the few with an answer that is right, reads well and ends by itself after about a hundred
# tokens. It was chosen by reading; how many drafts are accepted in it was not known.
QUESTION = "What is the water cycle? Answer in one paragraph."
K = 2
_LONGEST = 150  # tokens of an answer
_WARM_UP = 8  # tokens that both decoders write before the race
_PICTURE = Path(specdec_lib.__file__).parents[1] / "docs" / "race_picture.py"


def race_json() -> str:
    """A race on this machine."""
    where = f"Recorded on {date.today()}. {processor()}."
    race = answer_race(load_pair(SMOLLM2, device="cpu"), QUESTION, K)
    return json.dumps(asdict(replace(race, remarks=(where,))), indent=1)


def draw_race() -> None:
    """Draw the README's picture of the recorded race, and write its numbers beside it."""
    runpy.run_path(str(_PICTURE), run_name="__main__")


def answer_race(pair: Pair, question: str, k: int) -> Race:
    """Plain and speculative decoding write the answer of `pair` to `question`, at temperature 0.

    The token that ends the answer is not part of the race.
    """

    def speculative_lane(target: Model, warp: Warp, tokens: int) -> Decoder:
        return speculative(target, ModelDrafter(pair.draft), k, warp, tokens, batch=True)

    def plain_lane(target: Model, warp: Warp, tokens: int) -> Decoder:
        return plain(target, warp, tokens, batch=True)

    prompt = pair.start(pair.chat(question))
    (answer,) = plain(pair.target, GREEDY, _LONGEST, eos_id=pair.eos_id)(prompt).tokens
    count = len(answer) - (answer[-1] in pair.eos_id)
    makers = {PLAIN_LANE: plain_lane, "speculative decoding": speculative_lane}
    runners = {name: LaneRunner(make, pair.target, GREEDY, count) for name, make in makers.items()}
    warm_up = {name: make(pair.target, GREEDY, _WARM_UP) for name, make in makers.items()}
    compare(runners, [[prompt]], warm_up=warm_up)
    words = pair.tokenizer.backend_tokenizer
    lanes = [Lane(name, passes_of(run.texts, False, words)) for name, run in runners.items()]
    return Race(lanes, [f"{question}\n\n"], f"{pair.label}, K = {k}")
