"""Work that may never answer, such as a network: wait for it so long, and no longer."""

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def within_seconds(seconds: float, task: Callable[[], Result]) -> Result:
    """What `task` gives, or the error that it raises; TimeoutError if it takes longer.

    It then goes on in a thread that ends with the process.
    """
    outcome: list[tuple[Result | None, BaseException | None]] = []

    def run() -> None:
        try:
            outcome.append((task(), None))
        except BaseException as error:  # raised again where it was asked for
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise TimeoutError(f"no answer in {seconds:g} s")
    result, error = outcome[0]
    if error is not None:
        raise error
    return result
