"""One submission in its worker: run the cells, call its functions, start again after a crash."""

import time
from dataclasses import dataclass, field
from typing import Any

from autograde.sandbox.inside import wire
from autograde.sandbox.launch import Limits, Process
from autograde.sandbox.lending import Desk

MOST_PRINTED = 21_000  # a little more than the worker keeps


class StudentError(Exception):
    """The student's code raised; the text is the exception's own."""

    def __init__(self, error: dict) -> None:
        super().__init__(error["text"])
        self.name = error["name"]
        where = f" (line {error['line']} of the cell)" if error["line"] else ""
        self.what_happened = f"raised {self.name}: {self}{where}"


class NotDefined(Exception):
    """The name is not in the student's notebook; the text says which error kept it out."""

    no_answer = True


class Gone(Exception):
    """The student's process was stopped or ended itself; the text says what happened."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.what_happened = f"did not come back: {reason}"


def error_of(answer: dict) -> dict | None:
    """The error in a worker's answer, each part of the type that it should have."""
    error = answer.get("error")
    if error is None:
        return None
    parts = error if type(error) is dict else {}
    line = parts.get("line")
    return {
        "name": wire.clean(str(parts.get("name", "Exception")))[:80],
        "text": wire.clean(str(parts.get("text", "")))[:2000],
        "line": line if type(line) is int else None,
    }


def report_of(answer: dict) -> dict:
    """What a cell came to, out of the worker's answer, whatever that holds."""
    printed = answer.get("printed")
    text = wire.clean(printed) if type(printed) is str else ""
    return {"error": error_of(answer), "printed": text[:MOST_PRINTED]}


@dataclass(frozen=True)
class Cell:
    """One code cell to run: its id in the notebook, its source, and its limit in seconds."""

    key: str
    source: str
    seconds: float


@dataclass(frozen=True)
class Reply:
    """What came back from one call."""

    value: Any
    warnings: list[str]
    changed: list[int]  # positions of the arguments that the function has changed
    shares: bool  # the returned array shares memory with an argument
    operators: int = 0  # uses of torch, and those that waited for a value, where counted
    waits: tuple[str, ...] = ()


@dataclass
class Session:
    """The cells of one submission and the process that has run them.

    A cell or a call that outlasts its limit, or ends the process, costs only itself: the process
    is started again and the other cells are run again. `limited` tells that a limit was hit.
    """

    cells: list[Cell]
    limits: Limits = field(default_factory=Limits)
    total_seconds: float = 120.0

    def __post_init__(self) -> None:
        self.reports: dict[str, dict] = {}
        self.dead_cells: set[str] = set()
        self.dead_names: set[str] = set()
        self.limited = False
        self.process: Process | None = None
        self.end_of_time = time.monotonic() + self.total_seconds

    def __enter__(self) -> "Session":
        self._restart()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def call(self, name: str, args: tuple, count: bool = False) -> Reply:
        """Call the student's function; with `count`, see what it does with torch.

        Raises StudentError, NotDefined or Gone.
        """
        desk = Desk()
        args = tuple(desk.lend(arg) for arg in args)
        encoded = [wire.encode(arg) for arg in args]
        before = [wire.digest(arg) for arg in args]
        request = {"do": "call", "name": name, "args": {"l": encoded}, "count": count}
        answer = self._ask_about(name, request, desk)
        try:
            changed = [i for i, d in enumerate(answer["digests"]) if d != before[i]]
            seen = [wire.clean(str(text))[:200] for text in answer["warnings"]][:5]
            value, shares = wire.decode(answer["value"], desk.thing), answer["shares"] is True
            return Reply(value, seen, changed, shares, *_operations(answer.get("operations")))
        except (wire.ProtocolError, LookupError, TypeError, ValueError) as error:
            raise Gone(f"the answer could not be read: {error}") from None

    def value(self, name: str) -> Any:
        """The value of a name in the student's notebook. Raises NotDefined or Gone."""
        answer = self._ask_about(name, {"do": "value", "name": name}, Desk())
        try:
            return wire.decode(answer["value"])
        except (wire.ProtocolError, KeyError) as error:
            raise Gone(f"the answer could not be read: {error}") from None

    def _ask_about(self, name: str, request: dict, desk: Desk) -> dict:
        if name in self.dead_names:
            raise Gone("it was not called again after it was stopped")
        try:
            answer = self._ask(request, self.limits.call_seconds, desk)
        except Gone:
            self.dead_names.add(name)
            self._restart()
            raise
        if answer.get("missing"):
            raise NotDefined(self._why_missing(name))
        if error := error_of(answer):
            raise StudentError(error)
        return answer

    def _why_missing(self, name: str) -> str:
        """An exercise's cell bears the exercise's name, so its error tells why it is missing."""
        error = self.reports.get(name, {}).get("error")
        if not error:
            return f"{name} is not defined in the notebook"
        line = f" in line {error['line']}" if error["line"] else ""
        return f"{name} is not defined: its cell ended with {error['name']}{line}: {error['text']}"

    def _restart(self) -> None:
        """A fresh process with every cell run that has not ended one before."""
        while not self._run_cells():
            pass

    def _run_cells(self) -> bool:
        """Start a process and run the cells; False where one of them ended the process."""
        self._stop()
        if time.monotonic() >= self.end_of_time:
            return True
        self.process = Process(self.limits)
        self.process.wait_until_ready(self.limits.start_seconds)
        for cell in self.cells:
            if cell.key in self.dead_cells:
                continue
            try:
                request = {"do": "cell", "source": cell.source}
                self.reports[cell.key] = report_of(self._ask(request, cell.seconds))
            except Gone as gone:
                self._bury(cell, str(gone))
                return False
        return True

    def _bury(self, cell: Cell, reason: str) -> None:
        self.dead_cells.add(cell.key)
        error = {"name": "Stopped", "text": reason, "line": None}
        self.reports[cell.key] = {"error": error, "printed": ""}

    def _ask(self, request: dict, seconds: float, desk: Desk | None = None) -> dict:
        """One request and its answer, within `seconds` and within the submission's time.

        Before its answer, the worker may use what lies on `desk`.
        """
        now = time.monotonic()
        if self.process is None or now >= self.end_of_time:
            self.limited = True
            raise Gone(f"the submission used up its {self.total_seconds:g} s")
        try:
            deadline = min(now + seconds, self.end_of_time)
            answer = self.process.exchange(request, deadline)
            while desk is not None and answer is not None and "ask" in answer:
                if time.monotonic() > deadline:  # one quick question after another times out too
                    raise TimeoutError
                answer = self.process.exchange(desk.answer(answer["ask"]), deadline)
        except TimeoutError:
            self.limited = True
            raise Gone(f"it took longer than {seconds:g} s and was stopped") from None
        except (OSError, wire.ProtocolError) as error:
            raise Gone(f"the worker's answer could not be read: {error}") from None
        if answer is None:
            raise Gone("it ended the Python process, which no answer needs to do")
        return answer

    def _stop(self) -> None:
        if self.process is not None:
            self.process.end()
            self.process = None


def _operations(answer: Any) -> tuple[int, tuple[str, ...]]:
    """The number of operators and the waits that the worker reports."""
    if not isinstance(answer, dict):
        return 0, ()
    return int(answer["operators"]), tuple(str(name)[:40] for name in answer["waits"][:20])
