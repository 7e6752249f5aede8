"""What a class's results say together: by exercise, by misconception, by student."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from autograde.result import Grades, Seconds
from autograde.wrong import Misconception, misconceptions_of

SLOWEST = 10


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

    @property
    def shares(self) -> tuple[float, float, float]:
        """The shares of the students who met all, some and none of its behaviours."""
        counts = [0, 0, 0]
        for passed, students in self.students_by_passed.items():
            counts[0 if passed == self.behaviours else 2 if passed == 0 else 1] += students
        most, some, none = (count / (sum(counts) or 1) for count in counts)
        return most, some, none


@dataclass(frozen=True)
class Found:
    """A belief, the exercises in which it shows, and who has it."""

    think: str
    because: str
    exercises: tuple[str, ...]
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
    slowest: list[tuple[str, float]]  # students with the seconds that grading took


def chapters_of(grades: Grades, seconds: Seconds | None = None) -> list[Chapter]:
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


def _chapter(name: str, results: Mapping[str, dict], seconds: Mapping[str, float]) -> Chapter:
    graded = {s: result for s, result in results.items() if result["status"] == "graded"}
    return Chapter(
        name,
        {student: result["score"] for student, result in graded.items()},
        max(result["max_score"] for result in results.values()),
        {s: result["reason"] for s, result in results.items() if s not in graded},
        _exercises(graded),
        _found(name, graded),
        sorted(seconds.items(), key=lambda each: (-each[1], each[0]))[:SLOWEST],
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


def _found(chapter: str, results: Mapping[str, dict]) -> list[Found]:
    """The beliefs behind the wrong answers, however many exercises each shows in."""
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
    beliefs = {w.name: w for w in known.values()}
    found = [
        _belief(beliefs.get(thought), thought, tuple(exercises[thought]), tuple(who))
        for thought, who in students.items()
    ]
    return sorted(found, key=lambda each: (-len(each.students), each.exercises, each.think))


def _belief(
    wrong: Misconception | None, thought: str, exercises: tuple[str, ...], who: tuple[str, ...]
) -> Found:
    """A belief by its words, or by its name where the chapter no longer knows it."""
    words = (wrong.think, wrong.because) if wrong else (thought, "")
    return Found(*words, exercises, who)
