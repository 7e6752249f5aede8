"""One greedy block in four frames that open after a question: draft, score, accept, correct.

The block is the one that the exercises of the chapter work on, with the intern as the draft and the
partner as the target.
"""

from collections.abc import Callable
from html import escape

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from specdec_lib.lessons.ch01.figures import boxed
from specdec_lib.lessons.ch01.models import DRAFT, TARGET, WORDS, text, tokens
from specdec_lib.lessons.common.series import table
from specdec_lib.lessons.common.style import display_page, image
from specdec_lib.lessons.common.tokens import FIRST, board, boxes, fates, write

_PREFIX, _DRAFTED = tokens("the cat"), tokens("sat on the cat")
_ROWS = [TARGET.row([*_PREFIX, *_DRAFTED[:i]]) for i in range(len(_DRAFTED) + 1)]
_WANTED = [int(row.argmax()) for row in _ROWS]
_PASSED = next(i for i, token in enumerate(_DRAFTED) if token != _WANTED[i])


def _said(tokens: list[int]) -> str:
    return f"“{text(tokens)}”"


def draft(ax: Axes) -> str:
    """The text, and what the intern writes after it."""
    boxes(ax, 1.5, "text", boxed(_PREFIX, "plain"))
    boxes(ax, 0.6, "intern", boxed(_DRAFTED, "drafted"), len(_PREFIX))
    return f"The text is {_said(_PREFIX)}. The intern writes {_said(_DRAFTED)} after it."


def score(ax: Axes) -> str:
    """One glance over all of it, and the partner's own word for every place."""
    boxes(ax, 1.5, "proposal", boxed(_PREFIX, "plain") + boxed(_DRAFTED, "drafted"))
    boxes(ax, 0.5, "partner\nwould write", boxed(_WANTED[:-1], "scored"), len(_PREFIX))
    left, right = FIRST + len(_PREFIX) - 0.5, FIRST + len(_PREFIX) + len(_DRAFTED) - 0.5
    ax.plot([left, left, right, right], [1.05, 0.95, 0.95, 1.05], color="black", linewidth=1.5)
    write(ax, (left + right) / 2, 0.95, "one glance", boxed=True)
    return f"In one glance the partner has a word for every place: {_said(_WANTED[:-1])}."


def accept(ax: Axes) -> str:
    """Which words stand: up to the first that differs."""
    kinds = fates(_PASSED, len(_DRAFTED))
    judged = [(kind, WORDS[token]) for kind, token in zip(kinds, _DRAFTED, strict=True)]
    boxes(ax, 1.5, "intern", judged, len(_PREFIX))
    boxes(ax, 0.6, "partner\nwould write", boxed(_WANTED[:-1], "scored"), len(_PREFIX))
    passed, out = _said(_DRAFTED[:_PASSED]), WORDS[_DRAFTED[_PASSED]]
    return f"{passed} may stay. “{out}” is the first word that differs: it is crossed out."


def correct(ax: Axes) -> str:
    """What stands in the text now."""
    block = boxed(_DRAFTED[:_PASSED], "accepted") + [("corrected", WORDS[_WANTED[_PASSED]])]
    boxes(ax, 1.0, "text", boxed(_PREFIX, "plain") + block)
    written = [*_DRAFTED[:_PASSED], _WANTED[_PASSED]]
    return (
        f"The partner's own word takes its place. {_said(written)} came from one glance: "
        f"{len(written)} words."
    )


FRAMES: tuple[tuple[str, str, Callable[[Axes], str]], ...] = (
    ("Draft", "The intern goes on after “the cat”, by the habits. Which four words?", draft),
    ("Score", "All four words stand on the page. How many glances does the partner need?", score),
    ("Accept", "Which of the four words may stay?", accept),
    ("Correct", "What stands in the text after this block?", correct),
)


def storyboard() -> None:
    """Show the intern's habits and the questions; each question opens its frame."""
    habits = {word: WORDS[int(DRAFT.row([i]).argmax())] for i, word in enumerate(WORDS)}
    table({word: {"the intern writes": after} for word, after in habits.items()})
    folds, told = [], []
    for number, (name, question, draw) in enumerate(FRAMES, 1):
        ax = board(FIRST + len(_PREFIX) + len(_DRAFTED), 2.0, 0.75)
        said = draw(ax)
        folds.append(
            f"<details><summary style='padding: .3em 0'><b>{number}. {name}.</b> "
            f"{escape(question)}</summary><p>{escape(said)}</p>{image(ax.figure, said)}</details>"
        )
        told.append(f"{number}. {name}. {question} {said}")
        plt.close(ax.figure)
    display_page("".join(folds), "\n".join(told))
