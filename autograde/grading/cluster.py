"""Grading on the workers of a dask cluster: an executor like any other, from dask.distributed.

Every machine needs this repository at the same version, its packages at the same versions, and
Linux. Submissions are read, and results are stored, on the machine where the command runs.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext

from autograde.grading.cache import grader_fingerprint

CONNECT_SECONDS = 15


@contextmanager
def connected(address: str, chapters: Iterable[str]) -> Iterator[tuple]:
    """How to make an executor on the cluster at `address`, and how many workers it has.

    Raises ValueError where dask.distributed is missing, nothing answers at `address`, no worker
    is there, or one of them has another version of what grades `chapters`.
    """
    client = _client(address)
    with client:
        workers = client.ncores()
        require_single_threads(address, workers)
        for chapter in sorted(chapters):
            _require_same_grader(client, chapter)

        def open_executor(number: int) -> AbstractContextManager[Executor]:
            return nullcontext(client.get_executor(pure=False, retries=0))

        yield open_executor, len(workers)


def _client(address: str):  # -> distributed.Client, which may not be installed
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "--scheduler needs dask.distributed: pip install -e '.[cluster]'"
        ) from None
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"no dask scheduler answers at {address}: {error}") from None


def require_single_threads(address: str, workers: Mapping[str, int]) -> None:
    """Raise ValueError unless there are workers, of one thread: pytest runs one test at a time."""
    command = f"dask worker {address} --nworkers -1 --nthreads 1"
    if not workers:
        raise ValueError(f"no worker has joined {address}; start some: {command}")
    if several := [name for name, threads in workers.items() if threads > 1]:
        raise ValueError(
            f"the worker {several[0]} has {workers[several[0]]} threads, and one submission needs "
            f"a process to itself; start it so: {command}"
        )


def _require_same_grader(client, chapter: str) -> None:
    """Raise ValueError where a worker would grade by other code than this machine."""
    ours = grader_fingerprint(chapter)
    theirs = client.run(grader_fingerprint, chapter, on_error="return")
    strange = sorted(name for name, fingerprint in theirs.items() if fingerprint != ours)
    if strange:
        raise ValueError(
            f"the worker {strange[0]} has another version of the course, of Python or of a "
            f"package, or none ({theirs[strange[0]]}). Bring it to this machine's version."
        )
