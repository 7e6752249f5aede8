"""One greedy block in four frames that open after a question: draft, score, accept, correct.

The block is the one that the exercises of the chapter work on, with the intern as the draft and the
partner as the target.
"""

from collections.abc import Iterator
from html import escape

import matplotlib.pyplot as plt
import pandas as pd

from specdec_lib.lessons.ch01.figures import boxed
from specdec_lib.lessons.ch01.lesson import BLOCK, PREFIX, target_rows
from specdec_lib.lessons.ch01.models import DRAFT, WORDS, text
from specdec_lib.lessons.drawing.series import show_table
from specdec_lib.lessons.drawing.style import display_page, image
from specdec_lib.lessons.drawing.tokens import FIRST_X, board, boxes, token_outcomes

WANTED = target_rows(PREFIX, BLOCK)[:-1].argmax(axis=1).tolist()
N = next(i for i, token in enumerate(BLOCK) if token != WANTED[i])  # accepted


def frames() -> Iterator[tuple[str, str, str, list]]:
    """Name, question, answer, and the rows of boxes, each with its name and the place it begins."""
    start, known, drafted = len(PREFIX), boxed(PREFIX, "plain"), boxed(BLOCK, "drafted")
    wanted, (wrong, later) = ("partner\nwould write", boxed(WANTED, "scored"), start), BLOCK[N:]
    judged = [(kind, WORDS[token]) for kind, token in zip(token_outcomes(N, 4), BLOCK, strict=True)]
    written = [*boxed(BLOCK[:N], "accepted"), ("corrected", WORDS[WANTED[N]])]
    yield (
        "Draft",
        f"The intern goes on after “{text(PREFIX)}”, by the table. Which four words?",
        f"The intern writes “{text(BLOCK)}”.",
        [("text", known, 0), ("intern", drafted, start)],
    )
    yield (
        "Score",
        "All four words stand on the page. How many glances does the partner need?",
        f"One glance, and the partner has a word for every place: “{text(WANTED)}”.",
        [("proposal", known + drafted, 0), wanted],
    )
    yield (
        "Accept",
        "Which of the four words may stay?",
        f"“{text(BLOCK[:N])}” may stay. “{WORDS[wrong]}” is the first word that differs: it is "
        f"crossed out. “{WORDS[later]}” goes too. The partner wanted the same word there, but only "
        f"after “{WORDS[wrong]}”, which is gone.",
        [("intern", judged, start), wanted],
    )
    yield (
        "Correct",
        "What stands in the text after this block?",
        "The partner's own word takes the place of the one that was crossed out. One glance gave "
        f"{N + 1} words: “{' '.join(word for _, word in written)}”.",
        [("text", known + written, 0)],
    )


def storyboard() -> None:
    """Show the intern's habits and the questions; each question opens its frame."""
    habits = {word: WORDS[int(DRAFT.row([i]).argmax())] for i, word in enumerate(WORDS)}
    show_table(pd.DataFrame(habits, ["the intern writes"]).rename_axis(columns="after"))
    folds, told = [], []
    for number, (name, question, said, rows) in enumerate(frames(), 1):
        ax = board(FIRST_X + len(PREFIX) + len(BLOCK), 0.3 + 0.9 * len(rows), 0.75)
        for i, (label, row, start) in enumerate(rows):
            boxes(ax, 0.9 * (len(rows) - i) - 0.3, label, row, start)
        folds.append(
            f"<details><summary style='padding: .3em 0'><b>{number}. {name}.</b> "
            f"{escape(question)}</summary><p>{escape(said)}</p>{image(ax.figure, said)}</details>"
        )
        told.append(f"{number}. {name}. {question} {said}")
        plt.close(ax.figure)
    display_page("".join(folds), "\n".join(told))
