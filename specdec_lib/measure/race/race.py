"""`race`: several decoders on the same prompts, and how long each of them took.

They take turns (measure/compare.py), text by text, and plain decoding is always the first lane.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specdec_lib.lessons.checking.blame import is_unwritten
from specdec_lib.measure.race.record import Race

if TYPE_CHECKING:
    from specdec_lib.measure.race.lanes import LaneMaker


def race(name: str, lanes: Mapping[str, "LaneMaker"], **settings: Any) -> list[Race]:
    """The race of `lanes` against plain decoding, alone in a list; `settings` go to `run_race`.

    An empty list, and a line that says why, where a function of the reader is not written yet or
    is wrong. `name` is what the line calls the race: its chapter.
    """
    # To import torch takes a second, which whoever imports this module should not wait for.
    from specdec_lib.measure.race.lanes import WrongFunction
    from specdec_lib.measure.race.turns import run_race

    try:
        return [run_race(lanes, **settings)]
    except NotImplementedError as error:
        if not is_unwritten(error):
            raise
        print(f"Race {name} runs your own function, which is not there yet: {error}")
    except WrongFunction as error:
        print(f"Race {name} runs your own function: {error}. Fix it until its check passes.")
    return []
