"""The family of methods: the map of chapter 07 and the table of docs/field_guide.md are made of it.

`methods.json` holds one entry a method. `reported` and `ships` are what a source says, and "not
found by us" where no source was found. `python -m specdec_lib.lessons.ch07.family` prints the
table of the field guide.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: What happens to the target's distribution, in the words of the map and of the table.
KEPT = {
    "law": "kept at every temperature",
    "greedy": "the greedy text is kept",
    "choice": "kept or not, by how it is verified",
    "lossy": "given up; a setting says how far",
}


@dataclass(frozen=True)
class Option:
    """One thing that can stand in a box of the frame: its name, and what it does to the formula."""

    name: str
    formula: str
    keeps: str = ""


#: The four boxes of the frame, and what can stand in each. E tokens, in D for drafting and v.
FRAME: dict[str, dict[str, Option]] = {
    "drafter": {
        "model": Option("a small model", "D = c K; alpha is the overlap of p and q"),
        "layers": Option("some of the target's layers", "D = c K with c = e/L for e of L layers"),
        "heads": Option(
            "trained heads", "D = c K with a small c, one layer or less; alpha comes from training"
        ),
        "text": Option("the text itself", "D is nearly 0; q is one-hot, so alpha is the mean p(x)"),
        "self": Option("the target's own passes", "D = 0; v grows by the guesses that ride along"),
        "any": Option("any drafter", "nothing: D and alpha are the drafter's"),
    },
    "shape": {
        "chain": Option("a chain", "E = 1 + alpha + ... + alpha^K; v(K + 1)"),
        "candidates": Option(
            "candidates for one place", "E = 1 + a_1 + ... + a_n, an a for each candidate; v(n + 1)"
        ),
        "tree": Option(
            "a tree", "E = 1 + the sum over nodes of how often each is reached; D = c x levels; "
            "v(nodes + 1)"
        ),
    },
    "verifier": {
        "equal": Option(
            "equality with the target's token", "alpha is how often the two are equal",
            "The greedy text at temperature 0. At other temperatures the law, if the target draws "
            "its token first and keeps the draft's where they agree.",
        ),
        "ratio": Option(
            "the coin against p/q, then the residual", "alpha = the sum of min(p, q)",
            "The law, for every q that the tokens were drawn from.",
        ),
        "turn": Option(
            "several candidates, in turn", "a_1 = the sum of min(p, q); each further one is judged "
            "against the residual",
            "The law, if the candidates are independent draws from q.",
        ),
        "block": Option(
            "the block as a whole", "E grows; D and v stay", "The law. On average no exact rule "
            "for one block writes more.",
        ),
        "lossy": Option(
            "a threshold or a lenient coin", "alpha grows",
            "Neither the law nor, in general, the greedy text.",
        ),
    },
    "timing": {
        "steps": Option("draft token by token, then verify", "D = c K: one step a place"),
        "once": Option(
            "draft the block in one step, then verify", "D = c; alpha may fall along the block"
        ),
        "overlap": Option(
            "draft while the target verifies", "D + v becomes the larger of c K and v; c K once "
            "more where the outcome was not foreseen"
        ),
        "any": Option("as the drafter has it", "nothing: D is the drafter's"),
    },
}  # fmt: skip


#: The same in a word or two, for the table.
SHORT = {
    "drafter": {
        "model": "small model",
        "layers": "target's layers",
        "heads": "trained heads",
        "text": "text",
        "self": "target's passes",
        "any": "any drafter",
    },
    "shape": {"chain": "chain", "candidates": "candidates", "tree": "tree"},
    "verifier": {
        "equal": "equality",
        "ratio": "p/q, residual",
        "turn": "in turn",
        "block": "whole block",
        "lossy": "lossy",
    },
    "timing": {"steps": "step by step", "once": "one step", "overlap": "overlapped", "any": "any"},
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
        return "; ".join(words[getattr(self, box)] for box, words in SHORT.items())


_DATA = json.loads(Path(__file__).with_name("methods.json").read_text(encoding="utf-8"))
FAMILY = [Method(**entry) for entry in _DATA]


def of(name: str) -> Method:
    """The entry called `name`. Raises KeyError if there is none."""
    return {method.name: method for method in FAMILY}[name]


def as_data() -> list[dict[str, Any]]:
    """The entries as plain data, in order of time, with what is kept in words too."""
    entries = sorted(FAMILY, key=lambda method: method.date)
    return [asdict(entry) | {"keptText": KEPT[entry.kept]} for entry in entries]


HEAD = ("date", "method", "kind", "target's distribution", "published figure", "who ships it")


def guide_table() -> str:
    """The table of the field guide in Markdown, one row a method, in order of time."""
    rows = [
        (m.date, f"[{m.name}]({m.link})", m.kind(), KEPT[m.kept], m.reported, m.ships)
        for m in sorted(FAMILY, key=lambda method: method.date)
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in (HEAD, ("---",) * 6, *rows))


if __name__ == "__main__":
    print(guide_table())
