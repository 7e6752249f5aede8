"""The student's commands: `specdec start`, `mark`, `update`, `race`, `generate`, and so on."""

import argparse
import importlib.util
import math
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from specdec_lib import workspace
from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.models.catalogue import catalogue

PURPOSE = """\
Work through the chapters of the course, and try speculative decoding on this
machine.

The usual order:
  specdec doctor      see what of the course this machine can run
  specdec start       copy the chapters to work/ and open them in JupyterLab
  specdec mark        if you study alone: mark your notebooks, read your page
  specdec update      later: see which chapters changed since you started
At any time:
  specdec race        see plain and speculative decoding write the same text
  specdec generate    continue a prompt with a draft and a target
  specdec pairs       see which pairs of models there are
  specdec compare     set two results of chapter 08 side by side
`specdec COMMAND --help` has an example of each.
"""
EXIT_CODES = """\
Exit codes: 0 done; 2 not started, with a line that says why; 130 stopped with
Ctrl+C. After `start`, JupyterLab's own.
"""
# Of one command.
CODES = "Exit codes: {first}0 done; 2 not started; 130 Ctrl+C.\n"
STOPPED = 130  # what a shell gives for a program that Ctrl+C ended: 128 + SIGINT
START_DOES = """\
Copy the chapters that you do not have yet from the course's notebooks/ to DIR,
and open JupyterLab on them. A copy that is there is never overwritten.
"""
START_ENDS = """\
Other options go to JupyterLab.

Examples:
  specdec start
  specdec start --no-browser --port 8890
"""
UPDATE_DOES = """\
Compare your copies in DIR with the course's notebooks/, and print which
chapters are new or changed since you started. Changes nothing.
"""
UPDATE_ENDS = """\
Example:
  specdec update
"""
MARK_DOES = """\
Run the hidden tests on your notebooks in DIR, as they are saved, and open your
page in the browser. The pages are written to DIR/marks/, and no notebook is
changed.
"""
MARK_ENDS = """\
Examples:
  specdec mark
  specdec mark 02 --no-browser
"""
GENERATE_DOES = """\
Continue a prompt by speculative decoding. Print the text, its time and the
target's forwards. A pair that is not built in is fetched once, from the hub,
after you have seen how many gigabytes it is and agreed.
"""
GENERATE_ENDS = """\
Examples:
  specdec generate "def quicksort(" --k 4 --show
  specdec generate "def quicksort(" --pair qwen3-4b --show
"""
RACE_DOES = """\
Race plain against speculative decoding on the built-in models, in about 20 s,
with a clock for each. Replay both texts side by side at the speed that they
had, then print tokens, seconds, passes and the ratio.
"""
RACE_ENDS = """\
Examples:
  specdec race
  specdec race --draft small --k 5 --temperature 1
"""
PAIRS_DOES = """\
Print the pairs of models, with the sizes and licences of those that have to be
fetched. Fetches and writes nothing.
"""
PAIRS_ENDS = """\
Example:
  specdec pairs
"""
DOCTOR_DOES = """\
Look at this machine. Print whether it is enough for the chapters, its torch and
its card, and which published pairs fit; write no file.
"""
DOCTOR_ENDS = """\
Example:
  specdec doctor
"""
COMPARE_DOES = """\
Read two result files of chapter 08. Print them side by side, row by row, and
what differs in machine and versions; write no file.
"""
COMPARE_ENDS = """\
Example:
  specdec compare mine.json theirs.json
"""
WORDS = {
    "copied": "copied",
    "kept": "your copy, as you left it",
    "same": "no change since you started",
    "new": "new: `specdec start` copies it",
    "changed": "changed since you started. Your copy is kept. To take the new one, rename the "
    "folder {folder} and run `specdec start`",
    "unknown": "your copy is kept. Which version it was made from is not on record, so this "
    "command cannot say whether the chapter has changed since",
}
NO_LAB = (
    "JupyterLab is not installed here. Install the course with `pip install -e .[course]`, or "
    "open the notebooks above in another program."
)
NO_MODELS = (
    "torch and transformers are not installed. Install the course: `pip install -e .[course]`."
)
NO_GRADER = (
    "there is no grader in this copy of the course: whoever gave it to you marks your work, so "
    "hand in {work}/NN_topic/NN_topic.ipynb. To mark it yourself, install the course from its "
    "whole repository or from a zip made by `autograde bundle --self-study`."
)
NO_WORK = "there is no folder {work}; `specdec start` makes it, and --work names another one."
# Settings for this server alone, and the student's own still win over its defaults: no question
# about news; notebooks saved with their simulators, so that these are there when a notebook is
# opened again; nbgrader without its tools for instructors.
LAB_DEFAULTS = Path(__file__).resolve().parent / "jupyter"
# What a race is by default, and so the recorded one.
RACE = {"k": 3, "draft": BUILT_IN_DRAFTS[0], "target_cost": "234m", "temperature": 0.0}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code, one of `EXIT_CODES`."""
    top = parser()
    options, others = top.parse_known_args(arguments)
    if others and options.run is not run_start:
        top.error(f"unrecognized arguments: {' '.join(others)}")
    try:
        code = options.run(options, others)
        sys.stdout.flush()  # now, while a closed pipe can still be caught
        return code
    except KeyboardInterrupt:
        print("\nspecdec: stopped", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # nobody reads any more, as after `| head`: the rest goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _refused(_plainly(error))


class Command(NamedTuple):
    """A command of `specdec`: what its help says, what it takes and what it runs."""

    help: str
    does: str
    ends: str  # its examples
    add: Callable[[argparse.ArgumentParser], object]
    run: Callable[[argparse.Namespace, list[str]], int]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    lines_kept = partial(
        argparse.ArgumentParser, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top = lines_kept(prog="specdec", description=PURPOSE, epilog=EXIT_CODES)
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=lines_kept)
    for name, each in COMMANDS.items():
        lab = name == "start"
        codes = CODES.format(first="JupyterLab's, or without it:\n" if lab else "")
        command = commands.add_parser(
            name,
            allow_abbrev=not lab,  # JupyterLab's options are none of ours cut short
            help=each.help,
            description=each.does,
            epilog=f"{each.ends}\n{codes}",
        )
        each.add(command)
        command.set_defaults(run=each.run)
    return top


def _add_start(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-lab", action="store_true", help="only copy, for VS Code and others")
    _add_work(command)


def _add_work(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--work", type=Path, metavar="DIR", help="your copies (default: work/, right here)"
    )


def _add_mark(command: argparse.ArgumentParser) -> None:
    option = command.add_argument
    option(
        "chapters",
        metavar="CHAPTER",
        nargs="*",
        help="by name or number (default: all that you changed since they were marked)",
    )
    option("--no-browser", action="store_true", help="only say where the pages are")
    _add_work(command)


def _add_compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("first", type=Path, metavar="A.json", help="one result file")
    command.add_argument("second", type=Path, metavar="B.json", help="the other")


def at_least(least: int, kind: Callable = int) -> Callable[[str], float]:
    """Reads the number of an option, and refuses one below `least` or without an end."""

    def read(text: str) -> float:
        value = kind(text)
        if not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f"it is {text}; it has to be {least} or more")
        return value

    read.__name__ = kind.__name__  # argparse names it where there is no number at all
    return read


def _add_generate(command: argparse.ArgumentParser) -> None:
    option = command.add_argument
    option("prompt", metavar="PROMPT", help="the text to go on with")
    _add_models(command)
    block, most = "draft tokens in a block", "new tokens at most"
    option("--k", type=at_least(1), default=4, help=f"{block} (default: %(default)s)")
    option("--tokens", type=at_least(0), default=128, help=f"{most} (default: %(default)s)")
    option("--show", action="store_true", help="mark which model wrote which token")
    _add_sampling(command)


def _add_models(command: argparse.ArgumentParser) -> None:
    """Which models `specdec generate` runs."""
    option = command.add_argument
    option("--pair", default="stdlib", help="one that `specdec pairs` names (default: %(default)s)")
    option("--draft", help="which of the pair's drafts or heads (default: its first)")
    option(
        "--target-cost",
        metavar="SIZE",
        help="the built-in target at the cost of 40m, 234m, 1b or 7b (default: at its own)",
    )
    option("--yes", action="store_true", help="fetch a pair without asking")
    option(
        "--dtype",
        choices=("float32", "bfloat16", "float16"),
        help="of the weights (default: by the device)",
    )


def _add_sampling(command: argparse.ArgumentParser) -> None:
    """How `specdec generate` samples."""
    option, warmth = command.add_argument, at_least(0, float)
    option("--temperature", type=warmth, default=0.0, help="0 is greedy (default: %(default)g)")
    few = "sample from the most probable k tokens only (default: all)"
    option("--top-k", type=at_least(1), help=few)
    option(
        "--top-p",
        type=float,
        default=1.0,
        help="sample from the most probable p of the mass (default: %(default)g)",
    )
    option("--seed", type=at_least(0), default=0, help="of the samples (default: %(default)s)")


def _add_race(command: argparse.ArgumentParser) -> None:
    option, warmth = command.add_argument, at_least(0, float)
    option("--k", type=at_least(1), help="draft tokens in a block (default: %(default)s)")
    option(
        "--draft",
        choices=BUILT_IN_DRAFTS,
        help="the draft model (default: %(default)s)",
    )
    option(
        "--target-cost",
        choices=("40m", "234m"),
        help="what the target costs; a smaller one is taken if it does not fit "
        "(default: %(default)s)",
    )
    option("--temperature", type=warmth, help="0 is greedy (default: %(default)g)")
    option("--recorded", action="store_true", help="replay a race of another machine")
    command.set_defaults(**RACE)


def run_start(options: argparse.Namespace, lab_options: list[str]) -> int:
    """`specdec start`: chapters that are there already are never overwritten."""
    work = _work(options)
    _report(work, workspace.copy_missing(work))
    if any(change.what == "changed" for change in workspace.changes(work)):
        print("There are newer versions of your chapters: `specdec update` names them.")
    if options.no_lab:
        return 0
    if importlib.util.find_spec("jupyterlab") is None:
        return _refused(NO_LAB)
    return _open_lab(work, lab_options)


def run_update(options: argparse.Namespace, _: list[str]) -> int:
    """`specdec update`: look, and change nothing."""
    work = _work(options)
    _report(work, workspace.changes(work))
    return 0


def run_mark(options: argparse.Namespace, _: list[str]) -> int:
    """`specdec mark`: the grader is a program of its own, which a class's students do not have."""
    work = _work(options)
    if importlib.util.find_spec("autograde") is None:
        return _refused(NO_GRADER.format(work=work))
    if not work.is_dir():
        return _refused(NO_WORK.format(work=work))
    # A file of the current folder is no module of the grader: -P.
    command = [sys.executable, "-P", "-X", "utf8", "-m", "autograde.selfstudy"]
    command += [*options.chapters, "--work", str(work)]
    return subprocess.call([*command, "--no-browser"] if options.no_browser else command)


