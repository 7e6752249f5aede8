"""A clock for measurements whose outcome is known."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from specdec_lib.measure.core import timing


class Clock:
    """A clock that stands still but for what tasks say they take."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def task(self, seconds: float) -> Callable[[], None]:
        """A task that takes so long."""

        def run() -> None:
            self.now += seconds

        return run
