"""Chapter 08's contest on the fetched chat model, with the chapter's own solution for the loop.

Record it with nothing else on the machine, once `specdec fetch smollm2-135m` has run.
"""

import re
from pathlib import Path
from typing import Any

import specdec_lib
from specdec_lib.measure.experiment.contest import contest_json, measure_contest
from specdec_lib.measure.experiment.decoders import StudentDecoder
from specdec_lib.measure.experiment.survey import load_machine

_CHAPTER = Path(specdec_lib.__file__).parents[1] / "solutions" / "08_full_generation.py"
_USED = re.compile(r"^(import|def (feed|rollback|verify_block|speculative_generate)\b)", re.M)


def recording() -> str:
    """All of the file; a test says so if it is of another pair."""
    student = StudentDecoder("the solution's", solution_loop())
    return contest_json(measure_contest(student, load_machine()))


def solution_loop() -> Any:
    """The loop of the chapter's solution, with the cells that it needs."""
    names: dict[str, Any] = {}
    for cell in re.split(r"^# %%.*$", _CHAPTER.read_text(encoding="utf-8"), flags=re.M):
        if _USED.search(cell):
            exec(compile(cell, _CHAPTER.name, "exec"), names)
        if "speculative_generate" in names:
            break
    return names["speculative_generate"]
