"""The instructor's commands; `autograde --help` lists them."""

import argparse
import sys
from pathlib import Path

from autograde.grading import commands as grading
from autograde.lms import commands as lms
from autograde.paths import BUILD, SOLUTIONS
from autograde.reports import commands as reports
from autograde.sandbox.isolation import NoIsolation
from specdec_lib.pipes import until_closed

EXIT_CODES = (
    "Exit codes: 0 done; 1 done, and something is to be looked at, which is named; 2 not started, "
    "with a line that says why; 141 nobody reads the output any more."
)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code, one of `EXIT_CODES`."""
    return until_closed(lambda: _main(arguments))


def _main(arguments: list[str] | None) -> int:
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except BrokenPipeError:
        raise
    except (OSError, ValueError, NoIsolation) as error:
        print(f"autograde: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="autograde", description=__doc__, epilog=EXIT_CODES)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    build = commands.add_parser("build", help="make the two notebooks of every chapter")
    build.add_argument("--check", action="store_true", help="only say what is out of date")
    build.add_argument(
        "--solutions", action="store_true", help="execute the solutions into build/solutions/"
    )
    build.add_argument("chapters", nargs="*", metavar="CHAPTER", help="only these; default all")
    build.set_defaults(run=run_build)
    bundle = commands.add_parser("bundle", help="make the zip that students get")
    place = BUILD / "specdec-course.zip"
    bundle.add_argument(
        "file", type=Path, nargs="?", default=place, help="default build/" + place.name
    )
    bundle.set_defaults(run=run_bundle)
    grading.add_to(commands)
    doctor = commands.add_parser("doctor", help="say and prove how this machine isolates")
    doctor.set_defaults(run=run_doctor)
    lms.add_to(commands)
    reports.add_to(commands)
    return top


def run_build(options: argparse.Namespace) -> int:
    """`autograde build`: exit code 1 where the text is wrong or, with --check, out of date."""
    from autograde.builder.execute import ExecutionError, execute
    from autograde.builder.release import BuildError, build, check
    from autograde.builder.text import ChapterError

    chapters = options.chapters or None
    try:
        if options.check:
            stale = check(chapters=chapters)
            print("\n".join(stale) or "every notebook is up to date")
            return 1 if stale else 0
        built = build(chapters=chapters)
        if options.solutions:
            execute([SOLUTIONS / f"{b.chapter}.py" for b in built])
    except (ChapterError, BuildError, ExecutionError) as error:
        print(error, file=sys.stderr)
        return 1
    for b in built:
        state = "built" if b.changed else "up to date"
        print(f"{b.chapter}: {state}, {b.exercises} graded cells, {b.points:g} points")
    return 0


def run_bundle(options: argparse.Namespace) -> int:
    """`autograde bundle`: notebooks and specdec_lib, without solutions, hidden tests and grader."""
    from autograde.builder.bundle import write_bundle

    count = write_bundle(options.file)
    size = options.file.stat().st_size / 2**20
    print(f"{options.file}: {count} files, {size:.1f} MiB")
    return 0


def run_doctor(options: argparse.Namespace) -> int:
    """`autograde doctor`: exit code 1 where students' code cannot be graded safely here."""
    from autograde.sandbox.doctor import report

    lines, safe = report()
    print("\n".join(lines))
    return 0 if safe else 1


if __name__ == "__main__":
    sys.exit(main())
