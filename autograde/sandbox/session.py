"""One submission in its worker: run the cells, call functions, start again after a crash."""

import operator
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from autograde.intake import bounds
from autograde.sandbox import isolation, workers
from autograde.sandbox.inside import wire
from autograde.sandbox.remote import ObjectTable
from autograde.sandbox.workers import Limits, Worker


class StudentError(Exception):
    """The student's code raised; the text is the exception's own."""

    def __init__(self, error: dict) -> None:
        super().__init__(error["text"])
        self.name = error["name"]
        where = f" ({error['where']})" if error["where"] else ""
        self.what_happened = f"raised {self.name}: {self}{where}"


class NotDefined(Exception):
    """The name is not in the student's notebook; the text says which error is the cause."""

    no_answer = True


class ProcessEnded(Exception):
    """The student's process ended itself, or was ended for what it answered; the text says why.

    `call` is the call that did this, as text, where it was one.
    """

    call = ""

    @property
    def what_happened(self) -> str:
        return f"did not come back: {self}"


class CallTimedOut(ProcessEnded):
    """The student's process was stopped at a time limit."""


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
    waits: Iterable[str] = ()


@dataclass
class Session:
    """The cells of one submission and the process that has run them.

    A cell or a call that outlasts its limit, or ends the process, costs only itself: a new process
    runs the other cells again. A function that has ended it is not called again for the same
    `part` of the tests: the first error stands for all. `limited` says that a time limit was
    reached. `broken` is the error if no new process could be started: then the results so far are
    no basis for a mark.
    """

    cells: list[Cell]
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.reports: dict[str, dict] = {}
        self.dead_cells: dict[str, str] = {}  # by key, in words
        self.part: object = None
        self.ended: dict[tuple[str, object], ProcessEnded] = {}  # by name and part
        self.limited = False
        self.broken: RuntimeError | None = None
        self.worker: Worker | None = None
        self.end_of_time = time.monotonic() + self.limits.total_seconds

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
        for cell in cells:
            source = f"exec(compile({cell.source!r}, '<the chapter>', 'exec'), globals())"
            cell = replace(cell, key=f"chapter-{cell.key}", source=source)
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
        return self._ask_about(request, lambda a: _reply(a, len(args), table.thing), table.answer)

    def value(self, name: str) -> Any:
        """The value of a name in the student's notebook. Raises NotDefined or ProcessEnded."""
        return self._ask_about({"do": "value", "name": name}, lambda a: wire.decode(a["value"]))

    def _ask_about(self, request: dict, read: Callable, answer: Callable | None = None) -> Any:
        """What `read` makes of the answer, which has the time of a call."""
        name = request["name"]
        if earlier := self.ended.get((name, self.part)):
            raise earlier
        try:
            result = partial(self._result, name, read)
            return self._ask(request, self.limits.call_seconds, result, answer)
        except ProcessEnded as error:
            self.ended[name, self.part] = error
            self._restart()
            raise

    def _result(self, name: str, read: Callable, answer: dict) -> Any:
        """What `read` makes of an answer about `name`; raises what came in its place."""
        if answer.get("missing"):
            raise NotDefined(f"{self._why_undefined(name)}{name} is not defined in the notebook")
        if error := _error_of(answer, name):
            raise StudentError(error)
        return read(answer)

    def _why_undefined(self, name: str) -> str:
        """How the cell of an exercise, which bears its name, ended, if that was not well."""
        error = self.reports.get(name, {}).get("error")
        if not error:
            return ""
        where = f" in {error['where']}" if error["where"] else ""
        raised = f"ended with {error['name']}{where}: {error['text'][:500]}"
        return f"the cell that defines `{name}` {self.dead_cells.get(name, raised)}, so "

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
        isolated = isolation.chosen() == isolation.BUBBLEWRAP
        self.worker = workers.start(self.limits, isolated)
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
        request = {"do": "cell", "source": cell.source, "key": cell.key}
        report = self._ask(request, cell.seconds, partial(self._report, cell.key, left))
        error = report["error"] or {"name": "", "text": ""}
        if error["name"] == "MemoryError":  # what it has filled would be missing for other cells
            gib = self.limits.memory_mib / 1024
            raise ProcessEnded(f"it needed more than {gib:g} GiB of memory")
        self.reports[cell.key] = report
        return len(report["printed"]) + len(error["text"])

    def _report(self, key: str, left: int, answer: dict) -> dict:
        """The report on a cell, with no more than `left` characters of output."""
        error, printed = _error_of(answer, key), answer["printed"]
        if error:
            error["text"] = bounds.beginning(error["text"], max(left, bounds.MIN_ERROR))
        return {"error": error, "printed": bounds.beginning(_plain(printed), left)}

    def _bury(self, cell: Cell, ended: ProcessEnded) -> None:
        """Leave a cell out from now on."""
        timed_out = isinstance(ended, CallTimedOut)
        how = f"was stopped after {cell.seconds:g} s" if timed_out else str(ended)
        self.dead_cells[cell.key] = how.removeprefix("it ")
        error = {"name": "Stopped", "text": str(ended), "where": ""}
        self.reports[cell.key] = {"error": error, "printed": ""}

    def _ask(self, request: dict, seconds: float, read: Callable, answer: Callable | None = None):
        """What `read` makes of the answer, within `seconds` and within the submission's time.

        Before the worker answers it may ask, and gets what `answer` says. Raises ProcessEnded.
        """
        left = self.end_of_time - time.monotonic()
        if self.worker is None or left <= 0:
            raise self._timed_out()
        try:
            reply = self.worker.ask(request, min(seconds, left), answer)
            if reply is not None:
                return read(reply)
        except TimeoutError:
            raise self._timed_out(f"it took longer than {seconds:g} s and was stopped") from None
        except (OSError, MemoryError, *wire.MALFORMED) as error:  # students may send anything
            text = str(error)[:200]
            raise ProcessEnded(f"the answer could not be read: {text}") from None
        raise ProcessEnded("it ended the Python process, as os._exit() does")

    def _timed_out(self, reason: str = "") -> CallTimedOut:
        """The error of a request that was stopped at a limit; no reason: at the submission's."""
        self.limited = True
        if not reason or time.monotonic() >= self.end_of_time:
            reason = f"the submission used up its {self.limits.total_seconds:g} s"
        return CallTimedOut(reason)

    def _stop(self) -> None:
        if self.worker is not None:
            self.worker.end()
            self.worker = None


def _error_of(answer: dict, key: str) -> dict | None:
    """The error in an answer about the cell `key`, or its function, with `where` it stands."""
    error = answer.get("error")
    if error is None:
        return None
    line = error["line"] if type(error["line"]) is int else 0
    other = "" if error["cell"] == key else " of another cell"
    where = f"line {line}{other}" if line else ""
    return {
        "name": _plain(error["name"][:80]),
        "text": _plain(error["text"][:2000]),
        "where": where,
    }


def _reply(answer: dict, arguments: int, thing: Callable) -> Reply:
    """The answer to a call that had this number of arguments; `thing` takes what was lent."""
    return Reply(
        wire.decode(answer["value"], thing),
        [wire.clean(str(text))[:200] for text in answer["warnings"][:5]],
        [range(arguments)[i] for i in answer["changed"]],
        answer["shares"] is True,
        operator.index(answer["operators"]),
        tuple(str(name)[:40] for name in answer["waits"][:20]),
    )


def _plain(text: str) -> str:
    return wire.clean(bounds.without_colours(text))
