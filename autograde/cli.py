"""`autograde`: the instructor's commands in one table.

The modules that run a command are imported when it is called: nbgrader's take a second.
"""

import argparse
from functools import partial
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any

from autograde.commands import exit_code
from autograde.sandbox.isolation import NoIsolation

WIDTH = 80
LMS = ("canvas", "moodle")
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
  autograde feedback                     put the pages into a zip that the LMS takes
  autograde report                       make a page about the class
  autograde export                       write the marks for the LMS
`autograde COMMAND --help` has an example of each.
"""
ENDS = "2 not started, with a line that says why; 141 nobody reads the output any more"


Option = tuple[str, dict[str, Any]]  # an option or argument, as argparse's add_argument takes it


def word(name: str, shown: str, text: str, **more: Any) -> Option:
    """One that is a text, `shown` so in the help; `more` is for argparse."""
    return name, {"metavar": shown, "help": text} | more


def path(name: str, shown: str, text: str, **more: Any) -> Option:
    """One that is a path."""
    return word(name, shown, text, type=Path, **more)


def flag(name: str, text: str) -> Option:
    """One without a value."""
    return name, {"action": "store_true", "help": text}


class Command:
    """A command: the line about it, what it does, examples, options, and what exit code 1 means.

    `room` is the module that has the function run_NAME. `look` is None for a command that never
    ends with exit code 1.
    """

    def __init__(
        self, name: str, room: str, line: str, does: str, *options: Option, examples: str, look=None
    ) -> None:
        self.name, self.room, self.line, self.options = name, room, line, options
        self.description = fill(does, WIDTH)
        self.epilog = f"Examples:\n{examples}\n\n{exit_codes(look)}"

    def add_to(self, commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
        """Put it on the command line."""
        texts = {"help": self.line, "description": self.description, "epilog": self.epilog}
        parser = commands.add_parser(self.name, **texts)
        for name, settings in self.options:
            parser.add_argument(name, **settings)
        parser.set_defaults(run=self.run)

    def run(self, options: argparse.Namespace) -> int:
        """Run it; returns its exit code."""
        return getattr(import_module(f"autograde.{self.room}"), f"run_{self.name}")(options)


def exit_codes(look: str | None) -> str:
    """What a command's exit codes mean, for its help; `look` is the text about 1, if it has one."""
    one = f"1 {look}; " if look else ""
    return fill(f"Exit codes: 0 done; {one}{ENDS}.", WIDTH)


