"""One submission in its worker: run the cells, call functions, start again after a crash."""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from autograde import bounds
from autograde.sandbox import isolation
from autograde.sandbox.inside import wire
from autograde.sandbox.remote import ObjectTable
from autograde.sandbox.workers import Limits, Worker

MAX_PRINTED = 21_000  # a little more than the worker keeps
MAX_ENDED = 3  # calls of one function that may end the process: after them it is not called again
UNDEFINED = re.compile(r"name '(\w+)' is not defined")  # Python's text of a NameError
DEFINES = r"^ *(async +)?(def|class) +{0}\b|\b{0}\b[^=\n(]*=(?!=)|\b(import|as|for)\b[^\n]*\b{0}\b"


class StudentError(Exception):
    """The student's code raised; the text is the exception's own."""

    def __init__(self, error: dict) -> None:
        super().__init__(error["text"])
        self.name = error["name"]
        where = f" ({error['where']})" if error.get("where") else ""
        self.what_happened = f"raised {self.name}: {self}{where}"


class NotDefined(Exception):
    """The name is not in the student's notebook; the text says which error is the cause."""

    no_answer = True


class ProcessEnded(Exception):
    """The student's process ended itself, or was ended for what it answered; the text says why.

    `call` is the call that did this, as text, where it was one.
    """

    call = ""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.what_happened = f"did not come back: {reason}"


class CallTimedOut(ProcessEnded):
    """The student's process was stopped at a time limit."""


class NotCalled(ProcessEnded):
    """A function that was not called, since `earlier` calls of it have ended the process."""

    def __init__(self, name: str, earlier: ProcessEnded) -> None:
        self.what_happened = (
            f"was not called, since `{earlier.call or name}` above did not come back"
        )
        Exception.__init__(self, self.what_happened)


def error_of(answer: dict) -> dict | None:
    """The error in a worker's answer, each part of the type that it should have."""
    error = answer.get("error")
    if error is None:
        return None
    parts = error if type(error) is dict else {}
    line, cell = parts.get("line"), parts.get("cell")
    return {
        "name": _plain(str(parts.get("name", "Exception"))[:80]),
        "text": _plain(str(parts.get("text", ""))[:2000]),
        "line": line if type(line) is int else None,
        "cell": cell if type(cell) is str else None,
    }


def report_of(answer: dict, left: int, explain: Callable[[dict | None], dict | None]) -> dict:
    """The report on a cell, from the worker's answer, whatever that holds.

    It has no more than `left` characters of output, and of an error as `explain` tells it.
    """
    printed, error = answer.get("printed"), explain(error_of(answer))
    text = _plain(printed[:MAX_PRINTED]) if type(printed) is str else ""
    if error:
        error["text"] = bounds.beginning(error["text"], max(left, bounds.MIN_ERROR))
    return {"error": error, "printed": bounds.beginning(text, left)}


def _plain(text: str) -> str:
    return wire.clean(bounds.without_colours(text))


def _length(report: dict) -> int:
    """The characters of a report on a cell."""
    return len(report["printed"]) + len((report["error"] or {"text": ""})["text"])


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
    changed: list[int]  # positions of the arguments that the function changed
    shares: bool  # the returned array shares memory with an argument
    operators: int = 0  # uses of torch, and those that waited for a value, where counted
    waits: tuple[str, ...] = ()


