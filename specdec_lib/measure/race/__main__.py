"""Record the race of the README's picture: `python -m specdec_lib.measure.race`, in quiet."""

import json
from dataclasses import asdict, replace
from datetime import date

from specdec_lib.device import processor
from specdec_lib.files import write_whole
from specdec_lib.measure.race.contestants import drafting
from specdec_lib.measure.race.record import PATH
from specdec_lib.measure.race.turns import run

if __name__ == "__main__":
    race = run({"speculative decoding": drafting()})
    where = f"Recorded on {date.today()}. {processor()}."
    write_whole(PATH, json.dumps(asdict(replace(race, remarks=(where,))), indent=1) + "\n")
