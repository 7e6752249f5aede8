"""What a class's results say together: by exercise, by misconception, by student."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from autograde.result import ExerciseJson, Grades, ResultJson, Seconds
from autograde.wrong import misconceptions_of

MAX_SLOWEST = 10


@dataclass(frozen=True)
class ExerciseCount:
    """One exercise over a class: how many students met how many of its behaviours.

    Of `by_itself` students some were met only with right answers to what the exercise calls.
    """

    name: str
    max_score: float
    behaviours: int
    students_by_passed: Mapping[int, int]
    by_itself: int = 0

    @property
    def mean(self) -> float:
        """The mean share of its behaviours that was met, 0 to 1."""
        students = sum(self.students_by_passed.values())
        met = sum(passed * count for passed, count in self.students_by_passed.items())
        return met / (students * self.behaviours) if students and self.behaviours else 0.0


@dataclass(frozen=True)
class MisconceptionCount:
    """A misconception in words, the exercises in which it shows, and who has it."""

    text: str
    exercises: tuple[str, ...]
    students: tuple[str, ...]


@dataclass(frozen=True)
class ChapterCount:
    """One chapter over a class."""

    name: str
    scores: Mapping[str, float]  # of those that could be graded
    max_score: float
    failed: Mapping[str, str]  # student: why the submission could not be graded
    exercises: list[ExerciseCount]
    misconceptions: list[MisconceptionCount]  # the most frequent first
    slowest: list[tuple[str, float]]  # students with the seconds that grading took
    limited: list[str]  # students with a result that a time limit decided


def counts_of(grades: Grades, seconds: Seconds | None = None) -> list[ChapterCount]:
    """Every chapter that somebody handed in, by name."""
    names = sorted({name for chapters in grades.values() for name in chapters})
    return [
        _chapter(
            name,
            {s: c[name] for s, c in grades.items() if name in c},
            {s: c[name] for s, c in (seconds or {}).items() if name in c},
        )
        for name in names
    ]


def _chapter(
    name: str, results: Mapping[str, ResultJson], seconds: Mapping[str, float]
) -> ChapterCount:
    graded = {s: result for s, result in results.items() if result["status"] == "graded"}
    return ChapterCount(
        name,
        {student: result["score"] for student, result in graded.items()},
        max(result["max_score"] for result in results.values()),
        {s: result["reason"] for s, result in results.items() if s not in graded},
        _exercises(graded),
        _misconceptions(name, graded),
        sorted(seconds.items(), key=lambda each: (-each[1], each[0]))[:MAX_SLOWEST],
        sorted(student for student, result in results.items() if result.get("limited")),
    )


def _exercises(results: Mapping[str, ResultJson]) -> list[ExerciseCount]:
    names = dict.fromkeys(name for result in results.values() for name in result["exercises"])
    return [
        _exercise(name, [result["exercises"][name] for result in results.values()])
        for name in names
    ]


def _exercise(name: str, results: list[ExerciseJson]) -> ExerciseCount:
    behaviours = max(result["total"] for result in results)
    passed = Counter(result["passed"] for result in results)
    by_itself = sum(bool(result.get("remarks")) for result in results)
    points = results[0]["max_score"]
    return ExerciseCount(name, points, behaviours, dict(sorted(passed.items())), by_itself)


def _misconceptions(chapter: str, results: Mapping[str, ResultJson]) -> list[MisconceptionCount]:
    """What the wrong answers come from, each misconception once for all its exercises."""
    known = {(w.exercise, w.name): w for w in misconceptions_of(chapter).all}
    students: dict[str, dict[str, None]] = {}
    exercises: dict[str, dict[str, None]] = {}
    for student, result in sorted(results.items()):
        for name, exercise in result["exercises"].items():
            for cause in exercise.get("causes", ()):
                wrong = known.get((name, cause))
                thought = wrong.thought if wrong else cause
                students.setdefault(thought, {})[student] = None
                exercises.setdefault(thought, {})[name] = None
    # A name stands for itself if the chapter no longer knows it.
    texts = {w.name: f"{w.think} But {w.because}" for w in known.values()}
    counts = [
        MisconceptionCount(texts.get(name, name), tuple(exercises[name]), tuple(who))
        for name, who in students.items()
    ]
    return sorted(counts, key=lambda each: (-len(each.students), each.exercises, each.text))
