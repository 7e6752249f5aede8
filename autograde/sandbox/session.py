"""One submission in its worker: run cells, call functions, restart after a crash."""

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
        text = f": {self}" if str(self) else ""
        self.what_happened = f"raised {self.name}{text}{where}"


class NotDefined(Exception):
    """The student's notebook does not define the name; the text names the error behind it."""

    no_answer = True


class ProcessEnded(Exception):
    """The student's process crashed, or was killed for its answer.

    `called` is the function whose call did it, and the arguments; None if it was no call.
    """

    called: tuple | None = None

    @property
    def what_happened(self) -> str:
        return f"did not return: {self}"


class CallTimedOut(ProcessEnded):
    """The student's process was stopped at a time limit."""


@dataclass(frozen=True)
class Cell:
    """One code cell to run: its id in the notebook, its source, and its time limit in seconds."""

    key: str
    source: str
    seconds: float


@dataclass(frozen=True)
class Reply:
    """The result of one call, and a report on the call."""

    value: Any
    warnings: list[str]
    mutated_args: list[int]  # positions of the arguments that the function changed
    shares_memory: bool  # the returned array shares memory with an argument
    torch_calls: int = 0  # calls of torch's functions, if the call was profiled
    host_syncs: Iterable[str] = ()  # the names of those that read a value on the host


