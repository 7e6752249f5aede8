"""`autograde`: the instructor's commands, in the order in which a class needs them.

A function is a command: its docstring is the help, and its value is the exit code. It imports what
it needs when it is called, since nbgrader's modules take a second.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from autograde.course import (
    Chapter,
    UsageError,
    chapter_names,
    class_folder,
    current_course,
    exit_code,
    require_chapter,
)
from autograde.grading.result import read_grades
from autograde.intake.files import write_if_changed, write_json
from autograde.sandbox.isolation import NoIsolation

_HELP = """Make the chapters' notebooks, and grade what a class hands in.

The commands are listed in the order in which a class needs them. Run nbgrader's own in between:
generate_assignment after build, autograde and formgrader after grade, generate_feedback before
feedback. CHAPTER is a name such as 02_rejection_sampling.
"""
_EXIT_CODES = """Exit codes: 0 done; 1 done, and something is to be looked at, which is named; 2 not
started, with a line that says why."""

_app = typer.Typer(help=_HELP, epilog=_EXIT_CODES, add_completion=False, rich_markup_mode=None)

Chapters = Annotated[list[str] | None, Argument(metavar="[CHAPTER]...", help="Default: all.")]
AnyChapter = Annotated[str | None, Option("--chapter", metavar="NAME", help="Default: all.")]
OneChapter = Annotated[str, Option("--chapter", metavar="NAME", help="The chapter.")]
Lms = Annotated[Literal["canvas", "moodle"], Option("--format", help="The LMS.")]
Out = Annotated[Path | None, Option(metavar="FILE", help="The file to write.")]
ClassFolder = Annotated[
    Path | None,
    Option(metavar="DIR", help="The class's folder; default: course/, or $SPECDEC_COURSE."),
]


@_app.command("doctor")
def doctor_command() -> int:
    """Start the grading sandbox and try to escape from it. 1: not safe to grade here."""
    from autograde.sandbox import selftest

    lines, safe = selftest.doctor_report()
    print("\n".join(lines))
    return 0 if safe else 1


@_app.command("new")
def new_command(course: Annotated[Path, Argument(help="The folder to make.")]) -> int:
    """Make the folder of a course in another subject, with a small chapter.

    The folder's name is a Python name: the course's library for students is called NAME_lib.
    """
    from autograde.build.new import new_course

    print(f"{course}: {new_course(course)} files, with a chapter about temperatures")
    print(f"next: cd {course}, autograde build, autograde gates")
    return 0


@_app.command("build")
def build_command(
    chapters: Chapters = None,
    check: Annotated[bool, Option("--check", help="Only say what is out of date.")] = False,
    solutions: Annotated[bool, Option("--solutions", help="Execute the solutions too.")] = False,
) -> int:
    """Make the two notebooks of every chapter.

    Read solutions/NN_topic.py and write solutions/NN_topic/NN_topic.ipynb, which nbgrader reads,
    and notebooks/NN_topic/NN_topic.ipynb, which students get. 1: the text is wrong, a solution does
    not run or, with --check, a notebook is outdated.
    """
    from autograde.build import release
    from autograde.build.execute import execute

    if check:
        stale = release.outdated_notebooks(chapters=chapters or None)
        print("\n".join(stale) or "every notebook is up to date")
        return 1 if stale else 0
    built = release.build_chapters(chapters=chapters or None)
    print("\n".join(f"{path}: built" for path in built) or "every notebook is up to date")
    if solutions:
        execute([Chapter(name).source for name in chapters or chapter_names()])
    return 0


@_app.command("gates")
def gates_command(chapters: Chapters = None) -> int:
    """Prove that a chapter's tests tell right from wrong.

    Grade each chapter's release, its solution, its known bugs, and constants and copies of
    arguments, in this process. 1: a gate does not hold, and what was graded wrongly is printed.
    """
    from autograde.hidden.causes import bugs_of
    from autograde.tools.gates import faults

    names = chapters or chapter_names()
    for name in names:
        require_chapter(name)
    lines = [fault for name in names for fault in faults(name)]
    bugs = sum(len(bugs_of(name)) for name in names)
    held = f"{', '.join(names)}: the gates hold; each of {bugs} known bugs gets its own explanation"
    print("\n".join(lines) or held)
    return 1 if lines else 0


@_app.command("bundle")
def bundle_command(
    file: Annotated[Path | None, Argument(help="The zip to write; default: in build/.")] = None,
    chapter: Annotated[
        list[str] | None, Option(metavar="NAME", help="May be repeated; default: all.")
    ] = None,
    quizzes: Annotated[
        Literal["at-once", "after-grading"], Option(help="When a quiz tells its answer.")
    ] = "at-once",
) -> int:
    """Make the zip that students get.

    It has the notebooks and the library, no solutions, no hidden tests and no grader. With
    --quizzes after-grading a quiz only records the letter. Made twice the zip has the same bytes.
    """
    from autograde.build.bundle import write_bundle

    for name in chapter or ():
        require_chapter(name)
    course = current_course()
    file = file or course.build / f"{course.name}.zip"
    count = write_bundle(file, chapter or None, quizzes == "at-once")
    print(f"{file}: {count} files, {file.stat().st_size / 2**20:.1f} MiB")
    return 0


@_app.command("collect")
def collect_command(
    archive: Annotated[Path, Argument(metavar="ZIP", help="The zip that the LMS gives.")],
    lms: Lms,
    chapter: OneChapter,
    course: ClassFolder = None,
) -> int:
    """Take submissions out of a zip of Canvas or Moodle.

    Write everybody's latest notebook to DIR/submitted/STUDENT/CHAPTER/CHAPTER.ipynb, where it is
    graded. 1: a file was refused.
    """
    from autograde.lms.commands import run_collect

    require_chapter(chapter)
    return run_collect(archive, lms, chapter, course or class_folder())


@_app.command("grade")
def grade_command(
    submitted: Annotated[Path, Argument(help="The folder with STUDENT/CHAPTER/CHAPTER.ipynb.")],
    chapter: AnyChapter = None,
    results: Annotated[Path | None, Option("--json", help="The results as JSON.")] = None,
    workers: Annotated[
        int | None, Option(min=1, help="Default: one for every core it may use.")
    ] = None,
    scheduler: Annotated[str | None, Option(metavar="ADDRESS", help="A dask scheduler.")] = None,
    unsafe_no_isolation: Annotated[
        bool, Option("--unsafe-no-isolation", help="Run students' code with your own rights.")
    ] = False,
) -> int:
    """Grade a folder of submissions, several at a time.

    Run each in a sandbox. Print a table and, with --json FILE, write the results. A submission
    that cannot be graded stops nobody: it is listed with its reason, with 0 points. --scheduler
    grades on the workers of a dask cluster. 1: a submission could not be graded.
    """
    from autograde.grading.classroom import grade_class
    from autograde.report.table import print_table
    from autograde.sandbox import isolation, selftest

    require_chapter(chapter)
    if unsafe_no_isolation:
        isolation.disable_isolation()
    print(selftest.require_isolation(), file=sys.stderr)
    grades = grade_class(submitted, chapter, workers, scheduler)
    if results:
        write_json(results, {"students": grades})
    print_table(grades)
    statuses = [result["status"] for student in grades.values() for result in student.values()]
    return 1 if "failed" in statuses else 0


@_app.command("feedback")
def feedback_command(
    lms: Lms, chapter: OneChapter, out: Out = None, course: ClassFolder = None
) -> int:
    """Put feedback pages into a zip for Canvas or Moodle.

    Everybody's page, as `nbgrader generate_feedback` wrote it, gets the name by which the LMS knows
    whose it is. Default of --out: feedback-CHAPTER.zip in the class's folder. 1: somebody whose
    notebook was collected has no page.
    """
    from autograde.lms.commands import run_feedback

    require_chapter(chapter)
    course = course or class_folder()
    return run_feedback(lms, chapter, out or course / f"feedback-{chapter}.zip", course)


@_app.command("report")
def report_command(
    grades: Annotated[Path, Argument(help="What `autograde grade --json` has written.")],
    out: Out = None,
    course: ClassFolder = None,
) -> int:
    """Write a page about the class.

    Points, known bugs and who has them, and who could not be graded. Default of --out: report.html
    in the class's folder.
    """
    from autograde.report.class_page import class_page

    page = out or (course or class_folder()) / "report.html"
    write_if_changed(page, class_page(read_grades(grades)).encode("utf-8"))
    print(f"the report: {page}")
    return 0


@_app.command("export")
def export_command(
    grades: Annotated[Path, Argument(help="gradebook.db, or what `autograde grade --json` wrote.")],
    lms: Lms,
    chapter: OneChapter,
    table: Annotated[Path, Option("--lms", metavar="FILE", help="The table that the LMS gave.")],
    out: Annotated[Path, Option(metavar="FILE", help="The CSV file to write.")],
    column: Annotated[
        str | None,
        Option(
            metavar="TEXT",
            help="The column for the marks: its header in the table, or the number in brackets "
            "there.",
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        Option(
            metavar="NAME", help="The table's encoding, such as cp1252; default: UTF-8 or UTF-16."
        ),
    ] = None,
) -> int:
    """Write marks into the table of Canvas or Moodle.

    gradebook.db has marks by hand and penalties, a JSON file the tests' marks only. One column is
    filled in: the chapter's or, for moodle, Grade. What is not a number there, such as EX, stays.
    If the LMS's maximum differs from the chapter's, marks are scaled to it. FILE is written in
    UTF-8. 1: a graded student has no row in the table, or something other than a number in it.
    """
    from autograde.lms.commands import run_export

    require_chapter(chapter)
    return run_export(grades, chapter, out, lms, table, column, encoding)


@_app.command("sample")
def sample_command(
    folder: Annotated[Path, Argument(help="A folder, which will hold the class.")],
    chapter: AnyChapter = None,
    copies: Annotated[int, Option(min=1, help="Of each student, for a large class.")] = 1,
) -> int:
    """Make a class of five students, to try the grader on.

    They are right, half done, wrong, blank and crashing, at FOLDER/STUDENT/CHAPTER/CHAPTER.ipynb.
    """
    from autograde.tools.samples import STUDENTS, write_students

    require_chapter(chapter)
    write_students(folder, [chapter] if chapter else chapter_names(), copies)
    print(f"{copies * len(STUDENTS)} students in {folder}; autograde grade {folder}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    return exit_code(lambda: _run(arguments), (OSError, UsageError, NoIsolation))


def _run(arguments: list[str] | None) -> int:
    command = typer.main.get_command(_app)
    try:
        return command.main(arguments, "autograde", standalone_mode=False)
    except typer.TyperException as error:  # a word that no command takes
        raise UsageError(f"{error.format_message()} See: autograde --help") from None
