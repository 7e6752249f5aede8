"""The family of methods: the map of chapter 07 and the table of docs/field_guide.md are made of it.

`methods.json` holds one entry a method, `frame.json` the words for its parts. `reported` and
`ships` are what a source says, and "not found by us" where no source was found.
`python -m specdec_lib.lessons.ch07.family` prints the table of the field guide.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Option:
    """One thing that can stand in a box of the frame: its name, and what it does to the formula.

    `short` is the name in a word or two. In the formula E are the tokens per pass, D the time of
    drafting and v that of the pass that verifies.
    """

    name: str
    short: str
    formula: str
    keeps: str


_FRAME = json.loads((HERE / "frame.json").read_text(encoding="utf-8"))
#: What happens to the target's distribution, in the words of the map and of the table.
KEPT: dict[str, str] = _FRAME["kept"]
#: The four boxes of the frame, and what can stand in each.
FRAME = {
    box: {key: Option(**words) for key, words in options.items()}
    for box, options in _FRAME["boxes"].items()
}


@dataclass(frozen=True)
class Method:
    """One method; `date` is the year and month of the first paper or post that `source` names."""

    name: str
    date: str
    drafter: str  # these four are keys of FRAME
    shape: str
    verifier: str
    timing: str
    drafts: str
    verifies: str
    kept: str  # a key of KEPT
    training: str
    idea: str
    reported: str
    ships: str
    source: str
    link: str

    def kind(self) -> str:
        """What stands in the four boxes, in a word or two each."""
        return "; ".join(options[getattr(self, box)].short for box, options in FRAME.items())


_METHODS = json.loads((HERE / "methods.json").read_text(encoding="utf-8"))
#: All methods, in order of time.
FAMILY = sorted((Method(**entry) for entry in _METHODS), key=lambda method: method.date)


def as_data() -> list[dict[str, Any]]:
    """The entries as plain data, in order of time, with what is kept in words too."""
    return [asdict(entry) | {"keptText": KEPT[entry.kept]} for entry in FAMILY]


HEAD = ("date", "method", "kind", "target's distribution", "published figure", "who ships it")


def guide_table() -> str:
    """The table of the field guide in Markdown, one row a method, in order of time."""
    rows = [
        (m.date, f"[{m.name}]({m.link})", m.kind(), KEPT[m.kept], m.reported, m.ships)
        for m in FAMILY
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in (HEAD, ("---",) * 6, *rows))


if __name__ == "__main__":
    print(guide_table())