def run_pairs(options: argparse.Namespace, _: list[str]) -> int:
    """`specdec pairs`."""
    print("\n".join(catalogue()))
    return 0


def run_doctor(options: argparse.Namespace, _: list[str]) -> int:
    """`specdec doctor`: a line for each finding, as soon as it is there."""
    if importlib.util.find_spec("transformers") is None:
        return _refused(NO_MODELS)
    from specdec_lib.measure import doctor  # takes a second: it brings torch

    for line in doctor.lines():
        print(line, flush=True)
    return 0


def run_compare(options: argparse.Namespace, _: list[str]) -> int:
    """`specdec compare`. A file that is no table of results is named in a line, exit code 2."""
    from specdec_lib.measure import results

    try:
        print(results.side_by_side(options.first, options.second))
    except ValueError as error:
        return _refused(error)
    return 0


def _refused(why: str | ValueError) -> int:
    """Say why a command has not started; returns its exit code."""
    print(f"specdec: {why}", file=sys.stderr)
    return 2


def run_generate(options: argparse.Namespace, _: list[str]) -> int:
    """`specdec generate`. What does not fit together is said in a line, with exit code 2."""
    if importlib.util.find_spec("transformers") is None:
        return _refused(NO_MODELS)
    from specdec_lib import cli_generate  # takes a second: it brings torch

    try:
        cli_generate.run(options, sys.stdout)
    except ValueError as error:
        print(file=sys.stderr)  # the prompt may stand in this line
        return _refused(error)
    return 0


