"""Grading on the workers of a dask cluster, in place of this machine's processes.

Every machine needs this repository at the same version, its packages at the same versions, and
Linux. Submissions are read, and results stored, on the machine that sends.
"""

from collections.abc import Iterable, Mapping

from nbformat import NotebookNode

from autograde.cache import grader_fingerprint
from autograde.grade import Grader, grade_now
from autograde.result import Result

CONNECT_SECONDS = 15


def cluster(address: str, chapters: Iterable[str]) -> tuple[Grader, int]:
    """What grades on the workers of the dask scheduler at `address`, and how many these are.

    Raises ValueError if dask.distributed is missing, nothing answers at `address`, no worker is
    there, or one of them grades two at a time or has another version of what grades `chapters`.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("--scheduler needs dask: pip install -e '.[cluster]'") from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"no dask scheduler answers at {address}: {error}") from None
    require_single_threads(address, client.ncores())
    for chapter in sorted(chapters):
        _require_same_grader(client, chapter)

    def grade(notebook: NotebookNode, chapter: str) -> Result:
        return client.submit(grade_now, notebook, chapter, pure=False, retries=0).result()

    return grade, len(client.ncores())


def require_single_threads(address: str, workers: Mapping[str, int]) -> None:
    """Raise ValueError unless there are workers, of one thread: one submission at a time."""
    command = f"dask worker {address} --nworkers -1 --nthreads 1"
    if not workers:
        raise ValueError(f"no worker has joined {address}; start some: {command}")
    if several := [name for name, threads in workers.items() if threads > 1]:
        raise ValueError(
            f"the worker {several[0]} has {workers[several[0]]} threads, and one submission needs "
            f"a process to itself; start it so: {command}"
        )


def _require_same_grader(client, chapter: str) -> None:
    """Raise ValueError if a worker would grade by other code than this machine."""
    ours = grader_fingerprint(chapter)
    theirs = client.run(grader_fingerprint, chapter, on_error="return")
    strange = sorted(name for name, fingerprint in theirs.items() if fingerprint != ours)
    if strange:
        raise ValueError(
            f"the worker {strange[0]} has another version of the course, of Python or of a "
            f"package, or none ({theirs[strange[0]]}). Bring it to this machine's version."
        )
