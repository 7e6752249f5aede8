"""Whether something else kept the machine busy while it was measured: the times themselves tell.

Tasks that took turns did the same work in every round. If the second half of the rounds took
another time than the first, or if a pass over more tokens was done much sooner than one over
fewer, then the times tell more about the other programs than about the tasks.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median

# The share by which the halves of a run may differ, for the task in the middle. Of runs of the
# chapters on two cores it was 2% to 12% with nothing else on them, and 17% to 45% with a busy loop
# on each.
SHARE = 0.15
SOONER = 2 / 3  # of the time of a pass over fewer tokens: less than this is no pass over more

# The seconds of every round by task, as `interleaved` gives them. An integer is the tokens of a
# pass; any other key is another task.
Times = Mapping[object, Sequence[float]]


def disturbance(*runs: Times) -> str | None:
    """Why these times are not to be trusted, with the numbers; None if nothing speaks against them.

    Several `runs` are models whose passes took turns. With one round there are no halves.
    """
    return _halves(runs) or next(filter(None, map(_wider_sooner, runs)), None)


def tell_disturbance(plainly: Sequence[float]) -> None:
    """Say so if plain decoding, which does the same work each time, did not take the same time."""
    why = disturbance({"plain decoding": plainly})
    if why:
        print(f"This run was disturbed ({why}): close other programs and run the command again.")


def _halves(runs: Sequence[Times]) -> str | None:
    """The difference of the halves, if it is above SHARE."""
    logs = [log for run in runs for times in run.values() for log in _second_over_first(times)]
    share = math.exp(median(map(abs, logs))) - 1 if logs else 0.0
    if share <= SHARE:
        return None
    return f"the two halves of the rounds differ by {100 * share:.3g}%, and {SHARE:.0%} is the most"


def _second_over_first(times: Sequence[float]) -> Iterator[float]:
    """The logarithm of the second half's median over the first's; nothing from a single round."""
    half = len(times) // 2
    if half:
        yield math.log(median(times[-half:]) / median(times[:half]))


def _wider_sooner(run: Times) -> str | None:
    """The pass that was most too soon beside one over fewer tokens, if there is one."""
    widths = sorted(key for key in run if isinstance(key, int))
    took = {width: median(run[width]) for width in widths}
    ratio, fewer, more = min(
        ((took[more] / took[fewer], fewer, more) for fewer, more in combinations(widths, 2)),
        default=(1.0, 0, 0),
    )
    if ratio > SOONER:
        return None
    return (
        f"a pass over {more} tokens took {1e3 * took[more]:.3g} ms, and one over {fewer} took "
        f"{1e3 * took[fewer]:.3g} ms"
    )
