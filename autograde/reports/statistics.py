"""What a class's results say together: by exercise, by misconception, by student."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

Grades = Mapping[str, Mapping[str, dict]]


@dataclass(frozen=True)
class ExerciseCount:
    """One exercise over a class: how many students met how many of its behaviours."""

    name: str
    max_score: float
    behaviours: int
    students_by_passed: Mapping[int, int]

    @property
    def mean(self) -> float:
        """The mean share of its behaviours that was met, 0 to 1."""
        students = sum(self.students_by_passed.values())
        met = sum(passed * count for passed, count in self.students_by_passed.items())
        return met / (students * self.behaviours) if students and self.behaviours else 0.0


@dataclass(frozen=True)
class Found:
    """A misconception and who has it."""

    exercise: str
    cause: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Chapter:
    """One chapter over a class."""

    name: str
    scores: Mapping[str, float]  # of those that could be graded
    max_score: float
    failed: Mapping[str, str]  # student: why the submission could not be graded
    exercises: list[ExerciseCount]
    found: list[Found]  # the most frequent first


def chapters_of(grades: Grades) -> list[Chapter]:
    """Every chapter that somebody handed in, by name."""
    names = sorted({name for chapters in grades.values() for name in chapters})
    return [_chapter(name, {s: c[name] for s, c in grades.items() if name in c}) for name in names]


def _chapter(name: str, results: Mapping[str, dict]) -> Chapter:
    graded = {s: result for s, result in results.items() if result["status"] == "graded"}
    return Chapter(
        name,
        {student: result["score"] for student, result in graded.items()},
        max(result["max_score"] for result in results.values()),
        {s: result["reason"] for s, result in results.items() if s not in graded},
        _exercises(graded),
        _found(graded),
    )


def _exercises(results: Mapping[str, dict]) -> list[ExerciseCount]:
    names = list(dict.fromkeys(n for result in results.values() for n in result["exercises"]))
    return [
        _exercise(name, [result["exercises"][name] for result in results.values()])
        for name in names
    ]


def _exercise(name: str, results: list[dict]) -> ExerciseCount:
    behaviours = max(result["total"] for result in results)
    passed = Counter(result["passed"] for result in results)
    return ExerciseCount(name, results[0]["max_score"], behaviours, dict(sorted(passed.items())))


def _found(results: Mapping[str, dict]) -> list[Found]:
    students: dict[tuple[str, str], list[str]] = {}
    for student, result in sorted(results.items()):
        for name, exercise in result["exercises"].items():
            for cause in exercise.get("causes", ()):
                students.setdefault((name, cause), []).append(student)
    found = [Found(*which, tuple(who)) for which, who in students.items()]
    return sorted(found, key=lambda each: (-len(each.students), each.exercise, each.cause))
