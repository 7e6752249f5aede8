"""One submission in its worker: run the cells, call its functions, start again after a crash."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
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
    is started again and the other cells are run again. `limited` tells that a limit was hit,
    `broken` that no process could be started again: then what the calls said is no judgement.
    """

    cells: list[Cell]
    limits: Limits = field(default_factory=Limits)
    total_seconds: float = 120.0

    def __post_init__(self) -> None:
        self.reports: dict[str, dict] = {}
        self.dead_cells: set[str] = set()
        self.dead_names: set[str] = set()
        self.limited = False
        self.broken: RuntimeError | None = None
        self.process: Process | None = None
        self.end_of_time = time.monotonic() + self.total_seconds

    def __enter__(self) -> "Session":
        self._restart()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def calls(self, name: str, many: list[tuple], count: bool = False) -> list[Reply | Exception]:
        """What comes of one call after the other, each within the limit of a call.

        They are asked for at once, which is much the cheaper way. With `count`, the replies tell
        what was done with torch. The first StudentError, NotDefined or Gone is the last of the
        list: nothing is called behind it.
        """
        desk = Desk()
        encoded, places = _tabled(many, desk)
        request = {"do": "calls", "name": name, "args": encoded, "calls": places, "count": count}
        answers: list[Reply | Exception] = []
        try:
            for number, args in enumerate(many):
                asked = None if number else request
                read = partial(_reply, len(args), desk)
                answers.append(self._ask_about(name, asked, desk, read))
        except (StudentError, NotDefined, Gone) as error:
            answers.append(error)
        return answers

    def value(self, name: str) -> Any:
        """The value of a name in the student's notebook. Raises NotDefined or Gone."""
        request = {"do": "value", "name": name}
        return self._ask_about(name, request, Desk(), lambda answer: wire.decode(answer["value"]))

    def _ask_about(self, name: str, request: dict | None, desk: Desk, read: Callable) -> Any:
        if name in self.dead_names:
            raise Gone("it was not called again after it was stopped")
        try:
            answer = self._ask(request, self.limits.call_seconds, desk)
            missing, error = answer.get("missing"), error_of(answer)
            found = None if missing or error else _readable(answer, read)
        except Gone:
            self.dead_names.add(name)
            self._restart()
            raise
        if missing:
            raise NotDefined(self._why_missing(name))
        if error:
            raise StudentError(error)
        return found

    def _why_missing(self, name: str) -> str:
        """An exercise's cell bears the exercise's name, so its error tells why it is missing."""
        error = self.reports.get(name, {}).get("error")
        if not error:
            return f"{name} is not defined in the notebook"
        line = f" in line {error['line']}" if error["line"] else ""
        return f"{name} is not defined: its cell ended with {error['name']}{line}: {error['text']}"

    def _restart(self) -> None:
        """A fresh process with every cell run that has not ended one before."""
        try:
            while not self._run_cells():
                pass
        except RuntimeError as error:  # the fence's fault, or the machine's: never the student's
            self.broken = error
            raise

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

    def _ask(self, request: dict | None, seconds: float, desk: Desk | None = None) -> dict:
        """One request and its answer, within `seconds` and within the submission's time.

        None is a request that went out with the one before. Before its answer, the worker may use
        what lies on `desk`.
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


def _tabled(many: list[tuple], desk: Desk) -> tuple[list, list[list[int]]]:
    """The encoded arguments, one that several calls have once; the places of each call's own."""
    places: dict[int, int] = {}
    encoded = []
    for arg in chain.from_iterable(many):
        if id(arg) not in places:
            places[id(arg)] = len(encoded)
            encoded.append(wire.encode(desk.lend(arg)))
    return encoded, [[places[id(arg)] for arg in args] for args in many]


def _readable(answer: dict, read: Callable) -> Any:
    """What `read` makes of an answer. Raises Gone where it has not the parts that are due."""
    try:
        return read(answer)
    except (wire.ProtocolError, LookupError, TypeError, ValueError) as error:
        raise Gone(f"the answer could not be read: {error}") from None


def _reply(arguments: int, desk: Desk, answer: dict) -> Reply:
    """The worker's answer to a call with so many arguments."""
    changed = [range(arguments)[i] for i in answer["changed"]]
    seen = [wire.clean(str(text))[:200] for text in answer["warnings"]][:5]
    value, shares = wire.decode(answer["value"], desk.thing), answer["shares"] is True
    return Reply(value, seen, changed, shares, *_operations(answer.get("operations")))


def _operations(answer: Any) -> tuple[int, tuple[str, ...]]:
    """The number of operators and the waits that the worker reports."""
    if not isinstance(answer, dict):
        return 0, ()
    return int(answer["operators"]), tuple(str(name)[:40] for name in answer["waits"][:20])
