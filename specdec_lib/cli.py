"""The student's commands: `specdec start` and `specdec update`."""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from specdec_lib import workspace

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
# Settings for this server alone, and the student's own still win over its defaults: no question
# about news; notebooks saved with their simulators, so that these are there when a notebook is
# opened again; nbgrader without its tools for instructors.
LAB_DEFAULTS = Path(__file__).resolve().parent / "jupyter"


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code: 0 done, 2 could not start, else JupyterLab's own."""
    top = parser()
    options, others = top.parse_known_args(arguments)
    if others and options.run is not run_start:
        top.error(f"unrecognized arguments: {' '.join(others)}")
    try:
        return options.run(options, others)
    except OSError as error:
        print(f"specdec: {_plainly(error)}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="specdec", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    start = commands.add_parser(
        "start",
        allow_abbrev=False,  # JupyterLab's options are none of ours cut short
        help="copy the chapters to work/ and open JupyterLab",
        description="Copy the chapters that you do not have yet and open JupyterLab on them. "
        "A copy that is there is never overwritten.",
        epilog="Other options go to JupyterLab: specdec start --no-browser --port 8890",
    )
    start.add_argument("--no-lab", action="store_true", help="only copy, for VS Code and others")
    start.set_defaults(run=run_start)
    update = commands.add_parser(
        "update",
        help="say which chapters changed since you started",
        description="Say which chapters are new or changed since you started. Changes nothing.",
    )
    update.set_defaults(run=run_update)
    for command in (start, update):
        command.add_argument(
            "--work", type=Path, metavar="DIR", help="your copies (default: work/, right here)"
        )
    return top


def run_start(options: argparse.Namespace, lab_options: list[str]) -> int:
    """`specdec start`: chapters that are there already are never overwritten."""
    work = _work(options)
    _report(work, workspace.copy_missing(work))
    if any(change.what == "changed" for change in workspace.compare(work)):
        print("There are newer versions of your chapters: `specdec update` names them.")
    if options.no_lab:
        return 0
    if importlib.util.find_spec("jupyterlab") is None:
        print(f"specdec: {NO_LAB}", file=sys.stderr)
        return 2
    return _open_lab(work, lab_options)


def run_update(options: argparse.Namespace, _: list[str]) -> int:
    """`specdec update`: look, and change nothing."""
    work = _work(options)
    _report(work, workspace.compare(work))
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


if __name__ == "__main__":
    sys.exit(main())
