"""`python -m autograde.selfstudy`: what `specdec mark` starts, in a process of its own."""

import argparse
import sys
from functools import partial
from pathlib import Path

from autograde.course import UsageError, exit_code
from autograde.intake.bounds import TooCostly
from autograde.sandbox.isolation import disable_isolation
from autograde.sandbox.workers import SandboxError


def main(arguments: list[str] | None = None) -> int:
    """Mark, and show a page. Returns 0, or 2 if a notebook could not be marked."""
    parser = argparse.ArgumentParser(prog="specdec mark")
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args(arguments)
    disable_isolation()
    print("Your own notebooks run here with your own rights: mark nobody else's.", flush=True)
    from autograde.selfstudy import command  # takes a second, like what it imports

    run = partial(command.run, options.work, options.chapters, not options.no_browser)
    return exit_code(run, (OSError, UsageError, SandboxError, TooCostly), "specdec mark")


if __name__ == "__main__":
    sys.exit(main())
