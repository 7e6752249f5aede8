"""`race`: several decoders on the same prompts, and how long each of them took.

They take turns (measure/compare.py), text by text, and plain decoding is always the first lane.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specdec_lib.lessons.checking.blame import is_unwritten
from specdec_lib.measure.race.record import Race

if TYPE_CHECKING:
    from specdec_lib.measure.race.contestants import Contestant

UNWRITTEN = "Race {name} runs your own function, which is not written yet: {why}"
WRONG = "Race {name} runs your own function: {why}. Fix it until its check passes, then try again."


def race(name: str, contestants: Mapping[str, "Contestant"], **how: Any) -> list[Race]:
    """The race of `contestants` against plain decoding, alone in a list; `how` goes to `run`.

    An empty list, and a line that says why, where a function of the reader is not written yet or
    is wrong. `name` is what the line calls the race: its chapter.
    """
    # To import torch takes a second, which whoever imports this module should not wait for.
    from specdec_lib.measure.race.contestants import WrongFunction
    from specdec_lib.measure.race.turns import run

    try:
        return [run(contestants, **how)]
    except NotImplementedError as error:
        if not is_unwritten(error):
            raise
        print(UNWRITTEN.format(name=name, why=error))
    except WrongFunction as error:
        print(WRONG.format(name=name, why=error))
    return []
