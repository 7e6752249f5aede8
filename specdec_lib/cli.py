"""The student's commands: `specdec start` and `specdec update`."""

import argparse
import subprocess
import sys
from pathlib import Path

from specdec_lib import workspace

WORDS = {
    "copied": "copied to {path}",
    "kept": "your copy at {path} is as you left it",
    "same": "no change since you started",
    "new": "new; `specdec start` copies it to {path}",
    "changed": "changed since you started. Your copy is kept. To take the new one, rename the "
    "folder {folder} and run `specdec start`",
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code: 0 done, 2 could not start."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except OSError as error:
        print(f"specdec: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="specdec", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    start = commands.add_parser("start", help="copy the chapters to work/ and open JupyterLab")
    start.add_argument("--no-lab", action="store_true", help="only copy, for VS Code and others")
    start.set_defaults(run=run_start)
    update = commands.add_parser("update", help="say which chapters changed since you started")
    update.set_defaults(run=run_update)
    for command in (start, update):
        command.add_argument("--work", type=Path, default=Path("work"), help="default: work/")
    return top


def run_start(options: argparse.Namespace) -> int:
    """`specdec start`: chapters that are there already are never overwritten."""
    _report(workspace.copy_missing(options.work))
    if options.no_lab:
        return 0
    print("Opening JupyterLab; it stays open until you press Ctrl+C here twice.")
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={options.work.resolve()}"]
    return subprocess.run(command).returncode


def run_update(options: argparse.Namespace) -> int:
    """`specdec update`: look, and change nothing."""
    _report(workspace.compare(options.work))
    return 0


def _report(changes: list[workspace.Change]) -> None:
    for change in changes:
        words = WORDS[change.what].format(path=change.path, folder=change.path.parent)
        print(f"{change.chapter}: {words}")


if __name__ == "__main__":
    sys.exit(main())