def run_race(options: argparse.Namespace, _: list[str]) -> int:
    """`specdec race`. A recorded one needs no torch, and is as it was recorded."""
    changed = [name for name, usual in RACE.items() if getattr(options, name) != usual]
    if options.recorded and changed:
        option, usual = f"--{changed[0].replace('_', '-')}", RACE[changed[0]]
        was = f"the recorded race was run with {option} {usual}"
        return _refused(f"{was}: leave out {option}, or --recorded to run one here.")
    if not options.recorded and importlib.util.find_spec("torch") is None:
        return _refused(f"{NO_MODELS} `specdec race --recorded` replays a race without them.")
    from specdec_lib import cli_race

    try:
        cli_race.run(options, sys.stdout, sys.stderr)
    except ValueError as error:
        return _refused(error)
    return 0


def _work(options: argparse.Namespace) -> Path:
    return (options.work or workspace.usual_folder()).resolve()


def _report(work: Path, changes: list[workspace.Change]) -> None:
    print(f"Your chapters are in {work}")
    for change in changes:
        words = WORDS[change.what].format(folder=change.path.parent.name)
        print(f"  {change.chapter}: {words}")


def _open_lab(work: Path, lab_options: list[str]) -> int:
    """Run JupyterLab on `work` until it is stopped; returns its exit code."""
    print("Opening JupyterLab. To stop it, save your notebooks and press Ctrl+C here twice.")
    sys.stdout.flush()  # JupyterLab writes to the same terminal
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={work}"]
    # Lab starts in `work`: nbgrader's Validate reads the configuration of the folder it runs in.
    # ERROR leaves the address to open and what goes wrong.
    quiet = "--Application.log_level=ERROR"
    lab = subprocess.Popen([*command, quiet, *lab_options], cwd=work, env=_environment())
    code = _wait(lab)
    how = "has stopped" if code == 0 else f"ended with exit code {code}; the reason is above"
    print(f"JupyterLab {how}. Your work is in {work}; `specdec start` opens it again.")
    return code


