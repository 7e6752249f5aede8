"""The instructor's commands: `autograde build`, `autograde grade` and `autograde doctor`."""

import argparse
import os
import sys
from pathlib import Path

from autograde.paths import SOLUTIONS
from autograde.sandbox.isolation import NONE, VARIABLE, NoIsolation


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code: 0 done, 1 found something wrong, 2 could not start."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except (OSError, ValueError, NoIsolation) as error:
        print(f"autograde: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="autograde", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    build = commands.add_parser("build", help="make the two notebooks of every chapter")
    build.add_argument("--check", action="store_true", help="only say what is out of date")
    build.add_argument(
        "--solutions", action="store_true", help="execute the solutions into build/solutions/"
    )
    build.add_argument("chapters", nargs="*", metavar="CHAPTER", help="only these; default all")
    build.set_defaults(run=run_build)
    grade = commands.add_parser("grade", help="grade a folder of submissions, several at a time")
    grade.add_argument("submitted", type=Path, help="STUDENT/CHAPTER/CHAPTER.ipynb lie below it")
    grade.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    grade.add_argument("--chapter", metavar="NAME", help="only this chapter; default all")
    grade.add_argument("--workers", type=int, metavar="N", help="at a time; default all cores")
    grade.add_argument(
        "--unsafe-no-isolation", action="store_true", help="run students' code without any fence"
    )
    grade.set_defaults(run=run_grade)
    doctor = commands.add_parser("doctor", help="say and prove how this machine isolates")
    doctor.set_defaults(run=run_doctor)
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


def run_grade(options: argparse.Namespace) -> int:
    """`autograde grade`: a table, and the results as JSON. Failed submissions are results too."""
    from autograde.files import write_json
    from autograde.grading.classroom import chapters, grade_class
    from autograde.reports.table import print_table
    from autograde.sandbox import doctor

    if options.chapter and options.chapter not in chapters():
        known = ", ".join(chapters())
        raise ValueError(f"there is no chapter {options.chapter}. There are: {known}")
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers is {options.workers}; it must be at least 1")
    if options.unsafe_no_isolation:
        os.environ[VARIABLE] = NONE
    print(doctor.require(), file=sys.stderr)
    grades = grade_class(options.submitted, options.chapter, options.workers)
    if options.json:
        write_json(options.json, {"students": grades})
    print_table(grades)
    return 0


def run_doctor(options: argparse.Namespace) -> int:
    """`autograde doctor`: exit code 1 where students' code cannot be graded safely here."""
    from autograde.sandbox.doctor import report

    lines, safe = report()
    print("\n".join(lines))
    return 0 if safe else 1


if __name__ == "__main__":
    sys.exit(main())