@dataclass
class Session:
    """The cells of one submission and the process that has run them.

    A cell or a call that outlasts its limit, or ends the process, costs only itself: a new process
    runs the other cells again. A function that has ended it is not called again for the same
    `part` of the tests, nor at all after the third time. `limited` says that a time limit was
    reached. `broken` is the error if no new process could be started: then the results so far are
    no basis for a mark.
    """

    cells: list[Cell]
    limits: Limits = field(default_factory=Limits)
    total_seconds: float | None = None

    def __post_init__(self) -> None:
        self.reports: dict[str, dict] = {}
        self.dead_cells: dict[str, str] = {}  # by key, in words
        self.part: object = None
        self.ended: dict[str, list[tuple[object, ProcessEnded]]] = {}  # by name, each with its part
        self.limited = False
        self.broken: RuntimeError | None = None
        self.worker: Worker | None = None
        if self.total_seconds is None:
            self.total_seconds = self.limits.total_seconds
        self.end_of_time = time.monotonic() + self.total_seconds

    def __enter__(self) -> "Session":
        self._restart()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def renew(self) -> None:
        """Start a fresh process, in which every name may be called again."""
        self.ended.clear()
        self._restart()

    def put_in_place(self, cells: Iterable[Cell]) -> None:
        """Run cells of the chapter's own, in this process and in all later ones.

        What they define takes the place of what the student has defined under the same name. Each
        runs once in a process, and no line of it is taken for one of the student's.
        """
        for cell in map(_unseen, cells):
            if cell not in self.cells:
                self.cells = [*self.cells, cell]
                try:
                    self._run(cell, 0)
                except ProcessEnded as ended:
                    self._bury(cell, ended)
                    self._restart()

    def call(self, name: str, args: tuple, count: bool = False) -> Reply:
        """The reply to one call, within the time limit of a call.

        With `count`, it says what was done with torch. Raises StudentError, NotDefined or
        ProcessEnded.
        """
        table = ObjectTable()
        encoded = [wire.encode(table.add(arg)) for arg in args]
        request = {"do": "call", "name": name, "args": encoded, "count": count}
        return self._ask_about(name, request, table, partial(_reply, len(args), table))

    def value(self, name: str) -> Any:
        """The value of a name in the student's notebook. Raises NotDefined or ProcessEnded."""
        request = {"do": "value", "name": name}
        return self._ask_about(name, request, ObjectTable(), lambda a: wire.decode(a["value"]))

    def _ask_about(self, name: str, request: dict, table: ObjectTable, read: Callable) -> Any:
        """What `read` makes of the answer, which has the time of a call."""
        ended = self.ended.setdefault(name, [])
        if len(ended) == MAX_ENDED or self.part in [part for part, _ in ended]:
            raise NotCalled(name, ended[0][1])
        try:
            answer = self._ask(request, self.limits.call_seconds, table)
            missing, error = answer.get("missing"), self._explained(error_of(answer), name)
            result = None if missing or error else _readable(answer, read)
        except ProcessEnded as error:
            ended.append((self.part, error))
            self._restart()
            raise
        if missing:
            raise NotDefined(self._why_missing(name))
        if error:
            raise StudentError(error)
        return result

    def _why_missing(self, name: str) -> str:
        """Why a name is not defined. An exercise's cell bears the exercise's name."""
        if self.reports.get(name, {}).get("error"):
            return f"{name} is not defined: its cell {self._how_ended(name)}"
        why = self._why_undefined(name)
        return f"{why}{name} is not defined in the notebook"

    def _explained(self, error: dict | None, key: str) -> dict | None:
        """An error in the cell `key`, or in its function, with `where` it stands.

        A NameError with the cell that should have defined the name, and did not end well. A
        MemoryError, of which Python says nothing, with what there is.
        """
        if error is None:
            return None
        error |= {"where": self._where(error, key)}
        if (error["name"], error["text"]) == ("MemoryError", ""):
            return error | {"text": f"a notebook may use {self._memory}"}
        found = UNDEFINED.match(error["text"]) if error["name"] == "NameError" else None
        why = self._why_undefined(found[1]) if found else ""
        return error | {"text": why + error["text"]}

    def _where(self, error: dict, key: str) -> str:
        """The line that an error stands in, and which cell's, if that is not the cell `key`."""
        cell = next((cell for cell in self.cells if cell.key == error["cell"]), None)
        if cell is None or not error["line"]:
            return ""
        other = "" if cell.key == key else f" of the cell that begins with `{_beginning(cell)}`"
        return f"line {error['line']}{other}"

    def _why_undefined(self, name: str) -> str:
        """The cell that would have defined a name and how it ended, before what follows from it."""
        defines = re.compile(DEFINES.format(name), re.MULTILINE)
        for cell in self.cells:
            if self.reports.get(cell.key, {}).get("error") and defines.search(cell.source):
                begin, how = _beginning(cell), self._how_ended(cell.key)
                return f"the cell that defines `{name}` (which begins with `{begin}`) {how}, so "
        return ""

    def _how_ended(self, key: str) -> str:
        """How a cell ended that raised, or that ended the process."""
        error = self.reports[key]["error"]
        where = f" in {error['where']}" if error["where"] else ""
        raised = f"ended with {error['name']}{where}: {error['text'][:500]}"
        return self.dead_cells.get(key, raised)

    def _restart(self) -> None:
        """Start a fresh process and run every cell again that has not ended one before."""
        try:
            while not self._run_cells():
                pass
        except RuntimeError as error:  # the sandbox's fault, or the machine's: never the student's
            self.broken = error
            raise

    def _run_cells(self) -> bool:
        """Start a process and run the cells; False if one of them ended the process."""
        self._stop()
        if time.monotonic() >= self.end_of_time:
            return True
        self.worker = isolation.chosen().start(self.limits)
        left = bounds.MAX_OUTPUT
        for cell in self.cells:
            try:
                if cell.key not in self.dead_cells:
                    left -= self._run(cell, max(0, left))
            except ProcessEnded as ended:
                self._bury(cell, ended)
                return False
        return True

    def _run(self, cell: Cell, left: int) -> int:
        """Run a cell; how many characters its report has, which are about `left` at most."""
        answer = self._ask({"do": "cell", "source": cell.source, "key": cell.key}, cell.seconds)
        report = report_of(answer, left, lambda error: self._explained(error, cell.key))
        if report["error"] and report["error"]["name"] == "MemoryError":
            raise self._out_of_memory()  # what it has filled would be missing for all other cells
        self.reports[cell.key] = report
        return _length(report)

    def _bury(self, cell: Cell, ended: ProcessEnded) -> None:
        """Leave a cell out from now on."""
        if cell.key not in self.dead_cells:
            timed_out = isinstance(ended, CallTimedOut)
            how = f"was stopped after {cell.seconds:g} s" if timed_out else str(ended)
            self.dead_cells[cell.key] = how.removeprefix("it ")
            error = {"name": "Stopped", "text": str(ended), "where": ""}
            self.reports[cell.key] = {"error": error, "printed": ""}

    def _ask(self, request: dict, seconds: float, table: ObjectTable | None = None) -> dict:
        """The answer to a request, within `seconds` and within the submission's time.

        Before it answers, the worker may use the objects of `table`. Raises ProcessEnded.
        """
        if self.worker is None or time.monotonic() >= self.end_of_time:
            raise self._at_limit()
        deadline = min(time.monotonic() + seconds, self.end_of_time)
        try:
            answer = self._exchange(request, deadline, table)
        except TimeoutError:
            raise self._at_limit(f"it took longer than {seconds:g} s and was stopped") from None
        except (OSError, MemoryError, wire.ProtocolError) as error:
            raise ProcessEnded(f"the worker's answer could not be read: {error}") from None
        if answer is None:
            raise self._end_of_process()
        return answer

    def _end_of_process(self) -> ProcessEnded:
        """Why the process is gone."""
        if self.worker.is_killed():
            return self._at_limit(f"it used up {self.limits.cpu_seconds} s of processors")
        return ProcessEnded("it ended the Python process, which no answer needs to do")

    def _out_of_memory(self) -> ProcessEnded:
        return ProcessEnded(f"it needed more than {self._memory} of memory")

    @property
    def _memory(self) -> str:
        return f"{self.limits.memory_mib / 1024:g} GiB"

    def _at_limit(self, reason: str = "") -> CallTimedOut:
        """The error of a request that was stopped at a limit; no reason: at the submission's."""
        self.limited = True
        if not reason or time.monotonic() >= self.end_of_time:
            reason = f"the submission used up its {self.total_seconds:g} s"
        return CallTimedOut(reason)

    def _exchange(self, request: dict, deadline: float, table: ObjectTable | None) -> dict | None:
        answer = self.worker.exchange(request, deadline)
        while table is not None and answer is not None and "ask" in answer:
            if time.monotonic() >= deadline:  # one quick question after another times out too
                raise TimeoutError
            answer = self.worker.exchange(table.answer(answer["ask"]), deadline)
        return answer

    def _stop(self) -> None:
        if self.worker is not None:
            self.worker.end()
            self.worker = None


