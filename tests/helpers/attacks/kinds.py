"""What an attack and an allowed habit are: cells, and what must not or must come of them.

Their code is in attacks.toml and twins.toml, and where it needs more than text in protocol.py.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from classes.submitting import CHAPTER
from data_files import table

from autograde.tools.samples import functions_of

LISTENER = f"specdec-listener-{os.getpid()}"  # an abstract socket of the process that grades
# A cell as handed in, in which BODY stands for what the attack tries.
_CELL = Path(__file__).with_name("cell.txt").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Attack:
    """A hostile cell. It prints REACHED where it got what it wanted, and TRIED first.

    `answers` are its own answers to exercises, by name. `before` is the cell of a submission
    that is graded before it, by the same grader. `loses` says that the cell ends its process or
    its time, so that nothing can be read of it.
    """

    name: str
    group: str
    cell: str = "pass"
    answers: dict[str, str] = field(default_factory=dict)
    before: str | None = None
    loses: bool = False

    @property
    def source(self) -> str:
        """The cell as handed in: whatever stops the attack is not an error of the notebook."""
        body = "\n".join("    " + line for line in self.cell.strip("\n").splitlines())
        return _CELL.replace("BODY", body)


def one_code(code: str, *names: str) -> dict[str, str]:
    """The same code in place of these functions, or of all; NAME is the function's."""
    return {name: code.replace("NAME", name) for name in names or functions_of(CHAPTER)}


@dataclass(frozen=True)
class Twin:
    """A cell before right answers; `answers` are right ones, written in an unusual way."""

    name: str
    cell: str = "pass"
    answers: dict[str, str] = field(default_factory=dict)


def attacks() -> list[Attack]:
    """The attacks of attacks.toml."""
    groups = table("attacks/attacks.toml").items()
    return [_attack(group, **row) for group, rows in groups for row in rows]


def twins() -> list[Twin]:
    """The habits of twins.toml."""
    return [Twin(**row) for row in table("attacks/twins.toml")["twin"]]


def _attack(group: str, name: str, cell: str = "pass", answer: str = "", **row: object) -> Attack:
    """The attack of a row, whose `answer` stands for each function of the chapter."""
    row |= {"answers": one_code(answer)} if answer else {}
    return Attack(name, group, cell.replace("LISTENER", LISTENER), **row)
