"""The class as a table: a row for each student, a column for each exercise."""

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograde.files import printable
from autograde.report.feedback import points
from autograde.result import Grades


def print_table(grades: Grades) -> None:
    """Print one table a chapter."""
    console = Console(emoji=False)
    if not console.is_terminal:
        console = Console(emoji=False, width=150)
    for chapter in sorted({name for student in grades.values() for name in student}):
        results = {name: student[chapter] for name, student in grades.items() if chapter in student}
        console.print(_table(chapter, results))
        _print_remarks(console, results)


def _table(chapter: str, results: Mapping[str, dict]) -> Table:
    exercises = next(iter(results.values()))["exercises"]
    table = Table(title=chapter, title_justify="left", show_footer=True)
    table.add_column("student", footer="out of", no_wrap=True)
    for name, exercise in exercises.items():
        header, footer = name.replace("_", "\n", 1), points(exercise["max_score"])
        table.add_column(header, footer=footer, justify="right")
    maximum = sum(exercise["max_score"] for exercise in exercises.values())
    table.add_column("total", footer=points(maximum), justify="right", style="bold")
    for student, result in results.items():
        scores = map(_score, result["exercises"].values())
        table.add_row(escape(printable(student)), *scores, points(result["score"]))
    return table


def _score(exercise: dict) -> str:
    colour = "green" if exercise["score"] == exercise["max_score"] else "yellow"
    return f"[{colour if exercise['score'] else 'red'}]{points(exercise['score'])}[/]"


def _print_remarks(console: Console, results: Mapping[str, dict]) -> None:
    for student, result in results.items():
        if result["reason"]:
            text = f"{printable(student)}: not graded, {result['reason']}"
            console.print(text, markup=False, soft_wrap=True)
        if result.get("limited"):
            text = f"{printable(student)}: a time limit decided, so grading again tries again"
            console.print(text, markup=False, soft_wrap=True)
    if any(result["pending"] for result in results.values()):
        names = ", ".join(next(iter(results.values()))["pending"])
        console.print(f"Still to be marked by a person, in formgrader: {names}", markup=False)
