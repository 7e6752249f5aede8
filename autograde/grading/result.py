"""The result of grading one submission, as data, and the results of a class."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograde.course import UsageError

ResultJson = dict[str, Any]  # as `to_json` gives them
Grades = dict[str, dict[str, ResultJson]]  # by student and chapter


@dataclass
class GroupResult:
    """One test group: passed, or a message that says why not, and the thought of its known bug.

    It is worth `weight` shares of the exercise. The message of one that passed is a remark: it is
    right by itself, and fails with the student's own answers to the exercises that it calls.
    `pass_message` is what there is to say of a right answer.
    """

    name: str
    passed: bool
    message: str = ""
    cause: str | None = None
    weight: int = 1
    pass_message: str = ""


@dataclass
class Exercise:
    """The points of one graded function, quiz or prediction.

    `note` stands in place of the groups' messages if there is no answer to speak of,
    `see_first` names the exercise above in which the fault, or the same thought, is explained.
    """

    max_score: float
    groups: list[GroupResult] = field(default_factory=list)
    note: str | None = None
    see_first: str | None = None

    @property
    def passed(self) -> int:
        return sum(group.passed for group in self.groups)

    @property
    def score(self) -> float:
        """The shares of the groups that passed; all shares together are worth `max_score`."""
        if not self.groups:
            return 0.0
        passed = sum(group.weight for group in self.groups if group.passed)
        points = self.max_score * passed / sum(group.weight for group in self.groups)
        return min(float(self.max_score), points)  # 0.2 * 3 / 3 is more than 0.2

    @property
    def messages(self) -> list[str]:
        if self.note is not None:
            return [self.note]
        return [f"{group.name}: {group.message}" for group in self.groups if not group.passed]

    @property
    def remarks(self) -> list[str]:
        passed = [group for group in self.groups if group.passed and group.message]
        return [f"{group.name}: {group.message}" for group in passed]

    def to_json(self) -> dict[str, Any]:
        return {
            "score": self.score,
            "max_score": float(self.max_score),
            "passed": self.passed,
            "total": len(self.groups),
            "messages": self.messages,
            "causes": list(dict.fromkeys(group.cause for group in self.groups if group.cause)),
            "remarks": self.remarks,
        }


@dataclass
class Result:
    """One submission of one chapter. `pending` names the written cells that a person marks.

    It is `limited` if a cell or a call hit a time limit, which may be the fault of a busy machine:
    such a result is not stored.
    """

    exercises: dict[str, Exercise]
    pending: list[str] = field(default_factory=list)
    cells: dict[str, dict] = field(default_factory=dict)  # what each cell printed or raised
    limited: bool = False
    reason: str | None = None  # why it could not be graded

    @property
    def score(self) -> float:
        return sum(e.score for e in self.exercises.values())

    @property
    def max_score(self) -> float:
        return sum(float(e.max_score) for e in self.exercises.values())

    def to_json(self) -> dict[str, Any]:
        """The machine-readable form that `autograde grade --json` writes."""
        data = {
            "status": "graded" if self.reason is None else "failed",
            "reason": self.reason,
            "score": self.score,
            "max_score": self.max_score,
            "pending": self.pending,
            "exercises": {name: e.to_json() for name, e in self.exercises.items()},
        }
        return data | {"limited": True} if self.limited else data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Result":
        """The result that `dataclasses.asdict` made `data` of."""
        exercises = {
            name: Exercise(**{**e, "groups": [GroupResult(**group) for group in e["groups"]]})
            for name, e in data["exercises"].items()
        }
        return cls(**{**data, "exercises": exercises})


def read_grades(path: Path) -> Grades:
    """The students of a results file. Raises UsageError if it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["students"]
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is not what `autograde grade --json` writes") from None
