"""The race of the README's picture, also `specdec race --recorded`; recorded in quiet."""

import json
from dataclasses import asdict, replace
from datetime import date

from specdec_lib.device import processor
from specdec_lib.measure.race.lanes import draft_model_lane
from specdec_lib.measure.race.record import RACE_FILE as RACE_FILE
from specdec_lib.measure.race.turns import run_race


def race_json() -> str:
    """A race on this machine."""
    race = run_race({"speculative decoding": draft_model_lane()})
    where = f"Recorded on {date.today()}. {processor()}."
    return json.dumps(asdict(replace(race, remarks=(where,))), indent=1)
