"""How much slower this machine is than the one that the limits were chosen on.

A fixed piece of work runs in a worker. Its seconds are a processor's, as those of the limits are:
other programs on the machine hardly count.
"""

import time
from functools import cache

from autograde.sandbox import isolation
from autograde.sandbox.workers import Limits, Worker

WORK = "total = 0\nfor n in range(500_000): total += n * n % 7"
REFERENCE_SECONDS = 0.05  # of WORK; it takes 0.04 where the limits were chosen, an AMD EPYC
MAX_SLOWNESS = 4.0
TRIES = 3


@cache
def slowness(limits: Limits) -> float:
    """What to multiply seconds by on this machine, from 1 to 4, measured in a worker of `limits`.

    A whole number, since no two measurements agree.
    Raises SandboxError if no worker starts.
    """
    if isolation.chosen().name == isolation.OWN:  # the grader's process is one like the worker
        ratio = min(_seconds_here() for _ in range(TRIES)) / REFERENCE_SECONDS
    else:
        ratio = _in_worker(limits) / REFERENCE_SECONDS
    return min(MAX_SLOWNESS, max(1.0, float(round(ratio))))


def _seconds_here() -> float:
    before = time.process_time()
    exec(WORK, {})
    return time.process_time() - before


def _in_worker(limits: Limits) -> float:
    worker = isolation.chosen().start(limits)
    try:
        return min(_seconds(worker) for _ in range(TRIES))
    finally:
        worker.end()


def _seconds(worker: Worker) -> float:
    before = worker.seconds_used()
    worker.exchange({"do": "cell", "source": WORK}, worker.limit(Limits.cell_seconds))
    return worker.seconds_used() - before
