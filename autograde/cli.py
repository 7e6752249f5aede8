"""The instructor's commands; `autograde --help` lists them."""

import argparse
import json
import os
import sys
from pathlib import Path

from autograde.lms import commands as lms
from autograde.paths import BUILD, SOLUTIONS
from autograde.reports import commands as reports
from autograde.sandbox.isolation import NONE, VARIABLE, NoIsolation
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
    grade = commands.add_parser("grade", help="grade a folder of submissions, several at a time")
    grade.add_argument("submitted", type=Path, help="STUDENT/CHAPTER/CHAPTER.ipynb lie below it")
    grade.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    grade.add_argument("--chapter", metavar="NAME", help="only this chapter; default all")
    grade.add_argument("--workers", type=int, metavar="N", help="at a time; default all cores")
    grade.add_argument(
        "--unsafe-no-isolation", action="store_true", help="run students' code without any fence"
    )
    grade.add_argument("--scheduler", metavar="ADDRESS", help="a dask scheduler, tcp://HOST:PORT")
    grade.add_argument("--receipts", type=Path, metavar="DIR", help="write a receipt for each")
    grade.set_defaults(run=run_grade)
    receipt = commands.add_parser("receipt", help="print a submission's receipt, or verify one")
    receipt.add_argument(
        "words",
        nargs="+",
        metavar="SUBMISSION | verify RECEIPT SUBMISSION",
        help="a notebook; after `verify RECEIPT`, the notebook that it is held against",
    )
    receipt.add_argument("--chapter", metavar="NAME", help="default: the notebook's file name")
    receipt.add_argument("--out", type=Path, metavar="FILE", help="write the receipt here")
    receipt.set_defaults(run=run_receipt)
    sample = commands.add_parser("sample", help="make a class of submissions of every kind")
    sample.add_argument("folder", type=Path, help="a new folder; STUDENT/CHAPTER/ come below it")
    sample.add_argument("--students", type=int, default=100, metavar="N", help="default 100")
    sample.add_argument("--chapter", metavar="NAME", help="only this chapter; default all")
    sample.set_defaults(run=run_sample)
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


def run_grade(options: argparse.Namespace) -> int:
    """`autograde grade`: a table, and the results as JSON. Failed submissions are results too."""
    from autograde.files import write_json
    from autograde.grading.classroom import grade_class, require_chapter
    from autograde.grading.receipts import write_receipts
    from autograde.paths import course_dir
    from autograde.reports.gradebook import overrides
    from autograde.reports.table import print_overrides, print_table
    from autograde.sandbox import doctor

    require_chapter(options.chapter)
    _require_positive("--workers", options.workers)
    if options.workers and options.scheduler:
        raise ValueError("--workers is for this machine, --scheduler for a cluster: give one")
    if options.unsafe_no_isolation:
        os.environ[VARIABLE] = NONE
    print(doctor.require(), file=sys.stderr)
    grades = grade_class(options.submitted, options.chapter, options.workers, options.scheduler)
    if options.json:
        write_json(options.json, {"students": grades})
    if options.receipts:
        write_receipts(options.receipts, options.submitted, grades)
    print_table(grades)
    if options.submitted.resolve() == course_dir() / "submitted":
        print_overrides(overrides(course_dir(), grades))
    return 0


def run_receipt(options: argparse.Namespace) -> int:
    """`autograde receipt`: exit code 1 where a verified receipt is not this submission's."""
    from autograde.files import write_json
    from autograde.grading import receipts
    from autograde.grading.classroom import require_chapter

    require_chapter(options.chapter)
    *verify, submission = map(Path, options.words)
    if verify and (len(verify) != 2 or str(verify[0]) != "verify"):
        raise ValueError("name one notebook, or: autograde receipt verify RECEIPT SUBMISSION")
    if verify:
        found = receipts.verify(verify[1], submission, options.chapter)
        print("\n".join(found) or f"{verify[1]} is the receipt of {submission}")
        return 1 if found else 0
    receipt = receipts.of_file(submission, options.chapter)
    if options.out:
        write_json(options.out, receipt)
    else:
        print(json.dumps(receipt, indent=2))
    return 0


def run_sample(options: argparse.Namespace) -> int:
    """`autograde sample`: write the class, and say how it is graded."""
    from autograde.grading.classroom import chapters, require_chapter
    from autograde.samples import write_large_class

    require_chapter(options.chapter)
    _require_positive("--students", options.students)
    names = [options.chapter] if options.chapter else chapters()
    write_large_class(options.folder, names, options.students)
    print(f"{options.students} students in {options.folder}; autograde grade {options.folder}")
    return 0


def _require_positive(option: str, number: int | None) -> None:
    if number is not None and number < 1:
        raise ValueError(f"{option} is {number}; it must be at least 1")


def run_doctor(options: argparse.Namespace) -> int:
    """`autograde doctor`: exit code 1 where students' code cannot be graded safely here."""
    from autograde.sandbox.doctor import report

    lines, safe = report()
    print("\n".join(lines))
    return 0 if safe else 1


if __name__ == "__main__":
    sys.exit(main())
