"""The instructor's commands: `autograde build`, `bundle`, `doctor`, and those of three packages."""

import argparse
import sys
from functools import partial
from pathlib import Path

from autograde.chapter import BUILD, SOLUTIONS
from autograde.errors import exit_code
from autograde.grading import commands as grading
from autograde.lms import commands as lms
from autograde.report import commands as reports
from autograde.sandbox.isolation import NoIsolation

PURPOSE = """\
Make the chapters' notebooks, and grade what a class hands in.

The usual order. Three steps are nbgrader's own commands; CHAPTER is a name such
as 02_rejection_sampling:
  autograde doctor                       see that this machine can grade safely
  autograde build                        make the notebooks from solutions/
  nbgrader generate_assignment CHAPTER   release a chapter to the class
  autograde bundle                       make the zip that students get
  autograde collect                      take in the zip of submissions
  autograde grade                        grade them, several at a time
  nbgrader autograde CHAPTER             put the results into the gradebook
  make grader                            mark written answers, in formgrader
  nbgrader generate_feedback CHAPTER     write everybody's feedback page
  autograde report                       make a page about the class
  autograde export                       write the marks for the LMS
`autograde COMMAND --help` has an example of each.
"""
EXIT_CODES = """\
Exit codes: 0 done; 1 done, and something is to be looked at, which is named;
2 not started, with a line that says why; 141 nobody reads the output any more.
"""
BUILD_DOES = """\
Read solutions/NN_topic.py and write the chapter's two notebooks:
solutions/NN_topic/NN_topic.ipynb, which nbgrader reads, and
notebooks/NN_topic/NN_topic.ipynb, which students get. A file is written only
where its bytes change, and none where a check fails.
"""
BUILD_ENDS = """\
Examples:
  autograde build --check
  autograde build 02_rejection_sampling --solutions

Exit codes: 0 done; 1 the text is wrong, a solution does not run or, with
--check, a notebook is out of date; 2 not started; 141 output closed.
"""
BUNDLE_DOES = """\
Read notebooks/ and specdec_lib/, and write the zip that students get. It has no
solutions, no hidden tests and no grader. Made twice it has the same bytes.
"""
BUNDLE_ENDS = """\
Examples:
  autograde bundle
  autograde bundle --chapter 00_bottleneck --chapter 01_draft_then_verify

Exit codes: 0 done; 2 not started; 141 output closed.
"""
DOCTOR_DOES = """\
Read what the kernel and the installed tools offer, put up the fences of grading
and attack them. Print every finding and what to do about it; write no file.
"""
DOCTOR_ENDS = """\
Example:
  autograde doctor

Exit codes: 0 safe; 1 not safe to grade here; 2 not started; 141 output closed.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code, one of `EXIT_CODES`."""

    def command() -> int:
        options = parser().parse_args(arguments)
        return options.run(options)

    return exit_code(command, (OSError, ValueError, NoIsolation))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    lines_kept = partial(
        argparse.ArgumentParser, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top = lines_kept(prog="autograde", description=PURPOSE, epilog=EXIT_CODES)
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=lines_kept)
    _add_build(commands)
    _add_bundle(commands)
    lms.add_to(commands)
    grading.add_to(commands)
    reports.add_to(commands)
    doctor = commands.add_parser(
        "doctor",
        help="say and prove how this machine isolates",
        description=DOCTOR_DOES,
        epilog=DOCTOR_ENDS,
    )
    doctor.set_defaults(run=run_doctor)
    return top


def _add_build(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    build = commands.add_parser(
        "build",
        help="make the two notebooks of every chapter",
        description=BUILD_DOES,
        epilog=BUILD_ENDS,
    )
    build.add_argument(
        "--check", action="store_true", help="only say what is out of date; write nothing"
    )
    build.add_argument(
        "--solutions",
        action="store_true",
        help="also execute the solutions into build/solutions/, as notebooks and HTML",
    )
    build.add_argument("chapters", nargs="*", metavar="CHAPTER", help="only these; default: all")
    build.set_defaults(run=run_build)


def _add_bundle(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    bundle = commands.add_parser(
        "bundle",
        help="make the zip that students get",
        description=BUNDLE_DOES,
        epilog=BUNDLE_ENDS,
    )
    place = BUILD / "specdec-course.zip"
    bundle.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        default=place,
        help=f"the zip to write; default: build/{place.name}, the name that Colab asks for",
    )
    bundle.add_argument(
        "--chapter",
        action="append",
        metavar="NAME",
        dest="chapters",
        help="only this chapter's notebook, and those of further --chapter; default: all",
    )
    bundle.set_defaults(run=run_bundle)


def run_build(options: argparse.Namespace) -> int:
    """`autograde build`: exit code 1 where the text is wrong or, with --check, out of date."""
    from autograde.build.execute import execute
    from autograde.build.release import build, check

    chapters = options.chapters or None
    if options.check:
        stale = check(chapters=chapters)
        print("\n".join(stale) or "every notebook is up to date")
        return 1 if stale else 0
    built = build(chapters=chapters)
    if options.solutions:
        execute([SOLUTIONS / f"{b.chapter}.py" for b in built])
    for b in built:
        state = "built" if b.changed else "up to date"
        print(f"{b.chapter}: {state}, {b.exercises} graded cells, {b.points:g} points")
    return 0


def run_bundle(options: argparse.Namespace) -> int:
    """`autograde bundle`: notebooks and specdec_lib, without solutions, hidden tests and grader."""
    from autograde.build.bundle import write_bundle
    from autograde.chapter import require_chapter

    for name in options.chapters or ():
        require_chapter(name)
    count = write_bundle(options.file, options.chapters)
    size = options.file.stat().st_size / 2**20
    print(f"{options.file}: {count} files, {size:.1f} MiB")
    return 0


def run_doctor(options: argparse.Namespace) -> int:
    """`autograde doctor`: exit code 1 where students' code cannot be graded safely here."""
    from autograde.sandbox.selftest import report

    lines, safe = report()
    print("\n".join(lines))
    return 0 if safe else 1


if __name__ == "__main__":
    sys.exit(main())
