"""Three folded hints an exercise; the second and third open after a first line of one's own."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

#: What a stub holds in the place of an answer (autograde/nbgrader/stubs.py), after given lines.
STUB = re.compile(r"# Your code: .*\n\s*raise NotImplementedError\(")
LATER = "Hints 2 and 3 open after you have written a line of your own and run both cells."


class Hints:
    """Folded hints, as HTML in a notebook and as text elsewhere."""

    def __init__(self, exercise: str, texts: Sequence[str], started: bool) -> None:
        self.exercise = exercise
        self.texts = texts if started else texts[:1]
        self.rest = "" if started else LATER

    def _repr_html_(self) -> str:
        folds = "".join(
            f"<details><summary style='padding: .2em 0'>Hint {number} for {self.exercise}</summary>"
            f"<p>{escape(text)}</p></details>"
            for number, text in enumerate(self.texts, 1)
        )
        return folds + (f"<p>{self.rest}</p>" if self.rest else "")

    def __repr__(self) -> str:
        lines = [f"Hint {number}: {text}" for number, text in enumerate(self.texts, 1)]
        return "\n".join([*lines, self.rest]).strip()


def hints_from(texts: Mapping[str, Sequence[str]]) -> Callable[[Callable], Hints]:
    """`hints(function)` of a chapter, from the texts by exercise; KeyError for another function."""

    def hints(function: Callable) -> Hints:
        """The folded hints of an exercise of this chapter."""
        name = function.__name__
        return Hints(name, texts[name], has_own_line(function))

    return hints


def has_own_line(function: Callable) -> bool:
    """Whether anything stands where the stub had its two lines."""
    try:
        return not STUB.search(inspect.getsource(function))
    except (OSError, SyntaxError, TypeError):
        return True  # no source to look at: nothing is kept from anybody
