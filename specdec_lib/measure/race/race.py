"""`race`: several decoders on the same prompts, and how long each of them took.

They take turns every few tokens (turns.py), and a clock runs for each while it works. Plain
decoding is always the first lane. Without torch there is the recorded race alone.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specdec_lib.measure.core.disturbance import disturbance
from specdec_lib.measure.core.progress import Progress
from specdec_lib.measure.race.limits import Limits, TooSlow, WrongFunction
from specdec_lib.measure.race.record import Race, recorded, recorded_where

if TYPE_CHECKING:
    from specdec_lib.measure.race.contestants import Contestant

NOT_HERE = "Recorded {where}, since {why}."
DISTURBED = "This run was disturbed: {why}. Close other programs and run it again."
BESIDE = "A quiet run, recorded {where}."
WRONG = "This race needs your own function: {why}. Mend it until its check passes, then try again."
OTHER = "Its target is another one, so its times do not compare with those above."


def race(name: str, contestants: Mapping[str, "Contestant"], **how: Any) -> list[Race]:
    """Let `contestants` race plain decoding; `how` goes to `run`.

    What comes back is the race; if the machine was disturbed, the recorded race called `name` after
    it, which says if its target is another; and if this machine cannot run the race, the recorded
    one alone, with the reason.
    """
    try:
        found = run(contestants, **how)
    except NotImplementedError as error:
        print(f"This race runs your own function, which is not written yet: {error}")
        return []
    except WrongFunction as error:
        print(WRONG.format(why=error))
        return []
    except (ImportError, TooSlow) as error:
        return [_recorded(name, NOT_HERE, _reason(error))]
    why = disturbed(found)
    if why is None:
        return [found]
    told = replace(found, remarks=(*found.remarks, DISTURBED.format(why=why)))
    same = found.pair == recorded(name).pair
    return [told, _recorded(name, BESIDE if same else f"{BESIDE} {OTHER}")]


def run(
    contestants: Mapping[str, "Contestant"],
    *,
    tokens: int = 48,
    texts: int | None = None,
    temperature: float = 0.0,
    rows: int = 1,
    reading: bool = False,
    cost: str = "234m",
    seconds: float = 12.0,
    skip: int = 0,
    progress: Progress | None = None,
) -> Race:
    """Race on `texts` prompts, or on as many as fit into `seconds`, `tokens` new tokens after each.

    With `rows`, each decoder writes so many texts at a time, and the first is shown. With
    `reading`, the time of reading the prompt counts too. The target is the built-in one at a
    `cost`, or at a smaller one where this would not fit. It is over after about `seconds`, loading
    included. The first `skip` prompts are left out. `progress` says what is done. ImportError
    without torch, TooSlow if the race does not fit into its time.
    """
    limits, progress = Limits(seconds), progress or Progress(after=0)
    progress.say("starting the race")  # to import torch takes some seconds
    try:
        from specdec_lib.measure.race.turns import measured

        how = (limits, tokens, texts, temperature, rows, reading, cost, skip, progress)
        return measured(contestants, *how)
    finally:
        progress.end()


def disturbed(race: Race) -> str | None:
    """Why the times of `race` are not to be trusted, from passes that do the same every time."""
    same_work = {
        lane.name: [duration for text in lane.durations for duration in text[1:-1]]
        for lane in race.lanes
    }
    return disturbance(same_work)


def _recorded(name: str, remark: str, why: str = "") -> Race:
    told = remark.format(where=recorded_where(name), why=why)
    return replace(recorded(name), remarks=(told,))


def _reason(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"{error.name or 'torch'} is not installed here"
    return str(error)
