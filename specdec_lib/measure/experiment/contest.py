"""Two loops and two forward passes, by turns: what the loop is worth, and what the passes are.

Hugging Face's loop and a student's write the same greedy texts of one pair on transformers' own
forward pass, the student's on the library's, too: each with drafts, and without.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import specdec_lib
from specdec_lib.assets import ASSETS
from specdec_lib.measure.compare import Decoder, compare, ratios
from specdec_lib.measure.experiment.decoders import StudentDecoder
from specdec_lib.measure.experiment.grid import GRID_TOKENS, TRIAL_TOKENS, grid_prompts
from specdec_lib.measure.experiment.identity import count_identical_texts
from specdec_lib.measure.experiment.survey import ExperimentMachine
from specdec_lib.measure.hugging import CountedModel, hf_generate
from specdec_lib.measure.library_decoders import GREEDY
from specdec_lib.measure.prompts import chat_questions
from specdec_lib.measure.race.turns import Subject, questions_to
from specdec_lib.models.catalogue import SMOLLM2, PairError
from specdec_lib.models.hf import Causal
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
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
    "gain on their pass": (SAME_PASS + _SPECULATIVE, SAME_PASS),
    "gain on our pass": (OWN_PASS + _SPECULATIVE, OWN_PASS),
    "the loop": (SAME_PASS + _SPECULATIVE, THEIRS + _SPECULATIVE),
    "the pass": (OWN_PASS + _SPECULATIVE, SAME_PASS + _SPECULATIVE),
}


class Contestants(NamedTuple):
    """A pair by the library's forward pass, and the same weights in transformers."""

    pair: Pair
    target: CountedModel
    draft: CountedModel
    prompts: list[list[int]]
    tokens: int  # new ones after each prompt
    subject: Subject | None  # of a race; None for held-out code


class Contest(NamedTuple):
    """What was run, and `runs` (compare.compare), one row for each decoder and text.

    `texts` counts the speculative texts of the student's loop (identity.py). A recorded contest has
    no `models`.
    """

    about: dict[str, Any]
    runs: pd.DataFrame
    texts: dict[str, int]
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


def loop_decoders(
    student: StudentDecoder, theirs: tuple, ours: Mapping[str, tuple], k: int, tokens: int
) -> dict[str, Decoder]:
    """Both loops, with `k` draft tokens a block and with none: Hugging Face's on `theirs`.

    `ours` are the targets and drafts on which the student's runs. Without drafts it is plain
    decoding, since a block then has the one token that the target adds.
    """
    generate = partial(hf_generate, theirs[0], new_tokens=tokens)
    decoders = {THEIRS: generate, THEIRS + _SPECULATIVE: partial(generate, draft=theirs[1], k=k)}
    for name, models in ours.items():
        decoders[name] = student.decoder(*models, 0, GREEDY, tokens)
        decoders[name + _SPECULATIVE] = student.decoder(*models, k, GREEDY, tokens)
    return decoders


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
        return Contestants(pair, target, small, grid_prompts(machine, 0), GRID_TOKENS, None)
    subject = questions_to(pair, chat_questions()[:TEXTS])._replace(ends=None)
    target = CountedModel.from_size(SMOLLM2, dtype, device)
    small = CountedModel.from_cut_folder(
        FOLDERS[DRAFT_MODEL], pair.target.vocab_size, pair.draft.dtype, device
    )
    return Contestants(pair, target, small, subject.prompts, CHAT_TOKENS, subject)


def measure_contest(student: StudentDecoder, machine: ExperimentMachine) -> Contest:
    """All six decoders on every text, by turns."""
    models = contestants(machine)
    pair, on_their_pass = models.pair, (Causal(models.target.model), Causal(models.draft.model))
    for model in on_their_pass:
        model.vocab_size = models.target.vocab_size  # a cut draft's own is smaller
    ours = {SAME_PASS: on_their_pass, OWN_PASS: (pair.target, pair.draft)}
    make = partial(loop_decoders, student, (models.target, models.draft), ours, pair.k)
    runs = compare(make(models.tokens), models.prompts, warm_up=make(TRIAL_TOKENS))
    plain, loop = (
        [each.tokens[0] for each in runs[runs.decoder == name].generation]
        for name in (OWN_PASS, OWN_PASS + _SPECULATIVE)
    )
    about = {"pair": pair.label, "K": pair.k, **machine.about()}
    about |= {"date": f"{date.today()}", "loop": student.whose}
    same = count_identical_texts(pair.target, zip(models.prompts, loop, plain, strict=True))
    return Contest(about, runs.drop(columns="generation"), same, models)


def contest_json(contest: Contest) -> str:
    """All of the file of a recorded contest."""
    content = contest._asdict() | {"runs": contest.runs.to_dict("records")}
    del content["models"]
    return json.dumps(content, indent=1)


def recorded_contest(path: Path = CONTEST_FILE) -> Contest:
    """The recorded contest of the fetched chat model."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Contest(**data | {"runs": pd.DataFrame(data["runs"])})