CHAPTER_ONLY = word("--chapter", "NAME", "only this chapter; default: all")
COURSE = path("--course", "DIR", "the class's folder; default: course/, or $SPECDEC_COURSE")
COMMANDS = (
    Command(
        "build",
        "commands",
        "make the two notebooks of every chapter",
        "Read solutions/NN_topic.py and write the chapter's two notebooks: "
        "solutions/NN_topic/NN_topic.ipynb, which nbgrader reads, and "
        "notebooks/NN_topic/NN_topic.ipynb, which students get. A file is written only if its "
        "bytes change, and none if a check fails.",
        flag("--check", "only say what is out of date; change nothing"),
        flag(
            "--solutions", "also execute the solutions, as notebooks and HTML in build/solutions/"
        ),
        word("chapters", "CHAPTER", "only these; default: all", nargs="*"),
        examples="  autograde build --check\n  autograde build 02_rejection_sampling --solutions",
        look="the text is wrong, a solution does not run or, with --check, a notebook is outdated",
    ),
    Command(
        "gates",
        "commands",
        "prove that a chapter's tests tell right from wrong",
        "Grade each chapter's release, its solution, its known wrong answers, and constants and "
        "copies of arguments. Print the case that the solution fails, the wrong answer that loses "
        "nothing or is not told its words, and what the release or a constant earns.",
        word("chapters", "CHAPTER", "only these; default: all", nargs="*"),
        examples="  autograde gates 02_rejection_sampling",
        look="a gate does not hold",
    ),
    Command(
        "new",
        "commands",
        "make the folder of a course in another subject",
        "Write the grader's code and an empty course to the new folder COURSE. Its commands are "
        "run in it, as `python -m autograde`.",
        path("course", "COURSE", "the folder to make"),
        examples="  autograde new temperatures",
    ),
    Command(
        "bundle",
        "commands",
        "make the zip that students get",
        "Read notebooks/ and the library, and write the zip that students get. It has no "
        "solutions, no hidden tests and no grader. Made twice it has the same bytes.",
        path(
            "file",
            "FILE",
            "the zip to write; default: build/specdec-course.zip, the name that Colab asks for, or "
            "build/self-study.zip",
            nargs="?",
        ),
        word(
            "--chapter",
            "NAME",
            "only this chapter's notebook, and those of further --chapter; default: all",
            action="append",
            dest="chapters",
        ),
        word(
            "--quizzes",
            "WHEN",
            "at-once: a quiz says in the notebook why an option is right or wrong; after-grading: "
            "it only records the letter, and the zip holds no answers; default: at-once",
            choices=("at-once", "after-grading"),
            default="at-once",
        ),
        flag(
            "--self-study",
            "for who studies alone and not for a class: with the solutions, the hidden tests and "
            "the grader, which `specdec mark` needs",
        ),
        examples="  autograde bundle --chapter 00_bottleneck --quizzes after-grading\n"
        "  autograde bundle --self-study",
    ),
    Command(
        "collect",
        "lms.commands",
        "take submissions out of a zip of Canvas or Moodle",
        "Read the zip of all submissions that Canvas or Moodle gives. Write everybody's latest "
        "notebook to DIR/submitted/STUDENT/CHAPTER/CHAPTER.ipynb, where it is graded. Other "
        "attempts and what is replaced go to DIR/attempts/STUDENT/CHAPTER/.",
        path("zip", "ZIP", "the zip of all submissions, as the LMS gives it"),
        word("--format", None, "the LMS that made the zip", required=True, choices=LMS),
        word("--chapter", "NAME", "the chapter that was handed in", required=True),
        COURSE,
        examples="  autograde collect all.zip --format canvas --chapter 02_rejection_sampling",
        look="a file was refused",
    ),
    Command(
        "grade",
        "commands",
        "grade a folder of submissions, several at a time",
        "Read SUBMITTED/STUDENT/CHAPTER/CHAPTER.ipynb of every student and run each in a sandbox. "
        "Print a table and, with --json, write results and times. A submission that cannot be "
        "graded stops nobody: it is listed with its reason, with 0 points.",
        path("submitted", "SUBMITTED", "the folder with STUDENT/CHAPTER/CHAPTER.ipynb below it"),
        CHAPTER_ONLY,
        path(
            "--json",
            "FILE",
            "the results; x.json has x.seconds.json with times beside it; default: none",
        ),
        word("--workers", "N", "so many at a time; default: one for every core", type=int),
        word("--scheduler", "ADDRESS", "grade on this dask scheduler's workers; default: here"),
        flag(
            "--unsafe-no-isolation",
            "run students' code without any sandbox, with the rights of your account; without "
            "this option nothing is graded on a machine that cannot isolate",
        ),
        examples="  autograde grade course/submitted --workers 2 --json grades.json",
    ),
    Command(
        "feedback",
        "lms.commands",
        "put feedback pages into a zip for Canvas or Moodle",
        "Read the pages that `nbgrader generate_feedback` wrote to DIR/feedback/, and the names "
        "that `autograde collect` kept. Write a zip with everybody's page under the name by which "
        "the LMS knows whose it is.",
        word("--format", None, "the LMS that takes the zip", required=True, choices=LMS),
        word("--chapter", "NAME", "the chapter", required=True),
        path("--out", "FILE", "default: feedback-CHAPTER.zip in the class's folder"),
        COURSE,
        examples="  autograde feedback --format canvas --chapter 02_rejection_sampling",
        look="somebody whose notebook was collected has no page",
    ),
    Command(
        "report",
        "commands",
        "the class on one page, as HTML",
        "Read the results and times that `autograde grade --json` wrote, and the class's "
        "gradebook. Write a page about the class: points and behaviours by exercise, the "
        "misconceptions and who has them, who could not be graded, what took longest, and marks "
        "by hand that stand over other ones of the tests.",
        path("grades", "GRADES", "what `autograde grade --json` has written"),
        path("--out", "FILE", "default: report.html in the class's folder"),
        COURSE,
        examples="  autograde report grades.json --out week2.html",
    ),
    Command(
        "extend",
        "commands",
        "give a student more time for a chapter",
        "Write an extension into the class's gradebook. It counts from the chapter's due date, and "
        "takes the place of an earlier one. Marks change when the chapter is graded again.",
        word("chapter", "CHAPTER", "the chapter"),
        word("student", "STUDENT", "the name of the student's folder"),
        word("--days", "N", "so many days; default: 0", type=int, default=0),
        word("--hours", "N", "and so many hours; default: 0", type=int, default=0),
        COURSE,
        examples="  autograde extend 02_rejection_sampling ada --days 1",
    ),
    Command(
        "export",
        "lms.commands",
        "write marks as CSV, or into the table of an LMS",
        "Read the marks of a chapter and write them as CSV to the file of --out: a table of their "
        "own or, with --format canvas or moodle, a copy of the table of --lms with one column "
        "filled in. Print who is graded and has no row, and who has no mark.",
        path(
            "grades",
            "GRADES",
            "the class's gradebook.db, with marks by hand and penalties, or what "
            "`autograde grade --json` wrote, with the tests' marks only",
        ),
        word("--chapter", "NAME", "the chapter whose marks are written", required=True),
        path("--out", "FILE", "the CSV file to write", required=True),
        word(
            "--format",
            None,
            "csv: a table of their own; else the LMS that takes the file; default: csv",
            default="csv",
            choices=("csv", *LMS),
        ),
        path("--lms", "FILE", "the table that the LMS exported; default: none, enough for csv"),
        word(
            "--column",
            "TEXT",
            "the header of the column to fill in that table, or a part that no other header has; "
            "default: the chapter's name, for moodle Grade",
        ),
        word(
            "--points",
            "HOW",
            "if the LMS has another maximum than the chapter. scaled: multiply the marks; "
            "as-they-are: write them unchanged; default: ask in a terminal, else write nothing",
            choices=("scaled", "as-they-are"),
        ),
        examples="  autograde export grades.json --chapter 02_rejection_sampling --out marks.csv\n"
        "  autograde export course/gradebook.db --chapter 02_rejection_sampling \\\n"
        "    --format canvas --lms exported.csv --out import.csv",
        look="a graded student has no row in the table, or several",
    ),
    Command(
        "sample",
        "commands",
        "make a class of submissions of every kind",
        "Write the notebooks of a made-up class, right, wrong, broken and hostile ones, to "
        "FOLDER/STUDENT/CHAPTER/CHAPTER.ipynb. The grader can be tried on them.",
        path("folder", "FOLDER", "a new folder, which will hold the class"),
        word("--students", "N", "how many; default: 100", type=int, default=100),
        CHAPTER_ONLY,
        examples="  autograde sample build/class --students 20 --chapter 02_rejection_sampling",
    ),
    Command(
        "doctor",
        "commands",
        "say and prove how this machine isolates",
        "Read what the kernel and the installed tools offer, put up the sandbox of grading and "
        "attack it. Print every finding and what to do about it; write no file.",
        examples="  autograde doctor",
        look="not safe to grade here",
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit code."""

    def command() -> int:
        options = parser().parse_args(arguments)
        return options.run(options)

    return exit_code(command, (OSError, ValueError, NoIsolation))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    lines_kept = partial(
        argparse.ArgumentParser, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    look = "done, and something is to be looked at, which is named"
    top = lines_kept(prog="autograde", description=PURPOSE, epilog=exit_codes(look))
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=lines_kept)
    for command in COMMANDS:
        command.add_to(commands)
    return top
