"""Two loops and two forward passes, by turns: what the loop is worth, and what the passes are.

Hugging Face's loop and a student's write the same greedy texts of one pair on transformers' own
forward pass, and the student's on the library's, too.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import specdec_lib
from specdec_lib.assets import ASSETS
from specdec_lib.measure.compare import ratios
from specdec_lib.measure.experiment.decoders import StudentDecoder
from specdec_lib.measure.experiment.grid import GRID_TOKENS, grid_prompts
from specdec_lib.measure.experiment.identity import count_identical_texts
from specdec_lib.measure.experiment.survey import ExperimentMachine
from specdec_lib.measure.hugging import CountedModel
from specdec_lib.measure.library_decoders import GREEDY
from specdec_lib.measure.prompts import chat_questions
from specdec_lib.measure.race import turns
from specdec_lib.measure.race.hf_lane import generate_lane
from specdec_lib.measure.race.lanes import LaneMaker, student_lane
from specdec_lib.measure.race.record import Race
from specdec_lib.models.catalogue import SMOLLM2, PairError
from specdec_lib.models.hf import Causal
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.models.protocol import Model
from specdec_lib.models.scale import size_ratio
from specdec_lib.models.smollm2 import DRAFT_MODEL, FOLDERS

CONTEST_FILE = Path(specdec_lib.__file__).with_name("lessons") / "ch08" / "contest.json"
TEXTS, CHAT_TOKENS = 5, 24
_BUILT_IN_DRAFT, _BUILT_IN_K = "large", 3
# Whose loop runs on whose forward pass.
THEIRS, SAME_PASS, OWN_PASS = "theirs", "same pass", "own pass"
_SPECULATIVE = " with drafts"
# The speed-ups: a name, the decoder, and the one that it is compared with.
SPEEDUPS = {
    "their gain": (THEIRS + _SPECULATIVE, THEIRS),
    "our gain": (OWN_PASS + _SPECULATIVE, OWN_PASS),
    "the loop": (SAME_PASS + _SPECULATIVE, THEIRS + _SPECULATIVE),
    "the pass": (OWN_PASS + _SPECULATIVE, SAME_PASS + _SPECULATIVE),
}


class Contestants(NamedTuple):
    """A pair by the library's forward pass, and the same weights in transformers."""

    pair: Pair
    target: CountedModel
    draft: CountedModel
    subject: turns.Subject  # its prompts, and how they are shown
    tokens: int  # new ones after each prompt


class Contest(NamedTuple):
    """What was run, and `runs` (compare.compare), one row for each decoder and text.

    `texts` counts the speculative texts of the student's loop (identity.py). `race` replays plain
    decoding, that loop and Hugging Face's. A recorded contest has neither `race` nor `models`.
    """

    about: dict[str, Any]
    runs: pd.DataFrame
    texts: dict[str, int]
    race: Race | None = None
    models: Contestants | None = None

    def speedup(self, name: str) -> tuple[float, float, float]:
        """The median of the texts and the quartiles of one of SPEEDUPS."""
        median, low, high = ratios(self.runs, *SPEEDUPS[name]).quantile([0.5, 0.25, 0.75])
        return median, low, high

    def by_decoder(self) -> pd.DataFrame:
        """A row a decoder: target passes for 100 tokens, and the median ratio to THEIRS."""
        groups = self.runs.groupby("decoder", sort=False)
        table = (100 * groups.passes.sum() / groups.tokens.sum()).to_frame("passes for 100 tokens")
        speeds = [ratios(self.runs, name, THEIRS).median() for name in table.index]
        return table.assign(**{"times as fast as generate": speeds})


def loop_lanes(
    student: StudentDecoder, theirs: tuple, ours: Mapping[str, tuple], k: int
) -> dict[str, tuple[Model, LaneMaker]]:
    """Both loops, with `k` draft tokens a block and with none: Hugging Face's on `theirs`.

    `ours` are the targets and drafts on which the student's runs. Without drafts it is plain
    decoding, since a block then has the one token that the target adds.
    """
    lanes = {THEIRS: generate_lane(theirs[0]), THEIRS + _SPECULATIVE: generate_lane(*theirs, k)}
    lanes = {name: (theirs[0], make) for name, make in lanes.items()}
    for name, (target, draft) in ours.items():
        for ending, count in (("", 0), (_SPECULATIVE, k)):
            lanes[name + ending] = target, student_lane(student.generate, draft, count)
    return lanes