def _environment() -> dict[str, str]:
    """This process's environment, with `LAB_DEFAULTS` as one more folder of Jupyter settings."""
    paths = [str(LAB_DEFAULTS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    return os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, paths))}


def _wait(lab: subprocess.Popen) -> int:
    """The exit code of `lab`. Ctrl+C reaches it too, and it asks before it stops."""
    while True:
        try:
            return lab.wait()
        except KeyboardInterrupt:
            continue


def _plainly(error: OSError) -> str:
    """The error without its number."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"


COMMANDS = {
    "start": Command(
        "copy the chapters to work/ and open JupyterLab",
        START_DOES, START_ENDS, _add_start, run_start,
    ),
    "mark": Command(
        "mark your own notebooks, if you study alone",
        MARK_DOES, MARK_ENDS, _add_mark, run_mark,
    ),
    "update": Command(
        "say which chapters changed since you started",
        UPDATE_DOES, UPDATE_ENDS, _add_work, run_update,
    ),
    "race": Command(
        "see plain and speculative decoding write the same text",
        RACE_DOES, RACE_ENDS, _add_race, run_race,
    ),
    "generate": Command(
        "continue a prompt by speculative decoding",
        GENERATE_DOES, GENERATE_ENDS, _add_generate, run_generate,
    ),
    "pairs": Command(
        "list the pairs of models", PAIRS_DOES, PAIRS_ENDS, lambda command: None, run_pairs
    ),
    "doctor": Command(
        "say what this machine has and can do",
        DOCTOR_DOES, DOCTOR_ENDS, lambda command: None, run_doctor,
    ),
    "compare": Command(
        "set two result files of chapter 08 side by side",
        COMPARE_DOES, COMPARE_ENDS, _add_compare, run_compare,
    ),
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
