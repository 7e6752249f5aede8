"""The class as a table: a row per student, a column per exercise."""

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograde.grading.result import Grades, ResultJson
from autograde.intake.files import printable
from autograde.report.feedback import points


def print_table(grades: Grades) -> None:
    """Print one table per chapter, and notes on single students below it."""
    console = Console(emoji=False)
    if not console.is_terminal:
        console.width = 1000  # enough for whole names in a file
    for chapter in sorted({name for student in grades.values() for name in student}):
        results = [(printable(s), c[chapter]) for s, c in grades.items() if chapter in c]
        console.print(_table(chapter, results))
        for student, result in results:
            if result["reason"]:
                _print_line(console, f"{student}: not graded, {result['reason']}")
            if result.get("limited"):
                _print_line(
                    console, f"{student}: a time limit decided; grade again to repeat the run"
                )


def _table(chapter: str, results: list[tuple[str, ResultJson]]) -> Table:
    table = Table("student", title=chapter, title_justify="left")
    exercises = results[0][1]["exercises"]
    for name, exercise in exercises.items():
        first_word, _, rest = name.partition("_")
        header = f"{first_word}\n{rest}\nof {points(exercise['max_score'])}"
        table.add_column(header, justify="right")
    max_score = sum(exercise["max_score"] for exercise in exercises.values())
    table.add_column(f"total\n\nof {points(max_score)}", justify="right", style="bold")
    for student, result in results:
        scores = map(_score, result["exercises"].values())
        table.add_row(escape(student), *scores, points(result["score"]))
    return table


def _score(exercise: Mapping) -> str:
    colour = "green" if exercise["score"] == exercise["max_score"] else "red"
    return f"[{colour}]{points(exercise['score'])}[/]"


def _print_line(console: Console, text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)