def _beginning(cell: Cell) -> str:
    """The first line of a cell, by which a student finds it."""
    first = cell.source.strip().partition("\n")[0]
    return f"{first[:60]} ..." if len(first) > 60 else first


def _unseen(cell: Cell) -> Cell:
    """The same cell under another key, and its lines in a file that is none of the student's."""
    source = f"exec(compile({cell.source!r}, '<the chapter>', 'exec'), globals())"
    return replace(cell, key=f"chapter-{cell.key}", source=source)


def _readable(answer: dict, read: Callable) -> Any:
    """`read(answer)`. Raises ProcessEnded if the answer lacks a part or has one of a wrong type."""
    try:
        return read(answer)
    except (MemoryError, wire.ProtocolError, LookupError, TypeError, ValueError) as error:
        raise ProcessEnded(f"the answer could not be read: {error}") from None


def _reply(arguments: int, table: ObjectTable, answer: dict) -> Reply:
    """The worker's answer to a call that had this number of arguments."""
    changed = [range(arguments)[i] for i in answer["changed"]]
    warnings = [wire.clean(str(text))[:200] for text in answer["warnings"]][:5]
    value, shares = wire.decode(answer["value"], table.thing), answer["shares"] is True
    return Reply(value, warnings, changed, shares, *_operations(answer.get("operations")))


def _operations(answer: Any) -> tuple[int, tuple[str, ...]]:
    """The number of operators and the waits that the worker reports."""
    if not isinstance(answer, dict):
        return 0, ()
    return int(answer["operators"]), tuple(str(name)[:40] for name in answer["waits"][:20])
