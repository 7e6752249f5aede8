"""Everything that a card can show, in one file that can be sent back.

`python -m specdec_lib.measure.gpu_report` runs one part after the other, each in a process of its
own: a kernel that fails spoils a whole process. What a part prints, how long it took and how it
ended is in the file at once. A part that fails or takes too long is noted, and the next one runs.
"""

import argparse
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import torch

from specdec_lib.measure.bench.figures import GPU_FIGURES
from specdec_lib.measure.experiment.results_file import commit

MODULE = "specdec_lib.measure.gpu_report"
OUT = Path("build/gpu-report.txt")
FIGURES = "build/gpu-bench.json"
NO_CARD = (
    "There is no card here that torch can use: `specdec doctor` says what is missing. With "
    "--rehearse all parts run as far as a processor can, and leave a report of the same form."
)
Write = Callable[[str], None]


class Part(NamedTuple):
    """A part of the report: a command of this Python, and the seconds that it may take."""

    name: str
    command: tuple[str, ...]
    seconds: float
    leaves: str | None = None  # a file that it writes, for the report


class Done(NamedTuple):
    """How a part ended: with an exit code, or None where it was stopped."""

    part: Part
    code: int | None
    seconds: float

    @property
    def in_words(self) -> str:
        """A line for the summary."""
        ended = {0: "done", None: f"stopped after {self.part.seconds:.0f} s"}
        how = ended.get(self.code, f"failed with exit code {self.code}")
        return f"{self.part.name}: {how}, {self.seconds:.0f} s"


PARTS = (
    Part("the machine", ("-m", "specdec_lib.cli", "doctor"), 180),
    Part("tests that need a card", ("-m", "pytest", "-q", "-m", "cuda", "tests/specdec_lib"), 600),
    Part(
        "the decoder's figures",
        ("-m", "specdec_lib.measure.bench", "--json", FIGURES, "--only", *GPU_FIGURES),
        1500,
        FIGURES,
    ),
    Part(
        "started by the host and replayed", ("-m", "specdec_lib.measure.experiment.launches"), 300
    ),
    Part("the experiment of chapter 08", ("-m", "specdec_lib.measure.experiment"), 900),
)
DOWNLOADS = Part(
    "the experiment of chapter 08, with published pairs",
    ("-m", "specdec_lib.measure.experiment", "--yes"),
    7200,
)


STOOD_IN = ("tests/specdec_lib/decoding/test_captured.py", "tests/specdec_lib/models/test_t5.py")
# The same report without a card: what stands in for one, or the options alone.
REHEARSED = (
    PARTS[0],
    Part(
        "tests that need a card, on what stands in for one",
        ("-m", "pytest", "-q", *STOOD_IN),
        600,
    ),
    Part("the decoder's figures, their options", ("-m", "specdec_lib.measure.bench", "--help"), 60),
    *PARTS[3:],
)


def main(arguments: list[str] | None = None, parts: Sequence[Part] = PARTS) -> int:
    """Write the report; 0 if every part was done, 1 if one was not, 2 without a card."""
    options = parser().parse_args(arguments)
    if options.rehearse:
        parts = REHEARSED
    elif not torch.cuda.is_available():
        print(NO_CARD)
        return 2
    elif options.download:
        parts = [*parts[:-1], DOWNLOADS]
    done = report(parts, options.out)
    print(f"{options.out}: {'a rehearsal' if options.rehearse else 'send this file back'}")
    return int(any(each.code != 0 for each in done))


def parser() -> argparse.ArgumentParser:
    """The options."""
    command = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    command.add_argument("--out", type=Path, default=OUT, metavar="FILE", help="the report")
    what = "fetch the published pairs that fit, too, without a question, and run them"
    command.add_argument("--download", action="store_true", help=what)
    what = "without a card: see the report that one leaves, in half an hour at most"
    command.add_argument("--rehearse", action="store_true", help=what)
    return command


def report(parts: Sequence[Part], path: Path) -> list[Done]:
    """Run every part and write what came of it to `path`, line by line; a summary ends it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done: list[Done] = []
    with path.open("w", encoding="utf-8") as file:

        def write(line: str) -> None:
            print(line, file=file, flush=True)

        write("\n".join(head()))
        minutes = sum(part.seconds for part in parts) / 60
        print(f"{len(parts)} parts, {minutes:.0f} minutes at most")
        for number, part in enumerate(parts, 1):
            print(f"{number} of {len(parts)}: {part.name}, {part.seconds / 60:.0f} minutes at most")
            done.append(run(part, write))
            print(done[-1].in_words)
        write("\n## Summary\n" + "\n".join(each.in_words for each in done))
    return done


def head() -> list[str]:
    """When, where and with what."""
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else "no card"
    return [
        f"# {card}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"torch {torch.__version__}, CUDA {torch.version.cuda}, Python {platform.python_version()}",
        f"commit {commit() or 'unknown'}",
    ]


def run(part: Part, write: Write) -> Done:
    """One part in a process of its own, which is ended with its children when its time is over."""
    command = [sys.executable, *part.command]
    write(f"\n## {part.name}\n$ python {' '.join(part.command)}")
    begun, stopped = time.monotonic(), threading.Event()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )

    def stop() -> None:
        stopped.set()
        os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(part.seconds, stop)
    timer.start()
    for line in process.stdout:
        write(last_state(line.decode("utf-8", errors="replace")))
    code = process.wait()
    timer.cancel()
    done = Done(part, None if stopped.is_set() else code, time.monotonic() - begun)
    if part.leaves and Path(part.leaves).exists():
        write(f"\n{part.leaves}:\n{Path(part.leaves).read_text(encoding='utf-8')}")
    write(f"-> {done.in_words}")
    return done


def last_state(line: str) -> str:
    """What stands in a line at its end: a progress bar writes it over and over."""
    return line.rstrip("\n").rstrip("\r").rsplit("\r", 1)[-1]


if __name__ == "__main__":
    sys.exit(main())