def contestants(machine: ExperimentMachine) -> Contestants:
    """The fetched chat model with its draft, or the machine's built-in pair and a line about it."""
    device, dtype = machine.device, machine.target.dtype
    try:
        pair = load_pair(SMOLLM2, DRAFT_MODEL, device=device, dtype=dtype)
    except PairError as error:
        print(f"The built-in pair stands in for a real one: {error}.")
        draft = machine.drafts[_BUILT_IN_DRAFT]
        ratio = size_ratio(machine.pair.target.shape, draft.shape)
        label = f"the built-in pair: acceptance of {ratio}, cost of {machine.name.upper()}"
        pair = replace(machine.pair, target=machine.target, draft=draft, label=label, k=_BUILT_IN_K)
        small = CountedModel.from_folder(ASSETS / _BUILT_IN_DRAFT, draft.dtype, device)
        target = CountedModel.from_size(machine.name, dtype, device)
        subject = turns.code_after(grid_prompts(machine, 0), lambda: machine.target, label)
        return Contestants(pair, target, small, subject, GRID_TOKENS)
    subject = turns.questions_to(pair, chat_questions()[:TEXTS])._replace(ends=None)
    target = CountedModel.from_size(SMOLLM2, dtype, device)
    small = CountedModel.from_cut_folder(
        FOLDERS[DRAFT_MODEL], pair.target.vocab_size, pair.draft.dtype, device
    )
    return Contestants(pair, target, small, subject, CHAT_TOKENS)


def measure_contest(student: StudentDecoder, machine: ExperimentMachine) -> Contest:
    """Every text by all decoders in turn, but for plain decoding by the student on SAME_PASS.

    That is Hugging Face's plain decoding once more: the same passes, and next to no loop.
    """
    models = contestants(machine)
    pair, on_their_pass = models.pair, (Causal(models.target.model), Causal(models.draft.model))
    for model in on_their_pass:
        model.vocab_size = models.target.vocab_size  # a cut draft's own is smaller
    ours = {SAME_PASS: on_their_pass, OWN_PASS: (pair.target, pair.draft)}
    lanes = loop_lanes(student, (models.target, models.draft), ours, pair.k)
    del lanes[SAME_PASS]
    batches = [[prompt] for prompt in models.subject.prompts]
    runners, runs = turns.run_lanes(lanes, batches, GREEDY, models.tokens)
    about = {"pair": pair.label, "K": pair.k, **machine.about()}
    about |= {"date": f"{date.today()}", "loop": student.whose}
    speculative, plain = (
        [text.new_tokens for text in runners[name].texts]
        for name in (OWN_PASS + _SPECULATIVE, OWN_PASS)
    )
    written = zip(models.subject.prompts, speculative, plain, strict=True)
    same = count_identical_texts(pair.target, written)
    race = _race(runners, models.subject, student.whose)
    return Contest(about, runs.drop(columns="generation"), same, race, models)


def _race(runners: Mapping[str, turns.LaneRunner], subject: turns.Subject, whose: str) -> Race:
    """Three of the decoders, to be replayed; the clock of a text begins with its prompt."""
    names = {
        OWN_PASS: turns.PLAIN_LANE,
        OWN_PASS + _SPECULATIVE: f"{whose} decoder",
        THEIRS + _SPECULATIVE: "Hugging Face's decoder",
    }
    lanes = [runners[name].lane(shown, True, subject) for name, shown in names.items()]
    return Race(lanes, subject.shown, subject.about)


def contest_json(contest: Contest) -> str:
    """All of the file of a recorded contest."""
    content = contest._asdict() | {"runs": contest.runs.to_dict("records")}
    del content["race"], content["models"]
    return json.dumps(content, indent=1)


def recorded_contest(path: Path = CONTEST_FILE) -> Contest:
    """The recorded contest of the fetched chat model."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Contest(**data | {"runs": pd.DataFrame(data["runs"])})
