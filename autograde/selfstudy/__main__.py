"""`python -m autograde.selfstudy`: what `specdec mark` starts, in a process of its own."""

import argparse
import sys
from functools import partial
from pathlib import Path

from autograde.exits import exit_code
from autograde.sandbox.isolation import isolate_nothing

STOPPED = 130  # what a shell gives for a program that Ctrl+C ended


def main(arguments: list[str] | None = None) -> int:
    """Mark, and show a page. Returns 0, or 2 if a notebook could not be marked."""
    return exit_code(partial(_main, arguments), (OSError, ValueError, RuntimeError))


def _main(arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="specdec mark")
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args(arguments)
    isolate_nothing()
    print("Looking at your notebooks ...", file=sys.stderr, flush=True)
    try:
        from autograde.selfstudy import command  # takes a second, like what it imports

        return command.run(options.work, options.chapters, not options.no_browser)
    except KeyboardInterrupt:
        return STOPPED


if __name__ == "__main__":
    sys.exit(main())