@dataclass
class Session:
    """The cells of one submission and the process that has run them.

    A cell or a call that times out or crashes the process costs only itself: a new process runs
    the other cells again. A function that has crashed it is not called again for the same test
    `group`: the first error stands for all. `timed_out` says that a time limit was reached.
    `start_error` is set if no new process could be started: then no mark may be given.
    """

    cells: list[Cell]
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.reports: dict[str, dict] = {}
        self.disabled_cells: dict[str, str] = {}  # by key, in words
        self.group: object = None
        self.crashes: dict[tuple[str, object], ProcessEnded] = {}  # by name and test group
        self.timed_out = False
        self.start_error: RuntimeError | None = None
        self.worker: Worker | None = None
        self.deadline = time.monotonic() + self.limits.total_seconds  # of the whole submission

    def __enter__(self) -> "Session":
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def restart(self) -> None:
        """Start a fresh process, in which every name may be called again."""
        self.crashes.clear()
        self._start()

    def override(self, cells: Iterable[Cell]) -> None:
        """Override the student's definitions with those of the chapter's own cells.

        The cells run in this process and in all later ones, once each. An error in them is never
        reported at a line of the student's.
        """
        for cell in cells:
            source = f"exec(compile({cell.source!r}, '<the chapter>', 'exec'), globals())"
            cell = replace(cell, key=f"chapter-{cell.key}", source=source)
            if cell not in self.cells:
                self.cells = [*self.cells, cell]
                try:
                    self._run(cell, 0)
                except ProcessEnded as crash:
                    self._disable_cell(cell, crash)
                    self._start()

    def call(self, name: str, args: tuple, profile: bool = False) -> Reply:
        """The reply to one call, within the time limit of a call.

        With `profile` it counts the uses of torch. Raises StudentError, NotDefined or ProcessEnded.
        """
        table = ObjectTable()
        encoded = [wire.encode_value(table.add(arg)) for arg in args]
        request = {"do": "call", "name": name, "args": encoded, "profile": profile}
        parse = partial(_reply, n_args=len(args), resolve=table.resolve)
        return self._ask_about(request, parse, table.answer)

    def value(self, name: str) -> Any:
        """The value of a name in the student's notebook. Raises NotDefined or ProcessEnded."""
        request = {"do": "value", "name": name}
        return self._ask_about(request, lambda answer: wire.decode_value(answer["value"]))

    def _ask_about(self, request: dict, parse: Callable, serve: Callable | None = None) -> Any:
        """The parsed answer to a request about a name, within the time limit of a call."""
        name = request["name"]
        if earlier := self.crashes.get((name, self.group)):
            raise earlier
        try:
            parse_or_raise = partial(self._parse_or_raise, name, parse)
            return self._ask(request, self.limits.call_seconds, parse_or_raise, serve)
        except ProcessEnded as error:
            self.crashes[name, self.group] = error
            self._start()
            raise

    def _parse_or_raise(self, name: str, parse: Callable, answer: dict) -> Any:
        """The parsed answer about `name`. Raises NotDefined, or StudentError if it is an error."""
        if answer.get("missing"):
            raise NotDefined(f"{self._why_undefined(name)}{name} is not defined in the notebook")
        if error := _error_of(answer, name):
            raise StudentError(error)
        return parse(answer)

    def _why_undefined(self, name: str) -> str:
        """How the cell of an exercise, which has its name as its key, failed; "" if it did not."""
        error = self.reports.get(name, {}).get("error")
        if not error:
            return ""
        where = f" in {error['where']}" if error["where"] else ""
        raised = f"ended with {error['name']}{where}: {error['text'][:500]}"
        return f"the cell that defines `{name}` {self.disabled_cells.get(name, raised)}, so "

    def _start(self) -> None:
        """Start a fresh process and run every cell that has not crashed one before."""
        try:
            while not self._run_cells():
                pass
        except RuntimeError as error:  # the sandbox's fault, or the machine's: never the student's
            self.start_error = error
            raise

    def _run_cells(self) -> bool:
        """Start a process and run the cells; False if one of them crashed it."""
        self._stop()
        if time.monotonic() >= self.deadline:
            return True
        isolated = isolation.mode() == isolation.BUBBLEWRAP
        self.worker = workers.start_worker(self.limits, isolated)
        output_budget = bounds.MAX_OUTPUT
        for cell in self.cells:
            try:
                if cell.key not in self.disabled_cells:
                    output_budget -= self._run(cell, max(0, output_budget))
            except ProcessEnded as crash:
                self._disable_cell(cell, crash)
                return False
        return True

    def _run(self, cell: Cell, max_chars: int) -> int:
        """Run a cell; returns the length of its report, `max_chars` characters or a little more."""
        request = {"do": "cell", "source": cell.source, "key": cell.key}
        report = self._ask(request, cell.seconds, partial(self._report, cell.key, max_chars))
        error = report["error"] or {"name": "", "text": ""}
        if error["name"] == "MemoryError":  # other cells would miss the memory that it has filled
            gib = self.limits.memory_mib / 1024
            raise ProcessEnded(f"it needed more than {gib:g} GiB of memory")
        self.reports[cell.key] = report
        return len(report["printed"]) + len(error["text"])

    def _report(self, key: str, max_chars: int, answer: dict) -> dict:
        """The report on a cell, with at most `max_chars` characters of output."""
        error = _error_of(answer, key)
        if error:
            max_error = max(max_chars, bounds.MIN_ERROR)
            error["text"] = bounds.truncate_output(error["text"], max_error)
        printed = bounds.truncate_output(_plain_text(answer["printed"]), max_chars)
        return {"error": error, "printed": printed}

    def _disable_cell(self, cell: Cell, crash: ProcessEnded) -> None:
        """Leave a cell out from now on."""
        timed_out = isinstance(crash, CallTimedOut)
        reason = f"was stopped after {cell.seconds:g} s" if timed_out else str(crash)
        self.disabled_cells[cell.key] = reason.removeprefix("it ")
        error = {"name": "Stopped", "text": str(crash), "where": ""}
        self.reports[cell.key] = {"error": error, "printed": ""}

    def _ask(self, request: dict, seconds: float, parse: Callable, serve: Callable | None = None):
        """The parsed answer, within `seconds` and the deadline. Raises ProcessEnded.

        Until then `serve` answers the worker's own questions.
        """
        seconds_left = self.deadline - time.monotonic()
        if self.worker is None or seconds_left <= 0:
            raise self._timeout_error()
        try:
            answer = self.worker.ask(request, min(seconds, seconds_left), serve)
            if answer is not None:
                return parse(answer)
        except TimeoutError:
            reason = f"it took longer than {seconds:g} s and was stopped"
            raise self._timeout_error(reason) from None
        except (OSError, MemoryError, *wire.MALFORMED) as error:  # students may send anything
            text = str(error)[:200]
            raise ProcessEnded(f"the answer could not be read: {text}") from None
        raise ProcessEnded("it ended the Python process, as os._exit() does")

    def _timeout_error(self, reason: str = "") -> CallTimedOut:
        """The error of a request that timed out; without a reason, at the submission's deadline."""
        self.timed_out = True
        if not reason or time.monotonic() >= self.deadline:
            reason = f"the submission used up its {self.limits.total_seconds:g} s"
        return CallTimedOut(reason)

    def _stop(self) -> None:
        if self.worker is not None:
            self.worker.end()
            self.worker = None


def _error_of(answer: dict, key: str) -> dict | None:
    """The error in an answer about the cell `key`, or its function, with its line in `where`."""
    error = answer.get("error")
    if error is None:
        return None
    line = error["line"] if type(error["line"]) is int else 0
    cell = "" if error["cell"] == key else " of another cell"
    where = f"line {line}{cell}" if line else ""
    return {
        "name": _plain_text(error["name"][:80]),
        "text": _plain_text(error["text"][:2000]),
        "where": where,
    }


def _reply(answer: dict, n_args: int, resolve: Callable) -> Reply:
    """The answer to a call with `n_args` arguments; `resolve` gives the object of a handle."""
    return Reply(
        wire.decode_value(answer["value"], resolve),
        [wire.clean(str(text))[:200] for text in answer["warnings"][:5]],
        [range(n_args)[i] for i in answer["mutated_args"]],
        answer["shares_memory"] is True,
        operator.index(answer["torch_calls"]),
        tuple(str(name)[:40] for name in answer["host_syncs"][:20]),
    )


def _plain_text(text: str) -> str:
    return wire.clean(bounds.strip_colours(text))
