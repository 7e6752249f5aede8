"""Grading on the workers of a dask cluster, in place of this machine's processes.

Every machine needs this repository at the same version, its packages at the same versions, and
Linux. Submissions are read, and results stored, on the machine that sends.
"""

import threading
from collections.abc import Iterable

from nbformat import NotebookNode

from autograde.cache import grader_fingerprint
from autograde.grade import Grader, grade_now
from autograde.result import Result

CONNECT_SECONDS = 15
_ALONE = threading.Lock()


def cluster(address: str, chapters: Iterable[str]) -> tuple[Grader, int]:
    """What grades on the workers of the dask scheduler at `address`, and how many these are.

    Raises ValueError if dask.distributed is missing, no scheduler with a worker answers, or a
    worker has another version of what grades `chapters`.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("--scheduler needs dask: pip install -e '.[cluster]'") from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise ValueError(f"no dask scheduler with a worker answers at {address}: {error}") from None
    for chapter in sorted(chapters):
        _require_same_grader(client, chapter)

    def grade(notebook: NotebookNode, chapter: str) -> Result:
        return client.submit(_grade_alone, notebook, chapter, pure=False, retries=0).result()

    return grade, len(client.ncores())


def _grade_alone(notebook: NotebookNode, chapter: str) -> Result:
    """One at a time in a process, whatever threads it has: a submission's limits hold for it."""
    with _ALONE:
        return grade_now(notebook, chapter)


def _require_same_grader(client, chapter: str) -> None:
    """Raise ValueError if a worker would grade by other code than this machine."""
    ours = grader_fingerprint(chapter)
    theirs = client.run(grader_fingerprint, chapter, on_error="return")
    if strange := [name for name, other in theirs.items() if other != ours]:
        raise ValueError(
            f"the worker {strange[0]} has another version of the course, of Python or of a package"
        )
