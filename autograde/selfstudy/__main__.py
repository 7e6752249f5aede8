"""`python -m autograde.selfstudy`: the program that `specdec mark` starts in its own process."""

import argparse
import sys
from functools import partial
from pathlib import Path

from autograde.course import UsageError, exit_code
from autograde.intake.bounds import TooCostly
from autograde.sandbox.isolation import disable_isolation
from autograde.sandbox.workers import SandboxError


def run_mark(arguments: list[str] | None = None) -> int:
    """Mark the chapters; show a page. Returns 0, 1 for a faulty course, 2 if one was not marked."""
    parser = argparse.ArgumentParser(prog="specdec mark")
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args(arguments)
    disable_isolation()
    print("Your own notebooks run here with your own rights: mark nobody else's.", flush=True)
    from autograde.selfstudy import command  # here, since it takes a second

    run = partial(command.mark_chapters, options.work, options.chapters, not options.no_browser)
    return exit_code(run, (OSError, UsageError, SandboxError, TooCostly), "specdec mark")


if __name__ == "__main__":
    sys.exit(run_mark())
